"""A small app on the sandbox's page: it posts cards, claims on a press, takes results by modal, answers a command."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from support.browser import running_browser, tab
from support.sandboxes import running_sandbox
from support.waiting import eventually

from bot.sandbox import Sandbox

JOB = "ml-646-20261004-213000"
DIGEST = f"""[main-loop] [JOB {JOB}] 3 new in 646 main chat — one reply for all needed:
- human: can you look at the failing deploy of &lt;api&gt;? [?]
- kim: review requested: Keep the cursor when a page fails [?]
- lee: mentioned you in digestbot#41 [?]
Reply: [ACK id] seen | [CLAIM id] mine | [RESULT id] done | [DECLINE id] | [NO-ACTION id]. Report back here. \
Box dispatches the next step; do not DM the next agent directly."""


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def words(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def button(action_id: str, label: str, **extra: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": action_id, "value": JOB, "text": plain(label), **extra}


def card(status: str, *elements: dict[str, Any], text: str = DIGEST) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": words(text)},
        {"type": "context", "elements": [words(status)]},
    ]
    return [*blocks, {"type": "actions", "block_id": "verbs", "elements": list(elements)}] if elements else blocks


OPEN = (
    button("claim", "CLAIM", style="primary"),
    button("result", "RESULT"),
    button("decline", "DECLINE", style="danger"),
)
CLOSING = button(
    "close",
    "Close",
    style="danger",
    confirm={
        "title": plain("Close this job?"), "text": words("Nobody will be *asked* again."),
        "confirm": plain("Close it"), "deny": plain("Not yet"), "style": "danger",
    },
)  # fmt: skip
RESULT_FORM = {
    "type": "modal", "callback_id": "result", "private_metadata": JOB,
    "title": plain("Result"), "submit": plain("Send"), "close": plain("Cancel"),
    "blocks": [
        {"type": "section", "text": words(f"What came of `{JOB}`?")},
        {"type": "input", "block_id": "text", "label": plain("Result"), "hint": plain("What was done, in words."),
         "element": {"type": "plain_text_input", "action_id": "words", "multiline": True}},
        {"type": "input", "block_id": "kind", "label": plain("Kind"), "optional": True,
         "element": {"type": "static_select", "action_id": "choice", "options": [
             {"text": plain("Fixed"), "value": "fixed"}, {"text": plain("Explained"), "value": "explained"}]}},
    ],
}  # fmt: skip
SECOND_FORM = {
    "type": "modal", "callback_id": "second", "title": plain("One more"), "close": plain("Back"),
    "blocks": [{"type": "section", "text": words("Nothing else is needed.")}],
}  # fmt: skip


HOME = {
    "type": "home",
    "blocks": [
        {"type": "header", "text": plain("Open jobs")},
        {"type": "section", "fields": [words("*Open*\n1"), words("*Stale*\n0")]},
        {"type": "divider"},
        {"type": "section", "text": words(f"`{JOB}` waits for 646"), "accessory": button("seen", "Seen")},
    ],
}  # fmt: skip
EMPTY_HOME = {"type": "home", "blocks": [{"type": "section", "text": words("Nothing is open.")}]}
CLOSED = "\n".join([*DIGEST.split("\n")[:-1], "Closed: RESULT by alex, 2026-10-04 21:35 UTC"])


@dataclass
class Desk:
    """The app, and the card that it was last asked about."""

    web: AsyncWebClient
    tasks: str
    asked: str = ""
    choices: list[str] = field(default_factory=list)

    async def post_digest(self) -> str:
        posted = await self.web.chat_postMessage(channel=self.tasks, text=DIGEST, blocks=card("pending", *OPEN))
        return str(posted["ts"])

    async def post_escalation(self, channel: str) -> str:
        text = f"[main-loop] [JOB {JOB}] no answer from 646 in 646 tasks after 3 h."
        posted = await self.web.chat_postMessage(
            channel=channel, text=text, blocks=card("escalated", CLOSING, text=text)
        )
        return str(posted["ts"])

    async def claim(self, ack, body):
        await ack()
        owner = f"acknowledged, owner <@{body['user']['id']}>, CLAIM · 2 min old"
        await self._show(body["message"]["ts"], DIGEST, card(owner, OPEN[1]))

    async def ask(self, ack, body):
        """Open the RESULT form, for a button and for the message shortcut alike."""
        await ack()
        self.asked = body["message"]["ts"]
        await self.web.views_open(trigger_id=body["trigger_id"], view=RESULT_FORM)

    async def submitted(self, ack, body):
        said = body["view"]["state"]["values"]["text"]["words"]["value"]
        if said == "…":
            await ack(response_action="errors", errors={"text": "A result needs words."})
        elif said == "more":
            await ack(response_action="push", view=SECOND_FORM)
        else:
            await ack()
            await self._show(self.asked, CLOSED, card(f"resolved, RESULT: {said}", text=CLOSED))

    async def close(self, ack, body, respond):
        await ack()
        await respond(replace_original=True, text="closed", blocks=card("closed by alex", text="*Closed* by a human."))

    async def chosen(self, ack, body, respond):
        await ack()
        self.choices.append(body["actions"][0]["selected_option"]["value"])
        await respond(f"chosen: {', '.join(self.choices)}")

    async def replied(self, event):
        if "[ACK" in event.get("text", ""):
            await self.web.reactions_add(channel=event["channel"], timestamp=event["ts"], name="white_check_mark")

    async def command(self, ack, body):
        await ack(text=f"*Open* 1 · *stale* 0 · closure `100 %` ({body['text']})")

    async def home(self, event):
        await self.web.views_publish(user_id=event["user"], view=HOME)

    async def seen(self, ack, body):
        await ack()
        await self.web.views_publish(user_id=body["user"]["id"], view=EMPTY_HOME)

    async def _show(self, ts: str, text: str, blocks: list[dict[str, Any]]) -> None:
        await self.web.chat_update(channel=self.tasks, ts=ts, text=text, blocks=blocks)


def wired(desk: Desk) -> AsyncApp:
    """Return the Bolt app with its listeners."""
    app = AsyncApp(client=desk.web, request_verification_enabled=False)
    app.action("claim")(desk.claim)
    app.action("result")(desk.ask)
    app.shortcut("digestbot_reply")(desk.ask)
    app.view("result")(desk.submitted)
    app.action("close")(desk.close)
    app.event("message")(desk.replied)
    app.command("/buffer")(desk.command)
    app.event("app_home_opened")(desk.home)
    app.action("seen")(desk.seen)
    app.action("pick")(desk.chosen)
    app.action("choose")(desk.chosen)
    return app


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests of the page, which therefore all run in one event loop."""
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox(ack_seconds=3.0) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def desk(sandbox: Sandbox) -> AsyncIterator[Desk]:
    """The app, connected."""
    web = AsyncWebClient(token=sandbox.settings.bot_token, base_url=sandbox.api_url, retry_handlers=[])
    desk = Desk(web, sandbox.workspace.world.channel("646-tasks").id)
    handler = AsyncSocketModeHandler(wired(desk), sandbox.settings.app_token)
    await handler.connect_async()
    await eventually(lambda: sandbox.see("connections")["count"])
    yield desk
    await handler.close_async()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, sandbox: Sandbox, desk: Desk) -> AsyncIterator[Page]:
    """The page, acting as alex, once it is live."""
    async with tab(browser, f"{sandbox.url}/?as=alex") as open_page:
        await expect(open_page.get_by_role("textbox", name="Message #646-tasks")).to_be_visible()
        yield open_page
