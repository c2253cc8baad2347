"""Very many tiny files: does the cost of indexing them, and of a run that finds nothing new, grow in proportion?

    python benchmarks/tiny_files.py [--files 25000 100000]

Each file holds a line of some words, in folders of a thousand; words and vectors, by the stand-in embedder. CPU is that
of the process and of those that it started, memory the highest of any.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from corpus_maker import documents
from stand_in import stand_in

from ragways.core.runtime import limit_threads
from ragways.index.build import build
from ragways.index.recipe import Recipe


def write(folder: Path, count: int) -> None:
    """Files of the first sentence of made documents."""
    for number, made in enumerate(documents(count)):
        place = folder / f"{number // 1000:04}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.txt").write_text(made.text.partition(". ")[0] + ".\n", encoding="utf-8")


def run(home: Path) -> dict[str, object]:
    """One run of the builder: CPU seconds, megabytes, stages."""
    began = _cpu()
    done = asyncio.run(build(home / "index", [home / "files"], Recipe(embedder=stand_in)))
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return {
        "cpu_s": round(_cpu() - began, 2),
        "peak_mb": round(max(resource.getrusage(each).ru_maxrss for each in who) / 1024),
        "added": done.added,
        "unchanged": done.unchanged,
        "stages": {name: round(took, 1) for name, took in done.seconds.items()},
    }


def _cpu() -> float:
    rows = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(row.ru_utime + row.ru_stime for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[25_000, 100_000])
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        limit_threads()
        print(json.dumps(run(options.child)))
        return
    before: dict[str, tuple[int, float]] = {}
    for count in options.files:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            write(Path(folder) / "files", count)
            print(f"{count} files (written in {time.process_time() - began:.1f} CPU s)")
            for what in ("first run", "nothing new"):
                command = [sys.executable, __file__, "--child", folder]
                row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                if what in before:
                    few, cpu = before[what]
                    row["exponent"] = round(math.log(row["cpu_s"] / cpu) / math.log(count / few), 2)
                before[what] = count, row["cpu_s"]
                print(f"  {what}: {row}", flush=True)


if __name__ == "__main__":
    main()
