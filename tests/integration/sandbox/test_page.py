"""What the page's server gives to browsers: files, reads without secrets, a live stream."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from support.waiting import PATIENCE, eventually

from bot.sandbox.page import streaming


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


@asynccontextmanager
async def stream(http, sandbox):
    """Open a stream; `frames()` waits for that many frames."""
    async with http.get(f"{sandbox.url}/page/stream") as answer:
        await eventually(lambda: sandbox.workspace.publisher.listeners)

        async def frames(number):
            found = []
            async with asyncio.timeout(PATIENCE):
                while len(found) < number:
                    line = await answer.content.readline()
                    if line.startswith(b"data: "):
                        found.append(json.loads(line[6:]))
            return found

        yield frames


async def read(http, sandbox, what, **query):
    async with http.get(f"{sandbox.url}/page/read/{what}", params=query) as answer:
        return answer.status, await answer.json()


@pytest.mark.parametrize("path", ["/", "/archives/C00000001/p1700000000000100?thread_ts=1.0", "/app/A00000001/home"])
async def test_every_place_is_the_same_document(http, sandbox, path):
    """Nothing but our own files may run or be fetched there."""
    async with http.get(sandbox.url + path) as answer:
        assert (answer.status, answer.content_type) == (200, "text/html")
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "<main" in await answer.text()


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("app.js", 200, "text/javascript"),
        ("theme.css", 200, "text/css"),
        ("mark.svg", 200, "image/svg+xml"),
        ("..%2Fserving.py", 404, "text/plain"),  # only what lies in the folder
        ("nothing.js", 404, "text/plain"),
    ],
)
async def test_files(http, sandbox, name, status, kind):
    async with http.get(aiohttp.client.URL(f"{sandbox.url}/page/static/{name}", encoded=True)) as answer:
        assert (answer.status, answer.content_type) == (status, kind)


async def test_tokens_stay_out_of_browsers(http, sandbox):
    _, whole = await read(http, sandbox, "workspace")
    assert {app["name"] for app in whole["apps"]} == {"digestbot", "646", "pip", "opm"}
    assert "xox" not in json.dumps(whole)
    assert sandbox.settings.signing_secret not in json.dumps(whole)


async def test_messages_come_in_pages_without_replies(http, sandbox):
    posted = [await sandbox.do("act/post", user="alex", channel="ops", text=str(n)) for n in range(102)]
    await sandbox.do("act/post", user="alex", channel="ops", text="reply", thread_ts=posted[-1]["ts"])
    _, newest = await read(http, sandbox, "messages", channel="ops")
    assert (len(newest["messages"]), newest["more"]) == (100, True)
    _, older = await read(http, sandbox, "messages", channel="ops", before=newest["messages"][0]["ts"])
    assert ([one["text"] for one in older["messages"]], older["more"]) == (["0", "1"], False)
    _, thread = await read(http, sandbox, "thread", channel="ops", ts=posted[-1]["ts"])
    assert [one["text"] for one in thread["messages"]] == ["101", "reply"]


async def test_ephemerals_are_for_one_person_in_one_place(http, sandbox, web, tasks):
    parent = (await sandbox.do("act/post", user="alex", channel=tasks, text="parent"))["ts"]
    await web.chat_postEphemeral(channel=tasks, user="U00000001", text="in the channel")
    await web.chat_postEphemeral(channel=tasks, user="U00000001", text="in the thread", thread_ts=parent)
    _, mine = await read(http, sandbox, "messages", channel=tasks, user="U00000001")
    _, others = await read(http, sandbox, "messages", channel=tasks, user="U00000002")
    _, thread = await read(http, sandbox, "thread", channel=tasks, user="U00000001", ts=parent)
    assert [one["text"] for one in mine["ephemerals"]] == ["in the channel"]
    assert not others["ephemerals"]
    assert [one["text"] for one in thread["ephemerals"]] == ["in the thread"]


@pytest.mark.parametrize(("what", "query"), [("messages", {"channel": "nowhere"}), ("thread", {"channel": "ops"})])
async def test_what_is_not_there_is_said(http, sandbox, what, query):
    status, answer = await read(http, sandbox, what, **query)
    assert (status, answer["ok"]) == (404, False)


async def test_there_is_nothing_else_to_read(http, sandbox):
    async with http.get(f"{sandbox.url}/page/read/secrets") as answer:
        assert answer.status == 404


async def test_a_stream_tells_the_present_state(http, sandbox, web, tasks):
    """A reply brings its parent too, whose count changed; a deletion says that something is gone."""
    parent = (await sandbox.do("act/post", user="alex", channel=tasks, text="parent"))["ts"]
    async with stream(http, sandbox) as frames:
        reply = (await web.chat_postMessage(channel=tasks, text="reply", thread_ts=parent))["ts"]
        told, counted = await frames(2)
        assert (told["message"]["text"], told["fresh"]) == ("reply", True)
        assert (counted["message"]["ts"], counted["message"]["reply_count"]) == (parent, 1)
        await web.chat_delete(channel=tasks, ts=reply)
        gone, counted = await frames(2)
        assert (gone["type"], gone["ts"]) == ("gone", reply)
        assert "reply_count" not in counted["message"]
        await sandbox.do("act/react", user="alex", channel=tasks, ts=parent, name="eyes")
        await sandbox.do("act/unreact", user="alex", channel=tasks, ts=parent, name="eyes")
        with_it, without = await frames(2)
        assert (with_it["message"]["reactions"][0]["name"], without["message"]["reactions"]) == ("eyes", [])


async def test_a_stream_tells_of_views_homes_and_the_workspace(http, sandbox, web):
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
    async with stream(http, sandbox) as frames:
        await web.views_open(trigger_id=sandbox.workspace.tickets.trigger("U00000001"), view=modal)
        await sandbox.do("act/close", user="alex")
        await web.views_publish(user_id="U00000001", view={"type": "home", "blocks": [{"type": "divider"}]})
        await sandbox.do("channels/rename", channel="ops", name="operations")
        opened, closed, home, changed = await frames(4)
    assert (opened["user"], len(opened["views"]), closed["views"]) == ("U00000001", 1, [])
    assert home["view"]["blocks"][0]["type"] == "divider"
    assert changed == {"type": "workspace"}
    _, standing = await read(http, sandbox, "standing", user="alex")
    assert (standing["views"], list(standing["homes"])) == ([], [home["app_id"]])


async def test_nothing_listens_when_nobody_looks(http, sandbox):
    """A closed tab is noticed by its heartbeat."""
    sandbox.page.streams.heartbeat = 0.01
    async with stream(http, sandbox):
        assert len(sandbox.workspace.publisher.listeners) == 1
    await eventually(lambda: not sandbox.workspace.publisher.listeners)


async def test_a_tab_that_falls_behind_is_cut_off(http, sandbox, monkeypatch):
    """Its stream ends, and it will read everything anew when it comes back."""
    monkeypatch.setattr(streaming, "FRAMES_MAX", 3)
    async with http.get(f"{sandbox.url}/page/stream") as answer:
        await eventually(lambda: sandbox.workspace.publisher.listeners)
        for number in range(10):
            sandbox.workspace.publisher.overheard({"type": "channel_rename", "n": number})
        assert b"data" not in await asyncio.wait_for(answer.content.read(), PATIENCE)


async def test_a_stopped_sandbox_ends_its_streams(http, sandbox):
    async with http.get(f"{sandbox.url}/page/stream") as answer:
        await eventually(lambda: sandbox.workspace.publisher.listeners)
        await sandbox.page.stop()
        assert await asyncio.wait_for(answer.content.read(), PATIENCE)
