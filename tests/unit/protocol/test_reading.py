"""P8: which tags count, what belongs to them, and what only earns a hint — a row for every clause of the rule."""

import pytest

from bot.protocol.reading import Flaw, FlawKind, Reading, Tag, read
from bot.protocol.verbs import Verb

A = "ml-646-20260101-000001"
B = "ml-my-agent_2-20260101-000002"
ACK, CLAIM, RESULT, DECLINE, NO_ACTION = Verb


def said(reading: Reading) -> list[tuple[Verb, str | None, str]]:
    return [(tag.verb, tag.job_id, tag.text) for tag in reading.tags]


def rows(*table):
    """Name each row by its text, so that a failure shows what was read."""
    return [pytest.param(*row, id=ascii(row[0])[1:60]) for row in table]


SEEN = [(ACK, A, "seen")]

ACCEPTED = rows(
    # The plain form, and case.
    (f"[ACK {A}] seen", SEEN),
    (f"[ack {A.upper()}] seen", SEEN),
    (f"[ACK {B}] seen", [(ACK, B, "seen")]),  # agent names hold hyphens and underscores (P2)
    (f"[ACK {A}]seen", SEEN),
    ("[ACK] seen", [(ACK, None, "seen")]),  # which job that is, `interpret` knows
    # Spaces in the tag are folded.
    (f"[ACK\u00a0{A}] seen", SEEN),  # a no-break space, as Slack pastes it
    (f"[ACK\u202f{A}] seen", SEEN),
    (f"[ACK\u3000{A}] seen", SEEN),
    (f"[ACK   {A}] seen", SEEN),
    (f"[ ACK {A} ] seen", SEEN),
    (f"[ACK\t{A}] seen", SEEN),
    # Dashes in the tag are folded.
    (f"[ACK {A.replace('-', chr(0x2014))}] seen", SEEN),  # em dash
    (f"[ACK {A.replace('-', chr(0x2013))}] seen", SEEN),  # en dash
    (f"[ACK {A.replace('-', chr(0x2212))}] seen", SEEN),  # minus
    (f"[ACK {A.replace('-', chr(0x2011))}] seen", SEEN),  # non-breaking hyphen
    (f"[ACK {A.replace('-', chr(0xFF0D))}] seen", SEEN),  # full-width hyphen
    # Invisible characters in the tag are removed.
    (f"[A\u200bCK {A}] seen", SEEN),
    ("[ACK ml-646-2026\u00ad0101-000001] seen", SEEN),  # soft hyphen: a place to break, no dash
    (f"[\ufeffACK {A}\u2060] seen", SEEN),
    (f"[ACK {A}\u202e] seen", SEEN),  # bidi override
    (f"\ufeff[ACK {A}] seen", SEEN),  # a byte order mark does not move the tag from the line start
    # Square, full-width and lenticular brackets; a pair may be mixed, since brackets are folded.
    (f"\uff3bACK {A}\uff3d seen", SEEN),
    (f"\u3010ACK {A}\u3011 seen", SEEN),
    (f"\u3016ACK {A}\u3017 seen", SEEN),
    (f"[ACK {A}\u3011 seen", SEEN),
    # A space, an underscore or nothing for NO-ACTION's dash.
    (f"[NO-ACTION {A}] x", [(NO_ACTION, A, "x")]),
    (f"[NO ACTION {A}] x", [(NO_ACTION, A, "x")]),
    (f"[no_action {A}] x", [(NO_ACTION, A, "x")]),
    (f"[NOACTION {A}] x", [(NO_ACTION, A, "x")]),
    (f"[NO\u2013ACTION {A}] x", [(NO_ACTION, A, "x")]),
    (f"[NO\u00adACTION {A}] x", [(NO_ACTION, A, "x")]),
    (f"[NO\u00a0ACTION {A}] x", [(NO_ACTION, A, "x")]),
    ("[No Action] x", [(NO_ACTION, None, "x")]),  # not the verb NO with an id
    # `#` or `JOB` before the id, a full stop after it, a colon after the tag.
    (f"[ACK #{A}] seen", SEEN),
    (f"[ACK # {A}] seen", SEEN),
    (f"[ACK JOB {A}] seen", SEEN),
    (f"[ACK job #{A}] seen", SEEN),
    (f"[ACK {A}.] seen", SEEN),
    (f"[ACK {A}]: seen", SEEN),
    (f"[ACK {A}] : seen", SEEN),
    (f"[ACK {A}]\uff1aseen", SEEN),
    (f"[ACK {A}]. seen", SEEN),
    (f"[ACK {A}]:tada: seen", [(ACK, A, ":tada: seen")]),  # that colon is an emoji's
    # One thin wrapper around the message.
    (f"`[ACK {A}] seen`", SEEN),
    (f"``[ACK {A}] seen``", SEEN),
    (f"*[ACK {A}] seen*", SEEN),
    (f"**[ACK {A}] seen**", SEEN),
    (f"_[NO_ACTION {A}] seen_", [(NO_ACTION, A, "seen")]),
    (f'"[ACK {A}] seen"', SEEN),
    (f"'[ACK {A}] it's seen'", [(ACK, A, "it's seen")]),  # an apostrophe closes nothing
    (f"\u201c[ACK {A}] seen\u201d", SEEN),
    (f"```[ACK {A}] seen```", SEEN),
    (f"```\n[ACK {A}] seen\n```", SEEN),
    (f"```text\n[ACK {A}] seen\n```", SEEN),
    (f'"Nothing to do.\n[NO-ACTION {A}]"', [(NO_ACTION, A, "")]),
    # Slack's styles end at each line end: a wrapped message of two lines is two wrapped lines.
    (f"`[ACK {A}] seen`\n`[CLAIM {B}] mine`", [(ACK, A, "seen"), (CLAIM, B, "mine")]),
    (f"Both.\n*[ACK {A}] seen*\n_[CLAIM {B}] mine_", [(ACK, A, "seen"), (CLAIM, B, "mine")]),
    (f"*[RESULT {A}] fixed*\nDetails follow.", [(RESULT, A, "fixed\nDetails follow.")]),
    # One thin wrapper around the tag, the colon within or without.
    (f"`[ACK {A}]` seen", SEEN),
    (f"*[ACK {A}]* seen", SEEN),
    (f"**[ACK {A}]** seen", SEEN),
    (f"**[ACK {A}]:** seen", SEEN),
    (f"**[ACK {A}]**: seen", SEEN),
    (f"***[ACK {A}]*** seen", SEEN),  # one run of signs is one wrapper
    (f"`[ACK {A}]`: seen", SEEN),
    (f"__[ACK {A}]__ seen", SEEN),
    (f'"[ACK {A}]" seen', SEEN),
    (f"```[ACK {A}]``` seen", SEEN),
    (f"All green.\n```\n[NO-ACTION {A}]\n```", [(NO_ACTION, A, "")]),
    # One thin wrapper around the whole text.
    (f"[ACK {A}] _seen_", SEEN),
    (f"[ACK {A}] **seen**", SEEN),
    (f"[ACK {A}] `seen`", SEEN),
    (f'[ACK {A}] "seen"', SEEN),
    (f"[RESULT {A}]\n```\nexit 0\n```", [(RESULT, A, "exit 0")]),
    (f"[RESULT {A}] ```sh\nexit 0```", [(RESULT, A, "exit 0")]),
    (f"[RESULT {A}] ```done\nall five```", [(RESULT, A, "done\nall five")]),  # no language: Slack's fence starts so
    (f"[RESULT {A}] *a* and *b*", [(RESULT, A, "*a* and *b*")]),  # two pieces, no wrapper
    (f"[RESULT {A}] `a` and `b`", [(RESULT, A, "`a` and `b`")]),
    (f"*[CLAIM {A}]* _taking it_", [(CLAIM, A, "taking it")]),  # one each
    (f"`*[ACK {A}]* seen`", SEEN),
    # A list marker before the tag.
    (f"- [ACK {A}] seen", SEEN),
    (f"* [ACK {A}] seen", SEEN),
    (f"\u2022 [ACK {A}] seen", SEEN),
    (f"1. [ACK {A}] seen", SEEN),
    (f"2) [ACK {A}] seen", SEEN),
    (f"    \u25e6 [ACK {A}] seen", SEEN),
    (f"\u2022 *[ACK {A}]* seen", SEEN),
    (f"- [ACK {A}] seen\n- [CLAIM {B}] mine", [(ACK, A, "seen"), (CLAIM, B, "mine")]),
    # Struck-through text and leading mentions are dropped.
    (f"~[DECLINE {A}] no~ [ACK {A}] seen", SEEN),
    (f"~~[DECLINE {A}] no~~\n[ACK {A}] seen", SEEN),
    (f"[RESULT {A}] ~broken~ fixed", [(RESULT, A, "fixed")]),
    (f"[RESULT {A}] took ~5 s, was ~10 s", [(RESULT, A, "took ~5 s, was ~10 s")]),  # tildes that strike nothing
    (f"[RESULT {A}] moved ~/a to ~/b", [(RESULT, A, "moved ~/a to ~/b")]),
    (f"[RESULT {A}] see `~x~`!", [(RESULT, A, "see `~x~`!")]),  # in code a tilde is a tilde
    (f"<@U1> [ACK {A}] seen", SEEN),
    (f"<@U1|name> <@U2>: [ACK {A}] seen", SEEN),
    (f"<!subteam^S1|@team>, [ACK {A}] seen", SEEN),
    (f"@digestbot [ACK {A}] seen", SEEN),
    (f"<@U1> `[ACK {A}] seen`", SEEN),
    (f"<@U1>\n[ACK {A}] seen", SEEN),
    # At the start of any line.
    (f"Nothing here.\n\n[NO-ACTION {A}]", [(NO_ACTION, A, "")]),
    (f"Analysis:\n   [ACK {A}] seen", SEEN),
    (f"| job | state |\n[ACK {A}] seen", SEEN),  # a table's last bar is no footer
    # After another tag, a verb's or a claim.
    (f"[ACK {A}] [CLAIM {B}] mine", [(ACK, A, ""), (CLAIM, B, "mine")]),
    (f"[ACK {A}][CLAIM {B}] mine", [(ACK, A, ""), (CLAIM, B, "mine")]),
    (f"*[ACK {A}]* *[CLAIM {B}]* mine", [(ACK, A, ""), (CLAIM, B, "mine")]),
    (f"[from:646] [ACK {A}] seen", SEEN),
    (f"[from:646][to:pip] [ACK {A}] seen", SEEN),
    (f"[ACK {A}] seen\n[from:646] [CLAIM {B}] mine", [(ACK, A, "seen"), (CLAIM, B, "mine")]),
    # After a sentence end.
    (f"Looks fine. [ACK {A}] seen", SEEN),
    (f"Fine! [ACK {A}] seen", SEEN),
    (f"Fine? [ACK {A}] seen", SEEN),
    (f"Fine\u2026 [ACK {A}] seen", SEEN),
    (f"Fine.[ACK {A}] seen", SEEN),
    (f"(Fine.) [ACK {A}] seen", SEEN),
    (f"He said \u201cfine.\u201d [ACK {A}] seen", SEEN),
    (f"*Fine.* [ACK {A}] seen", SEEN),
    (f"\u5b8c\u4e86\u3002[ACK {A}] seen", SEEN),
    (f"\u5b8c\u4e86\uff01[ACK {A}] seen", SEEN),
    (f"Fine. *[ACK {A}]* seen", SEEN),
    # Text runs to the next tag, over line ends, and is kept as written.
    (f"[RESULT {A}]\nCause: disk.\nFix:  rotated.", [(RESULT, A, "Cause: disk.\nFix:  rotated.")]),
    (f"[ACK {A}] seen\n\nmore\n[CLAIM {B}] mine", [(ACK, A, "seen\n\nmore"), (CLAIM, B, "mine")]),
    (f"[ACK {A}] sorry\n&gt; really?\nyes", [(ACK, A, "sorry\n> really?\nyes")]),
    (f"[RESULT {A}] no\u2011op \uff3bx\uff3d", [(RESULT, A, "no\u2011op \uff3bx\uff3d")]),  # folded in the tag only
    (f"[RESULT {A}] ran\n```\n[ACK {B}] x\n```", [(RESULT, A, f"ran\n```\n[ACK {B}] x\n```")]),  # code is text
    (f"[RESULT {A}] - merged", [(RESULT, A, "- merged")]),
    (f"[RESULT {A}]\n[Result summary]\nok", [(RESULT, A, "[Result summary]\nok")]),  # a heading is no tag
    # A tag after a sentence end with nothing behind it takes the text before it in that line…
    (f"Deploy went through. [RESULT {A}]", [(RESULT, A, "Deploy went through.")]),
    (f"Deploy went through. [RESULT {A}].", [(RESULT, A, "Deploy went through.")]),
    (f"Deploy went through. [RESULT {A}] :tada:", [(RESULT, A, "Deploy went through.")]),
    (f"Not this.\nDeploy went through. [RESULT {A}]", [(RESULT, A, "Deploy went through.")]),
    (f"<@U1> Deploy went through. [RESULT {A}]", [(RESULT, A, "Deploy went through.")]),
    (f"Deploy went through. [RESULT {A}]\nBye.", [(RESULT, A, "Bye.")]),  # something is behind it
    # …back to an earlier tag.
    (f"[ACK {A}] Seen. [NO-ACTION {B}]", [(ACK, A, "Seen."), (NO_ACTION, B, "Seen.")]),
    (f"One done. [RESULT {A}] Two done. [RESULT {B}]", [(RESULT, A, "One done."), (RESULT, B, "Two done.")]),
    # Slack's encoding is undone first, and once.
    (f"[RESULT {A}] a &lt; b &amp;&amp; c &gt; d", [(RESULT, A, "a < b && c > d")]),
    (f"[RESULT {A}] &amp;lt;", [(RESULT, A, "&lt;")]),
    (f"[RESULT {A}] see <https://x.io/1|the log>", [(RESULT, A, "see https://x.io/1")]),
    (f"[RESULT {A}] <https://x.io/1>", [(RESULT, A, "https://x.io/1")]),
    (f"[RESULT {A}] mail <mailto:a@x.io|a@x.io>", [(RESULT, A, "mail a@x.io")]),
    (f"[RESULT {A}] told <@U1> in <#C1|ops>", [(RESULT, A, "told <@U1> in <#C1|ops>")]),
    # A quoted line, a fence or a piece of code beside a reply does not disturb it.
    (f"&gt; [DECLINE {A}] no\n[ACK {A}] seen", SEEN),
    (f"Runbook:\n```\n[RESULT {A}] x\n```\n[ACK {A}] seen", SEEN),
    (f"```[RESULT {A}] x```\n[ACK {A}] seen", SEEN),
)


