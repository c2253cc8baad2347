"""The tables of the graph brought up to date with the documents.

With its meaning a document leaves the keys of what it asked of the corpus, as it does with its facts, and it is thought
over again only when an answer has changed. That goes in three steps, because what a document takes for a short form
tells something to others, and so do the kinds of the things that its names lead to.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.index.database import create_tables
from ragways.index.graph.asked_keys import AskedKeys, Keys, packed_buckets, table_of_keys
from ragways.index.graph.claim_rows import TABLE, Claim
from ragways.index.graph.claims import Into, NameAnswers, fill_claims
from ragways.index.graph.data import DocumentFacts, DocumentGraph, document_graph
from ragways.index.graph.graph_rows import as_json
from ragways.index.graph.graph_tables import KEPT, GraphTables, LaidDown
from ragways.index.graph.graph_tables import TABLES as ROW_TABLES
from ragways.index.graph.held_names import KINDS, TAKEN, HeldDocument, HeldNames
from ragways.index.graph.kept_facts import FactsRun, document_facts, facts_of, has_facts
from ragways.index.graph.meanings import DocumentMeaning
from ragways.index.graph.names import fold
from ragways.index.graph.resolve import Key

_KEYS = "graph_meaning_keys"
_OWN_TABLES = f"""
-- What each document means: its place, the buckets of the keys of what it asked, and its claims and names.
CREATE TABLE IF NOT EXISTS graph_meanings (
    document INTEGER PRIMARY KEY, place INTEGER NOT NULL, buckets BLOB NOT NULL, meaning BLOB NOT NULL
);
{TABLE}{table_of_keys(_KEYS)}"""
TABLES = f"{_OWN_TABLES}{KEPT}{ROW_TABLES}"
_AT_ONCE = 1000
"""Documents whose shares of the graph are held at once."""
_IN_MEMORY = 20_000
"""Chunks, of documents whose facts are held while the tables are made or changed, at most: some 20 KB each."""


_DICTIONARY = (
    b'["i","y","same name","short form","alias","acronym","redirect","the only article of this name","organization",'
    b'"place","person"],["k","1898","date"],["k","1898 10 04","date"],["k","","person"]],[],[]]'
)
"""What meanings say most, to compress them by. With another one, none that are kept can be read."""

Claims = Iterable[tuple[Claim, int]]


class DocumentShare(NamedTuple):
    """What is kept of a document that was thought over: its number, the keys of what it asked for that, its packed
    meaning, and what it adds to the tables.
    """

    number: int
    keys: Keys
    meaning: bytes
    rows: LaidDown


class Passes(Protocol):
    """All documents gone through four times, each time when what the passes before tell is in the tables: what they
    claim with their names, by taking one name for another, and by the kinds of things; and their shares of the graph.
    """

    def heard(self) -> Iterable[Claims]: ...
    def taken(self) -> Iterable[Claims]: ...
    def kinds(self) -> Iterable[Claims]: ...
    def shares(self) -> Iterable[DocumentShare]: ...


def fill_graph(
    db: sqlite3.Connection,
    passes: Passes,
    answers: NameAnswers,
    near: Callable[[], Mapping[str, Into]],
    progress: ProgressCallback = silent,
) -> None:
    """Make the tables anew, of all documents. `near` tells what names are taken for that are alike, when all names are
    known.
    """
    db.execute("DROP VIEW IF EXISTS graph_relations")  # of an earlier version, as is the table behind it
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if f"TABLE IF NOT EXISTS {table} " in TABLES or table == "graph_relation_rows":
            db.execute(f"DROP TABLE {table}")
    create_tables(db, TABLES)
    fill_claims(db, passes.heard())
    answers.forget()
    answers.near = near()
    fill_claims(db, passes.taken())
    answers.forget()
    fill_claims(db, passes.kinds())
    answers.forget()
    kept = _Meanings(db)

    def documents() -> Iterator[LaidDown]:
        for number, keys, meaning, rows in passes.shares():
            kept.put(number, keys, meaning)
            yield rows
        progress(Progress("sorting the graph", 0))

    GraphTables(db).fill(documents(), shown=answers.shown, common=answers.common)
    kept.flush()


class PassesInMemory:
    """The passes over documents that are held in memory, as long as they are few."""

    def __init__(self, facts: Iterable[DocumentFacts], answers: NameAnswers, text: Callable[[int], str]) -> None:
        self._held = [(each, DocumentMeaning(each.names(), answers)) for each in facts]
        self._text = text

    def heard(self) -> Iterator[Claims]:
        return (meaning.heard() for _, meaning in self._held)

    def taken(self) -> Iterator[Claims]:
        return (meaning.taken() for _, meaning in self._held)

    def kinds(self) -> Iterator[Claims]:
        return (meaning.kinds() for _, meaning in self._held)

    def shares(self) -> Iterator[DocumentShare]:
        return (share_of(facts, meaning, self._text) for facts, meaning in self._held)


class PassesHere:
    """The passes in this process. `documents` gives those that are held, after a pass; `facts` all facts by number."""

    def __init__(
        self,
        held: HeldNames,
        documents: Callable[[str], Iterable[HeldDocument]],
        facts: Callable[[], Iterable[DocumentFacts]],
        answers: NameAnswers,
        text: Callable[[int], str],
    ) -> None:
        self._held, self._documents, self._facts, self._answers, self._text = held, documents, facts, answers, text

    def heard(self) -> Iterator[Claims]:
        return (meaning.heard() for _, meaning in self._meanings(self._documents("")))

    def taken(self) -> Iterator[Claims]:
        for number, meaning in self._meanings(self._documents("")):
            yield list(meaning.taken())
            self._held.leave(TAKEN, [(number, meaning.thought())])

    def kinds(self) -> Iterator[Claims]:
        for number, meaning in self._meanings(self._documents(TAKEN)):
            yield list(meaning.kinds())
            self._held.leave(KINDS, [(number, meaning.thought())])

    def shares(self) -> Iterator[DocumentShare]:
        for facts, (_, meaning) in zip(self._facts(), self._meanings(self._held.documents(KINDS)), strict=True):
            yield share_of(facts, meaning, self._text)

    def _meanings(self, documents: Iterable[HeldDocument]) -> Iterator[tuple[int, DocumentMeaning]]:
        for number, names, thought in documents:
            yield number, DocumentMeaning.going_on(names, thought, self._answers)


def fits_in_memory(db: sqlite3.Connection) -> bool:
    """Whether the facts of all documents may be held at once."""
    return bool(db.execute("SELECT count(*) FROM chunks").fetchone()[0] <= _IN_MEMORY)


def share_of(facts: DocumentFacts, meaning: DocumentMeaning, text: Callable[[int], str]) -> DocumentShare:
    """Think a document over. `text`: that of a document."""
    thought = _Thought.of(facts, meaning)
    return DocumentShare(facts.number, thought.keys, thought.meaning.packed(), LaidDown.of(thought.graph, text))


def change_graph(
    db: sqlite3.Connection, run: FactsRun, answers: NameAnswers, before_run: Path | None = None
) -> GraphTables:
    """Change what the changed facts of a run change; the tables, which tell what they were touched by. `before_run`:
    the derived folder of the generation before, if it is there.
    """
    kept = _Meanings(db)
    before = {number: document_facts(number, packed, text) for number, (packed, text) in run.before.items()}
    read = {number: facts_of(db, number) for number in sorted(run.read) if has_facts(db, number)}
    gone = before.keys() - read.keys()

    held: dict[int, tuple[DocumentFacts, DocumentMeaning]] = {}
    room = _IN_MEMORY

    def now(number: int) -> DocumentFacts:
        return read.get(number) or facts_of(db, number)

    def thought(number: int) -> tuple[DocumentFacts, DocumentMeaning]:
        """What a document says and means, as far as the steps until now tell; kept for the next ones where there are
        few.
        """
        nonlocal room
        found = held.get(number)
        if found is None:
            facts = now(number)
            found = facts, DocumentMeaning(facts.names(), answers)
            if room > 0:
                held[number] = found
                room -= len(facts.chunks)
        return found

    claims: Counter[Claim] = Counter()
    for facts in read.values():
        _add(claims, DocumentMeaning(facts.names(), answers).heard(), 1)
    for facts in before.values():
        _add(claims, DocumentMeaning(facts.names(), answers).heard(), -1)
    told = answers.change(claims, run.changed.ends)
    concerned = read.keys() | (kept.concerned(told.keys | run.changed.keys | run.changed.word_keys.keys()) - gone)
    for claimed, letters in ((DocumentMeaning.taken, "iy"), (DocumentMeaning.kinds, "k")):
        claims = Counter()
        for number in concerned:
            _add(claims, claimed(thought(number)[1]), 1)
        for number in concerned | gone:
            _add(claims, ((claim, 1) for claim in kept.meaning(number).claims if claim[0] in letters), -1)
        concerned |= kept.concerned(answers.change(claims).keys) - gone
    tables = GraphTables(db, before_run)
    rest = iter([*sorted(gone), *sorted(concerned)])  # a new one may have the place of one that is gone
    renamed, words = told.renamed, set(run.changed.words)
    while some := list(islice(rest, _AT_ONCE)):
        old, new = [], []
        for number in some:
            if kept.has(number):
                facts = before[number] if number in before else now(number)
                old.append(kept.meaning(number).graph(facts))
            if number in gone:
                kept.drop(number)
                continue
            made = _Thought.of(*thought(number))
            kept.put(number, made.keys, made.meaning.packed())
            new.append(made.graph)
        # A document whose text is another has its texts in other places, even if it says the same.
        same = _same(old, new) - run.read
        answers.asked = set()  # what rows ask is asked by no document
        tables.change(
            [graph for graph in old if graph.number not in same],
            [graph for graph in new if graph.number not in same],
            shown=answers.shown,
            common=answers.common,
            renamed=renamed,
            words=words,
        )
        renamed, words = set(), set()
    tables.change([], [], shown=answers.shown, common=answers.common, renamed=renamed, words=words)
    kept.flush()
    return tables


def _add(claims: Counter[Claim], more: Iterable[tuple[Claim, int]], sign: int) -> None:
    for claim, count in more:
        claims[claim] += sign * count


def _same(old: Sequence[DocumentGraph], new: Sequence[DocumentGraph]) -> set[int]:
    """Documents that add what they added before."""
    known = {graph.number: graph for graph in old}
    return {graph.number for graph in new if known.get(graph.number) == graph}


@dataclass(frozen=True)
class _Meaning:
    """A document's meaning as it is kept: what it claims after the first step, the entities that its names and types
    lead to where that is not the name itself, and what names were taken for.
    """

    claims: Sequence[Claim]
    keys: dict[tuple[str, str], Key]
    merges: dict[tuple[str, Key], Into]

    def graph(self, facts: DocumentFacts) -> DocumentGraph:
        """What the document adds to the graph."""
        return document_graph(
            facts,
            lambda name, type: self.keys.get((name, type)) or (fold(name), ""),
            lambda name, key: self.merges.get((name, key)),
        )

    def packed(self) -> bytes:
        plain = [
            self.claims,
            [[*asked, *key] for asked, key in self.keys.items()],
            [[name, *key, *into] for (name, key), into in self.merges.items()],
        ]
        press = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_DICTIONARY)
        return press.compress(as_json(plain).encode("utf-8", "surrogatepass")) + press.flush()

    @classmethod
    def unpacked(cls, packed: bytes) -> _Meaning:
        plain = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_DICTIONARY).decompress(packed)
        claims, keys, merges = json.loads(plain.decode("utf-8", "surrogatepass"))
        return cls(
            [(a, b, c) for a, b, c in claims],
            {(name, type): (first, second) for name, type, first, second in keys},
            {(name, (first, second)): (into, why) for name, first, second, into, why in merges},
        )


@dataclass(frozen=True)
class _Thought:
    """A document that was thought over: the keys of what it asked for that, its meaning, and its share of the graph."""

    keys: Keys
    meaning: _Meaning
    graph: DocumentGraph

    @classmethod
    def of(cls, facts: DocumentFacts, document: DocumentMeaning) -> _Thought:
        claims = [claim for claim, _ in (*document.taken(), *document.kinds())]
        graph, keys, merges = document.graph(facts)
        return cls(np.array(sorted(document.asked), dtype=np.uint32), _Meaning(sorted(claims), keys, merges), graph)


class _Meanings:
    """The table of meanings, and that of the keys that lead to their documents."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._keys = AskedKeys(db, _KEYS)

    def has(self, number: int) -> bool:
        return self._db.execute("SELECT 1 FROM graph_meanings WHERE document = ?", (number,)).fetchone() is not None

    def meaning(self, number: int) -> _Meaning:
        """What a document means, as it is kept; nothing of one that is new."""
        row = self._db.execute("SELECT meaning FROM graph_meanings WHERE document = ?", (number,)).fetchone()
        return _Meaning((), {}, {}) if row is None else _Meaning.unpacked(row[0])

    def concerned(self, keys: Collection[int]) -> set[int]:
        """Documents that left one of these keys."""
        return self._keys.documents(keys)

    def put(self, number: int, keys: Keys, meaning: bytes) -> None:
        self.drop(number)
        (place,) = self._db.execute("SELECT place FROM graph_facts WHERE document = ?", (number,)).fetchone()
        self._db.execute(
            "INSERT INTO graph_meanings VALUES (?, ?, ?, ?)", (number, place, packed_buckets(keys), meaning)
        )
        self._keys.put(place, keys)

    def drop(self, number: int) -> None:
        row = self._db.execute("SELECT place, buckets FROM graph_meanings WHERE document = ?", (number,)).fetchone()
        if row is not None:
            self._keys.drop(*row)
            self._db.execute("DELETE FROM graph_meanings WHERE document = ?", (number,))

    def flush(self) -> None:
        self._keys.flush()
