"""Every mail of the case files against the words of its manifest (SPEC S3, B3, B5, P1)."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from bot.buffer.ingest import Defaults, Note, admit
from bot.buffer.items import Draft, Ignored, Signal
from bot.sources.mail.bodies import leaves
from bot.sources.mail.mail import Mailbox
from bot.sources.mail.reading import read_mail

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "cases" / "email"
NOBODY = Mailbox(name="inbox")  # no address configured: each mail is to us, each thread tracked
NOW = datetime(2026, 10, 4, 12, 0, tzinfo=UTC)

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the case files are not here: {FOLDER}")


def manifest() -> dict[str, dict[str, Any]]:
    if not FOLDER.is_dir():
        return {}
    return {row["file"]: row for row in json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))}


def read(name: str, mailbox: Mailbox = NOBODY) -> Signal:
    [signal] = read_mail((FOLDER / name).read_bytes(), mailbox=mailbox)
    return signal


@dataclass(frozen=True)
class Item:
    """What an item must be; the key is the thread's unless said otherwise, and one that ends in `*` is a digest."""

    kind: str
    author: str
    summary: str
    thread: str = "sum-*"
    key: str = ""
    labels: tuple[str, ...] = ()
    at: str = ""

    def matches(self, draft: Draft) -> None:
        assert (draft.kind, draft.author, draft.summary) == (self.kind, self.author, self.summary)
        assert draft.marker == {"mention": "?"}.get(self.kind, "")
        assert draft.source == "email:inbox"
        assert _same(draft.thread_id, self.thread)
        assert _same(draft.event_key, "email:" + (self.key or self.thread))
        assert draft.labels == self.labels
        assert not self.at or draft.event_at == datetime.fromisoformat(self.at)


def _same(found: str, expected: str) -> bool:
    return found.startswith(expected[:-1]) if expected.endswith("*") else found == expected


BOUNCE = Ignored(reason="bounce")