@pytest.mark.parametrize(("text", "expected"), ACCEPTED)
def test_accepted_shape(text, expected):
    """P8: the shape is read as meant, with its words, and nothing is left to hint at."""
    reading = read(text)

    assert said(reading) == expected
    assert all(flaw.faint for flaw in reading.flaws)  # a faint one is passed over beside an action


def flaw(kind: FlawKind, verb: Verb | None = ACK, job_id: str | None = A, *, faint: bool = False) -> Flaw:
    return Flaw(kind=kind, verb=verb, job_id=job_id, faint=faint)


MISPLACED, MALFORMED = flaw(FlawKind.MISPLACED), flaw(FlawKind.MALFORMED)

FLAWED = rows(
    # Elsewhere in a line a tag does nothing.
    (f"all good [ACK {A}] thanks", MISPLACED),
    (f"I will post [RESULT {A}] later", flaw(FlawKind.MISPLACED, RESULT)),
    (f"Reply: [ACK {A}] seen", MISPLACED),
    (f"so, e.g. [ACK {A}] seen", MISPLACED),  # an abbreviation ends no sentence
    (f"status: [ACK {A}]", MISPLACED),
    (f"all good [from:646] [ACK {A}]", MISPLACED),  # a chain counts where it starts
    (f":white_check_mark: [ACK {A}] seen", MISPLACED),
    (f"# [ACK {A}] seen", MISPLACED),  # a heading is no list
    # One wrapper, not two; and not around one line of several, where it makes an example.
    (f"*_[ACK {A}]_* seen", MISPLACED),
    (f'"`[ACK {A}] seen`"', MISPLACED),
    (f"The form is:\n`[ACK {A}] seen`", MISPLACED),
    (f'The form is:\n"[ACK {A}] seen"', MISPLACED),
    (f'"[ACK {A}] seen', MISPLACED),
    # A footer with a job's id in it, quoted whole or wrapped.
    (f"[ACK {A}] seen | [CLAIM {A}] mine | [RESULT {A}] done", flaw(FlawKind.MISPLACED)),
    # Other brackets, none, or half of them.
    (f"(ACK {A}) seen", MALFORMED),
    (f"{{ACK {A}}} seen", MALFORMED),
    (f"&lt;ACK {A}&gt; seen", MALFORMED),
    (f"\u3014ACK {A}\u3015 seen", MALFORMED),
    (f"\u300cACK {A}\u300d seen", MALFORMED),
    (f"[ACK {A}) seen", MALFORMED),
    (f"(ACK {A}] seen", MALFORMED),
    (f"[ACK {A}", MALFORMED),
    (f"[ACK {A} seen", MALFORMED),
    (f"ACK {A}] seen", MALFORMED),
    (f"ACK {A} seen", MALFORMED),
    (f"ack: {A}", MALFORMED),
    (f"{A}: ACK", MALFORMED),
    (f"[ACK\n{A}] seen", flaw(FlawKind.MALFORMED, ACK, None, faint=True)),
    # The wrong things in the bracket.
    (f"[ACK: {A}] seen", MALFORMED),
    (f"[ACK {A}, {B}] seen", MALFORMED),
    (f"[ACK {A} {B}] seen", MALFORMED),
    (f"[ACK {A} seen]", MALFORMED),
    (f"[ACKED {A}] seen", flaw(FlawKind.MALFORMED, None)),
    (f"[DONE {A}] seen", flaw(FlawKind.MALFORMED, None)),
    (f"[{A}] seen", flaw(FlawKind.MALFORMED, None)),
    ("[ACK 42] seen", flaw(FlawKind.MALFORMED, ACK, None, faint=True)),
    # Homoglyphs are never the letter that they resemble.
    (f"[\u0410CK {A}] seen", flaw(FlawKind.MALFORMED, None)),  # Cyrillic
    (f"[AC\u212a {A}] seen", flaw(FlawKind.MALFORMED, None)),  # the Kelvin sign, which folds to k
    (f"[RE\u017fULT {A}] seen", flaw(FlawKind.MALFORMED, None)),  # long s
    (f"[ACK \U0001d5fa\U0001d5f9{A[2:]}] seen", flaw(FlawKind.MALFORMED, ACK, None, faint=True)),
    ("[ACK ml-646-20260101-00000\uff11] seen", flaw(FlawKind.MALFORMED, ACK, "ml-646-20260101-00000")),
    # Structured wrappers.
    (f'{{"reply": "[ACK {A}] seen"}}', MALFORMED),
    (f'```json\n{{"reply": "[ACK {A}] seen"}}\n```', MALFORMED),
    (f'{{"verb": "ACK", "id": "{A}"}}', MALFORMED),
    # A fence that does not end hides all that follows.
    (f"Look:\n```\n[ACK {A}] seen", MALFORMED),
)


