"""Files of an index with flipped bits, cut short, emptied or with a block of zeros: does any answer change unnoticed?

    python -m benchmarks.flips [--trials 1000] [--documents 20] [--seed 0]

Each time one file of a fresh copy of an index with every layer is damaged, of half of the trials one that is drawn
evenly, of the others by size. Then `check` looks at it and every paradigm answers a question. What counts: an answer
that differs and nothing reported, and anything that ends otherwise than with an error that names its cure.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path

from ragways.core.runtime import limit_threads
from tests.faults.damage import built, trial


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    limit_threads()
    logging.getLogger("ragways").setLevel(logging.ERROR)  # a line each time that files are made again
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = trial(built(Path(folder), options.documents), Path(folder), options.trials, options.seed)
    print(f"{outcome.trials} damaged files ({', '.join(f'{n} {name}' for name, n in outcome.by_damage.items())})")
    print(f"wrong by damaged rows of facts, which have no checksum: {outcome.of_facts}")
    print(f"silently wrong otherwise: {len(outcome.wrong)}, tracebacks and crashes: {len(outcome.crashed)}")
    print(f"mended: {outcome.mended}, reported with a cure: {outcome.reported}, no harm done: {outcome.unharmed}")
    print(*sorted(outcome.wrong + outcome.crashed)[:40], sep="\n")
    print(f"{time.perf_counter() - began:.0f} s")
    if outcome.wrong or outcome.crashed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
