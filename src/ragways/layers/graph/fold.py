"""The graph made of rows, and folded: what a change touches is taken out of sorted entries, and put in again.

Touched are the documents that came and went, and those with a name that means another by now. `make` is the fold of all
documents into nothing, but for its speed; both give equal arrays, bit for bit, as all sums are of whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragways.layers.files import load_arrays, save_arrays
from ragways.layers.graph.csr import WIDE, GraphArrays, Ints, Mask, Small, among, begins, firsts, owners, sums
from ragways.layers.graph.resolve import (
    ROWS,
    Columns,
    Meaning,
    Merging,
    Names,
    RowColumns,
    united,
)
from ragways.store.store import Change, Store

FILE = "fold.arrays"
"""What the next fold needs besides the graph."""
Table = tuple[NDArray[Any], ...]
_HEAD = ("redirect", "base", "ending", "kind", "several")
"""Columns of documents that `GraphArrays` does not have."""
_FEW = 32
"""Entries of which one comes for so many others are looked up one by one; of more, all are sorted together."""
_TABLES: dict[str, tuple[str, ...]] = {
    "mentions": ("entity", "chunk", "times", "own"),
    "relations": ("entity", "entity", "predicate", "chunk", "weight"),
    "aliases": ("name", "entity", "chunk", "times"),
    "kinds": ("name", "kind", "chunk"),
    "others": ("name", "chunk"),
}
"""The tables of entries, with their columns: up to the chunk these are the key that a table is sorted by. `aliases` are
spellings of entities besides their own names, `kinds` what mentions tell of what a name means, and `others` mentions
whose name means another.
"""
Tables = dict[str, Table]


@dataclass(frozen=True, eq=False)
class Entries:
    """The graph as sorted entries of chunks. `head` has the documents, acronyms and names, and no rows."""

    head: RowColumns
    meaning: Meaning
    codes: Ints
    tables: Tables
    """By name, as in `_TABLES`."""

    def _mapped(self, **maps: NDArray[Any] | None) -> Tables:
        """The tables, their numbers of names, entities, chunks or predicates changed to what these say."""
        changed = {column: to for column, to in maps.items() if to is not None}
        return {
            name: tuple(
                changed[column][values] if column in changed else values
                for column, values in zip(_TABLES[name], table, strict=True)
            )
            for name, table in self.tables.items()
        }

    # Made and folded

    @classmethod
    def make(cls, rows: RowColumns, merging: Merging) -> Entries:
        """Of all rows of a store."""
        return _entries(rows, Meaning.of(rows, merging))._compact()

    def fold(
        self, store: Store, change: Change, merging: Merging, common: Callable[[str], bool]
    ) -> tuple[Entries, frozenset[int]]:
        """Bring it up to date, and say which documents this touched: those that came or went, and those in which a name
        now means another. `common`: whether a word is an everyday one.
        """
        numbers = self.head.documents["number"]
        gone = among(numbers, np.array(sorted({*change.removed, *change.added}), np.int64))
        new = RowColumns.read(store, change.added, common)
        head, names, predicates = self.head.without(gone).with_heads(new)
        meaning = Meaning.of(head, merging)
        old = self._renamed(head, names, predicates)

        def and_of(part: RowColumns, affected: Mask, touched: Mask) -> tuple[RowColumns, Mask]:
            more = np.flatnonzero(touched & ~affected)
            if not len(more):
                return part, affected
            return part.and_(RowColumns.read(store, numbers[more].tolist(), common).within(head)), affected | touched

        part, affected = and_of(new.within(head), gone, old._meaning_another(meaning, head))
        # A name that became one of things of several kinds, or is no longer: who else mentions it?
        kinds = _joined(_left("kinds", old.tables["kinds"], old._chunks_of(affected)), _kinds_of(part, meaning))
        split = _split(kinds, len(head.names))
        part, affected = and_of(part, affected, old._naming(split != _split(old.tables["kinds"], len(head.names))))
        made = old._without(affected)._moved(head)._with(_entries(part, meaning, split), meaning)._compact()
        return made, frozenset(numbers[affected].tolist()).union(change.added)

    def _renamed(self, head: RowColumns, up: Small | None, how: Small | None) -> Self:
        """Names and predicates numbered as they are by now; a new name means itself, as far as was known."""
        if up is None:
            return replace(self, tables=self._mapped(predicate=how))
        final = np.arange(len(head.names), dtype=np.int32)
        articles = np.full(len(head.names), -1, np.int32)
        final[up], articles[up] = up[self.meaning.final], self.meaning.articles
        before = replace(self.head.renumbered(names=up), names=head.names)
        return replace(
            self, head=before, meaning=Meaning(final, articles), codes=_named(self.codes, up),
            tables=self._mapped(name=up, predicate=how),
        )  # fmt: skip

    def _meaning_another(self, meaning: Meaning, head: RowColumns) -> Mask:
        """Documents in which a name means another than before: it meant itself there, or is among `others`."""
        was, others = self.meaning, self.tables["others"]
        touched = (was.final != meaning.final) | (was.titles(self.head) != meaning.titles(head))
        if not touched.any():
            return np.zeros(len(self.head.documents["number"]), np.bool_)
        found = self._naming(touched & (was.final == np.arange(len(was.final))))
        found[self._documents_of(others[1][touched[others[0]]])] = True
        found |= np.append(touched, False)[self.head.documents["title"]]
        return found

    def _naming(self, names: Mask) -> Mask:
        """Documents that mention an entity with one of these names."""
        found = np.zeros(len(self.head.documents["number"]), np.bool_)
        if names.any():
            entities, chunks = self.tables["mentions"][:2]
            found[self._documents_of(chunks[names[self.codes // WIDE][entities]])] = True
        return found

    def _documents_of(self, chunks: Small) -> Ints:
        return np.searchsorted(self.head.first_chunk, chunks, side="right") - 1

    def _without(self, affected: Mask) -> Self:
        """Without the entries of some documents."""
        out = self._chunks_of(affected)
        return replace(self, tables={name: _left(name, table, out) for name, table in self.tables.items()})

    def _chunks_of(self, documents: Mask) -> Mask:
        return np.repeat(documents, self.head.documents["chunks"])

    def _moved(self, head: RowColumns) -> Self:
        """Chunks numbered as they are by now."""
        before, first, chunks = self.head, head.first_chunk, self.head.documents["chunks"]
        place = np.searchsorted(head.documents["number"], before.documents["number"])
        shift = first[np.minimum(place, len(first) - 1)] - before.first_chunk[:-1]
        to = (np.arange(before.first_chunk[-1]) + np.repeat(shift, chunks)).astype(np.int32)
        return replace(self, head=head, tables=self._mapped(chunk=to))

    def _with(self, part: Entries, meaning: Meaning) -> Entries:
        """With others; entities that nobody names any more are left out."""
        codes, one, two = united(self.codes, part.codes)
        one = np.arange(len(codes), dtype=np.int32) if one is None else one
        named = np.zeros(len(codes), np.bool_)
        named[one[self.tables["mentions"][0]]] = True
        named[two] = True
        place = (np.cumsum(named) - 1).astype(np.int32)
        left, right = self._mapped(entity=place[one]), part._mapped(entity=place[two])
        tables = {name: _put(name, left[name], right[name]) for name in _TABLES}
        return Entries(self.head, meaning, codes[named], tables)

    def _compact(self) -> Self:
        """Without names and predicates that no entry has any more."""
        head, size = self.head, len(self.head.names)
        used = np.zeros(size + 1, np.bool_)  # the last is the place of those that have no name
        columns = [head.documents[name] for name in ("title", "redirect", "base", "ending")]
        columns += [head.acronyms["name"], head.acronyms["short"], self.codes // WIDE]
        for column in (*columns, *(self.tables[name][0] for name in ("aliases", "kinds", "others"))):
            used[column] = True
        used = used[:-1]
        used[self.meaning.final[used]] = True
        stated = np.zeros(len(head.predicates), np.bool_)
        stated[self.tables["relations"][2]] = True
        if used.all() and stated.all():
            return self
        place, predicates = ((np.cumsum(some) - 1).astype(np.int32) for some in (used, stated))
        head = replace(head.renumbered(names=place), names=head.names.only(used), predicates=head.predicates[stated])
        meaning = Meaning(place[self.meaning.final[used]], self.meaning.articles[used])
        return replace(
            self, head=head, meaning=meaning, codes=_named(self.codes, place),
            tables=self._mapped(name=place, predicate=predicates),
        )  # fmt: skip

    # The graph, and files

    def graph(self) -> GraphArrays:
        """The arrays that are read."""
        head, names, first = self.head, self.head.names, self.head.first_chunk
        n, tables = len(self.codes), self.tables
        (e, chunk, times, own), (s, o, p, stating, weight) = tables["mentions"], tables["relations"]
        split, known = _split(tables["kinds"], len(names)), tables["kinds"]
        corrected = np.zeros(len(names), np.int8)
        corrected[known[0]] = known[1]
        name, code = self.codes // WIDE, (self.codes % WIDE).astype(np.int8)
        kinds = np.where(code > 0, code, np.where(split[name], 0, corrected[name])).astype(np.int8)
        by, order = _sorted(chunk)
        relation = firsts(s, o, p)
        subjects, objects = s[relation], o[relation]
        its, by_object = _sorted(objects)
        alias, called, calling, counts = tables["aliases"]
        at = firsts(alias, called)
        return GraphArrays(
            documents=head.documents["number"], first_chunk=first, titles=head.documents["title"],
            names=names.hashes, letters=names.letters, letter_begins=names.letter_begins, everyday=names.everyday,
            final=self.meaning.final, articles=self.meaning.articles, codes=self.codes, kinds=kinds,
            counts=np.bincount(e, times, n).astype(np.int64),
            naming_begins=begins(e, n), naming_chunks=chunk, naming_times=times, naming_own=own,
            named_begins=begins(by, int(first[-1])), named_entities=e[order], named_times=times[order],
            named_own=own[order], predicates=head.predicates, subjects=subjects, objects=objects,
            relation_predicates=p[relation], weights=sums(weight, relation), subject_begins=begins(subjects, n),
            object_begins=begins(its, n), object_relations=by_object.astype(np.int32),
            stating_begins=np.append(relation, len(s)), stating_chunks=stating, stating_weights=weight,
            alias_names=alias[at], alias_entities=called[at], alias_times=sums(counts, at),
            alias_begins=np.append(at, len(alias)), alias_chunks=calling, alias_counts=counts,
        )  # fmt: skip

    def save(self, view: Path) -> GraphArrays:
        """Write the graph, and beside it what the next fold needs."""
        graph = self.graph()
        graph.save(view)
        rest = {f"document_{name}": self.head.documents[name] for name in _HEAD}
        rest |= {f"acronym_{name}": column for name, column in self.head.acronyms.items()}
        rest |= {f"kind_{n}": column for n, column in enumerate(self.tables["kinds"])}
        rest |= {f"other_{n}": column for n, column in enumerate(self.tables["others"])}
        save_arrays(view / FILE, rest)
        return graph

    @classmethod
    def of(cls, graph: GraphArrays, view: Path) -> Self:
        """The entries of a view."""
        rest = load_arrays(view / FILE)
        documents: Columns = {"number": graph.documents, "title": graph.titles}
        documents["chunks"] = np.diff(graph.first_chunk).astype(np.int32)
        documents |= {name: rest[f"document_{name}"] for name in _HEAD}
        names = Names(graph.names, graph.letters, graph.letter_begins, graph.everyday)
        acronyms = {name: rest[f"acronym_{name}"] for name in ROWS["acronyms"]}
        none = np.zeros(0, np.int32)
        mentions, relations = (dict.fromkeys(ROWS[table], none) for table in ("mentions", "relations"))
        relation, alias = owners(graph.stating_begins), owners(graph.alias_begins)
        return cls(
            RowColumns(documents, mentions, relations, acronyms, names, graph.predicates),
            Meaning(graph.final, graph.articles),
            graph.codes,
            {
                "mentions": (owners(graph.naming_begins).astype(np.int32), graph.naming_chunks, graph.naming_times,
                             graph.naming_own),
                "relations": (graph.subjects[relation], graph.objects[relation], graph.relation_predicates[relation],
                              graph.stating_chunks, graph.stating_weights),
                "aliases": (graph.alias_names[alias], graph.alias_entities[alias], graph.alias_chunks,
                            graph.alias_counts),
                "kinds": tuple(rest[f"kind_{n}"] for n in range(3)),
                "others": tuple(rest[f"other_{n}"] for n in range(2)),
            },
        )  # fmt: skip


# Entries of rows


def _named(codes: Ints, names: Small) -> Ints:
    """Codes of entities whose names have other numbers."""
    return names[codes // WIDE].astype(np.int64) * WIDE + codes % WIDE


def _entries(rows: RowColumns, meaning: Meaning, split: Mask | None = None) -> Entries:
    """Entries of rows. `split`: names that things of several kinds have, where other rows tell as well."""
    m, r, docs = rows.mentions, rows.relations, rows.documents
    by_context = meaning.by_context(rows)
    name = meaning.of_rows(rows, by_context, m, "name")
    kinds = _kinds_of(rows, meaning, name)
    split = _split(kinds, len(rows.names)) if split is None else split

    def code(name: Small, kind: NDArray[np.int8]) -> Ints:
        return name.astype(np.int64) * WIDE + np.where(split[name], kind, 0)

    row, chunk = code(name, m["kind"]), rows.chunks(m)
    ordered = np.sort(row)
    codes = ordered[firsts(ordered)]
    e = np.searchsorted(codes, row).astype(np.int32)
    own = np.append(meaning.final, np.int32(-1))[docs["title"]][m["document"]] == name
    mentions = _summed((e, chunk), m["count"])
    of_own = np.flatnonzero(own)
    owned = np.sort(_pairs(e[of_own], chunk[of_own]))
    pairs = _pairs(mentions[0], mentions[1])
    # An entity at an end of a relation is one that the chunk mentions.
    subject, object = (
        code(meaning.of_rows(rows, by_context, r, end), r[f"{end}_kind"]) for end in ("subject", "object")
    )
    s, o = (np.searchsorted(codes, end).astype(np.int32) for end in (subject, object))
    stated = rows.chunks(r)
    able = np.flatnonzero((s != o) & among(_pairs(s, stated), pairs) & among(_pairs(o, stated), pairs))
    relations = _summed((s[able], o[able], r["predicate"][able], stated[able]), r["weight"][able])
    called = [np.flatnonzero((m[column] != name) & (m[column] >= 0)) for column in ("spelled", "short")]
    both = np.concatenate(called)
    alias = np.concatenate([m[column][at] for column, at in zip(("spelled", "short"), called, strict=True)])
    aliases = _summed((alias, e[both], chunk[both]), m["count"][both])
    other = np.flatnonzero(name != m["name"])
    others = _distinct((m["name"][other], chunk[other]))
    tables = {
        "mentions": (*mentions[:2], mentions[2].astype(np.int32), among(pairs, owned)), "relations": relations,
        "aliases": (*aliases[:3], aliases[3].astype(np.int32)), "kinds": kinds, "others": others,
    }  # fmt: skip
    return Entries(rows.head(), meaning, codes, tables)


def _kinds_of(rows: RowColumns, meaning: Meaning, name: Small | None = None) -> Table:
    """Names, as what they mean in the corpus, with the kinds that mentions tell of it, and their chunks."""
    m = rows.mentions
    name = meaning.of_rows(rows, meaning.by_context(rows), m, "name") if name is None else name
    known = np.flatnonzero(m["kind"])
    return _distinct((name[known], m["kind"][known], rows.chunks(m)[known]))


def _split(kinds: Table, size: int) -> Mask:
    """Which names are those of things of several kinds."""
    there = np.zeros(size * WIDE, np.bool_)
    there[kinds[0].astype(np.int64) * WIDE + kinds[1]] = True
    found: Mask = np.bincount(np.flatnonzero(there) // WIDE, minlength=size) > 1
    return found


# Sorted tables


def _pairs(one: NDArray[Any], other: NDArray[Any]) -> Ints:
    found: Ints = one.astype(np.int64) << 32 | other
    return found


def _order(columns: Sequence[NDArray[Any]]) -> Ints:
    """The order of rows by these columns, of whole numbers that are not negative. Sorted as one number with their
    place, or some, which is several times as quick as by column.
    """
    size = len(columns[0])
    order, bits = np.arange(size), max(size - 1, 1).bit_length()
    keys, used = np.zeros(size, np.int64), bits
    for column in reversed(columns):
        width = int(column.max(initial=0)).bit_length()
        if used + width > 63:
            order = order[np.sort(keys[order] << bits | np.arange(size)) & ((1 << bits) - 1)]
            keys, used = np.zeros(size, np.int64), bits
        keys |= column.astype(np.int64) << (used - bits)
        used += width
    found: Ints = order[np.sort(keys[order] << bits | np.arange(size)) & ((1 << bits) - 1)]
    return found


def _sorted(keys: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Keys in order, and where each stood; equal ones as they stood."""
    order = _order((keys,))
    return keys[order], order