# file -> what it becomes. The comment quotes the words of `expect` that the row encodes.
EXPECTED: dict[str, Item | Ignored] = {
    # "one item (digest) or five: documented": one, a broadcast
    "01_digest_mailman_multipart_digest.eml": Item(
        "broadcast",
        "ppp-request@host1.example",
        "Ppp digest, Vol 1 #2 - 5 msgs: Send Ppp mailing list submissions to",
        labels=("is:list",),
    ),
    "02_dsn_wrong_shape.eml": BOUNCE,  # "classified bounce or ignored, never a job"
    "03_dsn_quota_with_original.eml": BOUNCE,  # "no job, no reply", though it has the list's own headers
    # "defect recorded, body kept"
    "05_no_separator_after_headers.eml": Item(
        "mention",
        "user1@host1.example",
        "here's something interesting: counter to RFC 2822, there's no separating newline here",
        labels=("is:malformed",),
    ),
    # "treated as text/plain"
    "06_content_type_no_subtype.eml": Item(
        "mention",
        "user1@host3.example",
        "This is a test message: Hi,",
        thread="15090.61304.110929.45684@mx4.host1.example",
    ),
    # "key falls back safely": <xxxx> has no @ and names nothing
    "07_same_boundary_nested.eml": Item("mention", "user1@host3.example", "XX: Some removed test."),
    # "no crash"; the attachment is not read
    "08_attachment_riscos_crlf.eml": Item(
        "mention",
        "user1@mx5.host1.example",
        "IMAP file test: Simple email with attachment.",
        thread="6df65d354b.user1@mx4.host1.example",
    ),
    # "decoded; synthetic key from stable fields"
    "09_rfc2231_charset.eml": Item(
        "broadcast",
        "user2@example.com",
        "Re: Limiting Perl CPU Utilization...: Some message.",
        labels=("is:list",),
    ),
    # "both parts found": the first says what the mail says, and a test below finds both
    "10_signed_rfc2231_boundary.eml": Item(
        "broadcast", "user2@example.com", "Re: Limiting Perl CPU Utilization...: part 1", labels=("is:list",)
    ),
    # "key from outer or inner, documented; text extracted": the outer, since a forward is a happening of its own
    "11_groupwise_message_rfc822_toplevel.eml": Item(
        "mention",
        "user1@example.net",
        "GroupwiseForwardingTest: Testing email forwarding with Groupwise 1.2.2010",
    ),
    # "body text still shown"
    "13_multipart_without_boundary.eml": Item(
        "mention", "user1@example.com", "64423: Blah blah blah", labels=("is:malformed",)
    ),
    # "all three read": see the test of recipients below
    "14_three_cc_headers.eml": Item(
        "mention",
        "user1@host3.example",
        "This is a test message: Hi,",
        thread="15090.61304.110929.45684@mx4.host1.example",
    ),
    "15_headers_only_no_from.eml": Ignored(reason="empty mail"),  # "item or skip, no crash"
    # the "actor" is "bob (addr-spec), display flagged"
    "18_address_as_display_name.eml": Item(
        "mention",
        "bob@example.com",
        "Test email with email address as display name: "
        "This email tests parsing of address headers where the display name is itself",
        thread="test-email-as-name@example.com",
        labels=("is:misleading-name",),
    ),
    "19_dsn_slashes_in_boundary.eml": BOUNCE,  # "no job"
    "21_precedence_junk_gtube.eml": Ignored(reason="junk mail"),  # "no job"
    # "decoded"
    "22_shift_jis_8bit.eml": Item("mention", "user2@host1.example", "test: あいうえお", thread="user3@host1.example"),
    # "decoded; ESC never reaches the log/terminal"
    "23_iso2022jp_with_utf8_headers.eml": Item("mention", "user1@host1.example", "まみむめも: すみません。"),
    # "decoded"
    "24_ks_c_5601_1987.eml": Item("mention", "user2@example.com", "test: 스티해", thread="user2@example.com"),
    # "decoded; address kept"
    "25_smtputf8_raw_utf8_headers.eml": Item("mention", "jdöuser1@host1.exampleächine.example", "Säying Hello: body"),
    # "subject shown raw or decoded as latin-1": decoded, the base64 can be read
    "26_unknown_encoded_word_charset.eml": Item("mention", "ghost", "TEST: TEST"),
    # "no crash"
    "27_raw_utf8_and_empty_reply_to.eml": Item(
        "mention",
        "no-reply@mx4.host3.example",
        "eBay Bid - 2008 Ford Super Duty F-350 DRW King Ranch Crew Cab 4x4 (156) - Stock# XXXX: Body Text",
        thread="201009220730.o8M7Urh3018672@mx7.host3.example",
    ),
    # "thread found from the valid ids": the first of them is the root
    "28_references_twice_one_broken.eml": Item(
        "reply",
        "user1@host2.example",
        "Redacted: foo",
        thread="user2@host4.example",
        key="105647271315.NCV17523@host1.example",
        labels=("is:malformed",),
    ),
    # "not threaded to the empty id": it begins its own thread
    "29_empty_in_reply_to.eml": Item(
        "broadcast",
        "user1@host2.example",
        "illegal copy of our patient education software",
        thread="F194F88AF3E341A6B2B135CC17912811@host1.example",
        labels=("is:list", "is:malformed"),
    ),
    # "received time used; priority not skewed": of Received, where the server says nothing
    "30_bad_date.eml": Item(
        "mention",
        "enews@host3.example",
        "40% OFF holiday patterns and fabric!",
        thread="201012150659.oBF6xAuc018214@mx4.host1.example",
        labels=("is:malformed",),
        at="2010-12-14T22:59:10-08:00",
    ),
    # "no crash"
    "31_declared_multipart_no_body.eml": Item(
        "mention",
        "user1@host4.example",
        "REDACTED",
        thread="001301c17797$9cd0ef30$a3ab620c@host1.example",
        labels=("is:malformed",),
    ),
    # "no crash"; U+FFFD is what the sender sent
    "32_must_supply_encoding.eml": Item(
        "mention",
        "info@host3.example",
        "Impress your clients with a business phone\ufffd\ufffd\ufffd",
        thread="201011141741.oAEHfiKs020181@mx5.host1.example",
        labels=("is:malformed",),
    ),
    # "joins the thread job": by the root of References
    "33_reply_flowed_threaded.eml": Item(
        "reply",
        "user1@host5.example",
        "Re: Test reply email: Message body",
        thread="473FF3B8.9020707@host5.example",
        key="473FFE27.20003@host5.example",
    ),
    # "no crash; actor unknown"; without Content-Type it is plain text, tags and all
    "34_from_without_comma.eml": Item(
        "mention",
        "ghost",
        "/home/svn/public/minebox revision 214: "
        "<p><b>user9</b> 2007-10-22 23:45:23 +0000 (Mon, 22 Oct 2007)</p><p>test",
        thread="20071022234523.5BD8E86D2@host1.example",
    ),
    # "id kept verbatim as key"
    "35_euc_kr_msgid_many_ats.eml": Item(
        "mention",
        "user3@host1.example",
        "NOTE: 한국말로 하는 것: 대부분의 마찬가지로, 우리는 하나님을 믿습니다.",
        thread="d3b8cf8e49f0448085@0c28713a1@f473e@host1.example",
    ),
    # "one actor"
    "36_two_from_headers_in_mime.eml": Item(
        "reply",
        "tester1@host1.example",
        "Sending messages include last little bit: When sending email:",
        thread="8fc5086d0912020131y377ba0ccpf8f14783cfc3014a@host1.example",
        key="8fc5086d0912020139y1564ad32jb4f4209fa464f4a6@host1.example",
    ),
    # "no header injection", and the "body not promoted"
    "37_blank_line_inside_to.eml": Item(
        "mention",
        "user2@host5.example",
        '[Online Lead] Online Lead #1111111: <?xml version="1.0" encoding="UTF-8"?>',
        thread="4cb5c7d0a3cce_120e..fdbed2b861958562@mx5.host1.example",
    ),
    # "no crash; subject missing"
    "38_cte_spam_garbled_headers.eml": Item(
        "mention",
        "user3@host3.example",
        "(no subject): middagh oldusercompare",
        thread="35FDF82F.D000339@host3.example",
    ),
    # "parts found"
    "39_illegal_unquoted_boundary.eml": Item(
        "mention",
        "user1@host4.example",
        "Testing outlook: Hello",
        thread="009601c813c6$19df3510$0437d30a@host3.example",
    ),
    # "decoded with fallback; message not retried forever"
    "40_unknown_charset_iso2022esc.eml": Item(
        "mention",
        "user1@mx5.host2.example",
        "Apply For Loans @ 2% Per Annum: We offer loans to private individuals and corporate organizations at 2% "
        "interest rate. Interested serious applicants should apply via email with details of their requirements.",
    ),
    # "replacement"
    "41_eight_bit_in_us_ascii.eml": Item(
        "mention",
        "user1@host1.example",
        "Tjest Wrong: " + " ".join("\ufffd" * length for length in (3, 9, 5, 12, 9)) + ".",
    ),
    # "attached text is not the author's reply"
    "44_attached_message_rfc822.eml": Item(
        "mention",
        "user1@host1.example",
        "Email with RFC 822 attachment: Dear Sir or Madam,",
        thread="ce1f843c1a2d4de7a0c7c78c84a50f8d@host1.example",
    ),
    "45_dsn_delayed_warning.eml": BOUNCE,  # "no job"
    "46_qmail_failure_notice.eml": BOUNCE,  # "recognised by empty/MAILER-DAEMON sender"
    "47_exim_failure_free_text.eml": BOUNCE,  # "outer headers decide"
    "49_bounce_text_in_html_type.eml": BOUNCE,  # "bounce: no item"
    "50_auto_replied_overquota.eml": BOUNCE,  # "must not ACK/close/re-open the job it replies to"
    # "only "Hello" is the new text", here and in the four below
    "52_reply_gmail.eml": Item(
        "mention",
        "user1@host1.example",
        "Re: Test: Hello",
        thread="CAKsfaBW4hj0Gek6TwbR3erng4P1y0CZzJ0d=pXtCNnYnbe7PLg@mx5.host1.example",
    ),
    "53_reply_thunderbird.eml": Item(
        "mention", "user1@mx4.host1.example", "Re: Test: Hello", thread="4F79B73C.9030506@mx4.host1.example"
    ),
    "55_reply_hotmail.eml": Item(
        "mention",
        "user1@host2.example",
        "RE: Test: Hello",
        thread="DUB102-W192C6E94759954C4885B92B14C0@host1.example",
    ),
    "56_reply_apple_mail_2.eml": Item(
        "reply",
        "user1@host3.example",
        "Re: Hello there: Hello",
        thread="CABzQGhkMXDxUt_tSVQcg=43aniUhtsVfCZVzu-PG0kwS_uzqMw@mx5.host1.example",
        key="68001B29-8EA4-444C-A894-0537D2CA5208@host3.example",
    ),
    "57_reply_iphone.eml": Item(
        "mention",
        "user1@host1.example",
        "Re: Test: Hello",
        thread="06C90B12-13B9-4C5F-A9EF-4A809D94C078@host1.example",
    ),
}


