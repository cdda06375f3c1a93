"""GitHub's mapping by tables of its own: who is meant, which happening it is, what stays out (SPEC S1, B3, B5, P1)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.buffer.items import Draft, Ignored, Rejected, SubjectClosed
from bot.sources.github.agents import Agents
from bot.sources.github.links import page_of
from bot.sources.github.mentions import asks, first_line, mentioned, prose
from bot.sources.github.notifications import read_notifications
from bot.sources.github.places import (
    event_key_from_message_id,
    event_key_from_url,
    place_from_message_id,
    place_from_url,
    review_key,
)
from bot.sources.github.signature import is_signed, sign
from bot.sources.github.webhooks import read_webhook

AGENTS = Agents(logins={"bot-646": "646", "pip[bot]": "pip"}, teams={"acme/ops": "opm"})
T0, T1, T2 = "2026-10-04T21:29:00Z", "2026-10-04T21:30:00Z", "2026-10-04T21:31:00Z"
REPO = "github:acme/app"


def user(login: str, type_: str = "User") -> dict[str, str]:
    return {"login": login, "type": type_}


def comment(body: str, *, author: str = "ann", issue: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 218, "title": "Crash", "state": "open", "user": user("zoe"), **(issue or {})},
        "comment": {
            "id": 5,
            "body": body,
            "user": user(author),
            "created_at": T1,
            "updated_at": T1,
            "html_url": "https://github.com/acme/app/issues/218#issuecomment-5",
        },
        "repository": {"full_name": "acme/app", "private": False},
        "sender": user(author),
        **more,
    }


def pull(action: str, **more: Any) -> dict[str, Any]:
    thing = {"number": 218, "title": "Fix", "state": "open", "user": user("zoe"), "updated_at": T1, "draft": False}
    return {
        "action": action,
        "pull_request": thing | more.pop("pull_request", {}),
        "repository": {"full_name": "acme/app"},
        "sender": user("ann"),
        **more,
    }


def row(reason: str, **more: Any) -> dict[str, Any]:
    url = "https://api.github.com/repos/acme/app/issues/218"
    subject = {"title": "Crash", "type": "Issue", "url": url, "latest_comment_url": url} | more.pop("subject", {})
    return {
        "id": "77",
        "unread": True,
        "reason": reason,
        "updated_at": T1,
        "subject": subject,
        "repository": {"full_name": "acme/app"},
        **more,
    }


def one(event: str, payload: object, agents: Agents = AGENTS, **more: Any) -> Any:
    [signal] = read_webhook(event, payload, agents=agents, **more)
    return signal


# -- kinds and markers -------------------------------------------------------------------------------------------------

TRACKING = Agents(logins={"bot-646": "646"}, tracks=lambda source, thread: (source, thread) == (REPO, "issue-218"))
OURS = {"assignees": [user("bot-646")]}


@pytest.mark.parametrize(
    ("body", "issue", "agents", "kind", "marker", "agent"),
    [
        ("@bot-646 look", {}, AGENTS, "mention", "?", "646"),
        ("@BOT-646 look", {}, AGENTS, "mention", "?", "646"),  # logins ignore case
        ("@pip look", {}, AGENTS, "mention", "?", "pip"),  # an app is mentioned without its suffix
        ("@acme/ops look", {}, AGENTS, "mention", "?", "opm"),
        ("@stranger look", {}, AGENTS, "notification", "", ""),  # somebody else is meant
        ("@stranger look", {}, Agents(), "mention", "?", ""),  # nobody is configured: the rules decide
        ("fixed now", OURS, AGENTS, "reply", "", "646"),  # one of ours takes part
        ("is it fixed?", OURS, AGENTS, "reply", "?", "646"),  # and is asked
        ("is it fixed?", {}, AGENTS, "notification", "", ""),  # a question to others asks nothing of us
        ("is it fixed?", {}, TRACKING, "reply", "?", ""),  # the caller follows the thread
        ("fixed now", {}, Agents(), "reply", "", ""),
        ("[!] urgent @bot-646 [?]", {}, AGENTS, "mention", "?", "646"),  # typed markers count for nothing
        ("see https://a.example/?", OURS, AGENTS, "reply", "", "646"),  # a question mark in an address asks nothing
    ],
)
def test_words_decide_kind_and_marker(body, issue, agents, kind, marker, agent):
    """B3, P1: mention 5 and `?`; a tracked reply 3, `?` where it asks; else a notification."""
    draft = one("issue_comment", comment(body, issue=issue), agents)
    assert (draft.kind, draft.marker, draft.agent) == (kind, marker, agent)


def test_a_draft_carries_what_the_buffer_needs():
    """B1: source, thread, author, one line, address, time and key."""
    draft = one("issue_comment", comment("@bot-646 first\nsecond", issue={"labels": [{"name": "bug"}]}))
    assert draft == Draft(
        source=REPO,
        thread_id="issue-218",
        author="ann",
        summary="app issue #218 comment: @bot-646 first",
        kind="mention",
        url="https://github.com/acme/app/issues/218#issuecomment-5",
        marker="?",
        event_at=datetime(2026, 10, 4, 21, 30, tzinfo=UTC),
        event_key="github:acme/app:comment:5",
        content="@bot-646 first\nsecond",
        agent="646",
        labels=("bug",),
        mentions=("bot-646",),
    )


def test_a_comment_on_a_pull_request_is_in_its_thread():
    """S1: GitHub sends it as a comment on an issue."""
    assert one("issue_comment", comment("hi", issue={"pull_request": {}})).thread_id == "pr-218"


@pytest.mark.parametrize(
    ("body", "author", "expected"),
    [
        ("done", "bot-646", Ignored(reason="own action")),
        ("@bot-646 note to self", "bot-646", Ignored(reason="own action")),
        ("@pip please review", "bot-646", "pip"),  # from one agent to another
        ("@bot-646 @pip please review", "bot-646", "pip"),
    ],
)
def test_what_an_agent_did_itself_is_no_news_to_it(body, author, expected):
    """S1: an item goes to somebody else, or to nobody."""
    signal = one("issue_comment", comment(body, author=author))
    assert (signal.agent if isinstance(signal, Draft) else signal) == expected


# -- late, closed, edited, taken back ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "closed_at", "is_item"),
    [
        ("@bot-646 hm", T2, False),  # written before the closing: overtaken
        ("@bot-646 hm", None, False),  # nobody knows when it closed
        ("@bot-646 this broke it", T0, True),  # written to us after the closing: new work
        ("thanks all", T0, False),
    ],
)
def test_a_closed_subject_yields_its_closing(body, closed_at, is_item):
    """S1: what the payload shows closed opens nothing, except what is said to us afterwards."""
    signal = one("issue_comment", comment(body, issue={"state": "closed", "closed_at": closed_at}))
    assert isinstance(signal, Draft if is_item else SubjectClosed)
    assert (signal.source, signal.thread_id) == (REPO, "issue-218")


def test_a_review_request_on_a_closed_pull_request_opens_nothing():
    """S1: a late delivery carries the present state."""
    late = pull("review_requested", requested_reviewer=user("bot-646"), pull_request={"state": "closed"})
    assert isinstance(one("pull_request", late), SubjectClosed)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("look", "@bot-646 look", "mention"),  # added
        ("@bot-646 look", "@bot-646 look again", None),  # was told already
        ("look", "look again", None),
    ],
)
def test_an_edit_opens_nothing_unless_it_names_somebody_new(before, after, kind):
    """B5: and then it has the key of the original, so that the two are one happening."""
    edit = comment(after, action="edited", changes={"body": {"from": before}})
    signal = one("issue_comment", edit)
    assert getattr(signal, "kind", None) == kind
    if kind:
        assert signal.event_key == one("issue_comment", comment(before)).event_key


def test_a_deleted_comment_takes_back_its_own_item_only():
    """S1: the thread goes on."""
    signal = one("issue_comment", comment("x", action="deleted"))
    assert (signal.event_key, signal.reason) == ("github:acme/app:comment:5", "comment deleted")


def test_a_withdrawn_request_names_the_request_it_takes_back():
    """S1: the keys of all requests to that login go on after the key that is withdrawn."""
    asked = one("pull_request", pull("review_requested", requested_reviewer=user("bot-646")))
    gone = one("pull_request", pull("review_request_removed", requested_reviewer=user("bot-646")))
    assert asked.event_key.startswith(gone.event_key + ":")
    assert one("pull_request", pull("converted_to_draft")).event_key == "github:acme/app#218:review_requested"


@pytest.mark.parametrize(
    ("requested", "kind", "agent"),
    [
        ({"requested_reviewer": user("bot-646")}, "review_request", "646"),
        ({"requested_team": {"slug": "ops"}}, "review_request", "opm"),  # the owner's team
        ({"requested_reviewer": user("ann")}, "notification", ""),
        ({"requested_reviewer": user("bob")}, "notification", ""),  # somebody else's turn
        ({"requested_reviewer": None}, "notification", ""),
        ({}, "notification", ""),
    ],
)
def test_a_review_request_is_a_question_to_whom_it_asks(requested, kind, agent):
    """B3, P1: review request 4 and `?`, for us; news, for somebody else."""
    draft = one("pull_request", pull("review_requested", **requested))
    assert (draft.kind, draft.marker, draft.agent) == (kind, "?" if agent else "", agent)


@pytest.mark.parametrize(
    ("event", "thing", "action", "reason"),
    [
        ("issues", "issue", "closed", "subject closed"),
        ("issues", "issue", "deleted", "deleted"),
        ("pull_request", "pull_request", "closed", "subject closed"),
        ("discussion", "discussion", "closed", "subject closed"),
        ("discussion", "discussion", "answered", "answered"),
    ],
)
def test_the_end_of_a_subject(event, thing, action, reason):
    """S1: its new items expire."""
    payload = {
        "action": action,
        thing: {"number": 218, "closed_at": T2},
        "repository": {"full_name": "acme/app"},
    }
    signal = one(event, payload)
    assert (signal.reason, signal.event_at) == (reason, datetime(2026, 10, 4, 21, 31, tzinfo=UTC))


@pytest.mark.parametrize(
    ("state", "body", "says"),
    [
        ("approved", None, "approved: (no text)"),
        ("changes_requested", "Please split this.", "changes requested: Please split this."),
        ("COMMENTED", "why?", "review: why?"),
        ("commented", None, None),  # its comments come by themselves
    ],
)
def test_reviews(state, body, says):
    """S1: a review with a verdict or words is an item."""
    review = {"id": 9, "state": state, "body": body, "user": user("ann"), "submitted_at": T1}
    signal = one("pull_request_review", pull("submitted", review=review))
    if says is None:
        assert signal == Ignored(reason="review without words")
    else:
        assert (signal.summary, signal.event_key) == (f"app PR #218 {says}", "github:acme/app:review:9")


def test_an_announcement_is_a_broadcast():
    """B3: release and announcement 1."""
    payload = {
        "action": "created",
        "discussion": {"number": 7, "title": "News", "user": user("ann"), "category": {"slug": "announcements"}},
        "repository": {"full_name": "acme/app"},
    }
    draft = one("discussion", payload)
    assert (draft.kind, draft.thread_id) == ("broadcast", "discussion-7")


def test_a_failed_run_belongs_to_whoever_started_it_and_success_ends_it():
    """S1: one's own push that failed is news; runs and checks of one suite share a thread."""
    run = {"id": 3, "run_attempt": 2, "check_suite_id": 4, "name": "tests", "head_branch": "main", "updated_at": T1}
    base = {"action": "completed", "repository": {"full_name": "acme/app"}, "sender": user("bot-646")}
    ended, failed = read_webhook(
        "workflow_run", base | {"workflow_run": run | {"conclusion": "failure"}}, agents=AGENTS
    )
    assert ended.thread_id == "run-3"
    assert (failed.thread_id, failed.agent, failed.kind) == ("suite-4", "646", "notification")
    over = read_webhook("workflow_run", base | {"workflow_run": run | {"conclusion": "success"}}, agents=AGENTS)
    assert [(type(signal), signal.thread_id) for signal in over] == [
        (SubjectClosed, "run-3"),
        (SubjectClosed, "suite-4"),
    ]


