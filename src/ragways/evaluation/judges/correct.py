"""Correct, incorrect or incomplete: the verdict on the whole answer."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import said
from ragways.evaluation.metric import Metric, Score, accepted, unanswerable
from ragways.evaluation.record import Record
from ragways.tasks.judges import CORRECT, CorrectInput, Ruling

VERDICTS = ("correct", "incorrect", "incomplete")


async def _score(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    ruling = _by_rule(record)
    if ruling is None:
        given = CorrectInput(record.text, said(record), accepted(record))
        ruling = (await resources.model.do(CORRECT, given)).value
    details = {"verdict": ruling.verdict, "why": ruling.why}
    return {f"judged-{name}": Score(float(ruling.verdict == name), details=details) for name in VERDICTS}


def _by_rule(record: Record) -> Ruling | None:
    """An abstention needs no judge: it is right where there is no answer, and lacks one everywhere else."""
    if record.abstained or not said(record):
        return Ruling("abstained", "correct" if unanswerable(record) else "incomplete")
    return None


JUDGED_CORRECT = Judge(
    "correct",
    "correct, incorrect or incomplete, by the gold answers",
    "model",
    (
        Metric("judged-correct", "judged", "answers judged correct; an abstention is, on a null question", ("gold",)),
        Metric("judged-incorrect", "judged", "answers judged wrong", ("gold",), less_is_better=True),
        Metric("judged-incomplete", "judged", "answers judged to lack something, abstentions among them", ("gold",),
               less_is_better=True),
    ),
    _score,
    (CORRECT,),
)  # fmt: skip
