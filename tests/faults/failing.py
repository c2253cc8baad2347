"""Runs in processes for which one call on the disk fails: do they end in one line, and is the index whole?

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
from ragways.index.check import check
from tests.faults.killing import changed, corpus, run
from tests.index.builds import contents, unlike

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
    """`harmed`: a check finds an error in what the failed run left, or it reported success and is not done. `unlike`:
    the next run did not make up for it.
    """

    trials: int = 0
    done: int = 0
    reported: int = 0
    by_fault: dict[str, int] = field(default_factory=dict)
    harmed: list[str] = field(default_factory=list)
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


def run_trials(home: Path, trials: int, seed: int, documents: int = 10) -> Outcome:
    dice, outcome, shim = random.Random(seed), Outcome(), ctypes.CDLL(None)
    docs, bill, base, index = corpus(home / "docs", documents), home / "bill", home / "base", home / "failing"
    run(base, docs, bill)
    changed(docs, documents)
    shutil.copytree(base, home / "after")
    run(home / "after", docs, bill)
    after = contents(home / "after")
    counts: dict[str, int] = {}
    for number in range(trials):
        name = list(FAULTS)[number % len(FAULTS)]
        error, kinds, lasting = FAULTS[name]
        if name not in counts:
            start_over(index, base)
            counts[name] = int(forked(shim, index, docs, bill, (0, error, kinds, 0))[2])
        start_over(index, base)
        at = dice.randint(1, counts[name])
        kind, message, _ = forked(shim, index, docs, bill, (at, error, kinds, lasting))
        judge(outcome, f"{name} at {at} of {counts[name]}", kind, message, (index, after))
        outcome.by_fault[name] = outcome.by_fault.get(name, 0) + 1
        run(index, docs, bill)
        outcome.unlike += [f"{name} at {at}: {part}" for part in unlike(after, contents(index))]
    return outcome


def start_over(index: Path, base: Path) -> None:
    shutil.rmtree(index, ignore_errors=True)
    shutil.copytree(base, index)


def judge(outcome: Outcome, name: str, kind: str, message: str, states: tuple[Path, dict[str, object]]) -> None:
    index, after = states
    outcome.trials += 1
    if kind == "crashed" or "\n" in message:
        outcome.crashed.append(f"{name}: {message}")
        return
    outcome.done += kind == "done"
    outcome.reported += kind == "reported"
    errors = [finding.name for finding in check(index).findings if finding.severity == "error"]
    if errors or (kind == "done" and unlike(after, contents(index))):
        outcome.harmed.append(f"{name}: {kind} {message}: {errors}")


def forked(shim: ctypes.CDLL, index: Path, docs: Path, bill: Path, fault: tuple[int, int, int, int]) -> Any:
    ours, theirs = _FORKED.Pipe(duplex=False)
    child = _FORKED.Process(target=run_failing, args=(shim, index, docs, bill, fault, theirs))
    child.start()
    theirs.close()
    try:
        result = ours.recv()
    except EOFError:
        result = ("crashed", "", 0)
    child.join()
    return result if child.exitcode == 0 else ("crashed", f"exit code {child.exitcode}", 0)


def run_failing(
    shim: ctypes.CDLL, index: Path, docs: Path, bill: Path, fault: tuple[int, int, int, int], out: Connection
) -> None:
    shim.arm(str(index).encode(), ctypes.c_long(fault[0]), *map(ctypes.c_int, fault[1:]))
    kind, message = "done", ""
    try:
        run(index, docs, bill)
    except RagwaysError as error:
        kind, message = ("reported" if error.cure else "crashed"), str(error)
    except BaseException as error:
        kind, message = "crashed", repr(error)
    out.send((kind, message, int(shim.disarm())))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(run_trials(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))) + "\n")
