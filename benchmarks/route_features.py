"""CPU of a question's features: beyond the first look, and of the look itself.

    python -m benchmarks.route_features --index DIR --questions FILE --format NAME [--limit N] [--repeat N]

The index is one that is there, with vectors, words and graph. Each question is looked at first, as the router does, and
then its features are taken; that is done `repeat` times for all questions, and the least time of each counts, as others
use the machine too. Features of the corpus are measured once for an index that is open; that time stands apart.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from ragways.core.runtime import limit_threads

limit_threads()

from ragways.assemble import opened  # noqa: E402
from ragways.core.types import Query  # noqa: E402
from ragways.evaluation.datasets import load_questions  # noqa: E402
from ragways.index.diagnosis import diagnose  # noqa: E402
from ragways.retrieval.routing.features import corpus_features, look_features, question_features  # noqa: E402
from ragways.retrieval.routing.look import look  # noqa: E402
from ragways.settings import read_settings  # noqa: E402

PARTS = ("look", "question", "seen", "corpus")


def clock() -> float:
    return 1000 * time.process_time()


async def measure(index: Path, questions: Sequence[str], repeat: int) -> dict[str, list[float]]:
    """For each part, the CPU milliseconds of every question."""
    rounds = []
    async with opened(read_settings(environment={}, index=index)) as use:
        began = clock()
        diagnose(use.index, quick=True)
        print(f"quick diagnosis: {clock() - began:.0f} ms, once for an open index without a kept one")
        corpus_features(use.index)
        for _ in range(repeat):
            rows = []
            for question in questions:
                at = [clock()]
                seen = await look(use)(Query(question))
                at.append(clock())
                # The names of the question in the graph are known now: the look has just asked for them.
                question_features(use, question)
                at.append(clock())
                look_features(seen, question, use)
                at.append(clock())
                corpus_features(use.index)
                at.append(clock())
                rows.append([after - before for before, after in pairwise(at)])
            rounds.append(rows)
    best = [[min(times) for times in zip(*same, strict=True)] for same in zip(*rounds, strict=True)]
    found = dict(zip(PARTS, map(list, zip(*best, strict=True)), strict=True))
    return found | {"features in all": [sum(row[1:]) for row in best]}


def told(values: Sequence[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):.2f} p50, {ordered[int(0.95 * (len(ordered) - 1))]:.2f} p95"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--format", required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    questions = [question.text for question in load_questions(chosen.format, chosen.questions)[: chosen.limit]]
    times = asyncio.run(measure(chosen.index, questions, chosen.repeat))
    print(f"{chosen.index.name}: {len(questions)} questions, CPU ms")
    for name, values in times.items():
        print(f"  {name}: {told(values)}")


if __name__ == "__main__":
    main()
