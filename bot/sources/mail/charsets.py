"""Bytes to text whatever they say they are (SPEC S3, bug O27): the worst answer is a replacement character."""

import re
from types import MappingProxyType
from typing import Final

# What senders name and what they mean; browsers do the same (WHATWG Encoding). `us-ascii` stays itself.
_MEANT: Final = MappingProxyType(
    {
        "iso-8859-1": "cp1252",
        "latin1": "cp1252",
        "gb2312": "gb18030",
        "gbk": "gb18030",
        "shift_jis": "cp932",
        "shift-jis": "cp932",
        "x-sjis": "cp932",
        "euc-kr": "cp949",
        "ks_c_5601-1987": "cp949",
        "ks_c_5601": "cp949",
        "unicode-1-1-utf-7": "utf-7",
    }
)
# Charsets only: Python's other codecs are no charsets (`base64`), run code-like escapes or take quadratic time.
_CHARSET: Final = re.compile(
    r"(ascii|big5|cp\d|euc[_-]|gb|hz$|iso[_-]|koi8|latin|ks_c|mac|shift|tis|us-ascii|utf|windows-)[a-z0-9._-]{0,30}"
)


def decode(data: bytes, charset: str = "") -> str:
    """Return the text: as declared, else as UTF-8, else as declared with replacements, else as Western European."""
    declared = _codec(charset)
    for codec, errors in ((declared, "strict"), ("utf-8", "strict"), (declared, "replace"), ("cp1252", "replace")):
        try:
            if codec:
                return data.decode(codec, errors)
        except (UnicodeError, LookupError):
            continue
    raise AssertionError("cp1252 with replacements takes any bytes")


def _codec(charset: str) -> str:
    name = charset.strip().strip("\"'").casefold()
    return _MEANT.get(name) or (name if _CHARSET.fullmatch(name) else "")
