"""What Slack makes of text: stray characters escaped, addresses linked, emoji named, long text split."""

import re
from collections.abc import Callable

SPLIT_AT = 4_000
TRUNCATE_AT = 40_000

_KEPT = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)"
    r"|(?P<token><(?:[@#!][^<>\n]+|(?:https?://|mailto:|tel:|slack://)[^<>\n]+)>)",
    re.DOTALL,
)
_TYPED = re.compile(r"(?P<token><@[UW][A-Z0-9]+>|<#C[A-Z0-9]+>|<!(?:here|channel|everyone)>)")
_STRAY_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_TOP_LEVEL = "com|org|net|io|ai|dev|md|py|sh|rs|co|app|me|us|uk|de|fr|eu|info|xyz|zip|so|gg"
_ADDRESS = re.compile(
    r"(?P<url>https?://[^\s<>|]+?)(?=[.,;:!?)\]'\"]*(?:\s|\||&[lg]t;|$))"
    r"|(?<![\w.+-])(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    rf"|(?<![\w@./:-])(?P<domain>(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:{_TOP_LEVEL}))(?![\w-])",
    re.IGNORECASE,
)
_EMOJI = {
    "✅": "white_check_mark", "👀": "eyes", "🎉": "tada", "👍": "+1", "👎": "-1", "🚀": "rocket", "🔥": "fire",
    "❌": "x", "⚠": "warning", "🙏": "pray", "🙂": "slightly_smiling_face", "😀": "grinning",
    "❤": "heart", "⏰": "alarm_clock",
}  # fmt: skip
_NAMED = str.maketrans({char: f":{name}:" for char, name in _EMOJI.items()} | {"\ufe0f": ""})


def parsed(text: str, *, link: bool = True) -> str:
    """Return API text as readers get it (reference: retrieved messages have links, escapes and `:emoji:`)."""
    return _around(_KEPT, text, lambda plain: _linked(_escaped(plain)) if link else _escaped(plain))


def typed(text: str) -> str:
    """Return what a person typed as the client sends it: everything escaped but chosen mentions."""
    return parsed(_around(_TYPED, text, _escape_all))


def parts(text: str) -> list[str]:
    """Split text as Slack does: at most 4,000 characters a message, 40,000 in all."""
    kept = text[:TRUNCATE_AT]
    return [kept[start : start + SPLIT_AT] for start in range(0, len(kept), SPLIT_AT)] or [""]


def _around(kept: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
    out, at = [], 0
    for found in kept.finditer(text):
        whole = found.group()
        out += [change(text[at : found.start()]), whole if found.lastgroup == "token" else _escaped(whole)]
        at = found.end()
    return "".join([*out, change(text[at:])])


def _escaped(text: str) -> str:
    return _STRAY_AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;").translate(_NAMED)


def _escape_all(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _linked(text: str) -> str:
    return _ADDRESS.sub(_link, text)


def _link(found: re.Match[str]) -> str:
    if found["url"]:
        return f"<{found['url']}>"
    if found["mail"]:
        return f"<mailto:{found['mail']}|{found['mail']}>"
    return f"<http://{found['domain']}|{found['domain']}>"
