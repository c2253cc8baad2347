"""What an index run would do and cost, without doing it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragways.core.errors import LoadError, NoIndex
from ragways.core.progress import Progress, Report, silent
from ragways.core.types import content_hash
from ragways.corpus.load import load
from ragways.corpus.source import Skipped, SourceFile
from ragways.corpus.structure import structure
from ragways.index.build import chunk_texts_of
from ragways.index.paid import FILE, Paid
from ragways.index.recipe import Recipe
from ragways.index.sources import find_files
from ragways.index.store import Store, document_hash, number_of
from ragways.models.embed import Embedder
from ragways.models.tokens import count_tokens

SAMPLE = 24
"""Chunks embedded to measure how long the rest will take."""


@dataclass
class Plan:
    """Documents by what would happen to them, and the work. `usd` of None is a price that nobody knows."""

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
    layers: tuple[str, ...] = ()

    @property
    def documents(self) -> int:
        return self.new + self.changed + self.unchanged


async def plan(folder: Path, paths: Sequence[Path], recipe: Recipe, *, report: Report = silent) -> Plan:
    """Read everything, embed a small sample, and say what the run would take."""
    planned = Plan(layers=tuple(sorted(recipe.layers)))
    started = time.perf_counter()
    texts = _read(folder, paths, recipe, planned, report)
    planned.seconds = time.perf_counter() - started
    if "vectors" in recipe.layers:
        await _price_vectors(folder, texts, await recipe.embedder(), planned)
    return planned


def _read(folder: Path, paths: Sequence[Path], recipe: Recipe, planned: Plan, report: Report) -> dict[str, str]:
    store = _existing(folder)
    options = replace(recipe.options, notice=planned.failed.append)
    found, planned.skipped, _ = find_files(paths, options)
    texts: dict[str, str] = {}
    for done, (_, file) in enumerate(found):
        report(Progress("reading", done, len(found), file.key))
        try:
            _count(file, store, replace(recipe, options=options), planned, texts)
        except LoadError as error:
            planned.failed.append(Skipped(file.key, error.message))
    if store is not None:
        store.close()
    return texts


def _count(file: SourceFile, store: Store | None, recipe: Recipe, planned: Plan, texts: dict[str, str]) -> None:
    before = store.hashes_of_source(file.key) if store is not None else {}
    for document in load(file, recipe.options):
        known = before.get(number_of(document.id))
        if known == document_hash(document):
            planned.unchanged += 1
            continue
        if known is None:
            planned.new += 1
        else:
            planned.changed += 1
        for text in chunk_texts_of(structure(document, recipe.chunking), recipe.chunking):
            planned.chunks += 1
            planned.tokens += count_tokens(text)
            texts[content_hash(text)] = text


async def _price_vectors(folder: Path, texts: dict[str, str], embedder: Embedder, planned: Plan) -> None:
    """Tokens and money of an endpoint are counted; the time of the offline embedder is measured on a sample."""
    missing = set(texts) - _paid_for(folder, embedder.name, texts)
    planned.to_embed = len(missing)
    usage = embedder.estimate([texts[hash] for hash in sorted(missing)])
    if usage.calls:
        planned.model_calls, planned.model_tokens = usage.calls, usage.tokens
        planned.usd = None if math.isnan(usage.usd) else usage.usd
        await embedder.aclose()
        return
    sample = [texts[hash] for hash in sorted(missing)[:SAMPLE]]
    if sample:
        await embedder.embed(sample[:1])
        started = time.perf_counter()
        await embedder.embed(sample)
        share = sum(map(len, (texts[hash] for hash in missing))) / max(1, sum(map(len, sample)))
        planned.seconds += (time.perf_counter() - started) * share
    await embedder.aclose()


def _existing(folder: Path) -> Store | None:
    try:
        return Store.open(folder)
    except NoIndex:
        return None


def _paid_for(folder: Path, embedder: str, texts: dict[str, str]) -> set[str]:
    if not (folder / FILE).is_file():
        return set()
    paid = Paid(folder)
    try:
        return paid.known(embedder, texts)
    finally:
        paid.close()
