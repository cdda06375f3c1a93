"""`followups.json` beside the buffer: every live job with its policy and outcome, and the figures (SPEC §8).

Like the buffer's own files it is a view for other tools, written whole or not at all, and only when something was
noted about anything since. Jobs that the archive has taken are not in it any more.
"""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bot.buffer.times import stamp
from bot.engine import files, troubles, views
from bot.engine.deps import Deps
from bot.protocol.digest import DigestClass
from state import jobs, records
from state.rows import Followup

SCHEMA_VERSION: Final = 1
PAGE: Final = 500  # jobs between two turns of the loop
_MARK: Final = "followups published"
_TROUBLE: Final = "followups"


def followups_path(buffer_path: Path) -> Path:
    """Return where the file is."""
    return buffer_path.with_name("followups.json")


async def publish(deps: Deps) -> bool:
    """Write the file if anything was noted since it was written last; true if it was written.

    Raises:
        StoreError: The database cannot be read; the file stays as it is.
    """
    path, now = followups_path(deps.settings.buffer_path), deps.clock.now()
    newest = str(await deps.store.read(records.newest_note))
    known = await deps.store.read(lambda connection: records.marked(connection, _MARK))
    if known is not None and known[0] == newest and path.exists():
        return False
    text = await _text(deps)
    try:
        await asyncio.to_thread(files.clear_leftovers, path)
        await asyncio.to_thread(files.write, path, text)
    except OSError as error:
        troubles.failed(deps, _TROUBLE, error)
        return False
    troubles.over(deps, _TROUBLE)
    await deps.store.write(lambda connection: records.mark(connection, _MARK, newest, now))
    return True


async def _text(deps: Deps) -> str:
    """Return the file: a line for each job, between the figures and the end."""
    now = deps.clock.now()
    figures = asdict(await deps.store.read(lambda connection: views.figures(connection, now)))
    head = json.dumps({"schema_version": SCHEMA_VERSION, "generated": stamp(now), "figures": figures})
    lines: list[str] = []
    page = await deps.store.read(lambda connection: jobs.after(connection, 0, PAGE))
    while page:
        lines += [json.dumps(_row(one), ensure_ascii=False) for one in page]
        page = await deps.store.read(lambda connection, last=page[-1].seq: jobs.after(connection, last, PAGE))  # type: ignore[misc]
    return f'{head[:-1]}, "followups": [\n' + ",\n".join(lines) + "\n]}\n"


def _row(one: Followup) -> dict[str, object]:
    return {
        "job_id": one.job_id,
        "agent": one.agent,
        "sidechat": one.sidechat,
        "class": DigestClass.ACTIONABLE,  # no other has a followup
        "status": one.status,
        "outcome": one.outcome,
        "result": one.result_text or None,
        "owner": one.owner or None,
        "sent_at": stamp(one.sent_at),
        "reply_timeout": one.reply_timeout,
        "reply_nudges": one.reply_nudges,
        "reply_escalate": one.reply_escalate,
        "nudges_sent": one.nudges_sent,
        "closed_at": stamp(one.closed_at) if one.closed_at else None,
    }
