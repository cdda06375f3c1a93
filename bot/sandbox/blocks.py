"""Slack's checks of blocks, and what it adds to them (sizes: slack-platform reference 2.1)."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import chain
from typing import Any

from bot.sandbox.errors import SlackError
from bot.sandbox.world import Json

BLOCKS_MAX = 50
VIEW_BLOCKS_MAX = 100
TOTAL_CHARACTERS_MAX = 13_200  # undocumented; seen in bolt-js#2509

_TEXTLESS = {"divider", "image", "input", "rich_text", "video", "file", "table"}


def checked(blocks: Any, *, most: int = BLOCKS_MAX) -> list[Json]:
    """Return blocks as Slack stores them, or refuse them as Slack would."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SlackError("invalid_blocks_format")
    faults = list(chain(_count(blocks, most), *(_faults(block, f"/blocks/{n}") for n, block in enumerate(blocks))))
    if faults:
        raise SlackError("invalid_blocks", response_metadata={"messages": faults})
    if len(json.dumps(blocks, ensure_ascii=False)) > TOTAL_CHARACTERS_MAX and most == BLOCKS_MAX:
        raise SlackError("msg_blocks_too_long")
    return [_completed(block, number) for number, block in enumerate(blocks)]


def _count(blocks: list[Json], most: int) -> Iterator[str]:
    if len(blocks) > most:
        yield f"[ERROR] no more than {most} items allowed [json-pointer:/blocks]"
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    if len(ids) != len(set(ids)):
        yield "[ERROR] block_id already exists [json-pointer:/blocks]"


def _faults(block: Json, at: str) -> Iterator[str]:
    kind = block.get("type")
    if kind in _CHECKS:
        yield from _CHECKS[kind](block, at)
    elif kind not in _TEXTLESS:
        yield f"[ERROR] unsupported type: {kind} [json-pointer:{at}/type]"
    yield from _long(block.get("block_id") or "", 255, f"{at}/block_id")


def _section(block: Json, at: str) -> Iterator[str]:
    fields = block.get("fields") or []
    if not block.get("text") and not fields:
        yield f"[ERROR] missing required field: text [json-pointer:{at}]"
    if block.get("text"):
        yield from _text(block["text"], 3_000, f"{at}/text")
    if len(fields) > 10:
        yield f"[ERROR] no more than 10 items allowed [json-pointer:{at}/fields]"
    for number, one in enumerate(fields):
        yield from _text(one, 2_000, f"{at}/fields/{number}")
    if block.get("accessory"):
        yield from _element(block["accessory"], f"{at}/accessory")


def _header(block: Json, at: str) -> Iterator[str]:
    yield from _text(block.get("text"), 150, f"{at}/text", kinds={"plain_text"})


def _context(block: Json, at: str) -> Iterator[str]:
    elements = block.get("elements") or []
    if not 1 <= len(elements) <= 10:
        yield f"[ERROR] 1 to 10 items allowed [json-pointer:{at}/elements]"
    for number, one in enumerate(elements):
        if one.get("type") != "image":
            yield from _text(one, 3_000, f"{at}/elements/{number}")


def _actions(block: Json, at: str) -> Iterator[str]:
    elements = block.get("elements") or []
    if not 1 <= len(elements) <= 25:
        yield f"[ERROR] 1 to 25 items allowed [json-pointer:{at}/elements]"
    for number, one in enumerate(elements):
        yield from _element(one, f"{at}/elements/{number}")
    ids = [one["action_id"] for one in elements if one.get("action_id")]
    if len(ids) != len(set(ids)):
        yield f"[ERROR] action_id already exists [json-pointer:{at}/elements]"


def _markdown(block: Json, at: str) -> Iterator[str]:
    yield from _long(block.get("text") or "", 12_000, f"{at}/text")


def _element(element: Json, at: str) -> Iterator[str]:
    yield from _long(element.get("action_id") or "", 255, f"{at}/action_id")
    if element.get("type") == "button":
        yield from _text(element.get("text"), 75, f"{at}/text", kinds={"plain_text"})
        yield from _long(element.get("value") or "", 2_000, f"{at}/value")
    if element.get("type") == "overflow" and len(element.get("options") or []) > 5:
        yield f"[ERROR] no more than 5 items allowed [json-pointer:{at}/options]"


def _text(text: Any, most: int, at: str, *, kinds: frozenset[str] | set[str] = frozenset()) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in (kinds or {"plain_text", "mrkdwn"}):
        yield f"[ERROR] unsupported type [json-pointer:{at}/type]"
        return
    if not text.get("text"):
        yield f"[ERROR] must be more than 0 characters [json-pointer:{at}/text]"
    yield from _long(text.get("text") or "", most, f"{at}/text")


def _long(text: str, most: int, at: str) -> Iterator[str]:
    if len(text) > most:
        yield f"[ERROR] must be less than {most + 1} characters [json-pointer:{at}]"


_CHECKS: dict[Any, Callable[[Json, str], Iterator[str]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "markdown": _markdown,
}


def _completed(block: Json, number: int) -> Json:
    """Add what Slack adds: ids, and the defaults of text objects."""
    whole = deepcopy(block)
    whole.setdefault("block_id", f"b{number}{len(str(block)) % 997:03d}")
    for text in (whole.get("text"), *whole.get("fields", []), *whole.get("elements", [])):
        if isinstance(text, dict) and text.get("type") == "mrkdwn":
            text.setdefault("verbatim", False)
        if isinstance(text, dict) and text.get("type") == "plain_text":
            text.setdefault("emoji", True)
    for position, element in enumerate(whole.get("elements", []) if whole["type"] == "actions" else []):
        element.setdefault("action_id", f"a{position}")
    return whole
