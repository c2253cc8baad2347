"""Titles of the corpus found in text: a tree of tokens, so that the cost does not grow with the number of titles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ragways.index.graph.names import TOKEN, folded, split_title
from ragways.index.graph.rules.words import STOP

_END = ""
"""Where titles end in the tree: no token is empty."""


class Titles:
    """All titles by their tokens. `X (ship)` is found as `X` too; what it means there is for the reader to choose."""

    def __init__(self, titles: Iterable[tuple[str, str]], small: Collection[str] = ()) -> None:
        """`titles`: each title with the title it leads to, itself or the end of a redirect.

        `small`: single words that are titles, and that their own articles write small, as `Photosynthesis`.
        """
        self._root: dict[str, Any] = {}
        self.known: dict[str, str] = {}
        for title, leads_to in sorted(titles):
            self._add(title, leads_to, small)
            base, ending = split_title(title)
            if ending:
                self._add(base, leads_to, ())

    def _add(self, name: str, title: str, small_words: Collection[str]) -> None:
        written = TOKEN.findall(name)
        words = [folded(word) for word in written]
        article = len(words) > 1 and words[0] == "the"
        if article:
            written, words = written[1:], words[1:]
        if not any(words) or len(words) > 20 or (len(words) == 1 and (words[0] in STOP or words[0].isdecimal())):
            return
        node = self._root
        for word in words:
            node = node.setdefault(word, {})
        entries = node.setdefault(_END, [])
        capitals = tuple(w[0].isupper() for w in written)
        # `Riemann integral` may stand inside a sentence as it is, or begin one; `The Terminal` is never `terminal`.
        small = not any(capitals[1:]) and not article and (len(words) > 1 or words[0] in small_words)
        if not any(known == title for known, _, _ in entries):
            entries.append((title, capitals, small))

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Longest titles from each place of the text on, with the articles that are called so."""
        matches = list(TOKEN.finditer(text, start, end))
        words = [folded(match.group()) for match in matches]
        root = self._root
        for i, word in enumerate(words):
            node = root.get(word)
            if node is None:
                continue
            found, j = None, i
            while True:
                j += 1
                entries = node.get(_END)
                if entries:
                    fitting = tuple(t for t, capitals, small in entries if _fits(matches[i:j], capitals, small))
                    if fitting:
                        found = (matches[i].start(), matches[j - 1].end(), fitting)
                if j == len(words):
                    break
                node = node.get(words[j])
                if node is None:
                    break
            if found:
                yield found


def _fits(matches: list[Any], capitals: tuple[bool, ...], small: bool) -> bool:
    """Whether the text writes with a capital what the title does."""
    for at, (match, capital) in enumerate(zip(matches, capitals, strict=True)):
        if capital and not (match.group()[0].isupper() or (small and at == 0)):
            return False
    return True
