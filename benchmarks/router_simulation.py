"""What a router promises, by simulation: it finds a known optimum, and turns itself off where there is nothing to find.

    python -m benchmarks.router_simulation [--runs 100] [--only "all arms equal"]

Questions are of four types that features tell, though not surely, beside features that are noise. Each arm is right on
each type with a known chance, and outcomes are drawn. Routers are fitted on 300 questions and choose for 2,000 others
by `Router.decide`. Prints a line of JSON a setting: how far the router is from the best choice by type and how much
better than the best fixed arm; in how many runs the guard let it route, and in how many of these it seemed to gain
while all arms are equal; whether the guard's bound held.
"""

from __future__ import annotations

import argparse
import json

from ragways.core.runtime import limit_threads

limit_threads()

import numpy as np  # noqa: E402 - threads are limited before

from ragways.evaluation.routing.evaluate import evaluate_router  # noqa: E402
from ragways.evaluation.routing.fit import fit  # noqa: E402
from ragways.evaluation.routing.learn import FitSettings  # noqa: E402
from ragways.evaluation.routing.outcomes import Floats, Outcomes  # noqa: E402
from ragways.retrieval.routing.router import Router  # noqa: E402
from tests.evaluation.routing.simulated import KNOWN, simulated  # noqa: E402

SETTINGS: dict[str, tuple[Floats, int]] = {
    "arms differ by type": (KNOWN, 1),
    "arms differ by type, five corpora": (KNOWN, 5),
    "arms differ a little": (0.6 + (KNOWN - KNOWN.mean(axis=1, keepdims=True)) / 4, 1),
    "all arms equal": (np.full((4, 4), 0.6), 1),
    "all arms equal, five corpora": (np.full((4, 4), 0.6), 5),
    "types of unlike difficulty, arms equal": (np.repeat([[0.9], [0.6], [0.4], [0.2]], 4, axis=1), 1),
}
"""Quality by type and arm, and the number of corpora."""
ORACLES = "oracles"
NEW = 2000


def decided(router: Router, outcomes: Outcomes) -> list[int]:
    """The arm that the router takes on each question. Its range is another matter."""
    rows = (dict(zip(outcomes.names, map(float, row), strict=True)) for row in outcomes.features)
    return [outcomes.arms.index(router.decide(row).arm) for row in rows]


def simulate(quality: Floats, corpora: int, runs: int) -> dict[str, float]:
    regret, gain, passed, false_gains, held = [], [], 0, 0, 0
    for run in range(runs):
        outcomes, _ = simulated(run, quality=quality, corpora=corpora)
        router = fit(outcomes, FitSettings(seed=run))
        new, truth = simulated(10_000 + run, questions=NEW, quality=quality, corpora=corpora)
        value = truth[np.arange(NEW), decided(router, new)].mean()
        regret.append(truth.max(axis=1).mean() - value)
        gain.append(value - truth[:, new.arms.index(router.fixed)].mean())
        passed += router.guard.passed
        false_gains += int(router.guard.passed and router.guard.gain > 0 and gain[-1] <= 1e-9)
        held += int(router.guard.lower <= gain[-1] + 1e-9)
    return {
        "runs": runs,
        "guard passed": passed,
        "gain seen where there is none": false_gains,
        "bound of the gain held": held,
        "within 2 points of the optimum": sum(bool(one <= 0.02) for one in regret),
        "points below the optimum, mean": round(100 * float(np.mean(regret)), 2),
        "points below the optimum, most": round(100 * float(np.max(regret)), 2),
        "points above the best fixed arm, mean": round(100 * float(np.mean(gain)), 2),
        "points above the best fixed arm, least": round(100 * float(np.min(gain)), 2),
    }


def oracles(runs: int) -> dict[str, float]:
    """How far the naive and the corrected oracle are from the known optimum, with two repeats."""
    naive, corrected = [], []
    for run in range(runs):
        outcomes, truth = simulated(run, repeats=2)
        found = evaluate_router(outcomes).oracle
        best = truth.max(axis=1).mean()
        naive.append(found.naive - best)
        corrected.append(found.corrected - best)
    return {
        "runs": runs,
        "naive oracle above the optimum, points": round(100 * float(np.mean(naive)), 2),
        "corrected oracle above the optimum, points": round(100 * float(np.mean(corrected)), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", choices=[*SETTINGS, ORACLES])
    options = parser.parse_args()
    for name, (quality, corpora) in SETTINGS.items():
        if options.only in (None, name):
            print(json.dumps({"setting": name, **simulate(quality, corpora, options.runs)}), flush=True)
    if options.only in (None, ORACLES):
        print(json.dumps({"setting": ORACLES, **oracles(max(1, options.runs // 5))}), flush=True)


if __name__ == "__main__":
    main()
