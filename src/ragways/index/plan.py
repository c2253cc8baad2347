"""What an index run would do and cost, layer by layer, without doing it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ragways.core.errors import NoIndex, WrongVersion
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.corpus.source import Skipped, WebSource
from ragways.index.diagnosis import graph_pays
from ragways.index.reading import FileReader, ReadDocument, ReadFile
from ragways.index.recipe import Recipe, Summary, find_files
from ragways.index.run import IndexRun, has_facts
from ragways.index.views import published
from ragways.layers.layer import Estimate, Layer, Sample
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.store.cache import FILE, WorkCache
from ragways.store.place import check_place
from ragways.store.source import Source
from ragways.store.store import Store

SAMPLE_TOKENS = 20_000
"""What is tried out before it is planned for: enough for a rate, few enough for a second or two."""
SAMPLE = 24
"""Texts embedded to measure how long the rest will take."""
_TEXTS_AT_ONCE = 8192
_AT_ONCE = 16  # calls, as the client has it by default
_CALL_SECONDS = 1.0  # before the first word of a reply
_TOKEN_SECONDS = 0.02  # for each token of it; both are used only until calls have been timed here


@dataclass
class LayerPlan:
    """What one layer would take. `usd` of None is a price that nobody knows; `estimated` says what was not counted."""

    name: str
    rows: int = 0
    to_embed: int = 0
    calls: int = 0
    input: int = 0
    output: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    estimated: str = ""

    def add(self, usage: Usage, usd: float | None) -> None:
        self.calls += usage.calls
        self.input += usage.input
        self.output += usage.output
        self.usd = None if self.usd is None or usd is None else self.usd + usd


@dataclass
class IndexPlan:
    """Documents by what would happen to them, and the work: in all, and by layer."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks: int = 0
    tokens: int = 0
    to_embed: int = 0
    model_calls: int = 0
    model_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Skipped] = field(default_factory=list)
    hidden: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    withdrawn: int = 0
    new_lexicon: bool = False
    """Whether the run would make the lexicon anew, and extract all documents again by it."""
    warning: str = ""
    """What a user should know of the index itself; empty where there is nothing."""
    layers: list[LayerPlan] = field(default_factory=list)

    @property
    def documents(self) -> int:
        return self.new + self.changed + self.unchanged

    def add(self, layer: LayerPlan) -> None:
        self.layers.append(layer)
        self.to_embed += layer.to_embed
        self.model_calls += layer.calls
        self.model_tokens += layer.input + layer.output
        self.usd = None if self.usd is None or layer.usd is None else self.usd + layer.usd
        self.seconds += layer.seconds


async def plan(
    folder: Path,
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    progress: ProgressCallback = silent,
    root: str = "",
    web: WebSource | None = None,
    rebuild: bool = False,
    compare_contents: bool = False,
    fresh: frozenset[str] = frozenset(),
) -> IndexPlan:
    """Read what differs into rows that are thrown away, try the layers on a sample of it, and say what a run would
    take. Changes nothing. The arguments are those of `build`.
    """
    check_place(folder)
    planned, read, started = IndexPlan(), Summary(), time.perf_counter()
    with (
        closing(_rows(folder, planned, rebuild)) as store,
        closing(Store.scratch(folder)) as new,
        closing(_cache(folder)) as cache,
    ):
        new.set_meta({"chunk_titles": str(recipe.chunking.title)})
        with TemporaryDirectory() as pages:  # a plan leaves nothing behind
            found = find_files(paths, recipe, root).with_pages(web, Path(pages), progress)
            reader = FileReader(store, recipe, found, read, progress, compare_contents=compare_contents)
            gone = _read(reader, store, new, planned)
        planned.unchanged, planned.skipped, planned.failed = read.unchanged, read.skipped, read.failed
        planned.hidden, planned.left_out, planned.withdrawn = read.hidden, read.left_out, read.withdrawn
        planned.seconds = time.perf_counter() - started
        run = IndexRun(store, cache, progress, read)
        if recipe.graph_where_it_pays and "layers" not in run.meta and graph_pays(new):
            recipe = replace(recipe, layers=recipe.layers | {"graph"})
        try:
            await run.take_up(recipe)
            documents = _Documents(store, new, gone, run)
            planned.new_lexicon = documents.lexicon_is_due("lexicon" in fresh)
            views = None if rebuild else published(folder)
            pricing = _Pricing(cache, run.use.model, run.use.embedder)
            for layer in run.layers:
                progress(Progress("planning", 0, note=layer.name))
                sample = documents.sample(layer, anew=planned.new_lexicon and layer.reads_lexicon)
                if views is not None:
                    sample = replace(sample, undone=views.undone(layer.name))
                planned.add(await pricing.layer(layer.name, layer.estimate(sample, run.use)))
        finally:
            await run.aclose()
    return planned


def _rows(folder: Path, planned: IndexPlan, rebuild: bool) -> Store:
    """The rows of an index as they are; empty ones where there is none, or where it is to be built anew."""
    if rebuild:
        return Store.scratch(folder)
    try:
        return Store.open(folder)
    except NoIndex:
        return Store.scratch(folder)
    except WrongVersion as error:
        planned.warning = f"{error.message}: it would be built anew"
        return Store.scratch(folder)


def _cache(folder: Path) -> WorkCache:
    return WorkCache(folder) if (folder / FILE).is_file() else WorkCache.in_memory()


