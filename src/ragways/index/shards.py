"""An index in shards: documents are dealt by their key to indexes of their own, which are built apart.

The folder of a sharded index is an index like any other. Its store holds every document, and its derived files are what
is made of all of them at once: the graph, communities, windows. Vectors and words of chunks, which every question asks
for, lie in `shards/0`, `shards/1` and so on, each an ordinary index of the documents that were dealt to it. The store
names the state of each shard that belongs to its own, so its one commit shows the new state of all of them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Protocol

from ragways.core.errors import StoreDamaged, UsageError
from ragways.corpus.source import Share
from ragways.index.folder import clear_old
from ragways.index.place import MARK, SHARDS
from ragways.index.schema import PARTS
from ragways.index.store import Store

SHARDED = frozenset({"vectors", "words"})
"""Layers that a sharded index has in its shards; the rest are made of all documents at once."""
MOST_SHARDS = 1000
MISSING = "put it back from a copy, or build anew with: ragways index --rebuild PATH"
"""The cure for a shard that is not there."""
_META, _DEAL, _STATE = "shards", "deal", "state"
_AT_ONCE = 500  # documents copied at a time

State = tuple[int, str]
"""A generation of a shard, and the name that was drawn for it."""


@dataclass(frozen=True, slots=True)
class Deal(Share):
    """Which documents are a shard's, and how its store says so."""

    def __str__(self) -> str:
        return f"{self.shard} of {self.shards}"

    @property
    def meta(self) -> dict[str, str]:
        """What the store of the shard says of it."""
        return {_DEAL: str(self)}

    def is_of(self, meta: Mapping[str, str]) -> bool:
        """Whether a store holds what was dealt so, and not among another number of shards."""
        return meta.get(_DEAL) == str(self)

    def check(self, part: Store) -> None:
        """Raise where the store of the shard was dealt otherwise."""
        if not self.is_of(part.meta()):
            raise StoreDamaged(
                f"{part.folder} is not shard {self}: a run that was to change the number of shards did not end",
                "run ragways index PATH, with --rebuild and --shards or without",
            )


@dataclass(frozen=True, slots=True)
class ShardList:
    """The shards of an index: where they are, and at which state each belongs to this state of the index.

    A state has a name drawn for it: an older copy that was put back counts on to the same generations.
    """

    folder: Path
    states: tuple[State, ...]

    @classmethod
    def of(cls, folder: Path, meta: Mapping[str, str]) -> ShardList | None:
        """That of the index in a folder, by what its store says; None where it has no shards."""
        return cls(folder, tuple((int(g), str(n)) for g, n in json.loads(meta[_META]))) if _META in meta else None

    @property
    def meta(self) -> dict[str, str]:
        """What the store says of it."""
        return {_META: json.dumps(self.states)}

    @property
    def generations(self) -> tuple[int, ...]:
        return tuple(generation for generation, _ in self.states)

    def __len__(self) -> int:
        return len(self.states)

    def place(self, shard: int) -> Path:
        """The folder of a shard, an index of its own."""
        return self.folder / SHARDS / str(shard)

    def places(self) -> list[Path]:
        return [self.place(shard) for shard in range(len(self))]

    def now(self) -> ShardList:
        """The same at the states that the shards have now."""
        return ShardList(self.folder, tuple(state_in(place) for place in self.places()))

    def missing(self) -> list[int]:
        """Shards that were built once, and are not there."""
        return [n for n, generation in enumerate(self.generations) if generation and not self.place(n).is_dir()]


def state_in(folder: Path) -> State:
    """The generation of the index in a folder, as it was last committed, and the name that was drawn for it."""
    with closing(Store.open(folder)) as store:
        return state_of(store.meta())


def state_of(meta: Mapping[str, str]) -> State:
    """The state of an index by what its store says."""
    return int(meta["generation"]), meta.get(_STATE, "")


def new_state(generation: int, before: Mapping[str, str]) -> dict[str, str]:
    """What a store that said this before says of a generation which it is about to commit. A shard's has a name too; of
    another nobody asks for it, and without one two builds of the same files are the same.
    """
    return {"generation": str(generation)} | ({_STATE: token_hex(8)} if _DEAL in before else {})


def shards_for(store: Store, asked: int, *, rebuild: bool, elsewhere: bool = False) -> ShardList | None:
    """The shards that a run is to build: as many as are asked for, or else as there are. None is none, which cannot be
    built `elsewhere` than in this process.

    How many there are is settled when an index is built for the first time, or anew. A store that was lost has as many
    as lie in its folder.
    """
    if asked < 0 or asked > MOST_SHARDS:
        raise UsageError(f"{asked} shards cannot be", f"choose a number from 1 to {MOST_SHARDS}")
    known, empty = ShardList.of(store.folder, store.meta()), not store.count("sources")
    if not asked and known is None and store.meta()["generation"] == "0":
        asked = len(_numbered(store.folder))
    if not asked:
        if known is None and elsewhere:
            raise UsageError("an index without shards is built by one process", "say how many: --shards N")
        return known
    if known is not None and asked == len(known):
        return known
    if not (rebuild or empty):
        has = f"{len(known)} shards" if known is not None else "no shards"
        raise UsageError(
            f"this index has {has}, and {asked} are asked for",
            "leave --shards as it was, choose another folder with --index, or build anew with --rebuild",
        )
    return ShardList(store.folder, (*(known.states if known else ()), *[(0, "")] * asked)[:asked])


