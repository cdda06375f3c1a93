"""Reminders to the brain at the act beat: what came back (SPEC C5), and what was taken on and forgotten (SPEC F8).

Both are notices: no digest, in no count, and the agent is not nagged. What was told is marked in the transaction that
owes the message, so that each reply is told once; a brain out of reach is told when it is back.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bot.engine import notices
from bot.engine.deps import Deps
from bot.engine.spans import in_words
from bot.protocol.safety import cut, safe
from bot.protocol.verbs import Verb
from bot.protocol.verdict import Effect
from state import items, jobs, records, sidechats
from state.rows import Digest, Followup, Reply, Sidechat

LINES_MAX: Final = 12  # of one message: with lines of this length it stays under what Slack shows in one piece (4,000)
WORDS_MAX: Final = 120  # code points of a reply's first line, or of what a job is about
REPLIES_MAX: Final = 96  # told in one beat; more follow at the next
DAY: Final = timedelta(days=1)
FORGOTTEN: Final = "forgotten"  # mark: when the list was last sent


async def remind(deps: Deps) -> int:
    """Owe the brain what it is to be told at this beat; return how many messages that are."""
    owed = await deps.store.write(lambda connection: tell_replies(deps, connection))
    owed += await deps.store.write(lambda connection: list_forgotten(deps, connection))
    if owed:
        deps.bells.outbox.set()
    return owed


# -- what came back (C5) ----------------------------------------------------------------------------------------------


def tell_replies(deps: Deps, connection: sa.Connection) -> int:
    """Owe the replies since the last beat, DECLINEs first: one message, or parts of one where it would be too long."""
    now, brain = deps.clock.now(), _brain(deps, connection)
    untold = records.untold(connection, REPLIES_MAX)
    if brain is None or not untold:
        return 0
    records.told(connection, [reply.seq for reply in untold], now)
    shown = [reply for reply in untold if deps.settings.tell_brain_replies and _is_news(reply, brain)]
    shown.sort(key=lambda reply: (reply.verb is not Verb.DECLINE, reply.seq))
    parts = [shown[start : start + LINES_MAX] for start in range(0, len(shown), LINES_MAX)]
    for number, part in enumerate(parts, 1):
        values = {
            "total": len(shown),
            "part": number,
            "parts": len(parts),
            "lines": [_reply_line(connection, one) for one in part],
        }
        _owe(connection, brain, f"replies:{untold[0].seq}:{number}", values, now)
    return len(parts)


def _is_news(reply: Reply, brain: Sidechat) -> bool:
    """Whether the brain can have missed it: what was said in the brain itself was seen there."""
    here = reply.channel == brain.channel and brain.thread in {"", reply.thread}
    return not here and reply.effect != Effect.RECORDED


def _reply_line(connection: sa.Connection, reply: Reply) -> dict[str, object]:
    words = reply.text.strip().split("\n", 1)[0]
    return {
        "verb": reply.verb,
        "job_id": reply.job_id,
        "person": reply.author,
        "words": cut(safe(words), WORDS_MAX),
        "late": reply.effect == Effect.LATE,
        "link": _link(connection, reply),
    }


def _link(connection: sa.Connection, reply: Reply) -> str:
    """Return the reply's own address, made after the model of its job's: Slack's addresses are channel and ts."""
    job = jobs.peek(connection, reply.job_id)
    known = jobs.digest(connection, job.digest).permalink if job else ""
    workspace, found, _ = known.partition("/archives/")
    if not found or not reply.ts.replace(".", "").isdigit():  # by command, HTTP or button: the job is the nearest
        return known
    inside = f"?thread_ts={reply.thread}&cid={reply.channel}" if reply.thread else ""
    return f"{workspace}/archives/{reply.channel}/p{reply.ts.replace('.', '')}{inside}"


# -- what was taken on and forgotten (F8) -----------------------------------------------------------------------------


def list_forgotten(deps: Deps, connection: sa.Connection) -> int:
    """Owe the list of jobs that were acknowledged long ago and are still open, at most once a day."""
    now, brain = deps.clock.now(), _brain(deps, connection)
    last = records.marked(connection, FORGOTTEN)
    if brain is None or (last is not None and now - last[1] < DAY):
        return 0
    forgotten = jobs.acknowledged_before(connection, now - deps.settings.forgotten_after)
    if not forgotten:
        return 0
    records.mark(connection, FORGOTTEN, str(len(forgotten)), now)
    for job in forgotten:
        jobs.change(connection, job.job_id, {"reminded_at": now})
    shown = [_forgotten_line(connection, job, now) for job in forgotten[:LINES_MAX]]
    values = {"total": len(forgotten), "lines": shown, "more": len(forgotten) - len(shown)}
    _owe(connection, brain, f"forgotten:{now.isoformat()}", values, now)
    return 1


def _forgotten_line(connection: sa.Connection, job: Followup, now: datetime) -> dict[str, object]:
    digest = jobs.digest(connection, job.digest)
    return {
        "job_id": job.job_id,
        "agent": job.agent,
        "person": job.owner,
        "age": in_words(now - (job.acked_at or job.sent_at)),
        "words": cut(safe(_about(connection, digest)), WORDS_MAX),
        "link": digest.permalink,
    }


def _about(connection: sa.Connection, digest: Digest) -> str:
    """Return what a job is about: its first item, or what it was sent with."""
    for item in items.of_digest(connection, digest.seq):
        return item.content_summary
    entries = digest.body.get("entries")
    first = entries[0] if isinstance(entries, list) and entries else {}
    return str(first.get("summary", "")) if isinstance(first, Mapping) else ""


# -- both -------------------------------------------------------------------------------------------------------------


def _brain(deps: Deps, connection: sa.Connection) -> Sidechat | None:
    """Return the brain if it can be told anything."""
    brain = sidechats.by_name(connection, deps.settings.brain)
    return brain if brain is not None and not brain.broken else None


def _owe(connection: sa.Connection, brain: Sidechat, key: str, values: Mapping[str, object], now: datetime) -> None:
    """Owe a notice; its template has the name that its key begins with."""
    body = {"template": key.partition(":")[0], "values": dict(values)}
    notices.owe(connection, "notice", key, now, destination=brain.channel, thread=brain.thread, weight=6, body=body)
