"""What documents state is put into the store and taken away.

A relation that one document states is kept with the document, and has its place (`relation_places`). When a second one
states it too it gets a row of its own, in which what all of them say is added up; and when only one is left, the row
goes.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragways.index.gone_texts import text_now
from ragways.index.graph.document_statements import ContentsRow, Said
from ragways.index.graph.graph_rows import DocumentRows, Row, as_json
from ragways.index.graph.packed_numbers import packed_counts
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.relation_places import RelationPlaces
from ragways.index.graph.stated_columns import stated_among, stated_columns
from ragways.index.graph.stored_relations import DESCRIPTIONS
from ragways.index.graph.told_texts import ToldTexts

Ints = NDArray[np.int64]
Ends = tuple[int, str, int]
"""The number of a relation's subject, its predicate, and the number of its object."""

SORTED = """
CREATE TABLE temp.graph_said (
    relation INTEGER, subject INTEGER, object INTEGER, document INTEGER, predicate INTEGER, text INTEGER,
    weight INTEGER, date TEXT
);
"""
_AT_ONCE = 2000  # rows that are given to SQLite together


class OwnRelations(NamedTuple):
    """Relations that one document states each, in rising order, and the documents; and those that several state."""

    relations: Ints
    documents: Ints
    shared: Ints


def own_relations(db: sqlite3.Connection) -> OwnRelations:
    """As the rows of all documents tell."""
    numbers = np.fromiter(
        (row[0] for row in db.execute("SELECT document FROM graph_contents ORDER BY document")), np.int64
    )
    parts = [(stated.counts, stated.relations) for stated in stated_columns(db)]
    nothing = np.zeros(0, np.int64)
    sizes, ids = (np.concatenate([nothing, *some]) for some in (zip(*parts, strict=True) if parts else ((), ())))
    order = np.argsort(ids, kind="stable")
    ids, of = ids[order], np.repeat(np.arange(len(numbers), dtype=np.int32), sizes)[order]
    again = np.zeros(len(ids) + 1, np.bool_)
    again[1:-1] = ids[1:] == ids[:-1]
    once = np.flatnonzero(~again[:-1] & ~again[1:])
    return OwnRelations(ids[once], numbers[of[once]], np.unique(ids[again[:-1]]))