@pytest.mark.parametrize(("text", "expected"), FLAWED)
def test_flawed_shape(text, expected):
    """P8: the shape does nothing, and the flaw says as much of the line to send as can be recognised."""
    reading = read(text)

    assert said(reading) == []
    assert reading.flaws[:1] == (expected,)


SILENT = rows(
    # Quoted lines, code, link labels, our own footer: other people's words, or examples.
    (f"&gt; [ACK {A}] seen",),
    (f"> [ACK {A}] seen",),
    (f"  &gt; [ACK {A}] seen",),
    (f"&gt;&gt;&gt; so\n[ACK {A}] seen",),  # Slack quotes all that follows
    (f"&gt; (ACK {A}) seen",),
    (f"Look:\n```\n[ACK {A}] seen\n```\nfine",),
    (f"Look: ```[ACK {A}] seen``` fine",),
    (f"the form is `[ACK {A}] seen` there",),
    (f"see <https://x.io|[ACK {A}] seen>",),
    ("see <https://x.io/?[ACK]>",),
    (f"~[ACK {A}] seen~",),
    ("Reply: [ACK id] seen | [CLAIM id] mine | [RESULT id] done | [DECLINE id] | [NO-ACTION id]. Report back here.",),
    # Prose.
    ("[x] done",),
    ("- [ ] open\n- [x] done",),
    ("[no preview available]",),  # the fallback of an integration's attachment
    (f"[main-loop] [JOB {A}] 1 new in 646 main chat \u2014 reply needed:",),  # the head of a quoted digest
    (f"working on {A}, the result {A} is due",),
    ("acknowledged, will claim",),
    ("claim - mine, looking now",),
    ("",),
)


