"""What was made of a text goes with the last document that has it, and costs what goes."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.core.types import content_hash
from ragways.index.build import build, remove
from ragways.index.work_cache import WorkCache
from tests.fakes import WordHashes, recipe, write

TEXTS = ["The harbour has a light.", "A storm took the tower.", "Fish is sold on Monday."]


def run(index: Path, docs: Path, embedder: WordHashes | None = None) -> None:
    asyncio.run(build(index, [docs], recipe(embedder)))


def kept(index: Path) -> list[str]:
    with closing(sqlite3.connect(index / "work_cache.sqlite")) as db:
        return [row[0] for row in db.execute("SELECT hash FROM vectors ORDER BY hash")]


@pytest.fixture
def no_looking_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkCache, "keep_only", _never)


def _never(*_: object) -> None:
    raise AssertionError("the whole work cache was looked through")


@pytest.mark.usefixtures("no_looking_through")
def test_the_vector_of_a_text_goes_with_the_last_document_that_has_it(tmp_path: Path):
    # A chunk is searched with its title, so equal texts are chunks of equally named documents.
    docs = write(tmp_path / "docs", {f"{place}/same.txt": TEXTS[0] for place in "ab"} | {"other.txt": TEXTS[1]})
    run(tmp_path / "index", docs)
    assert len(kept(tmp_path / "index")) == 2
    asyncio.run(remove(tmp_path / "index", ["docs/a/same.txt"]))
    assert len(kept(tmp_path / "index")) == 2
    asyncio.run(remove(tmp_path / "index", ["docs/b/same.txt"]))
    assert len(kept(tmp_path / "index")) == 1


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["a/x.txt", "b/x.txt", "c/x.txt"]), st.sampled_from([*TEXTS, ""])), max_size=6
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTIONS)
@pytest.mark.usefixtures("no_looking_through")
def test_after_any_changes_as_much_is_kept_as_by_a_fresh_build(actions: list[tuple[str, str]]):
    with TemporaryDirectory() as home:
        docs, index = write(Path(home) / "docs", {"always.txt": "Stays."}), Path(home) / "index"
        run(index, docs)
        for turn, (name, text) in enumerate(actions):
            if text:
                write(docs, {name: text + " And more." * (turn % 2)})
            else:
                (docs / name).unlink(missing_ok=True)
            run(index, docs)
        run(Path(home) / "fresh", docs)
        assert kept(index) == kept(Path(home) / "fresh")


class _Dying(WordHashes):
    async def embed(self, texts):
        if any("dies" in text for text in texts):
            raise RuntimeError("died")
        return await super().embed(texts)


def test_what_a_run_kept_that_did_not_end_goes_with_the_next_removal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.index.embedding.AT_ONCE", 1)
    docs, index = write(tmp_path / "docs", {"a.txt": TEXTS[0], "b.txt": TEXTS[1]}), tmp_path / "index"
    run(index, docs)
    write(docs, {"c.txt": f"{TEXTS[2]} It is long, so it comes first.", "d.txt": "This dies."})
    with pytest.raises(RuntimeError, match="died"):
        run(index, docs, _Dying())
    assert len(kept(index)) == 3
    (docs / "c.txt").unlink()
    (docs / "d.txt").unlink()
    run(index, docs)
    assert len(kept(index)) == 3  # nothing was removed
    (docs / "b.txt").unlink()
    run(index, docs)
    assert len(kept(index)) == 1
    monkeypatch.setattr(WorkCache, "keep_only", _never)
    asyncio.run(remove(index, ["docs/a.txt"]))
    assert kept(index) == []


def _not_tidy(index: Path) -> None:
    with closing(sqlite3.connect(index / "work_cache.sqlite")) as db:
        db.execute("PRAGMA user_version = 0")


def test_indexes_of_earlier_versions_forget_too(tmp_path: Path):
    docs, index = write(tmp_path / "docs", {"a.txt": TEXTS[0], "b.txt": TEXTS[1]}), tmp_path / "index"
    run(index, docs)
    _not_tidy(index)
    asyncio.run(remove(index, ["docs/a.txt"]))
    assert len(kept(index)) == 1


@pytest.mark.parametrize("kind", ["vectors", "report"])
def test_forgetting_what_is_not_used_does_not_go_through_all_that_is(kind: str):
    """For each that goes, all that stay would be gone through: minutes for a work cache of 50,000."""

    def steps(count: int) -> int:
        hashes, taken = [content_hash(str(number)) for number in range(count)], 0
        cache = WorkCache.in_memory()
        if kind == "vectors":
            cache.keep("test", {hash: np.ones(8, np.float32) for hash in hashes})
        else:
            cache.keep_results(kind, dict.fromkeys(hashes, "{}"))

        def count_one() -> int:
            nonlocal taken
            taken += 1
            return 0

        cache._db.set_progress_handler(count_one, 100)
        cache.keep_only({kind: set(hashes[::2])})
        cache._db.set_progress_handler(None, 0)
        left = cache.vectors("test", hashes) if kind == "vectors" else cache.results(kind, set(hashes))
        assert left.keys() == {*hashes[::2]}
        return taken

    assert steps(1600) < 6 * steps(400)
