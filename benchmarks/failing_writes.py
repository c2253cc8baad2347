"""Runs of every layer for which a call on the disk fails (ENOSPC, EIO, EMFILE): does the index stay whole?

    python -m benchmarks.failing_writes [--trials 100] [--seed 0]

A shim (`tests/faults/shim.c`, compiled with gcc and preloaded) lets one call on a file of the index fail, drawn from
all that an update makes: opening, writing, reading, syncing, renaming. The update must end in an error of ours, a
check must find none in the index, and the next run must make what an undisturbed one makes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.faults.failing import outcome_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = outcome_of(Path(folder), options.trials, options.seed)
    print(f"{outcome.trials} calls failed ({', '.join(f'{n} {name}' for name, n in outcome.by_fault.items())})")
    print(f"reported: {outcome.reported}, done in spite of it: {outcome.done}")
    print(f"tracebacks: {len(outcome.crashed)}, harmed: {len(outcome.harmed)}, unlike: {len(outcome.unlike)}")
    print("\n".join([*outcome.crashed, *outcome.harmed, *outcome.unlike][:20]))
    print(f"{time.perf_counter() - began:.0f} s")
    if outcome.crashed or outcome.harmed or outcome.unlike:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
