"""P6, P8, P9, P11: what a reading means for the jobs there are, and the one hint that it may earn."""

import pytest

from bot.protocol.interpret import Action, Hint, HintReason, Interpretation, interpret
from bot.protocol.reading import read
from bot.protocol.verbs import Verb

A = "ml-Pip-20260101-000001"  # ids are found in any case; actions carry the canonical one
B = "ml-646-20260101-000002"
CLOSED = "ml-646-20260101-000003"
WRONG = "ml-646-20260101-00002"  # a digit short of B
ACK, CLAIM, RESULT, DECLINE, NO_ACTION = Verb


def meant(text: str, *, here=(), opened=(A, B), pending=False) -> Interpretation:
    ids = {job_id.casefold(): job_id for job_id in (A, B, CLOSED)}
    return interpret(
        read(text),
        known=lambda typed: ids.get(typed.casefold()),
        open_here=here,
        open_ids=opened,
        thread_pending=pending,
    )


def acts(result: Interpretation) -> list[tuple[Verb, str, str]]:
    return [(action.verb, action.job_id, action.text) for action in result.actions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Several tags act in order, on whatever jobs they name.
        (f"[CLAIM {B}] mine\n[ACK {A}] seen", [(CLAIM, B, "mine"), (ACK, A, "seen")]),
        # The canonical id, whatever the case.
        (f"[ACK {A.upper()}] seen", [(ACK, A, "seen")]),
        # A closed job is found too: the verb table says what becomes of it.
        (f"[RESULT {CLOSED}] more", [(RESULT, CLOSED, "more")]),
        # Only a RESULT needs words.
        (f"[ACK {A}]", [(ACK, A, "")]),
        (f"[DECLINE {A}]", [(DECLINE, A, "")]),
        (f"[NO-ACTION {A}] :shrug:", [(NO_ACTION, A, ":shrug:")]),
        # A verb given twice to one job is one action with all the words: a message has each (job, verb) once (P10).
        (f"[RESULT {A}] one\n[RESULT {A}] two", [(RESULT, A, "one\ntwo")]),
        (f"[ACK {A}] seen\n[ACK {A}] seen", [(ACK, A, "seen")]),
        # An acknowledging and a closing verb go together.
        (f"[CLAIM {A}] mine\n[RESULT {A}] fixed", [(CLAIM, A, "mine"), (RESULT, A, "fixed")]),
        # Two closing verbs for two jobs do not contradict each other.
        (f"[RESULT {A}] fixed\n[DECLINE {B}] no", [(RESULT, A, "fixed"), (DECLINE, B, "no")]),
    ],
)
def test_actions(text, expected):
    """P8: what is read is applied to the jobs that it names, without a hint."""
    assert acts(meant(text)) == expected
    assert meant(text).hint is None


@pytest.mark.parametrize(
    "words",
    [
        "",
        "  \u00a0\u200b",
        ":tada:",
        ":+1::skin-tone-2: :tada:",
        "\U0001f389",
        "\u2714\ufe0f",
        "1\ufe0f\u20e3",
        "...",
        "\u2026",
        "-",
        "text",
        "Text.",
        "*text*",
        "`result text`",
        "Result text",
        "&lt;what you did&gt;",
        "<what you did>",
        "&lt;what &lt;you&gt; did&gt;.",
        "&lt;a&gt; &lt;b&gt;",
        "<@U1>",
        "<!channel>",
        '"&lt;result&gt;"',
        "~fixed it~",
        ":x: " * 500,
    ],
)
def test_empty_result(words):
    """P6: whitespace, an emoji, a copied placeholder and anything wholly inside `<>` are no result."""
    assert meant(f"[RESULT {A}] {words}") == Interpretation(
        actions=(), hint=Hint(reason=HintReason.EMPTY_RESULT, verb=RESULT, job_id=A)
    )


@pytest.mark.parametrize(
    "words",
    [
        "done",
        "ok",
        "0",
        "n/a",
        "\u5b8c\u4e86",
        "text sent",
        "the text",
        "&lt;b&gt; is fixed",
        "a &lt; b",
        ":tada: done",
        "<https://x.io/pr/1|PR>",
        "10:30:45",
        "<!channel> done <@U1>",
        "x" * 40_000,
    ],
)
def test_result_of_words(words):
    """P6: `done` is text, and so is anything else with a word in it."""
    assert [action.verb for action in meant(f"[RESULT {A}] {words}").actions] == [RESULT]


def test_contradiction_applies_neither():
    """P8: two different closing verbs for one job apply neither; the other verbs of the message act."""
    result = meant(f"[CLAIM {A}] mine\n[RESULT {A}] done\n[DECLINE {A.lower()}] no\n[ACK {B}]")

    assert acts(result) == [(CLAIM, A, "mine"), (ACK, B, "")]
    assert result.hint == Hint(reason=HintReason.CONTRADICTION, verb=RESULT, job_id=A)


def test_contradiction_with_and_without_id():
    """P8: the id-less tag means the thread's job, so it can contradict the one that names it."""
    assert meant(f"[RESULT] done\n[NO-ACTION {A}]", here=(A,)).actions == ()


