"""`sidechat add|list|remove`."""

from datetime import datetime
from typing import Annotated

import typer

from bot.cli import output
from bot.cli.common import AsJson, with_store
from bot.cli.people import me
from bot.config import Config
from bot.engine import commands, registry
from bot.engine.deps import Deps
from bot.engine.links import place_of
from bot.engine.shapes import Sidechat as Shown
from bot.engine.spans import clock, parsed
from state import sidechats
from state.rows import Sidechat

app = typer.Typer(no_args_is_help=True, help="Register the places in which agents work.")

Name = Annotated[str, typer.Argument(help="For example: '646 tasks'; its first word is the agent.")]


@app.command("add")
def add(
    name: Name,
    channel: Annotated[str, typer.Option(help="Channel id (C…), or the permalink of a thread's message.")],
    agent: Annotated[str | None, typer.Option(help="Default: the first word of the name.")] = None,
    label: Annotated[str | None, typer.Option(help="How digests call the place. Default: '<agent> main chat'.")] = None,
    member: Annotated[list[str] | None, typer.Option(help="Slack user or bot id of the agent; repeat it.")] = None,
    escalate_to: Annotated[
        str | None, typer.Option(help="User, user group or channel id. Default: the global target.")
    ] = None,
    time_zone: Annotated[str | None, typer.Option(help="IANA name. Default: UTC.")] = None,
    as_json: AsJson = False,
) -> None:
    """Register a sidechat, or change what is named of the one of that name."""
    place, thread = place_of(channel)
    wanted = registry.Registration(
        name=name,
        channel=place,
        thread=thread,
        agent=agent,
        label=label,
        members=tuple(member) if member else None,
        escalate_to=escalate_to,
        time_zone=time_zone,
    )
    stored = with_store(lambda deps, _config: commands.register(deps, wanted, me()))
    if as_json:
        output.data(Shown.of(stored).json_ready())
    else:
        output.words(f"Registered {stored.name} for the agent {stored.agent} in {stored.channel}.")


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the registered sidechats."""

    async def work(deps: Deps, _config: Config) -> list[Sidechat]:
        return await deps.store.read(sidechats.everyone)

    found = with_store(work)
    if as_json:
        output.data([Shown.of(one).json_ready() for one in found])
        return
    columns = ("name", "agent", "channel", "thread", "escalate_to", "quiet_hours", "muted_until", "broken")
    rows = [[_cell(one, name) for name in columns] for one in found]
    output.table(columns, rows, empty="None yet: digestbot sidechat add NAME --channel C…")


def _cell(sidechat: Sidechat, column: str) -> str:
    if column == "muted_until" and sidechat.muted_at and not sidechat.muted_until:
        return "unmuted"
    value = getattr(sidechat, column)
    return clock(value) if isinstance(value, datetime) else str(value or "")


@app.command("remove")
def remove(
    name: Name,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel its open jobs.")] = False,
    reroute: Annotated[str, typer.Option(help="Move its open jobs to this sidechat.")] = "",
    as_json: AsJson = False,
) -> None:
    """Unregister a sidechat; its open jobs are cancelled or moved, never left behind."""
    count = with_store(lambda deps, _config: commands.unregister(deps, name, me(), cancel=cancel, reroute=reroute))
    if as_json:
        output.data({"name": name, "open_jobs": count})
    else:
        output.words(f"Unregistered {name}; {count} open jobs {'moved' if reroute else 'cancelled'}.")


@app.command("mute")
def mute(
    name: Name,
    span: Annotated[str, typer.Argument(help="For how long: 30m, 2h, 1d. Default: until somebody unmutes it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Hold all deliveries to a sidechat, urgent ones too."""
    length = parsed(span) if span else None
    muted = with_store(lambda deps, _config: commands.mute(deps, name, me(), length))
    if as_json:
        output.data(Shown.of(muted).json_ready())
    else:
        output.words(f"{muted.name} is muted{f' for {span}' if span else ''}.")


@app.command("unmute")
def unmute(name: Name, as_json: AsJson = False) -> None:
    """Deliver again; what waited goes out as one digest."""
    heard = with_store(lambda deps, _config: commands.unmute(deps, name, me()))
    if as_json:
        output.data(Shown.of(heard).json_ready())
    else:
        output.words(f"{heard.name} is not muted.")
