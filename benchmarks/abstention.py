"""How well the rule tells a question that the corpus speaks of from one that it does not.

    python benchmarks/abstention.py --format hipporag --questions FILE [--limit 100] [--fit] [--json]

The bundled corpus is asked its own questions and those of FILE, which are about something else. Printed is, for each
setting of `answer.threshold`, the share of its own questions that is answered, of its near misses (facts left out about
known things) and of the foreign ones. `--fit` fits the weights of the support anew on these questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.core.runtime import limit_threads

limit_threads()

import numpy as np  # noqa: E402

from ragways.assemble import opened, recipe_of  # noqa: E402
from ragways.evaluation.datasets import load_questions  # noqa: E402
from ragways.index.build import build  # noqa: E402
from ragways.index.layers import USUAL  # noqa: E402
from ragways.retrieval.ask import ask  # noqa: E402
from ragways.settings import read_settings  # noqa: E402
from ragways.tasks import extract  # noqa: E402

PARADIGM = "hybrid-words"
THRESHOLDS = (0.2, 0.35, 0.5, 0.65, 0.8)


async def supports(questions: Sequence[tuple[str, str]], folder: Path, corpus: Path) -> list[tuple[str, list[float]]]:
    """For each (kind, question): share of its words, share of its names, nearness and support."""
    seen: list[list[float]] = []
    original = extract._support

    def watched(weights: Any, names: Any, together: Any, nearest: float) -> float:
        named = len(names & together) / len(names) if names else 0.8
        support = original(weights, names, together, nearest)
        seen.append([extract._share(weights, together), named, nearest, support])
        return support

    extract._support = watched
    settings = read_settings(index=folder)
    await build(folder, [corpus], recipe_of(settings, USUAL))
    found = []
    try:
        async with opened(settings) as use:
            for kind, question in questions:
                seen.clear()
                await ask(use, question, PARADIGM)
                found.append((kind, seen[0] if seen else [0.0, 0.0, 0.0, 0.0]))
    finally:
        extract._support = original
    return found


def fit(rows: Sequence[tuple[str, list[float]]]) -> list[float]:
    """Logistic regression by gradient descent: own questions against foreign ones and near misses."""
    features = np.array([[*row[:3], 1.0] for _, row in rows])
    wanted = np.array([float(kind == "own") for kind, _ in rows])
    weights = np.zeros(4)
    for _ in range(20_000):
        said = 1 / (1 + np.exp(-features @ weights))
        weights -= features.T @ (said - wanted) / len(wanted) + 0.002 * np.r_[weights[:3], 0]
    return [float(weight) for weight in weights]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", default="hipporag")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    foreign = load_questions(arguments.format, arguments.questions)[: arguments.limit]
    with resources.as_file(resources.files("ragways") / "demo") as demo, tempfile.TemporaryDirectory() as folder:
        own = load_questions("plain", demo / "questions.jsonl")
        asked = [("near miss" if q.type == "null" else "own", q.text) for q in own] + [
            ("foreign", q.text) for q in foreign
        ]
        rows = asyncio.run(supports(asked, Path(folder) / "index", demo / "corpus"))
    figures: dict[str, Any] = {
        str(threshold): {
            kind: float(np.mean([row[3] >= extract.needed_support(threshold) for name, row in rows if name == kind]))
            for kind in ("own", "near miss", "foreign")
        }
        for threshold in THRESHOLDS
    }
    if arguments.fit:
        figures["weights"] = dict(zip(("words", "names", "nearest", "constant"), fit(rows), strict=True))
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, values in figures.items():
            print(f"threshold {name}: " + ", ".join(f"{kind} {value:.3f}" for kind, value in values.items()))


if __name__ == "__main__":
    main()
