"""The titles of a corpus: which article a name means, what it is called, and which titles are most like a name.

One name or number is looked up in the store. What needs all titles, such as which are most like a name, reads them once
into arrays, some 60 bytes each.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import ToolError
from ragways.core.types import title_name
from ragways.retrieval.tools.grams import LONGEST, Grams, plain, plain_texts
from ragways.retrieval.tools.queries import Queries, in_parts

_HOPS = 5
_AT_ONCE = 4096
_KEPT = 50_000
"""Titles and names that are kept after they were looked up."""
_ID = re.compile(r"article:([0-9]{1,18})(:.*)?", re.ASCII | re.DOTALL)

Numbers = NDArray[np.int64]


class Catalogue:
    """Every title, and where each redirect ends. Articles are numbers; `article:` is put before them for showing."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._kept: OrderedDict[int | str, str | int | None] = OrderedDict()

    @cached_property
    def all(self) -> AllTitles:
        """All titles in arrays."""
        return AllTitles.read(self._queries)

    def title(self, number: int) -> str | None:
        """What an article is called; None where there is no article of this number."""
        if number not in self._kept:
            self._keep(number, self._queries.title(number))
        title = self._kept[number]
        return None if title is None else str(title)

    def by_name(self, name: str) -> int | None:
        """The article of a name as names are compared, redirects resolved: the first article that is called so, or else
        where the last redirect of the name leads. One that leads nowhere, or in a circle, means none.
        """
        if name not in self._kept:
            self._keep(name, self._end(name))
        number = self._kept[name]
        return None if number is None else int(number)

    def _end(self, name: str) -> int | None:
        for _ in range(_HOPS):
            number, lead = self._queries.article_named(name), None
            if number is None:
                lead = self._queries.redirect_named(name)
            if lead is None:
                return number
            name = title_name(lead)
        return self._queries.article_named(name)

    def _keep(self, key: int | str, value: str | int | None) -> None:
        self._kept[key] = value
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def names(self, number: int) -> frozenset[str]:
        """The names by which an article can be linked to: its own, and those of its redirects."""
        own = title_name(self.title(number) or "")
        redirects = {title_name(self.all.title_at(at)) for at in self.all.redirects_to(number)}
        return frozenset(redirects | ({own} if self.by_name(own) == number else set()))

    def find(self, text: str) -> int:
        """The article that an id, the id of one of its parts, or a title means."""
        text = _readable(text.strip())
        match = _ID.fullmatch(text)
        if match is not None:
            number = int(match[1])
            if self.title(number) is not None:
                return number
            near = [_label(*each) for each in self._queries.around(number)]
            raise ToolError(f"there is no article with the id {shown(text)}", near)
        found = self.by_name(title_name(text))
        if found is None:
            near = [_label(number, self.title(number) or "") for number, _ in self.nearest(text, 5)]
            raise ToolError(f"there is no article called {shown(text)}", near)
        return found

    def nearest(self, text: str, k: int) -> list[tuple[int, float]]:
        """The k articles with the titles most like a text, by the letters they share; 1.0 is the same title."""
        text = _readable(text)
        exact = self.by_name(title_name(text))
        found: dict[int, float] = {} if exact is None else {exact: 1.0}
        # A redirect and its article are one: look at more titles than are wanted.
        for place, score in self._grams.nearest(plain(text), 4 * k + 8):
            found.setdefault(int(self.all.articles[place]), score)
        return list(found.items())[:k]

    @cached_property
    def _grams(self) -> Grams:
        count = self.all.count
        cut = (
            [title[: LONGEST if at < count else None] for at, title in enumerate(titles, start=first)]
            for first, titles in self.all.batches()
        )
        return Grams(chain.from_iterable(map(plain_texts, cut)))


