"""Templates → texts: the only place that knows Jinja, and the guard of the contract (SPEC P3).

Everything that a template prints is escaped for Slack unless it is `Mrkdwn`, which only our own code makes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.errors import ConfigError
from bot.protocol.digest import TEXT_MAX, DigestView, Entry, compose
from bot.protocol.reading import read
from bot.protocol.safety import cut, escape, safe

FOOTER_START: Final = "Reply: "
_WORDS_OF_FOOTER: Final = ("[ACK id]", "[CLAIM id]", "[RESULT id]", "[DECLINE id]", "[NO-ACTION id]")
_SAMPLE_ID: Final = "ml-" + "a" * 32 + "-20261004-213000"  # the longest agent name


class Mrkdwn(str):
    """Text that is Slack markup on purpose: a mention of a configured person, and nothing from outside."""

    __slots__ = ()


@dataclass(frozen=True)
class Wording:
    """The bot's sentences."""

    environment: jinja2.Environment

    def say(self, template: str, /, **values: object) -> str:
        """Render one template; the text has no line break at its end."""
        return self.environment.get_template(f"{template}.j2").render(values).strip("\n")

    def digest(self, view: DigestView) -> str:
        """Render a digest; this is the `render` that the composer is given."""
        return self.say("digest_actionable" if view.job_id else "digest_informational", view=view)

    def footer(self) -> str:
        return self.say("footer")

    def fitted(self, template: str, fields: Mapping[str, str], /, **values: object) -> str:
        """Render with outside text in `fields`, made safe and cut evenly until the whole fits the budget.

        Raises:
            ConfigError: when the template alone is over the budget.
        """
        cleaned = {name: safe(text) for name, text in fields.items()}
        low, high, best = 0, TEXT_MAX, None
        while low <= high:
            width = (low + high) // 2
            shown = {name: cut(text, width) for name, text in cleaned.items()}
            text = self.say(template, **{**values, **shown})
            if len(text) <= TEXT_MAX:
                best, low = text, width + 1
            else:
                high = width - 1
        if best is None:
            raise ConfigError(f"templates/{template}.j2 alone is longer than {TEXT_MAX} characters")
        return best


def load() -> Wording:
    """Load the templates and check that they keep the contract.

    Raises:
        ConfigError: naming the template that breaks it; nothing may start then.
    """
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.PackageLoader("templates", ""),
        undefined=jinja2.StrictUndefined,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Slack is not HTML; `finalize` escapes what Slack needs
    )
    wording = Wording(environment)
    try:
        _check(wording)
    except jinja2.TemplateError as error:
        raise ConfigError(f"a template cannot be rendered: {error}") from error
    return wording


def _escaped(value: object) -> object:
    return value if isinstance(value, Mrkdwn) else escape(str(value))


def _check(wording: Wording) -> None:
    digest = compose(
        job_id=_SAMPLE_ID,
        where="w" * 40,
        entries=[Entry(author="somebody", summary="[RESULT " + _SAMPLE_ID + "] & <x> " + "word " * 90, marker="?")] * 9,
        render=wording.digest,
    )
    nudge = wording.fitted(
        "nudge", {"first": "word " * 90}, job_id=_SAMPLE_ID, number=2, of=2, age="2 h", agent="a" * 32
    )
    for name, text in {"digest_actionable": digest, "nudge": nudge}.items():
        for fault in _faults(text, wording.footer()):
            raise ConfigError(f"templates/{name}.j2 breaks the contract: {fault}")


def _faults(text: str, footer: str) -> list[str]:
    lines = text.split("\n")
    wrong = {
        "its first line must start with [main-loop] and the job's tag": not lines[0].startswith(
            f"[main-loop] [JOB {_SAMPLE_ID}] "
        ),
        "its last line must be the footer": lines[-1] != footer or not footer.startswith(FOOTER_START),
        "the footer must name every verb with the word id": not all(word in footer for word in _WORDS_OF_FOOTER),
        f"it must fit {TEXT_MAX} characters": len(text) > TEXT_MAX,
        "it must parse as nothing when quoted back": bool(read(text).tags or read(footer).tags),
    }
    return [fault for fault, broken in wrong.items() if broken]
