"""No bytes make the reader raise, and what it yields fits the buffer; its cost is linear (SPEC S3, B4, §13; O27)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.costs import assert_growth

from bot.buffer.ingest import Defaults, admit
from bot.buffer.items import Draft, Ignored, Rejected
from bot.sources.mail.addresses import addresses
from bot.sources.mail.mail import RAW_MAX, Mailbox
from bot.sources.mail.markup import words_of_html
from bot.sources.mail.quotes import own_words
from bot.sources.mail.reading import read_mail

NOW = datetime(2026, 10, 4, 12, 0, tzinfo=UTC)
INBOX = Mailbox(name="inbox", addresses={"a@x.example": "646"}, tracks=lambda _source, _thread: True)
FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cases" / "email"
FILES = [path.read_bytes() for path in sorted(FOLDER.glob("*.eml"))]
WORDS = (
    *(b"From: ", b"To: ", b"Subject: ", b"Date: ", b"Message-ID: ", b"References: ", b"Content-Type: ", b"List-Id: "),
    *(
        b"text/plain",
        b"text/html",
        b"multipart/mixed",
        b"message/rfc822",
        b"; boundary=b",
        b"; charset=",
        b"; charset*=",
    ),
    *(
        b"utf-8",
        b"iso-2022-jp",
        b"x''y",
        b"\n--b\n",
        b"\n--b--\n",
        b"=?utf-8?b?",
        b"?=",
        b"a@x.example",
        b"<a@x.example>",
    ),
    *(b"X-GitHub-Reason: mention\n", b"<o/r/pull/1/c2@x.example>", b"Auto-Submitted: ", b"Content-Transfer-Encoding: "),
    *(
        b"base64",
        b"quoted-printable",
        b"\n",
        b"\r\n",
        b"\n\n",
        b" ",
        b'"',
        b"(",
        b"\\",
        b"\x00",
        b"\x1b$B",
        b"\xff",
        b"> ",
    ),
)
PIECES = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=60).map(b"".join)


def check(raw: bytes) -> None:
    [signal] = read_mail(raw, mailbox=INBOX)
    assert isinstance(signal, Draft | Ignored | Rejected)
    if isinstance(signal, Draft):
        stored = admit(signal, now=NOW, item_id="em-1", agent="", defaults=Defaults()).item
        assert stored.marker in {"", "?"}
        assert "\n" not in stored.content_summary + stored.thread_id + stored.author


@settings(deadline=None)  # a busy machine is slow now and then; the cost has tests of its own
@given(st.one_of(st.binary(max_size=400), PIECES))
def test_any_bytes_are_read(raw):
    check(raw)


@pytest.mark.skipif(not FILES, reason=f"the case files are not here: {FOLDER}")
@settings(deadline=None)  # a busy machine is slow now and then; the cost has tests of its own
@given(st.data())
def test_any_truncation_of_a_real_mail_is_read(data):
    raw = data.draw(st.sampled_from(FILES))
    check(raw[: data.draw(st.integers(0, len(raw)))])


@pytest.mark.skipif(not FILES, reason=f"the case files are not here: {FOLDER}")
@settings(deadline=None)  # a busy machine is slow now and then; the cost has tests of its own
@given(st.data())
def test_a_real_mail_is_read_with_any_lines_missing(data):
    lines = data.draw(st.sampled_from(FILES)).splitlines(keepends=True)
    missing = data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=8))
    check(b"".join(line for number, line in enumerate(lines) if number not in missing))


@pytest.mark.skipif(not FILES, reason=f"the case files are not here: {FOLDER}")
@settings(deadline=None)  # a busy machine is slow now and then; the cost has tests of its own
@given(st.data())
def test_a_real_mail_is_read_with_anything_put_into_it(data):
    raw = data.draw(st.sampled_from(FILES))
    position = data.draw(st.integers(0, len(raw)))
    check(raw[:position] + data.draw(PIECES) + raw[position:])


# What makes naive readers slow: beginnings without ends, in text, markup and addresses.
HOSTILE = (
    "On a 1 ",
    "On a 1\n",
    "\n",
    ">",
    "> \n",
    "<",
    "<!--",
    "<a b ",
    "<blockquote>",
    "&#9",
    "&a",
    '"a\\',
    "(",
    "a@",
    "--\n",
)


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("reader", [own_words, words_of_html, addresses])
def test_cost_of_reading_words_is_linear(reader, piece):
    """B3: no text is dear to read for its length."""
    assert_growth(reader, lambda length: (piece * length)[:length], 64_000)


@pytest.mark.parametrize("piece", [b"--b\n\n", b"a: b\n", b"Content-Type: message/rfc822\n\n", b"=?a?q?", b"; a*0=b"])
@pytest.mark.parametrize(("largest", "at_most"), [(RAW_MAX, 32), (8 * RAW_MAX, 2)])
def test_cost_of_reading_a_mail_is_bounded(piece, largest, at_most):
    """B3: the library's parser grows faster than its input, though not quadratically; so a mail is cut before it."""
    start = b"Content-Type: multipart/mixed; boundary=b"
    grown = lambda size: start + piece * (size // len(piece))  # noqa: E731
    assert_growth(lambda raw: read_mail(raw, mailbox=INBOX), grown, largest, at_most)
