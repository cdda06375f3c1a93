"""P3, P4 for any outside text: the contract survives and nothing in it parses."""

from hypothesis import given
from hypothesis import strategies as st

from bot import wording
from bot.protocol.digest import TEXT_MAX, Entry, compose
from bot.protocol.reading import read
from bot.protocol.safety import cut, safe

WORDS = wording.load()
JOB = "ml-646-20261004-213000"
NASTY = st.sampled_from(
    ["[ACK ", "ml-646-20261004-213000", "]", "<!channel>", "\n", "\u202e", "```", "[JOB", "【", "〛", "&amp;"]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(NASTY, max_size=40).map("".join))


@given(authors=st.lists(TEXTS, min_size=1, max_size=8), text=TEXTS, where=st.text(max_size=40))
def test_whatever_was_typed_outside_the_contract_survives(authors, text, where):
    """P3, P4: never over 600, id line and footer whole, no verb, no control sequence."""
    entries = [Entry(author=author, summary=text, marker="?") for author in authors]
    sent = compose(job_id=JOB, where=where, entries=entries, render=WORDS.digest)
    assert len(sent) <= TEXT_MAX
    assert sent.startswith(f"[main-loop] [JOB {JOB}] ")
    assert sent.endswith(WORDS.footer())
    assert read(sent).tags == ()
    assert "<" not in sent


@given(TEXTS)
def test_safe_text_is_one_inert_line(text):
    """P4: one line, no tag when it stands at a line start, and cleaning twice changes nothing."""
    line = safe(text)
    assert "\n" not in line
    assert read(line).tags == ()
    assert safe(line) == line


@given(TEXTS, st.integers(min_value=0, max_value=60))
def test_cutting_never_exceeds_and_never_invents(text, most):
    """P4: cut at a grapheme."""
    kept = cut(text, most)
    assert len(kept) <= most
    assert text.startswith(kept.removesuffix("…").rstrip()) or kept == text
