"""Which entity a name means in the corpus. What it means within a document was resolved when that was read.

Rows are read as columns of numbers (`RowColumns`): names are numbered by the order of their hashes and documents by
their stable numbers, so that nothing shows in which order anything came. Two mappings tell what a name means
(`Meaning`): redirects and acronyms for everybody, and for each document the only article that has the name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.graph.csr import CODES, UNSIGNED, Hashes, Ints, Mask, Small, among, place_in, places_in
from ragways.layers.graph.names import coarse, fold, hash_of, plain_name, split_title
from ragways.store.store import Store

Columns = dict[str, NDArray[Any]]
_TYPES = {"number": np.int64, "weight": np.int64, "kind": np.int8, "meant": np.int8, "subject_kind": np.int8,
          "object_kind": np.int8, "several": np.bool_}  # fmt: skip
ROWS = {
    "documents": ("number", "chunks", "title", "redirect", "base", "ending", "kind", "several"),
    "mentions": ("document", "chunk", "name", "kind", "meant", "spelled", "short", "count"),
    "relations": ("document", "chunk", "subject", "subject_kind", "predicate", "object", "object_kind", "weight"),
    "acronyms": ("document", "name", "short"),
}
"""Tables of rows, with their columns."""
_NAMED = frozenset({"name", "spelled", "subject", "object", "short", "title", "redirect", "base", "ending"})
"""Columns that refer to names; -1 is no name."""


# Names


@dataclass(frozen=True, eq=False)
class Names:
    """Folded names in the order of their hashes, as `GraphArrays` has them."""

    hashes: Hashes
    letters: NDArray[np.uint8]
    letter_begins: Ints
    everyday: Mask

    def __len__(self) -> int:
        return len(self.hashes)

    @classmethod
    def of(cls, texts: Collection[str], common: Callable[[str], bool]) -> tuple[Self, Small]:
        """These texts, and the place of each. `common`: whether a word is an everyday one."""
        hashes = np.fromiter((hash_of(text) & UNSIGNED for text in texts), np.uint64, len(texts))
        order = np.argsort(hashes)
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order))
        ordered = list(texts)
        ordered = [ordered[at] for at in order.tolist()]
        letters = [f"{text}\n".encode("utf-8", "surrogatepass") for text in ordered]
        ends = np.cumsum(np.fromiter(map(len, letters), np.int64, len(letters)), dtype=np.int64)
        everyday = np.fromiter((" " not in text and common(text) for text in ordered), np.bool_, len(ordered))
        joined = np.frombuffer(b"".join(letters), np.uint8)
        return cls(hashes[order], joined, np.concatenate([[0], ends]), everyday), places

    def place(self, name: str) -> int:
        """The place of a folded name, or -1."""
        return place_in(self.hashes, hash_of(name) & UNSIGNED)

    def with_(self, other: Names) -> tuple[Names, Small | None, Small]:
        """Both, and where the names of each are there (None: where they were). What the other says of words holds."""
        hashes, mine, theirs = united(self.hashes, other.hashes)
        if mine is None:
            everyday = self.everyday
            if (everyday[theirs] != other.everyday).any():
                everyday = everyday.copy()
                everyday[theirs] = other.everyday
            return replace(self, everyday=everyday), None, theirs
        everyday = np.zeros(len(hashes), np.bool_)
        everyday[mine], everyday[theirs] = self.everyday, other.everyday
        new = np.ones(len(hashes), np.bool_)
        new[mine] = False
        at = np.flatnonzero(new[theirs])
        to = self.letter_begins[np.searchsorted(self.hashes, other.hashes[at])]
        added = other._only_letters(new[theirs])
        sizes = np.diff(other.letter_begins)[at]
        letters = np.insert(self.letters, np.repeat(to, sizes), added)
        lengths = np.zeros(len(hashes), np.int64)
        lengths[mine], lengths[theirs] = np.diff(self.letter_begins), np.diff(other.letter_begins)
        return Names(hashes, letters, np.concatenate([[0], np.cumsum(lengths)]), everyday), mine, theirs

    def only(self, used: Mask) -> Names:
        lengths = np.diff(self.letter_begins)[used]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return Names(self.hashes[used], self._only_letters(used), ends, self.everyday[used])

    def _only_letters(self, used: Mask) -> NDArray[np.uint8]:
        found: NDArray[np.uint8] = self.letters[np.repeat(used, np.diff(self.letter_begins))]
        return found


def united(one: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], Small | None, Small]:
    """Two sorted arrays as one, and where the values of each are there (None: where they were)."""
    places = np.searchsorted(one, other)
    new = other[one[np.minimum(places, len(one) - 1)] != other] if len(one) else other
    if not len(new):
        return one, None, places.astype(np.int32)
    both = np.insert(one, np.searchsorted(one, new), new)
    moved = np.arange(len(one), dtype=np.int32) + np.searchsorted(new, one).astype(np.int32)
    return both, moved, np.searchsorted(both, other).astype(np.int32)


class _Numbered(dict[str, int]):
    """Texts by the order in which they are first met; names are folded, and one that folds to nothing is -1."""

    def __init__(self) -> None:
        super().__init__()
        self._folded = {"": -1}

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number

    def folded(self, text: str) -> int:
        found = self._folded.get(text)
        if found is None:
            name = fold(text)
            found = self._folded[text] = self[name] if name else -1
        return found


# Rows


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Rows of documents as columns. `documents` are sorted by number, the others refer to them and to names and
    predicates by place.
    """

    documents: Columns
    mentions: Columns
    relations: Columns
    acronyms: Columns
    names: Names
    predicates: Hashes

    @classmethod
    def read(cls, store: Store, documents: Sequence[int] | None, common: Callable[[str], bool]) -> Self:
        """Of all documents, or of these."""
        names, predicates = _Numbered(), _Numbered()
        name_of = names.folded
        chunks = Counter(number for (number,) in store.facts("chunks", "document", documents))
        table = []
        for number, title, redirect in store.facts("documents", "number, title, redirect", documents):
            base, ending = fold(plain_name(title)), split_title(title)[1]
            if not base or base.isdecimal() or redirect:
                base, ending = "", ""
            ends = name_of(base), name_of(ending), CODES.get(coarse(ending), 0), " " in base
            table.append((number, chunks[number], name_of(title), name_of(redirect) if redirect else -1, *ends))
        table.sort()
        known = {row[0]: at for at, row in enumerate(table)}
        docs = _columns(ROWS["documents"], table)
        mentions = _columns(
            ROWS["mentions"],
            (
                (known[number], chunk, names[name], CODES.get(kind, 0), CODES.get(meant, 0), name_of(spelling),
                 name_of(_short(spelling)), count)
                for number, chunk, name, kind, meant, spelling, count in store.facts(
                    "mentions", "document, chunk, name, kind, meant, spelling, count", documents
                )
                if name
            ),
        )  # fmt: skip
        relations = _columns(
            ROWS["relations"],
            (
                (known[number], chunk, names[one], CODES.get(kind, 0), predicates[how], names[other],
                 CODES.get(its, 0), weight)
                for number, chunk, one, kind, how, other, its, weight in store.facts(
                    "relations",
                    "document, chunk, subject, subject_kind, predicate, object, object_kind, weight",
                    documents,
                )
            ),
        )  # fmt: skip
        acronyms = _columns(
            ROWS["acronyms"],
            sorted(
                (known[number], names[name], names[short])
                for number, name, short, reason in store.facts(
                    "other_names", "document, name, other, reason", documents
                )
                if reason == "acronym" and len(short) > 1
            ),
        )
        ordered, places = Names.of(names, common)
        hashes, numbers = Names.of(predicates, lambda _: False)
        made = cls(docs, mentions, relations, acronyms, ordered, hashes.hashes)
        return made.renumbered(names=places, predicates=numbers)

    def head(self) -> Self:
        """Without the rows of mentions and relations."""
        return replace(self, mentions=_none(self.mentions), relations=_none(self.relations))

    @property
    def first_chunk(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.documents["chunks"], dtype=np.int64)])

    def chunks(self, table: Columns) -> Small:
        """The numbers of the chunks that rows are of."""
        return (self.first_chunk[table["document"]] + table["chunk"]).astype(np.int32)

    def without(self, gone: Mask) -> Self:
        """Without some documents; names stay."""
        place = (np.cumsum(~gone) - 1).astype(np.int32)

        def left(table: Columns) -> Columns:
            rows = ~gone[table["document"]]
            found = {name: column[rows] for name, column in table.items()}
            return found | {"document": place[found["document"]]}

        documents = {name: column[~gone] for name, column in self.documents.items()}
        return replace(
            self, documents=documents, mentions=left(self.mentions), relations=left(self.relations),
            acronyms=left(self.acronyms),
        )  # fmt: skip

    def with_heads(self, other: RowColumns) -> tuple[Self, Small | None, Small | None]:
        """With other documents, without their rows of mentions and relations; and the places by now of names and
        predicates (None: where they were).
        """
        names, mine, theirs = self.names.with_(other.names)
        predicates, *moved = united(self.predicates, other.predicates)
        _, here, there = united(self.documents["number"], other.documents["number"])
        one = self.renumbered(names=mine, predicates=moved[0], documents=here)
        two = other.renumbered(names=theirs, predicates=moved[1], documents=there)
        at = np.searchsorted(self.documents["number"], other.documents["number"])
        to = np.searchsorted(one.acronyms["document"], two.acronyms["document"])
        made = replace(
            one.head(),
            documents={name: np.insert(column, at, two.documents[name]) for name, column in one.documents.items()},
            acronyms={name: np.insert(column, to, two.acronyms[name]) for name, column in one.acronyms.items()},
            names=names,
            predicates=predicates,
        )
        return made, mine, moved[0]

    def within(self, head: RowColumns) -> Self:
        """These rows, numbered as in all; of what is not there nothing is left."""
        moved = self.renumbered(
            names=places_in(head.names.hashes, self.names.hashes),
            predicates=places_in(head.predicates, self.predicates),
            documents=places_in(head.documents["number"], self.documents["number"]),
        )
        return replace(moved, documents=head.documents, names=head.names, predicates=head.predicates)

    def and_(self, other: RowColumns) -> Self:
        """With the rows of others that are numbered alike."""

        def both(one: Columns, two: Columns) -> Columns:
            return {name: np.concatenate([column, two[name]]) for name, column in one.items()}

        return replace(
            self, mentions=both(self.mentions, other.mentions), relations=both(self.relations, other.relations)
        )

    def renumbered(
        self, *, names: Small | None = None, predicates: Small | None = None, documents: Small | None = None
    ) -> Self:
        maps = {"document": documents, "predicate": predicates} | dict.fromkeys(_NAMED, names)

        def moved(table: Columns) -> Columns:
            return {
                name: column if (to := maps.get(name)) is None else looked_up(to, column)
                for name, column in table.items()
            }

        return replace(
            self, documents=moved(self.documents), mentions=moved(self.mentions), relations=moved(self.relations),
            acronyms=moved(self.acronyms),
        )  # fmt: skip


