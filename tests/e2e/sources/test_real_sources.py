"""From real sources to a closed loop: IMAP, GitHub's notifications and webhooks, the sandbox, the bot in a process.

SPEC S1, S3, B4, B15; issue 5, acceptance 1.
"""

import hashlib
import hmac
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.github import FakeGitHub, running_github
from support.imap import PASSWORD, USER, ImapServer, running_imap_server
from support.launcher import Bot
from support.sandboxes import running_sandbox
from support.waiting import eventually

from bot.engine import views
from bot.sources.github.signature import is_signed

SECRET = "made-up-webhook-secret"
MORE = """
[github]
api_url = "{github}"
[github.logins]
octo-646 = "646"

[mail]
host = "127.0.0.1"
port = {imap}
user = "{user}"
security = "none"
[mail.addresses]
"agent@box.example" = "646"
"""
MAIL = (
    b"From: ann@x.example\r\nTo: agent@box.example\r\nMessage-ID: <1@x.example>\r\n"
    b"Subject: The invoice\r\n\r\nWho pays it?\r\n"
)


@dataclass(kw_only=True)
class Listening(Bot):
    """A bot with an inbox at GitHub, a mail folder, and a webhook."""

    github: FakeGitHub
    imap: ImapServer

    @property
    def environment(self) -> dict[str, str]:
        ours = {"GITHUB_TOKEN": self.github.token, "MAIL_PASSWORD": PASSWORD, "GITHUB_WEBHOOK_SECRET": SECRET}
        return {**super().environment, **ours}

    def furnish(self) -> None:
        super().furnish()
        more = MORE.format(github=self.github.url, imap=self.imap.port, user=USER)
        with (self.home / "digestbot.toml").open("a", encoding="utf-8") as file:
            file.write(more)


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Listening]:
    with running_imap_server() as imap:
        async with running_github() as github, running_sandbox(ack_seconds=1.0) as sandbox:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            github.interval = 1
            bot = Listening(sandbox=sandbox, home=tmp_path / "home", github=github, imap=imap, port=port)
            bot.furnish()
            yield bot
            await bot.dispose()


def webhook() -> bytes:
    person = {"login": "dana", "type": "User"}
    issue = {"number": 9, "title": "Release", "state": "open", "user": person, "created_at": "2026-10-04T09:00:00Z"}
    comment = {"id": 99, "user": person, "body": "@octo-646 ship it?", "created_at": "2026-10-04T09:10:00Z"}
    repository = {"full_name": "acme/api", "private": False, "html_url": "https://github.com/acme/api"}
    payload = {"action": "created", "issue": issue, "comment": comment, "repository": repository, "sender": person}
    return json.dumps(payload).encode()


async def deliver(bot: Listening, body: bytes) -> httpx2.Response:
    signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert is_signed(body, signature, (SECRET,))
    headers = {"X-GitHub-Event": "issue_comment", "X-Hub-Signature-256": signature, "Content-Type": "application/json"}
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(f"http://127.0.0.1:{bot.port}/v1/github", content=body, headers=headers)


async def status(bot: Listening) -> dict[str, Any]:
    from bot.clock import SystemClock  # noqa: PLC0415

    shown = await bot.read(lambda connection: views.status(connection, SystemClock().now()))
    return {one["name"]: one for one in shown["sources"]}


