"""Builds in processes for which one call on the disk fails: is what they say of it true?

Run as a program under the shim (`shim.c`), which makes the calls fail; it forks a process for each trial, so that
Python starts once.
"""

from __future__ import annotations

import ctypes
import errno
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ragways.core.errors import RagwaysError
from tests.faults.killing import changed, corpus, run
from tests.index.whole import unlike, whole

SHIM = Path(__file__).with_name("shim.c")
WRITE, OPEN, SYNC, READ = 1, 2, 4, 8
FAULTS = {
    "ENOSPC, once": (errno.ENOSPC, WRITE | OPEN, 0),
    "ENOSPC from then on": (errno.ENOSPC, WRITE, 1),
    "EIO of a write": (errno.EIO, WRITE | SYNC, 0),
    "EIO of a read": (errno.EIO, READ, 0),
    "EMFILE": (errno.EMFILE, OPEN, 0),
}
_FORKED = multiprocessing.get_context("fork")


def compiled(folder: Path) -> Path:
    """The shim as a library."""
    library = folder / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM), "-ldl"], check=True)
    return library


@dataclass
class Outcome:
    """`untrue`: what was said and what is there differ. `unclaimed`: only the fault was said, not what is left.
    `unlike`: the next run did not make up for it.
    """

    trials: int = 0
    done: int = 0
    said: int = 0
    unclaimed: int = 0
    by_fault: dict[str, int] = field(default_factory=dict)
    untrue: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)


def outcome_of(home: Path, trials: int, seed: int = 0) -> Outcome:
    """Run the trials under the shim, in a Python of its own."""
    environment = {**os.environ, "LD_PRELOAD": str(compiled(home))}
    command = [sys.executable, "-m", __name__, str(home), str(trials), str(seed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-2000:])
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def _trials(home: Path, trials: int, seed: int, documents: int = 10) -> Outcome:
    dice, outcome, shim = random.Random(seed), Outcome(), ctypes.CDLL(None)
    docs, bill, base, index = corpus(home / "docs", documents), home / "bill", home / "base", home / "failing"
    run(base, docs, bill)
    changed(docs, documents)
    run(home / "after", docs, bill)
    before, after = whole(base), whole(home / "after")
    counts = {}
    for number in range(trials):
        name = list(FAULTS)[number % len(FAULTS)]
        error, kinds, lasting = FAULTS[name]
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(base, index)
        if name not in counts:
            counts[name] = int(_forked(shim, index, docs, bill, (0, error, kinds, 0))[2])
            shutil.rmtree(index)
            shutil.copytree(base, index)
        at = dice.randint(1, counts[name])
        kind, said, _ = _forked(shim, index, docs, bill, (at, error, kinds, lasting))
        _judge(outcome, f"{name} at {at} of {counts[name]}", kind, said, (index, before, after))
        outcome.by_fault[name] = outcome.by_fault.get(name, 0) + 1
        run(index, docs, bill)
        outcome.unlike += [f"{name} at {at}: {part}" for part in unlike(after, whole(index))]
    return outcome


def _judge(outcome: Outcome, name: str, kind: str, said: str, states: tuple[Path, Any, Any]) -> None:
    index, before, after = states
    outcome.trials += 1
    if kind == "crashed":
        outcome.crashed.append(f"{name}: {said}")
        return
    is_before = not unlike(before, whole(index))
    is_after = set(unlike(after, whole(index))) <= {"index.sqlite/meta"}  # which tells what is left to be forgotten
    outcome.done += kind == "done"
    outcome.said += kind == "said"
    if kind == "done" or "is in place" in said:
        true = is_after
    elif "unharmed" in said:
        true = is_before
    else:
        true = is_before or is_after  # nothing is claimed, but it must be one of the two
        outcome.unclaimed += 1
    if not true:
        outcome.untrue.append(f"{name}: {kind} {said} (before: {is_before}, after: {is_after})")


def _forked(shim: ctypes.CDLL, index: Path, docs: Path, bill: Path, fault: tuple[int, int, int, int]) -> Any:
    ours, theirs = _FORKED.Pipe(duplex=False)
    child = _FORKED.Process(target=_run_failing, args=(shim, index, docs, bill, fault, theirs))
    child.start()
    theirs.close()
    try:
        result = ours.recv()
    except EOFError:
        result = ("crashed", "", 0)
    child.join()
    return result if child.exitcode == 0 else ("crashed", f"exit code {child.exitcode}", 0)


def _run_failing(
    shim: ctypes.CDLL, index: Path, docs: Path, bill: Path, fault: tuple[int, int, int, int], out: Connection
) -> None:
    shim.arm(str(index).encode(), ctypes.c_long(fault[0]), *map(ctypes.c_int, fault[1:]))
    kind, said = "done", ""
    try:
        run(index, docs, bill)
    except RagwaysError as error:
        kind, said = "said", str(error)
    except BaseException as error:
        kind, said = "crashed", repr(error)
    out.send((kind, said, int(shim.disarm())))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_trials(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))) + "\n")
