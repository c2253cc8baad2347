"""What can happen to an index in shards, and that it is one index after it: killed runs, copies, damage, links."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragways.core.errors import BudgetExceeded, StoreBusy, StoreDamaged, StoreFailed
from ragways.core.runtime import Progress
from ragways.core.types import document_number
from ragways.index.build import build, remove
from ragways.index.health import check
from ragways.index.reader import Index
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.retrieval.ask import retrieve
from ragways.retrieval.resources import Resources
from tests.fakes import WordHashes, recipe, write
from tests.index.test_shards import LAYER_NAMES, rankings, run, shown

TEXTS = {f"d{n}.txt": f"Text number {n} of the light and harbour, confidential{n}." for n in range(8)}
FIRST = [name for name in TEXTS if document_number(f"corpus/{name}") % 2 == 0]
"""Documents of the first of two shards."""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


def killed(folder: Path, paths: Sequence[Path], **asked: Any) -> None:
    """A run that dies when its shards are built, and the whole has taken over nothing of them."""

    def die(progress: Progress) -> None:
        if progress.stage == "merging":
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        asyncio.run(build(folder, paths, recipe(), progress=die, **asked))


def found(index: Index, question: str) -> tuple[list[tuple[str, float]], str]:
    hits = asyncio.run(retrieve(Resources(index, WordHashes(), ModelClient(None)), question, "naive"))
    return [(hit.piece.id, hit.score) for hit in hits], hits.shards


def asked(folder: Path, question: str = "light") -> tuple[list[tuple[str, float]], str]:
    with closing(Index.open(folder)) as index:
        return found(index, question)


def holding(folder: Path, text: bytes) -> list[str]:
    """Files below a folder that hold these bytes."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and text in file.read_bytes()]


# Another number of shards


def test_a_run_with_another_number_of_shards_that_was_killed_loses_no_document(tmp_path: Path):
    rows = "".join(f'{{"id": {n}, "text": "Text number {n} of the light."}}\n' for n in range(20))
    corpus = write(tmp_path / "corpus", {"rows.jsonl": rows})
    run(tmp_path / "one", [corpus])
    killed(tmp_path / "first", [corpus], shards=5)
    assert run(tmp_path / "first", [corpus], shards=2).added == 20
    assert shown(tmp_path / "first") == shown(tmp_path / "one")
    killed(tmp_path / "first", [corpus], shards=5, rebuild=True)
    with pytest.raises(StoreDamaged, match="is not shard 0 of 2"):
        asyncio.run(remove(tmp_path / "first", ["corpus/rows.jsonl"]))
    assert rankings(tmp_path / "first", ["light"]) == rankings(tmp_path / "one", ["light"])
    after = run(tmp_path / "first", [corpus])
    assert (after.added, after.changed, after.removed) == (0, 0, 0)
    assert shown(tmp_path / "first") == shown(tmp_path / "one")
    assert sorted(path.name for path in (tmp_path / "first" / "shards").iterdir()) == ["0", "1"]


def test_rebuilt_after_damage_an_index_has_the_shards_that_it_had(tmp_path: Path, corpus: Path):
    run(tmp_path / "index", [corpus], shards=2)
    before = shown(tmp_path / "index")
    store = tmp_path / "index" / "index.sqlite"
    store.write_bytes(store.read_bytes()[:5000] + b"U" * 100 + store.read_bytes()[5100:])
    with pytest.raises(StoreDamaged):
        run(tmp_path / "index", [corpus])
    run(tmp_path / "index", [corpus], rebuild=True)
    assert shown(tmp_path / "index") == before
    (corpus / "d1.txt").unlink()
    run(tmp_path / "index", [corpus])
    assert holding(tmp_path / "index", b"confidential1") == []


def test_shards_of_a_run_that_was_killed_do_not_stay_beside_an_index_without(tmp_path: Path, corpus: Path):
    run(tmp_path / "index", [corpus])
    killed(tmp_path / "index", [corpus], shards=2, rebuild=True)
    (corpus / "d1.txt").unlink()
    run(tmp_path / "index", [corpus])
    assert holding(tmp_path / "index", b"confidential1") == []


# Copies, damage, links


def test_an_older_copy_of_a_shard_is_brought_up_to_date(tmp_path: Path, corpus: Path):
    index, shard = tmp_path / "index", tmp_path / "index" / "shards" / "0"
    run(index, [corpus], shards=2)
    shutil.copytree(shard, tmp_path / "copy")
    write(corpus, {FIRST[0]: "Changed once to zebra."})
    run(index, [corpus])
    shutil.rmtree(shard)
    shutil.copytree(tmp_path / "copy", shard)
    assert asked(index)[1].startswith("1 of 2 shards answered")
    assert {finding.name: finding.severity for finding in check(index).findings} == {
        "shard 0: changes that the whole does not show yet": "warning",
        "shard 0: damaged derived files that the whole shows": "error",
    }
    write(corpus, {FIRST[1]: "Changed otherwise to giraffe."})
    assert run(index, [corpus]).changed == 1
    run(tmp_path / "one", [corpus])
    assert shown(index) == shown(tmp_path / "one")
    assert asked(index) == asked(tmp_path / "one")


