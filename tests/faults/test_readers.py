"""Readers that stay see what is new and delay nothing; nobody who asks beside a run is turned away; copies answer."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragways
from ragways.index.build import build, remove
from ragways.library import Corpus
from ragways.settings import Settings, read_settings
from ragways.store import database
from tests.fakes import WordHashes, recipe, write
from tests.index.builds import answers

SECRET = b"a quartermaster named Elowen"
DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne.\n",
    "crew.md": "# Crew\n\nThe ship had a quartermaster named Elowen, who kept the log of the voyage.\n",
}
BOTH = frozenset({"vectors", "words"})
QUESTION = "Who built the Harbour Light?"
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", DOCS)


@pytest.fixture
def index(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.1)
    run(tmp_path / "index", docs)
    return tmp_path / "index"


@pytest.fixture
def settings(index: Path) -> Settings:
    return read_settings(environment={}, index=index)


@pytest.fixture
def corpus(settings: Settings) -> Iterator[Corpus]:
    with ragways.open(settings=settings, embedder=WordHashes()) as corpus:
        yield corpus


def run(index: Path, docs: Path, layers: frozenset[str] = BOTH) -> None:
    asyncio.run(build(index, [docs], recipe(layers=layers)))


def files_with(index: Path, text: bytes) -> list[str]:
    return sorted(file.name for file in index.rglob("*") if file.is_file() and text in file.read_bytes())


# Beside a run

REMOVE_AND_ADD = """
import sys
from pathlib import Path
from tests.faults import test_readers
index, docs = Path(sys.argv[1]), Path(sys.argv[2])
for n in range(12):
    test_readers.asyncio.run(test_readers.remove(index, ["Crew"]))
    test_readers.run(index, docs)
"""


def test_every_question_beside_a_run_that_removes_documents_is_answered(index: Path, docs: Path):
    with subprocess.Popen([sys.executable, "-c", REMOVE_AND_ADD, str(index), str(docs)], cwd=ROOT) as writer:
        asked = 0
        while writer.poll() is None or not asked:
            found = answers(index, QUESTION, only=("words", "naive"))
            assert all("Anna Brack" in str(answer) for answer in found.values())
            asked += 1
    assert writer.returncode == 0
    assert asked >= 5
    assert len([path for path in (index / "views").iterdir() if path.name.isdecimal()]) <= 3


def test_a_corpus_that_is_open_and_idle_delays_nothing(index: Path, corpus: Corpus):
    assert "Elowen" in corpus.ask("Who was the quartermaster?", "words").answer.text
    summary = asyncio.run(remove(index, ["Crew"], erase=True))
    assert summary.erasure is not None
    assert summary.erasure.erased
    assert files_with(index, SECRET) == []
    assert (index / "index.sqlite-wal").stat().st_size == 0
    assert "Elowen" not in corpus.ask("Who was the quartermaster?", "words").answer.text


# Following


def test_a_corpus_follows_what_is_indexed_and_removed(index: Path, docs: Path, corpus: Corpus):
    assert len(corpus) == 2
    run(index, write(docs, {"more.md": "# Lantern Rock\n\nThe keeper of Lantern Rock was Ruan Pascoe.\n"}))
    assert len(corpus) == 3
    assert "Ruan Pascoe" in corpus.ask("Who was the keeper of Lantern Rock?", "words").answer.text
    asyncio.run(remove(index, ["Lantern Rock"]))
    assert "Ruan Pascoe" not in corpus.ask("Who was the keeper of Lantern Rock?", "words").answer.text


def test_a_layer_that_is_added_later_can_be_used(index: Path, docs: Path, corpus: Corpus):
    with pytest.raises(ragways.RagwaysError, match="no graph"):
        corpus.ask(QUESTION, "kg")
    run(index, docs, BOTH | {"graph"})
    assert "graph" in corpus.layers
    assert corpus.ask(QUESTION, "kg").answer.evidence.items


# Copies


def test_a_finished_index_answers_moved_copied_and_where_nothing_may_be_written(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    wanted = answers(index, QUESTION, only=("words", "naive"))
    copied = Path(shutil.copytree(index, tmp_path / "a copy"))
    moved = index.rename(tmp_path / "moved?#%41")
    for folder in (copied, moved):
        assert answers(folder, QUESTION, only=("words", "naive")) == wanted
    before = sorted(path.name for path in copied.rglob("*"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    for path in (copied, *copied.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert answers(copied, QUESTION, only=("words", "naive")) == wanted
    assert sorted(path.name for path in copied.rglob("*")) == before
