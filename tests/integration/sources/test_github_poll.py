"""GitHub's notifications over real HTTP: conditions, pages, limits, tokens, and what comes late (SPEC S1, B4; O06)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.clocks import FakeClock
from support.github import FakeGitHub, running_github

from bot.buffer.items import Draft, Rejected, SubjectClosed
from bot.engine.ports import Page
from bot.errors import SourceError
from bot.sources.github.agents import Agents
from bot.sources.github.api import WAIT_MAX, GitHubApi
from bot.sources.github.cursors import SEEN_MAX, Cursor
from bot.sources.github.details import TRIES_MAX
from bot.sources.github.poller import GitHubNotifications

CASES = Path(__file__).parents[4] / "shared" / "cases" / "github"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the case files are not here")
AGENTS = Agents(logins={"octo-646": "646"})


class Inbox:
    """Polls of the fake, each as after a restart: nothing but the cursor is kept."""

    def __init__(self, github: FakeGitHub, client: httpx2.AsyncClient) -> None:
        self.github = github
        self.clock = FakeClock()
        self.token = github.token
        self.full_every = 1000
        self.cursor = ""
        self._client = client

    async def look(self) -> Page:
        """Look once, and keep the cursor as the store would."""
        api = GitHubApi(self._client, base_url=self.github.url, token=lambda: self.token, clock=self.clock)
        source = GitHubNotifications(api, agents=AGENTS, clock=self.clock, full_every=self.full_every)
        page = await source.fetch(self.cursor)
        self.cursor = page.cursor
        return page

    async def poll(self) -> list[Any]:
        """Let the interval pass, and read all that there is."""
        self.clock.advance(self.github.interval or 1)
        page = await self.look()
        signals = list(page.signals)
        while page.more:
            page = await self.look()
            signals += page.signals
        return signals


@pytest.fixture
async def github() -> AsyncIterator[FakeGitHub]:
    async with running_github() as made:
        yield made


@pytest.fixture
async def inbox(github: FakeGitHub) -> AsyncIterator[Inbox]:
    async with httpx2.AsyncClient() as client:
        yield Inbox(github, client)


def keys(signals: list[Any]) -> list[str]:
    return [signal.event_key for signal in signals if isinstance(signal, Draft)]


async def test_a_mention_is_completed_from_its_comment(inbox, github):
    """S1: the author comes from the latest comment, whose words decide what it is."""
    github.comment(7, "@octo-646 may we?", ident=42, author="kit")
    [draft] = await inbox.poll()
    assert (draft.kind, draft.marker, draft.author, draft.agent) == ("mention", "?", "kit", "646")
    assert draft.event_key == "github:acme/api:comment:42"
    assert draft.url == "https://github.com/acme/api/issues/7#issuecomment-42"


async def test_last_modified_goes_back_byte_for_byte_and_304_costs_nothing(inbox, github):
    """S1: conditional polls; after a 304 nothing else is asked."""
    github.modified = "Sun, 4 Oct 2026 09:05:07  gmt"  # no date that a library would write so again
    assert await inbox.poll() == []
    before = len(github.calls)
    assert await inbox.poll() == []
    assert github.conditions == ["", github.modified]
    assert [status for _, status in github.calls[before:]] == [304]


async def test_the_interval_that_github_names_is_kept(inbox, github):
    """S1: X-Poll-Interval, across restarts."""
    github.interval = 90
    await inbox.poll()
    inbox.clock.advance(89)
    await inbox.look()
    assert github.asked("notifications") == 1
    inbox.clock.advance(1)
    await inbox.look()
    assert github.asked("notifications") == 2


async def test_pages_are_followed_and_the_condition_is_renewed_at_the_end_only(inbox, github):
    """S1: what dies between two pages begins again at the second one, and no page is skipped."""
    github.page_size = 2
    for number in range(5):
        github.comment(number, "@octo-646", ident=100 + number)
    first = await inbox.look()
    assert first.more
    assert Cursor.of_text(first.cursor).modified == ""
    rest = await inbox.poll()
    assert len(keys(list(first.signals))) == 2
    assert sorted(keys([*first.signals, *rest])) == [f"github:acme/api:comment:{100 + number}" for number in range(5)]
    assert Cursor.of_text(inbox.cursor).modified == github.modified
    assert await inbox.poll() == []


async def test_what_was_read_is_not_read_again_though_it_stays_unread(inbox, github):
    """Nothing is marked as read at GitHub, and an inbox full of old rows makes no items."""
    github.comment(1, "@octo-646 first", ident=1)
    await inbox.poll()
    github.comment(2, "@octo-646 second", ident=2)
    assert keys(await inbox.poll()) == ["github:acme/api:comment:2"]
    assert github.asked("repos/acme/api/issues/1") == 1


async def test_a_304_for_ever_is_broken_through(inbox, github):
    """S79, S86: an unconditional poll every N, which also finds what a conditional one hides."""
    inbox.full_every = 3
    await inbox.poll()
    github.frozen = True
    github.comment(1, "@octo-646", ident=1)
    found = [keys(await inbox.poll()) for _ in range(3)]
    assert found == [[], [], ["github:acme/api:comment:1"]]
    assert github.conditions[0] == github.conditions[3] == ""


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {"Retry_After": "120"}, 120),
        (403, {"Retry_After": "30"}, 30),
        (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "in 300 s"}, 300),
        (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "99999999999"}, WAIT_MAX),  # a clock that is wrong
        (429, {}, 60),  # it names no time
        (429, {"Retry_After": "soon"}, 60),
    ],
)
async def test_limits_name_their_time(inbox, github, status, headers, wait):
    """B4, S1: 403 and 429 with Retry-After or x-ratelimit-reset; the cursor does not move."""
    reset = str(int(inbox.clock.now().timestamp()) + 300)
    github.refuse("notifications", status, **{key: value.replace("in 300 s", reset) for key, value in headers.items()})
    github.comment(1, "@octo-646", ident=1)
    with pytest.raises(SourceError, match="rate limit") as limited:
        await inbox.look()
    assert limited.value.wait == pytest.approx(wait, abs=1)
    assert keys(await inbox.poll()) == ["github:acme/api:comment:1"]


async def test_a_secondary_limit_is_known_by_its_words(inbox, github):
    """GitHub's secondary limit is a 403 that may name no time at all."""
    github.refuse("notifications", 403, body={"message": "You have exceeded a secondary rate limit."})
    with pytest.raises(SourceError, match="rate limit") as limited:
        await inbox.look()
    assert limited.value.wait == 60


