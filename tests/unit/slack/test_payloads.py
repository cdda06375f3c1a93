"""What a payload means to us (SPEC P9, P10; O26): every recorded payload, and every damage to it."""

import copy
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine.messages import Author
from bot.slack.events import (
    ChannelBack,
    ChannelGone,
    Dropped,
    Gone,
    Moved,
    PersonChanged,
    Renamed,
    Revoked,
    Said,
    Unneeded,
)
from bot.slack.payloads import read_event, read_message

CASES = Path(__file__).parents[4] / "shared" / "cases" / "slack"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the case files are not here")
ME = Author(user="W00000001", bot="BZYBOTHED", app="A111", team="T111")


def said(user: str, text: str, **more: Any) -> dict[str, Any]:
    return {"user": user, "text": text, **more}


# File → what each of its payloads means, in order; `said` rows name what must be in the message.
EXPECTED: dict[str, Any] = {
    "01_url_verification.json": Unneeded,  # Bolt answers the challenge
    "02_message_plain_rich_text.json": said("U00000004", "this is a test message", ts="1613563664.001200"),
    "03_message_no_blocks.json": said("W111", "We've received 103 messages from you!", channel="C111"),
    "04_message_ids_in_prose.json": said("W111", "Please fix JIRA-1234, SCM-567 and BUG-169 as soon as you can!"),
    "05_app_mention_and_message_twin.json": [Unneeded, said("W222", "<@W111> Hi there!", ts="1595926230.009600")],
    "06_bot_message_new_style.json": said("UB111", "Hi there! Thanks for sharing the info!", bot="B999", app="A222"),
    "07_bot_message_classic_username.json": said("", "Hi there! Thanks for sharing the info!", bot="B888"),
    "08_bot_message_response_url.json": said("", "Hi there! This is a reply using response_url.", bot=ME.bot),
    "09_bot_message_thread_reply.json": said("", "Hi opsdroid", bot="B00000001", thread="1614540106.001400"),
    "10_message_changed_human.json": said(
        "U00000004", "this is an edited message", ts="1613632675.006300", edit=True, edited="1613632704.000000"
    ),
    # The ts is the earlier state's, the authority is its author's and not the editor's.
    "11_message_changed_no_inner_ts.json": said("U222", "updated message", ts="1665102338.901939", edit=True),
    "12_message_changed_no_previous.json": Unneeded,
    "13_message_changed_link_unfurl.json": Unneeded,
    "14_message_changed_bot_metadata_only.json": Unneeded,
    "15_message_deleted.json": Gone,
    "16_message_deleted_minimal.json": Gone,
    "17_thread_broadcast.json": said("U111", "Hi there!", ts="1633670813.007500", thread="1633663824.000500"),
    "18_message_replied_parent_update.json": Unneeded,
    "19_file_share_with_text.json": said("U111", "Hi there!"),
    "20_file_share_inaccessible.json": Said,
    "21_file_share_empty_text.json": said("U111", ""),
    "22_blocks_only_no_text.json": Said,
    "23_text_is_error_blocks_differ.json": Said,
    "24_attachments_only_legacy.json": Said,
    "25_attachments_blocks_integration_bot.json": Said,
    "26_rich_text_nested_styles.json": Said,
    "27_rich_text_quote.json": said("U00000003", "&gt; This is a quote"),
    "28_rich_text_preformatted.json": Said,
    "29_rich_text_inline_code.json": said("U00000003", "`asdasda this is a code block`"),
    "30_broadcast_mentions.json": Said,
    "31_shared_forwarded_message.json": said("U00000002", "", thread="1767225600.000100"),  # not the forwarder's words
    "32_permalink_unfurl_not_share.json": said("U00000004", "this is a test message"),
    "33_channel_archive_event.json": ChannelGone(channel="C00000003", reason="the channel was archived"),
    "34_channel_rename_event.json": Renamed(channel="C00000003", name="new-channel-new-name"),
    "35_member_left_channel_self.json": ChannelGone(channel="C111", reason="the bot was removed from the channel"),
    "36_tokens_revoked.json": Revoked(reason="the bot's token was revoked"),
    "37_app_rate_limited.json": Dropped(minute=datetime(2018, 2, 12, 20, 37, tzinfo=UTC)),
    "38_socket_envelope_retry.json": said(
        "U111", "<@W111>", ts="1610197986.000300"
    ),  # a repetition reads like the first
    "39_socket_disconnect_warning.json": Unneeded,
    "40_socket_hello.json": Unneeded,
    "41_http_retry_headers.json": Unneeded,  # headers only; the body is 02's
    "42_same_message_eleven_event_ids.json": [said("U00000002", "[RESULT ml-646-20260101-000001] done")] * 11,
    "43_user_change_deactivated.json": PersonChanged(user="U00000002", deleted=True),
    "44_usage_anomaly_foreign_json.json": Unneeded,
    "45_me_message.json": said("U00000004", "[ACK ml-20260101-0001] is doing that thing"),
    "46_workflow_builder_bot.json": said("", "Can you create a TODO.md file", bot="BB12033"),
}


