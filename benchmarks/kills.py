"""Runs with every layer killed (SIGKILL) at random moments: is the index that the next run makes the same?

    python -m benchmarks.kills [--kills 200] [--documents 100] [--seed 0]

A third of the kills hit a first build, a third an update that adds, changes and removes documents, a third a removal.
Each time the run is made again, undisturbed, and compared with an index that was never disturbed: rows, vectors, what
the words find, the graphs, and what some paradigms answer. Replies are billed by the model itself; those paid twice
are counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from ragways.core.runtime import limit_threads
from tests.faults.killing import trial


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    limit_threads()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = trial(Path(folder), options.documents, options.kills, options.seed)
    print(f"{outcome.equal} of {outcome.kills} resumed indexes equal the uninterrupted one")
    print(f"replies paid twice: {outcome.twice}, at most {outcome.most_twice} after one kill")
    print(f"{time.perf_counter() - began:.0f} s")
    if outcome.unlike:
        print("differing:", ", ".join(sorted(set(outcome.unlike))))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
