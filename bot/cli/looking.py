"""`status`, `jobs` and `digest`: the same figures as everywhere else."""

from typing import Annotated, Any

import typer

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.config import Config
from bot.engine import commands, views
from bot.engine.deps import Deps
from bot.engine.shapes import Now
from state import jobs


def status(as_json: AsJson = False) -> None:
    """Show delivered, acked, closed, stale and the closure rate of the last seven days."""
    figures = with_store(_status)
    if as_json:
        output.data(figures)
        return
    output.table(("", ""), [(_LABELS[key], _shown(key, figures[key])) for key in _LABELS], empty="")
    now: Any = figures["now"]
    output.table(("", ""), [(_NOW[key], now[key]) for key in _NOW if now[key]], empty="Nothing is open or waits.")


async def _status(deps: Deps, _config: Config) -> dict[str, object]:
    now = Now.of(await commands.status(deps))
    figures = await deps.store.read(lambda connection: views.status(connection, deps.clock.now()))
    return {**figures, "now": now.json_ready()}


_LABELS = {
    "delivered": "delivered",
    "actionable_delivered": "  actionable",
    "informational_delivered": "  informational",
    "pending": "pending",
    "acked": "acked",
    "closed": "closed",
    "stale": "stale (escalated, unanswered)",
    "closure_rate": "closure rate",
    "ever_acked": "ever acked",
    "escalated": "ever escalated",
    "nudges": "nudges",
    "late_replies": "late replies",
    "hints": "hints",
    "quarantined": "quarantined",
}


_NOW = {
    "open": "open jobs",
    "waiting": "items that wait",
    "paused_since": "paused since",
    "posts_held_until": "Slack lets us post from",
    "broken": "sidechats out of reach",
    "unread_gaps": "gaps not read back yet",
}


def _shown(key: str, value: object) -> str:
    if key == "closure_rate":
        return f"{value:.0%}" if isinstance(value, float) else "none yet"
    return str(value)


def jobs_list(
    agent: Annotated[str, typer.Argument(help="Only this agent's jobs.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List jobs: the open ones for people, all of them with --all or --json."""
    rows = with_store(lambda deps, config: _jobs(deps, config, agent))
    if as_json:
        output.data(rows)
        return
    shown = [row for row in rows if every or row["status"] in {"pending", "acknowledged", "escalated"}]
    columns = ("job_id", "status", "outcome", "owner", "nudges_sent", "due_at", "permalink")
    output.table(columns, [[row[name] for name in columns] for row in shown], empty="No open jobs.")


async def _jobs(deps: Deps, _config: Config, agent: str) -> list[dict[str, Any]]:
    return await deps.store.read(
        lambda connection: [views.job(connection, one) for one in jobs.all_jobs(connection, agent=agent)]
    )


def digest() -> None:
    """Print the engagement digest of the buffer: what is pending, what expires, what rests."""
    text = with_store(_digest)
    output.words(text.rstrip("\n"))


async def _digest(deps: Deps, _config: Config) -> str:
    return await deps.store.read(lambda connection: views.buffer(connection, deps.settings, deps.clock.now()))