class RelationRows:
    """The tables of relations, and what `graph_contents` has of them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._predicates, self._places = Predicates(db), RelationPlaces(db)
        self._text: Callable[[int, int], str] = ToldTexts(db, partial(text_now, db))

    def put_contents(self, contents: ContentsRow, predicates: Iterable[tuple[str, str]]) -> None:
        """Put a document's row; `predicates`: the predicate and way of each of its statements."""
        numbers = [self._predicates.number(*each) for each in predicates]
        for number in numbers:
            self._predicates.use(number, 1)
        row = contents._replace(predicates=packed_counts(numbers))
        self._db.execute(f"INSERT INTO graph_contents VALUES ({_MARKS})", row)  # noqa: S608 - marks alone

    def drop_contents(self, made: DocumentRows) -> None:
        """Take a document's row away."""
        for each in made.predicates():
            self._predicates.use(self._predicates.number(*each), -1)
        self._db.execute("DELETE FROM graph_contents WHERE document = ?", (made.document.number,))

    # All of it

    def fill(self) -> None:
        """Make the rest from the rows of documents."""
        self._predicates.flush()
        own = own_relations(self._db)
        self._places.fill(own.relations, own.documents)
        said = list[Row]()
        for id, place, stated in stated_among(self._db, self._predicates, own.shared.tolist()):
            said.extend((id, *stated.ends(place), stated.document, *each) for each in stated.statements(place))
            if len(said) >= _AT_ONCE:
                self._lay_said(said)
        self._lay_said(said)
        rows = self._db.execute(
            "SELECT relation, subject, object, document, predicate, text, weight, date FROM temp.graph_said "
            "ORDER BY relation, document, rowid"
        )
        for (id, subject, object), statements in groupby(rows, key=itemgetter(0, 1, 2)):
            by_document: dict[int, list[Said]] = defaultdict(list)
            for *_, document, number, text, weight, date in statements:
                predicate, way = self._predicates.meaning(number)
                by_document[document].append((text, weight, date, way))
            self._insert_statements(id, by_document)
            self._put_row(id, (subject, predicate, object), by_document)
        self._predicates.flush()

    def _lay_said(self, rows: list[Row]) -> None:
        self._db.executemany("INSERT INTO temp.graph_said VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        rows.clear()

    # What changed

    def change(
        self,
        old: Mapping[int, DocumentRows],
        new: Mapping[int, DocumentRows],
        links: Counter[tuple[int, int]],
        text: Callable[[int], str],
    ) -> Collection[int]:
        """The numbers of relations that are others now; the rows of documents have been put and dropped before. By how
        much the weight of relations changed is added to `links`. `text`: that of a document that its texts are kept
        with.
        """
        self._text = ToldTexts(self._db, text)
        changed: dict[int, dict[int, list[Said]]] = defaultdict(dict)
        ends: dict[int, Ends] = {}
        lost = set[int]()  # of which some document no longer says what it did
        for number in old.keys() | new.keys():
            gone, come = (made[number].said if number in made else {} for made in (old, new))
            for id in gone.keys() | come.keys():
                if gone.get(id) != come.get(id) or old[number].told(id) != new[number].told(id):
                    changed[id][number] = come.get(id, [])
                    lost.update([id] if id in gone else ())
            for made in (made[number] for made in (old, new) if number in made):
                ends.update(made.ends)
        places = self._places.documents(changed)
        was, now = dict[int, int](), dict[int, int]()  # documents that state relations alone
        for id in sorted(changed):
            row = self._db.execute(_ROW, (id,)).fetchone()
            if row is not None and id not in lost and self._add(id, ends[id], row, changed[id]):
                links[ends[id][0], ends[id][2]] += _weight(changed[id])
                continue
            before = self._before(id, row is not None, places[id], old, new)
            said = before | changed[id]
            said = {number: said[number] for number in sorted(said) if said[number]}
            links[ends[id][0], ends[id][2]] += _weight(said) - _weight(before)
            owner, owns = [*before] if row is None else [], [*said] if len(said) == 1 else []
            if owner != owns:
                was.update((id, number) for number in owner)
                now.update((id, number) for number in owns)
            self._put_shared(id, ends[id], row, before, said if len(said) > 1 else {})
        self._predicates.flush()
        if not self._places.change(was, now):
            own = own_relations(self._db)
            self._places.fill(own.relations, own.documents)
        return changed

    def _before(
        self,
        id: int,
        shared: bool,
        places: Sequence[int],
        old: Mapping[int, DocumentRows],
        new: Mapping[int, DocumentRows],
    ) -> dict[int, list[Said]]:
        """What documents stated of a relation, by document, in order. `places`: those that may have stated it alone."""
        documents: Iterable[int] = places
        if shared:
            rows = self._db.execute("SELECT document FROM graph_statements WHERE relation = ? ORDER BY document", (id,))
            documents = [document for (document,) in rows.fetchall()]
        found: dict[int, list[Said]] = {}
        for number in documents:
            # The rows of documents in hand are those of now; a new one has stated nothing before.
            said = old[number].said.get(id) if number in old else None
            if number not in old and number not in new:
                said = self._said(number, id)
            if said is not None:
                found[number] = said
        return found

    def _said(self, document: int, relation: int) -> list[Said] | None:
        """What a document states of a relation, as its row tells; None where it states nothing of it."""
        for _, place, stated in stated_among(self._db, self._predicates, [relation], [document]):
            return [
                (each.text, each.weight, each.date, self._predicates.meaning(each.predicate)[1])
                for each in stated.statements(place)
            ]
        return None

    def _add(self, id: int, ends: Ends, row: _SharedRow, come: Mapping[int, Sequence[Said]]) -> bool:
        """Write what documents state that did not state the relation before, from its row: what others state of it is
        not read, which may be thousands. False, and nothing, where the row does not tell enough.
        """
        number, weight, date, told = row
        statements = [(document, *each) for document in sorted(come) for each in come[document]]
        dates = [date for *_, date, _ in statements if date]
        if dates and date:
            return False  # the first document's counts
        ways = {*self._predicates.meaning(number)[1].split("+"), *(way for *_, way in statements)}
        places = [*_told(told), *(statement[:2] for statement in statements)]
        self._insert_statements(id, come)
        self._predicates.use(number, -1)
        number = self._predicates.number(ends[1], "+".join(sorted(ways)))
        self._predicates.use(number, 1)
        described = self._described(sorted(places, key=itemgetter(0)))
        self._db.execute(
            _PUT, (id, ends[0], ends[2], number, weight + _weight(come), dates[0] if dates else date, described)
        )
        return True

    def _put_shared(
        self,
        id: int,
        ends: Ends,
        row: _SharedRow | None,
        before: Mapping[int, Sequence[Said]],
        said: Mapping[int, Sequence[Said]],
    ) -> None:
        """Write a relation from its statements by document, in order; where there are none, its row goes."""
        known = set(before) if row is not None else set()
        gone = [(id, number) for number in known - said.keys()]
        self._db.executemany("DELETE FROM graph_statements WHERE relation = ? AND document = ?", gone)
        self._insert_statements(id, said.keys() - known)
        if row is not None:
            self._predicates.use(row[0], -1)
        if said:
            self._put_row(id, ends, said)
        elif row is not None:
            self._db.execute("DELETE FROM graph_shared_relations WHERE id = ?", (id,))

    def _insert_statements(self, id: int, documents: Iterable[int]) -> None:
        self._db.executemany("INSERT INTO graph_statements VALUES (?, ?)", ((id, number) for number in documents))

    def _put_row(self, id: int, ends: Ends, said: Mapping[int, Sequence[Said]]) -> None:
        statements = [(number, *each) for number, some in said.items() for each in some]
        subject, predicate, object = ends
        number = self._predicates.number(predicate, "+".join(sorted({way for *_, way in statements})))
        self._predicates.use(number, 1)
        date = next((date for *_, date, _ in statements if date), "")
        described = self._described(statement[:2] for statement in statements)
        self._db.execute(_PUT, (id, subject, object, number, _weight(said), date, described))

    def _described(self, places: Iterable[tuple[int, int | None]]) -> str:
        """The first different texts of these documents and numbers, as they are kept."""
        found: dict[str, tuple[int, int]] = {}
        for document, number in places:
            if number is not None:
                found.setdefault(self._text(document, number), (document, number))
            if len(found) == DESCRIPTIONS:
                break
        return as_json(list(found.values()))


_SharedRow = tuple[int, int, str, str]
_ROW = "SELECT predicate, weight, date, told FROM graph_shared_relations WHERE id = ?"
_PUT = "INSERT OR REPLACE INTO graph_shared_relations VALUES (?, ?, ?, ?, ?, ?, ?)"
_MARKS = ", ".join("?" * len(ContentsRow._fields))


def _told(told: str) -> Iterator[tuple[int, int]]:
    yield from ((document, number) for document, number in json.loads(told))


def _weight(said: Mapping[int, Sequence[Said]]) -> int:
    return sum(weight for some in said.values() for _, weight, _, _ in some)
