"""`lint-reply`: what the bot would read in a reply, for agent authors."""

from typing import Annotated

import typer

from bot import wording
from bot.cli import output
from bot.cli.common import AsJson, content_of
from bot.engine.letters import hint_words
from bot.errors import UsageError
from bot.protocol.interpret import Interpretation, interpret
from bot.protocol.job_ids import parse_job_id
from bot.protocol.reading import read


def lint_reply(
    file: Annotated[str, typer.Argument(help="The text of one message; - is stdin.")] = "-",
    open_jobs: Annotated[list[str] | None, typer.Option("--open", help="A pending job; repeat it.")] = None,
    thread: Annotated[str, typer.Option(help="The job in whose thread the message stands.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show what the bot would do with one message; ends with 0 whatever it is."""
    for option, named in [*(("--open", one) for one in open_jobs or []), *([("--thread", thread)] if thread else [])]:
        if parse_job_id(named) is None:
            raise UsageError(f"{option} {named!r} is no job id", hint="write it as ml-AGENT-YYYYMMDD-HHMMSS, in UTC")
    meant = _interpreted(content_of(file).decode(errors="replace").rstrip("\n"), open_jobs or [], thread)
    hint = hint_words(wording.load(), meant.hint) if meant.hint else None
    if as_json:
        verbs = [{"verb": one.verb, "job_id": one.job_id, "text": one.text} for one in meant.actions]
        output.data({"verbs": verbs, "hint": hint})
        return
    rows = [(one.verb, one.job_id, one.text) for one in meant.actions]
    output.table(("verb", "job", "text"), rows, empty="Nothing would be recorded.")
    if hint:
        output.words(hint)


def _interpreted(text: str, open_jobs: list[str], thread: str) -> Interpretation:
    """Read a text as if every named job were pending, and its author permitted."""
    jobs = {one.casefold(): one for one in [*open_jobs, *([thread] if thread else [])]}
    here = [thread] if thread else []
    return interpret(
        read(text),
        known=lambda typed: jobs.get(typed.casefold()),
        open_here=here,
        open_ids=list(jobs.values()),
        thread_pending=bool(thread),
    )