async def test_items_arrive_from_all_three_the_digests_post_and_the_loop_closes(bot):
    """Acceptance 1: a real IMAP server and a fake GitHub with 304, 403, 429, null URLs and a delayed 404."""
    github = bot.github
    github.refuse("notifications", 429, Retry_After="1")
    github.refuse("notifications", 403, Retry_After="1")
    github.missing["repos/acme/api/issues/comments/42"] = 1
    nowhere = {"title": "Process documents again", "url": None, "latest_comment_url": None, "type": "Discussion"}
    github.comment(7, "@octo-646 may we?", ident=42)
    github.notify({**github.inbox[0], "id": "9001", "reason": "manual", "subject": nowhere})
    bot.imap.deliver([MAIL])
    await bot.start()
    answer = await deliver(bot, webhook())
    assert answer.status_code == 200, answer.text
    wanted = ("may we?", "The invoice", "ship it?", "Process documents again")

    def all_told() -> bool:
        return all(bot.said(bot.tasks, words) for words in wanted)

    await eventually(all_told)

    async def all_closed() -> bool:
        for job in await bot.jobs():
            if job["status"] == "pending" and bot.said(bot.tasks, f"[JOB {job['job_id']}]"):
                text = f"[RESULT {job['job_id']}] done"
                await bot.sandbox.do("act/post", user="646", channel=bot.tasks, text=text)
        found = await bot.jobs()
        return bool(found) and {(job["status"], job["outcome"]) for job in found} == {("resolved", "RESULT")}

    await eventually(all_closed)
    await eventually(lambda: "304" in {str(code) for _, code in github.calls})
    shown = await status(bot)
    assert {name: one["breaker"] for name, one in shown.items()} == {"email:inbox": "closed", "github": "closed"}
    assert {200, 304, 403, 404, 429} <= {code for _, code in github.calls}
    assert await bot.stop() == 0


async def test_one_source_that_fails_holds_up_no_other_and_its_breaker_is_shown(bot):
    """B4, B15: a refused token opens GitHub's breaker; the mail arrives all the same, and after a restart too."""
    bot.github.token = "ghp_another"
    await bot.start()
    bot.github.token = "ghp_renewed"
    bot.imap.deliver([MAIL])
    await eventually(lambda: bot.said(bot.tasks, "The invoice"))

    async def opened() -> bool:
        return (await status(bot))["github"]["breaker"] == "open"

    await eventually(opened)
    shown = await status(bot)
    assert "401" in shown["github"]["error"]
    assert shown["email:inbox"]["error"] is None
    asked = len(bot.github.calls)
    assert await bot.stop() == 0
    await bot.start()  # an open breaker is kept: nothing is asked of GitHub before its time
    bot.imap.deliver([MAIL.replace(b"1@x", b"2@x").replace(b"The invoice", b"The other invoice")])
    await eventually(lambda: bot.said(bot.tasks, "The other invoice"))
    assert len(bot.github.calls) == asked


async def test_a_mail_that_the_server_announces_is_taken_at_once(bot):
    """S3, B14: IDLE wakes the observe beat, whose own clock would come after ten minutes; the polls stay."""
    config = bot.home / "digestbot.toml"
    config.write_text(config.read_text().replace("observe_seconds = 1", "observe_seconds = 600"), encoding="utf-8")
    await bot.start()

    async def looked() -> bool:
        return bool((await status(bot)).get("email:inbox", {}).get("succeeded_at"))

    await eventually(looked)
    for number in range(5):  # the first may come before anybody listens: the next brings it along
        more = MAIL.replace(b"1@x", b"%d@x" % number).replace(b"The invoice", b"Invoice no. %d" % number)
        bot.imap.deliver([more])
        with suppress(AssertionError):
            await eventually(lambda: bot.said(bot.tasks, "Invoice no. 0"), 15.0)
            break
    assert bot.said(bot.tasks, "Invoice no. 0")
    assert await bot.stop() == 0  # a wait for news holds nothing up


async def test_a_mention_in_slack_becomes_a_job_through_the_real_socket(bot):
    """S2, R4: the event of a mention is an item, once; a talk that names nobody is none."""
    await bot.start()
    agent = bot.sandbox.workspace.world.user("646").id
    await bot.sandbox.do("act/post", user="alex", channel=bot.brain, text="good morning")
    await bot.sandbox.do("act/post", user="alex", channel=bot.brain, text=f"<@{agent}> could you take the invoice?")
    await eventually(lambda: bot.said(bot.tasks, "@646 could you take the invoice?"))
    assert not bot.said(bot.tasks, "good morning")
    [job] = await bot.jobs()
    assert (job["agent"], job["class"]) == ("646", "actionable")