def test_a_waiting_job_and_its_deployment_review_are_one_approval():
    """B5: two events, one happening."""
    base = {"repository": {"full_name": "acme/app"}, "sender": user("ann")}
    job = {"action": "waiting", "workflow_job": {"run_id": 3, "run_attempt": 1}} | base
    asked = {
        "action": "requested",
        "workflow_run": {"id": 3, "run_attempt": 1},
        "reviewers": [{"type": "Team", "reviewer": {"slug": "ops"}}],
    } | base
    first, second = one("workflow_job", job), one("deployment_review", asked)
    assert (first.thread_id, first.event_key) == (second.thread_id, second.event_key)
    assert second.agent == "opm"


ISSUE = {"number": 218, "title": "Crash", "user": user("zoe"), "updated_at": T1}
RUN = {"id": 3, "updated_at": T1}
NUMBERLESS = Rejected(reason="no number in the payload")


@pytest.mark.parametrize(
    ("event", "action", "payload", "thread", "says"),
    [
        ("issues", "reopened", {"issue": ISSUE}, "issue-218", "app issue #218 reopened: Crash"),
        ("issues", "unassigned", {"issue": ISSUE, "assignee": user("bot-646")}, "issue-218", "unassigned"),
        ("issues", "edited", {"issue": ISSUE, "changes": {"title": {}}}, None, "edited"),
        (
            "issues",
            "edited",
            {"issue": ISSUE | {"body": "@bot-646"}, "changes": {"body": {"from": ""}}},
            "issue-218",
            "app issue #218 opened: Crash",
        ),
        ("release", "deleted", {"release": {"tag_name": "v1.2"}}, "release-v1.2", "release withdrawn"),
        ("release", "published", {"release": {}}, None, NUMBERLESS.reason),
        ("release", "deleted", {"release": {}}, None, NUMBERLESS.reason),
        (
            "commit_comment",
            "created",
            {"comment": {"commit_id": "abcdef1234", "body": "hm", "id": 5}},
            "commit-abcdef1234",
            "app commit abcdef1 comment: hm",
        ),
        ("commit_comment", "created", {"comment": {}}, None, NUMBERLESS.reason),
        ("pull_request_review_thread", "resolved", pull("x"), None, "review thread without comments"),
        ("pull_request_review_thread", "unresolved", pull("x"), None, "review thread without comments"),
        ("deployment_review", "approved", {"workflow_run": RUN}, "run-3", "deployment decided"),
        ("deployment_review", "requested", {"workflow_run": {}}, None, NUMBERLESS.reason),
        ("deployment_review", "rejected", {"workflow_run": {}}, None, NUMBERLESS.reason),
        ("workflow_job", "waiting", {}, None, NUMBERLESS.reason),
        ("workflow_run", "completed", {}, None, NUMBERLESS.reason),
        ("check_run", "completed", {"check_run": {"conclusion": "failure"}}, None, NUMBERLESS.reason),
        ("check_run", "completed", {"check_run": {"conclusion": "success"}}, None, "nothing failed"),
        ("code_scanning_alert", "fixed", {"alert": {"number": 4}}, "code-scanning-4", "alert closed"),
        ("code_scanning_alert", "fixed", {}, None, NUMBERLESS.reason),
        ("secret_scanning_alert", "created", {}, None, NUMBERLESS.reason),
        (
            "secret_scanning_alert",
            "created",
            {"alert": {"number": 7, "secret_type": "mail_key"}},
            "secret-scanning-7",
            "app security alert: mail_key",
        ),
    ],
)
def test_the_other_events(event, action, payload, thread, says):
    """S1, B4: what each opens, closes, or why it is nothing."""
    base = {"action": action, "repository": {"full_name": "acme/app"}, "sender": user("ann")}
    signal = one(event, payload | base)
    assert getattr(signal, "thread_id", None) == thread
    assert (signal.summary if isinstance(signal, Draft) else signal.reason) == says


