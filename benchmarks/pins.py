"""Figures that a rebuilding must not lose, written down before it and compared after each large step.

    python -m benchmarks.pins quality --data DIR --out benchmarks/pins.json --column before
    python -m benchmarks.pins cost --sizes 1000 10000 100000 --out benchmarks/pins.json --column before
    python -m benchmarks.pins show --out benchmarks/pins.json [--columns before now]

`quality`: recall@5 and all-evidence@5 of ten paradigms without a model, and F1 of `fused`, for each question of the
sets below DIR and of the bundled demo, by `ragways eval run`. A later column is compared question by question: a fall
counts where it is beyond its paired interval. `cost`: a made corpus (`corpus_maker.py`) with the stand-in embedder,
without a graph and with graph and communities; building, then adding, editing and removing one document, each as the
first thing that a process does (cold) and as the second (warm), and questions. Every step is a process of its own: CPU
seconds of all its threads and of the processes that it starts, wall seconds, and its highest memory. Disk is the folder
of the index.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import default_threads, limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import ragways
from benchmarks.corpus_maker import title_of, write_jsonl
from benchmarks.stand_in import StandIn, stand_in
from ragways.evaluation.metrics import Cut
from ragways.evaluation.record import Records
from ragways.evaluation.statistics.comparison import compare
from ragways.index.build import build, remove
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.index.status import bytes_on_disk
from ragways.models.client import ModelClient
from ragways.retrieval.ask import PARADIGMS, retrieve
from ragways.retrieval.resources import Resources

SETS = {
    "musique": ("hipporag", "musique/corpus.json.gz", "musique/questions.json.gz"),
    "hotpotqa": ("hipporag", "hotpotqa/corpus.json.gz", "hotpotqa/questions.json.gz"),
    "2wiki": ("2wiki-results", "2wiki/corpus.json.gz", "2wiki/results-101/fast-graphrag.json.gz"),
    "news": ("multihop-rag", "multihop-rag/corpus-full-text.json.gz", "multihop-rag/MultiHopRAG-even.json.gz"),
}
"""Format, corpus and questions below the folder of data."""
PINNED = (
    "naive", "words", "hybrid-words", "graph-ppr", "hybrid", "kg", "agent-graph", "community-local", "light", "fused",
)  # fmt: skip
CUTS = ("recall@5", "all-evidence@5")
LAYERS = {"plain": frozenset({"vectors", "words"}), "graph": frozenset({"vectors", "words", "graph", "communities"})}
ASKED = ("naive", "words", "fused", "graph-ppr", "agent-graph")
QUESTIONS = 40
Row = dict[str, Any]


# Quality


def quality(data: Path) -> Iterator[tuple[str, Row]]:
    """For each set: passages, and of each paradigm the values of its questions."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (layout, corpus, questions) in SETS.items():
            if (data / corpus).is_file():
                index = Path(folder) / f"{name}-index"
                command("index", str(data / corpus), "--with", "vectors,words,graph,communities", "--index", str(index))
                files = ["--questions", str(data / questions), "--format", layout, "--index", str(index)]
                yield name, pinned(files, Path(folder) / name, index)
        yield "demo", pinned(["--dataset", "demo"], Path(folder) / "demo", None)


def pinned(files: list[str], run: Path, index: Path | None) -> Row:
    command("eval", "run", *files, "--paradigms", ",".join(PINNED), "--out", str(run), "--no-features")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for record in Records(run):
        row = found.setdefault(record.paradigm, {cut: {} for cut in CUTS})
        for cut in CUTS:
            if (value := Cut.parse(cut).score(record.ranks)) is not None:
                row[cut][record.question] = round(value, 4)
    scored = json.loads(command("eval", "score", str(run), "--json"))
    f1 = {one["paradigm"]: one["metrics"]["f1"]["mean"] for one in scored if "f1" in one["metrics"]}
    passages = json.loads(command("status", "--index", str(index), "--json"))["counts"]["chunks"] if index else None
    return {"passages": passages, "paradigms": found, "f1 of fused": f1.get("fused")}


def command(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "ragways", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"ragways {' '.join(arguments)}: {done.stderr}")
    return done.stdout


# Cost, each step in a process of its own


def cost(size: int, layers: str) -> Row:
    row: Row = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_jsonl(home / "corpus.jsonl", size)
        row["build"] = child(home, size, layers, "build")
        row["disk_mb"] = bytes_on_disk((home / "index").rglob("*")) / 2**20
        for step in ("add", "edit", "remove"):
            row[step] = child(home, size, layers, step)
        for paradigm in ASKED:
            if PARADIGMS[paradigm].needs <= LAYERS[layers]:
                row[paradigm] = child(home, size, layers, paradigm)
    return row


def child(home: Path, size: int, layers: str, step: str) -> Row:
    arguments = [
        sys.executable,
        "-m",
        "benchmarks.pins",
        "child",
        "--home",
        str(home),
        "--sizes",
        str(size),
        "--layers",
        layers,
    ]
    done = subprocess.run(
        [*arguments, "--step", step], env=compiled(home / "compiled"), check=True, stdout=subprocess.PIPE, text=True
    )
    found: Row = json.loads(done.stdout)
    return found


