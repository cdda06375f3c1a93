"""`job …`, and `why`: one job, what was said about it, and the verbs (SPEC U4, P6, C3)."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.cli.people import me
from bot.config import Config
from bot.engine import commands, views
from bot.engine.deps import Deps
from bot.engine.identity import author_of
from bot.engine.operators import Actor
from bot.engine.shapes import JobResult, Replied, Why
from bot.engine.spans import parsed
from bot.errors import NotFoundError, UsageError
from bot.protocol.verbs import Verb
from state.rows import Followup


class _ById(TyperGroup):
    """`job ID` is `job show ID`: a digest's `+N more` sends people there (P3)."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, ["show", *args] if args and args[0].startswith("ml-") else args)


app = typer.Typer(cls=_ById, no_args_is_help=True, help="Look at one job, answer it, move its clock.")

JobId = Annotated[str, typer.Argument(metavar="ID", help="A job's id, such as ml-646-20261004-213000.")]
As = Annotated[str, typer.Option("--as", metavar="NAME", help="Who says it: an agent's name, or a person's.")]
Key = Annotated[str, typer.Option("--key", help="Names this act: with the same key it counts once.")]


@app.command("show")
def show(job_id: JobId, as_json: AsJson = False) -> None:
    """Show a job with its items and the replies to it."""
    found = with_store(lambda deps, _config: commands.job(deps, job_id))
    if as_json:
        output.data(found)
        return
    output.table(("", ""), [(name, found[name]) for name in _SHOWN if found[name] is not None], empty="")
    for one in found["items"]:
        output.words(f"- {one['author']}: {one['summary']}" + (f" ×{one['times']}" if one.get("times", 1) > 1 else ""))
    for one in found["replies"]:
        output.words(f"{one['at']} {one['author']} {one['verb']} ({one['effect']}): {one['text'] or ''}".rstrip(": "))


_SHOWN = (
    "job_id", "agent", "sidechat", "class", "urgent", "status", "outcome", "owner", "closed_by", "reason", "due_at",
    "nudges_sent", "reply_nudges", "reply_escalate", "permalink",
)  # fmt: skip


@app.command("status")
def status(job_id: JobId, as_json: AsJson = False) -> None:
    """Say a job's status and outcome, in two words."""
    found = with_store(lambda deps, _config: commands.job(deps, job_id))
    names = ("job_id", "status", "outcome", "owner", "due_at")
    if as_json:
        output.data({name: found[name] for name in names})
    else:
        output.words(" ".join(str(found[name]) for name in ("status", "outcome") if found[name]))


@app.command("result")
def result(
    job_id: JobId,
    text: Annotated[str, typer.Argument(help="The words of a result to record. Default: show the one there is.")] = "",
    who: As = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Show a job's result, or record one."""
    if text:
        _said(job_id, Verb.RESULT, text, who, key)
    found = with_store(lambda deps, _config: commands.job(deps, job_id))
    if found["result_text"] is None:
        raise NotFoundError(f"{found['job_id']} has no result", hint=f"it is {found['status']}")
    if as_json:
        output.data(JobResult(job_id=found["job_id"], result_text=found["result_text"]).json_ready())
    else:
        output.words(found["result_text"])


@app.command("reply")
def reply(
    job_id: JobId,
    verb: Annotated[str, typer.Argument(help="ACK, CLAIM, RESULT, DECLINE or NO-ACTION.")],
    text: Annotated[str, typer.Argument(help="The result, the reason or a note.")] = "",
    who: As = "",
    key: Key = "",
    as_json: AsJson = False,
) -> None:
    """Say a verb about a job, as if it had been said in its thread."""
    said = _said(job_id, _verb(verb), text, who, key)
    if as_json:
        output.data(said.json_ready())
    else:
        output.words(f"{said.verb} {said.effect}: {job_id} is {said.status}.")


@app.command("why")
def why_job(job_id: JobId, as_json: AsJson = False) -> None:
    """Tell what happened to a job, and why."""
    why(job_id, as_json)


def why(
    subject: Annotated[str, typer.Argument(help="A job, an item or a sidechat.")],
    as_json: AsJson = False,
) -> None:
    """Tell what happened to a job, an item or a sidechat, and why."""
    told = with_store(lambda deps, _config: commands.why(deps, subject))
    if as_json:
        output.data(Why(subject=subject, trace=told).json_ready())
    else:
        output.words("\n".join(told))


@app.command("snooze")
def snooze(
    job_id: JobId,
    span: Annotated[str, typer.Argument(help="For how long: 30m, 2h, 1d; at most 7 days.")],
    as_json: AsJson = False,
) -> None:
    """Move a job's next due time."""
    length = parsed(span)
    _change(lambda deps, by: commands.snooze(deps, job_id, length, by), "Next due: {due_at}", as_json=as_json)


@app.command("nudge")
def nudge(job_id: JobId, as_json: AsJson = False) -> None:
    """Nudge now; it counts as a slot."""
    _change(lambda deps, by: commands.nudge(deps, job_id, by), "A nudge is owed. Next due: {due_at}", as_json=as_json)


@app.command("escalate")
def escalate(job_id: JobId, as_json: AsJson = False) -> None:
    """Hand a job over to its escalation target and the brain, now."""
    _change(lambda deps, by: commands.escalate(deps, job_id, by), "{job_id} is {status}.", as_json=as_json)


@app.command("reroute")
def reroute(
    job_id: JobId,
    to: Annotated[str, typer.Argument(help="Name of a sidechat, or of its agent.")],
    as_json: AsJson = False,
) -> None:
    """Give a job, or what was declined, to another sidechat."""
    fresh = with_store(lambda deps, _config: commands.reroute(deps, job_id, to, me()))
    if as_json:
        output.data({"job_id": fresh})
    else:
        output.words(f"It is now {fresh} of {to}.")


@app.command("settle")
def settle(job_id: JobId, as_json: AsJson = False) -> None:
    """Let a declined matter rest."""
    with_store(lambda deps, _config: commands.settle(deps, job_id, me()))
    if as_json:
        output.data({"job_id": job_id})
    else:
        output.words(f"{job_id} rests.")


def _change(do: Callable[[Deps, Actor], Awaitable[Followup]], said: str, *, as_json: bool) -> None:
    """Change a job's clock, and show what it is then."""

    async def work(deps: Deps, _config: Config) -> dict[str, Any]:
        one = await do(deps, me())
        return await deps.store.read(lambda connection: views.job(connection, one))

    job = with_store(work)
    if as_json:
        output.data(job)
    else:
        output.words(said.format(**job))


def _verb(word: str) -> Verb:
    folded = word.strip().strip("[]").upper().replace("_", "-").replace(" ", "-")
    folded = "NO-ACTION" if folded == "NOACTION" else folded
    if folded not in set(Verb):
        raise UsageError(f"{word!r} is no verb", hint=f"one of: {', '.join(Verb)}")
    return Verb(folded)


def _said(job_id: str, verb: Verb, text: str, who: str, key: str) -> Replied:
    """Say a verb, durably, and return what it did."""
    name = who or me().id
    act = key or secrets.token_hex(12)

    async def work(deps: Deps, _config: Config) -> Replied:
        author = await deps.store.read(lambda connection: author_of(connection, name))
        verdict = await commands.reply(deps, job_id, verb, text=text, author=author, via="cli", key=f"{name}:{act}")
        after = verdict.job
        return Replied(
            job_id=job_id,
            verb=verb,
            effect=verdict.effect,
            status=after.status,
            outcome=after.outcome,
            owner=after.owner or None,
        )

    return with_store(work)
