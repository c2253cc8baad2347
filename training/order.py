"""Fits the order of `fused` with what the reader says, and reports how it does on questions it was not fitted on.

    python -m training.order --candidates DIR --unseen DIR --evidence FILE … [--json FILE]

`--candidates` is what `training.candidates` wrote. `--unseen` holds, for each kind of set, what `training.evidence`
says of it with a reader whose second part was trained without that kind (`without-KIND.json.xz`): what a reader says of
questions that it was trained on is too good to learn from. Weights are fitted with these on the halves `choose`.
The order of a question's passages makes the evidence likely to come first (the softmax over its candidates, by Newton's
method, with a penalty on large weights); one more logistic fit makes the score a chance. Both are fitted twice, for
passages that are articles which name each other and for others, with the reader and without (`0 read`).
`--evidence` is what the shipped reader says; the halves `report` are put in order with it. Each kind is also reported
with its own questions left out of everything. The weights that are printed go into `src/ragways/retrieval/fused.py`.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragways.retrieval.fused import FEATURES, LINKED, MOST_SURE, PLAIN, SCALE, Weights, chance, mixed
from training.candidates import SETS
from training.data import Asked, asked_sets

Floats = NDArray[np.float64]
ARTICLES = frozenset({"multihop-rag"})
"""Sets whose evidence is whole articles of many passages. Which of these are evidence nobody knows, so they have a part
in the order, and none in the chances.
"""
LONG = frozenset({"multihop-rag", "multihop-rag-summaries", "windows", "demo", "graphrag-bench"})
"""Sets of long articles and of news, from which the plain weights are learned."""
SHORT = frozenset(SETS) - LONG | {"multihop-rag", "multihop-rag-summaries"}
"""Those of linked articles are learned from the others and the news; without these they do worse elsewhere."""
PENALTY = 0.01
"""On large weights."""
READ = FEATURES.index("read")
TOGETHER = "six"
"""The way of grouping of `training.evidence` that the product takes."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """A question's candidates with all features, and which are evidence."""

    asked: Asked
    features: Floats
    evidence: NDArray[np.bool_]

    @property
    def kind(self) -> str:
        return SETS[self.asked.set][3]


def ordered(asked: Asked, said: Sequence[Sequence[Any]], count: int) -> Ordered:
    """The features with what the reader says of the first `count` candidates by the weights without it."""
    known = np.zeros((len(asked.candidates), len(FEATURES)))
    known[:, : len(asked.features[0])] = asked.features
    first = np.argsort(-chance(known, mixed(asked.linked)), kind="stable")[:count]
    logits = {n: value for scheme, group, told, *_ in said if scheme == TOGETHER for n, value in zip(group, told)}  # noqa: B905
    values = {n: np.clip(logits[n], -MOST_SURE, MOST_SURE) / SCALE for n in first.tolist() if n in logits}
    if values:
        known[:, READ] = min(values.values())
        known[list(values), READ] = list(values.values())
    gold = asked.evidence
    return Ordered(asked, known, np.array([at in gold for at in asked.candidates], dtype=bool))


@dataclass(frozen=True, slots=True)
class Fitted:
    linked: Weights
    plain: Weights


def fit(rows: Sequence[Ordered], read: bool) -> Fitted:
    """Weights by which the evidence of these questions comes first, with the reader or without."""
    return Fitted(*(
        _fit([row for row in rows if row.asked.set in sets], (*like.features, *(["read"] if read else [])))
        for sets, like in ((SHORT, LINKED), (LONG, PLAIN))
    ))  # fmt: skip


def _fit(rows: Sequence[Ordered], names: Sequence[str]) -> Weights:
    """Each kind of data counts the same."""
    useful = [row for row in rows if row.evidence.any()]
    columns = [FEATURES.index(name) for name in names]
    sizes: dict[str, int] = {}
    for row in useful:
        sizes[row.asked.set] = sizes.get(row.asked.set, 0) + 1
    kinds = [SETS[name][3] for name in sizes]
    share = np.array([1 / (sizes[row.asked.set] * kinds.count(row.kind)) for row in useful])
    weights = softmax_fit([r.features[:, columns] for r in useful], [r.evidence for r in useful], share / share.sum())
    exact = [row for row in useful if row.asked.set not in ARTICLES]
    slope, bias = logistic_fit(
        np.concatenate([row.features[:, columns] @ weights for row in exact]),
        np.concatenate([r.evidence for r in exact]),
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


def figures(rows: Sequence[Ordered], fitted: Fitted) -> dict[str, dict[str, float]]:
    """By set: recall@5, the share of questions with all evidence among five, and recall@5 of `hybrid-words`."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in rows:
        scores = chance(row.features, mixed(row.asked.linked, fitted.linked, fitted.plain))
        first = np.argsort(-scores, kind="stable")[:5].tolist()
        held = [any(piece[n] for n in first) for piece in row.asked.gold]
        plain = [0 < rank <= 5 for rank in row.asked.plain]
        found.setdefault(row.asked.set, []).append((float(np.mean(held)), float(all(held)), float(np.mean(plain))))
    return {
        name: dict(zip(("recall@5", "all@5", "hybrid-words"), np.mean(values, axis=0).round(4).tolist(), strict=True))
        for name, values in found.items()
    }


def report(seen: Sequence[Ordered], unseen: Sequence[Ordered], read: bool) -> tuple[dict[str, Any], Fitted]:
    """Figures of the halves that were kept, and of each kind when it is left out; and the weights."""
    chosen = [row for row in unseen if row.asked.half == "choose"]
    fitted = fit(chosen, read)
    left_out: dict[str, Any] = {}
    for kind in sorted({row.kind for row in unseen}):
        others = fit([row for row in chosen if row.kind != kind], read)
        left_out |= figures([row for row in unseen if row.kind == kind], others)
    told = {"report": figures([row for row in seen if row.asked.half == "report"], fitted), "kind left out": left_out}
    return told, fitted


def _read(files: Sequence[Path]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for file in files:
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            found |= json.load(stream)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=Path, required=True)
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--evidence", type=Path, nargs="+", required=True)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sets = asked_sets(options.candidates)
    seen, unseen = _read(options.evidence), _read(sorted(options.unseen.glob("without-*.json.xz")))
    told: dict[str, Any] = {}
    for count in (0, 6, 12, 24):
        shipped, others = (
            [ordered(asked, said[one.name][asked.id], count) for one in sets.values() for asked in one.asked]
            for said in (seen, unseen)
        )
        told[f"{count} read"], fitted = report(shipped, others, read=count > 0)
        for kind, each in told[f"{count} read"].items():
            for name, values in each.items():
                print(f"{count:>2} read  {kind:14} {name:24} {values}", flush=True)
        if count in (0, 6):
            for name, weights in (("linked", fitted.linked), ("plain", fitted.plain)):
                print(name, {key: round(value, 3) for key, value in weights.features.items()}, round(weights.bias, 3))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