def test_an_alert_that_is_opened_again_is_news():
    """B5: another happening than its first time, also where the payload has no time of it."""
    base = {"alert": {"number": 4}, "repository": {"full_name": "acme/app"}}
    first, again = (one("code_scanning_alert", base | {"action": action}) for action in ("created", "reopened"))
    assert first.event_key != again.event_key


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        ("star", {"action": "created"}, Ignored(reason="event not followed")),
        ("no such event", None, Ignored(reason="event not followed")),
        ("issues", {"action": "pinned"}, Ignored(reason="action not followed")),
        ("issues", {}, Ignored(reason="action not followed")),
        ("issues", [], Rejected(reason="payload is no object", row="[]")),
        ("issues", {"action": "opened"}, Rejected(reason="no repository in the payload", row='{"action": "opened"}')),
    ],
)
def test_what_is_no_item_has_a_bounded_reason(event, payload, expected):
    """B4, §11: noise is counted, a bad payload set aside; no reason quotes the payload."""
    assert one(event, payload) == expected


def test_a_payload_without_its_subject_is_set_aside():
    """B4: with its reason and the row, cut."""
    signal = one("issues", {"action": "opened", "repository": {"full_name": "acme/app"}, "junk": "x" * 9_000})
    assert signal.reason == "no number in the payload"
    assert len(signal.row) == 2_000


