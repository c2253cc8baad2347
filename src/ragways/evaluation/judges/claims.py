"""Judges by claims: a text is split into claims, and each is checked against another text.

CRAG's scores (Yang et al. 2024), for which a wrong answer is worse than none, come from one matching of the answer's
claims with the gold ones: asked for each score apart, a judge contradicts itself. They are those of the answer itself:
an explanation beside it was not asked for. On a question without an answer, abstaining is the
right answer. Where several answers are accepted, the one that the answer comes nearest to counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.core.plain import to_plain
from ragways.core.runtime import together
from ragways.evaluation.judges.judge import Judge, JudgeResources, answer_alone, answer_of, evidence_of
from ragways.evaluation.metric import Metric, accepted, unanswerable
from ragways.evaluation.question import compared, normal
from ragways.evaluation.record import Record, Score
from ragways.tasks.judges import CLAIMS, MATCH, SUPPORT, ClaimsInput, MatchInput, SupportInput

NO_CLAIMS = "no claims"
TRIED = 8
"""Accepted answers that are matched with one answer, at most: each costs a call, and some sets hold dozens."""


async def claims_of(resources: JudgeResources, record: Record, text: str) -> tuple[str, ...]:
    """The same text of the same question is split once, where the client keeps replies."""
    return (await resources.model.do(CLAIMS, ClaimsInput(record.text, text))).value.claims


async def supported(resources: JudgeResources, record: Record, text: str, by: str) -> Score:
    """The share of the text's claims that the other text supports."""
    claims = await claims_of(resources, record, text)
    if not claims:
        return Score(None, NO_CLAIMS)
    verdicts = (await resources.model.do(SUPPORT, SupportInput(claims, by))).value.verdicts
    rows = [
        {"claim": claim, "supported": verdict.supported, "why": verdict.why}
        for claim, verdict in zip(claims, verdicts, strict=True)
    ]
    return Score(sum(verdict.supported for verdict in verdicts) / len(claims), details={"claims": rows})


async def _faithfulness(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"faithfulness": await supported(resources, record, answer_of(record), evidence_of(record))}


async def _context_recall(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    return {"context-recall": await supported(resources, record, accepted(record)[0], evidence_of(record))}


async def _factual(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    precision, recall = await together(
        (
            supported(resources, record, answer_alone(record), "\n".join(accepted(record))),
            supported(resources, record, accepted(record)[0], answer_alone(record)),
        )
    )
    return {"factual-precision": precision, "factual-recall": recall, "factual-f1": _f1(precision, recall)}


def _f1(precision: Score, recall: Score) -> Score:
    p, r = precision.value, recall.value
    if p is None or r is None:
        return Score(None, precision.why or recall.why)
    return Score(2 * p * r / (p + r) if p + r else 0.0)


FAITHFULNESS = Judge(
    "faithfulness",
    "claims of the answer that the evidence supports",
    "model",
    (
        Metric("faithfulness", "judged", "share of the answer's claims that the evidence supports", ("evidence",),
               refusal="left out"),
    ),
    _faithfulness,
    (CLAIMS, SUPPORT),
)  # fmt: skip

CONTEXT_RECALL = Judge(
    "context-recall",
    "claims of the gold answer that the evidence supports",
    "model",
    (
        Metric("context-recall", "judged", "share of the first gold answer's claims that the evidence supports",
               ("gold", "answer", "evidence"), refusal="no matter"),
    ),
    _context_recall,
    (CLAIMS, SUPPORT),
)  # fmt: skip

FACTUAL = Judge(
    "factual",
    "claims of the answer against the gold answer, and the other way round",
    "model",
    (
        Metric("factual-precision", "judged", "share of the answer's claims that a gold answer supports",
               ("gold", "answer"), refusal="zero"),
        Metric("factual-recall", "judged", "share of the first gold answer's claims that the answer supports",
               ("gold", "answer"), refusal="zero"),
        Metric("factual-f1", "judged", "harmonic mean of the two", ("gold", "answer"), refusal="zero"),
    ),
    _factual,
    (CLAIMS, SUPPORT),
)  # fmt: skip


# --- CRAG ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchedClaim:
    """A claim of the answer, and the numbers of the gold claims that it states."""

    claim: str
    gold: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class MatchedClaims:
    """All claims of an answer matched with those (`gold`) of one accepted answer (`accepted`)."""

    precision: float
    recall: float
    claims: tuple[MatchedClaim, ...]
    gold: tuple[str, ...]
    accepted: str

    @property
    def rank(self) -> tuple[float, float, float]:
        """The better match has the higher rank."""
        return fine(self.precision, self.recall), self.precision, self.recall


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


async def _score(resources: JudgeResources, record: Record) -> Mapping[str, Score]:
    if record.abstained or not answer_alone(record):
        return _unanswered(record)
    claims = await claims_of(resources, record, answer_alone(record))
    if not claims:
        return _unanswered(record)
    if unanswerable(record):
        return _both(-1.0, -1.0, {})
    best = await _best(resources, record, claims)
    if best is None:
        return {name: Score(None, f"{NO_CLAIMS} in the gold answer") for name in ("crag-coarse", "crag-fine")}
    return _both(coarse(best.precision, best.recall), fine(best.precision, best.recall), to_plain(best))


async def _best(resources: JudgeResources, record: Record, claims: Sequence[str]) -> MatchedClaims | None:
    """Of the accepted answers the one that the claims fit best; none can do better than one they fit wholly."""
    best: MatchedClaims | None = None
    for text in nearest(record)[:TRIED]:
        found = await _matched(resources, record, claims, text)
        if found is not None and (best is None or found.rank > best.rank):
            best = found
        if best is not None and best.rank[0] == 1:
            break
    return best


def nearest(record: Record) -> list[str]:
    """Accepted answers, alike ones once, those whose words stand in the answer first: one of them may be all of it."""
    once: dict[str, str] = {}
    for gold in accepted(record):
        once.setdefault(normal(gold) or gold, gold)
    pairs = {gold: compared(answer_alone(record), gold) for gold in once.values()}
    return sorted(pairs, key=lambda gold: f" {pairs[gold][1]} " not in f" {pairs[gold][0]} ")


async def _matched(resources: JudgeResources, record: Record, claims: Sequence[str], text: str) -> MatchedClaims | None:
    """The claims of the answer against those of one accepted answer; None where that claims nothing."""
    gold = await claims_of(resources, record, text)
    if not gold:
        return None
    matches = (await resources.model.do(MATCH, MatchInput(record.text, claims, gold))).value.matches
    stated = {n for match in matches for n in match.gold}
    precision, recall = sum(bool(match.gold) for match in matches) / len(claims), len(stated) / len(gold)
    stating = tuple(
        MatchedClaim(claims[match.claim - 1], tuple(sorted(set(match.gold))), match.why) for match in matches
    )
    return MatchedClaims(precision, recall, stating, tuple(gold), text)


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