def step_of(home: Path, size: int, layers: str, step: str) -> Row:
    row: Row = {}
    recipe = Recipe(embedder=stand_in, layers=LAYERS[layers])
    index = home / "index"
    if step == "build":
        with measured(row, "build"):
            done = asyncio.run(build(index, [home / "corpus.jsonl"], recipe))
        row["chunks"] = done.chunks
    elif step in PARADIGMS:
        row |= asked(index, size, step)
    else:
        for number, name in enumerate(("cold", "warm")):
            file = home / f"one{number}.jsonl"
            if step != "remove":
                write_jsonl(file, 1, first=size + number + (2 if step == "edit" else 0))
            if step == "edit":  # the same document, as its id is that of the record, with other words
                file.write_text(file.read_text().replace("the", "that"))
            with measured(row, name):
                asyncio.run(remove(index, [file.name]) if step == "remove" else build(index, [file], recipe))
    return row | {"peak_mb": peak()}


def asked(index: Path, size: int, paradigm: str) -> Row:
    """The first question of a process, and CPU milliseconds of further ones."""
    row: Row = {}
    titles = [title_of(number * 7919 % size) for number in range(QUESTIONS + 1)]
    embedder = StandIn()
    with measured(row, "first"):
        use = Resources(Index.open(index), embedder, ModelClient(None))
        asyncio.run(retrieve(use, f"Who is {titles[0]}?", paradigm))
    took = []
    for title in titles[1:]:
        began = time.process_time()
        asyncio.run(retrieve(use, f"Who is {title}?", paradigm))
        took.append(1000 * (time.process_time() - began))
    use.index.close()
    return row | {"p50_ms": statistics.median(took)}


# Measuring a step


@contextmanager
def measured(row: Row, name: str) -> Iterator[None]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield
    row[f"{name}_cpu_s"], row[f"{name}_s"] = cpu_seconds() - cpu, time.perf_counter() - wall


def cpu_seconds() -> float:
    """Those of this process, and of the processes that it started and that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def peak() -> float:
    """The most megabytes that this program used, and its largest child as often as there may have been children."""
    own = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0])
    return (own + default_threads() * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


@cache
def compiled(folder: Path) -> dict[str, str]:
    """An environment with compiled modules, as installing leaves them: no step pays for compiling."""
    place = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    for command in (["-m", "compileall", "-q", *ragways.__path__], ["-m", "benchmarks.pins", "--help"]):
        subprocess.run([sys.executable, *command], env=place, check=True, stdout=subprocess.DEVNULL)
    return place


# Both columns


def show(pins: dict[str, Row], columns: list[str]) -> None:
    first, *others = columns
    known = {column: pins.get(column, {}) for column in columns}
    for name, one in known[first].get("quality", {}).items():
        later = [known[other].get("quality", {}).get(name, {}) for other in others]
        for paradigm, cuts in one["paradigms"].items():
            for cut, values in cuts.items():
                cells = [f"{statistics.mean(values.values()):.3f}"] if values else ["-"]
                cells += [compared(values, row.get("paradigms", {}).get(paradigm, {}).get(cut, {})) for row in later]
                print(f"| {name} | {one['passages'] or ''} | {paradigm} | {cut} | {' | '.join(cells)} |")
        cells = [str(row.get("f1 of fused", "-")) for row in (one, *later)]
        print(f"| {name} | {one['passages'] or ''} | fused | F1 | {' | '.join(cells)} |")
    for place, row in known[first].get("cost", {}).items():
        for step, found in row.items():
            for what, value in found.items() if isinstance(found, dict) else [("", found)]:
                later = [known[other].get("cost", {}).get(place, {}).get(step) for other in others]
                after = [one.get(what) if isinstance(one, dict) else one for one in later]
                cells = ["-" if one is None else f"{one:.3f}" for one in after]
                print(f"| {place} | {step} {what} | {value:.3f} | {' | '.join(cells)} |")


def compared(before: dict[str, float], after: dict[str, float]) -> str:
    """The mean, and the paired difference with its interval; a fall beyond it is marked; `-` where nothing is known."""
    if not before or not after:
        return "-"
    found = compare(after, before)
    mark = " FELL" if found.high is not None and found.high < 0 else ""
    return f"{statistics.mean(after.values()):.3f} ({found.difference or 0:+.3f}: {found.low}, {found.high}){mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "cost", "show", "child"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pins.json")
    parser.add_argument("--column", default="before")
    parser.add_argument("--columns", nargs="+", default=["before"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--layers", choices=tuple(LAYERS), default="plain")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "child":
        print(json.dumps(step_of(options.home, options.sizes[0], options.layers, options.step)))
        return
    pins: dict[str, Row] = json.loads(options.out.read_text()) if options.out.is_file() else {}
    if options.what == "show":
        show(pins, options.columns)
        return
    rows = (
        quality(options.data)
        if options.what == "quality"
        else ((f"{size} {layers}", cost(size, layers)) for size in options.sizes for layers in LAYERS)
    )
    for name, row in rows:
        pins.setdefault(options.column, {}).setdefault(options.what, {})[name] = row
        options.out.write_text(json.dumps(pins, indent=1, sort_keys=True) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main()
