"""P8: reading holds for texts that nobody thought of."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from bot.protocol.interpret import interpret
from bot.protocol.reading import read
from bot.protocol.scanning import scan
from bot.protocol.slack_text import message_text
from bot.protocol.verbs import Verb

FOOTER = (
    "Reply: [ACK id] seen | [CLAIM id] mine | [RESULT id] done | [DECLINE id] | [NO-ACTION id]. Report back here. "
    "Box dispatches the next step; do not DM the next agent directly."
)
PIECES = [
    *"[]()<>`*_~\"'|:.,!?#-\n \u200b\u3010\u3011",
    *("```", "&gt;", "&lt;", "**", "ACK", "RESULT", "NO-ACTION", "ml-646-20260101-000001", "[ACK]", "[RESULT ml-646-"),
    *("<@U1>", "<https://x.io|y>", "[from:646]", "Not recorded:", "\U0001d5fa", "a", "1. ", "- ", "done."),
]
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
agents = st.from_regex(re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII), fullmatch=True)
ids = st.builds("ml-{}-20260101-{:06d}".format, agents, st.integers(0, 235959))
verbs = st.sampled_from(Verb)
# Prose that no clause of P8 gives a meaning to: no bracket, wrapper, quote, code, link or sentence end.
safe = st.text(string.ascii_letters + string.digits + " ,;", min_size=1, max_size=60).map(lambda text: f"so {text} on")
lines = st.lists(safe, max_size=4)


@given(anything)
def test_never_raises(text):
    """P8: any text is read, any reading is interpreted, and a hint never comes with a repeated hint."""
    reading = read(text)
    result = interpret(
        reading, known=lambda _: None, open_here=["ml-a-20260101-000001"], open_ids=(), thread_pending=True
    )

    assert not (reading.quiet and result.hint)
    assert len(result.actions) <= len(reading.tags)


@given(anything)
def test_words_are_the_message_s(text):
    """P8: the words of a tag are words of the message; nothing is made up."""
    for tag in read(text).tags:
        for line in tag.text.split("\n"):
            assert set(line) <= set(text) | set("<>&")  # what undoing the encoding can bring


@given(verbs, ids, safe, lines, lines)
def test_canonical_line(verb, job_id, words, before, after):
    """P8: a canonical line is read exactly, whatever prose stands around it."""
    text = "\n".join([*before, f"[{verb} {job_id}] {words}", *after])

    (tag,) = read(text).tags
    assert (tag.verb, tag.job_id) == (verb, job_id.casefold())
    assert tag.text == "\n".join([words, *after])


@given(st.lists(st.tuples(verbs, ids, safe), min_size=1, max_size=8))
def test_lines_in_order(replies):
    """P8: several tags in one message come in order, each with its own words."""
    text = "\n".join(f"[{verb} {job_id}] {words}" for verb, job_id, words in replies)

    got = [(tag.verb, tag.job_id, tag.text) for tag in read(text).tags]
    assert got == [(verb, job_id.casefold(), words) for verb, job_id, words in replies]


@given(verbs, ids, safe, safe)
def test_middle_of_a_line(verb, job_id, before, after):
    """P8: in the middle of a line a tag does nothing but earn a hint with the line to send."""
    reading = read(f"{before} [{verb} {job_id}] {after}")

    assert reading.tags == ()
    assert [(flaw.verb, flaw.job_id) for flaw in reading.flaws] == [(verb, job_id.casefold())]


@given(verbs, ids, lines, st.sampled_from(["&gt; ", "> ", "&gt;", "  &gt; "]))
def test_quoted_line(verb, job_id, around, quote):
    """P8: a quoted tag is somebody else's."""
    reading = read("\n".join([*around, f"{quote}[{verb} {job_id}] done", *around]))

    assert (reading.tags, reading.flaws) == ((), ())


@given(ids, safe, lines, st.sampled_from(["", "&gt; "]))
def test_quoted_footer(job_id, preview, around, quote):
    """P3: the footer says the word `id`, so that a quoted digest parses as nothing."""
    digest = (
        f"[main-loop] [JOB {job_id}] 1 new in 646 main chat \u2014 reply needed:",
        f"- human: {preview} [?]",
        FOOTER,
    )
    reading = read("\n".join([*around, *(quote + line for line in digest), *around]))

    assert (reading.tags, reading.flaws) == ((), ())


@given(verbs, ids, anything)
def test_fenced(verb, job_id, rest):
    """P8: what stands in a closed fence beside other words is code."""
    plain = rest.replace("`", "").replace("~", "")

    assert read(f"so\n```\n[{verb} {job_id}] x\n```\nso {plain}").tags == read(f"so\n\nso {plain}").tags


@given(st.sampled_from(PIECES), st.integers(3_000, 9_000))
def test_work_is_bounded(piece, times):
    """§13: what a scan keeps does not grow with the length of a hostile text."""
    state = scan("\n" + f"{piece}[ACK]" * times)

    assert len(state.marks) + len(state.flaws) + len(state.claims) <= 500
    assert len(state.rest) <= 2_001


@given(
    st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["text", "blocks", "elements", "attachments", "type", "style"]), inner, max_size=4
            )
        ),
    )
)
def test_any_payload(payload):
    """P8: no payload is too odd to look for its words."""
    assert isinstance(message_text(payload if isinstance(payload, dict) else {"blocks": payload}), str)
