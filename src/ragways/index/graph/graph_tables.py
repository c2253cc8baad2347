"""The rows of the graph in the store: what a document adds to them is put and taken away by itself.

An entity keeps how often it has each name, type and guess, so that a document's share is added or subtracted. Most
relations are stated by one document, and kept with it; those of several have rows (`relation_rows`). The numbers of ids
keep the order of ids (`number_of_id`). Whatever the order in which documents came and went, the rows are the same.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ragways.index.database import create_tables
from ragways.index.gone_texts import text_before, text_now
from ragways.index.graph.data import DocumentGraph, EntityShare, entity_id
from ragways.index.graph.document_statements import ContentsRow
from ragways.index.graph.graph_rows import (
    Common,
    DocumentRows,
    GatheredEntity,
    Row,
    Shown,
    Touched,
    is_everyday,
    number_of_id,
    packed_share,
    unpacked_share,
)
from ragways.index.graph.names import COARSE
from ragways.index.graph.predicates import TABLE as PREDICATE_TABLE
from ragways.index.graph.relation_rows import SORTED, RelationRows
from ragways.index.graph.resolve import exclusive_kind
from ragways.index.graph.stating_documents import DocumentsBefore
from ragways.index.graph.stored_relations import TABLES as RELATION_TABLES
from ragways.index.graph.told_texts import TABLES as TEXT_TABLES
from ragways.index.graph.told_texts import packed_texts

# ruff: noqa: S608 - queries are put together from our own words

_ENTITY_TABLES = """
-- `names`: how often it has each name, where there are others than its own; `told`: likewise its ways, guesses, types.
-- `way` is empty where rules alone found it.
CREATE TABLE IF NOT EXISTS graph_entities (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, count INTEGER NOT NULL, way TEXT NOT NULL,
    names TEXT, told TEXT
);
-- Names and aliases as they are compared. `own` is 1 for the entity's own name, 0 for an alias; `everyday` is 1 for a
-- single word that the corpus writes small as often as large.
CREATE TABLE IF NOT EXISTS graph_names (
    name TEXT NOT NULL, entity INTEGER NOT NULL, own INTEGER NOT NULL, everyday INTEGER NOT NULL,
    PRIMARY KEY (name, entity)
) WITHOUT ROWID;
-- Of each document the paths of its chunks, how many entities each names, how often, and how many relations it is the
-- first to state; and what chunks state after others: their places, and those of the relations (four bytes each). The
-- rest tells what it states (`ContentsRow`). Numbers are packed (`packed_counts`), ids have eight bytes.
CREATE TABLE IF NOT EXISTS graph_contents (
    document INTEGER PRIMARY KEY, chunks TEXT NOT NULL, dated TEXT NOT NULL, named BLOB NOT NULL, counts BLOB NOT NULL,
    stated BLOB NOT NULL, again BLOB NOT NULL, entities BLOB NOT NULL, statements BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS graph_merges (
    entity INTEGER NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, into_name TEXT NOT NULL,
    documents INTEGER NOT NULL, PRIMARY KEY (entity, name, reason, into_name)
) WITHOUT ROWID;
"""
TABLES = f"{_ENTITY_TABLES}{TEXT_TABLES}{RELATION_TABLES}"
"""What readers see."""
KEPT = PREDICATE_TABLE
"""What is behind it: numbers may be others in an index with the same documents."""
_SORTED = f"""{SORTED}
CREATE TABLE temp.graph_shares (
    entity INTEGER, document INTEGER, folded TEXT, count INTEGER, by_rules INTEGER, told TEXT
);
CREATE TABLE temp.graph_called (name TEXT, entity INTEGER, own INTEGER, everyday INTEGER);
CREATE TABLE temp.graph_merged (entity INTEGER, name TEXT, reason TEXT, into_name TEXT, documents INTEGER);
"""
"""What comes document by document and is wanted in another order is laid down here, for SQLite to sort."""

_AT_ONCE = 2000  # rows that are given to SQLite together
_KINDS = sorted({exclusive_kind(kind) for kind in (*COARSE.values(), "")})


class LaidDown(NamedTuple):
    """What one document adds when the tables are made anew: its row of `graph_contents`, the predicates and ways of
    its statements, its packed texts, and rows that are sorted with those of all others.
    """

    contents: ContentsRow
    predicates: Sequence[tuple[str, str]]
    texts: bytes
    shares: Sequence[Row]
    merged: Sequence[Row]

    @classmethod
    def of(cls, document: DocumentGraph, text: Callable[[int], str]) -> LaidDown:
        """`text`: that of a document."""
        made, number = DocumentRows(document), document.number
        return cls(
            made.contents(),
            made.predicates(),
            packed_texts(made.texts, text(number)) if made.texts else b"",
            [(made.ids[key], number, key[0], *packed_share(share)) for key, share in document.entities.items()],
            list(made.merges()),
        )


class GraphTables:
    """`shown` tells how the corpus shows a folded name, `common` whether a word is an everyday one."""

    def __init__(self, db: sqlite3.Connection, before: Path | None = None) -> None:
        """`before`: the derived folder of the generation before, where nothing else has been done to the rows since."""
        self._db = db
        self.touched: Touched | None = None
        """What `change` has written; nothing where the rows were made otherwise."""
        self._written: set[int] = set()
        """Documents whose texts are kept with their text as it is now: of others that changed, it is the one before."""
        db.execute("DROP TABLE IF EXISTS graph_relation_places")  # of an earlier version: arrays tell the same
        create_tables(db, f"{KEPT}{TABLES}")
        self._relations = RelationRows(db)
        self._before = before
        self._stating: DocumentsBefore | None = None

    # All of it

    def fill(self, documents: Iterable[LaidDown], *, shown: Shown, common: Common) -> None:
        """Make the rows from nothing. What is held in memory are some forty bytes of each statement, as numbers."""
        self.touched = self._before = self._stating = None
        for table in _NAMES:
            self._db.execute(f"DELETE FROM {table}")
        self._drop_sorted()
        create_tables(self._db, _SORTED)
        self._lay_down(documents)
        self._fill_entities(shown, common)
        self._relations.fill()
        self._db.execute(
            "INSERT INTO graph_merges SELECT entity, name, reason, into_name, sum(documents) FROM temp.graph_merged "
            "GROUP BY entity, name, reason, into_name"
        )
        self._drop_sorted()

    def _drop_sorted(self) -> None:
        for table in ("shares", "said", "called", "merged"):
            self._db.execute(f"DROP TABLE IF EXISTS temp.graph_{table}")

    def _lay_down(self, documents: Iterable[LaidDown]) -> None:
        shares, merged = list[Row](), list[Row]()
        for document in documents:
            self._put_contents(document.contents, document.predicates, document.texts)
            shares.extend(document.shares)
            merged.extend(document.merged)
            if len(shares) > _AT_ONCE:
                self._lay(shares=shares, merged=merged)
        self._lay(shares=shares, merged=merged)

    def _lay(self, **tables: list[Row]) -> None:
        for table, rows in tables.items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                self._db.executemany(f"INSERT INTO temp.graph_{table} VALUES ({marks})", rows)
                rows.clear()

    def _fill_entities(self, shown: Shown, common: Common) -> None:
        query = (
            "SELECT entity, folded, document, count, by_rules, told FROM temp.graph_shares ORDER BY entity, document"
        )
        entities, names, described = list[Row](), list[Row](), list[Row]()
        for (id, folded), rows in groupby(self._db.execute(query), key=itemgetter(0, 1)):
            shares = map(partial(self._share, described), rows)
            found = GatheredEntity.of_share(next(shares))
            for share in shares:
                found.add(share)
            found.settle(folded, shown)
            entities.append(found.row(id))
            names.extend(found.called(id, common))
            if len(entities) >= _AT_ONCE:
                self._put_entities(entities, names, described)
        self._put_entities(entities, names, described)
        self._db.execute("INSERT INTO graph_names SELECT * FROM temp.graph_called ORDER BY name, entity")

    def _share(self, described: list[Row], row: Sequence[Any]) -> EntityShare:
        """What a document says of an entity. Its descriptions are added to the rows of them."""
        id, _, document, *packed = row
        share = unpacked_share(*packed)
        if share.descriptions:
            described.append((id, document, packed_texts(share.descriptions, text_now(self._db, document))))
        return share

    def _put_entities(self, entities: list[Row], names: list[Row], described: list[Row]) -> None:
        self._db.executemany(_PUT_ENTITY, entities)
        self._db.executemany("INSERT INTO temp.graph_called VALUES (?, ?, ?, ?)", names)
        self._db.executemany("INSERT INTO graph_descriptions VALUES (?, ?, ?)", described)
        for rows in (entities, names, described):
            rows.clear()

    # What changed

    def change(
        self,
        before: Sequence[DocumentGraph],
        after: Sequence[DocumentGraph],
        *,
        shown: Shown,
        common: Common,
        renamed: Collection[str] = (),
        words: Collection[str] = (),
    ) -> None:
        """Take away what documents said before, and put what they say now. `renamed`: folded names that are shown in
        another way than before; `words`: those of which `common` now says otherwise.
        """
        if self._stating is None:
            self._stating = DocumentsBefore.changing(self._db, self._before)
        self.touched = touched = self._stating.touched
        old = {document.number: DocumentRows(document) for document in before}
        new = {document.number: DocumentRows(document) for document in after}
        self._written.update(new)
        self._change_descriptions(old, new)
        touched.entities.update(self._change_entities(old, new, shown, common, renamed))
        touched.documents.update(old, new)
        for made in (*old.values(), *new.values()):
            touched.named.update(made.ids.values())
            touched.stated.update(made.said)
        for rows, sign in ((old, -1), (new, 1)):
            for made in rows.values():
                for id, times in made.named():
                    touched.times[id] += sign * times
        for word in words:
            self._db.execute("UPDATE graph_names SET everyday = ? WHERE name = ?", (is_everyday(word, common), word))
        for number, made in old.items():
            self._relations.drop_contents(made)
            self._db.execute("DELETE FROM graph_texts WHERE document = ?", (number,))
        for number in sorted(new):
            texts = new[number].texts
            packed = packed_texts(texts, text_now(self._db, number)) if texts else b""
            self._put_contents(new[number].contents(), new[number].predicates(), packed)
        self._relations.change(old, new, self._stating, self._text)
        self._change_merges(old, new)

    def _change_entities(
        self,
        old: Mapping[int, DocumentRows],
        new: Mapping[int, DocumentRows],
        shown: Shown,
        common: Common,
        renamed: Collection[str],
    ) -> Collection[int]:
        """The numbers of entities whose rows may be others now."""
        changed: dict[int, list[tuple[int, EntityShare, EntityShare]]] = defaultdict(list)
        folded: dict[int, str] = {}
        for number in sorted(old.keys() | new.keys()):
            gone, come = (made[number].document.entities if number in made else {} for made in (old, new))
            for key in gone.keys() | come.keys():
                was, now = gone.get(key, _NOTHING), come.get(key, _NOTHING)
                if was != now:
                    id = number_of_id(entity_id(key))
                    changed[id].append((number, was, now))
                    folded[id] = key[0]
        for name in renamed:
            for kind in _KINDS:
                folded.setdefault(number_of_id(entity_id((name, kind))), name)
        return [id for id in sorted(folded) if self._change_entity(id, changed.get(id, ()), folded[id], shown, common)]

    def _change_entity(
        self,
        id: int,
        changed: Sequence[tuple[int, EntityShare, EntityShare]],
        folded: str,
        shown: Shown,
        common: Common,
    ) -> bool:
        """`changed`: documents, and what they said and say. False where there neither was nor is such an entity."""
        row = self._db.execute(_ENTITY, (id,)).fetchone()
        if row is None and not changed:
            return False  # it may come with a later batch of the run, and is touched then
        found = GatheredEntity() if row is None else GatheredEntity.of_row(row)
        was_called, was_named = found.called(id, common), found.name
        for _, was, now in changed:
            found.subtract(was)
            found.add(now)
        if found.names:
            found.settle(folded, shown)
            self._db.execute(_PUT_ENTITY, found.row(id))
            called = found.called(id, common)
            self._note(id, None if row is None else was_named, found.name)
        else:
            self._db.execute("DELETE FROM graph_entities WHERE id = ?", (id,))
            called = set()
        if self.touched is not None and {name for name, *_ in was_called} != {name for name, *_ in called}:
            self.touched.called.add(id)
        for name, *_ in was_called - called:
            self._db.execute("DELETE FROM graph_names WHERE name = ? AND entity = ?", (name, id))
        self._db.executemany("INSERT OR REPLACE INTO graph_names VALUES (?, ?, ?, ?)", called - was_called)
        return True

    def _note(self, entity: int, before: str | None, name: str) -> None:
        """Have `touched` tell that an entity came, or has another name."""
        if self.touched is not None:
            if before is None and entity not in self.touched.entities:
                self.touched.came.add(entity)
            elif name != before:
                self.touched.renamed.add(entity)

    def _change_descriptions(self, old: Mapping[int, DocumentRows], new: Mapping[int, DocumentRows]) -> None:
        """Also of documents that describe as before: their text may be another."""
        for made in old.values():
            rows = [(id, made.document.number) for id, _ in made.described()]
            self._db.executemany("DELETE FROM graph_descriptions WHERE entity = ? AND document = ?", rows)
        for number, made in new.items():
            text = text_now(self._db, number) if any(made.described()) else ""
            described = [(id, number, packed_texts(texts, text)) for id, texts in made.described()]
            self._db.executemany("INSERT INTO graph_descriptions VALUES (?, ?, ?)", described)

    def _text(self, document: int) -> str:
        """The text that the texts of a document are kept with."""
        return (text_now if document in self._written else text_before)(self._db, document)

    def _change_merges(self, old: Mapping[int, DocumentRows], new: Mapping[int, DocumentRows]) -> None:
        counts: Counter[tuple[int, str, str, str]] = Counter()
        for many, sign in ((old, -1), (new, 1)):
            for made in many.values():
                for *row, documents in made.merges():
                    counts[tuple(row)] += sign * documents  # type: ignore[index]
        rows = [(*row, count) for row, count in counts.items() if count]
        self._db.executemany(
            "INSERT INTO graph_merges VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET documents = documents + excluded.documents", rows
        )  # fmt: skip
        where = "entity = ? AND name = ? AND reason = ? AND into_name = ? AND documents = 0"
        self._db.executemany(f"DELETE FROM graph_merges WHERE {where}", [row[:-1] for row in rows])

    def _put_contents(self, contents: ContentsRow, predicates: Iterable[tuple[str, str]], texts: bytes) -> None:
        self._relations.put_contents(contents, predicates)
        if texts:
            self._db.execute("INSERT INTO graph_texts VALUES (?, ?)", (contents.document, texts))


_NAMES = tuple(line.split()[5] for line in f"{KEPT}{TABLES}".splitlines() if line.startswith("CREATE TABLE"))
_ENTITY = "SELECT name, count, names, told FROM graph_entities WHERE id = ?"
_PUT_ENTITY = "INSERT OR REPLACE INTO graph_entities VALUES (?, ?, ?, ?, ?, ?, ?)"
_NOTHING = EntityShare()
