"""The scores of CRAG (Yang et al. 2024), for which a wrong answer is worse than none.

Both come from one matching of the answer's claims with the gold ones: asked for each score apart, a judge contradicts
itself. On a question without an answer, abstaining is the right answer. Where several answers are accepted, the one
that the answer comes nearest to counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragways.evaluation.judges.claims import NO_CLAIMS, claims_of
from ragways.evaluation.judges.judge import Judge, JudgeResources
from ragways.evaluation.judges.shown import said
from ragways.evaluation.metric import Metric, Score, accepted, unanswerable
from ragways.evaluation.normal import compared, normal
from ragways.evaluation.record import Record
from ragways.tasks.judges import CLAIMS, MATCH, MatchInput

TRIED = 8
"""Accepted answers that are matched with one answer, at most: each costs a call, and some sets hold dozens."""

Matched = Mapping[str, Any]


def fine(precision: float, recall: float) -> float:
    """+1 all of it and no more, +0.5 a part of it and no more, −0.5 right and wrong mixed, −1 nothing right."""
    if recall == 0 or precision == 0:
        return -1.0
    if precision < 1:
        return -0.5
    return 1.0 if recall == 1 else 0.5


def coarse(precision: float, recall: float) -> float:
    """+1 all of it and no more, −1 anything else that was said."""
    return 1.0 if precision == 1 and recall == 1 else -1.0


def truthfulness(values: Iterable[float | None]) -> float:
    """The sum of scores over the questions; what is unscored adds nothing."""
    return sum(value for value in values if value is not None)


async def _score(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    if record.abstained or not said(record):
        return _unanswered(record)
    if unanswerable(record):
        return _both(-1.0, -1.0, {}) if await claims_of(resources, record, said(record)) else _unanswered(record)
    claims = await claims_of(resources, record, said(record))
    if not claims:
        return _unanswered(record)
    best = await _best(resources, record, claims)
    if best is None:
        return {name: Score(None, f"{NO_CLAIMS} in the gold answer") for name in ("crag-coarse", "crag-fine")}
    precision, recall = best["precision"], best["recall"]
    return _both(coarse(precision, recall), fine(precision, recall), best)


async def _best(resources: JudgeResources, record: Record, claims: Sequence[str]) -> Matched | None:
    """Of the accepted answers the one that the claims fit best; none can do better than one they fit wholly."""
    best: Matched | None = None
    for text in nearest(record)[:TRIED]:
        found = await _matched(resources, record, claims, text)
        if found is not None and (best is None or _rank(found) > _rank(best)):
            best = found
        if best is not None and _rank(best)[0] == 1:
            break
    return best


def nearest(record: Record) -> list[str]:
    """Accepted answers, alike ones once, those whose words stand in the answer first: one of them may be all of it."""
    once: dict[str, str] = {}
    for gold in accepted(record):
        once.setdefault(normal(gold) or gold, gold)
    pairs = {gold: compared(said(record), gold) for gold in once.values()}
    return sorted(pairs, key=lambda gold: f" {pairs[gold][1]} " not in f" {pairs[gold][0]} ")


def _rank(found: Matched) -> tuple[float, float, float]:
    return fine(found["precision"], found["recall"]), found["precision"], found["recall"]


async def _matched(resources: JudgeResources, record: Record, claims: Sequence[str], text: str) -> Matched | None:
    """The claims of the answer against those of one accepted answer; None where that claims nothing."""
    gold = await claims_of(resources, record, text)
    if not gold:
        return None
    matches = (await resources.model.do(MATCH, MatchInput(record.text, claims, gold))).value.matches
    stated = {n for match in matches for n in match.gold}
    precision, recall = sum(bool(match.gold) for match in matches) / len(claims), len(stated) / len(gold)
    rows = [
        {"claim": claims[match.claim - 1], "gold": sorted(set(match.gold)), "why": match.why}
        for match in sorted(matches, key=lambda match: match.claim)
    ]
    return {"precision": precision, "recall": recall, "claims": rows, "gold": list(gold), "accepted": text}


def _unanswered(record: Record) -> Mapping[str, Score]:
    value = 1.0 if unanswerable(record) else 0.0
    return _both(value, value, {"unanswered": True})


def _both(coarse: float, fine: float, details: Mapping[str, object]) -> Mapping[str, Score]:
    return {"crag-coarse": Score(coarse, details=details), "crag-fine": Score(fine, details=details)}


CRAG = Judge(
    "crag",
    "a wrong answer is worse than none",
    "model",
    (
        Metric("crag-coarse", "judged", "+1 right, 0 unanswered, −1 wrong in any part", ("gold",)),
        Metric(
            "crag-fine", "judged", "+1 right, +0.5 partly given, 0 unanswered, −0.5 partly wrong, −1 wrong", ("gold",)
        ),
    ),
    _score,
    (CLAIMS, MATCH),
)
