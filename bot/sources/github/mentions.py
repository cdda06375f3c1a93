"""Reading what people write at GitHub: who is mentioned, what is asked, what the first line says (SPEC B3, P1).

Only prose counts. Code, quotes and hidden comments are somebody else's words, or no words at all; `@types/react` is a
package and `me@example.com` an address. Nothing typed here ever makes an item urgent.
"""

import re
from collections import defaultdict, deque
from typing import Final

from bot.protocol.safety import cut, one_line

MENTIONS_MAX: Final = 50  # GitHub itself notifies at most so many
FIRST_LINE_MAX: Final = 200

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_QUOTE: Final = re.compile(r" {0,3}>")
_TICKS: Final = re.compile(r"`+")
_ADDRESS: Final = re.compile(r"https?://\S+")
# Not after a letter (an e-mail address), not inside a path; not before a second @ (a name on another network).
_MENTION: Final = re.compile(
    r"(?<![\w@/.+`\\-])@([a-z0-9](?:[\w-]{0,60}[a-z0-9])?)(?:/([a-z0-9](?:[\w.-]{0,98}[a-z0-9])?))?(?![\w@/])",
    re.IGNORECASE | re.ASCII,
)
# Question marks of Latin, full-width and Arabic script, at the end of a word.
_ASKS: Final = re.compile(r"[?\uff1f\u061f](?=[\s)\]\"'*_!?\uff1f\u061f\xbb\u201d\u2019]|$)")


def prose(body: str) -> str:
    """Return the words of a comment without hidden comments, quotes, fences and code spans; in linear time."""
    return _without_spans(_spoken(body))


def mentioned(text: str, *, owner: str, teams: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the logins and `org/team` names mentioned in prose, in order, each once, as first written.

    A name with a slash is a team only where GitHub would take it for one, in the repository owner's organisation, or
    where the configuration knows it; anywhere else it is a package.
    """
    found: dict[str, str] = {}
    for login, team in _MENTION.findall(text):
        name = f"{login}/{team}" if team else login
        if team and login.casefold() != owner.casefold() and name.casefold() not in teams:
            continue
        found.setdefault(name.casefold(), name)
        if len(found) == MENTIONS_MAX:
            break
    return tuple(found.values())


def asks(text: str) -> bool:
    """Return whether prose asks something; a question mark inside an address is none."""
    return bool(_ASKS.search(_ADDRESS.sub("", text)))


def first_line(body: str) -> str:
    """Return the first line that is the writer's own, or of whatever there is, or a word for nothing."""
    for text in (_spoken(body), body):
        for line in text.splitlines():
            if words := one_line(line[: FIRST_LINE_MAX * 20]):
                return cut(words, FIRST_LINE_MAX)
    return "(no text)"


def _without_hidden(body: str) -> str:
    """Drop HTML comments: templates carry instructions, and example mentions, in them."""
    kept, position = [], 0
    while (start := body.find("<!--", position)) >= 0:
        kept.append(body[position:start])
        end = body.find("-->", start + 4)
        position = len(body) if end < 0 else end + 3
    return "".join([*kept, body[position:]])


def _spoken(body: str) -> str:
    """Drop fences, quotes and hidden comments; code spans are part of the sentence and stay."""
    kept, fence = [], ""
    for line in _without_hidden(body).splitlines():
        mark = _FENCE.match(line)
        if fence:  # closed by the same character, at least as often, and nothing else
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        elif not _QUOTE.match(line):
            kept.append(line)
    return "\n".join(kept)


def _without_spans(text: str) -> str:
    """Drop code spans: a run of ticks up to the next run of the same length; an unclosed run is just ticks."""
    runs = list(_TICKS.finditer(text))
    waiting: defaultdict[int, deque[int]] = defaultdict(deque)
    for run in runs:
        waiting[len(run[0])].append(run.start())
    kept, position = [], 0
    for run in runs:
        if run.start() < position:
            continue
        same = waiting[len(run[0])]
        while same and same[0] <= run.start():
            same.popleft()
        if same:
            kept.append(text[position : run.start()])
            position = same[0] + len(run[0])
    return "".join([*kept, text[position:]])