def test_empty_result_still_contradicts():
    """P8: who writes two closings means neither for sure, words or not."""
    result = meant(f"[RESULT {A}]\n[DECLINE {A}] no")

    assert (result.actions, result.hint and result.hint.reason) == ((), HintReason.CONTRADICTION)


def test_no_id_in_own_thread():
    """P8: in a digest's own thread with one open job a tag without id means that job."""
    assert meant("[ACK] seen", here=(A,)).actions == (Action(verb=ACK, job_id=A, text="seen"),)


@pytest.mark.parametrize("here", [(), (A, B)])
def test_no_id_elsewhere(here):
    """P8, P9: where no job or several are open, a tag without id earns a hint."""
    assert meant("[ACK] seen", here=here) == Interpretation(actions=(), hint=Hint(reason=HintReason.NO_ID, verb=ACK))


@pytest.mark.parametrize(
    ("typed", "near"),
    [(WRONG, B), ("id", A), ("ml-opm-20271231-235959", A)],
)
def test_unknown_id(typed, near):
    """P8, P11: an explicit wrong id never falls back, not even in a job's own thread; the nearest open one is named.

    Where none is near, the job of the thread is.
    """
    result = meant(f"[ACK {typed}] seen", here=(A,), opened=(B,))

    assert result.actions == ()
    assert result.hint == Hint(reason=HintReason.UNKNOWN_ID, verb=ACK, job_id=typed, nearest=near)


def test_one_wrong_id_of_two():
    """P11: the right tag acts, the wrong one earns the hint."""
    result = meant(f"[CLAIM {A}]\n[NO-ACTION {WRONG}]")

    assert acts(result) == [(CLAIM, A, "")]
    assert result.hint == Hint(reason=HintReason.UNKNOWN_ID, verb=NO_ACTION, job_id=WRONG, nearest=B)


@pytest.mark.parametrize(
    ("text", "reason", "verb", "job_id"),
    [
        (f"fine [ACK {A}]", HintReason.MISPLACED, ACK, A),
        (f"(RESULT {A}) done", HintReason.MALFORMED, RESULT, A),
        (f"(RESULT {WRONG}) done", HintReason.MALFORMED, RESULT, WRONG),
        (f"[DONE {A}]", HintReason.MALFORMED, None, A),
    ],
)
def test_flaw_earns_a_hint(text, reason, verb, job_id):
    """P8, P11: a misplaced or malformed tag is answered with the line to send, anywhere."""
    hint = meant(text).hint

    assert hint
    assert (hint.reason, hint.verb, hint.job_id) == (reason, verb, job_id)


def test_flaw_beside_an_action():
    """P8: a tag in the middle of a line earns its hint even where another tag of the message acts…"""
    result = meant(f"[ACK {A}] I will post [RESULT {A}] later")

    assert acts(result) == [(ACK, A, f"I will post [RESULT {A}] later")]
    assert result.hint == Hint(reason=HintReason.MISPLACED, verb=RESULT, job_id=A)


def test_flaw_of_what_was_done():
    """P11: …but not when the message does the very thing."""
    assert meant(f"as [ACK {A}] says\n[ACK {A}] seen").hint is None


def test_faint_flaw():
    """P11: what may be prose earns a hint only where it could be meant, and never beside an action."""
    prose = "the [result] column"

    assert meant(prose).hint is None
    assert meant(f"[ACK {A}] {prose}", here=(A,)).hint is None
    assert meant(prose, here=(A,)).hint == Hint(reason=HintReason.MISPLACED, verb=RESULT, job_id=A)


def test_one_hint_the_most_useful():
    """P11: one hint a message: what was surely meant comes before what may be prose."""
    text = f"so [ACK {B}] x\n(CLAIM {B}) y\n[ACK {WRONG}]\n[RESULT {A}]"

    assert meant(text).hint == Hint(reason=HintReason.EMPTY_RESULT, verb=RESULT, job_id=A)


@pytest.mark.parametrize(
    ("text", "pending", "hinted"),
    [
        ("claim - mine, looking now", True, True),
        ("[from:646] looking", True, True),  # a claim is no verb
        (f"&gt; [ACK {A}]\nyes", True, True),  # somebody else's tag
        ("claim - mine, looking now", False, False),  # told before, or not pending
        ("HEARTBEAT_OK", True, False),  # a runtime's sentinel is nobody's answer
        ("NO_REPLY", True, False),
        ("Not recorded: it has no tag.", True, False),  # never in answer to a hint
        ("", True, False),  # a forwarded message: not the forwarder's words
    ],
)
def test_no_tag(text, pending, hinted):
    """P11: the first message without any tag in a pending job's own thread is told how to answer."""
    assert meant(text, here=(A,), pending=pending) == Interpretation(
        actions=(), hint=Hint(reason=HintReason.NO_TAG, job_id=A) if hinted else None
    )


def test_flaw_before_no_tag():
    """P11: a malformed tag is told as such, which says more than that there is none."""
    hint = meant(f"(ACK {A})", here=(A,), pending=True).hint

    assert hint
    assert hint.reason is HintReason.MALFORMED


def test_action_under_a_repeated_hint():
    """P11: a message that repeats our hint earns none, but its own tags act."""
    result = meant(f"&gt; Not recorded: no words\n[ACK {A}] seen, so [RESULT {A}] later")

    assert (len(result.actions), result.hint) == (1, None)
