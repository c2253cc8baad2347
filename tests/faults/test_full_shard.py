"""A full disk under one shard while an index is built: one line names it, and the index stays as it was."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragways.cluster.build import _build, _built
from ragways.core.errors import StoreFailed
from ragways.core.runtime import ProgressCallback
from ragways.core.trace import Budget
from ragways.index.build import build
from ragways.index.reader import Index
from ragways.index.update import BuildShards, BuiltShard, Recipe, ShardJob, Summary
from tests.fakes import recipe, write

TEXTS = {f"light-{n}.txt": f"The light of harbour {n} was built by Anna Brack in {1800 + n}." for n in range(12)}
RAY = SimpleNamespace(get=lambda done: done, exceptions=SimpleNamespace(RayTaskError=OSError, RayError=OSError))


async def as_tasks(jobs: Sequence[ShardJob], recipe: Recipe, progress: ProgressCallback) -> list[BuiltShard]:
    """What the tasks of Ray do, without the cluster."""
    done = [await asyncio.to_thread(_build, job, lambda _: recipe, recipe.layers, Budget()) for job in jobs]
    return [_built(RAY, each, job) for each, job in zip(done, jobs, strict=True)]


def run(index: Path, docs: Path, engine: BuildShards | None) -> Summary:
    return asyncio.run(build(index, [docs], recipe(layers=frozenset({"vectors", "words"})), shards=3, engine=engine))


def shown(index: Path) -> list[str]:
    with closing(Index.open(index)) as opened:
        return [key for _, key, _ in opened.documents()]


@contextmanager
def own_disk(folder: Path) -> Iterator[None]:
    """What lies in a folder, on a disk of its own."""
    away = folder.with_name("away")
    folder.rename(away)
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and not subprocess.run(command, capture_output=True, check=False).returncode
    try:
        if not mounted:
            pytest.skip("cannot mount a small disk here")
        shutil.copytree(away, folder, dirs_exist_ok=True)
        shutil.rmtree(away)
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)  # files may still be mapped


@pytest.mark.parametrize("engine", [None, as_tasks], ids=["here", "as tasks"])
def test_the_disk_of_one_shard_is_full(tmp_path: Path, engine: BuildShards | None):
    docs, index = write(tmp_path / "docs", TEXTS), tmp_path / "index"
    run(index, docs, engine)
    before = shown(index)
    place = index / "shards" / "1"
    with own_disk(place):
        write(docs, {f"new-{n}.txt": f"A new light {n} stands in Port Elm." for n in range(12)})
        free = os.statvfs(place)
        (place / "filler").write_bytes(b"x" * (free.f_bavail * free.f_frsize - 4096))
        with pytest.raises(StoreFailed, match=r"shards/1 is full: free some space and run again") as failed:
            run(index, docs, engine)
        assert "what was there is unharmed" in str(failed.value)
        assert "\n" not in str(failed.value)
        assert shown(index) == before
        (place / "filler").unlink()
        assert run(index, docs, engine).added == 12
        assert len(shown(index)) == 24
