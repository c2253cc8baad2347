"""Readers that stay see what is new and hold nothing up; what is removed is gone from the files, or it is said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ragways
from ragways.apps.cli import app
from ragways.apps.mcp import server_of
from ragways.assemble import opened_live
from ragways.index.build import build, remove
from ragways.index.health import check
from ragways.index.live import LiveIndex
from ragways.index.reader import Index
from ragways.index.work_cache import WorkCache
from ragways.library import Corpus
from ragways.settings import Settings, read_settings
from tests.fakes import WordHashes, recipe, write

SECRET = b"a quartermaster named Elowen"
DOCS = {
    "anna.md": "# Anna Brack\n\nAnna Brack built the Harbour Light in Port Averne.\n",
    "crew.md": "# Crew\n\nThe ship had a quartermaster named Elowen, who kept the log of the voyage.\n",
}
BOTH = frozenset({"vectors", "words"})


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", DOCS)


@pytest.fixture
def index(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("ragways.index.database.WAIT_SECONDS", 0.1)
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
    asyncio.run(build(index, [docs], recipe(layers=layers, settings={"graph": {}})))


def files_with(index: Path, text: bytes) -> list[str]:
    return sorted(file.name for file in index.rglob("*") if file.is_file() and text in file.read_bytes())


# Removal


def test_a_removal_with_a_reader_open_says_so_and_ends_when_the_index_is_next_opened(index: Path):
    reader = Index.open(index)  # at a snapshot, as in the middle of a question
    assert len(reader.documents()) == 2
    summary = asyncio.run(remove(index, ["Crew"]))
    assert (summary.removed, summary.unerased) == (1, True)
    assert files_with(index, SECRET) == ["index.sqlite"]
    assert any("not yet erased" in finding.name for finding in check(index).findings)
    reader.close()
    with closing(Index.open(index)) as again:
        assert len(again.documents()) == 1
    assert files_with(index, SECRET) == []
    assert check(index).findings == ()


def test_the_command_says_it_and_ends_with_a_code_of_its_own(index: Path):
    with closing(Index.open(index)):
        done = CliRunner().invoke(app, ["remove", "Crew", "--index", str(index)])
        assert done.exit_code == 6
        assert "1 removed" in done.output
        assert "not yet erased: a reader is open" in " ".join(done.output.split())
    done = CliRunner().invoke(app, ["remove", "Anna Brack", "--index", str(index), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["unerased"] is False
    assert files_with(index, SECRET) == []


def test_a_corpus_that_is_open_and_idle_holds_up_nothing(index: Path, corpus: Corpus):
    assert "Elowen" in corpus.ask("Who was the quartermaster?", "words").answer.text
    summary = asyncio.run(remove(index, ["Crew"]))
    assert not summary.unerased
    assert files_with(index, SECRET) == []
    assert (index / "index.sqlite-wal").stat().st_size == 0
    assert "Elowen" not in corpus.ask("Who was the quartermaster?", "words").answer.text


def test_failures_of_earlier_runs_are_cleared_by_a_clean_one(index: Path, docs: Path):
    def fail() -> None:
        with closing(WorkCache(index)) as cache:
            cache.keep_failure("themes", "a hash that no text has any more", "the reply was no JSON")

    for change in ({}, {"more.md": "# More\n\nAnother light.\n"}):
        fail()
        assert not check(index).fit
        run(index, write(docs, change))
        assert check(index).fit


def test_a_removal_clears_no_failure_that_was_not_tried_again(index: Path, docs: Path):
    store_says_unfinished(index)
    with closing(WorkCache(index)) as cache:
        cache.keep_failure("themes", "hash", "the reply was no JSON")
    asyncio.run(remove(index, ["Crew"]))
    with closing(Index.open(index)) as opened:
        assert opened._store.meta()["unfinished"] == "yes"


def store_says_unfinished(index: Path) -> None:
    from ragways.index.store import Store

    with closing(Store.create_or_open(index)) as store:
        store.set_meta({"unfinished": "yes"})
        store.commit()


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
        corpus.ask("Who built the Harbour Light?", "kg")
    run(index, docs, BOTH | {"graph"})
    assert "graph" in corpus.layers
    assert corpus.ask("Who built the Harbour Light?", "kg").answer.evidence.items


def test_an_index_that_is_built_anew_in_the_same_place_is_followed(index: Path, docs: Path, corpus: Corpus):
    import shutil

    shutil.rmtree(index)
    (docs / "crew.md").unlink()
    run(index, docs)
    assert len(corpus) == 1


def test_questions_side_by_side_each_keep_their_snapshot(index: Path, docs: Path):
    with closing(LiveIndex(index)) as live, live.snapshot() as first:
        with live.snapshot() as shared:
            assert shared is first
        run(index, write(docs, {"more.md": "# More\n\nAnother light.\n"}))
        with live.snapshot() as second:
            assert (len(first.documents()), len(second.documents())) == (2, 3)
        with live.snapshot() as third:
            assert third is second
    # Neither holds its snapshot any more.
    assert not asyncio.run(remove(index, ["Crew"])).unerased


def test_threads_may_ask_while_the_index_changes(index: Path, docs: Path, corpus: Corpus):
    def ask(n: int) -> str:
        return corpus.ask("Who built the Harbour Light?", "hybrid-words").answer.text

    with ThreadPoolExecutor(12) as threads:
        asked = [threads.submit(ask, n) for n in range(60)]
        for n in range(3):
            run(index, write(docs, {f"{n}.md": f"# Other {n}\n\nNothing of the kind.\n"}))
            asyncio.run(remove(index, [f"Other {n}"]))
        said = [each.result() for each in asked]
    assert len(said) == 60
    assert all("Anna Brack" in text for text in said)


def test_an_mcp_server_follows_too(index: Path, docs: Path, settings: Settings):
    from mcp.client import Client

    async def tools(client: Any) -> list[str]:
        listed = (await client.list_tools()).tools
        return next(t.input_schema["properties"]["paradigm"]["enum"] for t in listed if t.name == "ask")

    async def work() -> None:
        async with opened_live(settings, embedder=WordHashes()) as live, Client(server_of(live, settings)) as client:
            assert "kg" not in await tools(client)
            more = write(docs, {"more.md": "# Lantern Rock\n\nThe keeper of Lantern Rock was Ruan Pascoe.\n"})
            await build(index, [more], recipe(layers=BOTH | {"graph"}, settings={"graph": {}}))
            assert "kg" in await tools(client)
            found = await client.call_tool("title_search", {"title": "Lantern Rock"})
            assert "Lantern Rock" in str(found.content[0])
            assert len((await client.list_resources()).resources) == 3

    asyncio.run(work())