def check_there(shards: ShardList) -> None:
    """Raise where a shard is missing: a run would take its documents for new, and pay for them again."""
    if missing := shards.missing():
        raise StoreDamaged(
            f"{shards.place(missing[0])} is missing: the index has {len(shards)} shards, and "
            f"{len(shards) - len(missing)} are there",
            MISSING,
        )


# The store of the whole, brought up to date with those of the shards


class ChangedDocuments(Protocol):
    """Where it is noted which documents came, changed or went."""

    def put(self, number: int, *, existed: bool) -> None: ...

    def drop(self, numbers: Collection[int]) -> None: ...


@dataclass(frozen=True, slots=True)
class ShardChanges:
    """What a run changed in a shard: from which state to which, documents that are new or other, documents that went,
    and files that were read.
    """

    before: State
    now: State
    put: frozenset[int]
    gone: frozenset[int]
    files: frozenset[str]


def take_over(
    store: Store,
    before: ShardList,
    now: ShardList,
    changed: ChangedDocuments,
    told: Sequence[ShardChanges | None],
    *,
    whole: bool = False,
) -> None:
    """Bring the store up to date with those of the shards; a shard at the state it was taken over at is left out,
    unless the `whole` is to be taken over. Where the run that made a state is `told` of, and it began with what was
    taken over, that is all there is to do; else the documents of the shard are compared.

    Memory: numbers and hashes of the documents of one shard, and some hundred documents at a time.
    """
    empty = not store.count("documents")
    for shard, state in enumerate(now.states):
        if not whole and before.states[shard] == state:
            continue
        with closing(Store.open(now.place(shard))) as part:
            deal = Deal(shard, len(now))
            deal.check(part)
            said = told[shard]
            if whole or said is None or (said.before, said.now) != (before.states[shard], state):
                said = _compared(store, part, deal, empty=empty)
            store.remove(said.gone)
            changed.drop(said.gone)
            _take_documents(store, part, sorted(said.put), changed)
            _take_sources(store, part, said.files)


def _compared(store: Store, part: Store, deal: Deal, *, empty: bool) -> ShardChanges:
    """What is other in the store of a shard than in that of the whole."""
    query = "SELECT number, hash FROM documents"
    there: dict[int, bytes] = dict(part.db.execute(query).fetchall())
    rows = () if empty else store.db.execute(f"{query} WHERE number % ? = ?", (deal.shards, deal.shard))
    here: dict[int, bytes] = dict(rows)
    return ShardChanges(
        (0, ""),
        (0, ""),
        frozenset(number for number, hash in there.items() if here.get(number) != hash),
        frozenset(here.keys() - there.keys()),
        frozenset(key for (key,) in part.db.execute("SELECT key FROM sources")),
    )


def _take_documents(store: Store, part: Store, numbers: Sequence[int], changed: ChangedDocuments) -> None:
    if not numbers:
        return
    beside = store.beside.read(part.path)
    for at in range(0, len(numbers), _AT_ONCE):
        some = numbers[at : at + _AT_ONCE]
        query = "SELECT number FROM documents WHERE number IN (SELECT value FROM json_each(?))"
        here = {number for (number,) in store.db.execute(query, (json.dumps(some),))}
        store.remove(here)
        for table, key in (("documents", "number"), *((table, "document") for table in PARTS)):
            _copy(part, store, table, key, some, beside)
        for number in some:
            changed.put(number, existed=number in here)


def _copy(part: Store, store: Store, table: str, key: str, numbers: Sequence[int], beside: str | None) -> None:
    """Rows of these documents, by SQLite itself where it reads the shard's file beside, in half the time."""
    wanted = f"{table} WHERE {key} IN (SELECT value FROM json_each(?)) ORDER BY 1, 2"  # noqa: S608 - our names
    given = (json.dumps(numbers),)
    if beside is not None:
        store.db.execute(f"INSERT INTO {table} SELECT * FROM {beside}.{wanted}", given)  # noqa: S608
        return
    rows = part.db.execute(f"SELECT * FROM {wanted}", given)  # noqa: S608
    marks = ", ".join("?" * len(rows.description))
    store.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608


def _take_sources(store: Store, part: Store, keys: Collection[str]) -> None:
    """Files are known to the whole as they are to their shards; those that no document is of any more are not."""
    query = "SELECT key, root, size, modified FROM sources WHERE key IN (SELECT value FROM json_each(?))"
    rows = part.db.execute(query, (json.dumps(list(keys)),))
    store.db.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?)", rows)


def clear_shards(folder: Path, shards: ShardList | None, keep: int) -> None:
    """Remove what shards held for the state before, which nobody begins with any more, but so many generations; and
    shards of an index that was built anew with fewer of them, or none.
    """
    for place, generation in zip(shards.places(), shards.generations, strict=True) if shards is not None else ():
        clear_old(place, generation, keep)
    for place in _numbered(folder):
        if shards is None or int(place.name) >= len(shards):
            shutil.rmtree(place, ignore_errors=True)


def _numbered(folder: Path) -> list[Path]:
    """Folders that are shards of the index in this folder, or were."""
    places = (folder / SHARDS).glob("*")
    return [place for place in places if place.name.isdecimal() and (place / MARK).is_file()]
