"""An index as paradigms read it: the rows of one snapshot and the newest published views, opened once.

Rows may be ahead of the views while a run goes on: documents that changed since the views were made are `stale`, and
hits on them are left out. A view that is missing or damaged is made again from the rows, where that can be done.
"""

from __future__ import annotations

import logging
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from ragways.core.errors import MissingLayer, StoreBusy, StoreDamaged, StoreError
from ragways.core.text import counted
from ragways.core.types import Origin, content_hash
from ragways.index.views import Views, published
from ragways.layers.table import LAYERS
from ragways.store.documents import StoredDocuments
from ragways.store.store import Store

if TYPE_CHECKING:
    from ragways.layers.protocols import Communities, Graph, Vectors, Windows, Words

T = TypeVar("T")
_NAMED = 3
"""Documents that the source of a report names."""


class Index(StoredDocuments):
    """Documents and layers, read-only: what is written after it was opened stays out of sight until `begin`."""

    where = ""
    """The filter that this index is restricted by."""
    matches_nothing = False
    """Whether there is a filter that no document matches."""
    _lock: int | None = None
    """On the views, as long as the snapshot lasts."""

    def __init__(self, store: Store, views: Views | None = None) -> None:
        super().__init__(store)
        self.folder = store.folder
        self.views = views
        self._layers: dict[str, object] = {}
        self._read_settings()

    def _read_settings(self) -> None:
        """Read what rows say of the index, and forget what was made of rows before."""
        self._begin_anew()
        meta = self.store.meta()
        self.generation = int(meta["generation"])
        self.layers = frozenset(meta.get("layers", "").split())
        self.embedder = meta.get("embedder", "")
        self.chunking = meta.get("chunking", "")
        self.stale = stale_documents(self.store, self.views)
        self._made: dict[Callable[[Index], object], object] = {}
        self.filtered: OrderedDict[str, Index] = OrderedDict()
        """Restricted indexes by their filter (`filtered.py`)."""
        self.__dict__.pop("_counts", None)

    @classmethod
    def open(cls, folder: Path) -> Index:
        """The index in a folder, at its last whole batch, with the newest views that show no later one."""
        store = Store.open(folder)
        lock: int | None = None
        try:
            views, lock = locked_views(store)
            index = cls(store, views)
        except BaseException:
            store.close()
            if lock is not None:
                os.close(lock)
            raise
        index._lock = lock
        return index

    @property
    def _state(self) -> tuple[int, Path | None]:
        return self.generation, self.views.folder if self.views is not None else None

    def close(self) -> None:
        for layer in self._layers.values():
            if hasattr(layer, "close"):
                layer.close()
        self.pause()
        self.store.close()

    # Snapshots

    def begin(self) -> bool:
        """Begin to read again after `pause`, at the newest rows. False where other views are published or another index
        is in place: then open it anew.
        """
        if not self.store.resume():
            return False
        views, self._lock = locked_views(self.store)
        if (views.folder if views is not None else None) != self._state[1]:
            self.pause()
            return False
        if self.store.generation != self.generation:
            self._read_settings()
        return True

    def pause(self) -> None:
        """Let go of the snapshot, so that a writer can shorten its log and remove old views, until the next `begin`."""
        self.store.pause()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_newest(self) -> bool:
        """Whether nothing was written since this snapshot began."""
        with closing(Index.open(self.folder)) as newest:
            return newest._state == self._state

    def once(self, make: Callable[[Index], T]) -> T:
        """What this function makes of the index; made when first asked for, and again when documents have changed."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])

    # Layers

    def require(self, layers: Iterable[str]) -> None:
        """Raise, with the command that helps, unless all these layers are built."""
        missing = sorted(set(layers) - self.layers)
        if missing:
            raise MissingLayer(
                f"this index has no {' and no '.join(missing)}",
                f"build with: ragways index PATH --with {','.join(sorted(self.layers | set(missing)))}",
            )

    def layer(self, name: str) -> object:
        """What a layer offers to paradigms, by name. Opened once."""
        if name not in self._layers:
            self.require([name])
            layer = LAYERS.find(name)
            with _readable(view := self._view(name)):
                opened = layer.open(view, self.store)
            if opened is None:
                raise MissingLayer(f"the layer {name!r} has nothing to read", "ask the author of its package")
            self._layers[name] = opened
        return self._layers[name]

    def _view(self, name: str) -> Path:
        """The folder of a layer's view, once it is whole."""
        if problem := self._problem(name):
            if self.views is not None:
                logging.getLogger("ragways").warning("ragways: %s, and is made again", problem)
            self.views = self._made_again(problem)
            if still := self._problem(name):
                raise StoreDamaged(still, f"run again: ragways index PATH --index {self.folder}")
        assert self.views is not None  # noqa: S101 - there is no problem
        return self.views.of(name)

    def _problem(self, name: str) -> str:
        """What is wrong with a layer's view, if anything."""
        if self.views is None or name not in self.views.layers:
            return f"the index in {self.folder} has no view of its layer {name} yet"
        if damaged := self.views.damaged(name):
            return f"{self.views.folder / damaged[0]} was damaged"
        return ""

    def _made_again(self, problem: str) -> Views | None:
        from ragways.index.writer import make_views

        before = self.generation
        self.pause()  # the new views are of a new generation, with the same documents
        try:
            make_views(self.folder)
        except StoreBusy as error:
            raise StoreBusy(problem, "it is being written to: ask again when that has ended") from error
        except StoreError as error:
            raise type(error)(f"{problem}, and could not be made again: {error.message}", error.cure) from error
        finally:
            same = self.store.resume()
        if not same or self.store.changed_since(before):
            raise StoreBusy(f"the index in {self.folder} has changed meanwhile", "ask again")
        views, self._lock = locked_views(self.store)
        self.generation = self.store.generation
        return views

    @property
    def vectors(self) -> Vectors:
        """The vectors of chunks."""
        return cast("Vectors", self.layer("vectors"))

    @property
    def words(self) -> Words:
        return cast("Words", self.layer("words"))

    @property
    def graph(self) -> Graph:
        """The knowledge graph."""
        return cast("Graph", self.layer("graph"))

    @property
    def communities(self) -> Communities:
        """Communities of the knowledge graph, and their reports."""
        return cast("Communities", self.layer("communities"))

    @property
    def windows(self) -> Windows:
        """The graph of sentence windows."""
        return cast("Windows", self.layer("windows"))

    def origins(self, spans: Sequence[tuple[str, int, int]]) -> list[Origin]:
        found = super().origins(spans)
        reports = {id: self._report_origin(id) for id, _, _ in spans if id.startswith("community:")}
        return [reports.get(id, origin) for (id, _, _), origin in zip(spans, found, strict=True)]

    def _report_origin(self, id: str) -> Origin:
        """Where a community's report is from: the documents that name most of its entities."""
        if not {"communities", "graph"} <= self.layers:
            return Origin()
        members = self.communities.members(id)
        counts = Counter[str]()
        for chunk, count in self.graph.mentions(members):
            counts[":".join(chunk.split(":", 2)[:2])] += round(count)
        keys = self.keys(document for document, _ in counts.most_common(_NAMED))
        named = ", ".join(keys[document] for document, _ in counts.most_common(_NAMED) if document in keys)
        more = f" and {len(counts) - _NAMED} more" if len(counts) > _NAMED else ""
        return (
            Origin(f"report on {counted(len(members), 'entity', 'entities')} of {named}{more}") if named else Origin()
        )

    # Figures

    @property
    def identity(self) -> str:
        """A name for what can be found here: other documents, chunks or vectors have another."""
        rows = self.store.db.execute("SELECT key, hash FROM documents ORDER BY key")
        return content_hash(self.chunking, self.embedder, *(part for key, hash in rows for part in (key, hash.hex())))

    def counts(self) -> dict[str, int]:
        """How many documents, and parts of each kind, there are. They are counted once."""
        return dict(self._counts)

    @cached_property
    def _counts(self) -> dict[str, int]:
        tables = ("documents", "sections", "paragraphs", "chunks", "sentences", "links", "infoboxes")
        return {table: self.store.count(table) for table in tables}

    def languages(self) -> dict[str, int]:
        """Documents of a sample by the code of their language, most first."""
        from ragways.index.languages import document_languages

        return dict(document_languages(self.store).most_common())


