"""GitHub's readers over any JSON at all (SPEC S1, B4, §11)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.costs import assert_growth

from bot.buffer.items import Draft, Ignored, Rejected, SubjectClosed
from bot.sources.github.agents import Agents
from bot.sources.github.mentions import asks, first_line, mentioned, prose
from bot.sources.github.notifications import KIND_OF_REASON, read_notifications
from bot.sources.github.places import event_key_from_message_id, event_key_from_url
from bot.sources.github.webhooks import READERS, read_webhook

AGENTS = Agents(logins={"a": "646"}, teams={"a/b": "opm"})
SIGNALS = Draft | SubjectClosed | Ignored | Rejected

# Keys that readers ask for, so that random objects reach their depths.
KEYS = st.sampled_from(
    [
        "action",
        "alert",
        "assignee",
        "body",
        "changes",
        "check_run",
        "check_suite",
        "comment",
        "conclusion",
        "created_at",
        "discussion",
        "from",
        "full_name",
        "html_url",
        "id",
        "issue",
        "labels",
        "latest_comment_url",
        "login",
        "number",
        "pull_request",
        "reason",
        "release",
        "repository",
        "review",
        "reviewer",
        "reviewers",
        "run_id",
        "security_advisory",
        "sender",
        "slug",
        "state",
        "subject",
        "tag_name",
        "team",
        "thread",
        "title",
        "type",
        "unread",
        "updated_at",
        "url",
        "user",
        "workflow_job",
        "workflow_run",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["a/b", "a", "@a hm?", "2026-10-04T21:30:00Z", "0001-01-01T00:00:00+14:00", "closed", "failure"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=5), inner),
    max_leaves=20,
)
EVENTS = st.sampled_from(sorted(READERS)) | st.text(max_size=20)
REPOSITORY = {"full_name": "a/b", "private": True}


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[str, object]:
    """An event with its own action and a repository, so that its reader runs; the rest is anything."""
    event = draw(st.sampled_from(sorted(READERS)))
    payload = draw(st.dictionaries(KEYS, JSON, max_size=8))
    return event, payload | {"action": draw(st.sampled_from(sorted(READERS[event]))), "repository": REPOSITORY}


@given(event=EVENTS, payload=JSON, authenticated=st.booleans())
@settings(deadline=None)
def test_any_value_for_any_event_yields_signals(event, payload, authenticated):
    """S1, B4: nothing raises, and nothing vanishes without a word."""
    signals = read_webhook(event, payload, agents=AGENTS, authenticated=authenticated)
    assert signals
    assert all(isinstance(signal, SIGNALS) for signal in signals)


@given(delivery=deliveries())
@settings(max_examples=300, deadline=None)
def test_any_payload_that_reaches_its_reader_yields_sound_signals(delivery):
    """S1, P1: one line, no urgency, aware times, a thread."""
    for signal in read_webhook(*delivery, agents=AGENTS):
        assert isinstance(signal, SIGNALS)
        if isinstance(signal, Draft):
            assert signal.marker in {"", "?"}
            assert "\n" not in signal.summary
            assert signal.thread_id
            assert signal.author
            assert signal.event_at is None or signal.event_at.tzinfo
            assert len(signal.summary) < 1_000
            assert (signal.summary + signal.content + signal.event_key + signal.thread_id).encode()


ROWS = st.fixed_dictionaries(
    {"repository": st.just(REPOSITORY)},
    optional={
        "id": st.just("7") | JSON,
        "reason": st.sampled_from(sorted(KIND_OF_REASON)) | JSON,
        "updated_at": JSON,
        "subject": st.dictionaries(KEYS, JSON),
        "unread": st.booleans(),
    },
)
URLS = st.sampled_from([f"https://api.github.com/repos/a/b/{path}" for path in ("issues/1", "issues/comments/2")])


@given(page=st.lists(ROWS | JSON, max_size=4) | JSON, details=st.dictionaries(URLS, JSON))
@settings(deadline=None)
def test_any_page_yields_a_signal_for_each_row(page, details):
    """B4: one bad row never spoils its page."""
    signals = read_notifications(page, agents=AGENTS, recipient="a", details=details)
    assert len(signals) == (len(page) if isinstance(page, list) else 1)
    assert all(isinstance(signal, SIGNALS) for signal in signals)


@given(text=st.text(alphabet=st.sampled_from("a/@`~>\n<!-.# []?:") | st.characters(), max_size=80))
@settings(deadline=None)
def test_any_text_can_be_read(text):
    """B3: words are data."""
    spoken = prose(text)
    assert all("@" not in name for name in mentioned(spoken, owner="a"))
    assert first_line(text).splitlines() == [first_line(text)]
    assert asks(spoken) in {True, False}
    assert isinstance(event_key_from_url(text) + event_key_from_message_id(text), str)


@pytest.mark.parametrize("piece", ["`", "``` ", "`a``b", "@a", "@a/", "<!--", "> ", "@" + "a-" * 30, "?", "https://"])
def test_cost_of_reading_a_body_is_linear(piece):
    """B3: no text is dear to read for its length, up to the largest body that GitHub sends."""

    def read(body):
        spoken = prose(body)
        mentioned(spoken, owner="a")
        asks(spoken)
        first_line(body)

    assert_growth(read, lambda length: (piece * length)[:length], 65_536)
