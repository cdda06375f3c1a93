"""What Slack makes of text, as tables."""

import pytest

from bot.sandbox.richtext import rich_text
from bot.sandbox.text import parsed, typed


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("[JOB ml-646-20261004-213000] done", "[JOB ml-646-20261004-213000] done"),  # our ids are left alone
        ("a < b & c", "a &lt; b &amp; c"),  # stray characters are escaped
        ("a &lt; b &amp; c", "a &lt; b &amp; c"),  # what was escaped is not escaped again
        ("https://x.io/a.", "<https://x.io/a>."),  # the full stop is not in the address
        ("see notes.md", "see <http://notes.md|notes.md>"),
        ("a@b.io", "<mailto:a@b.io|a@b.io>"),
        ("<https://x.io|label> <@U1> <!here>", "<https://x.io|label> <@U1> <!here>"),
        ("`foo.md` and ```bar.md```", "`foo.md` and ```bar.md```"),  # no links in code
        ("done ✅", "done :white_check_mark:"),
        ("> quoted", "&gt; quoted"),
        ("v1.2.3 and e.g. this", "v1.2.3 and e.g. this"),
    ],
)
def test_api_text_comes_back_parsed(sent, shown):
    assert parsed(sent) == shown


def test_parse_none_makes_no_links():
    assert parsed("see notes.md", link=False) == "see notes.md"


def test_what_a_person_types_is_escaped_but_for_mentions():
    assert typed("<@U00000001> <https://x.io|bank> & co") == "<@U00000001> &lt;<https://x.io>|bank&gt; &amp; co"


def _plain(text, **style):
    return {"type": "text", "text": text} | ({"style": style} if style else {})


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("a &amp; b", [("rich_text_section", [_plain("a & b")])]),
        ("&gt; old\nnew", [("rich_text_quote", [_plain("old")]), ("rich_text_section", [_plain("new")])]),
        ("```code```", [("rich_text_preformatted", [_plain("code")])]),
        ("~no~ `id`", [("rich_text_section", [_plain("no", strike=True), _plain(" "), _plain("id", code=True)])]),
        (
            "<@U1>:eyes:",
            [("rich_text_section", [{"type": "user", "user_id": "U1"}, {"type": "emoji", "name": "eyes"}])],
        ),
        ("<https://x.io|y>", [("rich_text_section", [{"type": "link", "url": "https://x.io", "text": "y"}])]),
    ],
)
def test_text_gets_a_rich_text_block(text, elements):
    block = rich_text(text, "b")
    assert [(element["type"], element["elements"]) for element in block["elements"]] == elements


def test_bullets_become_a_list():
    (element,) = rich_text("• one\n• two", "b")["elements"]
    assert (element["type"], len(element["elements"])) == ("rich_text_list", 2)