@pytest.mark.parametrize("text", SILENT)
def test_silent_shape(text):
    """P8: what is quoted, code or prose is neither a tag nor a flaw."""
    assert (read(text).tags, read(text).flaws) == ((), ())


@pytest.mark.parametrize(
    "text",
    rows(
        (f"[ACK {A}] seen | [RESULT {A}] done",),
        (f"Reply: [ACK {A}] seen |\n[RESULT {A}] done",),  # wrapped by a narrow client
        (f"[ACK {A}] seen |\n[RESULT {A}] done | [DECLINE {A}] |\n[NO-ACTION {A}].",),
    ),
)
def test_menu_of_one_job(text):
    """P8: the verbs of one job, set side by side, are a quoted footer and close nothing."""
    assert not any(tag.verb.closes for tag in read(text).tags)


def test_bar_between_two_jobs():
    """P8: a bar between the tags of two jobs is prose; the second tag is in the middle of its line."""
    reading = read(f"[ACK {A}] seen | [CLAIM {B}] mine")

    assert said(reading) == [(ACK, A, f"seen | [CLAIM {B}] mine")]
    assert reading.flaws == (flaw(FlawKind.MISPLACED, CLAIM, B),)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (f"[from:646] [ACK {A}]", ("from:646",)),
        (f"[ACK {A}] [From: pip] seen", ("from:pip",)),
        ("[agent=opm] hello", ("agent:opm",)),
        (f"[ACK: {A}]", ()),  # a verb is no claim
        ("&gt; [from:646] hello", ()),  # somebody else's
    ],
)
def test_claims(text, claims):
    """P7: `[from:X]` and its like are recorded, wherever they stand, and decide nothing."""
    assert read(text).claims == claims


