"""What a reader of a duel must know before believing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragways.evaluation.duel.lengths import UNEQUAL
from ragways.evaluation.duel.rounds import NOT_ASKED
from ragways.evaluation.duel.selftest import SelfTest
from ragways.evaluation.judges.judge import same_family

if TYPE_CHECKING:
    from ragways.evaluation.duel.result import PairResult

UNEQUAL_SHARE = 0.3
"""Twice what the procedure's authors had to leave out."""
UNREADABLE_SHARE = 0.05


def warnings(judge: str, generators: Sequence[str], tested: SelfTest, pairs: Sequence[PairResult]) -> tuple[str, ...]:
    said = [] if tested.passed else [f"{tested.why}; there is no winner"]
    said += [
        f"the judge {judge} is of the same family as {generator}, which answered: it may prefer its own words"
        for generator in generators
        if same_family(judge, generator)
    ]
    for pair in pairs:
        said += _of(pair)
    return tuple(said)


def _of(pair: PairResult) -> list[str]:
    said = []
    name = f"{pair.a} and {pair.b}"
    unequal = pair.left_out.get(UNEQUAL, 0)
    if unequal > UNEQUAL_SHARE * pair.pairs:
        said.append(f"{name}: {unequal:,} of {pair.pairs:,} pairs were left out because their lengths stayed unequal")
    unread = sum(count for why, count in pair.rounds.unscored.items() if why != NOT_ASKED)
    if unread > UNREADABLE_SHARE * pair.rounds.wanted:
        said.append(f"{name}: {unread:,} of {pair.rounds.wanted:,} replies could not be used")
    return said
