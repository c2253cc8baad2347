"""What a layer of an index is: facts that it extracts from each document alone, and a view that it makes of the rows.

`extract` is pure for a document (given the lexicon): what it returns is stored with the document and deleted with it.
What it pays for is cached by content (`use.cache`). `fold` brings the view up to date with documents that came and
went; without a change it makes the view anew, and both answer alike. A view can be deleted at any time.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, cast

from ragways.core.runtime import ProgressCallback, silent
from ragways.core.trace import Usage
from ragways.layers.settings import LayerSettings
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder, Vectors
from ragways.store.cache import WorkCache
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store

if TYPE_CHECKING:
    from ragways.layers.lexicon import Lexicon

S = TypeVar("S", bound=LayerSettings)
Texts = Mapping[str, str]
"""Texts by their content hash."""
Scored = list[tuple[str, float]]
"""Ids with scores: best first, equal scores by document and place."""


class Engine(Protocol):
    """Where work is done besides this process: on the machines of a cluster."""

    @property
    def parallel(self) -> int:
        """Calls worth having under way at once."""
        ...

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        """What `embedder.embed` gives, by one like it elsewhere."""
        ...

    def share(self, file: Path) -> object:
        """A file as an argument of `run`, whose function gets the path of a copy."""
        ...

    async def run(self, work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - what the work gives
        """What a function of a module gives that is called elsewhere."""
        ...


@dataclass(eq=False)
class Use:
    """What a layer may use in a run."""

    cache: WorkCache
    model: ModelClient
    embedder: Embedder | None
    embed: Callable[[Texts], Awaitable[None]]
    """Sees to it that each text has its vector in the cache. Does nothing where the index has no vectors."""
    layer: Callable[[str], Any]
    """The reader of a layer that this one needs, of the generation that is being made."""
    settings: Mapping[str, LayerSettings] = field(default_factory=dict)
    """Settings of every layer of the index."""
    layers: frozenset[str] = frozenset()
    """Names of all layers of the index."""
    lexicon: Lexicon | None = None
    """What a document's rules may know of the rest of the corpus."""
    engine: Engine | None = None
    """Does work elsewhere that needs nothing of the index."""
    progress: ProgressCallback = silent
    pays: bool = True
    """Whether the run has the settings and the model; a removal has neither, and leaves paid work to the next run."""
    last: bool = True
    """Whether views are folded for the last time in this run: before, what is paid for the whole corpus can wait."""
    fresh: frozenset[str] = frozenset()
    """Layers whose slow parts are found anew on request (`--fresh-communities`)."""
    failed: int = 0
    """Units of work that could not be done, or not yet; they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""
    outside: Counter[str] = field(default_factory=Counter)
    """What a model found that `graph.schema` does not name, by type or predicate."""

    def settings_of(self, layer: str, kind: type[S]) -> S:
        """Settings of a layer, which are of this kind."""
        return cast(S, self.settings.get(layer)) or kind()

    def fail(self, why: str, units: int = 1) -> None:
        """Note work that could not be done."""
        self.failed += units
        self.why = self.why or why


@dataclass(frozen=True)
class Estimate:
    """What a layer would do. `texts` are those that need a vector; of others, which nobody knows before, there will be
    some `like` these, so many `times`. `usage` is that of the model of `role` for work cached as `kind`, `seconds`
    what is computed besides. `estimated` says what was not counted.
    """

    rows: int
    texts: Iterable[str] = ()
    like: Sequence[str] = ()
    times: float = 1.0
    usage: Usage = field(default_factory=Usage)
    kind: str = ""
    role: str = ""
    seconds: float = 0.0
    estimated: str = ""


@dataclass(frozen=True)
class Sample:
    """The documents that a planned run would read for a layer: some of them, and the share of all that they are.

    `documents` are the sample, `total` how many documents and `chunks` how many chunks would be read in all, `share`
    is the sample's part of the tokens. `every` gives all of them, one at a time, for what can be counted exactly.
    """

    documents: Sequence[Source]
    total: int
    chunks: int
    share: float
    every: Callable[[], Iterator[Source]]
    undone: int = 0
    """Units of work that the view lacks, besides what these documents take."""


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
    """The index that is checked, at one snapshot. `figures` gathers shares and counts worth knowing in any case."""

    store: Store
    cache: sqlite3.Connection | None
    views: Path
    """The folder of the published generation; a layer's view is the folder of its name in it."""
    figures: dict[str, float] = field(default_factory=dict)

    @cached_property
    def meta(self) -> dict[str, str]:
        return self.store.meta()

    @cached_property
    def layers(self) -> frozenset[str]:
        return frozenset(self.meta.get("layers", "").split())

    @cached_property
    def chunks(self) -> list[str]:
        """Ids of all chunks, by document and place."""
        return [f"article:{number}:{path}" for number, _, path, _ in self.store.chunk_rows()]

    @cached_property
    def documents(self) -> dict[int, int]:
        """Length of each document's text, counted here: SQLite's own `length` stops at a NUL."""
        return {number: len(text) for number, text in self.store.db.execute("SELECT number, text FROM documents")}

    @property
    def cure_of_view(self) -> str:
        """The cure for whatever is wrong with a view."""
        return f"remove the folder {self.views}: it is made anew by ragways index, or when the index is next opened"