async def test_a_limit_while_details_are_fetched_moves_nothing(inbox, github):
    """B4: the page is read again, whole."""
    github.comment(1, "@octo-646", ident=1)
    github.refuse("repos/acme/api/issues/1", 429, Retry_After="10")
    with pytest.raises(SourceError):
        await inbox.look()
    assert keys(await inbox.poll()) == ["github:acme/api:comment:1"]


async def test_a_fine_grained_token_is_told_what_is_needed(inbox, github):
    """S1, S83: only a classic token may read notifications; GitHub itself just says 403."""
    inbox.token = github.token = "github_pat_" + "x" * 40
    github.refuse("notifications", 403, body={"message": "Resource not accessible by personal access token"})
    with pytest.raises(SourceError, match=r"fine-grained token .*classic token with the scope notifications"):
        await inbox.look()


async def test_a_refused_token_is_named_and_never_shown(inbox, github):
    """S1: an expired token; SPEC 12: no secret in an error."""
    inbox.token = "ghp_" + "stale" * 7
    with pytest.raises(SourceError, match="401") as refused:
        await inbox.look()
    assert "stale" not in str(refused.value)
    assert "classic token" in refused.value.hint


async def test_a_classic_token_without_the_scope_is_told_so(inbox, github):
    github.refuse("notifications", 403, body={"message": "Missing the 'notifications' scope."})
    with pytest.raises(SourceError, match="scope notifications"):
        await inbox.look()


async def test_what_comes_late_is_fetched_at_a_later_poll(inbox, github):
    """S1: GitHub tells of a comment before the comment can be fetched."""
    github.missing["repos/acme/api/issues/comments/1"] = 1
    github.comment(1, "@octo-646 may we?", ident=1, author="kit")
    assert await inbox.poll() == []
    [draft] = await inbox.poll()  # though the list itself says 304
    assert (github.calls[-3][1], draft.author, draft.kind) == (304, "kit", "mention")


async def test_what_never_comes_is_taken_without(inbox, github):
    """B4: a row that cannot be completed is no row that is lost."""
    github.missing["repos/acme/api/issues/comments/1"] = 1000
    github.comment(1, "@octo-646", ident=1)
    found = [keys(await inbox.poll()) for _ in range(TRIES_MAX + 1)]
    assert found == [[]] * (TRIES_MAX - 1) + [["github:acme/api:comment:1"], []]


