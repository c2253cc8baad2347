"""Ray: a cluster of three nodes of which one dies, and what is reported where there is no Ray."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import ragways
from ragways.cluster.connection import connected
from ragways.core.errors import MissingPart, UsageError
from ragways.settings import Settings
from ragways.testing.embedder import HashingEmbedder
from tests.fakes import write

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src"
# Workers of Ray have a niceness of 15 by default: beside other tests they would get next to nothing.
PATIENT = {"RAY_agent_register_timeout_ms": "120000", "RAY_worker_niceness": "0"}
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}


def python_with_ray() -> str:
    if not (Path(sys.prefix) / "ray" / "ready").exists():
        pytest.skip("ray is not installed: run `make clients`")
    return str(Path(sys.prefix) / "ray" / "bin" / "python")


def test_a_node_dies_and_another_comes_and_nothing_is_lost(tmp_path: Path):
    done = subprocess.run(
        [python_with_ray(), "-W", "ignore", str(HERE / "three_nodes.py"), str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=900, cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **PATIENT, **QUIET},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1])["twice"] <= 64


def test_an_address_that_does_not_answer_is_reported(tmp_path: Path):
    write(tmp_path / "corpus", {"a.txt": "A light."})
    program = "import ragways.apps.cli as cli; cli.main()"
    command = ["index", "corpus", "--index", "index", "--engine", "ray", "--address", "127.0.0.1:9"]
    done = subprocess.run(
        [python_with_ray(), "-c", program, *command], capture_output=True, text=True, check=False, timeout=120,
        cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == 2
    reported = " ".join(done.stderr.split())
    assert "no Ray cluster answers at 127.0.0.1:9" in reported
    assert "ray start --head" in reported


def on_ray(tmp_path: Path) -> Settings:
    return Settings.model_validate({"index": tmp_path / "index", "cluster": {"engine": "ray"}})


def test_without_ray_the_cure_is_reported(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"a.txt": "A light."})
    with pytest.raises(MissingPart, match=r"Ray is not installed: pip install 'ragways\[ray\]'"):
        ragways.build(corpus, settings=on_ray(tmp_path))


@pytest.mark.parametrize("error", [OSError("no space left on device"), SystemExit(1), AssertionError()])
def test_a_ray_that_does_not_start_is_one_line_with_the_cure(monkeypatch: pytest.MonkeyPatch, error: BaseException):
    """Ray itself is not here: what it raises where it cannot start a node is played by a module of its name."""

    def init(**_: object) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))
    with pytest.raises(UsageError, match=r"^Ray does not start on this machine \([^\n]+\): start one with: ray start"):
        connected()


def test_an_embedder_of_ones_own_stays_here(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"a.txt": "A light."})
    with pytest.raises(UsageError, match=r"name it in the settings"):
        ragways.build(corpus, embedder=HashingEmbedder(), settings=on_ray(tmp_path))
    assert not (tmp_path / "index").exists()
