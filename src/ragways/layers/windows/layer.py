"""The layer of windows: embeds windows, sentences and themes, and joins the most similar ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np

from ragways.core.types import content_hash
from ragways.layers.files import load_array
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Use, findings
from ragways.layers.settings import LayerSettings, WindowSettings
from ragways.layers.windows.edges import nearest_elsewhere
from ragways.layers.windows.read import StoredWindows
from ragways.layers.windows.sliding import WindowedDocument, windowed_documents
from ragways.layers.windows.themes import KIND, RULE, ThemesToCome, by_rule, name_themes, themes_hash, themes_in
from ragways.layers.windows.view import NAME, TextHashes, WindowArrays, WindowEdges, fold
from ragways.store.sentences import sentence_counts
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store

_AT_ONCE = 500
_PAIR_SECONDS = 2e-8
"""To compare two windows of 384 numbers on one core, among many."""
_CHECKED = 64


class WindowLayer(Layer):
    name = NAME
    summary = "windows of sentences joined to the most similar ones, for traversals"
    needs = frozenset({"vectors"})
    settings: ClassVar[type[LayerSettings]] = WindowSettings
    tables = ("themes",)
    kinds = frozenset({KIND})

    def facts_made_with(self, settings: LayerSettings) -> str:
        return settings.model_dump_json(include={"size", "slide"})

    async def extract(self, documents: Sequence[Source], use: Use) -> list[Facts | None]:
        settings = use.settings_of(NAME, WindowSettings)
        windowed = [WindowedDocument.of(source, settings) for source in documents]
        some = [document for document in windowed if document.sentences]
        texts: dict[str, str] = {}
        for document in some:
            texts |= {content_hash(text): text for text in (*document.window_texts(), *document.sentence_texts())}
        await use.embed(texts)
        named = dict(zip((document.number for document in some), await name_themes(use, some), strict=True))
        await use.embed({content_hash(themes.text): themes.text for themes in named.values()})
        return [
            {"themes": [(i, theme, themes.way) for i, theme in enumerate(themes.themes)]}
            if (themes := named.get(document.number)) is not None
            else {}
            for document in windowed
        ]

    def unfinished(self, store: Store, use: Use) -> Iterable[int]:
        """Documents whose themes a model can name that were named by the rule."""
        if use.model.model is None or not use.pays:
            return ()
        query = "SELECT DISTINCT document FROM themes WHERE way = ? ORDER BY document"
        return [row[0] for row in store.db.execute(query, (RULE,))]

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        await fold(view, store, change, use)

    def open(self, view: Path, store: Store) -> StoredWindows:
        return StoredWindows.open(view, store)

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        settings = use.settings_of(NAME, WindowSettings)
        asks, rows, documents, coming = use.model.model is not None, 0, 0, ThemesToCome(use.cache)
        for some in _batches(WindowedDocument.of(source, settings) for source in sample.every()):
            rows += sum(len(document.windows) for document in some)
            documents += len(some)
            if asks:
                coming.add(some)
        like = [by_rule(WindowedDocument.of(source, settings)).text for source in sample.documents if source.sentences]
        return Estimate(
            rows,
            texts=(
                text
                for source in sample.every()
                for document in [WindowedDocument.of(source, settings)]
                for text in (*document.window_texts(), *document.sentence_texts())
            ),
            like=like,
            times=documents / max(1, len(like)),
            usage=coming.usage,
            kind=KIND,
            seconds=_PAIR_SECONDS * rows**2,
            estimated="themes, edges" if rows else "",
        )

    def check(self, context: CheckContext) -> Iterator[Finding]:
        view, store = context.views / NAME, context.store
        if not view.is_dir():
            return
        layer, cure = StoredWindows.open(view, store), context.cure_of_view
        yield from _check_rows(layer, store, cure)
        yield from _check_edges(layer, cure)
        yield from _check_nearest(layer, view, context)

    def count(self, view: Path, store: Store) -> int:
        return len(load_array(view / "spans.npy"))

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {"vectors": set(), KIND: set()}
        every = windowed_documents(store, use.settings_of(NAME, WindowSettings), store.numbers())
        for some in _batches(every):
            themes, texts = themes_in(store, [document.number for document in some]), dict[str, str]()
            for document in some:
                TextHashes.of(document, themes[document.number], texts)
                found[KIND].add(themes_hash(document))
            found["vectors"].update(texts)
        return found


def _batches(documents: Iterable[WindowedDocument]) -> Iterator[list[WindowedDocument]]:
    rest = (document for document in documents if document.sentences)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


# Checks


def _check_rows(layer: StoredWindows, store: Store, cure: str) -> Iterator[Finding]:
    """Whether every document has its windows, over its own sentences."""
    done = {row[0] for row in store.db.execute("SELECT document FROM extracted WHERE layer = ?", (NAME,))}
    counts = {number: count for number, count in sentence_counts(store.db) if number in done}
    numbers = layer.documents.numbers.tolist()
    wanted, there = counts.keys() - {int(id.split(":")[1]) for id in layer.left_out}, set(numbers)
    lacking, extra = (f"article:{n}" for n in sorted(wanted - there)), (f"article:{n}" for n in sorted(there - wanted))
    yield from findings("documents without windows", "error", lacking, cure)
    yield from findings("windows of documents that are not there", "error", extra, cure)
    ends = [layer.window_at[layer.windows_of(id)[-1], 1] for id in layer.documents]
    sizes = np.diff(ends, prepend=0).tolist() if ends else []
    other = (f"article:{n}" for n, size in zip(numbers, sizes, strict=True) if counts.get(n, size) != size)
    yield from findings("documents with other sentences than theirs", "error", other, cure)
    for name, rows in (("windows", layer.windows), ("sentences", layer.sentences)):
        lengths = np.linalg.norm(rows.matrix[:: max(1, len(rows) // 4096)], axis=1)
        wrong = np.flatnonzero(~((lengths < 0.01) | (abs(lengths - 1) < 0.01)))
        yield from findings(f"vectors of {name} that have not the length 1", "error", map(str, wrong.tolist()), cure)


def _check_edges(layer: StoredWindows, cure: str) -> Iterator[Finding]:
    owners = layer.window_at[:, 2]
    for name, edges, own in (("within", layer.within, True), ("across", layer.across, False)):
        rows, places = np.nonzero(edges.to >= 0)
        wrong = rows[(owners[rows] == owners[edges.to[rows, places]]) != own]
        examples = (layer.windows.ids[row] for row in wrong.tolist())
        yield from findings(f"edges {name} documents that are none", "error", examples, cure)


def _check_nearest(layer: StoredWindows, view: Path, context: CheckContext) -> Iterator[Finding]:
    """Whether windows from all over are joined to those of other documents that are nearest."""
    if not len(layer):
        return
    rows = np.unique(np.linspace(0, len(layer) - 1, _CHECKED).astype(np.int64))
    found = WindowEdges.load(view).across
    nearest = nearest_elsewhere(WindowArrays.load(view).window_space(), found.to.shape[1], rows)
    same = found.to[rows] == nearest.to
    context.figures["window_edges_recall"] = float(same.mean()) if same.size else 1.0
    wrong = rows[~same.all(axis=1)].tolist()
    name = "windows joined to others than the nearest"
    yield from findings(name, "error", (layer.windows.ids[row] for row in wrong), context.cure_of_view)


WINDOWS = WindowLayer()
