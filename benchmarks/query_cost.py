"""CPU that a question costs: each paradigm's retrieval on an index, and PageRank on a graph of 200,000 nodes.

    python benchmarks/query_cost.py --index DIR --questions FILE --format NAME [--paradigms a,b] [--limit 100]
        [--where FILTER] [--json]

Embedding is not counted: every question is asked once before it is timed, so that its vector, and those of names in
it, are there. A paradigm whose layer the index lacks is left out. With --where each paradigm is measured without the
filter, with it, and without it again; `first_ms` is what the very first question under it took, for which the
restricted index is made. Without --index, only PageRank is measured.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import limit_threads

limit_threads()  # before numpy is there

import argparse
import asyncio
import json
import time
from pathlib import Path

import numpy as np

from ragways.assemble import opened
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.question import Question
from ragways.evaluation.retrieval import measure_retrieval
from ragways.layers.graph.walk import Adjacency, pagerank, reach
from ragways.retrieval.ask import PARADIGMS, retrieve
from ragways.retrieval.resources import Resources
from ragways.settings import read_settings

NODES, EDGES, SEEDS, TRIALS, BEST = 200_000, 280_000, 20, 20, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--format", default="2wiki-results")
    parser.add_argument("--paradigms", default="naive,words,kg,graph-ppr,hybrid,iterative,light,fast-graph,fused")
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--where")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    if options.index and options.questions:
        questions = load_questions(options.format, options.questions)[: options.limit]
        rows += asyncio.run(costs(options.index, questions, options.paradigms.split(","), options.where))
    rows.append(walks())
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


async def costs(
    folder: Path, questions: list[Question], names: list[str], where: str | None
) -> list[dict[str, object]]:
    async with opened(read_settings(index=folder)) as use:
        chosen: dict[str, dict[str, object]] = {name: {} for name in names if PARADIGMS[name].needs <= use.index.layers}
        await measure_retrieval(use, questions, chosen)
        rows: list[dict[str, object]] = []
        for name in chosen:
            measured = [await one(use, questions, name)]
            if where is not None:
                part, started = use.only(where), time.process_time()
                await retrieve(part, questions[0].text, name)
                first = (time.process_time() - started) * 1000
                measured.append({**await one(part, questions, name), "first_ms": round(first, 1)})
                measured.append({**await one(use, questions, name), "again": True})
            rows += measured
        return rows


async def one(use: Resources, questions: list[Question], name: str) -> dict[str, object]:
    (figures,) = await measure_retrieval(use, questions, {name: {}})
    return {
        "paradigm": figures.paradigm,
        **({"where": use.index.where} if use.index.where else {}),
        "questions": figures.questions,
        "cpu_ms_p50": round(figures.cpu_ms_p50, 2),
        "cpu_ms_p95": round(figures.cpu_ms_p95, 2),
    }


def walks() -> dict[str, object]:
    """PageRank near the seeds beside the exact one, on a graph with degrees as uneven as those of names in text."""
    links, random = uneven_graph(), np.random.default_rng(1)
    reach(links, {0: 1.0})  # what is made once for a graph is not a question's cost
    spent, shared = [], []
    for _ in range(TRIALS):
        start = np.zeros(NODES)
        start[random.integers(0, NODES, SEEDS)] = random.random(SEEDS) + 0.4
        started = time.process_time()
        near, _ = reach(links, {int(node): float(start[node]) for node in np.flatnonzero(start)}).best(BEST)
        spent.append((time.process_time() - started) * 1000)
        exact = pagerank(links, start, tolerance=1e-10)
        shared.append(len(set(near) & set(np.argsort(-exact)[:BEST])) / BEST)
    return {
        "pagerank": f"{NODES:,} nodes, {EDGES:,} edges",
        "cpu_ms_p50": round(float(np.percentile(spent, 50)), 2),
        "cpu_ms_p95": round(float(np.percentile(spent, 95)), 2),
        f"of_the_exact_top_{BEST}": round(float(np.mean(shared)), 4),
    }


def uneven_graph() -> Adjacency:
    random = np.random.default_rng(0)
    likely = 1.0 / np.arange(1, NODES + 1) ** 0.7
    ends = [random.permutation(NODES)[random.choice(NODES, EDGES, p=likely / likely.sum())] for _ in range(2)]
    # Weights that differ, so that no two nodes are equal and the best hundred are certain.
    return Adjacency.of_edges(NODES, ends[0], ends[1], random.random(EDGES) + 0.5)


if __name__ == "__main__":
    main()
