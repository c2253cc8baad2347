"""Train the weights of `fused`, and say how it does on data it was not trained on.

    python benchmarks/fusion.py --data DIR [--indexes DIR]

DIR holds a folder a data set, as published: musique, hotpotqa, 2wiki, 2wiki-dev400, multihop-rag. Sets that are
missing are left out. Both 2Wiki sets are one kind, so both are left out together.

The order of a question's passages is learned: the weights make the evidence likely to come first (the softmax over its
candidates, by Newton's method, with a penalty on large weights). One more logistic fit makes the score a chance. What
is printed last goes into `src/ragways/modules/fusion_weights.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.assemble import opened, recipe_of
from ragways.core.step import fuse
from ragways.core.types import Piece, Query
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question
from ragways.index.build import build
from ragways.modules.fusion import chance
from ragways.modules.fusion_features import FEATURES, Candidates
from ragways.modules.retrieve import dense, linked, words
from ragways.settings import read_settings

Floats = NDArray[np.float64]
SETS = {
    "musique": ("hipporag", "corpus.json.gz", "questions.json.gz", "musique"),
    "hotpotqa": ("hipporag", "corpus.json.gz", "questions.json.gz", "hotpotqa"),
    "2wiki-dev400": ("hipporag", "corpus.jsonl.gz", "questions.jsonl.gz", "2wiki"),
    "2wiki": ("2wiki-results", "corpus.json.gz", "results-101/fast-graphrag.json.gz", "2wiki"),
    "multihop-rag": ("multihop-rag", "corpus-full-text.json.gz", "MultiHopRAG-even.json.gz", "multihop-rag"),
}
"""Format, corpus, questions, kind."""
WHOLE = frozenset({"multihop-rag"})
"""Sets whose evidence is whole articles of many passages. Which of these are evidence nobody knows, so they have a part
in the order, and none in the chances.
"""
FOLDS = 5
DEPTH, RANK, LISTS = 30, 5, (1.0, 0.3, 2.5)
"""As `fused` has them."""
PENALTY = 0.01


@dataclass(frozen=True)
class Asked:
    """A question with its candidates: their features, and which of them are evidence."""

    question: Question
    pieces: Sequence[Piece]
    features: Floats
    evidence: NDArray[np.bool_]


@dataclass(frozen=True)
class Fitted:
    weights: Mapping[str, float]
    bias: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, help="where indexes are kept (default: the user's cache)")
    options = parser.parse_args()
    indexes = options.indexes or read_settings().cache / "fusion"
    gathered = {
        name: asyncio.run(gather(options.data / name, indexes / name, name))
        for name in SETS
        if (options.data / name).is_dir()
    }
    asked = {name: rows for name, (rows, _) in gathered.items()}
    final, parts = fit(asked), folded(asked)
    report: dict[str, object] = {}
    for name, (rows, gold) in gathered.items():
        others = {other: rest for other, rest in asked.items() if SETS[other][3] != SETS[name][3]}
        report[name] = {
            "kind left out": figures(rows, [fit(others)] * len(rows), gold) if others else None,
            "question left out": figures(rows, parts[name], gold),
            "trained on it": figures(rows, [final] * len(rows), gold),
        }
    report["weights"] = {name: round(weight, 3) for name, weight in final.weights.items()}
    report["bias"] = round(final.bias, 3)
    print(json.dumps(report, indent=2))


def folded(asked: Mapping[str, Sequence[Asked]]) -> dict[str, list[Fitted]]:
    """For each question the weights that were trained without it, and without every fifth question like it."""
    fits = [
        fit({name: [one for n, one in enumerate(rows) if n % FOLDS != fold] for name, rows in asked.items()})
        for fold in range(FOLDS)
    ]
    return {name: [fits[n % FOLDS] for n in range(len(rows))] for name, rows in asked.items()}


async def gather(data: Path, index: Path, name: str) -> tuple[list[Asked], GoldRanks]:
    """The candidates of all questions of a set."""
    format, corpus, questions, _ = SETS[name]
    settings = read_settings(index=index)
    await build(index, [data / corpus], recipe_of(settings, frozenset({"vectors", "words", "graph"})))
    rows = []
    async with opened(settings) as use:
        gold = GoldIndex(use.index)
        lists = fuse(dense(use, k=DEPTH), words(use, k=DEPTH), linked(use, k=DEPTH), k=RANK, weights=LISTS)
        documents: GoldRanks = {}
        for question in load_questions(format, data / questions):
            if not question.gold:
                continue
            documents[question.id] = [gold.documents(one) for one in question.gold]
            known = set().union(*documents[question.id])
            candidates = Candidates(use, await lists(Query(question.text)), await use.embed_question(question.text))
            pieces = list(candidates.pieces.values())
            evidence = np.array([piece.document in known for piece in pieces], dtype=bool)
            rows.append(Asked(question, pieces, candidates.features(), evidence))
    return rows, documents


GoldRanks = dict[str, list[set[str]]]
"""The documents that each piece of a question's gold may be found in."""