def _short(spelling: str) -> str:
    """`Midway, Iowa` and `Midway (ship)` are called `Midway` in a question."""
    return split_title(spelling)[0].partition(",")[0] if "," in spelling or "(" in spelling else ""


def _columns(names: Sequence[str], rows: Iterable[Sequence[int]]) -> Columns:
    flat = np.fromiter((value for row in rows for value in row), np.int64).reshape(-1, len(names))
    return {name: np.ascontiguousarray(flat[:, n].astype(_TYPES.get(name, np.int32))) for n, name in enumerate(names)}


def _none(table: Columns) -> Columns:
    return {name: column[:0] for name, column in table.items()}


def looked_up(to: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    """What each value is by now; -1 stays."""
    found: NDArray[Any] = np.append(to, np.int32(-1))[column]
    return found


# What settings and people decide


@dataclass(frozen=True)
class Merging:
    """Pairs of names that are never merged, and names that are so near another that they mean it."""

    apart: frozenset[tuple[str, str]] = frozenset()
    near: tuple[tuple[str, str], ...] = ()


# What names mean


@dataclass(frozen=True, eq=False)
class Meaning:
    """What names mean in the whole corpus, by tables over documents (as in `GraphArrays`)."""

    final: Small
    articles: Small

    @classmethod
    def of(cls, head: RowColumns, merging: Merging) -> Self:
        to, only = _everywhere(head, merging), _only_articles(head)
        titles = head.documents["title"]
        for pair in merging.apart:
            places = [head.names.place(fold(name)) for name in pair]
            for one, other in (places, places[::-1]):
                if one >= 0 and other >= 0:
                    to[one] = one if to[one] == other else to[one]
                    only[one] = -1 if only[one] >= 0 and titles[only[one]] == other else only[one]
        for _ in range(3):  # eight steps: a circle must end
            to = to[to]
        return cls(to, only)

    def titles(self, head: RowColumns) -> Small:
        """Of each name, the title of the only article that has it, or -1."""
        return looked_up(head.documents["title"], self.articles)

    def of_rows(self, rows: RowColumns, by_context: Ints, table: Columns, column: str) -> Small:
        """The name that each row means: `Rainy River` is `Rainy River (Michigan)` where the context says so."""
        names = table[column]
        found = self.final[names]
        at = np.flatnonzero(self.articles[names] >= 0)
        at = at[among(table["document"][at].astype(np.int64) * len(self.final) + names[at], by_context)]
        found[at] = self.final[rows.documents["title"][self.articles[names[at]]]]
        return found

    def by_context(self, rows: RowColumns) -> Ints:
        """Documents and base names (as one number, sorted) that mean the only article of the name: they mean that kind
        of thing by it, or name what stands in the brackets of its title.
        """
        m, docs, size = rows.mentions, rows.documents, len(rows.names)
        at = np.flatnonzero(self.articles[m["name"]] >= 0)
        at = at[m["spelled"][at] == m["name"][at]]
        name, document, meant = m["name"][at], m["document"][at].astype(np.int64), m["meant"][at]
        article = self.articles[name]
        kind, ending = docs["kind"][article], docs["ending"][article]
        chosen = np.where((meant > 0) & (kind > 0), meant == kind, (kind > 0) & docs["several"][article])
        wanted = np.zeros(size + 1, np.bool_)
        wanted[ending] = True
        wanted[-1] = False  # the place of those that have no name
        within = np.flatnonzero(wanted[m["spelled"]])
        spelled = np.sort(m["document"][within].astype(np.int64) * size + m["spelled"][within])
        chosen |= (ending >= 0) & among(document * size + ending, spelled)
        return np.sort(document[chosen] * size + name[chosen])


def _everywhere(head: RowColumns, merging: Merging) -> Small:
    """Where redirects lead, acronyms that all documents use for one name, and names that are near another: one step."""
    docs, size = head.documents, len(head.names)
    to = np.arange(size, dtype=np.int32)
    titled = np.zeros(size + 1, np.bool_)  # the last is the place of those that have no name
    titled[docs["title"][docs["redirect"] < 0]] = True
    leading = np.flatnonzero((docs["redirect"] >= 0) & (docs["title"] >= 0))[::-1]  # of several the first holds
    leading = leading[~titled[docs["title"][leading]]]
    to[docs["title"][leading]] = docs["redirect"][leading]
    titled[docs["title"]] = True
    pairs = np.unique(head.acronyms["short"].astype(np.int64) * size + head.acronyms["name"])
    short, name = np.divmod(pairs, max(size, 1))
    able = (np.bincount(short, minlength=size)[short] == 1) & ~titled[short]
    to[short[able]] = name[able]
    for few, many in merging.near:
        one, other = head.names.place(few), head.names.place(many)
        if one >= 0 and other >= 0 and to[one] == one:
            to[one] = other
    return to


def _only_articles(head: RowColumns) -> Small:
    """Of each name, the document whose title is the only one with this base (-1: none), where no title is the base."""
    docs, size = head.documents, len(head.names)
    only = np.full(size, -1, np.int32)
    based = np.flatnonzero(docs["base"] >= 0)
    pairs, first = np.unique(docs["base"][based].astype(np.int64) * size + docs["title"][based], return_index=True)
    base = pairs // max(size, 1)
    titled = np.zeros(size + 1, np.bool_)
    titled[docs["title"]] = True
    able = (np.bincount(base, minlength=size)[base] == 1) & ~titled[base]
    only[base[able]] = based[first[able]]
    return only


# Names that are near each other

_CROWD = 30
"""Names that share a word are compared with each other only where the word is rarer than this."""


def alike(counts: Mapping[str, int], titles: Collection[str], minimum: float) -> Iterator[tuple[str, str]]:
    """Pairs of names that share a rare word and most of their letters: the less used one first, then its like."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        for word in set(name.split()):
            if len(word) > 3:
                sharing[word].append(name)
    pairs = {
        (one, other)
        for names in sharing.values()
        if len(names) <= _CROWD
        for at, one in enumerate(names)
        for other in names[at + 1 :]
        if _comparable(one, other, titles)
    }
    for pair in sorted(pairs):
        if SequenceMatcher(None, *pair, autojunk=False).ratio() >= minimum:
            few, many = sorted(pair, key=lambda name: (name in titles, counts[name], name))
            yield few, many


def _comparable(one: str, other: str, titles: Collection[str]) -> bool:
    """Two articles are two things, and so are names that differ in a number."""
    if one in titles and other in titles:
        return False
    return abs(len(one) - len(other)) <= 4 and _digits(one) == _digits(other)


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())
