"""An entity with a million relations: how long do a first question and a picture of its neighbourhood take?

    python -m benchmarks.hub [--edges 1000000] [--only PARADIGM]

The graph is made up: one hub, joined to as many entities as asked for, some of which are joined to each other. It is
written by the code that writes any graph. Every paradigm that needs no more than vectors, words and a graph is asked a
question about the hub, each in a fresh process, as the command line does; time counts from opening the index on.
Exits with 1 where something takes more than 2 CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.hubs import asked_paradigms, first_question, hub_index, picture

CPU = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        folder, what = options.child
        cpu = picture(Path(folder)) if what == "picture" else first_question(Path(folder), what)
        print(json.dumps({"cpu": cpu, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    slow = 0
    with tempfile.TemporaryDirectory() as home:
        folder = hub_index(Path(home), options.edges)
        for what in ("picture", *asked_paradigms()):
            if options.only in what:
                command = [sys.executable, "-m", "benchmarks.hub", "--child", str(folder), what]
                took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                slow += took["cpu"] > CPU
                print(f"{what:22} {took['cpu']:6.2f} CPU s {took['peak']:6.0f} MB", flush=True)
    raise SystemExit(slow > 0)


if __name__ == "__main__":
    main()