def _summed(keys: Table, values: NDArray[Any]) -> Table:
    """Different keys in order, with the sums of their values."""
    order = _order(keys)
    keys = tuple(column[order] for column in keys)
    at = firsts(*keys)
    return *(column[at] for column in keys), sums(values[order], at)


def _distinct(keys: Table) -> Table:
    """Different keys in order."""
    order = _order(keys)
    keys = tuple(column[order] for column in keys)
    at = firsts(*keys)
    return tuple(column[at] for column in keys)


def _left(name: str, table: Table, out: Mask) -> Table:
    """Rows of a table but those of some chunks."""
    rows = np.flatnonzero(out[table[_TABLES[name].index("chunk")]])
    return tuple(np.delete(column, rows) for column in table) if len(rows) else table


def _joined(one: Table, other: Table) -> Table:
    return tuple(map(np.concatenate, zip(one, other, strict=True)))


def _put(name: str, left: Table, right: Table) -> Table:
    """Both sorted tables of this name as one; no row is in both."""
    keys = _TABLES[name].index("chunk") + 1
    if not len(right[0]):
        return left
    if len(right[0]) * _FEW > len(left[0]):
        both = _joined(left, right)
        order = _order(both[:keys])
        return tuple(column[order] for column in both)
    at = _places(left[:keys], right[:keys])
    return tuple(np.insert(one, at, other) for one, other in zip(left, right, strict=True))


def _places(columns: Table, wanted: Table) -> Ints:
    """Where rows belong among rows that are sorted by these columns: halved by the first, then by the next."""
    found = np.zeros(len(wanted[0]), np.int64)
    for n, row in enumerate(zip(*(column.tolist() for column in wanted), strict=True)):
        low, high = 0, len(columns[0])
        for column, value in zip(columns, row, strict=True):
            here = column[low:high]
            low, high = low + int(here.searchsorted(value)), low + int(here.searchsorted(value, "right"))
        found[n] = low
    return found
