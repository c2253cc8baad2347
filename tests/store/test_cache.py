"""The work cache: what was paid for is there again, and a damaged row is dropped and not used."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from ragways.core.errors import StoreDamaged, StoreFailed
from ragways.core.trace import Usage, current_meter
from ragways.store.cache import FILE, Spent, WorkCache, damaged_rows
from ragways.store.packed import unpack


def use(usage: Usage) -> None:
    current_meter().reserve(usage).settle(usage)


VECTORS = {"a": np.array([0.6, -0.8], np.float32), "b": np.array([1, 0], np.float32)}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[WorkCache]:
    opened = WorkCache(tmp_path)
    yield opened
    opened.close()


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as db:
        db.execute(statement)
        db.commit()


def test_vectors_come_back_by_embedder_and_hash(cache: WorkCache, tmp_path: Path):
    cache.keep("words/1", VECTORS)
    with closing(WorkCache(tmp_path)) as other:
        assert other.known("words/1", ["a", "c"]) == {"a"}
        assert other.known("words/2", ["a"]) == set()
        assert np.allclose(unpack(other.vectors("words/1", ["a", "c"])["a"]), [0.6, -0.8], atol=0.005)


def test_a_damaged_vector_is_dropped_and_the_error_has_its_cure(cache: WorkCache, tmp_path: Path):
    cache.keep("words/1", VECTORS)
    change(tmp_path, "UPDATE vectors SET vector = zeroblob(6) WHERE hash = 'a'")
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert list(damaged_rows(db)) == ["vectors: a"]
    with pytest.raises(StoreDamaged) as caught:
        cache.vectors("words/1", ["a", "b"])
    assert "ragways index" in caught.value.cure
    assert cache.vectors("words/1", ["a", "b"]).keys() == {"b"}


def test_damaged_results_and_replies_count_as_not_there(
    cache: WorkCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    cache.keep_results("facts", {"a": "one", "b": "two"})
    cache.put("question", "reply")
    assert cache.results("facts", "ab") == {"a": "one", "b": "two"}
    assert cache.get("question") == "reply"
    change(tmp_path, "UPDATE results SET value = CAST(x'ff' AS TEXT) WHERE hash = 'a'")
    change(tmp_path, "UPDATE replies SET reply = 'other'")
    assert cache.results("facts", "ab") == {"b": "two"}
    assert "1 damaged results" in caplog.text
    assert cache.all_results("facts") == {"b": "two"}
    assert cache.count("facts") == 1
    assert cache.get("question") is None


def test_cost_is_stored_with_the_result_and_what_a_failure_cost_too(cache: WorkCache):
    with cache.costing("facts") as cost:
        use(Usage(calls=1, input=10, output=2, usd=0.5))
        cache.keep_results("facts", {"a": "one"}, cost)
        use(Usage(calls=1, input=5))
    spent = cache.spent("facts")
    assert (spent.calls, spent.input, spent.output, spent.usd) == (2, 15, 2, 0.5)
    with suppress(RuntimeError), cache.costing("facts"):
        use(Usage(calls=1))
        raise RuntimeError
    assert cache.spent("facts").calls == 3
    assert cache.spent("reports") == Spent()


def test_erasing_leaves_what_is_used_and_no_byte_of_the_rest(cache: WorkCache, tmp_path: Path):
    cache.keep("words/1", VECTORS)
    cache.keep_results("facts", {"a": "Tamsett sailed", "b": "Brack stayed"})
    cache.keep_failure("facts", "c", "said Corran")
    cache.put("question", "Petrel sank")
    cache.keep_only({"vectors": {"b"}, "facts": {"b"}})
    assert cache.vacuum()
    assert cache.known("words/1", ["a", "b"]) == {"b"}
    assert cache.all_results("facts") == {"b": "Brack stayed"}
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Brack" in left
    assert not any(word in left for word in (b"Tamsett", b"Corran", b"Petrel"))


def test_a_database_of_somebody_else_is_refused_and_stays_as_it_was(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "mine.sqlite")) as db:
        db.execute("CREATE TABLE letters (text TEXT)")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / FILE).symlink_to(tmp_path / "mine.sqlite")
    (tmp_path / FILE).write_bytes(before := (tmp_path / "mine.sqlite").read_bytes())
    for folder in (tmp_path, tmp_path / "linked"):
        with pytest.raises(StoreFailed):
            WorkCache(folder)
    assert (tmp_path / FILE).read_bytes() == (tmp_path / "mine.sqlite").read_bytes() == before
