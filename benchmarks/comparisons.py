"""What the statistics promise, by simulation: false alarms, coverage, and the gate.

    python -m benchmarks.comparisons [--trials 400] [--only alike,coverage,gate]

Everything goes through the functions that commands use. Prints a line of JSON a setting.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.evaluation.gate import Margin, compare_margins
from ragways.evaluation.question import Gold
from ragways.evaluation.record import Record
from ragways.evaluation.statistics.comparison import compare
from ragways.evaluation.statistics.inference import interval, sign_flip
from ragways.evaluation.statistics.values import Value, source_documents

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]


def named(values: Floats) -> dict[str, float]:
    return {f"q{at}": float(value) for at, value in enumerate(values)}


# Two systems alike, whose questions share documents


def right_by_document(chance: np.random.Generator, about: NDArray[np.int64], luck: float) -> Floats:
    """Yes and no: a system does well on some documents and badly on others, by chance."""
    known = chance.normal(0, luck, int(about.max()) + 1)
    logit = 0.4 + known[about].sum(axis=1) / math.sqrt(about.shape[1])
    return np.asarray(chance.random(len(about)) < 1 / (1 + np.exp(-logit)), dtype=np.float64)


def alike(trials: int) -> Iterator[dict[str, Any]]:
    for questions, documents, each, luck in (
        (200, 20, 1, 1.0), (200, 40, 1, 1.0), (100, 10, 1, 1.0), (200, 20, 1, 0.0), (200, 100, 2, 1.0),
        (200, 40, 2, 1.0),
    ):  # fmt: skip
        by_question, by_document, covered, clusters = 0, 0, 0, 0
        for trial in range(trials):
            chance = np.random.default_rng(trial)
            about = np.stack([chance.permutation(documents)[:each] for _ in range(questions)])
            a, b = right_by_document(chance, about, luck), right_by_document(chance, about, luck)
            records = [
                Record(f"q{at}", "?", "", (), "a", 0, wanted=tuple(Gold(key=f"d{one}") for one in row))
                for at, row in enumerate(about)
            ]
            documents_of = source_documents(records)
            found = compare(named(a), named(b), documents=documents_of)
            by_question += sign_flip(a - b)[0] <= 0.05
            by_document += (found.p or 1.0) <= 0.05
            covered += found.low is not None and found.high is not None and found.low <= 0 <= found.high
            clusters += found.documents
        yield {
            "what": "alike", "questions": questions, "documents": documents, "documents of a question": each,
            "luck by document": luck, "clusters": clusters / trials, "p <= .05 by question": by_question / trials,
            "p <= .05 as compared": by_document / trials, "coverage": covered / trials,
        }  # fmt: skip


# Intervals of skewed differences


def rare(yes: float, no: float) -> Draw:
    def draw(chance: np.random.Generator, n: int) -> Floats:
        drawn = chance.random(n)
        return (drawn < yes).astype(np.float64) - (drawn > 1 - no)

    return draw


def overlap(chance: np.random.Generator, n: int) -> Floats:
    """As F1 differs: mostly not at all."""
    better = (chance.random(n) < 0.2) * chance.beta(2, 1, n)
    return np.asarray(better - (chance.random(n) < 0.05) * chance.beta(1, 2, n))


DRAWS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda chance, n: chance.normal(0, 1, n), 0.0),
    "exponential": (lambda chance, n: chance.exponential(1, n), 1.0),
    "lognormal": (lambda chance, n: chance.lognormal(0, 1, n), math.exp(0.5)),
    "5 % better": (rare(0.05, 0.0), 0.05),
    "10 % better, 2 % worse": (rare(0.10, 0.02), 0.08),
    "F1-like": (overlap, 0.2 * 2 / 3 - 0.05 / 3),
}


def coverage(trials: int) -> Iterator[dict[str, Any]]:
    for name, (draw, mean) in DRAWS.items():
        for n in (20, 50, 200):
            covered, width = 0, 0.0
            for trial in range(trials):
                chance = np.random.default_rng(trial)
                values = draw(chance, n)
                apart = compare(named(values), named(np.zeros(n)))
                low, high = apart.low, apart.high
                if low is not None and high is not None:
                    covered += low <= mean <= high
                    width += high - low
            yield {
                "what": "coverage", "differences": name, "n": n, "coverage": covered / trials, "width": width / trials,
            }  # fmt: skip
    yield from by_cluster(trials)


def by_cluster(trials: int) -> Iterator[dict[str, Any]]:
    """Means of shares and of F1 whose questions share documents of unequal size."""
    for documents, shares in ((12, True), (30, True), (12, False), (30, False)):
        covered = alone = 0
        for trial in range(trials):
            chance = np.random.default_rng(trial)
            about = np.repeat(np.arange(documents), chance.integers(1, 15, documents))
            level = chance.beta(3, 2, documents)[about]
            values = chance.random(len(about)) < level if shares else chance.beta(2 * level, 2 * (1 - level))
            for clusters in ([(str(one),) for one in about], []):
                low, high = interval([float(value) for value in values], share=True, clusters=clusters)
                held = low is not None and high is not None and low <= 0.6 <= high
                covered += held and bool(clusters)
                alone += held and not clusters
        yield {
            "what": "coverage of a mean", "values": "yes and no" if shares else "F1-like", "documents": documents,
            "coverage": covered / trials, "questions taken alone": alone / trials,
        }  # fmt: skip


# The gate


def ones(which: NDArray[np.bool_]) -> dict[str, list[Value]]:
    return {f"q{at}": [float(value)] for at, value in enumerate(which)}


def gate(trials: int) -> Iterator[dict[str, Any]]:
    """A system run again, as it was and with so many points less; a share of its answers comes out otherwise anyway."""
    for n, differ, drop, metrics, margin in (
        (200, 0.0, 0.0, 1, 0.0), (200, 0.1, 0.0, 1, 0.0), (200, 0.3, 0.0, 1, 0.0), (200, 0.1, 0.0, 10, 0.0),
        (50, 0.2, 0.0, 1, 0.05), (200, 0.1, 0.0, 1, 0.05),
        (200, 0.0, 0.1, 1, 0.0), (200, 0.05, 0.1, 1, 0.0), (200, 0.1, 0.1, 1, 0.0), (200, 0.2, 0.1, 1, 0.0),
        (200, 0.05, 0.1, 1, 0.05), (200, 0.05, 0.1, 10, 0.0),
    ):  # fmt: skip
        outcomes = {"failed": 0, "undecided": 0, "passed": 0}
        old = 0
        for trial in range(trials):
            chance = np.random.default_rng(trial)
            pairs = {}
            for metric in range(metrics):
                drawn = chance.random(n)
                apart = (drawn > 1 - differ / 2).astype(np.float64) - (drawn < differ / 2 + drop)
                before = np.where(apart == 0, chance.random(n) < 0.7, apart < 0).astype(np.float64)
                pairs[Margin("naive", f"m{metric}", margin)] = (ones(before + apart > 0), ones(before > 0))
                old += metric == 0 and apart.mean() < -margin
            found = {check.outcome for check in compare_margins(pairs)}
            outcomes[next(outcome for outcome in outcomes if outcome in found)] += 1
        yield {
            "what": "gate", "n": n, "differ anyway": differ, "drop": drop, "metrics": metrics, "margin": margin,
            **{outcome: count / trials for outcome, count in outcomes.items()}, "means alone": old / trials,
        }  # fmt: skip


PARTS: dict[str, Callable[[int], Iterator[dict[str, Any]]]] = {
    "alike": alike, "coverage": coverage, "gate": gate,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, joined by commas")
    options = parser.parse_args()
    for part in options.only.split(","):
        for line in PARTS[part](options.trials):
            print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in line.items()}), flush=True)


if __name__ == "__main__":
    main()
