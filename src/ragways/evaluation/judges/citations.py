"""Whether what an answer cites bears it out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import sentences
from ragways.evaluation.metric import Metric, Score
from ragways.evaluation.normal import unmarked
from ragways.evaluation.record import Record
from ragways.tasks.judges import CITATIONS, CitationsInput, CitedSentence

_MARKS = re.compile(r"(?:\[\d+\])+")


def cited(record: Record) -> list[CitedSentence]:
    """Sentences of the answer with the quotes that each cites."""
    quotes: dict[int, list[str]] = {}
    for citation in record.citations:
        quotes.setdefault(int(citation["sentence"]), []).append(str(citation["quote"]))
    numbers = sorted(quotes)
    said = _sentences(record.answer, numbers)
    return [CitedSentence(said[number], tuple(dict.fromkeys(quotes[number]))) for number in numbers]


def _sentences(answer: str, numbers: Sequence[int]) -> dict[int, str]:
    """A cited sentence ends with its marks, so that the first marks are those of the first number, and so on. Where
    marks and numbers do not fit, as when a model wrote marks of its own, the sentences of the answer are counted.
    """
    ends = list(_MARKS.finditer(answer))
    if len(ends) == len(numbers):
        found, start, before = {}, 0, -1
        for number, end in zip(numbers, ends, strict=True):
            text = answer[start : end.start()].strip()
            # Sentences that cite nothing stand between two that do; what they say is not this one's.
            found[number] = (sentences(text) or (text,))[-1] if number - before > 1 else text
            start, before = end.end(), number
        return found
    counted = sentences(unmarked(answer)) or (unmarked(answer),)
    return {number: counted[number] if 0 <= number < len(counted) else unmarked(answer) for number in numbers}


async def _score(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    pairs = cited(record)
    verdicts = (await resources.model.do(CITATIONS, CitationsInput(record.text, pairs))).value.in_order()
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
               ("said", "citations")),
    ),
    _score,
    (CITATIONS,),
)  # fmt: skip
