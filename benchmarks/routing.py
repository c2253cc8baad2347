"""What a router that has not seen a corpus does on it: each of the corpora of some runs left out in turn.

    python benchmarks/routing.py RUN… [--trade 0.01]

RUN are the folders that `python -m training.router` makes. For each corpus, on questions with evidence: the share with
all of it among what is shown, and the tokens, of the router without its guard and of fixed arms; the best fixed arm by
utility of the other corpora; questions without an answer and about the whole corpus, and what became of them; and the
CPU time of a decision beyond the look (features and choice apart).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

from ragways.evaluation.record import Records
from ragways.evaluation.routing.fit import crossed_choices, fit, guard_of
from ragways.evaluation.routing.learn import FitSettings
from ragways.evaluation.routing.outcomes import Floats, Outcomes, about_the_whole, gather
from ragways.retrieval.routing.router import ABSTAIN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--trade", type=float, default=0.01)
    options = parser.parse_args()
    outcomes = gather(options.runs, quality="all-evidence", common=True)
    settings = FitSettings(trade=options.trade)
    chosen, fixed, _ = crossed_choices(outcomes, settings, "corpus")
    guard = guard_of(outcomes, settings, "corpus", chosen, fixed)
    summary = {record.question for run in options.runs for record in Records(run) if about_the_whole(record)}
    whole = np.array([question in summary for question in outcomes.questions])
    quality, tokens, rows = outcomes.mean_quality, outcomes.costs["tokens"], np.arange(len(outcomes))
    refusal = outcomes.arms.index(ABSTAIN)
    null = quality[:, refusal] > 0
    plain = np.isin(rows, outcomes.measured) & ~null & ~whole
    reports = np.array([arm.startswith("community-global") for arm in outcomes.arms])
    cuts = {outcomes.arms[a]: a for a in outcomes.nested}
    report: dict[str, object] = {
        "trade": options.trade,
        "guard": {"gain": round(guard.gain, 4), "lower": round(guard.lower, 4), "passed": guard.passed},
    }
    for place, corpus in enumerate(outcomes.corpora):
        here = outcomes.corpus == place
        some = here & plain
        report[corpus] = {
            "questions": int(some.sum()),
            "router": [
                round(float(quality[rows, chosen][some].mean()), 3),
                round(float(tokens[rows, chosen][some].mean())),
            ],
            **{
                arm: [round(float(quality[some, a].mean()), 3), round(float(tokens[some, a].mean()))]
                for arm, a in ((arm, outcomes.arms.index(arm)) for arm in cuts)
            },
            "best fixed elsewhere": outcomes.arms[fixed[np.flatnonzero(here)[0]]],
            "refused of those with evidence": round(float((chosen[some] == refusal).mean()), 3),
            "refused of those without an answer": _share(chosen[here & null] == refusal),
            "to reports of those with evidence": _share(reports[chosen[some]]),
            "to reports of those about the whole": _share(reports[chosen[here & whole]]),
        }
    report["microseconds of a decision"] = _deciding(outcomes, settings)
    print(json.dumps(report, indent=1))


def _figures(quality: Floats, tokens: Floats) -> list[float]:
    return [round(float(quality.mean()), 3), round(float(tokens.mean()))]


def _share(marks: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float | None:
    return round(float(marks.mean()), 3) if len(marks) else None


def _deciding(outcomes: Outcomes, settings: FitSettings) -> int:
    """CPU time of `Router.decide` on the features of each question, on average."""
    router = fit(outcomes, settings)
    asked = [
        {name: float(value) for name, value in zip(outcomes.names, row, strict=True) if not math.isnan(value)}
        for row in outcomes.features
    ]
    began = time.process_time()
    for features in asked:
        router.decide(features)
    return round(1e6 * (time.process_time() - began) / len(asked))


if __name__ == "__main__":
    main()
