"""How calibrated the chance of an answer is, what abstaining by it refuses, and the weights it is made from.

    python -m benchmarks.abstention --rows DIR --data DATA [--indexes DIR] [--squad FILE] [--docs NAME=INDEX …]
    python -m benchmarks.abstention --rows DIR [--threshold 0.2 | --fit]

The first answers questions without a model and writes, for each set and paradigm, what the chance is made from and
whether the answer is right: a file a set in the folder of rows, made once. DATA holds musique, hotpotqa, 2wiki-dev400
and multihop-rag as published; `--squad` is a file of SQuAD 2.0; `--docs fastapi=INDEX` is an index of the documentation
that `real_docs.jsonl` asks about. The bundled demo is one more (`abstention_rows.py`).

The second prints the shares that `auto` refuses with the default settings. Then it fits, for each set, weights on the
others alone (sets of one kind are left out together), and prints how they do on it. `--fit` prints the weights of all
sets: the table in `src/ragways/reading/sufficiency.py`.
"""

# ruff: noqa: E402
from __future__ import annotations

from ragways.core.runtime import limit_threads

limit_threads()  # before numpy is there

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.abstention_rows import AUTO, LIKE, PARADIGMS, Row, gather
from ragways.reading.sufficiency import WEIGHTS, Features

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """The rows of all sets, as arrays: what weights are multiplied with, whether right, and of which set and kind."""

    known: Floats
    right: NDArray[np.bool_]
    sets: NDArray[np.str_]
    families: NDArray[np.str_]
    kinds: NDArray[np.str_]
    paradigms: NDArray[np.str_]

    def of(self, which: NDArray[np.bool_]) -> Table:
        return Table(*(getattr(self, each.name)[which] for each in fields(self)))

    @property
    def answerable(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds == "answerable")

    @property
    def counts(self) -> Floats:
        """What each row counts. Tricks have no part in the weights: nothing that is known here separates them."""
        found = np.zeros(len(self.sets))
        for name in set(self.sets):
            alike = len(set(self.sets[np.isin(self.families, self.families[self.sets == name])]))
            for share, which in ((ANSWERABLE, self.answerable), (1 - ANSWERABLE, ~self.answerable)):
                those = (self.sets == name) & which & (self.kinds != "trick")
                found[those] = ROWS / alike * share / max(those.sum(), 1)
        return found


NAMES = tuple(name for name in WEIGHTS if name != "constant")
PENALTY = 1.0
FREE = frozenset({"length", "nested", "sentences"})
"""What a question is like, which may speak for or against an answer."""
ROWS, ANSWERABLE = 400.0, 0.5
"""Rows that each family of sets counts as, and the share of answerable ones: sets have them in many mixtures."""
BINS = 10
THRESHOLDS = tuple(round(0.02 * each, 2) for each in range(2, 26))


def load(folder: Path) -> list[Row]:
    """All rows of a folder. A question whose gold was left out and that is answered right all the same is dropped: the
    corpus holds its answer elsewhere, or it was guessed.
    """
    rows = [row for file in sorted(folder.glob("*.json")) for row in json.loads(file.read_text(encoding="utf-8"))]
    return [row for row in rows if not (row["kind"] == "without" and row["right"])]


