"""The layer of windows: embeds windows, sentences and themes, and joins the most similar ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from ragways.core.types import content_hash
from ragways.layers.files import load_array
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Use, findings
from ragways.layers.settings import LayerSettings, WindowSettings
from ragways.layers.windows.read import StoredWindows
from ragways.layers.windows.sliding import WindowedDocument, batches, windowed_documents
from ragways.layers.windows.themes import KIND, RULE, ThemesToCome, by_rule, name_themes, themes_hash, themes_in
from ragways.layers.windows.view import NAME, TextHashes, fold
from ragways.store.sentences import sentence_counts
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store
from ragways.tasks.themes import THEMES

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
        if use.model.of(THEMES.role).model is None or not use.pays:
            return ()
        query = "SELECT DISTINCT document FROM themes WHERE way = ? ORDER BY document"
        return [row[0] for row in store.db.execute(query, (RULE,))]

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        await fold(view, store, change, use)

    def open(self, view: Path, store: Store) -> StoredWindows:
        return StoredWindows.open(view, store)

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        settings = use.settings_of(NAME, WindowSettings)

        def windowed(sources: Iterable[Source]) -> Iterator[WindowedDocument]:
            return (WindowedDocument.of(source, settings) for source in sources if source.sentences)

        rows, documents, coming = 0, 0, ThemesToCome(use.cache)
        asks = use.model.of(THEMES.role).model is not None
        for some in batches(windowed(sample.every())):
            rows += sum(len(document.windows) for document in some)
            documents += len(some)
            if asks:
                coming.add(some)
        like = [by_rule(document).text for document in windowed(sample.documents)]
        return Estimate(
            rows,
            texts=(
                text
                for document in windowed(sample.every())
                for text in (*document.window_texts(), *document.sentence_texts())
            ),
            like=like,
            times=documents / max(1, len(like)),
            usage=coming.usage,
            kind=KIND,
            role=THEMES.role,
            seconds=_PAIR_SECONDS * rows**2,
            estimated="themes, edges" if rows else "",
        )

    def check(self, context: CheckContext) -> Iterator[Finding]:
        """Whether every document has its windows, over its own sentences."""
        store, cure = context.store, context.cure_of_view
        layer = StoredWindows.open(context.views / NAME, store)
        done = {row[0] for row in store.db.execute("SELECT document FROM extracted WHERE layer = ?", (NAME,))}
        counts = {number: count for number, count in sentence_counts(store.db) if number in done}
        there = dict(zip(layer.arrays.numbers.tolist(), layer.arrays.counts[:, 1].tolist(), strict=True))
        wanted = counts.keys() - set(layer.left_out)
        for name, numbers in (
            ("documents without windows", wanted - there.keys()),
            ("windows of documents that are not there", there.keys() - wanted),
            ("documents with other sentences than theirs", {n for n in wanted & there.keys() if counts[n] != there[n]}),
        ):
            yield from findings(name, "error", (f"article:{number}" for number in sorted(numbers)), cure)

    def count(self, view: Path, store: Store) -> int:
        return len(load_array(view / "spans.npy"))

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {"vectors": set(), KIND: set()}
        every = windowed_documents(store, use.settings_of(NAME, WindowSettings), store.numbers())
        for some in batches(every):
            themes, texts = themes_in(store, [document.number for document in some]), dict[str, str]()
            for document in some:
                TextHashes.of(document, themes[document.number], texts)
                found[KIND].add(themes_hash(document))
            found["vectors"].update(texts)
        return found


WINDOWS = WindowLayer()