class LiveIndex:
    """An index for those who read it for long: a server, a notebook, a program that keeps its corpus open.

    Each question sees one snapshot, the newest there is when it begins. Between questions no transaction is open, so
    a writer can shorten its log. Questions side by side share a snapshot. When the index has changed, those that begin
    now see the new one, and the old one is closed when the last of its own has ended. All of it belongs to one thread:
    whoever has several gives their questions to one event loop.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._current = Index.open(folder)
        self._current.pause()
        self._readers: dict[Index, int] = {}

    @contextmanager
    def snapshot(self) -> Iterator[Index]:
        """The index as it is now; it stays so until the end of the `with` block."""
        index = self._newest()
        self._readers[index] = self._readers.get(index, 0) + 1
        try:
            yield index
        finally:
            self._readers[index] -= 1
            if not self._readers[index]:
                del self._readers[index]
                if index is self._current:
                    index.pause()
                else:
                    index.close()

    def _newest(self) -> Index:
        before = self._current
        # One that is being read stays at its snapshot: only another connection can tell whether there is a newer one.
        if before.is_newest() if before in self._readers else before.begin():
            return before
        self._current = Index.open(self._folder)
        if before not in self._readers:
            before.close()
        return self._current

    def close(self) -> None:
        """Let go of every snapshot, also of those that are still read."""
        for index in {self._current, *self._readers}:
            index.close()


def views_of(store: Store) -> Views | None:
    """The newest views of these rows."""
    views = published(store.folder, store.generation)
    return views if views is not None and views.rows == store.meta().get("rows", "") else None


def locked_views(store: Store) -> tuple[Views | None, int | None]:
    """The newest views, locked. Where a run has removed those of this snapshot meanwhile, the snapshot moves on."""
    while True:
        views = views_of(store)
        lock = views.lock() if views is not None else None
        if lock is not None:
            return views, lock
        generation = store.generation
        store.pause()
        if not store.resume() or store.generation == generation:
            return None, None


def stale_documents(store: Store, views: Views | None) -> frozenset[int]:
    """Documents that changed since one of the views was made."""
    shown = [generation for generation, _ in views.layers.values()] if views is not None else []
    return store.changed_since(min(shown)) if shown else frozenset()


@contextmanager
def _readable(view: Path) -> Iterator[None]:
    """A file that cannot be read is damaged: the view can be made again."""
    try:
        yield
    except (OSError, ValueError, EOFError) as error:
        cure = f"remove the folder {view.parent}: it is made again"
        raise StoreDamaged(f"a file in {view} cannot be read ({type(error).__name__})", cure) from error
