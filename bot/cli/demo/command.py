"""The command `demo`."""

import asyncio
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli import output
from bot.cli.common import AsJson
from bot.cli.demo.story import tell
from bot.cli.demo.telling import Teller
from bot.cli.demo.world import DemoError, command, world


def demo(
    once: Annotated[bool, typer.Option("--once", help="Play the story, check it, and end.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the workspace's page; 0 is any free one.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Start a local Slack workspace and the real bot, and play a story in which every outcome happens."""
    folder = Path(tempfile.mkdtemp(prefix="digestbot-demo-"))
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(_demo(folder, once=once, port=port, as_json=as_json))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _demo(folder: Path, *, once: bool, port: int, as_json: bool) -> None:
    async with world(folder, port=port) as made:
        teller = Teller(made, as_json=as_json)
        teller.say(f"a Slack workspace: {made.url}/")
        watching = asyncio.create_task(teller.watch())
        try:
            steps = await tell(made, teller)
            metrics = await command(made, "status")
            _report(steps, metrics, as_json=as_json)
            if not once:
                teller.say(f"it stays up until you press Ctrl-C: {made.url}/")
                await asyncio.Event().wait()
        finally:
            watching.cancel()
    if not all(true for _, true in steps):
        raise DemoError("the story is not true: see the steps above")


def _report(steps: list[tuple[str, bool]], metrics: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        story = [{"step": step, "ok": true} for step, true in steps]
        output.words(json.dumps({"metrics": metrics, "story": story}, ensure_ascii=False))
        return
    rate = metrics["closure_rate"]
    output.words(
        f"\n{sum(true for _, true in steps)} of {len(steps)} steps are true. Delivered {metrics['delivered']}, "
        f"closed {metrics['closed']} of {metrics['actionable_delivered']}"
        + (f", closure rate {rate:.0%}." if rate is not None else ".")
    )