def test_an_unsigned_payload_asks_nothing_and_closes_nothing():
    """P1, §12: what anybody may have written informs."""
    draft = one("issue_comment", comment("@bot-646 hm?"), authenticated=False)
    assert (draft.kind, draft.marker) == ("mention", "")
    assert one("pull_request", pull("closed"), authenticated=False) == Ignored(reason="unsigned, closes nothing")


@pytest.mark.parametrize("account", [None, {}, {"login": None}, {"login": "a\nb"}, {"login": "<!channel>"}, "ann"])
def test_an_account_without_a_name_is_a_ghost(account):
    """S1: deleted users are ordinary."""
    payload = comment("hi", sender=account)
    payload["comment"]["user"] = account
    assert one("issue_comment", payload).author == "ghost"


def test_lone_surrogates_reach_no_store():
    """§11: a text that no database can encode is mended where it enters."""
    payload = comment("\ud800 hi")
    payload["issue"]["title"] = "\udfff"
    draft = one("issue_comment", payload)
    assert (draft.summary + draft.content).encode()


# -- mentions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("@ann and @bob-2, (@cy) @Ann", ("ann", "bob-2", "cy")),  # each once
        ("mail me@example.com", ()),
        ("see @types/react", ()),  # a package
        ("ask @acme/ops and @ACME/Docs", ("acme/ops", "ACME/Docs")),  # teams of the owner
        ("ask @other/team", ()),  # teams of others are not notified
        ("ask @known/team", ("known/team",)),  # unless we were told of it
        ("`@ann` ``@bob ` @cy`` @dan", ("dan",)),  # code spans
        ("an ` open tick @ann", ("ann",)),
        ("> @ann wrote\nyes", ()),
        ("```\n@ann\n```\n@bob", ("bob",)),
        ("~~~~\n@ann\n~~~\n@bob", ()),  # a shorter fence does not close
        ("```py\n@ann", ()),  # an unclosed fence runs to the end
        ("<!-- @ann --> @bob", ("bob",)),
        ("<!-- @ann", ()),
        ("a/@ann @ann@mastodon.example \\@ann", ()),
        ("@-ann @ @@ann", ()),
        ("(@ann) **@bob** @cy.", ("ann", "bob", "cy")),
    ],
)
def test_mentions_are_prose(body, names):
    """B3: only what somebody says himself, to a person or a team."""
    assert mentioned(prose(body), owner="acme", teams=frozenset({"known/team"})) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ready?", True),
        ("Ready? Yes.", True),
        ("準備はいい\uff1f", True),
        ("هل انتهى؟", True),
        ('"Ready?"', True),
        ("a ?. b", False),
        ("https://a.example/?x=1", False),
        ("https://a.example/?", False),
        ("Ready.", False),
    ],
)
def test_what_asks(text, expected):
    """P1: a question mark at the end of a word."""
    assert asks(text) is expected


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("> quoted\n\n  own\tword\nmore", "own word"),
        ("> quoted", "> quoted"),  # better than nothing
        ("use `it`", "use `it`"),
        ("\u200b\n", "(no text)"),
        ("x" * 500, "x" * 199 + "…"),
    ],
)
def test_the_first_line_is_the_writers_own(body, line):
    """B1: one line."""
    assert first_line(body) == line