def fit(sets: Mapping[str, Sequence[Asked]]) -> Fitted:
    """Weights by which the evidence of these sets comes first. Each kind of data counts the same."""
    kinds = [SETS[name][3] for name in sets]
    rows, counts, exact = [], [], []
    for name, asked in sets.items():
        useful = [one for one in asked if one.evidence.any()]
        rows += useful
        counts += [1 / (len(useful) * kinds.count(SETS[name][3]))] * len(useful)
        exact += [] if name in WHOLE else useful
    matrix = np.concatenate([one.features for one in rows])
    spread = matrix.std(axis=0) + 1e-9
    share = np.array(counts) / sum(counts)
    weights = _softmax_fit([one.features / spread for one in rows], [one.evidence for one in rows], share) / spread
    exact = exact or rows
    slope, bias = _logistic_fit(
        np.concatenate([one.features for one in exact]) @ weights, np.concatenate([one.evidence for one in exact])
    )
    return Fitted(dict(zip(FEATURES, (slope * weights).tolist(), strict=True)), bias)


Bent = tuple[float, Floats, Floats]
"""Value, slope and bend of what is to be made small."""


def _least(of: Callable[[Floats], Bent], size: int) -> Floats:
    """Where a convex function is least, by Newton's method; a step that goes too far is halved."""
    here = np.zeros(size)
    value, slope, bend = of(here)
    for _ in range(100):
        step = np.linalg.solve(bend, slope)
        while (found := of(here - step))[0] > value and np.abs(step).max() > 1e-12:
            step /= 2
        here = here - step
        value, slope, bend = found
        if np.abs(step).max() < 1e-9:
            break
    return here


def _softmax_fit(features: Sequence[Floats], evidence: Sequence[NDArray[np.bool_]], share: Floats) -> Floats:
    size = features[0].shape[1]
    wanted = [row[right].mean(axis=0) for row, right in zip(features, evidence, strict=True)]

    def of(weights: Floats) -> Bent:
        value, slope, bend = PENALTY * weights @ weights, 2 * PENALTY * weights, 2 * PENALTY * np.eye(size)
        for row, right, part in zip(features, wanted, share, strict=True):
            scores = row @ weights
            likely = np.exp(scores - scores.max())
            value += part * (np.log(likely.sum()) + scores.max() - right @ weights)
            likely /= likely.sum()
            mean = likely @ row
            slope += part * (mean - right)
            bend += part * ((row.T * likely) @ row - np.outer(mean, mean))
        return float(value), slope, bend

    return _least(of, size)


def _logistic_fit(scores: Floats, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and bias that make scores into chances."""
    middle = float(scores.mean())
    columns = np.stack([scores - middle, np.ones_like(scores)], axis=1)

    def of(fitted: Floats) -> Bent:
        total = columns @ fitted
        likely = 1 / (1 + np.exp(-total))
        bend = (columns.T * (likely * (1 - likely))) @ columns + 1e-6 * np.eye(2)
        return float((np.logaddexp(0, total) - right * total).sum()), columns.T @ (likely - right), bend

    slope, bias = _least(of, 2).tolist()
    return slope, bias - slope * middle


def figures(asked: Sequence[Asked], fits: Sequence[Fitted], gold: GoldRanks) -> dict[str, float]:
    """Recall and all-evidence by document, and how far the chances are from what came true."""
    five, eight, chances, right = [], [], [], []
    for one, fitted in zip(asked, fits, strict=True):
        scores = chance(one.features, fitted.weights, fitted.bias)
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], one.pieces[n].id))
        places = {id: n for n, id in enumerate(dict.fromkeys(one.pieces[n].document for n in order), start=1)}
        ranks = [min((places[id] for id in some if id in places), default=10**9) for some in gold[one.question.id]]
        five.append(np.mean([rank <= 5 for rank in ranks]))
        eight.append(all(rank <= 8 for rank in ranks))
        chances.append(scores)
        right.append(one.evidence)
    likely, true = np.concatenate(chances), np.concatenate(right)
    bins = np.minimum((likely * 10).astype(int), 9)
    error = sum(abs(likely[bins == b].mean() - true[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    return {
        "recall@5": round(float(np.mean(five)), 4),
        "all-evidence@8": round(float(np.mean(eight)), 4),
        "brier": round(float(np.mean((likely - true) ** 2)), 4),
        "base_brier": round(float(true.mean() * (1 - true.mean())), 4),
        "calibration_error": round(float(error), 4),
    }


if __name__ == "__main__":
    main()
