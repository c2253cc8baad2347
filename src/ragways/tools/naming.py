"""Which articles a question names."""

from __future__ import annotations

import re

from ragways.index.graph.names import split_title, tokens
from ragways.tools.links import Links

MOST = 6
_CAPITALS = re.compile(r"[^\W\d_a-z][\w'’.-]*(?:\s+(?:(?:of|the|and|de|la|von|van|du|di)\s+)?[^\W\d_a-z][\w'’.-]*)+")


def names_in(links: Links, question: str) -> list[str]:
    """Names in a question, in its order: the longest titles that stand in it, then other runs of capital words."""
    found: list[tuple[int, int]] = []
    for start, end, meant in links.titles_in(question):
        inside = any(first <= start and end <= last for first, last in found)
        # A title in small letters (`place of birth`) is a word of the question, not what it is about.
        if meant and not inside and any(character.isupper() for character in question[start:end]):
            found = [(a, b) for a, b in found if not (start <= a and b <= end)] + [(start, end)]
    spans = found[:MOST]
    for match in _CAPITALS.finditer(question):
        if not any(a < match.end() and match.start() < b for a, b in spans):
            spans.append(match.span())
    return [question[a:b] for a, b in sorted(spans)[:MOST]]


def fits(name: str, title: str) -> bool:
    """Whether a title can be what a name means: the same words, apart from what stands in brackets."""
    words, base = set(tokens(name)), set(tokens(split_title(title)[0])) - {"the", "a", "an"}
    return bool(base) and base <= words and len(words - set(tokens(title)) - {"the", "a", "an"}) <= len(words) // 2
