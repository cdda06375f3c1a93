"""An answer to a command as the messages that carry it, within Slack's limits (SPEC U1; O21, O22): pure.

Slack takes 50 blocks and some 13,000 characters in a message, 3,000 in a section, and five answers to a command. What
belongs together, such as a job's line, is never torn apart unless it alone is too long.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from bot.slack.blocks import SECTION_MAX, SHOWN_MAX, fitted, pieces

BLOCKS_MAX: Final = 45
MESSAGES_MAX: Final = 4  # one of the five is left for an error

Message = dict[str, Any]


def messages(parts: Sequence[str], more: Callable[[int], str]) -> list[Message]:
    """Return the messages for parts in order.

    Args:
        parts: What belongs together, each escaped for Slack.
        more: The line that says how many parts are left out, if any are.
    """
    sections = _packed(parts)
    pages: list[list[str]] = [[]]
    for section in sections:
        page = pages[-1]
        if page and (len(page) >= BLOCKS_MAX or sum(map(len, page)) + len(section) > SHOWN_MAX):
            pages.append([])
        pages[-1].append(section)
    if len(pages) > MESSAGES_MAX:
        left = sum(section.count("\n") + 1 for page in pages[MESSAGES_MAX:] for section in page)
        pages = pages[:MESSAGES_MAX]
        pages[-1].append(more(left))
    return [_message(page) for page in pages]


def _packed(parts: Sequence[str]) -> list[str]:
    """Join parts into sections, each as full as can be without tearing a part."""
    sections: list[str] = []
    for part in parts:
        for piece in pieces(part, SECTION_MAX):
            if sections and len(sections[-1]) + len(piece) + 1 <= SECTION_MAX:
                sections[-1] = f"{sections[-1]}\n{piece}"
            else:
                sections.append(piece)
    return sections


def _message(sections: Sequence[str]) -> Message:
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": section, "verbatim": True}} for section in sections
    ]
    return {"text": fitted("\n".join(sections)), "blocks": blocks}