# -- one happening by three routes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "web", "message_id", "thread", "key"),
    [
        ("issues/218", "issues/218", "issues/218", "issue-218", "#218:opened"),
        ("pulls/218", "pull/218", "pull/218", "pr-218", "#218:opened"),
        ("issues/comments/5", "issues/218#issuecomment-5", "issues/218/c5", "issue-218", ":comment:5"),
        ("issues/comments/5", "pull/218#issuecomment-5", "pull/218/c5", "pr-218", ":comment:5"),
        ("issues/comments/5", "pull/218#issuecomment-5", "pull/218/5", "pr-218", ":comment:5"),  # as of old
        ("pulls/comments/5", "pull/218#discussion_r5", "pull/218/r5", "pr-218", ":review_comment:5"),
        ("pulls/218/reviews/5", "pull/218#pullrequestreview-5", "pull/218/review/5", "pr-218", ":review:5"),
        (
            "discussions/7",
            "discussions/7#discussioncomment-5",
            "repo-discussions/7/comments/5",
            "discussion-7",
            ":discussion_comment:5",
        ),
        ("releases/5", "releases/5", "releases/5", "release-id-5", ":release:5"),
        ("comments/5", "commit/abcdef1#commitcomment-5", "commit/abcdef1/5", "commit-abcdef1", ":commit_comment:5"),
    ],
)
def test_addresses_and_message_ids_name_the_same_happening(api, web, message_id, thread, key):
    """B5, S1: one key and one thread by API address, page and mail."""
    for host, prefix in (("api.github.com", ""), ("git.example.org", "/api/v3")):
        place = place_from_url(f"https://{host}{prefix}/repos/acme/app/{api}")
        assert place.source == REPO
        assert place.event_key == f"{REPO}{key}" or thread.startswith("discussion")  # has no API address
    page = f"https://github.com/acme/app/{web}"
    assert (event_key_from_url(page), place_from_url(page).thread_id) == (f"{REPO}{key}", thread)
    mail = f"<acme/app/{message_id}@github.com>"
    assert (event_key_from_message_id(mail), place_from_message_id(mail).thread_id) == (f"{REPO}{key}", thread)


