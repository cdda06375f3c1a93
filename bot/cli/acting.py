"""`act check|record|refused`: may I do this now, and I have done it (SPEC B8, B9, B10)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

import sqlalchemy as sa
import typer

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.cli.people import me
from bot.config import Config
from bot.engine import limits
from bot.engine.deps import Deps
from bot.engine.shapes import ActionAnswer
from bot.engine.spans import clock

app = typer.Typer(no_args_is_help=True, help="Act on a platform within its limits.")

Action = Annotated[str, typer.Argument(help="github_comment, github_review, slack_message or email_reply.")]
Source = Annotated[str, typer.Argument(help="The thread's source, such as github:acme/api.")]
Thread = Annotated[str, typer.Argument(help="The thread within its source, such as pr-218.")]


@app.command("check")
def check(action: Action, source: Source = "", thread: Thread = "", as_json: AsJson = False) -> None:
    """Ask whether an action may be done now; nothing is counted."""
    asked = _asked(action, source, thread)

    async def work(deps: Deps, _config: Config) -> limits.Answer:
        return await deps.store.read(lambda connection: limits.check(deps, connection, asked))

    _show(with_store(work), as_json=as_json)


@app.command("record")
def record(action: Action, source: Source = "", thread: Thread = "", as_json: AsJson = False) -> None:
    """Tell that an action was done: it is counted, and its thread's cooldown starts."""
    asked = _asked(action, source, thread)
    _do(lambda deps, connection: limits.record(deps, connection, asked), as_json=as_json)


@app.command("refused")
def refused(
    action: Action,
    source: Source = "",
    thread: Thread = "",
    retry_after: Annotated[float, typer.Option(min=0, help="Seconds that the platform's 429 named.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Tell that the platform answered 429: the action's pause doubles."""
    asked = _asked(action, source, thread)
    wait = min(timedelta(seconds=min(retry_after, 86_400.0)), limits.RETRY_AFTER_MAX)
    _do(lambda deps, connection: limits.record_refusal(deps, connection, asked, retry_after=wait), as_json=as_json)


def _asked(action: str, source: str, thread: str) -> limits.Asked:
    return limits.Asked(action=action, source=source, thread_id=thread, who=me().id)


def _do(do: Callable[[Deps, sa.Connection], limits.Answer], *, as_json: bool) -> None:
    async def work(deps: Deps, _config: Config) -> limits.Answer:
        return await deps.store.write(lambda connection: do(deps, connection))

    _show(with_store(work), as_json=as_json)


def _show(answer: limits.Answer, *, as_json: bool) -> None:
    if as_json:
        output.data(ActionAnswer.of(answer).json_ready())
    else:
        output.words(answer.clearance if answer.clear else f"{answer.clearance} until {clock(answer.clear_at)}")
