"""What an index run would do and cost, layer by layer, without doing it."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ragways.core.errors import NoIndex
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.corpus.source import Skipped, WebSource
from ragways.index.database import Transaction
from ragways.index.file_reader import BegunFile, FileReader, ReadDocument, ReadFile
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext, Texts
from ragways.index.layers import in_order
from ragways.index.place import check_place
from ragways.index.schema import PARTS
from ragways.index.shards import ShardList
from ragways.index.store import Store
from ragways.index.update import Recipe, Summary, find_files
from ragways.index.versions import is_earlier, upgrade
from ragways.index.work_cache import FILE, WorkCache
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder

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
) -> IndexPlan:
    """Read what changed into a store that is thrown away, try the layers on a sample, and say what a run would take.

    `root` is that of `build`.
    """
    planned, read = IndexPlan(), Summary()
    started = time.perf_counter()
    store = _scratch_store(folder)
    built = frozenset(store.meta().get("layers", "").split())
    layers = recipe.layers | built
    whole = frozenset() if store.meta().get("unfinished") else built
    with TemporaryDirectory() as pages:  # a plan leaves nothing behind
        found = find_files(paths, recipe, root).with_pages(web, Path(pages), progress)
        _update(FileReader(store, recipe, found, read, progress), store, planned)
    planned.unchanged, planned.skipped, planned.failed = read.unchanged, read.skipped, read.failed
    planned.hidden, planned.left_out, planned.withdrawn = read.hidden, read.left_out, read.withdrawn
    store.set_meta({"layers": " ".join(sorted(layers)), "chunk_titles": str(recipe.chunking.title)})
    work_cache = WorkCache(folder) if (folder / FILE).is_file() else WorkCache.in_memory()
    for place in shards.places() if (shards := ShardList.of(folder, store.meta())) is not None else ():
        work_cache.read_also(place)
    model = recipe.model(work_cache)
    embedder = await recipe.embedder() if "vectors" in layers else None
    planned.seconds = time.perf_counter() - started
    context = BuildContext(store, work_cache, model, embedder, _embed_nothing, settings=recipe.settings)
    ordered = in_order(layers)
    planning = _plan_context(context, ordered, planned)
    try:
        pricing = _Pricing(work_cache, model, embedder)
        for layer in ordered:
            progress(Progress("planning", 0, note=layer.name))
            seen = planning if layer.name in whole else replace(planning, fresh=1.0)
            planned.add(await pricing.layer(layer.name, layer.plan(seen)))
    finally:
        await model.aclose()
        if embedder is not None:
            await embedder.aclose()
        for each in (planning.context, planning.sample):
            each.work_cache.close()
            each.store.close()
    return planned


def _update(reader: FileReader, store: Store, planned: IndexPlan) -> None:
    """Bring the scratch store up to date, as a run would its own, and count what is new."""
    for change in reader.changes():
        if isinstance(change, ReadDocument):
            existed, tokens = change.put(store)
            planned.changed += existed
            planned.new += not existed
            planned.chunks += len(tokens)
            planned.tokens += sum(tokens)
        elif not isinstance(change, BegunFile):
            store.remove(change.gone if isinstance(change, ReadFile) else store.hashes_of_source(change.key))
    for key in reader.vanished():
        store.remove(store.hashes_of_source(key))


def _plan_context(context: BuildContext, layers: Iterable[Layer], planned: IndexPlan) -> PlanContext:
    store, share = _sample_store(context.store)
    settings = {layer.name: context.settings_of(layer.name, layer.settings).for_sample() for layer in layers}
    # The sample has no model: what is tried on it costs nothing and leaves nothing behind.
    sample = BuildContext(store, WorkCache.in_memory(), ModelClient(None), None, _embed_nothing, settings=settings)
    chunks = context.store.count("chunks")
    return PlanContext(context, sample, share, min(1.0, planned.chunks / chunks) if chunks else 0.0)


async def _embed_nothing(_: Texts) -> None:
    raise AssertionError("a plan embeds nothing but a sample")


class _Pricing:
    """What outlooks cost: tokens and money of endpoints are counted, the time of work done here is measured."""

    def __init__(self, work_cache: WorkCache, model: ModelClient, embedder: Embedder | None) -> None:
        self.work_cache = work_cache
        self.model = model
        self.embedder = embedder
        self.seen: set[str] = set()
        self.rate: float | None = None

    async def layer(self, name: str, estimate: LayerEstimate) -> LayerPlan:
        planned = LayerPlan(name, estimate.rows, seconds=estimate.seconds, estimated=estimate.estimated)
        if self.embedder is not None:
            for texts in self._missing(self.embedder, estimate.texts):
                await self._embed(self.embedder, texts, 1.0, planned)
            if estimate.like:
                await self._embed(self.embedder, estimate.like, estimate.times, planned)
        if estimate.usage.calls:
            planned.add(estimate.usage, self.model.price(estimate.usage))
            planned.seconds += self._model_seconds(estimate)
        return planned

    def _missing(self, embedder: Embedder, texts: Iterable[str]) -> Iterator[list[str]]:
        """Texts without a vector, a few thousand at a time; what two layers want is embedded once."""
        rest = iter(texts)
        while some := {content_hash(text): text for text in islice(rest, _TEXTS_AT_ONCE)}:
            new = some.keys() - self.seen
            self.seen |= new
            missing = sorted(new - self.work_cache.known(embedder.name, new))
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

    def _model_seconds(self, estimate: LayerEstimate) -> float:
        before = self.work_cache.spent(estimate.kind)
        if before.calls:
            # The time of a call as it was seen here, waiting for its turn included.
            return estimate.usage.calls * before.seconds / before.calls / _AT_ONCE
        return (estimate.usage.calls * _CALL_SECONDS + estimate.usage.output * _TOKEN_SECONDS) / _AT_ONCE


# Stores that are thrown away: the documents as a run would leave them, and a few of them


def _scratch_store(folder: Path) -> Store:
    """A copy of the store in this folder, or an empty one. SQLite keeps it in memory, and on disk what is too large."""
    check_place(folder)
    scratch = Store(folder, sqlite3.connect("", isolation_level=None))
    try:
        existing = Store.open(folder, earlier=True)
    except NoIndex:
        scratch.create()
        return scratch
    try:
        existing.db.backup(scratch.db)
    finally:
        existing.close()
    if is_earlier(scratch.db, scratch.path):
        with Transaction(scratch.db):
            upgrade(scratch.db)
    return scratch


def _sample_store(store: Store) -> tuple[Store, float]:
    """A few documents in a store of their own, and their share of all tokens.

    Numbers come from hashes of keys, so the first documents by number are as good as drawn by lot.
    """
    sample = Store(store.folder, sqlite3.connect("", isolation_level=None))
    sample.create()
    kept = ("chunk_titles", "layers", "embedder")
    sample.set_meta({key: value for key, value in store.meta().items() if key in kept})
    tokens = taken = 0
    numbers: list[int] = []
    for number, count in store.db.execute("SELECT document, sum(tokens) FROM chunks GROUP BY document ORDER BY 1"):
        tokens += count
        if taken < SAMPLE_TOKENS:
            taken += count
            numbers.append(number)
    _copy(store, sample, numbers)
    return sample, taken / tokens if tokens else 1.0


def _copy(store: Store, target: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        for table, key in (("documents", "number"), *((part, "document") for part in PARTS)):
            rows = store.db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (number,)).fetchall()  # noqa: S608
            if rows:
                marks = ",".join("?" * len(rows[0]))
                target.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
