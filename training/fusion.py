"""Train the weights of `fused`, and say how it does on data it was not trained on.

    python -m training.fusion --data DIR [--indexes DIR]

DIR holds a folder a data set, as published: musique, hotpotqa, 2wiki, 2wiki-dev400, multihop-rag, windows,
graphrag-bench. The bundled demo is one more. Sets that are missing are left out. Both 2Wiki sets are one kind, so both
are left out together.

The order of a question's passages is learned: the weights make the evidence likely to come first (the softmax over its
candidates, by Newton's method, with a penalty on large weights). One more logistic fit makes the score a chance. All
this is done twice, for passages that are articles which name each other and for others; questions are scored by the
mixture that `fused` uses. Weights are learned on one half of each set, and figures are of the other half. What is
printed last goes into `src/ragways/retrieval/fused.py`; the weights with the reader come from `training/order.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragways.assemble import opened, recipe_of
from ragways.core.step import fuse
from ragways.core.types import Hit, Hits, Piece, Query
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.metrics import Cut, Ranks
from ragways.evaluation.question import Question
from ragways.index.build import build
from ragways.retrieval.fused import FEATURES, LINKED, PLAIN, Candidates, Weights, chance, mixed
from ragways.retrieval.pagerank import linked
from ragways.retrieval.retrieve import dense, words
from ragways.settings import read_settings

Floats = NDArray[np.float64]
Half = Literal["choose", "report"]
Marks = NDArray[np.bool_]
SETS = {
    "musique": ("hipporag", "corpus.json.gz", "questions.json.gz", "musique"),
    "hotpotqa": ("hipporag", "corpus.json.gz", "questions.json.gz", "hotpotqa"),
    "2wiki-dev400": ("hipporag", "corpus.jsonl.gz", "questions.jsonl.gz", "2wiki"),
    "2wiki": ("2wiki-results", "corpus.json.gz", "results-101/fast-graphrag.json.gz", "2wiki"),
    "multihop-rag": ("multihop-rag", "corpus-full-text.json.gz", "MultiHopRAG-even.json.gz", "multihop-rag"),
    "multihop-rag-summaries": (
        "multihop-rag",
        "corpus-609-summaries.json.gz",
        "MultiHopRAG-even.json.gz",
        "multihop-rag",
    ),
    "windows": ("windows", "wiki-articles.json.gz", "50qa.csv.gz", "windows"),
    "demo": ("plain", "corpus", "questions.jsonl", "demo"),
    "graphrag-bench": ("graphrag-bench", "medical_corpus.json.gz", "medical_questions.json.gz", "graphrag-bench"),
}
"""Format, corpus, questions, kind."""
ARTICLES = frozenset({"multihop-rag"})
"""Sets whose evidence is whole articles of many passages. Which of these are evidence nobody knows, so they have a part
in the order, and none in the chances.
"""
LONG = frozenset({"multihop-rag", "multihop-rag-summaries", "windows", "demo", "graphrag-bench"})
"""Sets of long articles and of news, from which the plain weights are learned."""
SHORT = frozenset(SETS) - LONG | {"multihop-rag", "multihop-rag-summaries"}
"""Those of linked articles are learned from the others and the news; without these they do worse elsewhere."""
MOST = 400
"""Questions of a set, evenly spaced."""
DEPTH, RANK, LISTS, KEPT = 30, 5, (1.0, 0.3, 2.5), 10
"""As `fused` has them."""
PENALTY = 0.01
METRICS = tuple(map(Cut.parse, ("recall@2", "recall@5", "hits@4", "all-evidence@8")))


@dataclass(frozen=True)
class Asked:
    """A question with its candidates: their features, and which of them show which piece of its gold."""

    question: Question
    pieces: Sequence[Piece]
    features: Floats
    linked: float
    gold: Marks

    @property
    def evidence(self) -> Marks:
        return np.asarray(self.gold.any(axis=0), dtype=bool)


@dataclass(frozen=True)
class Fitted:
    linked: Weights
    plain: Weights

    def chances(self, one: Asked) -> Floats:
        return chance(one.features, mixed(one.linked, self.linked, self.plain))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--indexes", type=Path, help="where indexes are kept (default: the user's cache)")
    options = parser.parse_args()
    indexes = options.indexes or read_settings().cache / "fusion"
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        folders = {name: demo if name == "demo" else options.data / name.removesuffix("-summaries") for name in SETS}
        asked = {
            name: asyncio.run(gather(folder, indexes / name, name))
            for name, folder in folders.items()
            if folder.is_dir()
        }
    final = fit({name: [one for one in rows if half_of(one.question.id) == "choose"] for name, rows in asked.items()})
    report: dict[str, object] = {}
    for name, rows in asked.items():
        others = {other: rest for other, rest in asked.items() if SETS[other][3] != SETS[name][3]}
        kept = [one for one in rows if half_of(one.question.id) == "report"]
        report[name] = {
            "kind left out": figures(rows, [fit(others)] * len(rows)),
            "the other half": figures(kept, [final] * len(kept)),
        }
    report |= {side: _rounded(weights) for side, weights in (("linked", final.linked), ("plain", final.plain))}
    print(json.dumps(report, indent=2))


def _rounded(weights: Weights) -> dict[str, object]:
    return asdict(
        Weights({name: round(weight, 3) for name, weight in weights.features.items()}, round(weights.bias, 3))
    )


def half_of(id: str) -> Half:
    """Which half of its set a question is in, by a hash of its id: the same everywhere and for everybody."""
    return "choose" if hashlib.sha256(id.encode()).digest()[0] % 2 == 0 else "report"


async def gather(data: Path, index: Path, name: str) -> list[Asked]:
    """The candidates of all questions of a set."""
    format, corpus, questions, _ = SETS[name]
    settings = read_settings(index=index)
    await build(index, [data / corpus], recipe_of(settings, frozenset({"vectors", "words", "graph"})))
    rows = []
    known = [question for question in load_questions(format, data / questions) if question.gold]
    async with opened(settings) as use:
        gold = GoldIndex(use.index)
        lists = fuse(dense(use, k=DEPTH), words(use, k=DEPTH), linked(use, k=DEPTH), k=RANK, weights=LISTS)
        for question in known[:: -(-len(known) // MOST)]:
            query = Query(question.text)
            candidates = Candidates(use, await lists(query), await use.embed_question(question.text))
            pieces = list(candidates.pieces.values())
            # A piece shows what is found where it is all there is.
            shown = [gold.ranks(question, Hits(query, (Hit(piece, 1.0),))) for piece in pieces]
            marks = np.array([[rank is not None for rank in ranks] for ranks in shown], dtype=bool).T
            rows.append(Asked(question, pieces, candidates.features(), candidates.linked, marks))
    return rows


def fit(sets: Mapping[str, Sequence[Asked]]) -> Fitted:
    """Weights by which the evidence of these sets comes first."""
    return Fitted(
        _fit({name: rows for name, rows in sets.items() if name in SHORT}, LINKED),
        _fit({name: rows for name, rows in sets.items() if name in LONG}, PLAIN),
    )


def _fit(sets: Mapping[str, Sequence[Asked]], like: Weights) -> Weights:
    """Each kind of data counts the same. Where there is none, the weights stay as they are."""
    if not sets:
        return like
    names = tuple(like.features)
    kinds = [SETS[name][3] for name in sets]
    columns = [FEATURES.index(name) for name in names]
    rows, counts, exact = [], [], []
    for name, asked in sets.items():
        useful = [(one.features[:, columns], one.evidence) for one in asked if one.evidence.any()]
        rows += useful
        counts += [1 / (len(useful) * kinds.count(SETS[name][3]))] * len(useful)
        exact += [] if name in ARTICLES else useful
    spread = np.concatenate([features for features, _ in rows]).std(axis=0) + 1e-9
    share = np.array(counts) / sum(counts)
    weights = softmax_fit([features / spread for features, _ in rows], [right for _, right in rows], share) / spread
    exact = exact or rows
    slope, bias = logistic_fit(
        np.concatenate([features for features, _ in exact]) @ weights, np.concatenate([right for _, right in exact])
    )
    return Weights(dict(zip(names, (slope * weights).tolist(), strict=True)), bias)


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


def softmax_fit(features: Sequence[Floats], evidence: Sequence[NDArray[np.bool_]], share: Floats) -> Floats:
    """Weights that make the evidence of each question likely among its candidates; `share` is what each counts."""
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


def logistic_fit(scores: Floats, right: NDArray[np.bool_]) -> tuple[float, float]:
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


def figures(asked: Sequence[Asked], fits: Sequence[Fitted]) -> dict[str, float]:
    """What `fused` would find, and how far the chances are from what came true."""
    ranks, chances, right = [], [], []
    for one, fitted in zip(asked, fits, strict=True):
        scores = fitted.chances(one)
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], one.pieces[n].id))
        ranks.append(_ranks(one, order[:KEPT]))
        chances.append(scores)
        right.append(one.evidence)
    likely, true = np.concatenate(chances), np.concatenate(right)
    bins = np.minimum((likely * 10).astype(int), 9)
    error = sum(abs(likely[bins == b].mean() - true[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    found = {str(metric): float(np.mean([metric.score(each) for each in ranks])) for metric in METRICS}
    found |= {
        "brier": float(np.mean((likely - true) ** 2)),
        "base_brier": float(true.mean() * (1 - true.mean())),
        "calibration_error": float(error),
    }
    return {name: round(value, 4) for name, value in found.items()}


def _ranks(one: Asked, order: Sequence[int]) -> Ranks:
    """As the evaluation has them: among pieces for a quote or a statement, else among documents."""
    documents = list(dict.fromkeys(one.pieces[n].document for n in order))
    found: list[int | None] = []
    for gold, marks in zip(one.question.gold, one.gold, strict=True):
        first = next((place for place, n in enumerate(order) if marks[n]), None)
        if first is None:
            found.append(None)
        elif gold.quote or gold.statement:
            found.append(first + 1)
        else:
            found.append(documents.index(one.pieces[order[first]].document) + 1)
    return found


if __name__ == "__main__":
    main()
