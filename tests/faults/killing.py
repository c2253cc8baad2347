"""Builds with every layer in processes that are killed, and what is left of them when the next run has ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ragways.core.trace import Usage
from ragways.index.build import build
from ragways.index.update import Recipe
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from tests.apps.test_plan import LAYERS, reply, texts
from tests.fakes import recipe
from tests.index.whole import unlike, whole

SETTINGS: Mapping[str, Mapping[str, object]] = {
    "graph": {"method": "model", "passage_tokens": 300},
    "communities": {"text": 50},
    "windows": {},
}
_FORKED = multiprocessing.get_context("fork")  # no time is lost on imports, so that kills fall into the build itself


class Noting:
    """A model that answers after a moment and writes down every call, as an endpoint's bill would."""

    name = "noting"
    base_url = ""

    def __init__(self, bill: Path) -> None:
        self._bill = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def send(self, call: Call) -> Reply:
        os.write(self._bill, f"{call.key(self.name)}\n".encode())
        await asyncio.sleep(0.002)
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        form = {"type": "json_schema", "json_schema": {"schema": call.schema}}
        said = reply({"messages": messages, "response_format": form})
        return Reply(said, usage=Usage(calls=1, input=1, output=1), model=self.name)

    async def aclose(self) -> None:
        os.close(self._bill)


def corpus(folder: Path, documents: int) -> Path:
    """One file a document."""
    folder.mkdir(parents=True)
    for name, text in texts(documents).items():
        (folder / name).write_text(text)
    return folder


def changed(folder: Path, documents: int) -> Path:
    """Of a corpus, a fifth added, a tenth changed, a tenth gone."""
    more = texts(documents + documents // 5)
    for n in range(documents, documents + documents // 5):
        (folder / f"{n}.md").write_text(more[f"{n}.md"])
    for n in range(documents // 10):
        (folder / f"{n}.md").write_text(more[f"{n}.md"].replace("sailed", "rowed"))
        (folder / f"{documents - 1 - n}.md").unlink()
    return folder


def run(index: Path, documents: Path, bill: Path) -> None:
    asyncio.run(build(index, [documents], _recipe(bill)))


def _recipe(bill: Path) -> Recipe:
    return recipe(
        layers=frozenset(LAYERS.split(",")),
        settings=SETTINGS,
        model=lambda work_cache: ModelClient(Noting(bill), cache=work_cache),
    )


def killed(index: Path, documents: Path, bill: Path, after: float) -> bool:
    """Whether a run was killed, with SIGKILL, before it had ended."""
    child = _FORKED.Process(target=run, args=(index, documents, bill))
    child.start()
    child.join(after)
    if child.exitcode is not None:
        assert child.exitcode == 0, child.exitcode
        return False
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    return True


def finished(index: Path, documents: Path, bill: Path) -> float:
    """Seconds of a run that nobody disturbs."""
    began = time.perf_counter()
    assert not killed(index, documents, bill, 600)
    return time.perf_counter() - began


@dataclass
class Outcome:
    """`twice`: calls paid a second time by the run after a kill, in all and at most after one."""

    kills: int = 0
    equal: int = 0
    twice: int = 0
    most_twice: int = 0
    unlike: list[str] = field(default_factory=list)

    def count(self, different: list[str], calls: list[str]) -> None:
        self.kills += 1
        self.equal += not different
        self.unlike += different
        twice = len(calls) - len(set(calls))
        self.twice += twice
        self.most_twice = max(self.most_twice, twice)


def trial(home: Path, documents: int, kills: int, seed: int = 0) -> Outcome:
    """Kill as many runs at random moments: by turns first builds, and updates of an index that was there."""
    dice, outcome = random.Random(seed), Outcome()
    docs = corpus(home / "docs", documents)
    _phase(home, docs, None, kills // 2, dice, outcome)
    finished(home / "base", docs, home / "base.bill")
    _phase(home, changed(docs, documents), home / "base", kills - kills // 2, dice, outcome)
    return outcome


def _phase(home: Path, docs: Path, base: Path | None, kills: int, dice: random.Random, outcome: Outcome) -> None:
    undisturbed, index, bill = home / "undisturbed", home / "killed", home / "bill"
    _begin(undisturbed, base)
    seconds = finished(undisturbed, docs, bill)
    wanted = _all(undisturbed)
    last = outcome.kills + kills
    while outcome.kills < last:
        _begin(index, base)
        bill.unlink(missing_ok=True)
        if not killed(index, docs, bill, dice.uniform(0, seconds)):
            continue
        finished(index, docs, bill)
        outcome.count(unlike(wanted, _all(index)), bill.read_text().split())


def _begin(index: Path, base: Path | None) -> None:
    shutil.rmtree(index, ignore_errors=True)
    if base is not None:
        shutil.copytree(base, index)


def _all(index: Path) -> dict[str, object]:
    """The index, and what is kept for it."""
    db = sqlite3.connect(index / "work_cache.sqlite")
    kept = {
        "work_cache/vectors": sorted(db.execute("SELECT hash, vector FROM vectors").fetchall()),
        "work_cache/results": sorted(db.execute("SELECT kind, hash, value FROM results").fetchall()),
        "work_cache/failures": db.execute("SELECT * FROM failures").fetchall(),
    }
    db.close()
    return whole(index) | kept
