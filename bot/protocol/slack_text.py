"""The words of a Slack message (SPEC P8): which part of the payload is read, and Slack's encoding undone.

One source is read and never two, the first of: `text`; the blocks, flattened into the form that `text` has; the
message's own attachments. Forwarded messages and unfurls are other people's words and are not read at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

# A scan for `<` stops at the next angle bracket, so that forty thousand of them cost one pass.
_LINK = re.compile(r"<(?:(?P<address>https?://[^|<>\s]+)|(?:mailto|tel):(?P<bare>[^|<>\s]+))(?:\|[^<>]*)?>")
# Slack's own stand-in for a message that has blocks only.
_NO_TEXT = frozenset({"This content can't be displayed.", "This content can\u2019t be displayed."})
_STYLES = (("code", "`"), ("bold", "*"), ("italic", "_"), ("strike", "~"))
# How Slack writes an inline element in `text`, and which key holds its value; anything else is words.
_PIECES = {
    "link": ("<{}>", "url"),
    "user": ("<@{}>", "user_id"),
    "usergroup": ("<!subteam^{}>", "usergroup_id"),
    "channel": ("<#{}>", "channel_id"),
    "broadcast": ("<!{}>", "range"),
    "emoji": (":{}:", "name"),
    "date": ("{}", "fallback"),
}
_FORWARDED = ("is_share", "is_msg_unfurl", "from_url", "original_url")


def undo(text: str) -> str:
    """Return the text as its writer saw it: links as their address, entities decoded once."""
    if "<" in text:
        text = _LINK.sub(lambda found: found["address"] or found["bare"], text)
    if "&" in text:  # the ampersand last, or `&amp;lt;` would be decoded twice
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text


def message_text(message: Mapping[str, object]) -> str:
    """Return the text to read from a message payload, still Slack-encoded; empty when there are no own words."""
    text = _string(message, "text")
    if text.strip() and text.strip() not in _NO_TEXT:
        return text
    return _blocks(_maps(message, "blocks")) or _attachments(_maps(message, "attachments"))


def _attachments(attachments: Sequence[Mapping[str, object]]) -> str:
    own = [one for one in attachments if not any(one.get(key) for key in _FORWARDED)]
    parts = [part for one in own for part in (_string(one, "pretext"), _string(one, "text") or _nested(one))]
    return "\n".join(part for part in parts if part.strip())


def _nested(attachment: Mapping[str, object]) -> str:
    return _blocks(_maps(attachment, "blocks"))


def _blocks(blocks: Sequence[Mapping[str, object]]) -> str:
    return "\n".join(line for block in blocks for line in _block(block) if line.strip())


def _block(block: Mapping[str, object]) -> Iterator[str]:
    """Yield the texts of a block; buttons, images and context lines are furniture, not words."""
    match block.get("type"):
        case "rich_text":
            yield from (_rich(element) for element in _maps(block, "elements"))
        case "section" | "header":
            yield _string(_map(block, "text"), "text")
            yield from (_string(field, "text") for field in _maps(block, "fields"))
        case "markdown":
            yield _string(block, "text")
        case _:
            return


def _rich(element: Mapping[str, object]) -> str:
    match element.get("type"):
        case "rich_text_quote":
            return "\n".join(f"&gt; {line}" for line in _inline(element).split("\n"))
        case "rich_text_preformatted":
            return f"```\n{_inline(element, styled=False)}\n```"
        case "rich_text_list":
            return _list(element)
        case _:
            return _inline(element).rstrip("\n")


def _list(element: Mapping[str, object]) -> str:
    ordered = element.get("style") == "ordered"
    rows = [_inline(row) for row in _maps(element, "elements")]
    return "\n".join(f"{number}. {row}" if ordered else f"• {row}" for number, row in enumerate(rows, 1))


def _inline(element: Mapping[str, object], *, styled: bool = True) -> str:
    pieces = _maps(element, "elements")
    return "".join(_styled(_piece(piece), _map(piece, "style")) if styled else _piece(piece) for piece in pieces)


def _piece(piece: Mapping[str, object]) -> str:
    shape, key = _PIECES.get(_string(piece, "type"), ("{}", "text"))
    value = _string(piece, key)
    return value.join(shape.split("{}")) if shape != "{}" else _escape(value)


def _styled(text: str, style: Mapping[str, object]) -> str:
    """Put the signs around each line's words, as Slack does, since a style never reaches over a line end."""
    for name, sign in _STYLES:
        if style.get(name):
            text = "\n".join(_around(line, sign) for line in text.split("\n"))
    return text


def _around(line: str, sign: str) -> str:
    words = line.strip()
    return line.replace(words, f"{sign}{words}{sign}", 1) if words else line


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _string(holder: Mapping[str, object], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _map(holder: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = holder.get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _maps(holder: Mapping[str, object], key: str) -> Sequence[Mapping[str, object]]:
    value = holder.get(key)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return [cast("Mapping[str, object]", one) for one in value if isinstance(one, Mapping)]
