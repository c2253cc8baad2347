"""The one table of judges."""

from __future__ import annotations

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.judges.claims import CONTEXT_RECALL, CRAG, FACTUAL, FAITHFULNESS
from ragways.evaluation.judges.embedding import BERTSCORE, CONTEXT_BERTSCORE, COVERAGE, SUPPORT
from ragways.evaluation.judges.estimate import SUPPORT_ESTIMATED
from ragways.evaluation.judges.judge import Judge
from ragways.evaluation.judges.verdicts import (
    CITATION_CORRECTNESS,
    CONTEXT_PRECISION,
    CONTEXT_PRECISION_UNREFERENCED,
    JUDGED_CORRECT,
    RELEVANCY,
)

JUDGES: dict[str, Judge] = {
    judge.name: judge
    for judge in (
        BERTSCORE,
        CONTEXT_BERTSCORE,
        COVERAGE,
        SUPPORT,
        SUPPORT_ESTIMATED,
        JUDGED_CORRECT,
        CRAG,
        FACTUAL,
        FAITHFULNESS,
        CONTEXT_RECALL,
        CONTEXT_PRECISION,
        CONTEXT_PRECISION_UNREFERENCED,
        RELEVANCY,
        CITATION_CORRECTNESS,
    )
}


def find_judge(name: str) -> Judge:
    """A judge by its name, or by that of a metric it scores."""
    for judge in JUDGES.values():
        if name == judge.name or name in {metric.name for metric in judge.metrics}:
            return judge
    known = {*JUDGES, *(metric.name for judge in JUDGES.values() for metric in judge.metrics)}
    raise UsageError(f"there is no judge {name!r}", did_you_mean(name, known))
