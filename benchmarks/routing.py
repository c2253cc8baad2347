"""What a router that has not seen a corpus does on it: each of the corpora of some runs left out in turn.

    python -m benchmarks.routing RUN… [--trade 0.03] [--ask INDEX …]

RUN are the folders that `python -m training.router` makes. For each corpus, on questions with evidence: the share with
all of it among what is shown, and the tokens, of the router without its guard and of fixed arms; how many times the
tokens it takes of the cheapest fixed arm whose share is at most .01 lower; the best fixed arm by utility of the other
corpora; questions without an answer and about the whole corpus, and what became of them; and the CPU time of a choice.
With `--ask`, where the bundled router sends questions about the whole corpus in words that no router was fitted on, for
each of these indexes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from pathlib import Path

import numpy as np

from ragways.assemble import opened
from ragways.core.types import Query
from ragways.evaluation.record import Records
from ragways.evaluation.routing.fit import FitSettings, crossed_choices, fit
from ragways.evaluation.routing.outcomes import Outcomes, about_the_whole, gather
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.routing.auto import decide
from ragways.retrieval.routing.look import look
from ragways.retrieval.routing.router import ABSTAIN, Router
from ragways.settings import read_settings

UNSEEN = (
    "Tell me in a few paragraphs what this body of text covers.",
    "What story do these documents tell together?",
    "Which subjects dominate the material?",
    "List the recurring motifs in the archive.",
    "If you had to describe the library to a stranger, what would you say?",
    "What overarching ideas run through the texts?",
    "How do opinions differ across the sources?",
    "What is the general tone of the collection?",
    "Which areas of knowledge does the dataset span?",
    "What patterns emerge when all documents are considered?",
    "Identify the principal groups of topics in the data.",
    "Sketch the big picture.",
    "What are the five most discussed matters overall?",
    "Compare the main themes with one another.",
    "What can be learned from reading everything here?",
    "Across all articles, what concerns come up again and again?",
)
"""Questions about a corpus as a whole, in words that are not in `training/router.py`."""
NEAR = 0.01
"""So much less evidence counts as as much."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--trade", type=float, default=0.03)
    parser.add_argument("--ask", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    outcomes = gather(options.runs, quality="all-evidence", common=True)
    settings = FitSettings(trade=options.trade)
    chosen, _ = crossed_choices(outcomes, settings, "corpus")
    router = fit(outcomes, settings, "corpus")
    guard = router.guard
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
        "best fixed": router.fixed,
        "guard": {"gain": round(guard.gain, 4), "lower": round(guard.lower, 4), "passed": guard.passed},
    }
    for place, corpus in enumerate(outcomes.corpora):
        here = outcomes.corpus == place
        some = here & plain
        routed = float(quality[rows, chosen][some].mean()), float(tokens[rows, chosen][some].mean())
        arms = {arm: (float(quality[some, a].mean()), float(tokens[some, a].mean())) for arm, a in cuts.items()}
        cheapest = min((arm for arm in arms if arms[arm][0] >= routed[0] - NEAR), key=lambda arm: arms[arm][1])
        report[corpus] = {
            "questions": int(some.sum()),
            **{arm: [round(found, 3), round(taken)] for arm, (found, taken) in {"router": routed, **arms}.items()},
            "cheapest as good": cheapest,
            "times its tokens": round(routed[1] / arms[cheapest][1], 2),
            "refused of those with evidence": round(float((chosen[some] == refusal).mean()), 3),
            "refused of those without an answer": _share(chosen[here & null] == refusal),
            "to reports of those with evidence": _share(reports[chosen[some]]),
            "to reports of those about the whole": _share(reports[chosen[here & whole]]),
        }
    report |= {f"new wordings, {index.name}": asyncio.run(_sent(index)) for index in options.ask}
    report["microseconds of a decision"] = _deciding(outcomes, router)
    print(json.dumps(report, indent=1))


async def _sent(index: Path) -> dict[str, int]:
    """How many of the unseen wordings the bundled router sends which way."""
    async with opened(read_settings(index=index)) as use:
        see = look(use)
        taken = [(await decide(use, text, await see(Query(text)), PARADIGMS.find)).arm for text in UNSEEN]
    return dict(Counter(taken))


def _share(marks: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float | None:
    return round(float(marks.mean()), 3) if len(marks) else None


def _deciding(outcomes: Outcomes, router: Router) -> int:
    """CPU time of `Router.decide` on the features of each question, on average."""
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
