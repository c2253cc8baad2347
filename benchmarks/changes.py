"""What a change costs at growing sizes: CPU seconds of adding, changing and removing one document, and of each further.

    python benchmarks/changes.py --sizes 2000,8000,32000 [--layers words,vectors] [--further 50] [--repeats 3]

The corpus is made (`corpus_maker.py`), and so are the vectors (`stand_in.py`), so that embedding is told apart. The
base is one file of records; each document that comes lies in a file of its own, which is named for the run, as
`ragways index FILE` does. Each figure is the median of the repeats, in a process that is warm. The exponent is the
slope of the cost over the size, both as logarithms: 0 says that a change costs the same in any corpus, 1 that it costs
as the corpus is large. `opening` is a new process that opens the index and asks `words` once, less one that only
imports.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from corpus_maker import documents, write_jsonl
from stand_in import stand_in

from ragways.index.build import build, remove
from ragways.index.reader import Index
from ragways.index.update import Recipe

FIRST_NEW = 100_000_000
"""Number of the first document that no corpus has."""
STEPS = ("add one", "each further", "change one", "remove one", "opening")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2000,8000,32000")
    parser.add_argument("--layers", default="words,vectors")
    parser.add_argument("--further", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open is not None:
        ask(options.open)
        return
    recipe = Recipe(embedder=stand_in, layers=frozenset(options.layers.split(",")))
    rows: list[dict[str, float]] = []
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as home:
            rows.append(measured(Path(home), size, recipe, options.further, options.repeats))
        print(", ".join(f"{name} {value:,.3f}" for name, value in rows[-1].items()), flush=True)
    sizes = [row["chunks"] for row in rows]
    for step in STEPS:
        values = [row[step] for row in rows]
        print(f"{step}: {values[-1]:.3f} CPU s at {sizes[-1]:,.0f} chunks, exponent {exponent(sizes, values):.2f}")


def measured(home: Path, size: int, recipe: Recipe, further: int, repeats: int) -> dict[str, float]:
    """CPU seconds of each step on an index of so many documents."""
    write_jsonl(home / "base.jsonl", size)
    index, base = home / "index", home / "base.jsonl"
    built = cpu(build(index, [base], recipe))
    opened = Index.open(index)
    row = {"documents": float(size), "chunks": float(opened.counts()["chunks"]), "build": built}
    opened.close()
    made = iter(documents(repeats * (further + 2) + 1, first=FIRST_NEW))
    taken: dict[str, list[float]] = {step: [] for step in STEPS}

    def new() -> Path:
        one = next(made)
        file = home / f"{one.title.replace('/', ' ')}.txt"
        file.write_text(one.text, encoding="utf-8")
        return file

    cpu(build(index, [new()], recipe))  # what is loaded once
    for _ in range(repeats):
        one, many = new(), [new() for _ in range(further)]
        alone = cpu(build(index, [one], recipe))
        taken["add one"].append(alone)
        together = cpu(build(index, many, recipe))
        taken["each further"].append(max(0.0, together - alone) / (further - 1))
        one.write_text(f"{one.read_text(encoding='utf-8')} It was changed.", encoding="utf-8")
        taken["change one"].append(cpu(build(index, [one], recipe)))
        taken["remove one"].append(cpu(remove(index, [one.name])))
        taken["opening"].append(in_new_process("--open", str(index)) - in_new_process("--help"))
    return row | {step: statistics.median(values) for step, values in taken.items()}


def cpu(work: Coroutine[Any, Any, object]) -> float:
    """CPU seconds of this process, all its threads counted."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    asyncio.run(work)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_new_process(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ask(folder: Path) -> None:
    index = Index.open(folder)
    index.pieces(id for id, _ in index.words.search("Who founded the harbour company?", 10))
    index.close()


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of a line through the logarithms."""
    if len(sizes) < 2:
        return math.nan
    return statistics.linear_regression([*map(math.log, sizes)], [math.log(max(value, 1e-4)) for value in values]).slope


if __name__ == "__main__":
    main()
