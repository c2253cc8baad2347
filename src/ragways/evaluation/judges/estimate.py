"""Support, estimated, without a language model: do evidence and citations bear out what an answer says?

A weak signal beside `support-soft` and `citations-valid` (`ragways.reading.support` says why). Its metrics are
advisory: they are shown, and held against what people say (`eval agreement`); no gate, comparison or report decides by
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragways.core.runtime import together
from ragways.evaluation.judges.judge import Judge, JudgeResources, answer_of
from ragways.evaluation.judges.verdicts import cited
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import Record, Score
from ragways.reading.support import estimate_support
from ragways.retrieval.support import sentences

Passages = list[tuple[str, Sequence[str]]]


async def _estimated(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    titles = {piece.id: piece.title for piece in record.evidence}
    title_of = {citation.quote: titles.get(citation.piece, "") for citation in record.citations}
    found: Passages = [(piece.title, sentences(piece.text)) for piece in record.evidence]
    pairs: list[tuple[str, Passages]] = [
        (pair.sentence, [(title_of[quote], sentences(quote)) for quote in pair.quotes]) for pair in cited(record)
    ]
    return {
        "support-estimated": await _mean(resources, [(claim, found) for claim in sentences(answer_of(record))]),
        "citation-support-estimated": await _mean(resources, pairs),
    }


async def _mean(resources: JudgeResources, claims: Sequence[tuple[str, Passages]]) -> Score:
    checkable = [(claim, passages) for claim, passages in claims if any(held for _, held in passages)]
    if not checkable:
        return Score(None, "no words to compare")
    estimates = await together(estimate_support(resources.reader, claim, passages) for claim, passages in checkable)
    rows = [
        {"claim": claim, "chance": one.chance, "words": one.words, "facts": one.facts, "reader": one.reader}
        for (claim, _), one in zip(checkable, estimates, strict=True)
    ]
    by = "words, names and the reader" if all(one.reader is not None for one in estimates) else "words and names alone"
    return Score(sum(one.chance for one in estimates) / len(estimates), details={"estimated by": by, "claims": rows})


SUPPORT_ESTIMATED = Judge(
    "support-estimated",
    "support, estimated: a weak signal by words, names and the reader, on which no verdict rests",
    "reader",
    (
        Metric("support-estimated", "estimated",
               "support, estimated (weak, decides nothing): mean chance that the evidence supports an answer sentence",
               ("evidence",), refusal="left out", advisory=True),
        Metric("citation-support-estimated", "estimated",
               "support, estimated (weak, decides nothing): mean chance that its quotes support a cited sentence",
               ("citations",), refusal="left out", advisory=True),
    ),
    _estimated,
)  # fmt: skip