def test_derived_files_of_the_whole_are_made_again_with_what_the_shards_keep(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2, layers=LAYER_NAMES)
    before = rankings(index, ["Who kept the light?"])
    shutil.rmtree(index / "derived")
    assert rankings(index, ["Who kept the light?"]) == before


def test_of_many_work_caches_some_are_held_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.work_cache._MOST_OPEN", 2)
    for n in range(5):
        (tmp_path / str(n)).mkdir()
        with closing(WorkCache(tmp_path / str(n))) as cache:
            cache.keep_results("kind", {f"hash{n}": f"value{n}"})
    with closing(WorkCache.in_memory()) as cache:
        for n in range(6):  # of which one is not there
            cache.read_also(tmp_path / str(n))
        for _ in range(2):
            wanted = [f"hash{n}" for n in range(6)]
            assert cache.results("kind", wanted) == {f"hash{n}": f"value{n}" for n in range(5)}
        assert sum(db is not None for db in cache._beside.values()) == 2


def test_damage_in_what_a_shard_holds_for_the_whole_is_not_used(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2)
    before = asked(index)
    write(corpus, {name: f"{text} More." for name, text in TEXTS.items()})
    killed(index, [corpus])
    assert asked(index) == before
    files = (index / "shards" / "0" / "derived" / "1").rglob("*.npy")
    largest = max(files, key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-40] + bytes(40))
    for _ in range(2):
        hits, said = asked(index)
        assert said.startswith("1 of 2 shards answered")
        assert set(hits) < set(before[0])
    errors = [finding for finding in check(index).findings if finding.severity == "error"]
    assert [finding.name for finding in errors] == ["shard 0: damaged derived files that the whole shows"]
    run(index, [corpus])
    run(tmp_path / "one", [corpus])
    assert shown(index) == shown(tmp_path / "one")


def test_a_shard_that_is_a_link_is_refused(tmp_path: Path, corpus: Path):
    theirs = tmp_path / "theirs"
    run(theirs, [write(tmp_path / "other", {"o.txt": "Other text."})])
    before = shown(theirs)
    run(tmp_path / "index", [corpus], shards=2)
    shutil.rmtree(tmp_path / "index" / "shards" / "0")
    (tmp_path / "index" / "shards" / "0").symlink_to(theirs)
    for rebuild in (False, True):
        with pytest.raises(StoreFailed, match="shards/0 is a link"):
            run(tmp_path / "index", [corpus], rebuild=rebuild)
    assert shown(theirs) == before


# Readers and removals


def test_a_reader_that_a_commit_has_overtaken_is_told_to_ask_again(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2)
    with closing(Index.open(index)) as reader:
        (corpus / FIRST[0]).unlink()
        run(index, [corpus])
        with pytest.raises(StoreBusy, match="rebuilt while it was being read"):
            found(reader, "light")
        assert reader.shard_note == ""
    assert asked(index)[1] == ""


def test_what_is_removed_goes_from_the_files_of_shards_too(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2)
    readers = [Store.open(index / "shards" / str(shard)) for shard in range(2)]
    assert asyncio.run(remove(index, [f"corpus/{FIRST[0]}"])).unerased
    secret = f"confidential{FIRST[0][1]}".encode()
    assert holding(index, secret) != []
    for store in readers:
        store.close()
    Index.open(index).close()
    assert holding(index, secret) == []


def test_a_file_that_became_empty_is_not_a_source_of_the_whole(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2)
    (corpus / "d3.txt").write_text("")
    run(index, [corpus])
    with closing(Store.open(index)) as store:
        assert store.files.known("corpus/d3.txt") is None
        assert store.count("sources") == len(TEXTS) - 1


def test_what_a_shard_changed_alone_is_a_new_generation_of_the_whole(tmp_path: Path, corpus: Path):
    index = tmp_path / "index"
    run(index, [corpus], shards=2)
    with closing(Index.open(index)) as before:
        generation = before.generation
    shutil.rmtree(index / "shards" / "1" / "derived")
    assert not run(index, [corpus]).touched
    with closing(Index.open(index)) as after:
        assert after.generation > generation
    assert asked(index)[1] == ""


class Poor(WordHashes):
    """Can pay for some texts."""

    async def embed(self, texts: Sequence[str]) -> Any:
        if len(self.texts) + len(texts) > 100:
            raise BudgetExceeded("the budget is spent", "raise it")
        return await super().embed(texts)


@pytest.mark.parametrize("shards", [0, 2])
def test_vectors_of_a_file_that_was_never_stored_go_with_the_next_removal(tmp_path: Path, corpus: Path, shards: int):
    index = tmp_path / "index"
    run(index, [corpus], shards=shards)
    paragraphs = (f"Paragraph {n}. " + f"word{n} " * 150 for n in range(200))
    write(corpus, {"large.txt": "\n\n".join(paragraphs)})
    assert run(index, [corpus], embedder=Poor()).stopped
    (corpus / "large.txt").unlink()
    run(index, [corpus])
    for name in TEXTS.keys() - {"d5.txt", "d6.txt"}:
        (corpus / name).unlink()
    run(index, [corpus])
    assert [finding for finding in check(index).findings if "nothing uses" in finding.name] == []
