"""Whether the answer answers the question: questions written from the answer alone should resemble the one asked."""

from __future__ import annotations

from collections.abc import Mapping

from ragways.evaluation.judges.coverage import best_cosines
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import said
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.record import Record
from ragways.tasks.judges import QUESTION_COUNT, QUESTIONS, QuestionsInput


async def _score(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    written = (await resources.model.do(QUESTIONS, QuestionsInput(said(record)))).value
    details = {
        "questions": list(written.questions),
        "noncommittal": written.noncommittal,
        "embedder": resources.embedder.name,
    }
    if written.noncommittal:
        return {"answer-relevancy": Score(0.0, details=details)}
    cosines = await best_cosines(resources.embedder, written.questions, [record.text])
    return {"answer-relevancy": Score(float(cosines.mean()), details=details)}


RELEVANCY = Judge(
    "answer-relevancy",
    "questions written from the answer, compared with the one asked",
    "model",
    (
        Metric("answer-relevancy", "judged",
               f"mean cosine of the question to {QUESTION_COUNT} written from the answer; 0 if it evades", ("said",)),
    ),
    _score,
    (QUESTIONS,),
)  # fmt: skip
