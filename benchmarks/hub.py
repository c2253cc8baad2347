"""An entity with a million relations: how long do a first question and a picture of its neighbourhood take?

    python -m benchmarks.hub [--edges 1000000] [--only PARADIGM] [--questions 20]

The graph is made up: one hub, joined to as many entities as asked for, some of which are joined to each other. It is
written by the code that writes any graph. Every paradigm that needs no more than vectors, words and a graph is asked a
question about the hub, each in a fresh process, as the command line does; time counts from opening the index on.
Further questions are asked of the open index. Exits with 1 where something takes more than 2 CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.hubs import asked_paradigms, first_question, hub_index, more_questions, picture

CPU = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--questions", type=int, default=20, help="further questions to each paradigm")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        folder, what = options.child
        cpu = picture(Path(folder)) if what == "picture" else first_question(Path(folder), what)
        more = [] if what == "picture" else more_questions(Path(folder), what, options.questions)
        # Not `getrusage`, which counts what the process had before it became this program.
        peak = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
        print(json.dumps({"cpu": cpu, "more": more, "peak": peak}))
        return
    slow = 0
    with tempfile.TemporaryDirectory() as home:
        folder = hub_index(Path(home), options.edges)
        for what in ("picture", *asked_paradigms()):
            if options.only in what:
                command = [sys.executable, "-m", "benchmarks.hub", "--child", str(folder), what]
                command += ["--questions", str(options.questions)]
                took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                slow += took["cpu"] > CPU
                line = f"{what:22} {took['cpu']:6.2f} CPU s {took['peak']:6.0f} MB"
                if len(took["more"]) > 1:
                    p50, p95 = (statistics.quantiles(took["more"], n=20)[place] for place in (9, 18))
                    line += f"  then p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms"
                print(line, flush=True)
    raise SystemExit(slow > 0)


if __name__ == "__main__":
    main()
