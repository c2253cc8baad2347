"""What an index of a made corpus costs as it grows: to build, to change, to open and to ask.

    python benchmarks/scale.py --sizes 10000 100000 [--layers vectors,words] [--questions 40] [--keep FOLDER] [--json]
        [--graph-vectors shared] [--processes 1] [--later 0]

A size is a number of documents; about 1.1 chunks come of each. The corpus is that of `corpus_maker.py` and the embedder
that of `stand_in.py`, so that embedding is told apart. Each step is a process of its own: CPU seconds are those of all
its threads from the imports on, and of the processes that it starts; modules are compiled, as installing leaves them.
Memory is the highest that all of these had, which counts pages of mapped files that they touched. Disk is all of the
index but its texts and its work cache. Exponents are those of the growth from one size to the next. Questions name one
or two titles; retrieval is timed, answering is not.
`--keep` leaves the indexes there, and takes up those that it finds. `--graph-vectors` tells which entities have a
vector: none (unless told), shared or all; `--processes` how many make the graph, which changes nothing about it.
`--later` tells by which documents beyond the size an index is changed, for one that is taken up was changed before.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import default_threads, limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import json
import math
import os
import random
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from corpus_maker import title_of, write_jsonl
from stand_in import StandIn, stand_in

import ragways
from ragways.index.build import build, remove
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.index.status import bytes_on_disk
from ragways.layers.table import layer_settings
from ragways.models.client import ModelClient
from ragways.retrieval.ask import PARADIGMS, retrieve
from ragways.retrieval.resources import Resources
from ragways.store.cache import FILE as CACHE

ASKED = ("words", "naive", "graph-ppr", "fused")
FURTHER = 10
"""Documents that a change adds beside one, to tell what each further one costs."""
LAYER_SETTINGS: dict[str, dict[str, Any]] = {"graph": {"vectors": "none"}}
Row = dict[str, Any]


# Steps, each in a process of its own


@contextmanager
def measured(row: Row, name: str) -> Iterator[None]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield
    row[f"{name}_cpu_s"], row[f"{name}_s"] = cpu_seconds() - cpu, time.perf_counter() - wall


def cpu_seconds() -> float:
    """Those of this process, and of the processes that it started and that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def built(home: Path, size: int, layers: frozenset[str]) -> Row:
    """All documents into a new index."""
    row: Row = {}
    with measured(row, "build"):
        done = asyncio.run(build(home / "index", [home / "corpus.jsonl"], recipe(layers)))
    with closing(sqlite3.connect(home / "index" / "index.sqlite")) as db:
        text = db.execute("SELECT sum(length(CAST(text AS BLOB))) FROM documents").fetchone()[0]
    files = [file for file in (home / "index").rglob("*") if not file.name.startswith(CACHE)]
    disk = bytes_on_disk(files) - text
    ms = 1000 * row["build_cpu_s"] / done.chunks
    stages = {name: round(took, 1) for name, took in done.seconds.items()}
    return row | {"documents": size, "chunks": done.chunks, "ms_a_chunk": ms, "disk": disk / done.chunks, "in": stages}


def changed(home: Path, size: int, layers: frozenset[str], later: int) -> Row:
    """One document more, as the first thing a process does; one more, and then several; and the first again less."""
    row: Row = {}
    for name, first, count in (("add", 0, 1), ("add_warm", 1, 1), ("add_more", 2, FURTHER + 1)):
        file = home / f"{name}{later}.jsonl"
        write_jsonl(file, count, first=size + later + first)
        with measured(row, name):
            asyncio.run(build(home / "index", [file], recipe(layers)))
    with measured(row, "remove"):
        asyncio.run(remove(home / "index", [f"add{later}.jsonl"]))
    row["each_further_cpu_s"] = (row["add_more_cpu_s"] - row["add_warm_cpu_s"]) / FURTHER
    return row


