"""Mail by tables of its own: kinds, markers, threads, machines, GitHub's notices (SPEC S3, B3, B5, P1; O27, O28)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.buffer.items import Draft, Ignored, Rejected, Signal
from bot.sources.github.agents import Agents
from bot.sources.github.webhooks import read_webhook
from bot.sources.mail.charsets import decode
from bot.sources.mail.mail import Mailbox
from bot.sources.mail.markup import words_of_html
from bot.sources.mail.quotes import own_words
from bot.sources.mail.reading import read_mail
from bot.sources.mail.threads import Uid

NOON = datetime(2026, 10, 4, 12, 0, tzinfo=UTC)
INBOX = Mailbox(
    name="inbox",
    addresses={"646@box.example": "646", "pip@box.example": "pip", "team@box.example": ""},
    tracks=lambda source, thread: (source, thread) == ("email:inbox", "root@x.example"),
)
TO_646 = {"To": "646@box.example"}
REPLY = {"References": "<root@x.example> <second@x.example>", "In-Reply-To": "<second@x.example>"}


def mail(body: str = "The build is red.", **fields: str) -> bytes:
    """Build a mail; `In_Reply_To` names In-Reply-To, an empty value leaves a field out."""
    usual = {
        "From": "Ann <ann@x.example>",
        "Subject": "Build",
        "Message-ID": "<own@x.example>",
        "Date": "Sun, 4 Oct 2026 09:00:00 +0200",
    }
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [f"{name}: {value}" for name, value in {**usual, **named}.items() if value]
    return "\r\n".join((*lines, "", *body.split("\n"))).encode()


def one(raw: bytes, mailbox: Mailbox = INBOX, **identity) -> Signal:
    [signal] = read_mail(raw, mailbox=mailbox, **identity)
    return signal


def item(raw: bytes, mailbox: Mailbox = INBOX, **identity) -> Draft:
    signal = one(raw, mailbox, **identity)
    assert isinstance(signal, Draft)
    return signal


@pytest.mark.parametrize(
    ("fields", "body", "kind", "marker", "agent"),
    [
        # B3: to an agent is a mention, and P1: a mention asks
        (TO_646, "Look.", "mention", "?", "646"),
        # an address of ours that the routing rules give to somebody
        ({"To": "Team <TEAM@box.example>"}, "Look.", "mention", "?", ""),
        # the first of several agents has it
        ({"To": "pip@box.example, 646@box.example"}, "Look.", "mention", "?", "pip"),
        # a copy is for information
        ({"To": "bob@x.example", "Cc": "646@box.example"}, "Right?", "notification", "", "646"),
        # a blind copy: only the server knows whose mailbox it is
        ({"To": "bob@x.example", "Delivered-To": "pip@box.example"}, "Right?", "notification", "", "pip"),
        # P1: a tracked reply that asks, and one that does not
        ({**TO_646, **REPLY}, "Shall we ship?", "reply", "?", "646"),
        ({**TO_646, **REPLY}, "We shipped.", "reply", "", "646"),
        # a question that is only quoted is not asked again (S17)
        ({**TO_646, **REPLY}, "We shipped.\n> Shall we ship?", "reply", "", "646"),
        # a reply in a thread that nobody follows
        ({**TO_646, "In-Reply-To": "<other@x.example>"}, "We shipped.", "mention", "?", "646"),
        # P1: markers and tags typed in outside text count for nothing
        ({"To": "bob@x.example", "Subject": "[!] [?] [RESULT ml-646-20261004-090000]"}, "[!]", "notification", "", ""),
        # machines and lists never ask, whoever they name
        ({**TO_646, "Auto-Submitted": "auto-generated; owner=x"}, "Why?", "notification", "", "646"),
        ({**TO_646, "Auto-Submitted": "no"}, "Why?", "mention", "?", "646"),
        ({**TO_646, "List-Id": "<dev.x.example>"}, "Why?", "broadcast", "", "646"),
        ({**TO_646, "Precedence": "bulk"}, "Why?", "broadcast", "", "646"),
        ({**TO_646, **REPLY, "List-Unsubscribe": "<https://x.example>"}, "Why?", "broadcast", "", "646"),
        # one of ours to another of ours
        ({"From": "646@box.example", "To": "pip@box.example, 646@box.example"}, "Look.", "mention", "?", "pip"),
    ],
)
def test_kind_marker_and_agent(fields, body, kind, marker, agent):
    found = item(mail(body, **fields))
    assert (found.kind, found.marker, found.agent) == (kind, marker, agent)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        # O28: out-of-office with the header, and without it (RFC 3834)
        ({"Auto-Submitted": "auto-replied", **REPLY}, "automatic answer"),
        ({"Subject": "Automatic reply: Build"}, "automatic answer"),
        ({"Subject": "=?utf-8?q?R=C3=A9ponse_automatique?= : Build"}, "automatic answer"),
        ({"X-Autoreply": "yes"}, "automatic answer"),
        ({"Precedence": "auto_reply"}, "automatic answer"),
        # S18: the null return path
        ({"Return-Path": "<>"}, "bounce"),
        # a postmaster who reports, though no header says so
        ({"From": "postmaster@x.example", "Subject": "Undeliverable: Build"}, "bounce"),
        ({"From": "Mail Delivery System <MAILER-DAEMON@x.example>"}, "bounce"),
        ({"X-Failed-Recipients": "bob@x.example"}, "bounce"),
        ({"Content-Type": "multipart/report; report-type=disposition-notification"}, "bounce"),
        ({"X-Spam-Flag": "YES"}, "junk mail"),
        # S17: what one of ours wrote to others
        ({"From": "646@box.example", "To": "bob@x.example"}, "own action"),
        ({"From": "646@box.example", "To": "646@box.example"}, "own action"),
    ],
)
def test_mail_that_is_ignored(fields, reason):
    assert one(mail(**{**TO_646, **fields})) == Ignored(reason=reason)


@pytest.mark.parametrize("sender", ["postmaster@x.example", "post_master@x.example", "no-reply@x.example"])
@pytest.mark.parametrize(
    "body",
    [
        "Your mail\nCould not be delivered to: <kim@x.example>",
        "Unable to deliver message to <kim@x.example>",
        "Sent <<< RCPT TO:<kim@x.example>\nReceived >>> 550 5.1.1 <kim@x.example>... gone",
        "550 - Requested action not taken: no such user here",
    ],
)
def test_a_mail_system_that_reports_in_its_own_words_is_ignored(sender, body):
    """S3: free text of any gateway; its sender and its words together tell it."""
    assert one(mail(body, From=sender, Subject="Notice")) == Ignored(reason="bounce")
    assert isinstance(one(mail(body, Subject="Notice")), Draft), "a person may tell of it"


def test_what_has_no_header_of_a_mail_is_quarantined():
    """B4, S3: a file of something else is a bad row with its reason, not a nameless item."""
    for raw in (b"\x89PNG\r\n\x1a\n\x00\x00", b"just words\n\nmore", b"{}", b"key: value\n\nbody"):
        signal = one(raw)
        assert isinstance(signal, Rejected)
        assert "no mail" in signal.reason
        assert "\x00" not in signal.row


@pytest.mark.parametrize(
    ("kind", "body", "shown"),
    [
        ("multipart/mixed; boundary=X_", "--X\nContent-Type: text/plain\n\nmessage 1\n\n--X--", "message 1"),
        ('text/html; boundary="--96"', "----96\nContent-Type: text/html;\n\n<b>Hello</b>\n\n----96--", "Hello"),
        ("text/plain", "-- not a seam, but words", "-- not a seam, but words"),
    ],
)
def test_the_seams_of_parts_are_not_its_words(kind, body, shown):
    """B1: the summary is what was said, also where the parts cannot be told apart."""
    assert item(mail(body, Content_Type=kind)).summary.endswith(f": {shown}")


def test_postmaster_may_write_like_anybody():
    assert item(mail(From="postmaster@x.example", **TO_646)).kind == "mention"


def test_reply_to_a_failure_is_no_failure():
    assert item(mail(Subject="Re: Undeliverable: Build", **TO_646)).kind == "mention"


@pytest.mark.parametrize(
    ("fields", "author"),
    [
        ({"From": "Ann <Ann@X.example>"}, "ann@x.example"),
        ({"From": "a@x.example, b@x.example"}, "a@x.example"),  # the first of several
        ({"From": '"Eve, <boss@x.example>" <eve@x.example>'}, "eve@x.example"),  # a quoted name is no address
        ({"From": "eve@x.example (boss, boss@x.example)"}, "eve@x.example"),  # nor is a comment
        ({"From": "", "Sender": "s@x.example"}, "s@x.example"),  # missing
        ({"From": "", "Return-Path": "<r@x.example>"}, "r@x.example"),
        ({"From": ""}, "ghost"),
        ({"From": "Ann", "Sender": "s@x.example"}, "ghost"),  # there, and naming nobody
    ],
)
def test_author(fields, author):
    assert item(mail(**TO_646, **fields)).author == author


@pytest.mark.parametrize(
    ("fields", "thread", "key"),
    [
        ({}, "own@x.example", "email:own@x.example"),
        (REPLY, "root@x.example", "email:own@x.example"),
        ({"In-Reply-To": "<second@x.example>"}, "second@x.example", "email:own@x.example"),
        ({"In-Reply-To": "your mail of Monday", "References": "<none>"}, "own@x.example", "email:own@x.example"),
        ({"Message-ID": "own@x.example"}, "own@x.example", "email:own@x.example"),  # brackets forgotten
    ],
)
def test_thread_and_key(fields, thread, key):
    found = item(mail(**TO_646, **fields))
    assert (found.thread_id, found.event_key) == (thread, key)


def test_mail_without_id_keeps_its_key_when_the_server_renumbers():
    """The key comes from what the mail says; a new UIDVALIDITY must not make it new (S3)."""
    raw = mail(**TO_646, Message_ID="")
    first, second = (item(raw, uid=Uid(validity=validity, number=1)) for validity in (1, 2))
    assert first == second
    assert first.event_key != item(mail("Other words.", **TO_646, Message_ID="")).event_key


def test_mail_that_says_nothing_is_known_by_its_number():
    raw = b"Sender: s@x.example\n\n"
    found = item(raw, uid=Uid(validity=7, number=9))
    assert (found.thread_id, found.event_key) == ("uid-7-9", "email:uid-7-9")


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Sun, 4 Oct 2026 09:00:00 +0200", "2026-10-04T07:00:00+00:00"),
        ("Sun, 4 Oct 2026 09:00:00 -0000", "2026-10-04T09:00:00+00:00"),  # no zone is known (RFC 5322 §3.3)
        ("Mon, 1 Jan 2091 00:00:00 +0000", "2091-01-01T00:00:00+00:00"),  # the buffer clamps and takes note
        ("yesterday", NOON.isoformat()),
        ("31 Dec 9999 23:59:59 -2359", NOON.isoformat()),  # no such moment in UTC
        ("", NOON.isoformat()),
    ],
)
def test_date_or_when_it_was_received(date, expected):
    found = item(mail(**TO_646, Date=date), received_at=NOON)
    assert found.event_at == datetime.fromisoformat(expected)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yes.\n\nOn Mon, Apr 2, 2012 at 6:26 PM, Ann <\nann@x.example> wrote:\n> Ship?", "Yes."),  # wrapped
        ("Ja.\n\nAm 02.04.2012 um 18:26 schrieb Ann:\n> Jetzt?", "Ja."),
        ("Oui.\n\nLe lun. 2 avr. 2012 à 18:26, Ann <a@x.example> a écrit :\n> Alors ?", "Oui."),
        ("好。\n\n2012年4月2日 18:26，Ann 写道：\n> 好吗", "好。"),  # noqa: RUF001 (as Chinese mail programs write)
        ("> Ship?\nYes.\n> And the docs?\nLater.", "Yes.\nLater."),  # between
        ("On 2 April Ann wrote:\n> Ship?\n\nYes.", "Yes."),  # below
        ("Yes.\n\nOn 2 April Ann wrote:\nShip?", "Yes."),  # no marks: all below the attribution is quoted
        ("On 2 April, Ann <ann@x.example>wrote:\n\n> Ship?\n\nYes.", "Yes."),  # some leave out the space
        ("Yes.\n\n-----Original Message-----\nFrom: Ann\nSent: Monday\n\nShip?", "Yes."),
        ("Yes.\n\n________________________________\nFrom: Ann\nSent: Monday", "Yes."),
        ("Yes.\n\nVon: Ann\nGesendet: Montag\nAn: Bob\n\nJetzt?", "Yes."),
        ("Yes.\n-- \nBob\n+1 555 0100", "Yes."),  # RFC 3676 §4.3
        ("Yes.\n\nSent from my iPhone", "Yes."),
        ("Do:\n- this\n- that\nThanks", "Do:\n- this\n- that\nThanks"),  # a list is no signature
        ("On the matter: 3 of us wrote to you.\nShip?", "On the matter: 3 of us wrote to you.\nShip?"),
        ("From: Oslo is nicer.\nShip?", "From: Oslo is nicer.\nShip?"),  # one field makes no copied header
    ],
)
def test_own_words(text, own):
    assert own_words(text) == own


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<p>Hello <b>you</b> &amp; me</p>", "Hello you & me"),
        ("<style>p {}</style><script>if (a<b) {}</script>Hi<br>there", "Hi\nthere"),
        ("New<blockquote>old<blockquote>older</blockquote>old</blockquote><p>too", "New\n\ntoo"),
        ("a < b <!-- not > this --> c", "a < b  c"),
        ("no end <a href=", "no end"),
        ("&#" + "9" * 5000 + ";x", "x"),  # Python refuses to read such a number
    ],
)
def test_words_of_html(markup, words):
    assert words_of_html(markup).strip() == words


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b"\xe9", "iso-8859-1", "é"),
        (b"\x93x\x94", "iso-8859-1", "“x”"),  # what Windows means by it
        ("é".encode(), "no-such-charset", "é"),  # O27: LookupError in naive code
        (b"\xe9", "no-such-charset", "é"),
        ("é".encode(), "us-ascii", "é"),  # declared wrongly, and valid UTF-8
        (b"\xe9", "us-ascii", "\ufffd"),
        (b"cafe", "unicode_escape", "cafe"),  # a codec that is no charset
        (b"\\u0041", "unicode_escape", "\\u0041"),
    ],
)
def test_charset(data, charset, text):
    assert decode(data, charset) == text


def test_html_is_read_where_the_plain_part_says_nothing():
    body = "--b\nContent-Type: text/plain\n\n \n--b\nContent-Type: text/html\n\n<p>Red.</p>\n--b--"
    found = item(mail(body, **TO_646, Content_Type="multipart/alternative; boundary=b"))
    assert found.summary == "Build: Red."


def test_link_of_a_list_archive_is_kept():
    """RFC 5064; anything but a web address is no link."""
    assert item(mail(Archived_At="<https://x.example/1>")).url == "https://x.example/1"
    assert item(mail(Archived_At="<javascript:x>")).url == ""


def test_only_the_beginning_of_a_large_mail_is_read():
    found = item(mail("First.\n" + "x" * 50_000_000, **TO_646))
    assert found.summary == "Build: First."


def test_mail_of_many_nested_parts_is_read_by_its_headers():
    nested = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(90))
    found = item(mail(nested + "deep", **TO_646, Content_Type="multipart/mixed; boundary=b"))
    assert found.summary == "Build"


COMMENT = {
    "From": "octocat <notifications@github.com>",
    "To": "acme/app <app@noreply.github.com>",
    "Cc": "pip <pip@box.example>, Mention <mention@noreply.github.com>",
    "Subject": "Re: [acme/app] Fix the build (PR #218)",
    "Message-ID": "<acme/app/pull/218/c42@github.com>",
    "In-Reply-To": "<acme/app/pull/218@github.com>",
    "List-ID": "acme/app <app.acme.github.com>",
    "Precedence": "list",
    "X-GitHub-Reason": "mention",
    "X-GitHub-Sender": "octocat",
    "X-GitHub-Recipient": "pip-bot",
}
SAID = "@pip-bot is this ready?\n\n-- \nReply to this email directly or view it on GitHub:\n"
LINK = "https://github.com/acme/app/pull/218#issuecomment-42"


def test_github_notice_is_the_webhooks_happening():
    """One happening by webhook and by mail has one source, thread, author and key (S1, B5)."""
    payload = {
        "action": "created",
        "issue": {"number": 218, "title": "Fix the build", "pull_request": {}, "user": {"login": "ann"}},
        "comment": {"id": 42, "body": SAID, "user": {"login": "octocat"}, "html_url": LINK},
        "repository": {"full_name": "acme/app", "owner": {"login": "acme"}},
        "sender": {"login": "octocat"},
    }
    [hooked] = read_webhook("issue_comment", payload, agents=Agents(logins={"pip-bot": "pip"}))
    mailed = item(mail(SAID + LINK, **COMMENT))
    assert isinstance(hooked, Draft)
    for name in ("source", "thread_id", "author", "kind", "marker", "agent", "event_key", "url", "mentions"):
        assert getattr(mailed, name) == getattr(hooked, name), name


@pytest.mark.parametrize(
    ("fields", "body", "kind", "marker"),
    [
        # a mention sticks to the thread as its reason: what was said must name the reader
        ({}, "Merged, thanks.", "reply", ""),
        ({}, "Who merges?", "reply", "?"),
        ({"X-GitHub-Reason": "team_mention"}, "@acme/ops look", "mention", "?"),
        ({"X-GitHub-Recipient": ""}, "Look.", "mention", "?"),  # nobody says who reads
        ({"X-GitHub-Reason": "review_requested", "Message-ID": "<acme/app/pull/218@github.com>"}, "Please.",
         "review_request", "?"),
        ({"X-GitHub-Reason": "subscribed"}, "Why?", "notification", ""),
        ({"X-GitHub-Reason": "brand_new"}, "Why?", "brand_new", ""),  # counted by the buffer (B3)
        ({"X-GitHub-Reason": "<b>"}, "Why?", "unknown", ""),
    ],
)  # fmt: skip
def test_reason_of_a_github_notice(fields, body, kind, marker):
    found = item(mail(body, **{**COMMENT, **fields}))
    assert (found.kind, found.marker, found.source) == (kind, marker, "github:acme/app")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        # requests and assignments have no id: by reader and minute, or day
        ({"X-GitHub-Reason": "review_requested"}, "github:acme/app#218:review_requested:pip-bot:2026-10-04T07:00"),
        ({"X-GitHub-Reason": "assign"}, "github:acme/app#218:assigned:pip-bot:2026-10-04"),
        ({"X-GitHub-Reason": "subscribed"}, "github:acme/app#218:opened"),
    ],
)
def test_key_of_a_github_notice_about_the_subject(fields, key):
    found = item(mail(**{**COMMENT, "Message-ID": "<acme/app/pull/218@github.com>", **fields}))
    assert (found.event_key, found.url) == (key, "https://github.com/acme/app/pull/218")


def test_own_activity_at_github_is_no_news():
    assert one(mail(**{**COMMENT, "X-GitHub-Reason": "your_activity"})) == Ignored(reason="own action")


OURS = replace(INBOX, authserv_id="mx.box.example")
PASSED = "mx.box.example; spf=pass; dkim=pass header.d=github.com header.s=pf2023"


@pytest.mark.parametrize(
    ("mailbox", "fields", "believed"),
    [
        (INBOX, {}, True),
        (INBOX, {"Authentication-Results": "mx; dmarc=fail header.from=github.com"}, False),
        (INBOX, {"From": "octocat <notifications@github.example>"}, False),
        (OURS, {}, False),  # our server was named, and says nothing
        (OURS, {"Authentication-Results": PASSED}, True),
        (OURS, {"Authentication-Results": PASSED.replace("dkim=pass", "dkim=fail")}, False),
        (OURS, {"Authentication-Results": PASSED.replace("mx.box", "mx.evil")}, False),
        (OURS, {"Authentication-Results": PASSED.replace("d=github.com", "d=evil.example")}, False),
        (OURS, {"Authentication-Results": "mx.box.example; dmarc=pass header.from=github.com"}, True),
        # below the topmost stands what the sender wrote himself
        (OURS, {"Authentication-Results": "mx.box.example; dkim=none\r\nAuthentication-Results: " + PASSED}, False),
    ],
)
def test_forged_notice_cannot_stand_for_a_real_comment(mailbox, fields, believed):
    found = item(mail(SAID, **{**COMMENT, **fields}), mailbox)
    key = "github:acme/app:comment:42" if believed else "email:acme/app/pull/218/c42@github.com"
    assert (found.event_key, found.kind) == (key, "mention" if believed else "broadcast")
