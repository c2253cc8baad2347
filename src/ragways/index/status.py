"""What an index holds and has cost: its documents, each of its layers, and the disk that they take."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ragways.index.database import connect, has_table, store_errors
from ragways.index.folder import is_current
from ragways.index.languages import CURE, document_languages, unread_documents
from ragways.index.layer import Layer
from ragways.index.layers import LAYERS
from ragways.index.reader import Index
from ragways.index.shards import SHARDED, ShardList
from ragways.index.store import Store, derived_folder
from ragways.index.work_cache import FILE as WORK_CACHE
from ragways.index.work_cache import Spent


@dataclass(frozen=True, slots=True)
class LayerStatus:
    """`rows` are what the layer is made of: documents, chunks, entities, windows, communities. Times are UTC.

    `failures` are units of work that wait to be tried again; `spent` is what all its work has cost so far.
    """

    name: str
    built: bool
    rows: int
    bytes: int
    built_at: str
    failures: int
    spent: Spent


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


def index_status(folder: Path, *, documents: bool = False) -> IndexStatus:
    """What the index in this folder holds; with `documents`, every document by name."""
    with closing(Index.open(folder)) as index, closing(Store.open(folder)) as store:
        unread = unread_documents(store)
        return IndexStatus(
            str(folder),
            index.generation,
            ("structure", *sorted(index.layers)),
            index.embedder,
            index.chunking,
            index.counts(),
            tuple(layer_status(folder)),
            bytes_on_disk(folder.rglob("*")),
            tuple(IndexedDocument(*names) for names in index.documents()) if documents else None,
            dict(document_languages(store).most_common()),
            f"{unread.said}; {CURE}" if unread else "",
        )


def layer_status(folder: Path) -> list[LayerStatus]:
    """The structure, which is always there, and every layer that could be."""
    with closing(Store.open(folder)) as store:
        meta = store.meta()
        derived = derived_folder(folder, int(meta["generation"]))
        failed, spent = _paid_work(folder / WORK_CACHE)
        size, time = store.path.stat().st_size, _time(store.path)
        statuses = [LayerStatus("structure", True, store.count("documents"), size, time, failures=0, spent=Spent())]
        # Files of an earlier version are not looked into: whoever asks has them made anew.
        current = is_current(folder, int(meta["generation"]))
        for layer in LAYERS.values():
            built = layer.name in meta.get("layers", "").split() and derived.is_dir()
            statuses.append(
                LayerStatus(
                    layer.name,
                    built,
                    layer.rows(store, derived) if built and current else 0,
                    _bytes(layer, derived) if built else 0,
                    _time(derived) if built else "",
                    failed.get(layer.name, 0),
                    spent.get(layer.name, Spent()),
                )
            )
        shards = ShardList.of(folder, meta)
    return statuses if shards is None else _with_shards(statuses, shards)


def _with_shards(statuses: list[LayerStatus], shards: ShardList) -> list[LayerStatus]:
    """With what lies in the shards: layers of theirs, and what was paid for there."""
    parts = [layer_status(place) for shard, place in enumerate(shards.places()) if shard not in shards.missing()]
    joined = []
    for whole, *some in zip(statuses, *parts, strict=True):
        there = whole.name in SHARDED
        joined.append(
            replace(
                whole,
                rows=sum(part.rows for part in some) if there else whole.rows,
                bytes=sum(part.bytes for part in some) if there else whole.bytes,
                failures=whole.failures + sum(part.failures for part in some),
                spent=sum((part.spent for part in some), whole.spent),
            )
        )
    return joined


def _paid_work(path: Path) -> tuple[dict[str, int], dict[str, Spent]]:
    """By layer, how much work failed and what all of it has cost."""
    failed: dict[str, int] = {}
    spent: dict[str, Spent] = {}
    if not path.is_file():
        return failed, spent
    with store_errors(path), closing(connect(path, write=False)) as db:
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


def _bytes(layer: Layer, derived: Path) -> int:
    files = (file for pattern in layer.patterns for file in derived.glob(pattern))
    inside = (each for file in files for each in (file.rglob("*") if file.is_dir() else (file,)))
    return bytes_on_disk(inside)


def bytes_on_disk(files: Iterable[Path]) -> int:
    """What files take of the disk, without holes; one that generations share counts once."""
    known = (file.stat() for file in files if file.is_file())
    return sum({(each.st_dev, each.st_ino): min(each.st_size, 512 * each.st_blocks) for each in known}.values())


def _time(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
