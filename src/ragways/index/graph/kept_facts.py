"""What the documents say, kept in the store: a document is read again when it has changed, or when something of the
corpus that it asked for has.

With its facts a document leaves the keys of what it asked (`CorpusNames.keys`), by which it is found (`asked_keys`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from ragways.core.runtime import told
from ragways.index.database import create_tables, has_table
from ragways.index.gone_texts import text_before, text_now
from ragways.index.graph.asked_keys import AskedKeys, Keys, packed_buckets, table_of_keys, take_over_keys
from ragways.index.graph.claim_rows import take_over_claims
from ragways.index.graph.concerned import documents_concerned
from ragways.index.graph.corpus_changes import Changed, TextOf, change_corpus, fill_corpus, take_over_titles
from ragways.index.graph.corpus_names import TABLES as CORPUS_TABLES
from ragways.index.graph.corpus_names import CorpusNames
from ragways.index.graph.data import DocumentFacts
from ragways.index.graph.facts import Entity, PassageFacts, Source, sources
from ragways.index.graph.held_names import HeldNames
from ragways.index.graph.packed_facts import packed_facts, unpacked_facts, unpacked_names
from ragways.index.graph.resolve import DocumentNames
from ragways.index.graph.rules import structure_facts, text_facts
from ragways.index.layer import BuildContext
from ragways.index.settings import GraphSettings

KEYS = "graph_keys"
_TABLES = f"""
-- How the rest was made, and for which generation.
CREATE TABLE IF NOT EXISTS graph_state (made TEXT NOT NULL, generation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS graph_facts (
    document INTEGER PRIMARY KEY, place INTEGER NOT NULL UNIQUE, buckets BLOB NOT NULL, facts BLOB NOT NULL
);
{table_of_keys(KEYS)}{CORPUS_TABLES}"""
_FORMAT = "11"
"""Changes when what is kept, or what the rules find in a text, does."""
_KEYS_BEFORE, _CLAIMS_BEFORE = "9", "10"
"""Those before, in which only keys were kept otherwise, and only claims, titles and stems."""
_FINDING = "finding facts"
_MUCH = 4
"""Where more than one document in so many has changed, all are read again: that is quicker than asking which."""


@dataclass
class FactsRun:
    """What a run did to the facts that are kept. `whole`: all were read, and what was before is not known."""

    corpus: CorpusNames
    whole: bool = False
    changed: Changed = field(default_factory=Changed)
    before: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    """Facts as they were, of documents that went or say something else, and the texts in which they were found."""
    read: Set[int] = frozenset()
    """Documents that were read and say something else than before."""


class Read(NamedTuple):
    """A document's number, the keys of what it asked, and its packed facts; none of a redirect, which says nothing.
    `names` are its packed names, where they are wanted.
    """

    number: int
    keys: Keys
    facts: bytes | None
    names: bytes | None = None


class Readers(Protocol):
    """Others that may read all documents, once the names of the corpus are in the tables."""

    @property
    def useful(self) -> bool:
        """Whether that is worth it."""

    def read(self, sources: Iterable[Source], names: bool) -> Iterable[Read]:
        """Read documents, in their order, with their names where these are wanted."""


def facts_by_rules(
    context: BuildContext, settings: GraphSettings, readers: Readers | None = None, held: HeldNames | None = None
) -> FactsRun:
    """See to it that the facts of all documents are kept, as the rules find them; what that changed. Where all are
    read, `held` takes up their names.
    """
    store = context.store
    create_tables(store.db, _TABLES)
    made = f"{_FORMAT} {settings.method == 'rules'} {settings.structure}"
    generation = store.meta()["generation"]
    state = _state_taken_over(store.db)
    if state == (made, generation):
        return FactsRun(CorpusNames(store.db))
    changes = context.changed_documents
    if changes is None or state != (made, str(int(generation) - 1)):
        return FactsRun(_read_all(context, settings, made, readers, held), whole=True)
    touched = changes.added | changes.changed | changes.removed
    if _MUCH * len(touched) > store.count("documents"):
        return FactsRun(_read_all(context, settings, made, readers, held), whole=True)
    fresh = sources(store, sorted(changes.fresh))
    changed = change_corpus(store.db, sorted(touched), fresh, *_texts(store.db))
    if settings.method != "rules":  # no sentence is read
        changed.called, changed.phrases = {}, set()
    corpus = CorpusNames(store.db)
    kept = _Kept(store.db)
    concerned = documents_concerned(store, AskedKeys(store.db, KEYS), corpus, changed, touched)
    for number in sorted(touched - changes.fresh):
        kept.drop(number)
    for number, (gone, come) in concerned.asking.items():
        kept.ask(number, gone, come)
    reading = sorted(concerned.read | changes.fresh)
    found = told(context.progress, _FINDING, sources(store, reading), len(reading))
    kept.put_all(read(source, corpus, settings) for source in found)
    store.db.execute("UPDATE graph_state SET generation = ?", (generation,))
    return FactsRun(corpus, False, changed, kept.before, kept.read)


def _state_taken_over(db: sqlite3.Connection) -> tuple[str, str] | None:
    """How facts were made, and for which generation. Where only keys, claims or titles were kept otherwise then,
    they are brought up to date: what was found is not looked for again.
    """
    state: tuple[str, str] | None = db.execute("SELECT made, generation FROM graph_state").fetchone()
    before, _, made = state[0].partition(" ") if state else ("", "", "")
    if state is None or before not in (_KEYS_BEFORE, _CLAIMS_BEFORE):
        return state
    for table, holder in ((KEYS, "graph_facts"), ("graph_meaning_keys", "graph_meanings")):
        if before == _KEYS_BEFORE and has_table(db, holder):
            take_over_keys(db, table, holder)
    if has_table(db, "graph_claims"):
        take_over_claims(db)
    take_over_titles(db)
    made = f"{_FORMAT} {made}"
    db.execute("UPDATE graph_state SET made = ?", (made,))
    return made, state[1]


def _read_all(
    context: BuildContext, settings: GraphSettings, made: str, readers: Readers | None, held: HeldNames | None
) -> CorpusNames:
    store = context.store
    for kind, name in store.db.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name GLOB 'graph_*'"
    ).fetchall():
        store.db.execute(f"DROP {kind} {name}")
    create_tables(store.db, _TABLES)
    total = store.count("documents")
    fill_corpus(store.db, told(context.progress, "collecting names", sources(store), total), _texts(store.db)[1])
    corpus = CorpusNames(store.db)
    found = told(context.progress, _FINDING, sources(store), total)
    names = held is not None
    if readers is not None and readers.useful:
        _Kept(store.db).put_all(readers.read(found, names), held)
    else:
        _Kept(store.db).put_all((read(source, corpus, settings, names=names) for source in found), held)
    store.db.execute("INSERT INTO graph_state VALUES (?, ?)", (made, store.meta()["generation"]))
    return corpus


def _texts(db: sqlite3.Connection) -> tuple[TextOf, TextOf]:
    """Texts of documents as they were, and as they are."""
    return partial(text_before, db), partial(text_now, db)


def corpus_of(documents: Sequence[Source]) -> CorpusNames:
    """What these documents tell of names, in a database of its own."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(db, _TABLES)
    texts = {source.number: source.text for source in documents}
    fill_corpus(db, documents, texts.__getitem__)
    return CorpusNames(db)


# Reading


def read(source: Source, corpus: CorpusNames, settings: GraphSettings, *, names: bool = False) -> Read:
    """Read a document by the rules; `names`: whether its names are wanted too."""
    corpus.begin()
    if source.redirect:
        return Read(source.number, corpus.keys(), None)
    said: list[list[PassageFacts]] = [[] for _ in source.passages]
    ways = [structure_facts] if settings.structure or settings.method == "rules" else []
    for way in [*ways, *([text_facts] if settings.method == "rules" else [])]:
        for found, facts in zip(said, way(source, corpus), strict=True):
            found.append(facts)
    packed = packed_facts(source.title, source.text, zip(source.passages, said, strict=True))
    if not names:
        return Read(source.number, corpus.keys(), packed)
    heard = _names(source.title, ((facts.entities, facts.ends) for found in said for facts in found))
    return Read(source.number, corpus.keys(), packed, heard.packed())


def packed_documents(db: sqlite3.Connection) -> Iterator[tuple[int, bytes, str]]:
    """All documents by number, each with its packed facts and its text."""
    yield from db.execute(f"{_FACTS} ORDER BY document")


def kept_facts(db: sqlite3.Connection) -> Iterator[DocumentFacts]:
    """The facts of all documents, by number."""
    for number, packed, text in packed_documents(db):
        yield document_facts(number, packed, text)


def kept_names(db: sqlite3.Connection) -> Iterator[tuple[int, DocumentNames]]:
    """The names of all documents, by number; a good deal quicker than their facts."""
    for number, packed, text in packed_documents(db):
        yield number, _names(*unpacked_names(packed, text))


def _names(title: str, named: Iterable[tuple[Iterable[Entity], Iterable[str]]]) -> DocumentNames:
    """By the entities of chunks, and the names that relations have at their ends."""
    names = DocumentNames(title)
    for entities, ends in named:
        names.hear(entities, ends)
    return names


def has_facts(db: sqlite3.Connection, number: int) -> bool:
    """Whether a document has facts: a redirect has none."""
    return db.execute("SELECT 1 FROM graph_facts WHERE document = ?", (number,)).fetchone() is not None


def facts_of(db: sqlite3.Connection, number: int) -> DocumentFacts:
    """The facts of one document that has some."""
    return document_facts(*db.execute(f"{_FACTS} WHERE document = ?", (number,)).fetchone())


_FACTS = "SELECT document, facts, text FROM graph_facts JOIN documents ON number = document"


def document_facts(number: int, packed: bytes, text: str) -> DocumentFacts:
    """Facts as they are kept; the text of the document is the one in which they were found."""
    title, chunks = unpacked_facts(packed, number, text)
    return DocumentFacts(number, title, [(id, [("rules", facts) for facts in said]) for id, said in chunks])


# Keeping


class _Kept:
    """Facts that are put and dropped, with the keys that lead to their documents."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._keys = AskedKeys(db, KEYS)
        self.before: dict[int, tuple[bytes, str]] = {}
        """Facts that are no longer, or others now."""
        self.read: set[int] = set()
        """Documents that have others than before, or none any more."""

    def put_all(self, read: Iterable[Read], held: HeldNames | None = None) -> None:
        """`held` takes up the names that come with them."""
        for number, keys, facts, names in read:
            place = self.drop(number)
            if facts is not None:
                self._db.execute(
                    "INSERT INTO graph_facts SELECT ?, coalesce(?, 1 + max(place), 0), ?, ? FROM graph_facts",
                    (number, place, packed_buckets(keys), facts),
                )
                (place,) = self._db.execute("SELECT place FROM graph_facts WHERE document = ?", (number,)).fetchone()
                self._keys.put(place, keys)
            if held is not None and names is not None:
                held.put(number, names)
            was, text = self.before.get(number, (None, ""))
            if was == facts and (was is None or text == text_now(self._db, number)):
                self.before.pop(number, None)
            else:
                self.read.add(number)
        self._keys.flush()

    def ask(self, number: int, gone: Set[int], come: Set[int]) -> None:
        """A document says what it did, but does not leave some keys any more, and leaves others."""
        query = "SELECT place, buckets FROM graph_facts WHERE document = ?"
        place, buckets = self._db.execute(query, (number,)).fetchone()
        keys = np.array(sorted({*self._keys.keys_of(place, buckets).tolist(), *come} - gone), np.uint32)
        self._keys.drop(place, buckets)
        self._keys.put(place, keys)
        self._db.execute("UPDATE graph_facts SET buckets = ? WHERE document = ?", (packed_buckets(keys), number))

    def drop(self, number: int) -> int | None:
        """Drop a document's facts; its place, if it had one."""
        query = "SELECT place, buckets, facts FROM graph_facts WHERE document = ?"
        row = self._db.execute(query, (number,)).fetchone()
        if row is None:
            return None
        self._keys.drop(row[0], row[1])
        self.before[number] = row[2], text_before(self._db, number)
        self._db.execute("DELETE FROM graph_facts WHERE document = ?", (number,))
        return int(row[0])
