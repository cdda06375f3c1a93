"""`/buffer`: what was typed becomes a use case, and its answer words (SPEC U1); the wording is in templates."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from bot.engine import commands
from bot.engine.deps import Deps
from bot.engine.links import place_of
from bot.engine.naming import called
from bot.engine.registry import Registration
from bot.engine.spans import clock, in_words, parsed
from bot.errors import DigestbotError, UsageError
from bot.protocol.safety import cut, safe
from bot.protocol.slack_text import undo
from bot.slack import answers
from bot.slack.asking import DONE_VALUES, Ask, Typed, said, undo_safe
from bot.wording import Mrkdwn

_OPTION: Final = re.compile(r"(?:^|\s)(?:--|\u2014|\u2013)(?P<name>cancel|reroute)(?:[=\s]+(?P<value>.*))?$")
_Run = Callable[[Ask], Awaitable[list[str]]]


@dataclass(frozen=True, kw_only=True)
class Command:
    usage: str
    what: str
    run: _Run
    operator: bool = False


async def answer(deps: Deps, typed: Typed) -> list[str]:
    """Return the answer to a command, in parts that belong together; an error of ours is an answer, too."""
    name, _, rest = typed.text.strip().partition(" ")
    try:
        command = _command(name)
        ask = Ask(deps=deps, typed=typed, said=said(rest), usage=command.usage)
        return await command.run(ask)
    except DigestbotError as error:
        return [refusal(deps, error)]


def refusal(deps: Deps, error: DigestbotError) -> str:
    """Return an error in words, with what can be done about it."""
    return deps.wording.say("buffer_error", words=_sentence(str(error)), hint=_sentence(error.hint))


def _sentence(words: str) -> Mrkdwn:
    """Return our own words as a sentence; an id at its start stays as it is."""
    start = words[:1] if words.startswith("ml-") else words[:1].upper()
    end = "." if words and not words.endswith((".", "?", "!")) else ""
    return Mrkdwn(undo_safe(f"{start}{words[1:]}{end}"))


def more(deps: Deps, count: int) -> str:
    return deps.wording.say("buffer_done", **{**dict.fromkeys(DONE_VALUES, ""), "count": count}, what="more")


def _command(name: str) -> Command:
    found = COMMANDS.get(name.casefold() or "help")
    if found is None:
        near = get_close_matches(name.casefold(), COMMANDS, n=1)
        hint = f"did you mean `/buffer {COMMANDS[near[0]].usage}`?" if near else "`/buffer help` lists what there is"
        raise UsageError(f"there is no `/buffer {cut(safe(undo(name)), 40)}`", hint=hint)
    return found


async def _help(ask: Ask) -> list[str]:
    return [ask.say("help", usage=one.usage, what=one.what, operator=one.operator) for one in COMMANDS.values()]


# -- changing ---------------------------------------------------------------------------------------------------------


async def _snooze(ask: Ask) -> list[str]:
    job_id, _, span = ask.one_word().partition(" ")
    if not span.strip():
        raise UsageError("say for how long: `/buffer snooze ID 2h`")
    job = await commands.snooze(ask.deps, job_id.strip("`[]#"), parsed(span), ask.typed.actor)
    assert job.due_at is not None
    left = in_words(job.due_at - ask.deps.clock.now())
    return ask.done("snoozed", job_id=job.job_id, at=clock(job.due_at), left=left)


async def _nudge(ask: Ask) -> list[str]:
    job = await commands.nudge(ask.deps, ask.one_word(), ask.typed.actor)
    assert job.due_at is not None
    return ask.done("nudged", job_id=job.job_id, slot=job.slot, of=job.reply_nudges, at=clock(job.due_at))


async def _escalate(ask: Ask) -> list[str]:
    job = await commands.escalate(ask.deps, ask.one_word(), ask.typed.actor)
    return ask.done("escalated", job_id=job.job_id)


async def _pause(ask: Ask) -> list[str]:
    paused = await commands.pause(ask.deps, ask.typed.actor)
    return ask.done("paused", who=await called(ask.deps, paused.by), at=clock(paused.since))


async def _resume(ask: Ask) -> list[str]:
    return ask.done("resumed", left=in_words(await commands.resume(ask.deps, ask.typed.actor)))


async def _mute(ask: Ask) -> list[str]:
    name, _, last = ask.one_word().rpartition(" ")
    try:
        span = parsed(last) if name else None
    except UsageError:  # the last word is of the name: without a time a mute lasts until it is ended
        span = None
    muted = await commands.mute(ask.deps, name if span else ask.one_word(), ask.typed.actor, span)
    return ask.done("muted", name=muted.name, at=clock(muted.muted_until) if muted.muted_until else "")


async def _unmute(ask: Ask) -> list[str]:
    return ask.done("unmuted", name=(await commands.unmute(ask.deps, ask.one_word(), ask.typed.actor)).name)


_UNRESOLVED: Final = re.compile(r"(?:^|\s)(@\S+|#(?!\d+(?:\s|$))\S+)")  # Slack sends <@U…> and <#C…> for those it knows


def _resolved(name: str) -> str:
    unknown = _UNRESOLVED.search(name)
    if unknown:
        said = f"{cut(safe(undo(unknown[1])), 40)} is nobody and no channel that Slack knows"
        raise UsageError(said, hint="choose it from the list that Slack offers while you type")
    return name


async def _register(ask: Ask) -> list[str]:
    name, told = _resolved(ask.one_word()), ask.said
    channel, thread = ask.typed.channel, ""
    if told.links:
        channel, thread = place_of(told.links[0])
    elif told.channels:
        channel = told.channels[0]
    wanted = Registration(name=name, channel=channel, thread=thread, members=told.people or None)
    stored = await commands.register(ask.deps, wanted, ask.typed.actor)
    return ask.done("registered", name=stored.name, agent=stored.agent, channel=stored.channel, thread=stored.thread)


async def _unregister(ask: Ask) -> list[str]:
    words = ask.one_word()
    option = _OPTION.search(words)
    name = words[: option.start()].strip() if option else words
    cancel = option is not None and option["name"] == "cancel"
    to = (option["value"] or "").strip() if option and option["name"] == "reroute" else ""
    if option and option["name"] == "reroute" and not to:
        raise UsageError("say to which sidechat: `/buffer unregister NAME --reroute OTHER`")
    count = await commands.unregister(ask.deps, name, ask.typed.actor, cancel=cancel, reroute=to)
    return ask.done("unregistered", name=name, count=count, how=f"moved to {to}" if to else "cancelled")


COMMANDS: Final[Mapping[str, Command]] = {
    "status": Command(usage="status", what="everything at one glance", run=answers.status),
    "digest": Command(usage="digest", what="the buffer: what waits, expires, cools down", run=answers.digest),
    "jobs": Command(usage="jobs [AGENT]", what="open jobs, of all agents or one", run=answers.jobs),
    "job": Command(usage="job ID", what="one job with all its items and replies", run=answers.job),
    "why": Command(usage="why ID", what="what happened to a job or an item, and why", run=answers.why),
    "plan": Command(usage="plan", what="what happens next, and when", run=answers.plan),
    "sidechats": Command(usage="sidechats", what="the registered sidechats", run=answers.sidechats),
    "register": Command(
        usage="register NAME [@AGENT] [#CHANNEL or link of a thread]",
        what="make this channel a sidechat; its first word names the agent",
        run=_register,
        operator=True,
    ),
    "unregister": Command(
        usage="unregister NAME [--cancel or --reroute OTHER]",
        what="forget a sidechat; say what becomes of its open jobs",
        run=_unregister,
        operator=True,
    ),
    "mute": Command(
        usage="mute NAME [2h]", what="hold all posts to a sidechat, urgent ones too", run=_mute, operator=True
    ),
    "unmute": Command(usage="unmute NAME", what="let them out, as one digest", run=_unmute, operator=True),
    "snooze": Command(
        usage="snooze ID 2h", what="move a job's next due time, 7 days at most", run=_snooze, operator=True
    ),
    "nudge": Command(usage="nudge ID", what="nudge now", run=_nudge, operator=True),
    "escalate": Command(usage="escalate ID", what="hand a job over now", run=_escalate, operator=True),
    "pause": Command(usage="pause", what="stop posting, not reading", run=_pause, operator=True),
    "resume": Command(usage="resume", what="post again; deadlines move by the pause", run=_resume, operator=True),
    "help": Command(usage="help", what="this list", run=_help),
}
