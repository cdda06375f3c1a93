"""`ingest`: items and raw payloads from a file or stdin (SPEC B2, S5)."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from bot.buffer.items import Ignored, Rejected, Signal
from bot.cli import output
from bot.cli.common import AsJson, content_of, with_store
from bot.cli.formats import READERS, Input
from bot.cli.progress import parts
from bot.config import Config
from bot.engine import intake
from bot.engine.deps import Deps
from bot.engine.observing import looking
from bot.errors import DigestbotError, UsageError
from bot.protocol.safety import cut, safe

_TAKEN: Final = ("stored", "merged", "closed_subjects", "ignored", "already_stored")
SHOWN_MAX: Final = 100  # code points of a row that was set aside


def ingest(
    file: Annotated[str, typer.Argument(help="A file; - is stdin.")] = "-",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="items (JSON Lines), github (a webhook's payload), github-notifications (a page of them), "
            "slack (an event's payload) or email (a raw mail).",
        ),
    ] = "items",
    event: Annotated[str, typer.Option(help="With github: the event's name, as in X-GitHub-Event.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be stored; store nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take in items or raw payloads; bad rows are set aside, the rest goes in; 1 if all were bad."""
    if form not in READERS:
        raise UsageError(f"no format is called {form!r}", hint=f"one of: {', '.join(READERS)}")
    if form == "github" and not event:
        raise UsageError("the format github needs --event", hint="for example: --event issue_comment")
    content = content_of(file)

    async def work(deps: Deps, config: Config) -> dict[str, Any]:
        given = Input(content=content, event=event, config=config, deps=deps, look=looking(deps))
        signals = await asyncio.to_thread(READERS[form], given)
        return await _taken(deps, signals, form, dry_run=dry_run)

    report = with_store(work)
    if as_json:
        output.data(report)
    else:
        _print(report, dry_run=dry_run)
    if report["quarantined"] and not any(report[what] for what in _TAKEN):
        raise DigestbotError(
            "every row was set aside, nothing was taken in", hint="mend the rows, or name their --format"
        )


async def _taken(deps: Deps, signals: Sequence[Signal], source: str, *, dry_run: bool) -> dict[str, Any]:
    items: list[dict[str, object]] = []
    if dry_run:
        found = await intake.preview(deps, signals, source=source)
        taken, items = [found.taken], [_shown(one) for one in found.items]
    else:
        waiting = parts(signals, doing="Storing")
        taken = [await intake.take(deps, part, source=source) for part in waiting]
    ids = [one for part in taken for one in part.stored]
    return {
        "stored": len(ids),
        "ids": ids,
        "merged": sum(part.merged for part in taken),
        "closed_subjects": sum(part.closed for part in taken),
        "ignored": [_why(one) for one in signals if isinstance(one, Ignored)],
        "quarantined": [_why(one) for one in signals if isinstance(one, Rejected)],
        "already_stored": sum(part.known for part in taken),
        **({"items": items} if dry_run else {}),
    }


def _why(signal: Ignored | Rejected) -> dict[str, str]:
    return asdict(signal)


def _shown(item: Any) -> dict[str, object]:
    names = ("id", "source", "thread_id", "kind", "priority", "marker", "dedup_key", "agent", "author")
    more = ("content_summary", "url", "event_key", "state", "merged_into", "resubmission_count")
    return {name: getattr(item, name) for name in (*names, *more)}


def _print(report: dict[str, Any], *, dry_run: bool) -> None:
    verb = "Would store" if dry_run else "Stored"
    output.words(
        f"{verb} {report['stored']}, merged {report['merged']}, ignored {len(report['ignored'])}, "
        f"set aside {len(report['quarantined'])}, known {report['already_stored']}."
    )
    for one in report["quarantined"]:
        shown = cut(safe(one["row"]), SHOWN_MAX)
        output.words(f"  set aside: {one['reason']}" + (f", in: {shown}" if shown else ""))
    columns = ("kind", "priority", "marker", "agent", "thread_id", "content_summary")
    if dry_run:
        output.table(columns, [[item[name] for name in columns] for item in report["items"]], empty="")
