"""An index as paradigms read it: one snapshot, opened once, its layers loaded when first used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from ragways.core.errors import MissingLayer, StoreDamaged, StoreError, WrongVersion
from ragways.core.types import content_hash
from ragways.index.documents import StoredDocuments
from ragways.index.folder import is_current
from ragways.index.shards import ShardList
from ragways.index.sound import sound_derived, sound_shard
from ragways.index.store import Store, derived_folder, finish

if TYPE_CHECKING:
    from ragways.index.chunk_vectors import ChunkVectors
    from ragways.index.communities.reader import Communities
    from ragways.index.graph.reader import Graph
    from ragways.index.joined import ShardAsker
    from ragways.index.windows.reader import Windows
    from ragways.index.words import Words

T = TypeVar("T")
ConnectShards = Callable[[ShardList], "ShardAsker"]
"""What connects to the shards of an index where they are read elsewhere than in this process."""


class Index(StoredDocuments):
    """Documents and layers, read-only and whole: what is written after it was opened stays out of sight."""

    def __init__(self, store: Store, connect: ConnectShards | None = None) -> None:
        super().__init__(store)
        meta = store.meta()
        self.folder = store.folder
        self._connect = connect
        self._shard_list = ShardList.of(store.folder, meta)
        self.generation = int(meta["generation"])
        self.layers = frozenset(meta.get("layers", "").split())
        self.embedder = meta.get("embedder", "")
        self.chunking = meta.get("chunking", "")
        self._layers: dict[str, object] = {}
        self._made: dict[Callable[[Index], object], object] = {}
        self.filtered: OrderedDict[str, Index] = OrderedDict()
        """Restricted indexes by their filter (see `filtered.py`)."""

    @classmethod
    def open(cls, folder: Path, connect: ConnectShards | None = None) -> Index:
        """The index in a folder, at its last whole commit. Derived files of an older format are made again.

        `connect` is for an index in shards that are read elsewhere.
        """
        index = cls(Store.open(folder), connect)
        index._settle_shards()
        if index.generation and not is_current(folder, index.generation):
            index.close()
            from ragways.index.run import rebuild_derived

            try:
                rebuild_derived(folder)
            except StoreError:
                # Where nothing may be written, or a build is going on, documents can still be read; layers of an older
                # format tell of it when they are asked for.
                if not derived_folder(folder, index.generation).is_dir():
                    raise
            index = cls(Store.open(folder), connect)
        return index

    def _settle_shards(self) -> None:
        """As opening a store does: bring into its file what a run had to leave beside it."""
        for place in self._shard_list.places() if self._shard_list is not None else ():
            with suppress(StoreError):  # what is wrong with a shard is told when it is asked
                finish(place)

    def again(self) -> Index:
        """Another reader of the same, with nothing loaded yet; this one where the index was written to since."""
        other = Index.open(self.folder, self._connect)
        if other.generation == self.generation:
            return other
        other.close()
        return self

    where = ""
    """The filter that this index is restricted by."""
    matches_nothing = False
    """Whether there is a filter that no document matches."""

    def close(self) -> None:
        for layer in (*self._layers.values(), *map(self.__dict__.get, ("graph", "shards"))):
            if layer is not None and hasattr(layer, "close"):
                layer.close()
        self._store.close()

    def begin(self) -> bool:
        """Begin to read again after `pause`: whether the index is still at this commit. If not, open it anew."""
        return self._store.resume(self.generation)

    def pause(self) -> None:
        """Let go of the snapshot, so that a writer can clear up, until the next `begin`."""
        self._store.rollback()

    def once(self, make: Callable[[Index], T]) -> T:
        """What this function makes of the index; made when first asked for, and kept as long as the index is."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])

    def require(self, layers: Iterable[str]) -> None:
        """Raise, with the command that helps, unless all these layers are built."""
        missing = sorted(set(layers) - self.layers)
        if missing:
            raise MissingLayer(
                f"this index has no {' and no '.join(missing)}",
                f"build with: ragways index PATH --with {','.join(sorted(self.layers | set(missing)))}",
            )

    def layer(self, name: str) -> object:
        """What a layer offers to paradigms, by name: for layers that plug-ins bring. Opened once."""
        if name in ("graph", "communities"):  # which read this snapshot
            return getattr(self, name)
        if name not in self._layers:
            from ragways.index.layers import LAYERS

            layer = LAYERS.find(name)
            self.require([name])
            if layer.open is None:
                raise MissingLayer(f"the layer {name!r} has nothing to read", "ask the author of its package")
            with self._whole(name) as derived:
                self._layers[name] = layer.open(derived)
        return self._layers[name]

    @cached_property
    def shards(self) -> ShardAsker | None:
        """What asks the shards for vectors and words; None of an index that has them itself."""
        if self._shard_list is None:
            return None
        from ragways.index.joined import ShardsHere

        return ShardsHere(self._shard_list, sound_shard) if self._connect is None else self._connect(self._shard_list)

    @property
    def shard_note(self) -> str:
        """What a result must say where shards could not answer: `4 of 5 shards answered: …`; else nothing."""
        if "shards" not in self.__dict__ or self.shards is None:
            return ""
        from ragways.index.joined import note_of

        return note_of(self.shards)

    @cached_property
    def vectors(self) -> ChunkVectors:
        """The vectors of chunks."""
        from ragways.index.chunk_vectors import ChunkVectors

        self.require(["vectors"])
        if self.shards is not None:
            from ragways.index.joined import JoinedVectors

            return JoinedVectors(self.shards)
        with self._whole("vectors") as derived:
            return ChunkVectors.open(derived)

    @cached_property
    def words(self) -> Words:
        from ragways.index.words import Words

        self.require(["words"])
        if self.shards is not None:
            from ragways.index.joined import JoinedWords

            return JoinedWords(self.shards)
        with self._whole("words") as derived:
            return Words(derived / "words")

    @cached_property
    def graph(self) -> Graph:
        """The knowledge graph."""
        from ragways.index.graph.reader import Graph

        self.require(["graph"])
        self._require_current("graph")
        with self._whole("graph") as derived:
            return Graph.open(derived, self._store.db)

    @cached_property
    def communities(self) -> Communities:
        """Communities of the knowledge graph, and their reports."""
        from ragways.index.communities.reader import Communities

        self.require(["communities"])
        self._require_current("communities")
        return Communities(self._store.db, int(self._store.meta().get("dimension", 0)))

    def _require_current(self, layer: str) -> None:
        """Raise where the rows that a layer has in the store, which are of one version with the derived files, are of
        another.
        """
        if derived_folder(self.folder, self.generation).is_dir() and not is_current(self.folder, self.generation):
            raise _other_version(layer)

    @cached_property
    def windows(self) -> Windows:
        """The graph of sentence windows."""
        from ragways.index.windows.reader import Windows

        self.require(["windows"])
        with self._whole("windows") as derived:
            return Windows.open(derived)

    @contextmanager
    def _whole(self, layer: str) -> Iterator[Path]:
        """A derived file that cannot be read is damaged, or was replaced a moment ago; both have a cure."""
        folder = self.derived(layer)
        try:
            yield folder
        except (OSError, ValueError, EOFError) as error:
            if folder.is_dir() and not is_current(self.folder, self.generation):
                raise _other_version(layer) from error
            raise StoreDamaged(
                f"a file in {folder} is damaged ({type(error).__name__})",
                f"remove the folder {folder}; it is made again",
            ) from error

    def derived(self, layer: str) -> Path:
        """The folder of derived files, once those of this layer are whole (`sound_derived`)."""
        return sound_derived(self.folder, self.generation, layer)

    @property
    def identity(self) -> str:
        """A name for what can be found here: other documents, chunks or vectors have another."""
        rows = self._store.db.execute("SELECT key, hash FROM documents ORDER BY key")
        return content_hash(self.chunking, self.embedder, *(part for key, hash in rows for part in (key, hash.hex())))

    def counts(self) -> dict[str, int]:
        """How many documents, and parts of each kind, there are. They are counted once."""
        return dict(self._counts)

    @cached_property
    def _counts(self) -> dict[str, int]:
        tables = ("documents", "sections", "paragraphs", "chunks", "sentences", "links", "infoboxes")
        return {table: self._store.count(table) for table in tables}

    def languages(self) -> dict[str, int]:
        """Documents of a sample by the code of their language, most first."""
        from ragways.index.languages import document_languages

        return dict(document_languages(self._store).most_common())


def _other_version(layer: str) -> WrongVersion:
    return WrongVersion(
        f"the layer {layer!r} of this index was made by another version of ragways and could not be brought up to date",
        "ask again when nobody else writes to the index, and where it can be written",
    )
