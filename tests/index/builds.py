"""Small corpora, their indexes, all that an index answers with, and a layer that records its calls."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import Field

from ragways.core.trace import Usage, current_meter
from ragways.index.build import build
from ragways.index.filtered import only as filtered
from ragways.index.open import Index
from ragways.index.recipe import Summary
from ragways.layers.files import load_json, save_json
from ragways.layers.layer import Estimate, Layer, Sample, Use
from ragways.layers.settings import LayerSettings
from ragways.layers.table import LAYERS
from ragways.layers.vectors import ChunkVectors
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store
from tests.fakes import WordHashes, recipe

TEXTS = {
    "harbour.txt": "The harbour has a light. The light was built in 1801.\n\nShips pass the tower by night.",
    "storm.txt": "A storm took the tower. The keeper died in the storm of 1883.",
    "ship.txt": "The ship was lost in the storm. Its keeper of the log survived.",
    "market.md": "# Market\n\nFish is sold at the harbour.\n\n## Days\n\nMonday and Friday.",
}
_PROBE = "harbour light storm ship tower keeper number"


def run(folder: Path, paths: Collection[Path], how: Mapping[str, Any] | None = None, **changes) -> Summary:
    """A build; `how` is what `build` takes beside the recipe."""
    return asyncio.run(build(folder, list(paths), recipe(**changes), **(how or {})))


def rows(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row but settings of the index, the log of changes, and times of files."""
    with closing(sqlite3.connect(folder / "index.sqlite")) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        columns = {"sources": "key, size", "records": "source, record"}
        return {
            table: sorted(map(tuple, db.execute(f"SELECT {columns.get(table, '*')} FROM {table}")), key=repr)
            for table in tables
            if table not in ("meta", "changes") and not table.startswith("titles_")  # how SQLite stores `titles`
        }


def contents(folder: Path) -> dict[str, object]:
    """All that an index has: its rows, its vectors, the chunks that words match, and its graphs."""
    found: dict[str, object] = dict(rows(folder))
    with closing(Index.open(folder)) as index:
        if "vectors" in index.layers:
            vectors = index.layer("vectors")
            assert isinstance(vectors, ChunkVectors)
            matrix, order = vectors.matrix, vectors.in_order
            found["vectors"] = [(id, matrix[row].tobytes()) for id, row in zip(vectors.ids, order, strict=True)]
        if "words" in index.layers:
            found["words"] = sorted(id for id, _ in index.words.search(_PROBE, 10_000))
        if "graph" in index.layers:
            graph = index.graph
            ids = [graph.entity_at(n) for n in range(graph.counts()["entities"])]
            found["entities"] = graph.entities(ids)
            found["relations"] = sorted(graph.triplets(ids, 10_000), key=lambda triplet: triplet.id)
            found["mentions"] = {id: graph.mentions([id], 10_000) for id in ids}
        if "communities" in index.layers:
            read = index.communities
            found["communities"] = sorted(
                (community.level, sorted(read.members(community.id)), read.report(community.id) is not None)
                for level in read.levels()
                for community in read.of_level(level)
            )
        if "windows" in index.layers:
            near = index.windows
            found["windows"] = [
                (near.window_id(row), near.themes(near.document_of(row)), near.neighbours(row))
                for row in range(len(near))
            ]
    return found


def answers(folder: Path, question: str, where: str = "", only: Collection[str] = ()) -> dict[str, object]:
    """What each paradigm answers without a model, with its evidence in order, scores to six digits."""
    from ragways.models.client import ModelClient
    from ragways.retrieval.ask import PARADIGMS, ask
    from ragways.retrieval.resources import Resources

    async def every() -> dict[str, object]:
        found: dict[str, object] = {}
        with closing(Index.open(folder)) as index:
            use = Resources(filtered(index, where) if where else index, WordHashes(), ModelClient(None))
            for name in only or PARADIGMS:
                answer = (await ask(use, question, name)).answer
                found[name] = answer.text, [(hit.piece.id, float(f"{hit.score:.6g}")) for hit in answer.evidence.items]
        return found

    return asyncio.run(every())


def unlike(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Names of the parts that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


class Paying(WordHashes):
    """An embedder that costs a dollar a text."""

    async def embed(self, texts):
        reservation = current_meter().reserve(Usage(calls=1, usd=float(len(texts))))
        reservation.settle(Usage(calls=1, usd=float(len(texts))))
        return await super().embed(texts)


# A layer


class NotesSettings(LayerSettings):
    """What notes are made of."""

    mark: str = Field("", description="stands before each note")
    upper: bool = Field(False, description="the view has them in capitals")


class Notes(Layer):
    """Notes the first word of each chunk, for a dollar each where `costs` is set; one that is `unlucky` fails."""

    name = "notes"
    summary = "the first word of each chunk"
    needs = frozenset({"words"})
    settings = NotesSettings
    tables = ("descriptions",)
    kinds = frozenset({"note"})
    extracted: ClassVar[list[int]] = []
    folds: ClassVar[list[Change | None]] = []
    unlucky: ClassVar[set[str]] = set()
    costs: ClassVar[bool] = False

    def facts_made_with(self, settings: LayerSettings) -> str:
        return settings.model_dump_json(include={"mark"})

    async def extract(self, documents: Sequence[Source], use: Use) -> list[Facts | None]:
        return [self._extract(document, use) for document in documents]

    def _extract(self, document: Source, use: Use) -> Facts | None:
        mark = use.settings_of("notes", NotesSettings).mark
        rows = []
        for passage in document.passages:
            word = passage.text.split()[0]
            if word in self.unlucky:
                use.fail(f"{word} is unlucky")
                return None
            if self.costs and not use.cache.results("note:one", [passage.key]):
                current_meter().reserve(Usage(calls=1, usd=1.0)).settle(Usage(calls=1, usd=1.0))
                use.cache.keep_results("note:one", {passage.key: word})
            rows.append((passage.ordinal, word, 0, mark + word))
        self.extracted.append(document.number)
        return {"descriptions": rows}

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        self.folds.append(change)
        assert len(use.layer("words")) == store.count("chunks"), "what a layer needs is folded before it"
        notes = {} if change is None else load_json(view / "notes.json")
        for number in change.removed if change is not None else ():
            notes.pop(str(number), None)
        for number in store.numbers() if change is None else change.added:
            said = [text for (text,) in store.facts("descriptions", "text", [number])]
            upper = use.settings_of("notes", NotesSettings).upper
            notes[str(number)] = [text.upper() if upper else text for text in said]
        save_json(view / "notes.json", notes)

    def open(self, view: Path, store: Store) -> dict[str, list[str]]:
        return load_json(view / "notes.json")

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        return Estimate(sample.chunks, usage=Usage(calls=sum(1 for _ in sample.every())), estimated="luck")


NOTES = Notes()


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    """The layer as another package brings it."""
    info = tmp_path / "site" / "ragways_notes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ragways-notes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ragways.layers]\nnotes = {__name__}:NOTES\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(LAYERS, "_all", None)
    monkeypatch.setattr(LAYERS, "_packages", {})
    for name, empty in (("extracted", []), ("folds", []), ("unlucky", set()), ("costs", False)):
        monkeypatch.setattr(Notes, name, empty)
    return NOTES


def read_notes(folder: Path) -> list[str]:
    with closing(Index.open(folder)) as index:
        found = index.layer("notes")
    assert isinstance(found, dict)
    return sorted(text for texts in found.values() for text in texts)
