"""The rows of relations in the store, kept small: there are a dozen of them for each chunk.

What readers see is `graph_relations`, which is a view. Predicates and ways are few, and rows have their number;
numbers of predicates tell in which order these came, and nobody sees them.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import count, groupby
from operator import itemgetter

from ragways.index.gone_texts import text_now
from ragways.index.graph.graph_rows import MILLION, DocumentRows, Row, Said, as_json
from ragways.index.graph.told_texts import ToldTexts

KEPT = """
-- Predicates, each with a way of finding relations, and how many relations have them.
CREATE TABLE IF NOT EXISTS graph_predicates (
    number INTEGER PRIMARY KEY, predicate TEXT NOT NULL, way TEXT NOT NULL, count INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS graph_predicates_by_name ON graph_predicates (predicate, way);
-- `said` is the number of a text of the document; where several texts describe the relation, a list of documents and
-- numbers. `weight` is in halves, or below zero in millionths. `date`: a year, or year, month and day as one number;
-- any other as it is, and nothing where there is none.
CREATE TABLE IF NOT EXISTS graph_relation_rows (
    id INTEGER PRIMARY KEY, subject INTEGER NOT NULL, object INTEGER NOT NULL, predicate INTEGER NOT NULL,
    weight INTEGER NOT NULL, document INTEGER, said, date
);
"""
"""Tables that nobody but this module reads."""
TABLES = """
-- `told_texts` tells what describes a relation, by `document` and `said`. `weight` is in millionths: so the order in
-- which they are added cannot show.
CREATE VIEW IF NOT EXISTS graph_relations AS SELECT
    id, subject, (SELECT p.predicate FROM graph_predicates p WHERE p.number = r.predicate) AS predicate, object,
    document, said,
    CASE WHEN weight < 0 THEN -weight ELSE weight * 500000 END AS weight,
    CASE WHEN date IS NULL THEN '' WHEN typeof(date) = 'text' THEN date WHEN date < 10000 THEN CAST(date AS TEXT)
        ELSE printf('%d-%02d-%02d', date / 10000, date / 100 % 100, date % 100) END AS date,
    (SELECT p.way FROM graph_predicates p WHERE p.number = r.predicate) AS way
    FROM graph_relation_rows r;
-- What the statements of a document say, of relations that are stated more than once.
CREATE TABLE IF NOT EXISTS graph_statements (
    relation INTEGER NOT NULL, document INTEGER NOT NULL, said TEXT NOT NULL, PRIMARY KEY (relation, document)
) WITHOUT ROWID;
"""
SORTED = """
CREATE TABLE temp.graph_told (
    document INTEGER, number INTEGER, text TEXT, PRIMARY KEY (document, number)
) WITHOUT ROWID;
CREATE TABLE temp.graph_said (
    relation INTEGER, subject INTEGER, object INTEGER, predicate INTEGER, weight INTEGER, document INTEGER,
    said INTEGER, date
);
CREATE TABLE temp.graph_several (
    relation INTEGER, subject INTEGER, object INTEGER, predicate INTEGER, weight INTEGER, document INTEGER, said, date
);
"""
_DESCRIPTIONS = 3
_AT_ONCE = 2000  # rows that are given to SQLite together
_HALF = MILLION // 2
_PUT = "INSERT OR REPLACE INTO graph_relation_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

SaidRow = tuple[int, int, int, str, str, int, int, int | None, int | str | None]
"""A statement: the numbers of its relation, subject and object, its predicate and way, its weight in halves, its
document, the number of its text there, and its date.
"""


def said_rows(made: DocumentRows) -> Iterator[SaidRow]:
    """What a document states."""
    document = made.document.number
    for id, statements in made.said.items():
        subject, predicate, object = made.ends[id]
        for text, weight, date, way in statements:
            yield id, subject, object, predicate, way, _halves(weight), document, text, _as_number(date)


class RelationRows:
    """What documents state is put and taken away."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._predicates = _Predicates(db)
        self._text: Callable[[int, int], str] = ToldTexts(db, partial(text_now, db))

    # All of it

    def numbered(self, rows: Iterable[SaidRow]) -> Iterable[Row]:
        """Rows for `temp.graph_said`."""
        for id, subject, object, predicate, way, *rest in rows:
            yield id, subject, object, self._predicates.number(predicate, way), *rest

    def fill(self) -> None:
        """Make the rows of what was laid down."""
        self._text = lambda document, number: str(self._db.execute(_TEXT, (document, number)).fetchone()[0])
        several = list[Row]()
        rows = self._db.execute(
            "SELECT relation, subject, object, predicate, weight, document, said, date FROM temp.graph_said "
            "WHERE relation IN (SELECT relation FROM temp.graph_said GROUP BY relation HAVING count(*) > 1) "
            "ORDER BY relation, document, rowid"
        )
        for (id, subject, object), statements in groupby(rows, key=itemgetter(0, 1, 2)):
            said: dict[int, list[Said]] = defaultdict(list)
            for *_, number, weight, document, text, date in statements:
                predicate, way = self._predicates.meaning(number)
                said[document].append((text, _millionths(weight), _as_date(date), way))
            self._insert_statements(id, said)
            several.append((id, *self._row((subject, predicate, object), said)))
            if len(several) >= _AT_ONCE:
                self._lay_several(several)
        self._lay_several(several)
        # In their order: so pages are filled one after the other.
        self._db.execute(
            "INSERT INTO graph_relation_rows SELECT * FROM temp.graph_said GROUP BY relation HAVING count(*) = 1 "
            "UNION ALL SELECT * FROM temp.graph_several ORDER BY 1"
        )
        for number, uses in self._db.execute(_USES).fetchall():
            self._predicates.use(number, uses)
        self._predicates.flush()

    def _lay_several(self, rows: list[Row]) -> None:
        self._db.executemany("INSERT INTO temp.graph_several VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        rows.clear()

    # What changed

    def change(
        self,
        old: Mapping[int, DocumentRows],
        new: Mapping[int, DocumentRows],
        links: Counter[tuple[int, int]],
        text: Callable[[int], str],
    ) -> Collection[int]:
        """The numbers of relations whose rows are others now. By how much their weight changed is added to `links`.
        `text`: that of a document that its texts are kept with.
        """
        self._text = ToldTexts(self._db, text)
        changed: dict[int, dict[int, list[Said]]] = defaultdict(dict)
        ends: dict[int, tuple[int, str, int]] = {}
        lost = set[int]()  # of which some document no longer says what it did
        for number in old.keys() | new.keys():
            gone, come = (made[number].said if number in made else {} for made in (old, new))
            for id in gone.keys() | come.keys():
                if gone.get(id) != come.get(id) or old[number].told(id) != new[number].told(id):
                    changed[id][number] = come.get(id, [])
                    lost.update([id] if id in gone else ())
            for made in (made[number] for made in (old, new) if number in made):
                ends.update(made.ends)
        for id in sorted(changed):
            if id not in lost and self._add(id, ends[id], changed[id]):
                links[ends[id][0], ends[id][2]] += _weight(changed[id])
                continue
            before = self._statements(id)
            said = before | changed[id]
            links[ends[id][0], ends[id][2]] += _weight(said) - _weight(before)
            self._put(id, ends[id], before, {number: said[number] for number in sorted(said) if said[number]})
        self._predicates.flush()
        return changed

    def _add(self, id: int, ends: tuple[int, str, int], come: Mapping[int, Sequence[Said]]) -> bool:
        """Write what documents state that did not state the relation before, from its row: what others state of it is
        not read, which may be thousands. False, and nothing, where the row does not tell enough.
        """
        row = self._db.execute(_ROW, (id,)).fetchone()
        if row is None or self._db.execute(_IS_KEPT, (id,)).fetchone() is None:
            return False
        number, weight, document, said, date = row
        statements = [(number, *each) for number in sorted(come) for each in come[number]]
        dates = [date for *_, date, _ in statements if date]
        if dates and date is not None:
            return False  # the first document's counts
        ways = {*self._predicates.meaning(number)[1].split("+"), *(way for *_, way in statements)}
        told = json.loads(said) if document is None and said is not None else [(document, said)]
        told += [statement[:2] for statement in statements]
        self._insert_statements(id, come)
        self._predicates.use(number, -1)
        number = self._predicates.number(ends[1], "+".join(sorted(ways)))
        self._predicates.use(number, 1)
        weight = _halves(_millionths(weight) + _weight(come))
        description = self._description(sorted(told, key=lambda place: place[0] or 0))
        self._db.execute(
            _PUT, (id, ends[0], ends[2], number, weight, *description, _as_number(dates[0]) if dates else date)
        )
        return True

    def _statements(self, relation: int) -> dict[int, list[Said]]:
        """What is kept of the statements of a relation, by document."""
        row = self._db.execute(_ROW, (relation,)).fetchone()
        if row is None:
            return {}
        rows = self._db.execute(
            "SELECT document, said FROM graph_statements WHERE relation = ? ORDER BY document", (relation,)
        ).fetchall()
        if not rows:
            predicate, weight, document, said, date = row
            return {document: [(said, _millionths(weight), _as_date(date), self._predicates.meaning(predicate)[1])]}
        return {document: [(text, weight, date, way) for text, weight, date, way in json.loads(said)]
                for document, said in rows}  # fmt: skip

    def _put(
        self,
        id: int,
        ends: tuple[int, str, int],
        before: Mapping[int, Sequence[Said]],
        said: Mapping[int, Sequence[Said]],
    ) -> None:
        """Write a relation from its statements by document, in order; without any, it goes."""
        # Much is said by thousands of documents, of which a change concerns a few. What is said once has no such row.
        rows, now = (some if _count(some) > 1 else {} for some in (before, said))
        gone = [(id, number) for number in rows if now.get(number) != rows[number]]
        self._db.executemany("DELETE FROM graph_statements WHERE relation = ? AND document = ?", gone)
        self._insert_statements(id, {number: some for number, some in now.items() if rows.get(number) != some})
        if (row := self._db.execute(_ROW, (id,)).fetchone()) is not None:
            self._predicates.use(row[0], -1)
        if not said:
            self._db.execute("DELETE FROM graph_relation_rows WHERE id = ?", (id,))
            return
        made = self._row(ends, said)
        self._predicates.use(made[2], 1)
        self._db.execute(_PUT, (id, *made))

    def _insert_statements(self, id: int, said: Mapping[int, Sequence[Said]]) -> None:
        rows = ((id, number, as_json(some)) for number, some in said.items())
        self._db.executemany("INSERT INTO graph_statements VALUES (?, ?, ?)", rows)

    def _row(
        self, ends: tuple[int, str, int], said: Mapping[int, Sequence[Said]]
    ) -> tuple[int, int, int, int, int | None, int | str | None, int | str | None]:
        """The row of a relation."""
        statements = [(number, *each) for number, some in said.items() for each in some]
        subject, predicate, object = ends
        number = self._predicates.number(predicate, "+".join(sorted({way for *_, way in statements})))
        weight = _halves(sum(weight for _, _, weight, _, _ in statements))
        date = next((date for *_, date, _ in statements if date), "")
        places = [statement[:2] for statement in statements]
        described = places[0] if len(places) == 1 else self._description(places)
        return subject, object, number, weight, *described, _as_number(date)

    def _description(self, places: Iterable[tuple[int | None, int | None]]) -> tuple[int | None, int | str | None]:
        """The document and number of the one text that describes what several statements state; where there are
        several texts, a list. `places`: documents and numbers, by document.
        """
        found: dict[str, tuple[int, int]] = {}
        for document, number in places:
            if document is not None and number is not None:
                found.setdefault(self._text(document, number), (document, number))
            if len(found) == _DESCRIPTIONS:
                break
        if len(found) > 1:
            return None, as_json(list(found.values()))
        return next(iter(found.values()), (None, None))


class _Predicates:
    """Numbers of predicates with ways, counted by the relations that have them: what is in no use goes. They are looked
    up as they are asked for: there are tens of thousands, of which a change needs a few.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._numbers: dict[tuple[str, str], int] = {}
        self._meanings: dict[int, tuple[str, str]] = {}
        self._uses: Counter[int] = Counter()

    @cached_property
    def _free(self) -> Iterator[int]:
        return count(int(self._db.execute("SELECT coalesce(max(number) + 1, 0) FROM graph_predicates").fetchone()[0]))

    def number(self, predicate: str, way: str) -> int:
        found = self._numbers.get((predicate, way))
        if found is None:
            row = self._db.execute(_NUMBER, (predicate, way)).fetchone()
            found = next(self._free) if row is None else int(row[0])
            self._know(found, (predicate, way))
        return found

    def meaning(self, number: int) -> tuple[str, str]:
        """The predicate and the way."""
        if number not in self._meanings:
            self._know(number, self._db.execute(_MEANING, (number,)).fetchone())
        return self._meanings[number]

    def _know(self, number: int, meaning: tuple[str, str]) -> None:
        self._numbers[meaning], self._meanings[number] = number, meaning

    def use(self, number: int, more: int) -> None:
        """So many relations more have it."""
        self._uses[number] += more

    def flush(self) -> None:
        """Count, and drop what is in no use."""
        for number, more in self._uses.items():
            self._db.execute(_COUNT, (number, *self.meaning(number), more))
        self._db.executemany(_UNUSED, [(number,) for number in self._uses])
        self._numbers.clear()
        self._meanings.clear()
        self._uses.clear()
        self.__dict__.pop("_free", None)


_NUMBER = "SELECT number FROM graph_predicates WHERE predicate = ? AND way = ?"
_MEANING = "SELECT predicate, way FROM graph_predicates WHERE number = ?"
_COUNT = "INSERT INTO graph_predicates VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
_UNUSED = "DELETE FROM graph_predicates WHERE number = ? AND count = 0"
_USES = "SELECT predicate, count(*) FROM graph_relation_rows GROUP BY predicate"
_ROW = "SELECT predicate, weight, document, said, date FROM graph_relation_rows WHERE id = ?"
_IS_KEPT = "SELECT 1 FROM graph_statements WHERE relation = ? LIMIT 1"
_TEXT = "SELECT text FROM temp.graph_told WHERE document = ? AND number = ?"
_DIGITS = "123456789"


def _count(said: Mapping[int, Sequence[Said]]) -> int:
    return sum(map(len, said.values()))


def _weight(said: Mapping[int, Sequence[Said]]) -> int:
    return sum(weight for some in said.values() for _, weight, _, _ in some)


def _halves(millionths: int) -> int:
    """A weight as it is kept."""
    return -millionths if millionths % _HALF else millionths // _HALF


def _millionths(halves: int) -> int:
    return -halves if halves < 0 else halves * _HALF


def _as_number(date: str) -> int | str | None:
    """A date as it is kept: SQLite must make the same text of it again."""
    if not date:
        return None
    if date.isascii() and date[:1] in _DIGITS:
        if len(date) == len("1883") and date.isdigit():
            return int(date)
        year, month, day = date[:4], date[5:7], date[8:]
        if len(date) == len("1883-10-04") and f"{year}{month}{day}".isdigit() and date == f"{year}-{month}-{day}":
            return int(f"{year}{month}{day}")
    return date


def _as_date(kept: int | str | None) -> str:
    if isinstance(kept, int):
        return str(kept) if kept < 10000 else f"{kept // 10000}-{kept // 100 % 100:02}-{kept % 100:02}"
    return kept or ""
