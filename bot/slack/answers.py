"""What the looking subcommands of `/buffer` answer (SPEC U1); the wording is in templates."""

from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final

from bot.buffer.digest_file import TopItem
from bot.buffer.score import effective
from bot.engine import commands, holds
from bot.engine.deps import Deps
from bot.engine.glance import Glance, Held
from bot.engine.naming import called
from bot.engine.spans import clock, in_words
from bot.errors import NotFoundError
from bot.protocol.safety import cut, safe
from bot.protocol.verbs import Status
from bot.slack.asking import Ask, undo_safe
from bot.wording import Mrkdwn
from state.rows import Sidechat

SUMMARY_MAX: Final = 120
RESULT_MAX: Final = 600


async def status(ask: Ask) -> list[str]:
    seen = await commands.status(ask.deps)
    health = seen.health
    values: dict[str, Any] = {
        "open": seen.open,
        "pending": seen.jobs.get(Status.PENDING, 0),
        "acknowledged": seen.jobs.get(Status.ACKNOWLEDGED, 0),
        "stale": seen.stale,
        "rate": f"{health.closure_rate:.0%}" if health.closure_rate is not None else "none yet",
        "closed": health.closed,
        "delivered": health.actionable_delivered,
        "waiting": seen.waiting,
        "top": [_top(one) for one in seen.top],
        "beats": [(name, clock(at)) for name, at in seen.beats.items()],
        "broken": [(name, why) for name, why in seen.broken.items()],
        "sources": seen.failed_sources,
    }
    return [ask.say("status", **values, **await _delivery(ask, seen))]


async def _delivery(ask: Ask, seen: Glance) -> dict[str, Any]:
    window, gap = seen.window, seen.last_gap
    return {
        "paused": await called(ask.deps, seen.paused.by) if seen.paused else "",
        "paused_since": clock(seen.paused.since) if seen.paused else "",
        "held": [_held(one) for one in seen.held[:5]],
        "window": f"{window.actions} post{'' if window.actions == 1 else 's'} in {in_words(window.per)}",
        "posts_held": clock(seen.posts_held_until) if seen.posts_held_until else "",
        "backlog": list(seen.backlog.items()),
        "sockets": "not known here" if seen.sockets is None else seen.sockets,
        "gap": {"began": clock(gap.began_at), "ended": clock(gap.ended_at), "reason": gap.reason} if gap else None,
        "unread": seen.unread_gaps,
    }


def _top(one: TopItem) -> dict[str, object]:
    summary = cut(safe(one.summary), SUMMARY_MAX)
    return {
        "score": f"{effective(one.score):.1f}",
        "source": safe(one.source),
        "thread": safe(one.thread_id),
        "summary": summary,
    }


def _held(one: Held) -> dict[str, object]:
    until = clock(one.until) if one.until else ""
    return {"kind": one.kind, "job_id": one.job_id, "to": one.to, "until": until, "why": safe(one.why)}


async def digest(ask: Ask) -> list[str]:
    text = await commands.digest(ask.deps)
    return [Mrkdwn(undo_safe(line)) for line in text.split("\n") if not line.startswith("<!--")]


async def jobs(ask: Ask) -> list[str]:
    agent = ask.said.words.strip()
    if agent:
        await _require_agent(ask.deps, agent)
    found = await commands.job_list(ask.deps, agent)
    if not found:
        return ask.done("no_jobs", agent=agent)
    return [ask.say("job_row", **await _row(ask.deps, one)) for one in found]


async def _require_agent(deps: Deps, agent: str) -> None:
    known = {one.agent.casefold(): one.agent for one in await commands.sidechat_list(deps)}
    if agent.casefold() not in known:
        near = get_close_matches(agent.casefold(), known, n=1)
        hint = f"did you mean {known[near[0]]}?" if near else f"agents: {', '.join(known.values())}"
        raise NotFoundError(f"no agent is called {agent!r}", hint=hint)


async def _row(deps: Deps, one: Mapping[str, Any]) -> dict[str, Any]:
    now, begun = deps.clock.now(), datetime.fromisoformat(one["delivered_at"] or one["sent_at"])
    due = datetime.fromisoformat(one["due_at"]) - now if one["due_at"] else None
    return {
        "job_id": one["job_id"],
        "status": one["status"],
        "urgent": one["urgent"],
        "owner": await called(deps, one["owner"]) if one["owner"] else "",
        "age": in_words(now - begun),
        "due": in_words(due) if due is not None else "",
        "sidechat": one["sidechat"],
        "permalink": one["permalink"],
    }


async def job(ask: Ask) -> list[str]:
    deps = ask.deps
    one = await commands.job(deps, ask.one_word())
    head = ask.say(
        "job",
        **await _row(deps, one),
        agent=one["agent"],
        outcome=one["outcome"] or "",
        closed_by=await called(deps, one["closed_by"]) if one["closed_by"] else "",
        sent=clock(datetime.fromisoformat(one["sent_at"])),
        nudges=one["nudges_sent"],
        of=one["reply_nudges"],
        reason=one["reason"] or "",
        result=cut(safe(one["result_text"] or ""), RESULT_MAX),
    )
    return [head, *(_item(ask, item) for item in one["items"]), *[await _reply(ask, said) for said in one["replies"]]]


def _item(ask: Ask, item: Mapping[str, Any]) -> str:
    return ask.say(
        "item",
        author=cut(safe(item["author"]), 40),
        summary=cut(safe(item["summary"]), SUMMARY_MAX),
        marker=item["marker"],
        id=item["id"],
        state=item.get("state", ""),
        times=item.get("times", 1),
    )


async def _reply(ask: Ask, said: Mapping[str, Any]) -> str:
    return ask.say(
        "reply",
        verb=said["verb"],
        who=await called(ask.deps, said["author"]),
        via=said["via"],
        effect=said["effect"],
        text=cut(safe(said["text"] or ""), SUMMARY_MAX),
    )


async def why(ask: Ask) -> list[str]:
    return [Mrkdwn(f"• {undo_safe(line)}") for line in await commands.why(ask.deps, ask.one_word())]


async def plan(ask: Ask) -> list[str]:
    now, found = ask.deps.clock.now(), await commands.plan(ask.deps)
    rows = [
        ask.say(
            "next",
            at=clock(one.at) if one.at else "",
            left=in_words(one.at - now) if one.at else "",
            what=one.what,
            subject=safe(one.subject),
            why=safe(one.why),
        )
        for one in found
    ]
    return rows or ask.done("no_plan")


def _muted(sidechat: Sidechat, now: datetime) -> str:
    """Return until when a sidechat is muted, in words; nothing where it is not."""
    hold = holds.muted(sidechat, now)
    return "" if hold is None else f"until {clock(hold.until)}" if hold.until else "until somebody unmutes it"


async def sidechats(ask: Ask) -> list[str]:
    names = ("name", "agent", "channel", "thread", "escalate_to", "broken", "quiet_hours", "time_zone")
    found = await commands.sidechat_list(ask.deps)
    rows = [
        ask.say("sidechat", **{name: getattr(one, name) for name in names}, muted=_muted(one, ask.deps.clock.now()))
        for one in found
    ]
    return rows or ask.done("no_sidechats")
