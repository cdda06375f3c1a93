"""One happening by three routes is one item; what is late, repeated or out of order is known by its content.

SPEC S1, B5; O04, O05, O06, O28.
"""

import itertools
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.office import Office

from bot.buffer.items import Signal
from bot.engine import intake
from bot.sources.github.agents import Agents
from bot.sources.github.notifications import read_notifications
from bot.sources.github.webhooks import read_webhook
from bot.sources.mail.mail import Mailbox
from bot.sources.mail.reading import read_mail
from state import tables

CASES = Path(__file__).parents[4] / "shared" / "cases" / "github"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"the case files are not here: {CASES}")
AGENTS = Agents(logins={"octo-646": "646"})
REPOSITORY = {"full_name": "acme/api", "name": "api", "private": False, "html_url": "https://github.com/acme/api"}
API = "https://api.github.com/repos/acme/api"
PAGE = "https://github.com/acme/api/issues/7"
COMMENT = {
    "id": 42,
    "user": {"login": "dana", "type": "User"},
    "body": "@octo-646 may we?",
    "html_url": f"{PAGE}#issuecomment-42",
    "created_at": "2026-10-04T21:00:00Z",
}
ISSUE = {
    "number": 7,
    "title": "Deploys wait",
    "state": "open",
    "user": {"login": "dana", "type": "User"},
    "html_url": PAGE,
    "created_at": "2026-10-04T20:00:00Z",
}


def webhook() -> list[Signal]:
    payload = {"action": "created", "issue": ISSUE, "comment": COMMENT, "repository": REPOSITORY}
    return read_webhook("issue_comment", {**payload, "sender": COMMENT["user"]}, agents=AGENTS)


def notification() -> list[Signal]:
    row = {
        "id": "1",
        "unread": True,
        "reason": "mention",
        "updated_at": "2026-10-04T21:00:05Z",
        "subject": {
            "title": "Deploys wait",
            "url": f"{API}/issues/7",
            "latest_comment_url": f"{API}/issues/comments/42",
            "type": "Issue",
        },
        "repository": REPOSITORY,
    }
    details = {f"{API}/issues/7": ISSUE, f"{API}/issues/comments/42": COMMENT}
    return read_notifications([row], agents=AGENTS, recipient="octo-646", details=details)


def mail() -> list[Signal]:
    raw = (
        "From: dana <notifications@github.com>\nTo: acme/api <api@noreply.github.com>\nCc: octo@box.example\n"
        "Message-ID: <acme/api/issues/7/42@github.com>\nIn-Reply-To: <acme/api/issues/7@github.com>\n"
        "Subject: Re: [acme/api] Deploys wait (Issue #7)\nDate: Sun, 04 Oct 2026 14:00:01 -0700\n"
        "X-GitHub-Reason: mention\nX-GitHub-Sender: dana\nX-GitHub-Recipient: octo-646\n\n"
        "@octo-646 may we?\n\n-- \nReply\n"
    )
    return read_mail(raw.encode(), mailbox=Mailbox(name="inbox", addresses={"octo@box.example": "646"}))


ROUTES = {"webhook": webhook, "notification": notification, "mail": mail}


async def take(office: Office, signals: list[Signal]) -> intake.Taken:
    return await intake.take(office.deps, signals, source="test")


async def states(office: Office) -> list[str]:
    def load(connection: sa.Connection) -> list[str]:
        return sorted(connection.execute(sa.select(tables.items.c.state)).scalars())

    return await office.deps.store.read(load)


@pytest.mark.parametrize("order", list(itertools.permutations(ROUTES)), ids="-".join)
async def test_three_routes_in_any_order_are_one_item(office, order):
    """S1, B5: the same comment by webhook, notification and mail; the count is left alone."""
    for route in order:
        await take(office, ROUTES[route]())
        office.clock.advance(timedelta(seconds=40))
    assert (await states(office)).count("new") == 1
    assert await office.act() == 1
    job = await office.job()
    assert (job.agent, job.urgent) == ("646", False)
    assert "×" not in office.slack.texts("digest")[0]


@pytest.mark.parametrize("order", list(itertools.permutations(ROUTES)), ids="-".join)
async def test_what_comes_by_another_route_after_the_answer_is_no_new_work(office, order):
    """B5: already handled is handled, whichever route was first."""
    first, *later = order
    await take(office, ROUTES[first]())
    await office.act()
    await office.say(f"[DECLINE {(await office.job()).job_id}] not ours")
    for route in later:
        await take(office, ROUTES[route]())
    assert await office.act() == 0
    assert "new" not in await states(office)


def recorded(name: str) -> Any:
    return json.loads((CASES / name).read_text(encoding="utf-8"))


@needs_cases
async def test_redeliveries_and_two_hooks_are_one_job_and_a_shared_id_hides_nothing(office):
    """O04, delivery_headers.json A, B, C: a delivery's GUID is never a key, so no reader is even given one."""
    body = recorded("01_issue_comment.created.json")
    for _ in range(2):  # A: the same delivery again; B: the same body under another GUID
        await take(office, read_webhook("issue_comment", body, agents=Agents()))
    assert (await states(office)).count("new") == 1
    other = recorded("05_issues.opened.json")  # C: another body under the GUID of the first
    await take(office, read_webhook("issues", other, agents=Agents()))
    assert await states(office) == [
        "merged",
        "merged",
        "new",
    ]  # processed: the same person in the same thread, once more
    [kept] = [one for one in (await office.items()).values() if one.state == "new"]
    assert kept.resubmission_count == 1


@needs_cases
@pytest.mark.parametrize("closing", ["92_pull_request.closed_merged.json", "18_pull_request.closed_unmerged.json"])
async def test_a_closed_or_merged_subject_retires_its_items_and_cancels_its_job(office, closing):
    """S1: the card says so, and a closing verb on the cancelled job still resolves it."""
    request, closed = recorded("16_pull_request.review_requested_user.json"), recorded(closing)
    await take(office, read_webhook("pull_request", request, agents=Agents()))
    await office.act()
    job = await office.job()
    assert job.status == "pending"
    office.clock.advance(60)
    await take(office, read_webhook("pull_request", later(closed, office), agents=Agents()))
    await office.settle()
    assert (await office.job()).status == "cancelled"
    assert await states(office) == ["expired"]
    [card] = office.slack.posts("digest")
    assert "cancel" in card.message.text.casefold() or "cancel" in card.card.status.casefold()
    await office.pass_time(timedelta(hours=4), step=timedelta(minutes=10))
    assert office.slack.posts("nudge") == office.slack.posts("escalation") == []
    await office.say(f"[RESULT {job.job_id}] reviewed all the same")
    assert (await office.job()).status == "resolved"


def later(closed: Any, office: Office) -> Any:
    """Return a recorded closing as if it had happened now, after the request that it ends."""
    now = office.clock.now().isoformat().replace("+00:00", "Z")
    closed["pull_request"] |= {"closed_at": now, "updated_at": now}
    return closed


@needs_cases
async def test_a_request_that_comes_after_the_closing_it_preceded_opens_nothing(office):
    """O05: recorded, not posted, not nudged."""
    for name in ("92_pull_request.closed_merged.json", "16_pull_request.review_requested_user.json"):
        await take(office, read_webhook("pull_request", recorded(name), agents=Agents()))
    assert await office.act() == 0
    assert await states(office) == ["expired"]
    assert office.slack.stored == []
