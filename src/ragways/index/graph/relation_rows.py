"""What documents state is put into the store and taken away.

A relation that one document states is kept with the document, and found by arrays (`stating_documents`). When a second
one states it too it gets a row of its own, in which what all of them say is added up; and when only one is left, the
row goes.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from ragways.index.gone_texts import text_now
from ragways.index.graph.document_statements import ContentsRow, Said
from ragways.index.graph.graph_rows import DocumentRows, Row, as_json
from ragways.index.graph.predicates import Predicates
from ragways.index.graph.stated_columns import stated_among
from ragways.index.graph.stating_documents import DocumentsBefore, own_relations
from ragways.index.graph.stored_relations import DESCRIPTIONS
from ragways.index.graph.told_texts import ToldTexts
from ragways.index.packed_numbers import packed_counts

Ends = tuple[int, str, int]
"""The number of a relation's subject, its predicate, and the number of its object."""

# ruff: noqa: S608 - queries are put together from our own words

SORTED = """
CREATE TABLE temp.graph_said (
    relation INTEGER, subject INTEGER, object INTEGER, document INTEGER, predicate INTEGER, text INTEGER,
    weight INTEGER, date TEXT
);
"""
_AT_ONCE = 2000  # rows that are given to SQLite together


class RelationRows:
    """The tables of relations, and what `graph_contents` has of them."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._predicates = Predicates(db)
        self._text: Callable[[int, int], str] = ToldTexts(db, partial(text_now, db))

    def put_contents(self, contents: ContentsRow, predicates: Iterable[tuple[str, str]]) -> None:
        """Put a document's row; `predicates`: the predicate and way of each of its statements."""
        numbers = [self._predicates.number(*each) for each in predicates]
        for number in numbers:
            self._predicates.use(number, 1)
        row = contents._replace(predicates=packed_counts(numbers))
        columns = row.stored()
        self._db.execute(f"INSERT INTO graph_contents VALUES ({', '.join('?' * len(columns))})", columns)

    def drop_contents(self, made: DocumentRows) -> None:
        """Take a document's row away."""
        for each in made.predicates():
            self._predicates.use(self._predicates.number(*each), -1)
        self._db.execute("DELETE FROM graph_contents WHERE document = ?", (made.document.number,))

    # All of it

    def fill(self) -> None:
        """Make the rest from the rows of documents."""
        self._predicates.flush()
        said = list[Row]()
        for id, place, stated in stated_among(self._db, self._predicates, own_relations(self._db).shared):
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
        stating: DocumentsBefore,
        text: Callable[[int], str],
    ) -> None:
        """The rows of documents have been put and dropped before. What `stating` has touched is told of the
        relations that are others now. `text`: that of a document that its texts are kept with.
        """
        touched = stating.touched
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
        rows = self._shared_rows(changed)
        added = {id for id in rows.keys() - lost if _adds_no_date(rows[id], changed[id])}
        before = self._said_before(changed.keys() - added, rows, old, new, stating)
        for id in sorted(changed):
            touched.alone.pop(id, None)
            if id in added:
                self._add(id, ends[id], rows[id], changed[id])
                touched.links[ends[id][0], ends[id][2]] += _weight(changed[id])
                continue
            said = before[id] | changed[id]
            said = {number: said[number] for number in sorted(said) if said[number]}
            touched.links[ends[id][0], ends[id][2]] += _weight(said) - _weight(before[id])
            if len(said) == 1:
                touched.alone[id] = next(iter(said))
            self._put_shared(id, ends[id], rows.get(id), before[id], said if len(said) > 1 else {})
        self._predicates.flush()
        touched.relations.update(changed)

    def _shared_rows(self, relations: Collection[int]) -> dict[int, _SharedRow]:
        """The rows of those of these relations that several documents state."""
        rows = self._db.execute(f"{_ROWS} WHERE id {_AMONG}", (json.dumps(sorted(relations)),))
        return {id: row for id, *row in rows}

    def _said_before(
        self,
        relations: Collection[int],
        shared: Collection[int],
        old: Mapping[int, DocumentRows],
        new: Mapping[int, DocumentRows],
        stating: DocumentsBefore,
    ) -> dict[int, dict[int, list[Said]]]:
        """What documents stated of each of these relations, by document, in order. The rows of documents in hand are
        those of now: `old` tells what they stated, and a new one stated nothing.
        """
        in_hand = old.keys() | new.keys()
        alone = stating.of([id for id in relations if id not in shared])
        read = {*alone.values(), *self._stating_shared(relations, shared)}
        found = self._stated_by_others(relations, read, in_hand)
        for number, made in old.items():
            for id in made.said.keys() & found.keys():
                found[id][number] = made.said[id]
        if any(document not in found[id] for id, document in alone.items()):
            # The arrays are not those of the rows, by whatever happened to them: all documents are looked at.
            for id, others in self._stated_by_others(relations, None, in_hand).items():
                found[id] |= others
        return {id: dict(sorted(some.items())) for id, some in found.items()}

    def _stating_shared(self, relations: Collection[int], shared: Collection[int]) -> Iterator[int]:
        """Documents that state those of these relations that several state."""
        for id in relations:
            if id in shared:
                rows = self._db.execute("SELECT document FROM graph_statements WHERE relation = ?", (id,))
                yield from (number for (number,) in rows)

    def _stated_by_others(
        self, relations: Collection[int], documents: set[int] | None, in_hand: Set[int]
    ) -> dict[int, dict[int, list[Said]]]:
        """What of these relations documents state that are not in hand: of all documents, or of these."""
        found: dict[int, dict[int, list[Said]]] = {id: {} for id in relations}
        read = None if documents is None else documents - in_hand
        for id, place, stated in stated_among(self._db, self._predicates, relations, read):
            if stated.document not in in_hand:
                found[id][stated.document] = [
                    (each.text, each.weight, each.date, self._predicates.meaning(each.predicate)[1])
                    for each in stated.statements(place)
                ]
        return found

    def _add(self, id: int, ends: Ends, row: _SharedRow, come: Mapping[int, Sequence[Said]]) -> None:
        """Write what documents state that did not state the relation before, from its row: what others state of it is
        not read, which may be thousands. Not where both tell a date (`_adds_no_date`).
        """
        number, weight, date, told = row
        statements = [(document, *each) for document in sorted(come) for each in come[document]]
        dates = [date for *_, date, _ in statements if date]
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


_SharedRow = Sequence[Any]
"""The number of its predicate and ways, its weight, date and texts."""
_ROWS = "SELECT id, predicate, weight, date, told FROM graph_shared_relations"
_AMONG = "IN (SELECT value FROM json_each(?))"
_PUT = "INSERT OR REPLACE INTO graph_shared_relations VALUES (?, ?, ?, ?, ?, ?, ?)"


def _adds_no_date(row: _SharedRow, come: Mapping[int, Sequence[Said]]) -> bool:
    """Whether the date of a relation is the same when these are added, or now known: of two, the first document's
    counts, which the row does not tell.
    """
    return not row[2] or not any(date for some in come.values() for _, _, date, _ in some)


def _told(told: str) -> Iterator[tuple[int, int]]:
    yield from ((document, number) for document, number in json.loads(told))


def _weight(said: Mapping[int, Sequence[Said]]) -> int:
    return sum(weight for some in said.values() for _, weight, _, _ in some)
