"""Frequent phrases, for text without capitals: what returns in several documents is worth a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ragways.index.graph.names import TOKEN, folded

LEAST = 3
"""Documents that must hold a phrase."""
_SHARE = 0.02
"""A token in more than this share of all places is a function word of its language."""
_BREAK = re.compile(r"[^\w\s'’·-]+|\n")


class Phrases:
    """Two to four tokens in a row, none a function word, in at least three documents whose script has no capitals."""

    def __init__(self, texts: Iterable[str]) -> None:
        chosen = [text for text in texts if uncased(text)]
        tokens: Counter[str] = Counter()
        documents: Counter[tuple[str, ...]] = Counter()
        for text in chosen:
            tokens.update(folded(t) for t in TOKEN.findall(text))
        total = sum(tokens.values())
        self._function = {t for t, count in tokens.items() if count > max(20, _SHARE * total)}
        for text in chosen:
            documents.update({key for key, _, _ in self._grams(text, 0, len(text))})
        self._known = {key for key, count in documents.items() if count >= LEAST}

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Longest known phrases of a sentence, from left to right."""
        if not self._known:
            return
        here = start
        longest: dict[int, int] = {}
        for key, low, high in self._grams(text, start, end):
            if key in self._known:
                longest[low] = max(longest.get(low, 0), high)
        for low, high in sorted(longest.items()):
            if low >= here:
                yield low, high, text[low:high]
                here = high

    def _grams(self, text: str, start: int, end: int) -> Iterator[tuple[tuple[str, ...], int, int]]:
        run: list[tuple[str, int, int]] = []
        last = start
        for match in TOKEN.finditer(text, start, end):
            token = folded(match.group())
            if token in self._function or token.isdecimal() or _BREAK.search(text, last, match.start()):
                run = []
            last = match.end()
            if token not in self._function and not token.isdecimal():
                run = [*run[-3:], (token, match.start(), match.end())]
                for n in range(2, len(run) + 1):
                    part = run[-n:]
                    yield tuple(t for t, _, _ in part), part[0][1], part[-1][2]


def uncased(text: str) -> bool:
    """Whether most letters of a text, by a sample from its start, belong to a script without capitals."""
    letters = [c for c in text[:400:4] if c.isalpha()]
    return bool(letters) and sum(c.lower() != c.upper() for c in letters) * 2 < len(letters)