@pytest.mark.parametrize("url", ["", "http://[", "ftp://github.com/a/b/issues/1", "https://github.com/", "x" * 9_000])
def test_other_addresses_name_nothing(url):
    """B4: nor do they raise."""
    assert event_key_from_url(url) == ""
    assert event_key_from_message_id(url) == ""


def test_a_fragment_that_says_nothing_is_left_out():
    """B5: the address of an issue, scrolled."""
    assert event_key_from_url("https://github.com/acme/app/issues/218#top") == "github:acme/app#218:opened"


def test_a_review_request_has_one_key_within_its_minute():
    """B5: no route gives it an id; asking again later is new work."""
    asked = one("pull_request", pull("review_requested", requested_reviewer=user("Bot-646")))
    [told] = read_notifications([row("review_requested")], agents=AGENTS, recipient="bot-646")
    assert asked.event_key == told.event_key == f"{REPO}#218:review_requested:bot-646:2026-10-04T21:30"
    assert review_key(REPO, 218, "bot-646", datetime(2026, 10, 4, 21, 31, tzinfo=UTC)) != asked.event_key


@pytest.mark.parametrize(
    ("subject", "latest", "page"),
    [
        ("https://api.github.com/repos/a/b/pulls/4", "", "https://github.com/a/b/pull/4"),
        ("https://api.acme.ghe.com/repos/a/b/issues/4", "", "https://acme.ghe.com/a/b/issues/4"),
        ("https://git.example.org:8443/api/v3/repos/a/b/issues/4", "", "https://git.example.org:8443/a/b/issues/4"),
        (
            "https://git.example.org/api/v3/repos/a/b/pulls/4",
            "https://git.example.org/api/v3/repos/a/b/pulls/comments/5",
            "https://git.example.org/a/b/pull/4#discussion_r5",
        ),
        ("https://user:secret@api.github.com/repos/a/b/issues/4", "", "https://github.com/a/b/issues/4"),
        ("https://api.github.com/repos/a/b/labels/4", "", ""),
        ("", "", ""),
    ],
)
def test_pages_live_on_the_host_of_the_api(subject, latest, page):
    """S1: by host, whatever the repository object says."""
    assert page_of(subject, latest) == page


