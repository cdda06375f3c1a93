"""`send`: an ad-hoc digest."""

from datetime import timedelta
from typing import Annotated

import typer

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.config import Config
from bot.engine.composer import AdHoc
from bot.engine.composer import send as owe
from bot.engine.deps import Deps
from bot.errors import UsageError

_MARKERS = {"question": "?", "urgent": "!", "none": ""}


def send(
    to: Annotated[str, typer.Argument(help="Name of a sidechat, or of its agent.")],
    text: Annotated[str, typer.Argument(help="What it is about, in a sentence.")],
    marker: Annotated[
        str, typer.Option(help="question, urgent, or none for a digest that needs no reply.")
    ] = "question",
    timeout: Annotated[float | None, typer.Option(min=1, help="Seconds until the first nudge.")] = None,
    nudges: Annotated[int | None, typer.Option(min=0, max=20, help="How many before it is escalated.")] = None,
    escalate_to: Annotated[str, typer.Option(help="User, user group or channel id, or a sidechat.")] = "",
    as_json: AsJson = False,
) -> None:
    """Send a digest of your own, with its policy; the running bot delivers it."""
    if marker not in _MARKERS:
        raise UsageError(f"no marker is called {marker!r}", hint=f"one of: {', '.join(_MARKERS)}")
    adhoc = AdHoc(
        to=to,
        text=text,
        marker=_MARKERS[marker],
        timeout=timedelta(seconds=timeout) if timeout else None,
        nudges=nudges,
        escalate_to=escalate_to,
    )

    async def work(deps: Deps, _config: Config) -> str:
        return await deps.store.write(lambda connection: owe(deps, connection, adhoc))

    job_id = with_store(work)
    if as_json:
        output.data({"job_id": job_id or None})
    else:
        output.words(f"Owed: {job_id}" if job_id else "Owed: an informational digest.")