def test_no_mail_of_the_manifest_is_left_out():
    assert sorted(EXPECTED) == sorted(manifest()) == sorted(path.name for path in FOLDER.glob("*.eml"))


@pytest.mark.parametrize("name", EXPECTED)
def test_mail_becomes_what_its_manifest_expects(name):
    expected, found = EXPECTED[name], read(name)
    if isinstance(expected, Ignored):
        assert found == expected
    else:
        assert isinstance(found, Draft)
        expected.matches(found)


@pytest.mark.parametrize("name", ["52", "53", "55", "56", "57"])
def test_reply_is_only_its_new_words(name):
    [file] = [one for one in manifest() if one.startswith(name)]
    found = read(file)
    assert isinstance(found, Draft)
    assert found.content == "Hello"


def test_both_parts_of_a_signed_mail_are_found():
    message = message_from_bytes((FOLDER / "10_signed_rfc2231_boundary.eml").read_bytes())
    assert [part.get_payload().strip() for part in leaves(message)] == ["part 1", "part 2"]


def test_each_of_three_copies_is_read():
    found = read("14_three_cc_headers.eml")
    assert isinstance(found, Draft)
    assert found.mentions == tuple(f"user{n}@host1.example" for n in (1, 2, 3, 4))


def test_two_mails_with_an_id_that_is_none_do_not_collide():
    """`<xxxx>` of file 07: the words tell the two apart."""
    raw = (FOLDER / "07_same_boundary_nested.eml").read_bytes()
    first, second, again = (
        read_mail(one, mailbox=NOBODY)[0] for one in (raw, raw.replace(b"removed test", b"other test"), raw)
    )
    assert isinstance(first, Draft)
    assert isinstance(second, Draft)
    assert first.event_key != second.event_key
    assert first == again


