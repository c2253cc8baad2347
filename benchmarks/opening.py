"""What comparing checksums costs a cold answer: CPU seconds of a process that opens an index and answers one question.

    python -m benchmarks.opening --index DIR [--paradigms words,kg] [--repeats 7]

Each time in a new process, by turns with the checksums compared and with that left out; medians are shown. The files
are in the system's cache, so that what is measured is the comparing.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--paradigms", default="words,kg")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--one", choices=("with", "without"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        answer(options.index, options.paradigms, compared=options.one == "with")
        return
    for paradigm in options.paradigms.split(","):
        seconds: dict[str, list[float]] = {"with": [], "without": []}
        for _ in range(options.repeats):
            for which, taken in seconds.items():
                command = [sys.executable, "-m", "benchmarks.opening", "--index", str(options.index)]
                done = subprocess.run(
                    [*command, "--paradigms", paradigm, "--one", which], capture_output=True, text=True, check=True
                )
                taken.append(float(done.stdout))
        on, off = (statistics.median(taken) for taken in seconds.values())
        print(f"{paradigm}: {off:.3f} CPU s without, {on:.3f} with: {(on / off - 1):+.1%}")


def answer(folder: Path, paradigm: str, *, compared: bool) -> None:
    from ragways.assemble import opened
    from ragways.index import reader
    from ragways.index.seal import Seal
    from ragways.retrieval.ask import ask
    from ragways.settings import read_settings

    if not compared:
        reader.damaged_parts = lambda *_: []  # type: ignore[attr-defined]
        Seal.is_whole = lambda *_: True  # type: ignore[method-assign]

    async def one() -> None:
        async with opened(read_settings(index=folder)) as use:
            await ask(use, "Who was born first, the director of the film or its composer?", paradigm)

    asyncio.run(one())
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
