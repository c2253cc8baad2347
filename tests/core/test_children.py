"""Pieces of work in child processes: in order, whoever does them, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragways.core import children
from ragways.core.children import Children
from tests.core import child_of_tests
from tests.core.child_of_tests import work

MODULE = child_of_tests.__name__


@pytest.fixture(autouse=True)
def findable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children import from where packages are, and these tests are none."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def no_work(piece: object) -> object:
    raise AssertionError(f"a child should have done {piece}")


def test_what_comes_of_pieces_comes_in_their_order():
    pieces: list[dict[str, Any]] = [
        {"wait": 0.2 if n % 5 == 0 else 0.0, "text": f"ñ{n} \ud800 \n 😀"} for n in range(40)
    ]
    with closing(Children(MODULE, 3, no_work)) as pool:
        found = list(pool.map(pieces))
        again = list(pool.map([{"text": "x"}]))
    assert [each["text"] for each in found] == [each["text"][::-1] for each in pieces]
    assert len({each["process"] for each in found}) == 3
    assert os.getpid() not in {each["process"] for each in found}
    assert again[0]["text"] == "x"


@pytest.mark.parametrize("ended", ["fail", "exit"])
def test_what_a_child_cannot_do_is_done_here(ended: str, caplog: pytest.LogCaptureFixture):
    done: list[object] = []

    def here(piece: dict[str, str]) -> object:
        done.append(piece["text"])
        return {"text": "here", "process": os.getpid()}

    pieces = [{"text": str(n)} | ({ended: "yes"} if n == 7 else {}) for n in range(30)]
    with closing(Children(MODULE, 2, here)) as pool:
        found = [each["text"] for each in pool.map(pieces)]
    assert found[7] == "here"
    assert all(text in (str(n)[::-1], "here") for n, text in enumerate(found))
    assert len(done) < 30
    assert "has ended" in caplog.text


def test_where_no_process_can_be_started_all_is_done_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("sys.executable", str(Path(__file__).parent / "no such program"))
    with closing(Children(MODULE, 2, work)) as pool:
        found = list(pool.map([{"text": str(n)} for n in range(30)]))
    assert [each["text"] for each in found] == [str(n)[::-1] for n in range(30)]
    assert {each["process"] for each in found} == {os.getpid()}
    assert "No such file" in caplog.text


def test_children_have_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGWAYS_MODEL__KEY", "secret")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    with closing(Children(MODULE, 1, no_work)) as pool:
        [said] = pool.map([{"text": "a"}])
    assert "RAGWAYS_MODEL__KEY" not in said["environment"]
    assert "OPENBLAS_NUM_THREADS" in said["environment"]


def test_closing_ends_them_in_the_middle_of_their_work(started: list[subprocess.Popen[bytes]]):
    pool = Children(MODULE, 2, no_work)
    found = pool.map({"text": "a", "wait": 60.0 if n else 0.0} for n in range(20))
    next(found)
    began = time.monotonic()
    pool.close()
    assert len(started) == 2
    assert time.monotonic() - began < 30
    assert all(child.poll() is not None for child in started)


def test_they_end_with_whoever_started_them():
    child = children.start_child(MODULE)
    for text in ("abc", "de"):
        assert children.request(child, {"text": text})["text"] == text[::-1]  # type: ignore[index]
        child.send_signal(signal.SIGINT)  # a Ctrl-C reaches them too, and is not theirs to answer
    assert child.stdin is not None and child.stdout is not None  # noqa: PT018 - both are pipes
    child.stdin.close()  # as it is when the parent is killed
    assert child.wait(timeout=60) == 0
    child.stdout.close()
