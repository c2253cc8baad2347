"""Texts by their runs of three letters, rare ones counting more: which titles are written most like a name.

All runs of all texts are numbers in arrays, four bytes for each run of a text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragways.core.types import title_name
from ragways.retrieval.tools.queries import in_parts

LONGEST = 200
"""Characters of a title that are compared."""
_AT_ONCE = 20_000
"""Texts that are taken apart together."""
_SLICE = 1 << 20
"""Runs that are made into numbers together."""

Codes = NDArray[np.uint32]
"""Letters by their numbers in an alphabet; 0 is none of it."""
Keys = NDArray[np.int64]
"""Runs of three letters as numbers."""


class Grams:
    """Texts by their runs of three letters; a cosine, so that 1.0 is the same text.

    Run `keys[n]` stands in the texts `places[ends[n - 1] : ends[n]]`.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._alphabet = np.zeros(0x110000, dtype=np.uint32)
        codes, lengths = self._read(texts)
        self._bits = int(self._alphabet.max()).bit_length()
        self._count = len(lengths)
        self._keys, self._ends, self._places = _postings(codes, lengths, self._bits)
        counts = np.diff(self._ends, prepend=0)
        self._weights = np.log(1 + self._count / counts)
        self._sizes = np.full(self._count, 1e-9, dtype=np.float64)
        for at in range(0, len(counts), 100):
            some = slice(at, at + 100)
            places = self._places[self._ends[at] - counts[at] : self._ends[some][-1]]
            np.add.at(self._sizes, places, np.repeat(self._weights[some] ** 2, counts[some]))
        self._sizes = np.sqrt(self._sizes)

    def _read(self, texts: Iterable[str]) -> tuple[Codes, Keys]:
        """All texts as one, with the numbers that letters have by it, and how long each is."""
        parts, lengths = [], []
        for some in in_parts(texts, _AT_ONCE):
            letters, sizes = _letters(some)
            new = np.zeros(len(self._alphabet), dtype=np.bool_)
            new[letters] = True
            new &= self._alphabet == 0
            last = int(self._alphabet.max())
            self._alphabet[new] = np.arange(last + 1, last + 1 + np.count_nonzero(new))
            parts.append(self._alphabet[letters])
            lengths.append(sizes)
        if not parts:
            return np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        return np.concatenate(parts), np.concatenate(lengths)

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """Places and scores of the k texts most like this one; equal scores in the order of the texts."""
        scores = self._scores(text)
        some = np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))
        order = some[np.lexsort((some, -scores[some]))]
        return [(int(at), round(float(scores[at]), 4)) for at in order if scores[at] > 0]

    def _scores(self, text: str) -> NDArray[np.float64]:
        total = np.zeros(self._count, dtype=np.float64)
        size = 1e-9
        for run in sorted(_runs(text)):
            codes = self._alphabet[_letters([run])[0][2:5]]
            key = int(_keys(codes, self._bits)[0]) if codes.all() else -1
            at = int(np.searchsorted(self._keys, key))
            known = at < len(self._keys) and self._keys[at] == key
            weight = float(self._weights[at]) ** 2 if known else 1.0
            size += weight
            if known:
                total[self._places[self._ends[at - 1] if at else 0 : self._ends[at]]] += weight
        scores: NDArray[np.float64] = np.round(total / self._sizes / np.sqrt(size), 6)
        return scores


def plain(text: str) -> str:
    """A text as its letters are compared: without marks and capitals."""
    if text.isascii():
        return " ".join(text.replace("_", " ").lower().split())[: 2 * LONGEST]
    decomposed = unicodedata.normalize("NFKD", title_name(text))
    return "".join(c for c in decomposed if not unicodedata.combining(c))[: 2 * LONGEST]


def plain_texts(texts: Sequence[str]) -> list[str]:
    """The same of many texts: at once where they are what most are, short words with a space between."""
    joined = "\n".join(texts)
    if joined.isascii() and not any(map(joined.__contains__, _SPACES)) and max(map(len, texts), default=0) <= LONGEST:
        found = joined.lower().split("\n")
        if len(found) == len(texts) and not (joined.startswith(" ") or joined.endswith(" ")):
            return found
    return list(map(plain, texts))


_SPACES = ("_", "  ", "\n ", " \n", *map(chr, (9, 11, 12, 13, 28, 29, 30, 31)))
"""What is written as one space."""


def _runs(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def _letters(texts: Sequence[str]) -> tuple[Codes, Keys]:
    """The characters of all texts, each with the spaces around it, and how many each has."""
    padded = [f"  {text} " for text in texts]
    joined = "".join(padded).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype=np.uint32), np.fromiter(map(len, padded), np.int64, len(padded))


def _keys(codes: Codes, bits: int) -> Keys:
    """Each letter with the two behind it as one number."""
    wide = codes.astype(np.int64)
    return wide[:-2] << 2 * bits | wide[1:-1] << bits | wide[2:]


def _postings(codes: Codes, lengths: Keys, bits: int) -> tuple[Keys, Keys, NDArray[np.int32]]:
    """The different runs in order, where the texts of each end, and these texts; each once for a run."""
    owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    inside = owners[2:] == owners[:-2]
    pairs = np.empty(int(np.count_nonzero(inside)), dtype=np.int64)
    room = max(1, len(lengths)).bit_length()
    if 3 * bits + room < 64:  # a run and a text fit into one number
        at = 0
        for begin in range(0, len(inside), _SLICE):
            chosen = inside[begin : begin + _SLICE]
            keys = _keys(codes[begin : begin + _SLICE + 2], bits)[chosen]
            pairs[at : at + len(keys)] = keys << room | owners[begin : begin + len(chosen)][chosen]
            at += len(keys)
        known = None
    else:
        keys = _keys(codes, bits)[inside]
        order = np.argsort(keys)
        new = np.diff(keys[order], prepend=-1) != 0
        known = keys[order][new]
        pairs[:] = (np.cumsum(new) - 1) << room | owners[:-2][inside][order]
    del owners, inside
    pairs.sort()
    if len(pairs):
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    runs = pairs >> room
    first = np.flatnonzero(np.diff(runs, prepend=-1))
    places = (pairs & ((1 << room) - 1)).astype(np.int32)
    return runs[first] if known is None else known, np.append(first[1:], len(pairs))[: len(first)], places
