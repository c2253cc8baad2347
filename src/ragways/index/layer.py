"""What a layer of the index is: work that is kept by content, files derived from it, and what can be said of both.

An index is a function of its documents: whatever costs time or money is kept in the work cache under the hash of what
it was made from, and everything else is derived again, in one fixed order, for each generation. So the order in which
documents came, and what happened on the way, cannot be told from the result.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from ragways.core.errors import SettingsError, WrongVersion
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.section import parse_section
from ragways.core.trace import Usage
from ragways.index.database import connect, store_errors
from ragways.index.settings import LayerSettings
from ragways.index.store import Store, derived_folder
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
S = TypeVar("S", bound=LayerSettings)

Texts = Mapping[str, str]
"""Texts by their content hash."""


# Building


@dataclass(frozen=True, slots=True)
class Changes:
    """Documents, by number, that came, changed or went since the generation before. No number is in two of the sets."""

    added: frozenset[int]
    changed: frozenset[int]
    removed: frozenset[int]

    @property
    def gone(self) -> frozenset[int]:
        """Those of which what was made before must go."""
        return self.changed | self.removed

    @property
    def fresh(self) -> frozenset[int]:
        """Those of which something must be made."""
        return self.added | self.changed


@dataclass(eq=False)
class BuildContext:
    """Where a layer is built. The store is open for writing and holds the documents of the generation to come."""

    store: Store
    work_cache: WorkCache
    model: ModelClient
    embedder: Embedder | None
    embed: Callable[[Texts], Awaitable[None]]
    """Sees to it that each text has its vector in the work cache."""
    progress: ProgressCallback = silent
    before: Path | None = None
    """The derived folder of the generation before, to take over what did not change."""
    changes: Changes | None = None
    """What is another than in the generation before; None where nothing of it may be taken over, so that the layer is
    derived whole.
    """
    changed_documents: Changes | None = None
    """Documents that are others than in the generation before, also where its derived files may not be taken over, but
    what the store has of it.
    """
    doubted: bool = False
    """Whether this run has been at it already, with files of the generation before that were found damaged then: rows
    that it made by means of them are made anew.
    """
    settings: Mapping[str, LayerSettings] = field(default_factory=dict)
    """Settings by the name of the layer, as far as they are given; a removal has none."""
    failed: int = 0
    """Units of work that could not be done; they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""
    _made: dict[Callable[[BuildContext], object], object] = field(default_factory=dict, repr=False)

    def once(self, make: Callable[[BuildContext], T]) -> T:
        """What this function makes of the context; made when first asked for, whichever layer asks."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])

    def give(self, make: Callable[[BuildContext], T], made: T) -> None:
        """Have `once` give this."""
        self._made[make] = made

    def forget(self, make: Callable[[BuildContext], object]) -> None:
        """Have `once` make it again."""
        self._made.pop(make, None)

    def settings_of(self, layer: str, kind: type[S]) -> S:
        """The settings given, else those that this index was built with (a removal must not change them), else the
        defaults.
        """
        given = self.settings.get(layer)
        if given is not None:
            return parse_section(layer, kind, given.model_dump()) if not isinstance(given, kind) else given
        kept = self.store.meta().get(_settings_key(layer))
        try:
            return kind() if kept is None else parse_section(layer, kind, json.loads(kept))
        except SettingsError as error:
            raise WrongVersion(
                f"this index was built by another version of ragways ({error.message})",
                "bring it up to date with: ragways index PATH",
            ) from None

    def has_new_settings(self, layer: str) -> bool:
        """Whether the run says how this layer is to be made; a removal does not, and has neither model nor files."""
        return layer in self.settings or _settings_key(layer) not in self.store.meta()

    def keep_settings(self, layer: Layer) -> None:
        """Remember how this index is built."""
        settings = self.settings_of(layer.name, layer.settings)
        self.store.set_meta({_settings_key(layer.name): settings.model_dump_json()})

    def has_layer(self, name: str) -> bool:
        """Whether the index is to have this layer."""
        return name in self.store.meta().get("layers", "").split()

    def fail(self, why: str, units: int = 1) -> None:
        """Note work that could not be done."""
        self.failed += units
        self.why = self.why or why


def _settings_key(layer: str) -> str:
    return f"settings:{layer}"


# Planning


@dataclass(frozen=True)
class PlanContext:
    """A run that is only planned. `context` holds the documents as the run would leave them, in a store of its own.

    `sample` is a context of a few of these documents on which nothing is paid for, and everything is done by rules:
    what it takes there tells what it will take. `share` is the sample's share of the tokens of the corpus, and `fresh`
    the share of documents that the layer has not seen yet.
    """

    context: BuildContext
    sample: BuildContext
    share: float
    fresh: float


@dataclass(frozen=True)
class LayerEstimate:
    """What a layer would do. `texts` are those that need a vector; of others, which nobody knows before, there will be
    some `like` these, so many `times`. `usage` is that of the model for work kept as `kind`, `seconds` what is computed
    besides. `estimated` says, in words, what was not counted.
    """

    rows: int
    texts: Iterable[str] = ()
    like: Sequence[str] = ()
    times: float = 1.0
    usage: Usage = field(default_factory=Usage)
    kind: str = ""
    seconds: float = 0.0
    estimated: str = ""


# Checking

AGAIN = "run again: ragways index PATH"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not hold: how often, one id to look at, and what to do."""

    name: str
    severity: Literal["error", "warning"]
    count: int
    example: str
    cure: str


