"""`doctor`: what a real installation needs, and what is missing (SPEC U4, §11)."""

import asyncio
from collections.abc import Sequence
from typing import Final

import typer

from bot.app import examined
from bot.cli import output
from bot.cli.common import AsJson, configured
from bot.config import FaultyConfigError
from bot.engine import doctor as doctors
from bot.engine import shapes
from bot.engine.doctor import Finding

MARKS: Final = {True: "✔", False: "✘", None: "–"}


def doctor(as_json: AsJson = False) -> None:
    """Look at everything that the bot needs, and say what is wrong and how it is mended."""
    findings = _findings()
    code = doctors.exit_code(findings)
    if as_json:
        shown = [_shape(one) for one in findings]
        output.data(shapes.Examined(ok=code == 0, findings=shown).json_ready())
    else:
        output.words("\n".join(line for one in findings for line in _lines(one)))
    raise typer.Exit(code)


def _findings() -> list[Finding]:
    try:
        config = configured(starting=True)
    except FaultyConfigError as error:
        return [Finding(name="configuration", ok=False, said=str(one), mend=_MEND, code=2) for one in error.faults]
    where = str(config.file) if config.file else "no file, the environment alone"
    return [Finding(name="configuration", ok=True, said=where), *asyncio.run(examined(config))]


_MEND: Final = "docs/configuration.md has every key, with an example"


def _lines(one: Finding) -> Sequence[str]:
    first = f"{MARKS[one.ok]} {one.name}: {one.said}"
    return (first, f"    mend: {one.mend}") if one.mend else (first,)


def _shape(one: Finding) -> shapes.Finding:
    return shapes.Finding(name=one.name, ok=one.ok, said=one.said, mend=one.mend or None)
