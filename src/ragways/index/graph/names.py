"""Names as they are compared: without case, accents, punctuation, articles and possessives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_SOLID = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f"
"""Scripts that write no spaces between words: each sign is a token, so that names are found inside a run."""

TOKEN = re.compile(
    rf"(?:[^\W\d_{_SOLID}]\. ?){{2,}}(?=[^\W_]|$|\W)"  # J. R. R., U.S.
    rf"|[{_SOLID}]"
    rf"|[^\W_{_SOLID}]+(?:['’][^\W_{_SOLID}]+)*"
)
_ARTICLES = frozenset({"the", "a", "an"})
_ENDING = re.compile(r"\s*\(([^()]{1,80})\)\s*$")


@lru_cache(maxsize=200_000)
def folded(token: str) -> str:
    """One token as it is compared: `Tamsett's`, `TAMSETT` and `Tämsett` are one."""
    if not token.isascii():
        token = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
    token = token.casefold()
    for ending in ("'s", "’s"):
        token = token.removesuffix(ending)
    return token.replace("'", "").replace("’", "").replace(".", "").replace(" ", "")


def tokens(text: str) -> list[str]:
    """The tokens of a name as it is compared."""
    return [folded(match) for match in TOKEN.findall(text)]


def spans(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Tokens of a stretch of text, with their places."""
    for match in TOKEN.finditer(text, start, end):
        yield folded(match.group()), match.start(), match.end()


@lru_cache(maxsize=200_000)
def fold(name: str) -> str:
    """A name as it is compared; two names are the same if they fold to the same text."""
    words = tokens(name)
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words)


def split_title(title: str) -> tuple[str, str]:
    """`Ilsabet Corran (ship)` → `Ilsabet Corran`, `ship`."""
    match = _ENDING.search(title)
    if match is None or match.start() == 0:
        return title.strip(), ""
    return title[: match.start()].strip(), match[1].strip()


def letters_of(name: str) -> str:
    """First letters of a name's capital words, as acronyms are made: `The World Health Organization` → `WHO`."""
    words = re.findall(r"[^\W_]+", name.removeprefix("The "))
    return "".join(word[0] for word in words if word[0].isupper())
