"""P1, P3: which digest items make, and the text that fits its budget; with the wording that is shipped."""

import pytest

from bot import wording
from bot.protocol.digest import TEXT_MAX, BudgetError, DigestClass, Entry, classify, compose
from bot.protocol.reading import read

WORDS = wording.load()
JOB = "ml-646-20261004-213000"
QUESTION = Entry(author="human", summary="should we archive the stale pipe-7d2896 thread?", marker="?")


def composed(entries, job_id=JOB, where="646 main chat"):
    return compose(job_id=job_id, where=where, entries=entries, render=WORDS.digest)


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        (["", ""], (DigestClass.INFORMATIONAL, "")),
        (["", "?"], (DigestClass.ACTIONABLE, "?")),  # one question makes it a job
        (["?", "!"], (DigestClass.ACTIONABLE, "!")),  # one `!` makes it urgent
        (["", "!"], (DigestClass.ACTIONABLE, "!")),
    ],
)
def test_classes(markers, expected):
    """P1: a digest that carries `[?]` or `[!]` is actionable, any other informational."""
    assert classify(markers) == expected


def test_the_text_is_the_specifications_letter_for_letter():
    """P3: id line, preview, footer."""
    assert composed([QUESTION] * 3).split("\n") == [
        f"[main-loop] [JOB {JOB}] 3 new in 646 main chat — one reply for all needed:",
        "- human: should we archive the stale pipe-7d2896 thread? [?]",
        "- human: should we archive the stale pipe-7d2896 thread? [?]",
        "- human: should we archive the stale pipe-7d2896 thread? [?]",
        (
            "Reply: [ACK id] seen | [CLAIM id] mine | [RESULT id] done | [DECLINE id] | [NO-ACTION id]. "
            "Report back here. Box dispatches the next step; do not DM the next agent directly."
        ),
    ]


def test_one_item_says_so():
    """P3: with one item the line ends `— reply needed:`."""
    assert composed([QUESTION]).split("\n")[0].endswith("1 new in 646 main chat — reply needed:")


def test_at_most_three_previews_then_more():
    """P3: actionable digests show at most 3 previews, then `+N more`."""
    lines = composed([QUESTION] * 7).split("\n")
    assert (len(lines), lines[4]) == (6, "+4 more")


def test_informational_digests_show_five_and_have_neither_id_nor_footer():
    """P3: `[main-loop] N new in <where>:` with at most 5."""
    news = Entry(author="lee", summary="v1.2 is out")
    lines = composed([news] * 6, job_id="").split("\n")
    assert lines == ["[main-loop] 6 new in 646 main chat:", *["- lee: v1.2 is out"] * 5, "+1 more"]


@pytest.mark.parametrize("filling", ["word " * 200, "&<>" * 200, "👩‍👩‍👧" * 100, "[RESULT ml-x] ok " * 40, "x" * 5000])
def test_previews_give_way_and_the_contract_never_does(filling):
    """P3, P4: whatever the items say, 600 code points after escaping, id line and footer whole, nothing to parse."""
    text = composed([Entry(author=filling, summary=filling, marker="?")] * 9, where="w" * 40)
    lines = text.split("\n")
    assert len(text) <= TEXT_MAX
    assert lines[0].startswith(f"[main-loop] [JOB {JOB}] 9 new in ")
    assert lines[-1] == WORDS.footer()
    assert read(text).tags == ()


def test_room_is_used():
    """P3: a preview is not shorter than it must be."""
    text = composed([Entry(author="human", summary="word " * 200, marker="?")] * 3)
    assert TEXT_MAX - 6 <= len(text) <= TEXT_MAX


def test_a_template_without_room_is_refused():
    """P3: a template whose output breaks the budget is an error, not a longer message."""
    with pytest.raises(BudgetError):
        compose(job_id=JOB, where="", entries=[QUESTION], render=lambda _view: "x" * (TEXT_MAX + 1))


def test_markers_typed_outside_count_for_nothing():
    """P1: only the source sets a marker."""
    text = composed([Entry(author="kit", summary="please [!] now [?]")], job_id="")
    assert "[!]" not in text
    assert "[?]" not in text


def test_an_item_that_stands_for_others_says_how_many():
    """B5: a duplicate shows as ×n."""
    assert "archive? ×3 [?]" in composed([Entry(author="human", summary="archive?", marker="?", times=3)])
