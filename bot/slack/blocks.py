"""Cards as Block Kit blocks, within Slack's limits: pure.

The text of a card is the contract, already escaped. It is shown as it is (`verbatim`), so that Slack makes no mention,
channel or link out of plain words (SPEC P4).
"""

from collections.abc import Iterator
from typing import Final

from bot.engine.messages import Button, Card

Block = dict[str, object]

TEXT_MAX: Final = 3_900  # of a message: at 4,000 Slack splits a post and refuses an update
SECTION_MAX: Final = 2_900  # Slack's limit is 3,000
SHOWN_MAX: Final = 8_700  # all sections together; Slack refuses blocks near 13,000
CONTEXT_MAX: Final = 1_900
LABEL_MAX: Final = 75
VALUE_MAX: Final = 2_000
BUTTONS_MAX: Final = 25
LINK_MAX: Final = 1_900
ACTION: Final = "reply:"  # and the verb: the action id of a button
NOTHING: Final = "…"  # Slack refuses an empty text
_STYLES: Final = frozenset({"primary", "danger"})


def blocks_of(card: Card) -> list[Block]:
    """Return the blocks of a card: its words, its status, its buttons."""
    words = [_section(piece) for piece in pieces(fitted(card.text, SHOWN_MAX), SECTION_MAX)]
    return [*words, *_context(card), *_actions(card)]


def fitted(text: str, limit: int = TEXT_MAX) -> str:
    """Return the text within the limit: the first line and the last stay, what is between gives way.

    The first line of a contract holds the job's id, the last one says how to reply.
    """
    if len(text) <= limit:
        return text or NOTHING
    head, _, last = text.rpartition("\n")
    room = limit - len(last) - len(NOTHING) - 2
    if not head or room < len(head.split("\n", 1)[0]):
        return text[: _safe_end(text, limit - 1)] + NOTHING
    return f"{head[: _safe_end(head, room)].rstrip()}\n{NOTHING}\n{last}"


def pieces(text: str, limit: int) -> Iterator[str]:
    """Split a text, at a line's end or a space where there is one, never inside an entity or a link."""
    while len(text) > limit:
        end = _safe_end(text, limit)
        cut = max(text.rfind("\n", 0, end), 0) or max(text.rfind(" ", 0, end), 0) or end
        yield text[:cut].rstrip() or NOTHING
        text = text[cut:].lstrip("\n ")
    yield text or NOTHING


def _safe_end(text: str, end: int) -> int:
    """Return where to cut at or before `end` so that no `&…;` and no `<…>` is torn."""
    entity = text.rfind("&", max(end - 5, 0), end)
    if entity > 0 and ";" not in text[entity:end]:
        end = entity
    link = text.rfind("<", 0, end)
    return link if link > 0 and ">" not in text[link:end] else end


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _context(card: Card) -> list[Block]:
    """Return the status line and the link; a link button would be one more payload to answer."""
    status = next(pieces(card.status, CONTEXT_MAX)) if card.status.strip() else ""
    link = f"<{card.link}|Open in Slack>" if 0 < len(card.link) <= LINK_MAX else ""
    shown = [_mrkdwn(line) for line in (status, link) if line]
    return [{"type": "context", "elements": shown}] if shown else []


def _actions(card: Card) -> list[Block]:
    if not card.buttons or not 0 < len(card.job_id) <= VALUE_MAX:
        return []
    return [{"type": "actions", "elements": [_button(one, card.job_id) for one in card.buttons[:BUTTONS_MAX]]}]


def _button(button: Button, job_id: str) -> Block:
    label = {"type": "plain_text", "text": button.label[:LABEL_MAX] or button.verb, "emoji": False}
    style = {"style": button.style} if button.style in _STYLES else {}
    spoken = {"accessibility_label": f"{button.label}: {job_id}"[:LABEL_MAX]}  # many cards stand in one channel
    action = button.action or f"{ACTION}{button.verb}"
    return {"type": "button", "action_id": action, "text": label, "value": job_id, **style, **spoken}