async def test_a_newer_row_takes_the_place_of_one_that_waits(inbox, github):
    github.missing["repos/acme/api/issues/comments/1"] = 1000
    github.comment(1, "@octo-646", ident=1)
    await inbox.poll()
    github.comment(1, "@octo-646 again", ident=2)
    github.inbox[0]["updated_at"] = "2026-10-04T09:16:00Z"
    assert keys(await inbox.poll()) == ["github:acme/api:comment:2"]
    assert Cursor.of_text(inbox.cursor).waiting == ()


@pytest.mark.parametrize("status", [403, 410, 451])
async def test_what_is_closed_to_us_is_taken_without_at_once(inbox, github, status):
    """An organisation that asks for single sign-on, an issue that was deleted."""
    github.comment(1, "@octo-646", ident=1)
    github.refuse("repos/acme/api/issues/1", status)
    assert keys(await inbox.poll()) == ["github:acme/api:comment:1"]


async def test_a_closed_subject_ends_its_thread(inbox, github):
    """S1: when a subject is closed or merged."""
    github.comment(1, "thanks", ident=1)
    github.things["repos/acme/api/issues/1"] |= {"state": "closed", "closed_at": "2026-10-04T10:00:00Z"}
    [closed] = await inbox.poll()
    assert isinstance(closed, SubjectClosed)
    assert (closed.source, closed.thread_id) == ("github:acme/api", "issue-1")


@needs_cases
async def test_rows_without_addresses_between_good_ones(inbox, github):
    """O06: null URLs are ordinary, a bad row is set aside, and none of the rest is lost."""
    github.comment(1, "@octo-646", ident=1)
    names = ("n09_discussion_null_urls.json", "n02_repository_invitation.json")
    odd = [row for name in names for row in json.loads((CASES / name).read_text(encoding="utf-8"))]
    github.notify(*odd, "no row", {"id": "3"})
    signals = await inbox.poll()
    assert len([one for one in signals if isinstance(one, Draft)]) == 3
    assert [one.reason for one in signals if isinstance(one, Rejected)] == ["no repository in the notification"] * 2


@needs_cases
@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("n*.json")) if CASES.is_dir() else [])
async def test_every_recorded_page_is_polled_without_harm(inbox, github, name):
    """O06: addresses of other servers are not asked with this one's token."""
    github.notify(*json.loads((CASES / name).read_text(encoding="utf-8")))
    await inbox.poll()
    assert {path.partition("?")[0] for path, _ in github.calls} == {"user", "notifications"}


async def test_the_token_is_shown_to_no_other_server(inbox, github):
    """SPEC 12: neither a row's address nor a Link header can send it away."""
    async with running_github() as other:
        github.comment(1, "@octo-646", ident=1)
        github.inbox[0]["subject"]["url"] = f"{other.url}repos/acme/api/issues/1"
        await inbox.poll()
        github.refuse("notifications", 200, body=[{}], Link=f'<{other.url}notifications?page=2>; rel="next"')
        github.interval = 0
        await inbox.poll()
        assert other.calls == []


@pytest.mark.parametrize("body", [{"message": "no list"}, "words", 7])
async def test_an_answer_that_is_no_list_fails_the_source(inbox, github, body):
    github.refuse("notifications", 200, body=body)
    with pytest.raises(SourceError, match="no list"):
        await inbox.look()


@pytest.mark.parametrize("status", [301, 404, 422, 500, 502])
async def test_any_other_answer_fails_the_source(inbox, github, status):
    github.refuse("notifications", status)
    with pytest.raises(SourceError, match=str(status)):
        await inbox.look()


async def test_a_server_that_is_not_there_fails_the_source(inbox, github):
    github.url = "http://127.0.0.1:9/"
    with pytest.raises(SourceError, match="cannot be reached"):
        await inbox.look()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "x", '{"login": "a", "odd": 1}', '{"waiting": [7]}'])
def test_a_cursor_that_is_none_is_the_beginning(text):
    assert Cursor.of_text(text) == Cursor()


def test_what_is_remembered_of_an_inbox_is_bounded():
    """The cursor is one row of the store, however large the inbox."""
    cursor = Cursor().with_seen([{"id": str(number), "updated_at": "t"} for number in range(SEEN_MAX + 10)])
    assert len(cursor.seen) == SEEN_MAX
    assert Cursor.of_text(cursor.as_text()) == cursor
    assert not cursor.is_new({"id": str(SEEN_MAX), "updated_at": "t"})
    assert cursor.is_new({"id": str(SEEN_MAX), "updated_at": "later"})