def _readable(text: str) -> str:
    """What of a text is compared: half a letter is none that the store could be asked for."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def _label(number: int, title: str) -> str:
    return f"article:{number} ({title[:LONGEST]})"


def shown(text: str) -> str:
    """What was asked for, short and on one line, for an error."""
    short = text if len(text) <= 80 else text[:79] + "…"
    return repr(short.encode("utf-8", "replace").decode())


# All of them


@dataclass(frozen=True)
class AllTitles:
    """Titles of articles by number, and behind them those of redirects that lead to one; `articles` has the article of
    each. Title `n` is `texts[ends[n - 1] : ends[n]]`. `count`: of how many the article has the title itself.

    `name_hashes`, which are sorted, tell of each name which article (`named`) it means.
    """

    articles: Numbers
    texts: bytes
    ends: Numbers
    count: int
    name_hashes: Numbers
    named: Numbers

    @classmethod
    def read(cls, queries: Queries) -> AllTitles:
        own, leading = _Rows(), _Rows()
        targets: list[int] = []
        for rows in in_parts(queries.titles(), _AT_ONCE):
            if leads := [row for row in rows if row[3] is not None]:
                leading.add(leads)
                targets += [hash(title_name(redirect or "")) for _, _, _, redirect in leads]
            own.add([row for row in rows if row[3] is None] if leads else rows)
        hashes, first = _first_of_each(own.names)
        known = hashes, own.numbers[first]
        kept, ends = _redirect_ends(leading.names, np.array(targets, dtype=np.int64), known)
        hashes = np.concatenate([hashes, leading.names[kept]])
        named = np.concatenate([known[1], ends])
        order = np.argsort(hashes)
        redirects = [leading.title(at) for at in kept.tolist()]
        lengths = [*own.lengths, *map(len, redirects)]
        return cls(
            np.concatenate([own.numbers, ends]), b"".join([*own.texts, *redirects]),
            np.cumsum(lengths, dtype=np.int64), len(own.lengths), hashes[order], named[order],
        )  # fmt: skip

    def title_at(self, at: int) -> str:
        return self.texts[self.ends[at - 1] if at else 0 : self.ends[at]].decode()

    def title(self, article: int) -> str:
        """What one of its articles is called."""
        return self.title_at(int(np.searchsorted(self.articles[: self.count], article)))

    def redirects_to(self, article: int) -> list[int]:
        """Where the titles of redirects to an article stand."""
        order, sorted_ends = self._redirects
        low, high = np.searchsorted(sorted_ends, article), np.searchsorted(sorted_ends, article, side="right")
        return order[low:high].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _redirects(self) -> tuple[Numbers, Numbers]:
        """Where the titles of redirects stand, by the article they lead to, and these articles."""
        ends = self.articles[self.count :]
        order = np.argsort(ends, kind="stable")
        return order + self.count, ends[order]

    def batches(self) -> Iterator[tuple[int, list[str]]]:
        """All titles in order, some at a time, each time with where the first stands."""
        for at in range(0, len(self.ends), _AT_ONCE):
            begins = [int(self.ends[at - 1]) if at else 0, *self.ends[at : at + _AT_ONCE].tolist()]
            text = self.texts[begins[0] : begins[-1]].decode()
            if len(text) == begins[-1] - begins[0]:  # a byte each
                yield at, [text[a:b] for a, b in pairwise(np.subtract(begins, begins[0]).tolist())]
            else:
                yield at, [self.texts[a:b].decode() for a, b in pairwise(begins)]

    def meant(self, hashes: Numbers) -> Numbers:
        """The articles that names mean, of which the hashes are given; -1 where there is none."""
        at, known = _among(self.name_hashes, hashes)
        return np.where(known, self.named[at], -1) if len(self.named) else np.full(len(hashes), -1)


class _Rows:
    """Documents as they are read: numbers, titles as bytes, and hashes of their names."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self.lengths = array("q")
        self._numbers, self._names = array("q"), array("q")

    def add(self, rows: Sequence[tuple[int, str, str, str | None]]) -> None:
        numbers, titles, names, _ = zip(*rows, strict=True) if rows else ((), (), (), ())
        encoded = [title.encode() for title in titles]
        self.texts.append(b"".join(encoded))
        self.lengths.extend(map(len, encoded))
        self._numbers.extend(numbers)
        self._names.extend(map(hash, names))

    @property
    def numbers(self) -> Numbers:
        return np.frombuffer(self._numbers, dtype=np.int64)

    @property
    def names(self) -> Numbers:
        return np.frombuffer(self._names, dtype=np.int64)

    @cached_property
    def _all(self) -> tuple[bytes, Numbers]:
        return b"".join(self.texts), np.cumsum(self.lengths, dtype=np.int64)

    def title(self, at: int) -> bytes:
        text, ends = self._all
        return text[int(ends[at - 1]) if at else 0 : int(ends[at])]


def _redirect_ends(names: Numbers, targets: Numbers, known: tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """Which redirects lead to an article, and to which one, in the order in which their names first stand. Of several
    with one name it is the last; a name that an article has leads nowhere else.
    """
    hashes, articles = known
    if not len(names) or not len(hashes):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    different, first = _first_of_each(names)
    last = len(names) - 1 - _first_of_each(names[::-1])[1]
    here = different
    for _ in range(_HOPS):
        at, leads = _among(different, here)
        here = np.where(leads & ~_among(hashes, here)[1], targets[last[at]], here)
    at, ends = _among(hashes, here)
    chosen = np.flatnonzero(ends & ~_among(hashes, different)[1])
    chosen = chosen[np.argsort(first[chosen])]
    return last[chosen], articles[at[chosen]]


def _first_of_each(values: Numbers) -> tuple[Numbers, Numbers]:
    """The different values in order, and where each stands first."""
    order = np.argsort(values, kind="stable")
    some = values[order]
    new = np.ones(len(some), dtype=np.bool_)
    new[1:] = some[1:] != some[:-1]
    return some[new], order[new]


def _among(known: Numbers, values: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Where values stand among sorted ones, and which of them do."""
    at = np.minimum(np.searchsorted(known, values), max(0, len(known) - 1))
    return at, known[at] == values if len(known) else np.zeros(len(values), dtype=np.bool_)