def refused_by_auto(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """For each set and kind of question, the share that `auto` refuses with the default settings."""
    refused: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row["paradigm"] == AUTO:
            refused.setdefault((row["set"], row["kind"]), []).append(row["refused"])
    found: dict[str, dict[str, float]] = {}
    for (name, kind), each in sorted(refused.items()):
        found.setdefault(name, {})[f"{kind} ({len(each)})"] = round(sum(each) / len(each), 3)
    return found


def table(rows: Sequence[Row]) -> Table:
    """The rows of single paradigms as arrays; `auto` answers as one of them does."""
    rows = [row for row in rows if row["paradigm"] != AUTO]
    known = [Features(**row["features"]).weighed() for row in rows]
    return Table(
        np.array([[each.get(name, 0.0) for name in NAMES] for each in known]),
        np.array([row["right"] for row in rows]),
        np.array([row["set"] for row in rows]),
        np.array([LIKE.get(row["set"], row["set"]) for row in rows]),
        np.array([row["kind"] for row in rows]),
        np.array([row["paradigm"] for row in rows]),
    )


def fit(rows: Table) -> dict[str, float]:
    """Logistic regression with a penalty on large weights. Each family of sets counts the same. What speaks for an
    answer never speaks against it: a weight that would be negative is none, unless `FREE` names it.
    """
    each = rows.counts
    middle, spread = rows.known.mean(axis=0), rows.known.std(axis=0) + 1e-6
    scaled, used = (rows.known - middle) / spread, list(range(len(NAMES)))
    while True:
        weights = _newton(np.c_[np.ones(len(scaled)), scaled[:, used]], rows.right.astype(float), each)
        negative = {at for at, weight in zip(used, weights[1:], strict=True) if weight < 0 and NAMES[at] not in FREE}
        if not negative:
            break
        used = [at for at in used if at not in negative]
    found = np.zeros(len(NAMES))
    found[used] = weights[1:] / spread[used]
    constant = float(weights[0] - found @ middle)
    return {"constant": constant, **dict(zip(NAMES, found.tolist(), strict=True))}


def _newton(known: Floats, wanted: Floats, each: Floats) -> Floats:
    weights, penalty = np.zeros(known.shape[1]), np.diag([0.0] + [PENALTY] * (known.shape[1] - 1))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (each * (chance - wanted)) + penalty @ weights
        bend = (known * (each * chance * (1 - chance))[:, None]).T @ known + penalty
        weights = weights - np.linalg.solve(bend, slope)
    return np.asarray(weights)


def chances(rows: Table, weights: Mapping[str, float]) -> Floats:
    total = rows.known @ np.array([weights[name] for name in NAMES]) + weights["constant"]
    return np.asarray(1 / (1 + np.exp(-total)))


def calibration_error(chance: Floats, right: NDArray[np.bool_], counts: Floats) -> float:
    """Expected calibration error: over ten bins that count the same, how far the chance is from the share right."""
    order = np.argsort(chance, kind="stable")
    part = np.minimum((np.cumsum(counts[order]) / counts.sum() * BINS - 1e-9).astype(int), BINS - 1)
    off = counts[order] * (chance[order] - right[order])
    return float(sum(abs(off[part == each].sum()) for each in range(BINS)) / counts.sum())


def figures(rows: Table, chance: Floats, thresholds: Floats) -> dict[str, Any]:
    """Calibration and refusals of one set. Tricks are counted apart."""
    plain, answerable = rows.kinds != "trick", rows.answerable

    def refused(which: NDArray[np.bool_]) -> float | None:
        return round(float((chance[which] < thresholds[which]).mean()), 3) if which.any() else None

    return {
        "answers": int(plain.sum()),
        "thresholds": sorted({round(float(each), 2) for each in thresholds}),
        "right of answerable": round(float(rows.right[answerable].mean()), 3),
        "calibration error": round(calibration_error(chance[plain], rows.right[plain], rows.counts[plain]), 3),
        "calibration error, answerable": round(
            calibration_error(chance[answerable], rows.right[answerable], rows.counts[answerable]), 3
        ),
        "unanswerable refused": refused(plain & ~answerable),
        "answerable refused": refused(answerable),
        "right refused": refused(answerable & rows.right),
        "wrong refused": refused(answerable & ~rows.right),
        "refused by kind": {str(kind): refused(rows.kinds == kind) for kind in sorted(set(rows.kinds[~answerable]))},
    }


def best_threshold(rows: Table, chance: Floats) -> float:
    """The threshold that refuses most unanswerable questions less right answers, in the mean of the sets."""

    def gain(threshold: float) -> float:
        refused, plain = chance < threshold, rows.kinds != "trick"
        return float(
            np.mean([
                refused[(rows.sets == name) & plain & ~rows.answerable].mean()
                - refused[(rows.sets == name) & rows.answerable & rows.right].mean()
                for name in sorted(set(rows.sets))
            ])
        )  # fmt: skip

    return max(THRESHOLDS, key=gain)


def left_out(rows: Table) -> tuple[Floats, Floats]:
    """The chance of every answer by weights that were fitted without its family of sets, and the threshold that was
    best for the others.
    """
    chance, thresholds = np.zeros(len(rows.sets)), np.zeros(len(rows.sets))
    for family in set(rows.families):
        mine = rows.families == family
        weights = fit(rows.of(~mine))
        chance[mine] = chances(rows.of(mine), weights)
        thresholds[mine] = best_threshold(rows.of(~mine), chances(rows.of(~mine), weights))
    return chance, thresholds


def report(rows: Table, threshold: float | None) -> dict[str, Any]:
    """For each set, and for each paradigm over all sets; `threshold` instead of those chosen on the other sets."""
    chance, chosen = left_out(rows)
    thresholds = chosen if threshold is None else np.full(len(chance), threshold)
    groups = [(str(name), rows.sets == name) for name in sorted(set(rows.sets))]
    groups += [(f"all sets, {name}", rows.paradigms == name) for name in PARADIGMS]
    return {name: figures(rows.of(which), chance[which], thresholds[which]) for name, which in groups}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True, help="folder of the rows")
    parser.add_argument("--data", type=Path, help="folder of the data sets: ask")
    parser.add_argument("--indexes", type=Path, help="where indexes are used (default: with the rows)")
    parser.add_argument("--squad", type=Path)
    parser.add_argument("--docs", nargs="*", default=[])
    parser.add_argument("--sets", default="", help="ask these sets only, joined by commas")
    parser.add_argument("--threshold", type=float, help="instead of those chosen without the set")
    parser.add_argument("--fit", action="store_true", help="print the weights of all sets")
    options = parser.parse_args()
    options.rows.mkdir(parents=True, exist_ok=True)
    if options.data:
        gather(options)
        return
    loaded = load(options.rows)
    rows = table(loaded)
    if options.fit:
        weights = fit(rows)
        found: dict[str, Any] = {name: round(weight, 2) for name, weight in weights.items()}
        found["best threshold"] = best_threshold(rows, chances(rows, weights))
    else:
        found = {"refused by auto": refused_by_auto(loaded)}
        if len(set(rows.families)) > 1:
            found |= report(rows, options.threshold)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