def test_words_after_a_blank_line_in_to_stay_words():
    """File 37: what follows the folded blank line is still To, and the body adds no header."""
    found = read("37_blank_line_inside_to.eml")
    assert isinstance(found, Draft)
    assert found.mentions[-1] == "user8@host12.example"
    assert len(found.mentions) == 6


def test_thread_that_nobody_follows_is_a_mention_and_a_tracked_one_a_reply():
    """File 33 joins the thread's job where the thread is tracked; to our address it is a mention otherwise."""
    name, address = "33_reply_flowed_threaded.eml", {"user2@host6.example": "646"}
    tracked = Mailbox(
        name="inbox", addresses=address, tracks=lambda _, thread: thread == "473FF3B8.9020707@host5.example"
    )
    for mailbox, kind in ((Mailbox(name="inbox", addresses=address), "mention"), (tracked, "reply")):
        found = read(name, mailbox)
        assert isinstance(found, Draft)
        assert (found.kind, found.agent) == (kind, "646")


@pytest.mark.parametrize("name", EXPECTED)
def test_item_is_fit_for_the_buffer_and_its_date_is_clamped(name):
    """None of these mails is younger than a year: each date is clamped and noted (S3), and no ESC is left (file 23)."""
    found = read(name)
    if isinstance(found, Draft):
        admission = admit(found, now=NOW, item_id="em-1", agent="", defaults=Defaults())
        assert "\x1b" not in admission.item.content_summary
        assert (Note.EVENT_TOO_OLD in admission.notes) is (found.event_at is not None)