def payloads(name: str) -> list[Any]:
    loaded = json.loads((CASES / name).read_text())
    bodies = loaded if isinstance(loaded, list) else [loaded]
    return [body.get("payload", body) if "envelope_id" in body else body for body in bodies]


@needs_cases
@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_payload_means_what_the_manifest_expects(name):
    """Each file of the manifest, payload by payload."""
    events = [read_event(body, ME) for body in payloads(name)]
    expected = EXPECTED[name] if isinstance(EXPECTED[name], list) else [EXPECTED[name]]
    assert len(events) == len(expected)
    for event, wanted in zip(events, expected, strict=True):
        if isinstance(wanted, type):
            assert isinstance(event, wanted)
        elif isinstance(wanted, dict):
            assert_said(event, wanted)
        else:
            assert event == wanted


def assert_said(event: Any, wanted: Mapping[str, Any]) -> None:
    assert isinstance(event, Said)
    message = event.message
    shown = {"user": message.author.user, "bot": message.author.bot, "app": message.author.app}
    shown |= {key: getattr(message, key) for key in ("text", "channel", "ts", "thread", "edit", "edited")}
    assert {key: shown[key] for key in wanted} == wanted


@needs_cases
def test_every_file_of_the_manifest_is_expected():
    """A new case file fails here until somebody says what it means."""
    manifest = json.loads((CASES / "manifest.json").read_text())
    assert {row["file"] for row in manifest} == set(EXPECTED)


@needs_cases
def test_one_message_under_eleven_event_ids_has_one_key():
    """O01: what names a message is its channel and ts; the eleven read alike."""
    events = [read_event(body, ME) for body in payloads("42_same_message_eleven_event_ids.json")]
    assert len({(event.message.channel, event.message.ts) for event in events if isinstance(event, Said)}) == 1
    assert len(set(events)) == 1


@needs_cases
def test_a_mention_and_its_message_act_once():
    """Slack tells a mention twice; only the message is read."""
    kinds = [type(read_event(body, ME)) for body in payloads("05_app_mention_and_message_twin.json")]
    assert kinds == [Unneeded, Said]


# -- damage -----------------------------------------------------------------------------------------------------------

ODD = (None, 0, "", "x", [], {}, [None], {"id": None}, True, 1e308, "²", "9" * 400, "99999999999999.1", ["message"])


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from spots(child, (*path, key))


def damaged(body: Any) -> Iterator[Any]:
    """Yield the body with each part dropped, and with each part replaced by each oddity."""
    for path in spots(body):
        if "files" in path or "icons" in path:
            continue  # never looked at, and large
        for odd in (..., *ODD):
            copied = copy.deepcopy(body)
            holder = copied
            for key in path[:-1]:
                holder = holder[key]
            if odd is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = odd
            yield copied


@needs_cases
@pytest.mark.parametrize("name", [name for name in EXPECTED if name[:2] not in {"25", "26", "42"}])
def test_a_damaged_payload_never_raises(name):
    """O26: any key missing, null or of another kind."""
    for body in payloads(name):
        for worse in damaged(body):
            event = read_event(worse, ME)
            if isinstance(event, Said):
                assert event.message.said_at.tzinfo is UTC


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
KEYS = ("type", "subtype", "channel", "ts", "event_ts", "message", "previous_message", "user", "tokens", "edited")
TYPES = ("message", "channel_rename", "tokens_revoked", "user_change", "member_left_channel", "channel_id_changed")
SUBTYPES = ("message_changed", "message_deleted", "bot_message", "thread_broadcast", "message_replied")
event_values = st.dictionaries(st.sampled_from(KEYS), json_values | st.sampled_from(SUBTYPES + TYPES), max_size=8)


@given(json_values)
def test_no_json_raises(body):
    assert isinstance(read_event(body, ME), Unneeded | Dropped)
    assert read_message("C1", body) is None or isinstance(body, dict)


@settings(max_examples=300)
@given(st.sampled_from(TYPES), event_values, json_values)
def test_no_event_raises(kind, event, rest):
    body = {"type": "event_callback", "authorizations": rest, "event": {**event, "type": kind}}
    assert read_event(body, ME) is not None
    assert read_event(body) is not None


# -- rules that no recorded payload shows -----------------------------------------------------------------------------


def event(**fields: Any) -> dict[str, Any]:
    return {"type": "event_callback", "event": {"type": "message", "channel": "C1", **fields}}


