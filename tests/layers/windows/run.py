"""Runs of the layer of windows alone: documents come and go, are extracted, and the view is folded."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from ragways.core.errors import BudgetExceeded
from ragways.core.types import Document, content_hash
from ragways.corpus.structure import Chunking, structure
from ragways.layers.layer import Layer, Use
from ragways.layers.settings import WindowSettings
from ragways.layers.windows.layer import WINDOWS
from ragways.layers.windows.read import StoredWindows
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.source import Source
from ragways.store.store import Change, Store
from tests.fakes import WordHashes

_MADE = "1"


class WindowRuns:
    """Rows, a work cache, and a folder with the view of each generation."""

    def __init__(self, folder: Path, embedder: WordHashes | None = None, **settings: int) -> None:
        self.folder = folder
        self.embedder = embedder or WordHashes()
        self.settings = WindowSettings.model_validate(settings)
        self.store = Store.write(folder / "index")
        self.cache = WorkCache(folder / "index")
        self.store.set_meta({"embedder": self.embedder.name, "dimension": "32", "layers": "vectors windows"})
        self.model = ModelClient(None)
        self.pays = True
        self.use = self._use()
        self.view = folder / "none"
        self.generation = 0

    def _use(self) -> Use:
        async def embed(texts: Mapping[str, str]) -> None:
            missing = sorted(set(texts) - self.cache.known(self.embedder.name, texts))
            rows = await self.embedder.embed([texts[hash] for hash in missing])
            self.cache.keep(self.embedder.name, dict(zip(missing, rows, strict=True)))

        settings = {"windows": self.settings}
        return Use(
            self.cache, self.model, self.embedder, embed, lambda _: None, settings, frozenset({"vectors", "windows"}),
            pays=self.pays,
        )  # fmt: skip

    def put(self, texts: Mapping[str, str]) -> None:
        """Add documents or put them in the place of earlier ones, by name; an empty text removes."""
        with self.store.batch() as batch:
            for name, text in texts.items():
                document = Document(name, name.removesuffix(".txt"), text, "text")
                if text:
                    parts = structure(document, Chunking(1000, 0))
                    hashes = [content_hash(text[chunk.start : chunk.end]) for chunk in parts.chunks]
                    batch.put(parts, name, [1] * len(hashes), hashes)
                else:
                    batch.remove(int(document.id.split(":")[1]))

    def run(self, *, make: bool = False, layer: Layer = WINDOWS) -> StoredWindows:
        """Extract what is new and fold the view, or make it anew."""
        self.use = self._use()
        asyncio.run(self._run(make, layer))
        return self.open()

    async def _run(self, make: bool, layer: Layer) -> None:
        numbers = {*self.store.not_extracted("windows", _MADE), *layer.unfinished(self.store, self.use)}
        sources: list[Source] = list(self.store.sources(sorted(numbers)))
        try:
            facts = await layer.extract(sources, self.use)
        except BudgetExceeded:
            facts = [None] * len(sources)
        with self.store.batch() as batch:
            for source, its in zip(sources, facts, strict=True):
                if its is not None:
                    batch.put_facts("windows", source.number, its, layer.tables, _MADE)
        change: Change | None = None
        target = self.folder / f"view{self.store.generation}{os.urandom(4).hex()}"
        if make or not self.view.is_dir():
            target.mkdir()
        else:
            change = self.store.changes(self.generation, "windows")
            shutil.copytree(self.view, target, copy_function=os.link)
        await layer.fold(target, self.store, change, self.use)
        self.view, self.generation = target, self.store.generation

    def open(self) -> StoredWindows:
        return WINDOWS.open(self.view, self.store)

    def close(self) -> None:
        self.store.close()
        self.cache.close()


def all_of(layer: StoredWindows) -> dict[str, object]:
    """All that a reader can tell of the windows, to the last bit."""
    edges = vars(layer.edges).items()
    return {
        "documents": layer.documents,
        "windows": [*map(layer.window_id, range(len(layer)))],
        "sentences": [*map(layer.sentence_id, range(len(layer.sentences)))],
        "arrays": {name: array.tobytes() for name, array in vars(layer.arrays).items()},
        "themes": [layer.themes(id) for id in layer.documents],
        "edges": {name: (each.to.tolist(), each.similarity.tobytes()) for name, each in edges},
        "axes": layer.projection.axes.tobytes(),
        "left out": layer.left_out,
    }
