"""A large graph made by several processes: documents are read and thought over side by side, and put away in order.

What a build has not committed yet, only it can see. So the tables of names are copied to a file for the others, in the
draft of the generation to come, which is cleared away whatever becomes of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from ragways.core.children import Children
from ragways.core.runtime import default_threads
from ragways.index.database import new_database
from ragways.index.graph import document_work
from ragways.index.graph.claim_rows import TABLE as CLAIMS
from ragways.index.graph.corpus_names import TABLES as NAMES
from ragways.index.graph.document_work import (
    DocumentWork,
    PackedDocument,
    claims_of,
    held_piece,
    packed_piece,
    reads_of,
    shares_of,
    source_piece,
    thoughts_of,
)
from ragways.index.graph.facts import Source
from ragways.index.graph.held_names import KINDS, TAKEN, HeldDocument, HeldNames
from ragways.index.graph.kept_facts import Read, packed_documents
from ragways.index.graph.updates import Claims, DocumentShare
from ragways.index.settings import GraphSettings
from ragways.index.store import Store, derived_folder

MANY = 4000
"""Documents from which on it is worth to start other processes."""
_AT_ONCE = 64
_CHARACTERS = 200_000
"""Documents of a piece, and characters of their texts, at most: what comes of a piece is held in memory."""
_FILE = "names.sqlite"

D = TypeVar("D")


class StageTeller(Protocol):
    """The same documents; how far a stage has come is told meanwhile."""

    def __call__(self, stage: str, items: Iterable[D], /) -> Iterable[D]: ...


class GraphWorkers:
    """Processes that read documents of a store, and think them over. They are started when there is something to do."""

    def __init__(self, store: Store, settings: GraphSettings, forbidden: Collection[str]) -> None:
        self._store, self._settings, self._forbidden = store, settings, sorted(forbidden)
        generation = store.meta()["generation"]
        self._folder = derived_folder(store.folder, int(generation)).with_name(f"{generation}.draft")
        self._children: Children | None = None
        self._step = 0
        self._here: tuple[int, DocumentWork] | None = None

    @property
    def useful(self) -> bool:
        """Whether there is enough to do, and more than one processor to do it."""
        return bool(sys.executable) and self._processes > 1 and self._store.count("documents") >= MANY

    @property
    def _processes(self) -> int:
        return self._settings.processes or default_threads()

    def close(self) -> None:
        if self._children is not None:
            self._children.close()
            (self._folder / _FILE).unlink(missing_ok=True)

    # Reading

    def read(self, sources: Iterable[Source], names: bool) -> Iterator[Read]:
        """Documents as the rules read them, in their order, with their names where these are wanted."""
        some = _batches(sources, lambda source: len(source.text))
        what = "facts_and_names" if names else "facts"
        for found in self._map(what, (list(map(source_piece, each)) for each in some)):
            yield from reads_of(found)

    # Passes

    def passes(self, held: HeldNames, told: StageTeller) -> WorkerPasses:
        """The passes over all documents, when the facts of all are kept, and their names held."""
        return WorkerPasses(self, held, told)

    def claims(self, step: str, documents: Iterable[HeldDocument]) -> Iterator[Any]:
        """What documents claim, so many at once, and what is left of them."""
        some = _batches(documents, lambda document: len(document[1]))
        return self._map(step, (list(map(held_piece, each)) for each in some))

    def shares(self, documents: Iterable[tuple[PackedDocument, HeldDocument]]) -> Iterator[DocumentShare]:
        """Shares of documents, in their order."""
        some = _batches(documents, lambda document: len(document[0][2]))
        for found in self._map("shares", ([packed_piece(*one) for one in each] for each in some)):
            yield from shares_of(found)

    def packed_documents(self) -> Iterator[PackedDocument]:
        return packed_documents(self._store.db)

    # What others see

    def show_claims(self) -> None:
        """Have the others see what is claimed by now."""
        self._see_to_names()
        with new_database(self._folder / _FILE) as names:
            names.execute("DROP TABLE IF EXISTS graph_claims")
            names.execute(CLAIMS)
            rows = self._store.db.execute("SELECT name, said FROM graph_claims ORDER BY name")
            names.executemany("INSERT INTO graph_claims VALUES (?, ?)", rows)
        self._step += 1

    def _see_to_names(self) -> None:
        if self._children is not None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / _FILE).unlink(missing_ok=True)  # of a run that was killed
        statements = [statement for statement in NAMES.split(";\n") if statement.strip()]
        tables = [statement for statement in statements if "CREATE TABLE" in statement]
        with new_database(self._folder / _FILE) as names:
            for statement in tables:
                names.execute(statement)
                table = statement.partition("IF NOT EXISTS ")[2].partition(" ")[0]
                rows = self._store.db.execute(f"SELECT * FROM {table}")  # noqa: S608 - a name of ours
                marks = ", ".join("?" * len(rows.description))
                names.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
            for statement in statements:
                if statement not in tables:
                    names.execute(statement)
        self._children = Children(document_work.__name__, self._processes, self._do_here)

    def _map(self, what: str, pieces: Iterable[list[object]]) -> Iterator[Any]:
        self._see_to_names()
        assert self._children is not None  # noqa: S101 - they have just been started
        common = {
            "names": str(self._folder / _FILE),
            "step": self._step,
            "settings": self._settings.model_dump(mode="json"),
            "forbidden": self._forbidden,
            "do": what,
        }
        return self._children.map(common | {"documents": documents} for documents in pieces)

    def _do_here(self, piece: dict[str, Any]) -> object:
        """What a child could not do."""
        if self._here is None or self._here[0] != self._step:
            self._here = self._step, DocumentWork(self._store.db, self._settings, self._forbidden)
        return document_work.do(self._here[1], piece)


def _batches(documents: Iterable[D], size_of: Callable[[D], int]) -> Iterator[list[D]]:
    some: list[D] = []
    room = _CHARACTERS
    for document in documents:
        some.append(document)
        room -= size_of(document)
        if room <= 0 or len(some) == _AT_ONCE:
            yield some
            some, room = [], _CHARACTERS
    if some:
        yield some


class WorkerPasses:
    """The passes over all documents, by several processes."""

    def __init__(self, workers: GraphWorkers, held: HeldNames, told: StageTeller) -> None:
        self._workers, self._held, self._told = workers, held, told

    def heard(self) -> Iterator[Claims]:
        for found, _ in self._workers.claims("heard", self._documents("")):
            yield claims_of(found)

    def taken(self) -> Iterator[Claims]:
        self._workers.show_claims()
        return self._claimed(TAKEN, self._documents(""))

    def kinds(self) -> Iterator[Claims]:
        self._workers.show_claims()
        return self._claimed(KINDS, self._documents(TAKEN))

    def shares(self) -> Iterator[DocumentShare]:
        self._workers.show_claims()
        documents = zip(self._workers.packed_documents(), self._held.documents(KINDS), strict=True)
        return self._workers.shares(self._told("making the graph", documents))

    def _documents(self, after: str) -> Iterable[HeldDocument]:
        return self._told("comparing names", self._held.documents(after))

    def _claimed(self, step: str, documents: Iterable[HeldDocument]) -> Iterator[Claims]:
        for found, thoughts in self._workers.claims(step, documents):
            self._held.leave(step, thoughts_of(thoughts))
            yield claims_of(found)
