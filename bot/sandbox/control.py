"""The control API: one table of things to do, one of things to see. `GET /control/` lists both.

Do: `POST /control/<name>` with a JSON object; the answer is `{"ok": true, …}` or `{"ok": false, "error": words}`.
People, apps and channels are named or given by id.

    users/create {name, real_name?, team_id?, restricted?}    users/change {user, deleted?, restricted?, name?}
    apps/create {name, channels?, scopes?, socket?, commands?}  apps/change {app, scopes?, revoked?}
    apps/http {app, request_url|null, signing_secret?, verify?}
    channels/create {name, private?, members?, shared?}       channels/join|leave {channel, user}
    channels/archive|unarchive|delete {channel, user?}        channels/rename {channel, name}
    dms/open {user, app}                                      usergroups/create {handle, users}
    act/post {user, channel | app, text, thread_ts?, broadcast?, me?, files?, blocks?, encoded?, extra?}
    act/app_post {app, channel, text?, blocks?, attachments?, thread_ts?, sender?, extra?}
    act/edit {channel, ts, text?, extra?}    act/delete {channel, ts}    act/react {user, channel, ts, name}
    act/unreact {user, channel, ts, name}
    act/unfurl {channel, ts, attachments}
    act/press {user, channel, ts | view_id, action_id? value? text? block_id? option?}
    act/submit {user, view_id?, values}      act/close {user, view_id?}
    act/command {user, channel, text}        act/shortcut {user, app, channel, ts, callback_id}
    act/open_home {user, app}
    faults/set {kind, method?, channel?, app?, times?, error?, retry_after?, seconds?, copies?, connections?}
    faults/clear {id? | kind?}               events/release {}
    events/send {app, event | body}          settings {limits?, split_long_text?, time_scale?, events_per_hour?, …}
    sockets/disconnect {app, reason, connection?}             sockets/cut {app}
    agents/start {name, channel, behaviours, after?, later?}  agents/stop {name}

`faults/set` for silent_socket and half_open means the connections that are open now; `connections: "all"` means later
ones too. See: `GET /control/<name>?…`

    state    messages?channel=&thread_ts=&metadata=    ephemerals?channel=    views?user=    homes
    calls?method=&app=&since=    envelopes?app=&status=&since=    connections?app=    faults    agents
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bot.sandbox import acting, arranging, interacting
from bot.sandbox.agents import Agent, checked
from bot.sandbox.errors import ControlError, SlackError
from bot.sandbox.faults import KINDS
from bot.sandbox.reading import VIEWS
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Json

_SOCKET_FAULTS = {"silent_socket", "half_open"}

Do = Callable[[Workspace, Json], Awaitable[Json]]


async def set_fault(workspace: Workspace, body: Json) -> Json:
    """Switch a fault on; names of channels become ids."""
    options = {key: value for key, value in body.items() if key != "kind"}
    if options.get("channel"):
        options["channel"] = workspace.world.channel(options["channel"]).id
    if body["kind"] in _SOCKET_FAULTS:
        wanted = options.pop("connections", "now")
        now = [one.id for one in workspace.sockets.connections]
        options["connections"] = None if wanted == "all" else frozenset(now if wanted == "now" else wanted)
    return workspace.faults.add(body["kind"], **options).shown()


async def clear_faults(workspace: Workspace, body: Json) -> Json:
    cleared = workspace.faults.clear(ident=body.get("id"), kind=body.get("kind"))
    workspace.sockets.forget_ghosts()
    return {"cleared": cleared}


async def release(workspace: Workspace, _body: Json) -> Json:
    workspace.faults.clear(kind="hold_events")
    return {"released": workspace.delivery.release()}


async def send_event(workspace: Workspace, body: Json) -> Json:
    """Send any inner `event`, or any whole `body` such as app_rate_limited, to one app."""
    app = workspace.world.app(body["app"])
    whole = body.get("body") or workspace.publisher.body(app, body["event"], None)
    workspace.delivery.event(app, whole)
    return {"event_id": whole.get("event_id")}


async def change_settings(workspace: Workspace, body: Json) -> Json:
    unknown = set(body) - workspace.settings.changeable
    if unknown:
        raise ControlError(f"cannot change {sorted(unknown)}; only {sorted(workspace.settings.changeable)}")
    for key, value in body.items():
        setattr(workspace.settings, key, tuple(value) if isinstance(value, list) else value)
    return {key: getattr(workspace.settings, key) for key in sorted(workspace.settings.changeable)}


async def disconnect(workspace: Workspace, body: Json) -> Json:
    app = workspace.world.app(body["app"])
    reason = body.get("reason", "refresh_requested")
    return {"disconnected": await workspace.sockets.disconnect(app, reason, body.get("connection"))}


async def cut(workspace: Workspace, body: Json) -> Json:
    return {"cut": await workspace.sockets.cut(workspace.world.app(body["app"]))}


DO: dict[str, Do] = {
    **arranging.ACTIONS,
    **{f"act/{name}": action for name, action in (acting.ACTIONS | interacting.ACTIONS).items()},
    "faults/set": set_fault,
    "faults/clear": clear_faults,
    "events/release": release,
    "events/send": send_event,
    "settings": change_settings,
    "sockets/disconnect": disconnect,
    "sockets/cut": cut,
}


@dataclass(kw_only=True)
class Control:
    """Serves `/control/`, and the same inside this process."""

    workspace: Workspace
    agents: dict[str, Agent] = field(default_factory=dict)

    async def do(self, operation: str, body: Json) -> Json:
        """Do one thing; a request that makes no sense raises ControlError."""
        action = {"agents/start": self._start_agent, "agents/stop": self._stop_agent}.get(operation)
        try:
            if action:
                return await action(body)
            if operation in DO:
                return await DO[operation](self.workspace, body)
        except KeyError as error:
            raise ControlError(f"{operation}: {error.args[0]}") from error
        except SlackError as error:
            raise ControlError(f"{operation}: {error.code}") from error
        raise ControlError(f"no operation called {operation!r}; see GET /control/")

    def see(self, view: str, query: Json) -> Json:
        """Return what there is to see."""
        if view == "agents":
            return {"agents": [_agent(agent) for agent in self.agents.values()]}
        if view not in VIEWS:
            raise ControlError(f"nothing to see called {view!r}; see GET /control/")
        try:
            return VIEWS[view](self.workspace, query)
        except KeyError as error:
            raise ControlError(f"{view}: {error.args[0]}") from error

    async def stop(self) -> None:
        for name in list(self.agents):
            await self._stop_agent({"name": name})

    async def post(self, request: web.Request) -> web.Response:
        return await _answered(self.do(request.match_info["operation"], await _body(request)))

    async def get(self, request: web.Request) -> web.Response:
        async def see() -> Json:
            return self.see(request.match_info["view"], dict(request.query))

        return await _answered(see())

    async def index(self, _request: web.Request) -> web.Response:
        """List what can be done, seen and switched on."""
        do = sorted([*DO, "agents/start", "agents/stop"])
        return web.json_response({"do": do, "see": sorted([*VIEWS, "agents"]), "faults": KINDS, "help": __doc__})

    async def _start_agent(self, body: Json) -> Json:
        app = self.workspace.world.app(body["name"])
        await self._stop_agent(body)
        agent = Agent(
            name=app.name, user_id=app.user_id, token=app.bot_token, api_url=f"{self.workspace.url}/api/",
            channel=self.workspace.world.channel(body["channel"]).id, behaviours=checked(body["behaviours"]),
            after=float(body.get("after", 0.2)), later=float(body.get("later", 2.0)),
        )  # fmt: skip
        self.agents[app.name] = agent
        self.workspace.publisher.listeners.append(agent.hear)
        return _agent(agent)

    async def _stop_agent(self, body: Json) -> Json:
        agent = self.agents.pop(body["name"], None)
        if agent:
            self.workspace.publisher.listeners.remove(agent.hear)
            await agent.stop()
        return {"stopped": agent is not None}


def _agent(agent: Agent) -> Json:
    return {
        "name": agent.name, "channel": agent.channel, "behaviours": list(agent.behaviours), "seen": dict(agent.seen),
        "errors": list(agent.errors),
    }  # fmt: skip


async def _body(request: web.Request) -> Json:
    read: Any = await request.json() if request.can_read_body else {}
    return read if isinstance(read, dict) else {}


async def _answered(work: Awaitable[Json]) -> web.Response:
    try:
        return web.json_response({"ok": True} | await work)
    except ControlError as error:
        return web.json_response({"ok": False, "error": str(error)}, status=400)