def test_sender_claim_is_no_text():
    """P7: a sender's claim directly behind the tag is not part of the words; another tag in the words is kept."""
    assert said(read(f"[CLAIM {A}] [from:646] mine")) == [(CLAIM, A, "mine")]
    assert said(read(f"[RESULT {A}] [env:prod] fixed")) == [(RESULT, A, "[env:prod] fixed")]


@pytest.mark.parametrize(
    "text",
    [
        "Not recorded: a RESULT needs words.",
        f"&gt; Not recorded: {A} is closed.\nthanks",
        f"so\n*Not recorded:* no. Send: [ACK {A}] seen",
        "HEARTBEAT_OK",
        "`NO_REPLY`",
        "",
        "\u200b",
    ],
)
def test_quiet(text):
    """P11: our own hint repeated, a runtime's sentinel and an empty message earn no hint and do nothing."""
    reading = read(text)

    assert (reading.tags, reading.quiet) == ((), True)


def test_answer_under_a_repeated_hint():
    """P11: a reply beneath our repeated hint counts; the line that the hint proposes does not."""
    assert said(read(f"Not recorded: no words. Send: [DECLINE {A}]\n[ACK {A}] seen")) == SEEN


def test_tag_is_a_value():
    """P8: equal replies read equal, so that an edit that changes nothing is recognised (P10)."""
    assert read(f"[ACK {A}] seen") == Reading(tags=(Tag(verb=ACK, job_id=A, text="seen"),))


@pytest.mark.parametrize("tag", [f"[ACK {A}] ", f"x [ACK {A}] ", f"[{A}] ", "[a:b] "])
def test_too_many(tag):
    """P8: what one message may hold is limited, and the limit is told, never silent."""
    reading = read(tag * 1_000)

    assert len(reading.tags) <= 200
    assert reading.flaws[-1].kind is FlawKind.MALFORMED