def _read(reader: FileReader, store: Store, new: Store, planned: IndexPlan) -> set[int]:
    """Put what is new or changed into rows of its own, and count it. Documents that a run would remove or replace."""
    gone: set[int] = set()
    with new.batch() as batch:
        for change in reader.changes():
            if isinstance(change, ReadDocument):
                changed = store.has(change.number)
                planned.changed += changed
                planned.new += not changed
                gone.add(change.number)
                change.put(batch)
            elif isinstance(change, ReadFile):
                gone |= change.gone
    planned.chunks = new.count("chunks")
    planned.tokens = new.db.execute("SELECT coalesce(sum(tokens), 0) FROM chunks").fetchone()[0]
    return gone.union(*(store.hashes_of_source(key) for key in reader.vanished()))


class _Documents:
    """The documents that each layer would extract: those that are new or changed, and those it has no facts of."""

    def __init__(self, store: Store, new: Store, gone: set[int], run: IndexRun) -> None:
        self._store = store
        self._new = new
        self._gone = gone
        self._run = run

    def lexicon_is_due(self, asked: bool) -> bool:
        """Whether a run would make the lexicon anew."""
        if not any(layer.reads_lexicon for layer in self._run.layers):
            return False
        lexicon = self._run.open_lexicon()
        left = self._store.count("documents") - sum(map(self._store.has, self._gone))
        now = left + self._new.count("documents")
        return asked or lexicon is None or now >= 2 * lexicon.documents or 2 * now <= lexicon.documents

    def sample(self, layer: Layer, *, anew: bool) -> Sample:
        """`anew`: the layer would extract all documents."""
        missing = []
        if anew:
            missing = self._store.numbers()
        elif has_facts(layer) or layer.name not in self._run.meta.get("layers", "").split():
            missing = self._store.not_extracted(layer.name, self._run.facts_made(layer))
        missing = [number for number in missing if number not in self._gone]

        def every() -> Iterator[Source]:
            return chain(self._new.sources(), self._store.sources(missing))

        sizes = _sizes(self._new, self._new.numbers()) + (_sizes(self._store, missing) if missing else [])
        tokens, taken, some = sum(size for _, size in sizes), 0, 0
        while taken < SAMPLE_TOKENS and some < len(sizes):
            taken += sizes[some][1]
            some += 1
        # Numbers come from hashes of keys, so the first documents by number are as good as drawn by lot.
        chunks = sum(count for count, _ in sizes)
        return Sample(list(islice(every(), some)), len(sizes), chunks, taken / tokens if tokens else 1.0, every)


def _sizes(store: Store, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Chunks and tokens of each of these documents."""
    query = "SELECT document, count(*), sum(tokens) FROM chunks GROUP BY document"
    sizes = {number: (count, tokens) for number, count, tokens in store.db.execute(query)}
    return [sizes.get(number, (0, 0)) for number in numbers]


class _Pricing:
    """What outlooks cost: tokens and money of endpoints are counted, the time of work done here is measured."""

    def __init__(self, cache: WorkCache, model: ModelClient, embedder: Embedder | None) -> None:
        self.cache = cache
        self.model = model
        self.embedder = embedder
        self.seen: set[str] = set()
        self.rate: float | None = None

    async def layer(self, name: str, estimate: Estimate) -> LayerPlan:
        planned = LayerPlan(name, estimate.rows, seconds=estimate.seconds, estimated=estimate.estimated)
        if self.embedder is not None:
            for texts in self._missing(self.embedder, estimate.texts):
                await self._embed(self.embedder, texts, 1.0, planned)
            if estimate.like:
                await self._embed(self.embedder, estimate.like, estimate.times, planned)
        if estimate.usage.calls:
            planned.add(estimate.usage, self.model.of(estimate.role).price(estimate.usage))
            planned.seconds += self._model_seconds(estimate)
        return planned

    def _missing(self, embedder: Embedder, texts: Iterable[str]) -> Iterator[list[str]]:
        """Texts without a vector, a few thousand at a time; what two layers want is embedded once."""
        rest = iter(texts)
        while some := {content_hash(text): text for text in islice(rest, _TEXTS_AT_ONCE)}:
            new = some.keys() - self.seen
            self.seen |= new
            missing = sorted(new - self.cache.known(embedder.name, new))
            if missing:
                yield [some[hash] for hash in missing]

    async def _embed(self, embedder: Embedder, texts: Sequence[str], times: float, planned: LayerPlan) -> None:
        planned.to_embed += round(len(texts) * times)
        usage = embedder.estimate(texts)
        calls, tokens = math.ceil(usage.calls * times), round(usage.input * times)
        usd = None if math.isnan(usage.usd) else usage.usd * times
        planned.add(Usage(calls=calls, input=tokens), usd)
        if calls:
            planned.seconds += calls * _CALL_SECONDS / max(1, embedder.parallel)
        elif times:
            planned.seconds += times * sum(map(len, texts)) * await self._rate(embedder, texts)

    async def _rate(self, embedder: Embedder, texts: Sequence[str]) -> float:
        """Seconds a character, measured once."""
        if self.rate is None:
            sample = texts[:SAMPLE]
            await embedder.embed(sample[:1])
            started = time.perf_counter()
            await embedder.embed(sample)
            self.rate = (time.perf_counter() - started) / max(1, sum(map(len, sample)))
        return self.rate

    def _model_seconds(self, estimate: Estimate) -> float:
        before = self.cache.spent(estimate.kind)
        if before.calls:
            # The time of a call as it was seen here, waiting for its turn included.
            return estimate.usage.calls * before.seconds / before.calls / _AT_ONCE
        return (estimate.usage.calls * _CALL_SECONDS + estimate.usage.output * _TOKEN_SECONDS) / _AT_ONCE
