"""Names that the corpus knows, found in a sentence: titles of its articles, and phrases that it says often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from ragways.index.graph.names import STOP, TOKEN, folded, split_title

_END = "\n"
"""Where titles end in the tree: no token is so, but one that is a mark alone is compared as nothing."""


Called = tuple[str, tuple[bool, ...], bool]
"""An article that is called so: its title, which words of the name have a capital, whether the first may go without."""


class TitleTree:
    """All titles by their tokens. `X (ship)` is found as `X` too; what it means there is for the reader to choose."""

    def __init__(self, titles: Iterable[tuple[str, str]], small: Collection[str] = ()) -> None:
        """`titles`: each title with the title it leads to, itself or the end of a redirect.

        `small`: single words that are titles, and that their own articles write small, as `Photosynthesis`.
        """
        self._root: dict[str, Any] = {}
        for words, called in named_so(titles, small).items():
            self._put(words, called)

    def _put(self, words: Sequence[str], called: Sequence[Called]) -> None:
        node = self._root
        for word in words:
            node = node.setdefault(word, {})
        node[_END] = called

    def _begin(self, words: Sequence[str], at: int) -> dict[str, Any] | None:
        """What titles have behind their first word, which is the one at this place."""
        return self._root.get(words[at])

    def _hear(self, words: Sequence[str], written: Sequence[str], matches: Sequence[re.Match[str]]) -> None:
        """Take note of the words among which titles are looked for, as they are compared and as they are written."""

    def find(
        self, text: str, start: int, end: int, firsts: Collection[str] | None = None
    ) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Longest titles from each place of the text on, or from these first words, with the articles that are called
        so.
        """
        matches = list(TOKEN.finditer(text, start, end))
        written = [match.group() for match in matches]
        words = list(map(folded, written))
        self._hear(words, written, matches)
        for i, word in enumerate(words):
            if firsts is not None and word not in firsts:
                continue
            node = self._begin(words, i)
            if node is None:
                continue
            found = longest(node, words, written, i)
            if found:
                behind, called = found
                yield matches[i].start(), matches[behind - 1].end(), called


def longest(
    node: dict[str, Any] | None, words: Sequence[str], written: Sequence[str], at: int
) -> tuple[int, tuple[str, ...]] | None:
    """Behind which word the longest title ends that begins with this one, and the articles that are called so. `node`:
    what titles have behind their first word.
    """
    found, end = None, at
    while node is not None:
        end += 1
        if entries := node.get(_END):
            fitting = tuple(title for title, capitals, small in entries if _fits(written[at:end], capitals, small))
            if fitting:
                found = end, fitting
        node = node.get(words[end]) if end < len(words) else None
    return found


def title_words(name: str) -> tuple[list[str], list[str], bool]:
    """The words of a title, as they are compared and as they are written, without the article, and whether there was
    one; no words where nothing may be called so.
    """
    written = TOKEN.findall(name)
    words = [folded(word) for word in written]
    article = len(words) > 1 and words[0] == "the"
    if article:
        written, words = written[1:], words[1:]
    if not any(words) or len(words) > 20 or (len(words) == 1 and (words[0] in STOP or words[0].isdecimal())):
        return [], [], False
    return words, written, article


def names_of_title(title: str) -> tuple[str, ...]:
    """What an article is called: `X (ship)` is `X`, too."""
    base, ending = split_title(title)
    return (title, base) if ending else (title,)


def named_so(titles: Iterable[tuple[str, str]], small: Collection[str]) -> dict[tuple[str, ...], list[Called]]:
    """Articles by the words they are called."""
    found: dict[tuple[str, ...], list[Called]] = {}
    for title, leads_to in sorted(titles):
        for name in names_of_title(title):
            words, written, article = title_words(name)
            if not words:
                continue
            capitals = tuple(w[0].isupper() for w in written)
            # `Riemann integral` may stand inside a sentence as it is, or begin one; `The Terminal` is never `terminal`.
            known = len(words) > 1 or (name == title and words[0] in small)
            entries = found.setdefault(tuple(words), [])
            if not any(other == leads_to for other, _, _ in entries):
                entries.append((leads_to, capitals, known and not any(capitals[1:]) and not article))
    return found


def _fits(written: Sequence[str], capitals: tuple[bool, ...], small: bool) -> bool:
    """Whether the text writes with a capital what the title does."""
    for at, (word, capital) in enumerate(zip(written, capitals, strict=True)):
        if capital and not (word[0].isupper() or (small and at == 0)):
            return False
    return True


PHRASE_DOCUMENTS = 3
"""Documents that must hold a phrase."""
_SHARE = 0.02
"""A token in more than this share of all places is a function word of its language."""
_BREAK = re.compile(r"[^\w\s'’·-]+|\n")


class Phrases:
    """Two to four tokens in a row, none a function word, in at least three documents whose script has no capitals."""

    def __init__(self, known: Collection[tuple[str, ...]]) -> None:
        self._known = known

    @classmethod
    def of(cls, texts: Callable[[], Iterable[str]]) -> frozenset[tuple[str, ...]]:
        """The phrases of texts without capitals, which are read twice: they need not all be held."""
        tokens: Counter[str] = Counter()
        documents: Counter[tuple[str, ...]] = Counter()
        for text in texts():
            tokens.update(folded(t) for t in TOKEN.findall(text))
        total = sum(tokens.values())
        function = {t for t, count in tokens.items() if count > max(20, _SHARE * total)}
        for text in texts():
            documents.update({key for key, _, _ in _grams(text, 0, len(text), function)})
        return frozenset(key for key, count in documents.items() if count >= PHRASE_DOCUMENTS)

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Longest known phrases of a sentence, from left to right."""
        if not self._known:
            return
        here = start
        longest: dict[int, int] = {}
        for key, low, high in _grams(text, start, end, ()):
            if key in self._known:
                longest[low] = max(longest.get(low, 0), high)
        for low, high in sorted(longest.items()):
            if low >= here:
                yield low, high, text[low:high]
                here = high


def _grams(text: str, start: int, end: int, function: Collection[str]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Tokens in a row. No phrase holds a function word, so whoever looks for known ones need not know those words."""
    run: list[tuple[str, int, int]] = []
    last = start
    for match in TOKEN.finditer(text, start, end):
        token = folded(match.group())
        if token in function or token.isdecimal() or _BREAK.search(text, last, match.start()):
            run = []
        last = match.end()
        if token not in function and not token.isdecimal():
            run = [*run[-3:], (token, match.start(), match.end())]
            for n in range(2, len(run) + 1):
                part = run[-n:]
                yield tuple(t for t, _, _ in part), part[0][1], part[-1][2]