class Layer:
    """The base of every layer, built in or a plug-in's (entry points in the group `ragways.layers`).

    A layer sets `name`, `summary` and what differs from the defaults; the least that is useful is `fold` and `open`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset()
    """Layers that are folded before it, and that `use.layer` gives it."""
    settings: ClassVar[type[LayerSettings]] = LayerSettings
    tables: ClassVar[tuple[str, ...]] = ()
    """Tables of facts that are its own (of `store.FACTS`)."""
    reads_lexicon: ClassVar[bool] = False
    kinds: ClassVar[frozenset[str]] = frozenset()
    """Its kinds of paid work, each as far as the colon; for `ragways status`."""
    version: ClassVar[str] = "1"
    """Changes when what it extracts or its view does: both are then made anew."""

    def facts_made_with(self, settings: LayerSettings) -> str:
        """The settings that its facts depend on, as a text; facts made with others are extracted again."""
        return settings.model_dump_json()

    def view_made_with(self, settings: LayerSettings) -> str:
        """The settings that its view depends on, as a text; a view made with others is made anew."""
        return settings.model_dump_json()

    async def extract(self, documents: Sequence[Source], use: Use) -> list[Facts | None]:
        """Facts of each document, alone. None where its work could not be done: it is tried again on the next run.

        Raises BudgetExceeded where the budget ends before all are done; what was paid for is in the cache.
        """
        return [{} for _ in documents]

    def unfinished(self, store: Store, use: Use) -> Iterable[int]:
        """Documents to extract again in this run though their facts were made with these settings: where a model came
        since, or failed, and a rule stood in.
        """
        return ()

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        """Bring the view in this folder up to date with the rows; without a change, make it in the empty folder.

        The folder holds links to the files of the generation before, which readers have open: a file is never written
        to, but replaced (`layers/files.py`), or appended to past the length that the generation before knows.
        Documents in `change.added` may be in the view already; `change.removed` may not be in it.
        """
        raise NotImplementedError

    def open(self, view: Path, store: Store) -> object:
        """What paradigms read. It has `only(documents)`, which restricts it to documents by number, where the layer is
        to be used under a filter; and `close()`, where there is something to close.
        """
        return None

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        """What a run would do; never calls a model or embeds. `use.cache` is for reading alone."""
        return Estimate(sample.chunks)

    def check(self, context: CheckContext) -> Iterator[Finding]:
        """What does not hold of the view in `context.views / name`."""
        yield from ()

    def count(self, view: Path, store: Store) -> int:
        """How many rows (chunks, entities, windows, communities) it has."""
        return store.count("chunks")

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        """Hashes, by kind of cached work (`vectors`, or its own kinds), that the index still needs: for erasing."""
        return {}
