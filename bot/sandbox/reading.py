"""What the control API shows: state, messages, calls, envelopes, connections, faults."""

from collections.abc import Callable

from bot.sandbox.arranging import app_shown, channel_shown
from bot.sandbox.workspace import Workspace
from bot.sandbox.world import Json


def state(workspace: Workspace, _query: Json) -> Json:
    world = workspace.world
    return {
        "users": [user.shown() for user in world.users.values()],
        "apps": [app_shown(app) for app in world.apps.values()],
        "channels": [channel_shown(channel) for channel in world.channels.values()],
        "usergroups": list(world.usergroups.values()),
    }


def messages(workspace: Workspace, query: Json) -> Json:
    """Return the messages of `channel`, oldest first, replies among them; of one thread with `thread_ts`."""
    channel = workspace.world.channel(query["channel"])
    thread = query.get("thread_ts")
    wanted = [m for m in channel.messages.values() if thread in {None, m.ts, m.thread_ts}]
    return {
        "channel": channel.id,
        "messages": [
            channel.shown(m) | {"sent_text": m.sent_text, "metadata": m.metadata}
            for m in sorted(wanted, key=lambda m: m.ts)
        ],
    }


def ephemerals(workspace: Workspace, query: Json) -> Json:
    return {"ephemerals": list(workspace.world.channel(query["channel"]).ephemerals)}


def views(workspace: Workspace, query: Json) -> Json:
    """Return the open modals, of one `user` if asked, the topmost last."""
    user = workspace.world.user(query["user"]).id if "user" in query else None
    return {"views": [view for view in workspace.world.views.values() if user in {None, view["user_id"]}]}


def homes(workspace: Workspace, _query: Json) -> Json:
    found = workspace.world.homes.items()
    return {"homes": [{"app_id": app, "user_id": user, "view": view} for (app, user), view in found]}


def calls(workspace: Workspace, query: Json) -> Json:
    """Return the Web API calls after number `since`, of one `method` or `app` if asked."""
    since = int(query.get("since", 0))
    wanted = {key: query[key] for key in ("method", "app") if key in query}
    found = [c for c in workspace.calls if c["n"] > since and all(c[key] == value for key, value in wanted.items())]
    return {"calls": found}


def envelopes(workspace: Workspace, query: Json) -> Json:
    """Return the payloads after number `since`, of one `app`, `status` or `kind` if asked."""
    since = int(query.get("since", 0))
    wanted = {key: query[key] for key in ("app", "status", "kind") if key in query}
    found = [
        e
        for e in workspace.delivery.log
        if e.n > since and all(getattr(e, key) == value for key, value in wanted.items())
    ]
    return {"envelopes": [envelope.shown() for envelope in found]}


def connections(workspace: Workspace, query: Json) -> Json:
    found = [one for one in workspace.sockets.connections if query.get("app", one.app.name) == one.app.name]
    return {"count": len(found), "connections": [one.shown() for one in found]}


def faults(workspace: Workspace, _query: Json) -> Json:
    return {
        "faults": [fault.shown() for fault in workspace.faults.active.values()],
        "hits": dict(workspace.faults.hits),
    }


VIEWS: dict[str, Callable[[Workspace, Json], Json]] = {
    "state": state,
    "messages": messages,
    "ephemerals": ephemerals,
    "views": views,
    "homes": homes,
    "calls": calls,
    "envelopes": envelopes,
    "connections": connections,
    "faults": faults,
}
