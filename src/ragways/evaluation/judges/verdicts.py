"""Judges by verdicts of a model: on the whole answer, on each piece of evidence, on each citation, and by questions
that it writes from the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragways.core.runtime import together
from ragways.core.types import Citation
from ragways.evaluation.judges.embedding import best_cosines
from ragways.evaluation.judges.judge import Judge, JudgeResources, answer_alone, answer_of, passages
from ragways.evaluation.metric import Metric, accepted, unanswerable
from ragways.evaluation.record import Record, Score
from ragways.retrieval.support import cited_sentences
from ragways.tasks.judges import (
    CITATIONS,
    CORRECT,
    QUESTION_COUNT,
    QUESTIONS,
    USEFUL,
    CitationsInput,
    CitedSentence,
    CorrectInput,
    QuestionsInput,
    Ruling,
    UsefulInput,
)

# --- Correct, incorrect or incomplete -----------------------------------------------------------------------------

VERDICTS = ("correct", "incorrect", "incomplete")


async def _correct(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    ruling = _by_rule(record)
    if ruling is None:
        given = CorrectInput(record.text, answer_alone(record), accepted(record))
        ruling = (await resources.model.do(CORRECT, given)).value
    details = {"verdict": ruling.verdict, "why": ruling.why}
    return {f"judged-{name}": Score(float(ruling.verdict == name), details=details) for name in VERDICTS}


def _by_rule(record: Record) -> Ruling | None:
    """An abstention needs no judge: it is right where there is no answer, and lacks one everywhere else."""
    if record.abstained or not answer_alone(record):
        return Ruling("abstained", "correct" if unanswerable(record) else "incomplete")
    return None


JUDGED_CORRECT = Judge(
    "correct",
    "correct, incorrect or incomplete, by the gold answers",
    "model",
    (
        Metric("judged-correct", "judged", "answers judged correct; an abstention is, on a null question", ("gold",),
               refusal="wrong"),
        Metric("judged-incorrect", "judged", "answers judged wrong", ("gold",), less_is_better=True),
        Metric("judged-incomplete", "judged", "answers judged to lack something, abstentions among them", ("gold",),
               less_is_better=True),
    ),
    _correct,
    (CORRECT,),
)  # fmt: skip


# --- Whether useful pieces stand before useless ones: the mean of precision@k over the ranks k of the useful ones -----


def average_precision(useful: Sequence[bool]) -> float:
    """Of verdicts in the order of the ranking; nothing useful is 0."""
    ranks = [rank for rank, one in enumerate(useful, start=1) if one]
    return sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(ranks) if ranks else 0.0


async def _precision(resources: JudgeResources, record: Record, answer: str) -> Score:
    outcomes = await together(
        resources.model.do(USEFUL, UsefulInput(record.text, answer, passage)) for passage in passages(record)
    )
    verdicts = [outcome.value for outcome in outcomes]
    details = {"useful": [verdict.useful for verdict in verdicts], "why": [verdict.why for verdict in verdicts]}
    return Score(average_precision([verdict.useful for verdict in verdicts]), details=details)


async def _with_gold(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-precision": await _precision(resources, record, "\n".join(accepted(record)))}


async def _without_gold(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-precision-unreferenced": await _precision(resources, record, answer_of(record))}


CONTEXT_PRECISION = Judge(
    "context-precision",
    "useful pieces before useless ones, by the gold answer",
    "model",
    (
        Metric("context-precision", "judged", "mean precision at the ranks of pieces that help to the gold answer",
               ("gold", "answer", "evidence"), refusal="no matter"),
    ),
    _with_gold,
    (USEFUL,),
)  # fmt: skip

CONTEXT_PRECISION_UNREFERENCED = Judge(
    "context-precision-unreferenced",
    "useful pieces before useless ones, by the answer that was given",
    "model",
    (
        Metric("context-precision-unreferenced", "judged",
               "mean precision at the ranks of pieces that help to the answer given", ("evidence",),
               refusal="left out"),
    ),
    _without_gold,
    (USEFUL,),
)  # fmt: skip


# --- Whether the answer answers the question: questions written from it alone should resemble the one asked ----------


async def _relevancy(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    written = (await resources.model.do(QUESTIONS, QuestionsInput(answer_of(record)))).value
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
               f"mean cosine of the question to {QUESTION_COUNT} written from the answer; 0 if it evades", ("answer",),
               refusal="zero"),
    ),
    _relevancy,
    (QUESTIONS,),
)  # fmt: skip


# --- Whether what an answer cites bears it out --------------------------------------------------------------------


def cited(record: Record) -> list[CitedSentence]:
    """Sentences of the answer with the quotes that each cites, and the passages that these are from."""
    of: dict[int, list[Citation]] = {}
    for citation in record.citations:
        of.setdefault(citation.sentence, []).append(citation)
    numbers = sorted(of)
    sentences = cited_sentences(record.answer, numbers, len(record.evidence))
    return [
        CitedSentence(
            sentences[number],
            tuple(dict.fromkeys(one.quote for one in of[number])),
            tuple(dict.fromkeys(one.piece for one in of[number])),
        )
        for number in numbers
    ]


async def _citations(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    pairs = cited(record)
    # The whole passage, as the model that answered saw it: a quote is only one place of it.
    texts = {citation.piece: citation.quote for citation in record.citations}
    texts |= {
        piece.id: text for piece, text in zip(record.evidence, passages(record), strict=True) if piece.id in texts
    }
    verdicts = (await resources.model.do(CITATIONS, CitationsInput(record.text, pairs, texts))).value.in_order()
    rows = [
        {"sentence": pair.sentence, "quotes": list(pair.quotes), "supported": verdict.supported, "why": verdict.why}
        for pair, verdict in zip(pairs, verdicts, strict=True)
    ]
    value = sum(verdict.supported for verdict in verdicts) / len(pairs)
    return {"citation-correctness": Score(value, details={"cited": rows})}


CITATION_CORRECTNESS = Judge(
    "citation-correctness",
    "cited sentences that their quotes support",
    "model",
    (
        Metric("citation-correctness", "judged", "share of cited sentences that what they cite supports",
               ("citations",), refusal="left out"),
    ),
    _citations,
    (CITATIONS,),
)  # fmt: skip