# -- notifications -----------------------------------------------------------------------------------------------------

LATEST = "https://api.github.com/repos/acme/app/issues/comments/5"
COMMENTED = {"latest_comment_url": LATEST}


@pytest.mark.parametrize(
    ("reason", "subject", "kind", "marker", "key"),
    [
        ("mention", {}, "mention", "?", f"{REPO}#218:opened"),
        ("team_mention", COMMENTED, "mention", "?", f"{REPO}:comment:5"),
        ("author", COMMENTED, "reply", "", f"{REPO}:comment:5"),
        ("author", {}, "notification", "", f"{REPO}#218:opened"),  # nobody replied
        ("subscribed", COMMENTED, "notification", "", f"{REPO}:comment:5"),
        ("assign", {}, "notification", "", f"{REPO}#218:assigned:bot-646:2026-10-04"),
        # the comment may be older than the request: the request is not to be lost
        ("review_requested", COMMENTED, "review_request", "?", f"{REPO}#218:review_requested:bot-646:2026-10-04T21:30"),
        ("state_change", {}, "notification", "", f"{REPO}:issue-218:state_change:2026-10-04T21:30:00+00:00"),
        (
            "brand_new_reason",
            {},
            "brand_new_reason",
            "",
            f"{REPO}:issue-218:brand_new_reason:2026-10-04T21:30:00+00:00",
        ),
        ("<!channel>", {}, "unknown", "", f"{REPO}:issue-218:unknown:2026-10-04T21:30:00+00:00"),
        (None, {}, "unknown", "", f"{REPO}:issue-218:unknown:2026-10-04T21:30:00+00:00"),
    ],
)
def test_a_reason_decides_kind_and_key(reason, subject, kind, marker, key):
    """B3: an unknown kind keeps its word, so that it is counted."""
    [draft] = read_notifications([row(reason, subject=subject)], agents=AGENTS, recipient="bot-646")
    assert (draft.kind, draft.marker, draft.event_key, draft.agent) == (kind, marker, key, "646")


