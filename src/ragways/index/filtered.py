"""An index restricted to the documents that match a filter: whatever reads it finds no trace of the others.

All reading goes through what is restricted here: rows of SQLite through `PartOfDatabase`, layers through their readers'
`only`. So paradigms, tools and pictures need not know that there is a filter.
"""

from __future__ import annotations

import copy
import json
import sqlite3
from typing import Any, cast

from ragways.core.errors import UsageError, did_you_mean
from ragways.index.open import Index
from ragways.store.database import PartOfDatabase
from ragways.store.store import FACTS, PARTS
from ragways.store.where import OWN_FIELDS, DocumentFilter, read_filter

_READY = 4  # restricted indexes of an index that stay in memory: their arrays are copies


def only(index: Index, where: str) -> Index:
    """An index restricted to the documents that match a filter (`where.py`); made once for each filter.

    One that is restricted already is restricted further: to what matches both.
    """
    chosen = read_filter(where)
    whole, text = index, chosen.text
    if isinstance(index, FilteredIndex):
        whole, text = index.whole, f"({index.where}) and ({text})"
    if text not in whole.filtered:
        whole.filtered[text] = FilteredIndex(whole, text, matching(index, chosen))
    whole.filtered.move_to_end(text)
    if len(whole.filtered) > _READY:
        whole.filtered.popitem(last=False)
    return whole.filtered[text]


def matching(index: Index, chosen: DocumentFilter) -> frozenset[int]:
    """Numbers of the documents that match. A field that no document has is an error with the nearest that one has."""
    found, known = [], set(OWN_FIELDS)
    needs_metadata = not set(chosen.fields) <= known
    empty = True
    for number, key, title, format, metadata in index.store.db.execute(
        "SELECT number, key, title, format, metadata FROM documents"
    ):
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
        store = copy.copy(whole.store)
        seen = numbers.__contains__
        tables = {"documents": "number", **dict.fromkeys((*PARTS, *FACTS), "document")}
        part = PartOfDatabase(store.db, {table: (column, seen) for table, column in tables.items()})
        store.db = cast(sqlite3.Connection, part)
        super().__init__(store, whole.views)
        self.whole = whole
        self.where = where
        self.numbers = numbers
        self.matches_nothing = not numbers

    def close(self) -> None:
        """Close the whole index, which this is a part of."""
        self.whole.close()

    def layer(self, name: str) -> object:
        """A layer, restricted by the method `only` of its reader, which takes numbers of documents."""
        if name not in self._layers:
            opened: Any = self.whole.layer(name)
            if not hasattr(opened, "only"):
                raise UsageError(
                    f"the layer {name!r} cannot be filtered",
                    "ask without a filter, or have its author give what it opens a method only(documents)",
                )
            self._layers[name] = opened.only(self.numbers)
        return self._layers[name]
