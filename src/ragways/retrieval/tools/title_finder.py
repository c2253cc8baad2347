"""Titles in texts, where there may be a million of them: a title is read when its first words are met.

Each name has one number, of its first three words or of all where it has fewer; all numbers stand in an array. So the
words of many texts are compared with all names at once, and the few places where a title may begin are looked at as
`TitleTree` does, in a tree of the titles that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.index.graph.known_names import TitleTree, longest, named_so, names_of_title
from ragways.index.graph.names import TOKEN, folded
from ragways.retrieval.tools.catalogue import Catalogue
from ragways.retrieval.tools.queries import in_parts

_WORD_OR_END = re.compile(rf"\n|{TOKEN.pattern}")
_HELD = 200_000
"""Words, and titles in the tree, that are kept at most."""
_AT_ONCE = 1000
"""Texts whose words are compared together."""
_BITS = 22
"""Of a key, by which most words are told to begin no title."""
_MIX = tuple(np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))

Keys = NDArray[np.uint64]
Mention = tuple[int, int, list[int]]
"""Where a title stands in a text, and the articles that are called so."""
Titled = tuple[int, int, tuple[str, ...]]
"""The first word of a title in a text, the one behind its last, and the titles of the articles that are called so."""


class TitleFinder(TitleTree):
    """All titles of a catalogue, found as `TitleTree` finds them."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(())
        self._all = catalogue.all
        self._hashes = _Hashes()
        self._keys, self._entries = self._read()
        self._begun = np.zeros(1 << _BITS, dtype=np.bool_)
        self._begun[self._keys >> np.uint64(64 - _BITS)] = True
        self._taken: set[int] = set()
        self._numbers: dict[str, int] = {}

    def _read(self) -> tuple[Keys, NDArray[np.int32]]:
        """The keys of all names in order, and which title each is of."""
        parts = [self._keys_of(first, titles) for first, titles in self._all.batches()]
        self._hashes.clear()
        if not parts:
            return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
        keys, entries = (np.concatenate(some) for some in zip(*parts, strict=True))
        order = np.argsort(keys)
        return keys[order], entries[order].astype(np.int32)

    def _keys_of(self, first: int, titles: Sequence[str]) -> tuple[Keys, NDArray[np.int64]]:
        """The keys of some titles, the first of which stands there among all."""
        ended = [at for at, title in enumerate(titles) if "(" in title]
        more = [(at, name) for at in ended for name in names_of_title(titles[at])[1:]]
        entries = np.array([*range(len(titles)), *(at for at, _ in more)], dtype=np.int64) + first
        names = [*titles, *(name for _, name in more)]
        text = "\n".join(names) + "\n"
        if text.count("\n") > len(names):
            text = "\n".join(name.replace("\n", "\t") for name in names) + "\n"
        words = self._hashes.of(_WORD_OR_END.findall(text))
        ends = np.flatnonzero(words == self._hashes.end)
        begins = np.concatenate([[0], ends[:-1] + 1])
        begins += (words[begins] == self._hashes.the) & (ends - begins > 1)
        keys = _keys(words, _behind(words, 1), _behind(words, 2))
        counts = ends - begins
        chosen = np.select([counts == 1, counts == 2], [keys[0][begins], keys[1][begins]], keys[2][begins])
        return chosen[counts > 0], entries[counts > 0]

    def mentions(self, texts: Iterable[str]) -> Iterator[list[Mention]]:
        """The longest title from each place on of each text."""
        for text, found in self._found(texts):
            spans = [match.span() for match in TOKEN.finditer(text)] if found else []
            yield [(spans[first][0], spans[end - 1][1], self._articles(called)) for first, end, called in found]

    def meant(self, texts: Iterable[str]) -> Iterator[list[list[int]]]:
        """The same without the places: the articles that are called as each of these titles."""
        for _, found in self._found(texts):
            yield [self._articles(called) for called in {called for _, _, called in found}]

    def _articles(self, called: Iterable[str]) -> list[int]:
        return sorted({self._numbers[title] for title in called})

    def _found(self, texts: Iterable[str]) -> Iterator[tuple[str, list[Titled]]]:
        """Each text with the titles that are found in it."""
        for some in in_parts(texts, _AT_ONCE):
            words = list(map(TOKEN.findall, some))
            lengths = list(map(len, words))
            places, firsts = self._possible(list(chain.from_iterable(words)), lengths)
            ends = np.cumsum([0, *lengths])
            borders = np.searchsorted(places, ends)
            places -= np.repeat(ends[:-1], np.diff(borders))
            there, keys, at = places.tolist(), firsts.tolist(), borders.tolist()
            for text, written, (low, high) in zip(some, words, pairwise(at), strict=True):
                yield text, self._there(written, there[low:high], keys[low:high]) if low < high else []

    def _possible(self, words: Sequence[str], lengths: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where among the words of texts names may begin, and where the first with the key of each stands."""
        hashes = self._hashes.of(words)
        text = np.repeat(np.arange(len(lengths)), lengths)
        keys = _keys(hashes, _behind(hashes, 1), _behind(hashes, 2))
        found = []
        for more, some in enumerate(keys):
            near = np.flatnonzero(self._begun[some >> np.uint64(64 - _BITS)])
            near = near[near + more < len(text)]
            near = near[text[near] == text[near + more]]
            at = np.minimum(np.searchsorted(self._keys, some[near]), max(0, len(self._keys) - 1))
            there = self._keys[at] == some[near]
            found.append((near[there], at[there]))
        places, firsts = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(places, kind="stable")
        return places[order], firsts[order]

    def _there(self, written: Sequence[str], places: Sequence[int], firsts: Sequence[int]) -> list[Titled]:
        """The titles of a text, of which these words may be the first."""
        words = list(map(folded, written))
        if len(self._numbers) > _HELD and not self._taken.issuperset(firsts):
            self._root, self._taken, self._numbers = {}, set(), {}
        for first in firsts:
            if first not in self._taken:
                self._take_up(first)
        found, last = [], -1
        for place in places:
            known = longest(self._root.get(words[place]), words, written, place) if place != last else None
            last = place
            if known:
                found.append((place, *known))
        return found

    def _take_up(self, first: int) -> None:
        """Read the titles with one key into the tree, the first of which stands there."""
        self._taken.add(first)
        key, behind = self._keys[first], first + 1
        while behind < len(self._keys) and self._keys[behind] == key:
            behind += 1
        titles = []
        for entry in self._entries[first:behind].tolist():
            title, number = self._all.title_at(entry), int(self._all.articles[entry])
            called = title if entry < self._all.count else self._all.title(number)
            # Of several articles with one title, the first is meant.
            self._numbers[called] = min(number, self._numbers.get(called, number))
            titles.append((title, called))
        for words, entries in named_so(titles, ()).items():
            if _key_of(words) == key:  # an ending in brackets has another name, which is read when that is met
                self._put(words, entries)


class _Hashes(dict[str, int]):
    """Words as they are written by a number of what they are compared as."""

    the = np.uint64(hash("the") & 0xFFFFFFFFFFFFFFFF)
    end = np.uint64(1)

    def __missing__(self, word: str) -> int:
        if len(self) > _HELD:
            self.clear()
        number = self[word] = 1 if word == "\n" else hash(folded(word))
        return number

    def of(self, words: Sequence[str]) -> Keys:
        return np.fromiter(map(self.__getitem__, words), np.int64, len(words)).view(np.uint64)


def _key_of(words: Sequence[str]) -> int:
    """The key of one name."""
    one, two, three = map(int, _MIX)
    first, second, third = (hash(word) for word in (*words[:3], "", "")[:3])
    pair = first * one ^ second * two
    key = (first, pair, pair * two ^ third * three)[min(3, len(words)) - 1] * one
    return key & 0xFFFFFFFFFFFFFFFF


def _behind(words: Keys, places: int) -> Keys:
    """For each word the one so many places behind it."""
    return np.concatenate([words[places:], np.zeros(min(places, len(words)), dtype=np.uint64)])


def _keys(first: Keys, second: Keys, third: Keys) -> tuple[Keys, Keys, Keys]:
    """The keys of names of one word, of two, and of more."""
    one, two, three = _MIX
    pair = first * one ^ second * two
    return first * one, pair * one, (pair * two ^ third * three) * one
