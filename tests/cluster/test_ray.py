"""Ray: a cluster of three nodes that lose each other, and what is said where there is no Ray."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import ragways
from ragways.cluster.build import largest_first
from ragways.core.errors import MissingPart, UsageError
from ragways.core.runtime import ProgressCallback
from ragways.index.build import build, build_in_turn
from ragways.index.update import BuiltShard, Recipe, ShardJob
from ragways.settings import Settings
from ragways.testing.embedder import HashingEmbedder
from tests.fakes import recipe, write

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src"
# Workers of Ray are at a niceness of 15, unless told otherwise: beside other tests they would get next to nothing.
PATIENT = {"RAY_agent_register_timeout_ms": "120000", "RAY_worker_niceness": "0"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}


def python_with_ray() -> str:
    if not (Path(sys.prefix) / "ray" / "ready").exists():
        pytest.skip("ray is not installed: run `make clients`")
    return str(Path(sys.prefix) / "ray" / "bin" / "python")


def test_nodes_die_and_come_and_nothing_is_lost(tmp_path: Path):
    done = subprocess.run(
        [python_with_ray(), "-W", "ignore", str(HERE / "three_nodes.py"), str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=900, cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **PATIENT, **QUIET},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["twice"] <= 64


def test_an_address_that_does_not_answer_is_told_of(tmp_path: Path):
    write(tmp_path / "corpus", {"a.txt": "A light."})
    program = "import ragways.apps.cli as cli; cli.main()"
    command = ["index", "corpus", "--index", "index", "--engine", "ray", "--address", "127.0.0.1:9", "--shards", "2"]
    done = subprocess.run(
        [python_with_ray(), "-c", program, *command], capture_output=True, text=True, check=False, timeout=120,
        cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "no Ray cluster answers at 127.0.0.1:9" in said
    assert "ray start --head" in said


def test_shards_with_most_documents_are_begun_first(tmp_path: Path):
    many = "".join(f'{{"id": {number}, "text": "Light {number}."}}\n' for number in range(40))
    corpus = write(tmp_path / "corpus", {"many.jsonl": many, **{f"{n}.txt": f"Ship {n}." for n in range(20)}})
    added = list[int]()

    async def engine(jobs: Sequence[ShardJob], how: Recipe, progress: ProgressCallback) -> list[BuiltShard]:
        done = await build_in_turn(jobs, how, progress)
        added.extend(done[at].summary.added for at in largest_first(jobs))
        return done

    asyncio.run(build(tmp_path / "index", [corpus], recipe(), shards=7, engine=engine))
    assert sum(added) == 60
    assert added == sorted(added, reverse=True) != [added[0]] * 7


def on_ray(tmp_path: Path) -> Settings:
    return Settings.model_validate({"index": tmp_path / "index", "cluster": {"engine": "ray"}})


def test_without_ray_the_cure_is_said(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"a.txt": "A light."})
    with pytest.raises(MissingPart, match=r"Ray is not installed: pip install 'ragways\[ray\]'"):
        ragways.build(corpus, settings=on_ray(tmp_path), shards=2)
    with pytest.raises(UsageError, match="say how many: --shards N"):
        ragways.build(corpus, settings=on_ray(tmp_path))


def test_an_embedder_of_ones_own_stays_here(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"a.txt": "A light."})
    with pytest.raises(UsageError, match=r"name it in the settings"):
        ragways.build(corpus, embedder=HashingEmbedder(), settings=on_ray(tmp_path), shards=2)
    assert not (tmp_path / "index").exists()
