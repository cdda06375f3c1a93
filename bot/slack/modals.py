"""The forms: as values for Slack, and read back from what Slack sends (SPEC U2): pure, within Slack's limits.

A submission says nothing of where its form was opened, so the form carries it, and it decides nothing: who submits
is asked again whether he may.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bot.protocol.verbs import Verb
from bot.wording import Wording

View = dict[str, Any]

REPLY: Final = "digestbot_reply"  # callback ids: of the message shortcut, and of the forms that answer a job
REROUTE: Final = "digestbot_reroute"
ANSWER: Final = "answer"  # the form in which the verb is still to be chosen
TEXT, CHOICE, VALUE = "text", "choice", "value"
TEXT_MAX: Final = 3_000
OPTIONS_MAX: Final = 100
OPTION_MAX: Final = 75


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a form was opened, and about what."""

    job_id: str
    verb: str  # empty where it is still to be chosen
    channel: str
    thread: str
    ts: str


@dataclass(frozen=True, kw_only=True)
class Submitted:
    origin: Origin
    chosen: str  # the verb, or the sidechat
    text: str


def answer(wording: Wording, origin: Origin) -> View:
    """Return the form for a verb, or for choosing one where the origin names none."""
    about = origin.verb or ANSWER
    optional = origin.verb != Verb.RESULT
    words = _input(
        TEXT,
        wording.say("modal", part="text", about=about),
        {"type": "plain_text_input", "multiline": True, "max_length": TEXT_MAX, "focus_on_load": bool(origin.verb)},
        optional=optional,
        hint=wording.say("modal", part="text_hint", about=about),
    )
    verbs = [(wording.say("modal", part="choice", verb=verb), verb) for verb in Verb]
    choice = [] if origin.verb else [_select(wording.say("modal", part="verb"), verbs)]
    return _form(wording, about, REPLY, origin, [*choice, words])


def reroute(wording: Wording, origin: Origin, names: Sequence[str]) -> View:
    """Return the form that asks for the sidechat."""
    options = [(name[:OPTION_MAX], name) for name in names[:OPTIONS_MAX]]
    return _form(wording, "reroute", REROUTE, origin, [_select(wording.say("modal", part="to"), options)])


def waiting(wording: Wording) -> View:
    """Return what is shown at once, while the store is asked: a trigger dies within three seconds."""
    return _notice(wording, "waiting", wording.say("modal", part="loading"))


def refused(wording: Wording, words: str) -> View:
    """Return an explanation in a form's place; `words` are escaped for Slack."""
    return _notice(wording, "refused", words)


def read(view: Mapping[str, Any]) -> Submitted:
    """Return what a person submitted."""
    values: Mapping[str, Any] = view["state"]["values"]
    option = values.get(CHOICE, {}).get(VALUE, {}).get("selected_option") or {}
    text = values.get(TEXT, {}).get(VALUE, {}).get("value") or ""
    origin = Origin(**json.loads(view["private_metadata"]))
    return Submitted(origin=origin, chosen=origin.verb or str(option.get("value", "")), text=str(text))


def _form(wording: Wording, about: str, callback: str, origin: Origin, inputs: list[View]) -> View:
    intro = {"type": "mrkdwn", "text": wording.say("modal", part="intro", about=about, job_id=origin.job_id)}
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": json.dumps(asdict(origin)),
        "title": _plain(wording.say("modal", part="title", about=about)),
        "submit": _plain(wording.say("modal", part="submit", about=about)),
        "close": _plain(wording.say("modal", part="close")),
        "blocks": [{"type": "section", "text": intro}, *inputs],
    }


def _notice(wording: Wording, about: str, words: str) -> View:
    return {
        "type": "modal",
        "callback_id": f"digestbot_{about}",
        "title": _plain(wording.say("modal", part="title", about=about)),
        "close": _plain(wording.say("modal", part="dismiss")),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": words, "verbatim": True}}],
    }


def _select(label: str, options: Sequence[tuple[str, str]]) -> View:
    shown = [{"text": _plain(text), "value": value} for text, value in options]
    return _input(CHOICE, label, {"type": "static_select", "options": shown}, optional=False)


def _input(block: str, label: str, element: View, *, optional: bool, hint: str = "") -> View:
    shown = {"hint": _plain(hint)} if hint else {}
    return {
        "type": "input",
        "block_id": block,
        "label": _plain(label),
        "optional": optional,
        "element": {**element, "action_id": VALUE},
        **shown,
    }


def _plain(text: str) -> View:
    return {"type": "plain_text", "text": text, "emoji": False}