@pytest.mark.parametrize(
    ("reason", "body", "said_at", "kind", "author"),
    [
        ("mention", "just chatter", T1, "reply", "ann"),  # the reason sticks, the words do not mention
        ("mention", "@bot-646 look", T1, "mention", "ann"),
        ("subscribed", "@bot-646 look", T1, "mention", "ann"),
        ("mention", "@bot-646 look", "2026-10-04T20:00:00Z", "notification", "ghost"),  # something came after it
        ("review_requested", "chatter", "2026-10-04T20:00:00Z", "review_request", "ghost"),
        ("review_requested", "chatter", T1, "reply", "ann"),
    ],
)
def test_fetched_words_overrule_the_reason(reason, body, said_at, kind, author):
    """S1: the author comes from the latest comment, and a reason is only a hint."""
    details = {LATEST: {"id": 5, "body": body, "user": user("ann"), "created_at": said_at}}
    [draft] = read_notifications([row(reason, subject=COMMENTED)], agents=AGENTS, recipient="bot-646", details=details)
    assert (draft.kind, draft.author) == (kind, author)


def test_a_notification_of_a_closed_subject_closes_it():
    """S1: where the poller fetched the subject."""
    page = [row("state_change")]
    details = {page[0]["subject"]["url"]: {"number": 218, "state": "closed", "closed_at": T1}}
    [signal] = read_notifications(page, agents=AGENTS, details=details)
    assert (signal.thread_id, signal.reason) == ("issue-218", "subject closed")


def test_one_bad_row_never_spoils_its_page():
    """B4: set aside with its reason, the rest go in."""
    bare = row("mention", subject={"url": None, "latest_comment_url": None}) | {"id": None}
    page = [None, row("mention"), 7, {"repository": {"full_name": "acme/app"}}, bare]
    signals = read_notifications(page, agents=AGENTS)
    assert [getattr(signal, "reason", "item") for signal in signals] == [
        "no repository in the notification",
        "item",
        "no repository in the notification",
        "notification names no thread",
        "notification names no thread",  # a title is no key
    ]


@pytest.mark.parametrize("page", [None, {}, {"message": "Bad credentials"}, "x", 1])
def test_a_page_that_is_no_list_is_set_aside(page):
    """B4: an error body is no page."""
    [signal] = read_notifications(page, agents=AGENTS)
    assert signal.reason == "page is no list"


# -- signature ---------------------------------------------------------------------------------------------------------

# The vector of GitHub's documentation, "Validating webhook deliveries".
SECRET, BODY = "It's a Secret to Everybody", b"Hello, World!"
SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_githubs_own_vector():
    """S1, §12."""
    assert sign(BODY, SECRET) == SIGNATURE
    assert is_signed(BODY, SIGNATURE, (SECRET,))


@pytest.mark.parametrize(
    ("body", "signature", "secrets"),
    [
        (b"Hello, World", SIGNATURE, (SECRET,)),  # another body
        (BODY, SIGNATURE, ("other",)),
        (BODY, SIGNATURE.removeprefix("sha256="), (SECRET,)),
        (BODY, SIGNATURE.upper(), (SECRET,)),
        (BODY, "", (SECRET,)),
        (BODY, None, (SECRET,)),
        (BODY, "sha256=é\ud800", (SECRET,)),  # not ASCII: refused, not raised
        (BODY, SIGNATURE, ()),  # no secret signs nothing
        (BODY, sign(BODY, ""), ("",)),  # nor does an empty one
    ],
)
def test_anything_else_is_refused(body, signature, secrets):
    """S1, §12."""
    assert not is_signed(body, signature, secrets)


def test_either_secret_serves_while_one_is_replaced():
    """§12: a secret can be changed without losing deliveries."""
    assert is_signed(BODY, SIGNATURE, ("new", SECRET))
