"""What an index holds and has cost: its documents, each of its layers, and the disk that they take."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ragways.index.languages import CURE, document_languages, unread_documents
from ragways.index.open import Index
from ragways.index.run import has_facts
from ragways.index.views import LIST, Views
from ragways.layers.layer import Layer
from ragways.layers.table import LAYERS
from ragways.store.cache import FILE as WORK_CACHE
from ragways.store.cache import Spent
from ragways.store.database import connect, has_table
from ragways.store.store import Store


@dataclass(frozen=True, slots=True)
class LayerStatus:
    """`rows` are what the layer is made of: documents, chunks, entities, windows, communities. Times are UTC.

    `failures` are units of work that are not done, and wait for the next run; `spent` is what all its work has cost so
    far. `waiting` are documents that came, went or changed since its view was made; `age` is, of communities, the share
    of entities that are new or gone since they were found anew.
    """

    name: str
    built: bool
    rows: int
    bytes: int
    built_at: str
    failures: int
    spent: Spent
    waiting: int = 0
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document of an index by its names."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What an index holds: its folder, how it was made, what is counted in it, its layers, and its size on disk.

    `documents` is None where they were not asked for. `languages` counts documents by the code of their language, of
    many a sample; `unread` says which of them the embedder does not know.
    """

    index: str
    generation: int
    layers: tuple[str, ...]
    embedder: str
    chunking: str
    counts: dict[str, int]
    by_layer: tuple[LayerStatus, ...]
    bytes: int
    documents: tuple[IndexedDocument, ...] | None = None
    languages: dict[str, int] = field(default_factory=dict)
    unread: str = ""

    @property
    def waiting(self) -> int:
        """Documents that cannot be found, or not by every layer, until a run brings the views up to date."""
        return max(layer.waiting for layer in self.by_layer)


def index_status(folder: Path, *, documents: bool = False) -> IndexStatus:
    """What the index in this folder holds; with `documents`, every document by name."""
    with closing(Index.open(folder)) as index:
        unread = unread_documents(index.store)
        return IndexStatus(
            str(folder),
            index.generation,
            ("structure", *sorted(index.layers)),
            index.embedder,
            index.chunking,
            index.counts(),
            tuple(_layers(index)),
            bytes_on_disk(folder.rglob("*")),
            tuple(IndexedDocument(*names) for names in index.documents()) if documents else None,
            dict(document_languages(index.store).most_common()),
            f"{unread.text}; {CURE}" if unread else "",
        )


def layer_status(folder: Path) -> list[LayerStatus]:
    """The structure, which is always there, and every layer that could be."""
    with closing(Index.open(folder)) as index:
        return _layers(index)


def _layers(index: Index) -> list[LayerStatus]:
    store = index.store
    failed, spent = _paid_work(index.folder / WORK_CACHE)
    documents = store.count("documents")
    statuses = [LayerStatus("structure", True, documents, store.path.stat().st_size, _time(store.path), 0, Spent())]
    for layer in LAYERS.values():
        name, views = layer.name, index.views
        cost = failed.get(name, 0), spent.get(name, Spent())
        if name not in index.layers:
            statuses.append(LayerStatus(name, False, 0, 0, "", *cost))
        elif views is None or name not in views.layers or views.damaged(name):  # made when it is next read
            statuses.append(LayerStatus(name, False, 0, 0, "", *cost, documents))
        else:
            statuses.append(_built(layer, store, views, *cost))
    return statuses


def _built(layer: Layer, store: Store, views: Views, failures: int, spent: Spent) -> LayerStatus:
    name, age = layer.name, 0.0
    if name == "communities":
        from ragways.layers.communities.read import age_of

        age = age_of(views.of(name)).share
    return LayerStatus(
        name,
        True,
        layer.count(views.of(name), store),
        views.size_of(name),
        _time(views.folder / LIST),
        max(failures, views.undone(name) + (len(store.waiting_for(name)) if has_facts(layer) else 0)),
        spent,
        len(store.changed_since(views.generation_of(name))),
        age,
    )


def _paid_work(path: Path) -> tuple[dict[str, int], dict[str, Spent]]:
    """By layer, how much work failed and what all of it has cost."""
    failed: dict[str, int] = {}
    spent: dict[str, Spent] = {}
    if not path.is_file():
        return failed, spent
    with closing(connect(path, write=False)) as db:
        if has_table(db, "failures"):
            for kind, count in db.execute("SELECT kind, count(*) FROM failures GROUP BY kind"):
                failed[_layer_of(kind)] = failed.get(_layer_of(kind), 0) + count
        if has_table(db, "spent"):
            for kind, *cost in db.execute("SELECT kind, calls, input, output, usd, seconds FROM spent"):
                spent[_layer_of(kind)] = spent.get(_layer_of(kind), Spent()) + Spent(*cost)
    return failed, spent


def _layer_of(kind: str) -> str:
    """The layer that a kind of paid work belongs to. A kind is a name, or a name, a colon and how it was done;
    embedding is `embed:` and the layer that wanted the vectors.
    """
    name, _, rest = kind.partition(":")
    if name == "embed":
        return rest
    return next((layer.name for layer in LAYERS.values() if name in layer.kinds), kind)


def bytes_on_disk(files: Iterable[Path]) -> int:
    """What files take of the disk, without holes; one that generations share counts once."""
    known = (file.stat() for file in files if file.is_file())
    return sum({(each.st_dev, each.st_ino): min(each.st_size, 512 * each.st_blocks) for each in known}.values())


def _time(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
