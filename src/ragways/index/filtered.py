"""An index restricted to the documents that match a filter: whatever reads it finds no trace of the others.

All reading goes through what is restricted here: rows of SQLite through `PartOfDatabase`, arrays through copies without
the rows of other documents, the lexical index through a search among the chunks that are left. So paradigms, tools and
pictures need not know that there is a filter.
"""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np

from ragways.core.errors import UsageError, did_you_mean
from ragways.index.chunk_vectors import ChunkVectors
from ragways.index.communities.reader import Communities
from ragways.index.database import PartOfDatabase
from ragways.index.graph.filtered import FilteredGraph
from ragways.index.reader import Index
from ragways.index.schema import PARTS
from ragways.index.where import OWN_FIELDS, DocumentFilter, read_filter
from ragways.index.windows.reader import Windows
from ragways.index.words import Words

_LAYERS = ("vectors", "words", "windows", "graph", "communities")


_KEPT = 4  # restricted indexes of an index: their arrays are copies


def only(index: Index, where: str) -> Index:
    """An index restricted to the documents that match a filter (`where.py`); made once for each filter.

    One that is restricted already is restricted further: to what matches both.
    """
    chosen = read_filter(where)
    if isinstance(index, FilteredIndex):
        return _restricted(index._whole_index, f"({index.where}) and ({chosen.text})", matching(index, chosen))
    known = index.filtered.get(chosen.text)
    return _restricted(
        index, chosen.text, known.numbers if isinstance(known, FilteredIndex) else matching(index, chosen)
    )


def _restricted(index: Index, where: str, numbers: frozenset[int]) -> Index:
    """An index restricted to documents by number; `where` says how they were chosen."""
    if where not in index.filtered:
        index.filtered[where] = FilteredIndex(index, where, numbers)
    index.filtered.move_to_end(where)
    if len(index.filtered) > _KEPT:
        index.filtered.popitem(last=False)
    return index.filtered[where]


def matching(index: Index, chosen: DocumentFilter) -> frozenset[int]:
    """Numbers of the documents that match. A field that no document has is an error with the nearest that one has."""
    db = index._store.db
    found, known = [], set(OWN_FIELDS)
    needs_metadata = not set(chosen.fields) <= known
    rows = db.execute("SELECT number, key, title, format, metadata FROM documents")
    empty = True
    for number, key, title, format, metadata in rows:
        fields: dict[str, str] = {}
        if needs_metadata:
            fields = {
                name: value if isinstance(value, str) else str(value) for name, value in json.loads(metadata).items()
            }
            known |= fields.keys()
        fields |= {"path": key, "title": title, "format": format}
        empty = False
        if chosen.matches(fields):
            found.append(number)
    for name, place in chosen.fields.items():
        if name not in known and not empty:
            chosen.fail(place, f"no document has a field {name!r}", did_you_mean(name, known))
    return frozenset(found)


class FilteredIndex(Index):
    """The part of an index that its filter, `where`, lets through. Made by `only`."""

    def __init__(self, whole: Index, where: str, numbers: frozenset[int]) -> None:
        store = copy.copy(whole._store)
        seen: Callable[[int], bool] = numbers.__contains__
        tables = {"documents": "number", **dict.fromkeys(PARTS, "document")}
        part = PartOfDatabase(store.db, {table: (column, seen) for table, column in tables.items()})
        store.db = cast(sqlite3.Connection, part)
        super().__init__(store)
        self._whole_index = whole
        self.where = where
        self.numbers = numbers
        self.matches_nothing = not numbers

    def again(self) -> Index:
        other = self._whole_index.again()
        return self if other is self._whole_index else _restricted(other, self.where, self.numbers)

    def close(self) -> None:
        """Close the whole index, which this is a part of."""
        self._whole_index.close()

    def begin(self) -> bool:
        return self._whole_index.begin()

    def pause(self) -> None:
        self._whole_index.pause()

    @property
    def shard_note(self) -> str:
        return self._whole_index.shard_note

    def layer(self, name: str) -> object:
        """A layer of a plug-in must have a method `only(documents)`, which gives it restricted to these ids."""
        if name in _LAYERS:
            return getattr(self, name)
        if name not in self._layers:
            opened: Any = self._whole_index.layer(name)
            if not hasattr(opened, "only"):
                raise UsageError(
                    f"the layer {name!r} cannot be filtered",
                    "ask without a filter, or have its author give what it opens a method only(documents)",
                )
            self._layers[name] = opened.only(frozenset(f"article:{number}" for number in self.numbers))
        return self._layers[name]

    @cached_property
    def vectors(self) -> ChunkVectors:
        return self._whole_index.vectors.of_documents(self.numbers)

    @cached_property
    def words(self) -> Words:
        return self._whole_index.words.only(self.numbers)

    @cached_property
    def windows(self) -> Windows:
        return self._whole_index.windows.only(frozenset(f"article:{number}" for number in self.numbers))

    @cached_property
    def graph(self) -> FilteredGraph:
        whole = self._whole_index.graph
        chunks = whole.chunk_numbers.numbers()
        seen = np.zeros(whole.chunks.capacity, dtype=np.bool_)
        seen[chunks] = np.isin(whole.chunks.documents[chunks], np.array(sorted(self.numbers), dtype=np.int64))
        return FilteredGraph(whole, seen, self._text_of_chunk)

    @cached_property
    def communities(self) -> Communities:
        """Those that rest on nothing else: of a community that other documents speak of too, the report may say so."""
        return self._whole_index.communities.only(self.graph.is_whole)

    def _text_of_chunk(self, ids: Iterable[str]) -> Mapping[str, str]:
        return {id: f"{piece.title}\n{piece.text}" for id, piece in self.pieces(ids).items()}
