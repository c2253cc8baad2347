"""Runs with every layer in processes that are killed, and what is left of them when the next run has ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from ragways.core.trace import Usage
from ragways.index import run as index_run
from ragways.index.build import build, remove
from ragways.index.writer import make_views
from ragways.models.call import Call, Reply
from ragways.models.client import ModelClient
from ragways.store.store import Store
from tests.apps.test_plan import LAYERS, reply, texts
from tests.fakes import recipe, write
from tests.index.builds import answers, contents, unlike

SETTINGS: Mapping[str, Mapping[str, object]] = {
    "graph": {"method": "model", "passage_tokens": 300},
    "communities": {"text": 50},
    "windows": {},
}
QUESTION = "Who sailed from Skelwick, and what became of the ship?"
ASKED = ("words", "fused", "graph-ppr", "community-local")
_FORKED = multiprocessing.get_context("fork")  # no time is lost on imports, so that kills fall into the run itself


class Noting:
    """A model that answers after a moment and writes down every reply, as an endpoint's bill would."""

    name = "noting"
    base_url = ""

    def __init__(self, bill: Path) -> None:
        self._bill = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def send(self, call: Call) -> Reply:
        await asyncio.sleep(0.002)
        os.write(self._bill, f"{call.key(self.name)}\n".encode())
        messages = [{"role": m.role, "content": m.content} for m in call.messages]
        form = {"type": "json_schema", "json_schema": {"schema": call.schema}}
        text = reply({"messages": messages, "response_format": form})
        return Reply(text, usage=Usage(calls=1, input=1, output=1), model=self.name)

    async def aclose(self) -> None:
        os.close(self._bill)


def corpus(folder: Path, documents: int) -> Path:
    """One file a document."""
    return write(folder, texts(documents))


def changed(folder: Path, documents: int) -> Path:
    """Of a corpus, a fifth added, a tenth changed, a tenth gone."""
    more = texts(documents + documents // 5)
    write(folder, {f"{n}.md": more[f"{n}.md"] for n in range(documents, documents + documents // 5)})
    for n in range(documents // 10):
        write(folder, {f"{n}.md": more[f"{n}.md"].replace("sailed", "rowed")})
        (folder / f"{documents - 1 - n}.md").unlink()
    return folder


def run(index: Path, documents: Path, bill: Path) -> None:
    """A run of small batches; communities are detected anew, for those brought up to date depend on the history."""
    how = recipe(
        layers=frozenset(LAYERS.split(",")),
        settings=SETTINGS,
        model=lambda work_cache: ModelClient(Noting(bill), cache=work_cache),
    )
    with patch.object(index_run, "BATCH", 5):
        asyncio.run(build(index, [documents], how, fresh=frozenset({"communities"})))


def removal(index: Path, documents: Path, bill: Path) -> None:
    """Remove a fifth of the documents, as far as they are there."""
    with closing(Store.open(index)) as store:
        keys = sorted(key for (key,) in store.db.execute("SELECT key FROM documents WHERE key LIKE '%3.md'"))
    if keys:
        asyncio.run(remove(index, keys))
    else:
        make_views(index)


Run = Callable[[Path, Path, Path], None]


def killed(work: Run, index: Path, documents: Path, bill: Path, after: float) -> bool:
    """Whether a run was killed, with SIGKILL, before it had ended."""
    child = _FORKED.Process(target=work, args=(index, documents, bill))
    child.start()
    child.join(after)
    if child.exitcode is not None:
        assert child.exitcode == 0, child.exitcode
        return False
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    return True


def finished(work: Run, index: Path, documents: Path, bill: Path) -> float:
    """Seconds of a run that nobody disturbs."""
    began = time.perf_counter()
    assert not killed(work, index, documents, bill, 600)
    return time.perf_counter() - began


@dataclass
class Outcome:
    """`twice`: replies paid a second time by the run after a kill, in all and at most after one."""

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
    """Kill as many runs at random moments: first builds, updates of an index that was there, and removals."""
    dice, outcome = random.Random(seed), Outcome()
    docs, base = corpus(home / "docs", documents), home / "base"
    run_phase(home, run, docs, None, kills // 3, dice, outcome)
    finished(run, base, docs, home / "base.bill")
    run_phase(home, run, changed(docs, documents), base, kills // 3, dice, outcome)
    run_phase(home, removal, docs, base, kills - 2 * (kills // 3), dice, outcome)
    return outcome


def run_phase(
    home: Path, work: Run, docs: Path, base: Path | None, kills: int, dice: random.Random, outcome: Outcome
) -> None:
    undisturbed, index, bill = home / "undisturbed", home / "killed", home / "bill"
    start_over(undisturbed, base)
    seconds = finished(work, undisturbed, docs, bill)
    wanted = state(undisturbed)
    last = outcome.kills + kills
    while outcome.kills < last:
        start_over(index, base)
        bill.write_text("")
        if not killed(work, index, docs, bill, dice.uniform(0, seconds)):
            continue
        finished(work, index, docs, bill)
        outcome.count(unlike(wanted, state(index)), bill.read_text().split())


def start_over(index: Path, base: Path | None) -> None:
    shutil.rmtree(index, ignore_errors=True)
    if base is not None:
        shutil.copytree(base, index)


def state(index: Path) -> dict[str, object]:
    """What an index has, and what some paradigms answer from it."""
    return contents(index) | answers(index, QUESTION, only=ASKED)
