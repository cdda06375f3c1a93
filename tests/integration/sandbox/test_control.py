"""The control API over HTTP, the sandbox as its own process, and where it listens."""

import asyncio
import json
import signal
import sys

import aiohttp
import pytest
from support.sandboxes import running_sandbox
from support.waiting import PATIENCE, eventually

from bot.sandbox import Sandbox


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


async def test_the_index_lists_everything(http, sandbox):
    async with http.get(f"{sandbox.url}/control/") as answer:
        index = await answer.json()
    assert {"act/post", "faults/set", "agents/start"} <= set(index["do"])
    assert {"messages", "calls", "envelopes"} <= set(index["see"])
    assert "lose_reply_after_store" in index["faults"]
    assert all(name.rpartition("/")[0] in index["help"] for name in index["do"])


async def test_doing_and_seeing(http, sandbox):
    said = {"user": "alex", "channel": "ops", "text": "hi"}
    async with http.post(f"{sandbox.url}/control/act/post", json=said) as answer:
        assert (await answer.json())["ok"]
    async with http.get(f"{sandbox.url}/control/messages?channel=ops") as answer:
        assert [message["text"] for message in (await answer.json())["messages"]] == ["hi"]
    async with http.get(f"{sandbox.url}/control/state") as answer:
        state = await answer.json()
    assert {user["name"] for user in state["users"]} >= {"alex", "robin", "digestbot", "646", "pip", "opm"}


@pytest.mark.parametrize(
    ("operation", "body", "words"),
    [
        ("act/post", {"user": "nobody", "channel": "ops", "text": "x"}, "no user called 'nobody'"),
        ("act/post", {"channel": "ops"}, "user"),
        ("act/dance", {}, "no operation called"),
        ("act/edit", {"channel": "ops", "ts": "1.0", "text": "x"}, "no message"),
        ("settings", {"colour": "red"}, "cannot change"),
    ],
)
async def test_mistakes_are_explained(http, sandbox, operation, body, words):
    async with http.post(f"{sandbox.url}/control/{operation}", json=body) as answer:
        assert answer.status == 400
        assert words in (await answer.json())["error"]


async def test_calls_are_logged_with_their_outcome(web, sandbox, tasks):
    await web.chat_postMessage(channel=tasks, text="x")
    (call,) = sandbox.see("calls", method="chat.postMessage", app="digestbot")["calls"]
    assert (call["args"]["text"], call["outcome"]) == ("x", "ok")
    assert not sandbox.see("calls", since=call["n"])["calls"]


async def test_people_groups_and_dms_can_be_made(sandbox):
    await sandbox.do("users/create", name="kim")
    group = await sandbox.do("usergroups/create", handle="writers", users=["kim"])
    dm = await sandbox.do("dms/open", user="kim", app="digestbot")
    app = await sandbox.do("apps/create", name="late", channels=["ops"], socket=True)
    assert (group["user_count"], dm["kind"]) == (1, "im")
    assert (app["bot_token"], app["app_token"]) == ("xoxb-sandbox-late", "xapp-sandbox-late")


async def test_it_listens_on_loopback_only():
    with pytest.raises(ValueError, match="loopback"):
        await Sandbox().start(host="0.0.0.0")


async def test_stopping_twice_is_fine():
    async with running_sandbox() as sandbox:
        await sandbox.stop()


async def test_it_runs_as_its_own_process(http, tmp_path):
    """It says where it is, on standard output and in the ready file, and ends on SIGTERM."""
    ready = tmp_path / "ready.json"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.sandbox", "--ready-file", str(ready), "--bot-token", "xoxb-sandbox-own",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        line = json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE))
        assert json.loads(ready.read_text()) == line
        headers = {"Authorization": f"Bearer {line['bot_token']}"}
        async with http.post(f"{line['api_url']}auth.test", headers=headers) as answer:
            assert (await answer.json())["user"] == "digestbot"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        if process.returncode is None:
            process.kill()


async def test_eventually_gives_up_with_the_question():
    with pytest.raises(AssertionError, match="not true within"):
        await eventually(lambda: False, timeout=0.01)