def findings(name: str, severity: Literal["error", "warning"], examples: Iterable[str], cure: str) -> Iterator[Finding]:
    """One finding for all the examples, or none where there is none."""
    rest = iter(examples)
    first = next(rest, None)
    if first is not None:
        yield Finding(name, severity, 1 + sum(1 for _ in rest), first, cure)


@dataclass
class CheckContext:
    """The index that is checked, at one commit. `figures` gathers shares and counts worth knowing in any case."""

    store: Store
    work_cache: sqlite3.Connection | None
    figures: dict[str, float] = field(default_factory=dict)

    @cached_property
    def meta(self) -> dict[str, str]:
        return self.store.meta()

    @cached_property
    def layers(self) -> frozenset[str]:
        return frozenset(self.meta.get("layers", "").split())

    @cached_property
    def derived(self) -> Path:
        return derived_folder(self.store.folder, int(self.meta["generation"]))

    @cached_property
    def chunks(self) -> list[str]:
        """Ids of all chunks, in the order that derived layers share."""
        return [id for id, _ in self.store.chunk_rows()]

    @cached_property
    def documents(self) -> dict[int, int]:
        """Length of each document's text, counted here: SQLite's own `length` stops at a NUL."""
        return {number: len(text) for number, text in self.store.db.execute("SELECT number, text FROM documents")}

    @property
    def cure_of_derived(self) -> str:
        """The cure for whatever is wrong with derived files."""
        return f"remove the folder {self.derived}: it is made anew when the index is next used"


Check = Callable[[CheckContext], Iterable[Finding]]
"""Yields what it finds; the first sentence of its docstring says what it looks at."""


# The layer itself


async def _no_work(_: BuildContext) -> None:
    """All of the layer is derived."""


def _nothing_used(_: BuildContext) -> dict[str, set[str]]:
    return {}


def nothing_freed(_: BuildContext) -> Set[str]:
    """For `Layer.freed`: the layer keeps work under the hashes of chunks alone."""
    return frozenset()


def _no_vectors(_: Path) -> tuple[()]:
    return ()


def _no_cost(_: PlanContext) -> LayerEstimate:
    return LayerEstimate(0)


def _no_rows(_: Store, __: Path) -> int:
    return 0


def no_files(_: BuildContext, __: Path) -> None:
    """For `Layer.derive`: nothing is written."""


@dataclass(frozen=True)
class Layer:
    """All that ragways must know of a layer, its own or a plug-in's (entry points in the group `ragways.layers`).

    `needs`: layers that are built before it. `derive` writes its files into the derived folder. `work` does what must
    be paid for. `used` tells which hashes of each kind of work it still needs, so that the rest can be forgotten when
    documents go. A layer may tell as well which content hashes the run's changes have `freed`, beside those of chunks
    that went (None where it does not know), and which of some hashes are `still_used`, be they its own or another
    layer's; where all layers can, a removal costs what is removed. Both are asked once the files of the generation to
    come are there. `kept_vectors` gives the packed vectors in a derived folder that are work kept, where they are not
    found by their ids. `plan` tells what `work` and `derive` would take. `checks` tell what does not hold of a built
    one.
    `settings` is what can be set of it. `apart` is what a shard does of it for its own documents, as a layer without
    files: the rest is done once for all shards. `open` gives what paradigms read of a derived folder (`Index.layer`).
    For `ragways status`: `files` are patterns of its derived files (by default all that begin with its name), `rows`
    counts what it is made of, and `kinds` are its kinds of paid work, each as far as the colon.
    """

    name: str
    summary: str
    needs: frozenset[str]
    derive: Callable[[BuildContext, Path], None]
    work: Callable[[BuildContext], Awaitable[None]] = _no_work
    used: Callable[[BuildContext], dict[str, set[str]]] = _nothing_used
    freed: Callable[[BuildContext], Set[str] | None] = nothing_freed
    still_used: Callable[[BuildContext, Set[str]], Set[str]] | None = None
    kept_vectors: Callable[[Path], Iterable[NDArray[np.int8]]] = _no_vectors
    plan: Callable[[PlanContext], LayerEstimate] = _no_cost
    checks: tuple[Check, ...] = ()
    settings: type[LayerSettings] = LayerSettings
    open: Callable[[Path], object] | None = None
    files: tuple[str, ...] = ()
    rows: Callable[[Store, Path], int] = _no_rows
    kinds: frozenset[str] = frozenset()
    apart: Layer | None = None

    @property
    def keeps_more(self) -> bool:
        """Whether it keeps work, and cannot tell of some hashes whether it needs them."""
        return self.used is not _nothing_used and self.still_used is None

    @property
    def patterns(self) -> tuple[str, ...]:
        """What the names of its derived files fit."""
        return self.files or (f"{self.name}*",)


def rows_of_table(file: str, table: str) -> Callable[[Store, Path], int]:
    """For `Layer.rows`: how many rows a table of a derived database has."""

    def count(_: Store, derived: Path) -> int:
        if not (derived / file).is_file():
            return 0
        with store_errors(derived / file):
            db = connect(derived / file, write=False)
            try:
                return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - names of our own
            finally:
                db.close()

    return count


def rows_of_array(file: str) -> Callable[[Store, Path], int]:
    """For `Layer.rows`: how many rows a derived array has."""

    def count(_: Store, derived: Path) -> int:
        import numpy as np

        return len(np.load(derived / file, mmap_mode="r")) if (derived / file).is_file() else 0

    return count