def asked(home: Path, size: int, paradigm: str, count: int) -> Row:
    """A cold start with its first question, and then more of them."""
    row: Row = {}
    dice = random.Random(size)
    titles = [[title_of(dice.randrange(size)) for _ in range(1 + number % 2)] for number in range(count + 1)]
    questions = [f"When did {' meet '.join(each)}?" if len(each) > 1 else f"Who is {each[0]}?" for each in titles]
    embedder = StandIn()
    with measured(row, "first"):
        use = Resources(Index.open(home / "index"), embedder, ModelClient(None))
        asyncio.run(retrieve(use, questions[0], paradigm))
    took = []
    for question in questions[1:]:
        began = time.process_time()
        asyncio.run(retrieve(use, question, paradigm))
        took.append(1000 * (time.process_time() - began))
    use.index.close()
    cuts = statistics.quantiles(took, n=20)
    return row | {"p50_ms": cuts[9], "p95_ms": cuts[18]}


def recipe(layers: frozenset[str]) -> Recipe:
    return Recipe(embedder=stand_in, layers=layers, settings=layer_settings(LAYER_SETTINGS))


# All of them


def measure(home: Path, size: int, layers: frozenset[str], count: int, later: int) -> Iterator[Row]:
    """Every step at one size."""
    if not (home / "index").exists():
        home.mkdir(parents=True, exist_ok=True)
        write_jsonl(home / "corpus.jsonl", size)
        yield child(home, "build", size, layers, count, later)
    for paradigm in ASKED:
        if PARADIGMS[paradigm].needs <= layers:
            yield child(home, paradigm, size, layers, count, later)
    yield child(home, "change", size, layers, count, later)


def child(home: Path, step: str, size: int, layers: frozenset[str], count: int, later: int) -> Row:
    command = [sys.executable, __file__, "--child", str(home), step, "--sizes", str(size)]
    command += ["--layers", ",".join(sorted(layers)), "--questions", str(count), "--later", str(later)]
    command += ["--graph-vectors", LAYER_SETTINGS["graph"]["vectors"]]
    if processes := LAYER_SETTINGS["graph"].get("processes"):
        command += ["--processes", str(processes)]
    done = subprocess.run(command, env=compiled(home / "compiled"), check=True, stdout=subprocess.PIPE, text=True)
    row: Row = json.loads(done.stdout)
    return {"size": size, "step": step} | row


@cache
def compiled(folder: Path) -> dict[str, str]:
    """An environment in which modules are compiled, as installing leaves them: else each process would compile what it
    imports while its step is measured.
    """
    place = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    for command in (["-m", "compileall", "-q", *ragways.__path__], [__file__, "--help"]):
        subprocess.run([sys.executable, *command], env=place, check=True, stdout=subprocess.DEVNULL)
    return place


def run_child(home: Path, step: str, size: int, layers: frozenset[str], count: int, later: int) -> Row:
    if step == "build":
        row = built(home, size, layers)
    else:
        row = changed(home, size, layers, later) if step == "change" else asked(home, size, step, count)
    return row | {"peak_mb": peak()}


def peak() -> float:
    """The most megabytes that this program had; `getrusage` counts what the process had before it became this one. Of
    processes that it started, the largest counts as many times as there may have been.
    """
    own = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0])
    processes = LAYER_SETTINGS["graph"].get("processes") or default_threads()
    return (own + processes * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def exponents(before: Row, row: Row) -> Row:
    """How each time grew from the size before to this one."""
    times = [key for key in row if key.endswith(("cpu_s", "_ms")) and min(row[key], before.get(key, 0)) > 0]
    return {key: round(math.log(row[key] / before[key]) / math.log(row["size"] / before["size"]), 2) for key in times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--layers", default="vectors,words")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--graph-vectors", choices=("none", "shared", "all"), default="none")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--later", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    layers = frozenset(options.layers.split(","))
    LAYER_SETTINGS["graph"] |= {"vectors": options.graph_vectors, "processes": options.processes}
    if options.child:
        home, step = options.child
        print(json.dumps(run_child(Path(home), step, options.sizes[0], layers, options.questions, options.later)))
        return
    before: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            home = (options.keep or Path(folder)) / f"{size}-{'-'.join(sorted(layers))}"
            for row in measure(home, size, layers, options.questions, options.later):
                if row["step"] in before:
                    row["exponents"] = exponents(before[row["step"]], row)
                before[row["step"]] = row
                shown = {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
                print(
                    json.dumps(shown) if options.json else "  ".join(f"{k} {v}" for k, v in shown.items()), flush=True
                )


if __name__ == "__main__":
    main()
