"""A contest: the answers of a run, every two paradigms paired question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.duel.pair import Pair, pairs_of
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.record import Record

Two = tuple[str, str]


@dataclass(frozen=True)
class Contest:
    """Paradigms stand in the order of their names, so that a pair is the same one whoever was named first."""

    names: tuple[str, ...]
    records: tuple[Record, ...]
    pairs: dict[Two, list[Pair]]
    left_out: dict[Two, Counter[str]]

    @property
    def texts(self) -> dict[str, str]:
        return {record.question: record.text for record in self.records}

    @property
    def generators(self) -> tuple[str, ...]:
        """The models that answered."""
        return tuple(sorted({record.made.model for record in self.records} - {""}))


def contest(records: Iterable[Record], rules: Rules, names: Sequence[str] = (), *, limit: int | None = None) -> Contest:
    """Of these paradigms, or of all in the run; of the first `limit` questions."""
    every = list(records)
    known = sorted({record.paradigm for record in every})
    for name in names:
        if name not in known:
            raise UsageError(f"the run has no answers of {name!r}", did_you_mean(name, known))
    chosen = tuple(sorted(set(names))) or tuple(known)
    if len(chosen) < 2:
        raise UsageError("a duel takes two paradigms", f"this run has answers of: {', '.join(known) or 'none'}")
    asked = set(list(dict.fromkeys(record.question for record in every))[:limit])
    mine = tuple(record for record in every if record.paradigm in chosen and record.question in asked)
    found = {(a, b): pairs_of(mine, a, b, trials=rules.trials) for a, b in combinations(chosen, 2)}
    return Contest(
        chosen, mine, {two: pairs for two, (pairs, _) in found.items()}, {two: out for two, (_, out) in found.items()}
    )
