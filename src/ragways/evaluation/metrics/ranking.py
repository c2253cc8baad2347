"""Metrics of a ranking, as values: `Cut("recall", 5)` prints as `recall@5` and parses from it.

Each is a function of the ranks (from 1) at which the pieces of gold evidence were found, None where they were not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.metric import Metric

Ranks = Sequence[int | None]


def _recall(ranks: Ranks, k: int) -> float:
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def _all(ranks: Ranks, k: int) -> float:
    return float(all(rank is not None and rank <= k for rank in ranks))


def _hits(ranks: Ranks, k: int) -> float:
    return float(any(rank is not None and rank <= k for rank in ranks))


def _reciprocal(ranks: Ranks, k: int) -> float:
    best = min((rank for rank in ranks if rank is not None), default=k + 1)
    return 1 / best if best <= k else 0.0


def _average_precision(ranks: Ranks, k: int) -> float:
    found = sorted(rank for rank in ranks if rank is not None and rank <= k)
    # Two pieces of gold in one hit are one relevant hit: precision counts hits, and is 1 at most.
    relevant = {rank: n for n, rank in enumerate(dict.fromkeys(found), start=1)}
    # By all gold, found or not, as trec_eval has it: with more gold than k it cannot reach 1.
    return sum(relevant[rank] / rank for rank in found) / len(ranks)


SAID = {
    "recall": "share of the gold evidence",
    "all-evidence": "questions with all gold evidence",
    "hits": "questions with some gold evidence",
    "mrr": "one over the rank of the first gold evidence",
    "map": "mean precision at each piece of gold evidence",
}

FAMILIES: dict[str, Callable[[Ranks, int], float]] = {
    "recall": _recall,
    "all-evidence": _all,
    "hits": _hits,
    "mrr": _reciprocal,
    "map": _average_precision,
}


@dataclass(frozen=True, slots=True)
class Cut:
    """A family cut at rank k."""

    family: str
    k: int

    def __str__(self) -> str:
        return f"{self.family}@{self.k}"

    @classmethod
    def parse(cls, text: str) -> Cut:
        match = re.fullmatch(r"\s*([a-z-]+)\s*@\s*([1-9]\d{0,5})\s*", text.lower())
        if match is None:
            raise UsageError(f"{text!r} is not a metric", "write it as recall@5")
        if match[1] not in FAMILIES:
            raise UsageError(f"there is no metric {match[1]!r}", did_you_mean(match[1], FAMILIES))
        return cls(match[1], int(match[2]))

    def score(self, ranks: Ranks) -> float | None:
        """None, unscored, where there is no gold to find."""
        return FAMILIES[self.family](ranks, self.k) if ranks else None

    @property
    def metric(self) -> Metric:
        """The same, of a record."""
        summary = f"{SAID[self.family]} among the first {self.k}"
        return Metric(str(self), "retrieval", summary, ("ranks",), of=lambda record: self.score(record.ranks))


USUAL = tuple(map(Cut.parse, ("recall@2", "recall@5", "all-evidence@8", "mrr@10", "map@10", "hits@4", "hits@10")))
