"""Characters of texts: which belong in plain text, and how text of documents and models may be shown; numbers with what
they count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, cast

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2060\ufeff\u2028\u2029\ud800-\udfff]")
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_BYTE = re.compile("[\udc80-\udcff]")  # how Python has a byte of a name that is not UTF-8
_SPACES = frozenset("\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAMED = 3  # things of a list that are named


class _LazyPattern:
    """A compiled pattern in all that its methods do."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any method of a pattern
        compiled = re.compile(self.pattern, self._flags)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "split", "sub"):
            setattr(self, method, getattr(compiled, method))  # so that this is not called again
        return getattr(compiled, name)


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first used: a process uses few of those that it imports, and to
    compile one of the long ones takes milliseconds.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


def _odd(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SPACES:
        return " "
    return "\ufffd" if "\ud800" <= character <= "\udfff" else ""


def clean(text: str) -> str:
    """No control characters, no invisible ones that split words, no lone surrogates."""
    return _ODD.sub(_odd, text) if _ODD.search(text) else text


def one_line(text: str, limit: int = 1000) -> str:
    """A short value for metadata and titles."""
    if len(text) <= limit and text.isascii() and text.isprintable() and text == " ".join(text.split()):
        return text  # as most are, in a fraction of the time
    text = " ".join(clean(text[: limit * 4]).split())
    return unicodedata.normalize("NFC", text)[:limit].rstrip()


def normal_lines(text: str) -> list[str]:
    """Lines without control characters; every kind of line end counts."""
    return [clean(line) for line in _LINE_ENDS.sub("\n", text).split("\n")]


def printable(text: str, *, tabs: bool = False) -> str:
    """Text of a document or a model as a terminal may show it: without what would move its cursor or turn the line. A
    byte of a file name that is not UTF-8 becomes its escape, such as `\\xe9`. With `tabs`, tabs stay, as code has them.
    """
    if tabs and "\t" in text:
        return "\t".join(map(printable, text.split("\t")))
    return _CONTROLS.sub("\ufffd", _BYTE.sub(_escaped_byte, text))


def is_utf8(name: str) -> bool:
    """Whether the name of a file can be written as UTF-8. Linux has names of any bytes."""
    return not _NOT_UTF8.search(name)


def printable_name(name: str) -> str:
    """The name of a file as databases and terminals take it: what is not UTF-8 or cannot be seen becomes its escape."""
    if name.isascii() and name.isprintable():
        return name
    name = _BYTE.sub(_escaped_byte, name)
    seen = (c if c.isprintable() or unicodedata.category(c) == "Zs" else _escape(c) for c in name)
    return "".join(seen)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _escaped_byte(match: re.Match[str]) -> str:
    return f"\\x{ord(match.group()) - 0xDC00:x}"


def shortened(text: str, limit: int = 80) -> str:
    """The text on one line of at most `limit` characters; one that was cut ends in an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def counted(number: int, one: str, many: str = "", things: Sequence[str] = ()) -> str:
    """A number and what is counted, and the first of those things where they are given: `4 seeds: a, b, c …`, `1 file`.

    `many` is the plural where it is not the singular with an s.
    """
    named = ", ".join(things[:_NAMED]) + (" …" if len(things) > _NAMED else "")
    return f"{number:,} {one if number == 1 else many or f'{one}s'}{': ' if named else ''}{named}"
