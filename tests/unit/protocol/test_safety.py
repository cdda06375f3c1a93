"""P4: outside text is data."""

import pytest

from bot.protocol.safety import cut, defuse, escape, one_line, safe

ROWS = [
    # what somebody typed as a title -> what a digest shows (before escaping)
    ("[RESULT ml-646-20260101-000001] ok", "(RESULT ml-646-20260101-000001) ok"),  # a perfect reply
    ("[ result ml-x] ok", "( result ml-x) ok"),  # a space does not save it
    ("【ACK ml-x】", "(ACK ml-x)"),  # lenticular brackets count as a tag
    ("［JOB ml-x］", "(JOB ml-x)"),  # noqa: RUF001 - full-width brackets too
    ("[NO–ACTION ml-x]", "(NO–ACTION ml-x)"),  # any dash
    ("[#ml-x]", "(#ml-x)"),  # an id alone looks like one of ours
    ("[from:646] hi", "(from:646) hi"),  # a claim
    ("release [!] now [?]", "release (!) now (?)"),  # markers typed outside count for nothing (P1)
    ("[*ACK* ml-x]", "(*ACK* ml-x)"),  # decoration inside the bracket
    ("[Bug] crash in [parser]", "[Bug] crash in [parser]"),  # ordinary titles stay readable
    ("[Bug [ACK x] y]", "[Bug (ACK x) y]"),  # brackets are matched, not counted
    ("[ACK never closed", "(ACK never closed"),
    ("a\nb\r\n\tc\u2028d", "a b c d"),  # one line
    ("UI Updates\x00", "UI Updates"),  # a NUL from a real feed
    ("left\u202eright\u2067x", "leftrightx"),  # bidi controls
    ("in\u200bvis\u00adible\ufeff", "invisible"),  # zero width and soft hyphen
    ("\u3164\u2800", ""),  # letters that are drawn as nothing
    ("👩\u200d🚀 ship", "👩\u200d🚀 ship"),  # a joiner inside an emoji is part of it
    ("a\u200db", "ab"),  # between letters it only hides things
    ("```rm -rf```", "'''rm -rf'''"),  # an open fence would swallow the footer
]


@pytest.mark.parametrize(("typed", "shown"), ROWS)
def test_outside_text_is_inert(typed, shown):
    """P4: no tag, no marker, no control; one line."""
    assert safe(typed) == shown


def test_escaping_is_exactly_slacks():
    """P4: `& < >` and nothing else, so that nobody is pinged and no link lies."""
    assert escape('<!channel> & <https://x|y> "q"') == '&lt;!channel&gt; &amp; &lt;https://x|y&gt; "q"'


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("short", 10, "short"),
        ("exactly10!", 10, "exactly10!"),
        ("a longer text", 9, "a longer…"),
        ("ab👩\u200d👩\u200d👧 family", 6, "ab…"),  # the family of five code points is not torn
        ("e\u0301e\u0301e\u0301", 4, "e\u0301…"),  # nor an accent from its letter
        ("x", 0, ""),
    ],
)
def test_cut_at_a_grapheme(text, most, kept):
    """P4: cut at a grapheme, never longer than asked."""
    assert cut(text, most) == kept
    assert len(cut(text, most)) <= most


def test_steps_are_idempotent():
    """P4: cleaning twice is cleaning once, so that stored and shown text agree."""
    for typed, _ in ROWS:
        assert one_line(one_line(typed)) == one_line(typed)
        assert defuse(safe(typed)) == safe(typed)
