"""An index in shards finds what one index of the same documents finds, in the same order, by every paradigm."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ragways.core.errors import EmbedderChanged, StoreDamaged, UsageError
from ragways.core.runtime import Progress
from ragways.index.build import build, remove
from ragways.index.health import check
from ragways.index.layers import LAYERS
from ragways.index.live import LiveIndex
from ragways.index.reader import Index
from ragways.index.status import index_status
from ragways.index.store import Store
from ragways.index.update import Summary
from ragways.models.client import ModelClient
from ragways.retrieval.ask import PARADIGMS, ask, retrieve
from ragways.retrieval.resources import Resources
from tests.fakes import WordHashes, recipe, write

LAYER_NAMES = frozenset(LAYERS)
QUESTIONS = ("Who built the lighthouse of Sandy Point?", "When did Anna Holm meet the keeper in the storm?", "harbour")
BY_MODEL = {"llm-only"}
"""Retrieves nothing."""


def run(folder: Path, paths: Sequence[Path], *, shards: int = 0, rebuild: bool = False, **changes: Any) -> Summary:
    return asyncio.run(build(folder, paths, recipe(**changes), shards=shards, rebuild=rebuild))


def rankings(folder: Path, questions: Sequence[str], where: str | None = None) -> dict[tuple[str, str], Any]:
    """What every paradigm that the index has the layers for finds for the questions."""

    async def all_of_them(use: Resources) -> dict[tuple[str, str], Any]:
        return {
            (paradigm, question): [
                (hit.piece.id, hit.score) for hit in await retrieve(use, question, paradigm, where=where)
            ]
            for paradigm in sorted(PARADIGMS.keys() - BY_MODEL)
            if PARADIGMS[paradigm].needs <= use.index.layers
            for question in questions
        }

    with closing(Index.open(folder)) as index:
        return asyncio.run(all_of_them(Resources(index, WordHashes(), ModelClient(None))))


NAMES = st.sampled_from(["Anna Holm", "Sandy Point", "Pell Rock", "Ole Brandt", "Port Elm", "the keeper", "the storm"])
DOES = st.sampled_from(["built the lighthouse of", "was born in", "met", "sailed to", "is near", "wrote about"])
YEARS = st.integers(1801, 1809)
SENTENCES = st.builds(lambda a, b, c, n: f"{a[0].upper()}{a[1:]} {b} {c} in {n}.", NAMES, DOES, NAMES, YEARS)
DOCUMENTS = st.dictionaries(
    st.sampled_from([f"{name}.md" for name in "abcdefgh"]),
    st.lists(SENTENCES, min_size=1, max_size=6).map(lambda said: "# " + said[0][:20] + "\n\n" + "\n\n".join(said)),
    min_size=1,
    max_size=6,
)


@given(texts=DOCUMENTS, lines=st.lists(SENTENCES, max_size=4), question=SENTENCES)
@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_rankings_are_those_of_one_index(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str], lines: list[str], question: str
):
    home = tmp_path_factory.mktemp("shards")
    corpus = write(home / "corpus", texts)
    (corpus / "more.jsonl").write_text("".join(f'{{"id": "{n}", "text": "{line}"}}\n' for n, line in enumerate(lines)))
    run(home / "one", [corpus], layers=LAYER_NAMES)
    expected = rankings(home / "one", [question, QUESTIONS[0]])
    narrowed = rankings(home / "one", [question], where='path~".md"')
    for shards in (1, 2, 5):
        run(home / str(shards), [corpus], layers=LAYER_NAMES, shards=shards)
        assert rankings(home / str(shards), [question, QUESTIONS[0]]) == expected
        assert rankings(home / str(shards), [question], where='path~".md"') == narrowed


TEXTS = {
    "harbour.txt": "The harbour has a light. Anna Holm built the light in 1801.\n\nShips pass the tower by night.",
    "storm.txt": "A storm took the tower of Sandy Point. The keeper died in the storm of 1883.",
    "ship.txt": "The ship was lost in the storm. Its keeper of the log survived.",
    "market.md": "# Market\n\nFish is sold at the harbour.\n\n## Days\n\nMonday and Friday.",
    "rows.jsonl": '{"id": 1, "text": "Ole Brandt kept the light."}\n{"id": 2, "text": "The log of the ship."}\n',
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


def shown(folder: Path) -> tuple[Any, ...]:
    """What a reader sees, and that the index is sound."""
    assert [finding for finding in check(folder).findings if finding.severity == "error"] == []
    with closing(Index.open(folder)) as index:
        documents = [(key, index.document(id)) for id, key, _ in index.documents()]
    return documents, rankings(folder, QUESTIONS)


def test_documents_come_change_and_go_as_in_one_index(tmp_path: Path, corpus: Path):
    embedder = WordHashes()
    first = run(tmp_path / "three", [corpus], shards=3, layers=LAYER_NAMES, embedder=embedder)
    assert (first.added, first.changed, first.removed, first.unchanged) == (6, 0, 0, 0)
    embedded = len(embedder.texts)
    again = run(tmp_path / "three", [corpus], layers=LAYER_NAMES, embedder=embedder)
    assert (again.added, again.unchanged, len(embedder.texts)) == (0, 6, embedded)
    rows = '{"id": 2, "text": "The log of the ship."}\n{"id": 3, "text": "A third."}\n'
    write(corpus, {"ship.txt": "Anna Holm found it.", "new.txt": "A light stands in Port Elm.", "rows.jsonl": rows})
    (corpus / "storm.txt").unlink()
    changed = run(tmp_path / "three", [corpus], layers=LAYER_NAMES)
    assert (changed.added, changed.changed, changed.removed, changed.unchanged) == (2, 2, 2, 2)
    assert asyncio.run(remove(tmp_path / "three", ["Market"])).removed == 1
    (corpus / "market.md").unlink()
    run(tmp_path / "one", [corpus], layers=LAYER_NAMES)
    assert shown(tmp_path / "three") == shown(tmp_path / "one")
    held = b"".join(file.read_bytes() for file in (tmp_path / "three").rglob("*") if file.is_file())
    assert b"died in the storm of 1883" not in held
    assert b"Fish is sold" not in held
    status = {layer.name: layer for layer in index_status(tmp_path / "three").by_layer}
    assert status["vectors"].rows == status["words"].rows == index_status(tmp_path / "one").counts["chunks"]


def test_a_run_that_dies_between_shards_and_whole_shows_what_there_was(tmp_path: Path, corpus: Path):
    run(tmp_path / "three", [corpus], shards=3)
    before = shown(tmp_path / "three")
    write(corpus, {"ship.txt": "Anna Holm found the ship.", "new.txt": "A new light stands in Port Elm."})
    (corpus / "storm.txt").unlink()

    def die(progress: Progress) -> None:
        if progress.stage == "merging":
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        asyncio.run(build(tmp_path / "three", [corpus], recipe(), progress=die))
    assert shown(tmp_path / "three") == before
    after = run(tmp_path / "three", [corpus])
    assert (after.added, after.changed, after.removed, after.unchanged) == (1, 1, 1, 4)
    run(tmp_path / "one", [corpus])
    assert shown(tmp_path / "three") == shown(tmp_path / "one")


def test_taking_over_costs_what_changed(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch):
    run(tmp_path / "three", [corpus], shards=3)
    write(corpus, {"ship.txt": "Anna Holm found it."})

    def compare(*_: object, **__: object) -> None:
        raise AssertionError("all documents of a shard were compared")

    with monkeypatch.context() as patch:
        patch.setattr("ragways.index.shards._compared", compare)
        assert run(tmp_path / "three", [corpus]).changed == 1
        assert asyncio.run(remove(tmp_path / "three", ["market"])).removed == 1
    (corpus / "market.md").unlink()
    run(tmp_path / "one", [corpus])
    assert shown(tmp_path / "three") == shown(tmp_path / "one")


def test_more_shards_than_files_that_sqlite_reads_at_once(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
):
    open_store, made = Store.create_or_open.__func__, []  # type: ignore[attr-defined]

    def with_few(cls: type[Store], folder: Path) -> Store:
        store: Store = open_store(cls, folder)
        store.db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)
        made.append(folder)
        return store

    monkeypatch.setattr(Store, "create_or_open", classmethod(with_few))
    run(tmp_path / "three", [corpus], shards=3)
    assert tmp_path / "three" in made
    run(tmp_path / "one", [corpus])
    assert shown(tmp_path / "three") == shown(tmp_path / "one")


def test_a_missing_shard_is_told_of(tmp_path: Path, corpus: Path):
    run(tmp_path / "five", [corpus], shards=5)
    lost = tmp_path / "five" / "shards" / "2"
    shutil.move(lost, tmp_path / "lost")
    live = LiveIndex(tmp_path / "five")
    with closing(live):
        with live.snapshot() as index:
            use = Resources(index, WordHashes(), ModelClient(None))
            hits = asyncio.run(retrieve(use, "light", "naive"))
            assert hits.shards.startswith("4 of 5 shards answered")
            assert asyncio.run(ask(use, "light", "naive")).shards == hits.shards
            assert asyncio.run(ask(use, "light", "words")).shards == hits.shards
        assert [finding.name for finding in check(tmp_path / "five").findings] == ["shard 2: missing"]
        with pytest.raises(StoreDamaged, match="5 shards, and 4 are there"):
            run(tmp_path / "five", [corpus])
        shutil.move(tmp_path / "lost", lost)
        with live.snapshot() as index:
            use = Resources(index, WordHashes(), ModelClient(None))
            assert asyncio.run(retrieve(use, "light", "naive")).shards == ""


def test_what_does_not_fit_is_said_with_the_cure(tmp_path: Path, corpus: Path):
    run(tmp_path / "index", [corpus], shards=2)
    with pytest.raises(UsageError, match="has 2 shards, and 3 are asked for"):
        run(tmp_path / "index", [corpus], shards=3)
    with pytest.raises(EmbedderChanged, match="built with embedder word-hashes"):
        run(tmp_path / "index", [corpus], embedder=WordHashes("another"))
    before = shown(tmp_path / "index")
    run(tmp_path / "index", [corpus], shards=3, rebuild=True)
    assert shown(tmp_path / "index") == before
    run(tmp_path / "index", [corpus], shards=1, rebuild=True)
    assert shown(tmp_path / "index") == before
    assert [path.name for path in (tmp_path / "index" / "shards").iterdir()] == ["0"]
    run(tmp_path / "plain", [corpus])
    with pytest.raises(UsageError, match="has no shards, and 2 are asked for"):
        run(tmp_path / "plain", [corpus], shards=2)


def test_what_is_damaged_in_a_shard_is_made_again(tmp_path: Path, corpus: Path):
    run(tmp_path / "index", [corpus], shards=2)
    before = rankings(tmp_path / "index", ["light"])
    shutil.rmtree(tmp_path / "index" / "shards" / "1" / "derived")
    assert rankings(tmp_path / "index", ["light"]) == before
