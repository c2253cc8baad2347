"""An index as paradigms read it: one snapshot, opened once, its layers loaded when first used."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from ragways.core.errors import MissingLayer, StoreDamaged, StoreError
from ragways.core.types import Document, Infobox, Link, Origin, Piece, content_hash
from ragways.index.folder import is_current
from ragways.index.origin import OriginFinder, SectionRow, unpacked
from ragways.index.shards import ShardList
from ragways.index.sound import sound_derived, sound_shard
from ragways.index.store import Store, derived_folder, finish, number_of, path_of

if TYPE_CHECKING:
    from ragways.index.chunk_vectors import ChunkVectors
    from ragways.index.communities.reader import Communities
    from ragways.index.graph.reader import Graph
    from ragways.index.joined import ShardAsker
    from ragways.index.windows.reader import Windows
    from ragways.index.words import Words

T = TypeVar("T")

_CHARACTERS_KEPT = 20_000_000
_FINDERS_KEPT = 500_000  # numbers and titles of places that are kept
_CHUNK = 200  # characters that the place of a chunk counts for
_ID = re.compile(r"article:\d{1,18}(:s\d+(:p\d+(:[ct]\d+)?)?)?")
_TABLES = {"s": "sections", "p": "paragraphs", "c": "chunks", "t": "sentences"}


class _Article(NamedTuple):
    """A document as pieces are made of it: start, end and tokens of its chunks, by path."""

    id: str
    title: str
    text: str
    date: str
    chunks: dict[str, tuple[int, int, int]]

    @property
    def size(self) -> int:
        return len(self.text) + _CHUNK * len(self.chunks)


ConnectShards = Callable[[ShardList], "ShardAsker"]
"""What connects to the shards of an index where they are read elsewhere than in this process."""


class Index:
    """Read-only, and whole: what is written after it was opened stays out of sight."""

    def __init__(self, store: Store, connect: ConnectShards | None = None) -> None:
        self._store = store
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
        self._articles: OrderedDict[int, _Article] = OrderedDict()
        self._characters = 0
        self._finders: OrderedDict[int, OriginFinder] = OrderedDict()
        self._places = 0
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
            from ragways.index.build import rebuild_derived

            try:
                rebuild_derived(folder)
            except StoreError:
                # Files of an older format serve for most things where nothing may be written, or a build is going on.
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
        with self._whole("graph") as derived:
            return Graph.open(derived, self._store.db)

    @cached_property
    def communities(self) -> Communities:
        """Communities of the knowledge graph, and their reports."""
        from ragways.index.communities.reader import Communities

        self.require(["communities"])
        return Communities(self._store.db, int(self._store.meta().get("dimension", 0)))

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
            raise StoreDamaged(
                f"a file in {folder} is damaged ({type(error).__name__})",
                f"remove the folder {folder}; it is made again",
            ) from error

    def derived(self, layer: str) -> Path:
        """The folder of derived files, once those of this layer are whole (`sound_derived`)."""
        return sound_derived(self.folder, self.generation, layer)

    def pieces(self, ids: Iterable[str]) -> dict[str, Piece]:
        """Chunks by id, each with its text and place. An id that is not in this snapshot is left out."""
        places = {id: _place(id) for id in ids}
        articles = self._read(number for number, _ in places.values())
        found = {}
        for id, (number, path) in places.items():
            if number in articles and (place := articles[number].chunks.get(path)) is not None:
                name, title, text, date, _ = articles[number]
                start, end, tokens = place
                found[id] = Piece(id, "chunk", text[start:end], name, title, start, end, tokens, date)
        return found

    def text(self, document: str, start: int, end: int) -> str:
        """A stretch of a document's text."""
        return self._article(number_of(document))[1][start:end]

    def sentences(self, piece: Piece) -> list[tuple[int, int]]:
        """Offsets of the sentences that lie in a piece, cut at its borders; none where it stands in no document."""
        if not piece.document.startswith("article:"):
            return []
        rows = self._store.db.execute(
            "SELECT start, end FROM sentences WHERE document = ? AND end > ? AND start < ? ORDER BY ordinal",
            (number_of(piece.document), piece.start, piece.end),
        )
        return [(max(start, piece.start), min(end, piece.end)) for start, end in rows]

    def document(self, id: str) -> Document | None:
        """A whole document, for showing a piece in its place."""
        number = number_of(id)
        row = self._store.db.execute(
            "SELECT key, title, text, format, metadata, redirect, places FROM documents WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            return None
        key, title, text, format, metadata, redirect, places = row
        return Document(
            key,
            title,
            text,
            format,
            json.loads(metadata),
            links=self._links(number),
            infoboxes=self._infoboxes(number),
            redirect=redirect,
            places=unpacked(places),
        )

    def place(self, id: str) -> tuple[Document, int, int] | None:
        """The document that an id belongs to, and where in its text the part lies."""
        if not _ID.fullmatch(id):
            return None
        document = self.document(id)
        if document is None:
            return None
        if id == document.id:
            return document, 0, len(document.text)
        number, path = number_of(id), path_of(id)
        table = _TABLES[path.rsplit(":", 1)[-1][0]]
        row = self._store.db.execute(
            f"SELECT start, end FROM {table} WHERE document = ? AND path = ?",  # noqa: S608 - a name of our own
            (number, path),
        ).fetchone()
        return None if row is None else (document, row[0], row[1])

    def _links(self, number: int) -> tuple[Link, ...]:
        query = "SELECT start, end, target FROM links WHERE document = ? ORDER BY ordinal"
        return tuple(Link(*row) for row in self._store.db.execute(query, (number,)))

    def _infoboxes(self, number: int) -> tuple[Infobox, ...]:
        query = "SELECT start, end, kind, fields FROM infoboxes WHERE document = ? ORDER BY ordinal"
        return tuple(
            Infobox(start, end, kind, tuple((key, value) for key, value in json.loads(fields)))
            for start, end, kind, fields in self._store.db.execute(query, (number,))
        )

    def documents(self) -> list[tuple[str, str, str]]:
        """Id, key and title of every document, by key."""
        rows = self._store.db.execute("SELECT number, key, title FROM documents ORDER BY key")
        return [(f"article:{number}", key, title) for number, key, title in rows]

    def named(self, column: Literal["key", "source", "name"], value: str) -> dict[str, str]:
        """Keys of the documents of this key, source file or title (as `title_name` makes it), by id; in their order."""
        query = f"SELECT number, key FROM documents WHERE {column} = ? ORDER BY key"  # noqa: S608 - a name of our own
        return {f"article:{number}": key for number, key in self._store.db.execute(query, (value,))}

    def titled(self, names: Iterable[str]) -> set[str]:
        """Which of these names (as `title_name` makes them) are titles of documents."""
        return {row[0] for row in self._rows("name", "documents", "name", sorted(set(names)))}

    def metadata_values(self, field: str, limit: int) -> list[str]:
        """What documents have in a field of their metadata, each value once; not more than `limit` of them."""
        query = "SELECT DISTINCT metadata ->> ? FROM documents WHERE metadata ->> ? <> '' LIMIT ?"
        path = f'$."{field}"'
        return [str(row[0]) for row in self._store.db.execute(query, (path, path, limit))]

    @property
    def identity(self) -> str:
        """A name for what can be found here: other documents, chunks or vectors have another."""
        rows = self._store.db.execute("SELECT key, hash FROM documents ORDER BY key")
        return content_hash(self.chunking, self.embedder, *(part for row in rows for part in row))

    def keys(self, documents: Iterable[str]) -> dict[str, str]:
        """Keys of these documents, by id. An id that is not in this snapshot is left out."""
        numbers = {number_of(id) for id in documents if id.startswith("article:")}
        return {
            f"article:{number}": key for number, key in self._rows("number, key", "documents", "number", [*numbers])
        }

    def origins(self, spans: Sequence[tuple[str, int, int]]) -> list[Origin]:
        """Where stretches of documents (id, start, end) are from; an empty one for what stands in no document."""
        numbers = {number_of(id) for id, _, _ in spans if id.startswith("article:")}
        if missing := [number for number in numbers if number not in self._finders]:
            sections: dict[int, list[SectionRow]] = {number: [] for number in missing}
            for number, end, title, level in self._rows("document, end, title, level", "sections", "document", missing):
                sections[number].append((end, title, level))
            columns = "number, key, coalesce(metadata ->> '$.url', ''), places"
            for number, key, url, places in self._rows(columns, "documents", "number", missing):
                self._finders[number] = OriginFinder.of_rows(key, url, places, sections[number])
                self._places += self._finders[number].size
        found = [
            self._finders[number_of(id)].find(start, end)
            if id.startswith("article:") and number_of(id) in self._finders
            else Origin()
            for id, start, end in spans
        ]
        while self._places > _FINDERS_KEPT:
            self._places -= self._finders.popitem(last=False)[1].size
        return found

    def counts(self) -> dict[str, int]:
        tables = ("documents", "sections", "paragraphs", "chunks", "sentences", "links", "infoboxes")
        return {table: self._store.count(table) for table in tables}

    def languages(self) -> dict[str, int]:
        """Documents of a sample by the code of their language, most first."""
        from ragways.index.languages import document_languages

        return dict(document_languages(self._store).most_common())

    def _article(self, number: int) -> tuple[str, str, str]:
        """Title, text and date of a document."""
        _, title, text, date, _ = self._read([number])[number]
        return title, text, date

    def _read(self, numbers: Iterable[int]) -> dict[int, _Article]:
        """Articles by number, as far as they are there. Those used last are kept, up to so many characters."""
        wanted = dict.fromkeys(numbers)
        found = {}
        for number in wanted:
            if (kept := self._articles.get(number)) is not None:
                self._articles.move_to_end(number)
                found[number] = kept
        missing = [number for number in wanted if number not in found]
        chunks: dict[int, dict[str, tuple[int, int, int]]] = {number: {} for number in missing}
        if missing:
            columns = "document, path, start, end, tokens"
            for number, path, start, end, tokens in self._rows(columns, "chunks", "document", missing):
                chunks[number][path] = start, end, tokens
            columns = "number, title, text, coalesce(metadata ->> '$.date', '')"
            for number, title, text, date in self._rows(columns, "documents", "number", missing):
                found[number] = _Article(f"article:{number}", title, text, date, chunks[number])
                self._keep(number, found[number])
        return found

    def _keep(self, number: int, article: _Article) -> None:
        self._articles[number] = article
        self._characters += article.size
        while self._characters > _CHARACTERS_KEPT and len(self._articles) > 1:
            self._characters -= self._articles.popitem(last=False)[1].size

    def _rows(self, columns: str, table: str, key: str, values: Sequence[int] | Sequence[str]) -> list[Any]:
        query = f"SELECT {columns} FROM {table} WHERE {key} IN (SELECT value FROM json_each(?))"  # noqa: S608 - our names
        return self._store.db.execute(query, (json.dumps(list(values)),)).fetchall()


def _place(id: str) -> tuple[int, str]:
    """Number of the document and path of a chunk's id."""
    _, number, path = id.split(":", 2)
    return int(number), path
