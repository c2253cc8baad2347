"""`ragways watch`: the index follows its folders; half-written files wait, and a fault does not end it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ragways.apps.index import follow
from ragways.core.errors import RagwaysError, UsageError
from ragways.index.diagnosis import MANY
from ragways.index.open import Index
from ragways.index.recipe import Summary
from ragways.index.writer import writing
from tests.fakes import recipe, write


class Stop(Exception):
    pass


def followed(home: Path, *turns: Callable[[], object]) -> list[Summary | RagwaysError]:
    """What was told while one thing after another was done between two looks; the last is followed by five looks."""
    told: list[Summary | RagwaysError] = []
    left = [turn for one in turns for turn in (one, None, None)] + [None] * 5

    async def sleep(_: float) -> None:
        if not left:
            raise Stop
        turn = left.pop(0)
        if turn is not None:
            turn()

    with pytest.raises(Stop):
        asyncio.run(follow(home / "index", [home / "docs"], recipe(), told.append, every=1, sleep=sleep))
    return told


def counts(outcome: Summary | RagwaysError) -> tuple[int, int, int]:
    assert isinstance(outcome, Summary)
    return outcome.added, outcome.changed, outcome.removed


def test_new_changed_and_removed_files_are_followed(tmp_path: Path):
    docs = tmp_path / "docs"
    write(docs, {"a.txt": "The pier is old.", "b.txt": "The tower is tall."})
    told = followed(
        tmp_path,
        lambda: write(docs, {"c.txt": "The harbour is deep."}),
        lambda: write(docs, {"a.txt": "The pier is very old."}),
        lambda: (docs / "b.txt").unlink(),
        lambda: write(docs, {"notes.unknown": "?"}),
    )
    assert list(map(counts, told)) == [(2, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "what is not read starts no run"
    with closing(Index.open(tmp_path / "index")) as index:
        assert index.counts()["documents"] == 2


def test_a_file_that_still_grows_is_left_until_it_stays(tmp_path: Path):
    docs = tmp_path / "docs"
    told: list[Summary | RagwaysError] = []
    write(docs, {"a.txt": "The pier is old."})
    sizes = iter(range(1, 5))
    looks = 0

    async def sleep(_: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 9:
            raise Stop
        if (size := next(sizes, None)) is not None:
            write(docs, {"long.txt": "It grows. " * size})

    with pytest.raises(Stop):
        asyncio.run(follow(tmp_path / "index", [docs], recipe(), told.append, every=1, sleep=sleep))
    assert list(map(counts, told)) == [(1, 0, 0), (1, 0, 0)], "once, when it was whole"


def test_a_run_that_fails_is_said_once_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.store.database.WAIT_SECONDS", 0.01)
    docs = tmp_path / "docs"
    write(docs, {"a.txt": "The pier is old."})
    held = writing(tmp_path / "index", rebuild=False)

    def hold() -> None:
        held.__enter__()
        write(docs, {"b.txt": "The tower is tall."})

    told = followed(tmp_path, hold, lambda: None, lambda: held.__exit__(None, None, None))
    assert [isinstance(one, RagwaysError) for one in told] == [False, True, False]
    assert counts(told[-1]) == (1, 0, 0)


def test_a_wrong_path_is_an_error_at_once(tmp_path: Path):
    with pytest.raises(UsageError, match="does not exist"):
        asyncio.run(follow(tmp_path / "index", [tmp_path / "nowhere"], recipe(), print, every=1))
    assert not (tmp_path / "index").exists()


def test_the_command_runs_until_it_is_stopped(tmp_path: Path, cache_folder: Path):
    write(tmp_path / "docs", {"a.txt": "The pier is old.", "ragways.toml": ""})
    rows = [{"title": f"Isle {n}", "text": f"It lies {n} miles from Isle {n - 1}."} for n in range(MANY)]
    write(tmp_path / "docs", {"isles.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    command = [sys.executable, "-m", "ragways", "watch", "docs", "--every", "0.1", "--json"]
    environment = {**os.environ, "RAGWAYS_CACHE": str(cache_folder)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            first = json.loads(running.stdout.readline())
            write(tmp_path / "docs", {"b.txt": "The tower is tall."})
            second = json.loads(running.stdout.readline())
            # Not SIGINT: what runs in the background of a shell inherits that it is ignored.
            running.send_signal(signal.SIGTERM)
            assert running.wait(60) == 0
        finally:
            running.kill()
    assert (first["event"], first["added"], second["added"]) == ("indexed", 1 + MANY, 1)
    assert "graph built as well" in first["chosen"], "as `ragways index` does"