def changed(after: dict[str, Any], before: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    previous = {} if before is None else {"previous_message": before}
    return event(subtype="message_changed", ts="20.000001", event_ts="20.000001", message=after, **previous, **more)


OLD = {"user": "U1", "ts": "10.000001", "text": "old", "thread_ts": "9.000001"}


def test_a_deleted_root_is_a_deletion_although_slack_calls_it_a_change():
    """P10, O16: the tombstone of a parent."""
    tombstone = {"subtype": "tombstone", "user": "USLACKBOT", "ts": "10.000001", "text": "This message was deleted."}
    read = read_event(changed(tombstone, OLD))
    assert isinstance(read, Gone)
    assert (read.removal.channel, read.removal.ts) == ("C1", "10.000001")


def test_an_edit_without_a_mark_is_dated_by_its_event():
    """An update with blocks leaves no `edited`; P10 dates the verb by the edit."""
    read = read_event(changed({**OLD, "text": "new"}, OLD))
    assert isinstance(read, Said)
    assert (read.message.edited, read.message.thread, read.message.edit) == ("20.000001", "9.000001", True)


def test_an_edit_with_an_earlier_mark_is_dated_by_its_event():
    """The mark of an edit before is no date of this one."""
    earlier = {**OLD, "edited": {"user": "U1", "ts": "12.000000"}}
    read = read_event(changed({**earlier, "text": "new"}, earlier))
    assert isinstance(read, Said)
    assert read.message.edited == "20.000001"


@pytest.mark.parametrize(
    ("after", "before", "reads"),
    [
        ("in_progress", "in_progress", False),  # not finished: nothing is read
        ("completed", "in_progress", True),  # finished: read, although no word changed with it
        ("completed", "completed", False),  # metadata of a finished one
        ("errored", "in_progress", True),  # it will not be finished: what is there counts
    ],
)
def test_a_streamed_message_is_read_when_complete(after, before, reads):
    """P10."""
    read = read_event(changed({**OLD, "streaming_state": after}, {**OLD, "streaming_state": before}))
    assert isinstance(read, Said) is reads


def test_a_message_that_begins_to_stream_is_not_read():
    assert isinstance(read_event(event(user="U1", ts="1.000000", text="[RES", streaming_state="in_progress")), Unneeded)


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("channel_archive", {}, ChannelGone(channel="C1", reason="the channel was archived")),
        ("group_archive", {}, ChannelGone(channel="C1", reason="the channel was archived")),
        ("channel_deleted", {}, ChannelGone(channel="C1", reason="the channel was deleted")),
        ("group_deleted", {}, ChannelGone(channel="C1", reason="the channel was deleted")),
        ("channel_left", {}, ChannelGone(channel="C1", reason="the bot was removed from the channel")),
        ("group_left", {}, ChannelGone(channel="C1", reason="the bot was removed from the channel")),
        ("member_left_channel", {"user": "U9"}, Unneeded(reason="somebody else came or went")),
        ("member_joined_channel", {"user": "W00000001"}, ChannelBack(channel="C1")),
        ("channel_unarchive", {}, ChannelBack(channel="C1")),
        ("group_unarchive", {}, ChannelBack(channel="C1")),
        ("channel_id_changed", {"old_channel_id": "C1", "new_channel_id": "C2"}, Moved(channel="C1", to="C2")),
        ("app_uninstalled", {}, Revoked(reason="the app was removed from the workspace")),
        ("tokens_revoked", {"tokens": {"oauth": ["U1"]}}, Unneeded(reason="a person's token was revoked, not ours")),
        ("user_change", {"user": {"id": "U1"}}, PersonChanged(user="U1", deleted=False)),
        ("reaction_added", {"user": "U1"}, Unneeded(reason="not a kind of event that we read")),
    ],
)
def test_what_happens_to_channels_tokens_and_people(kind, fields, expected):
    """R1, F7, §11."""
    body = event(**fields)
    body["event"]["type"] = kind
    assert read_event(body, ME) == expected


def test_who_we_are_is_taken_from_the_payload_where_we_do_not_know_it():
    body = event(user="U7") | {"authorizations": [{"user_id": "U7"}]}
    body["event"]["type"] = "member_left_channel"
    assert isinstance(read_event(body), ChannelGone)
    assert isinstance(read_event(body, ME), Unneeded)


def test_a_row_of_a_thread_carries_our_key():
    """P5: our metadata recognises our own post, and other metadata does not."""
    row = {"type": "message", "ts": "1.000001", "thread_ts": "1.000001", "user": "U1", "text": "x", "user_team": "T2"}
    ours = {"event_type": "digestbot", "event_payload": {"outbox_key": "digest:7"}}
    read = read_message("C1", {**row, "metadata": ours})
    assert read is not None
    assert (read.outbox_key, read.thread, read.author.team) == ("digest:7", "", "T2")
    foreign = read_message("C1", {**row, "metadata": {**ours, "event_type": "other"}})
    assert foreign is not None
    assert foreign.outbox_key == ""


@pytest.mark.parametrize(
    "row",
    [
        {"subtype": "tombstone", "ts": "1.000001", "text": "This message was deleted."},
        {"subtype": "channel_join", "ts": "1.000001", "user": "U1", "text": "<@U1> has joined"},
        {"ts": "1.000001", "text": "half", "streaming_state": "in_progress"},
        {"ts": "soon", "text": "x"},
        {"type": "file", "ts": "1.000001"},
        "a string",
    ],
)
def test_a_row_that_is_nobodys_words_is_left_out(row):
    assert read_message("C1", row) is None
