"""The `rich_text` block that Slack adds to a message that was written as text."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from bot.sandbox.world import Json

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_QUOTE, _BULLET = "&gt;", "•"
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|(?<![\w*])\*(?P<bold>[^*\n]+)\*(?![\w*])"
    r"|(?<!\w)_(?P<italic>[^_\n]+)_(?!\w)"
    r"|(?<![\w~])~(?P<strike>[^~\n]+)~(?![\w~])"
    r"|<@(?P<user>[A-Z0-9]+)(?:\|[^>]*)?>"
    r"|<#(?P<channel>[A-Z0-9]+)(?:\|[^>]*)?>"
    r"|<!(?P<broadcast>here|channel|everyone)(?:\|[^>]*)?>"
    r"|<(?P<link>[a-z]+:[^|>]+)(?:\|(?P<label>[^>]*))?>"
    r"|:(?P<emoji>[a-z0-9_+-]+):"
)


def rich_text(text: str, block_id: str) -> Json:
    """Return the block for text that is already in Slack's encoding."""
    elements: list[Json] = []
    for index, piece in enumerate(_FENCE.split(text)):
        if index % 2:
            elements.append({"type": "rich_text_preformatted", "elements": [_text(piece)], "border": 0})
        elif piece.strip("\n"):
            elements += _lines(piece.strip("\n").split("\n"))
    return {"type": "rich_text", "block_id": block_id, "elements": elements}


def _lines(lines: list[str]) -> Iterator[Json]:
    for kind, group in groupby(lines, key=_kind):
        yield _BUILDERS[kind](list(group))


def _kind(line: str) -> str:
    if line.startswith(_QUOTE):
        return "quote"
    return "list" if line.lstrip().startswith(_BULLET) else "section"


def _section(lines: list[str]) -> Json:
    return {"type": "rich_text_section", "elements": list(_inline("\n".join(lines)))}


def _quote(lines: list[str]) -> Json:
    bare = "\n".join(line.removeprefix(_QUOTE).removeprefix(" ") for line in lines)
    return {"type": "rich_text_quote", "elements": list(_inline(bare))}


def _list(lines: list[str]) -> Json:
    items = [line.lstrip().removeprefix(_BULLET).lstrip() for line in lines]
    sections = [{"type": "rich_text_section", "elements": list(_inline(item))} for item in items]
    return {"type": "rich_text_list", "style": "bullet", "indent": 0, "border": 0, "elements": sections}


_BUILDERS: dict[str, Callable[[list[str]], Json]] = {"section": _section, "quote": _quote, "list": _list}


def _inline(text: str) -> Iterable[Json]:
    at = 0
    for found in _INLINE.finditer(text):
        if found.start() > at:
            yield _text(text[at : found.start()])
        yield _element(found)
        at = found.end()
    if at < len(text):
        yield _text(text[at:])


def _element(found: re.Match[str]) -> Json:
    kind = next(name for name, value in found.groupdict().items() if value is not None and name != "label")
    value = found[kind]
    if kind in {"code", "bold", "italic", "strike"}:
        return _text(value) | {"style": {kind: True}}
    if kind == "link":
        return {"type": "link", "url": _decoded(value)} | ({"text": _decoded(found["label"])} if found["label"] else {})
    key = {"user": "user_id", "channel": "channel_id", "broadcast": "range", "emoji": "name"}[kind]
    return {"type": kind, key: value}


def _text(text: str) -> Json:
    return {"type": "text", "text": _decoded(text)}


def _decoded(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
