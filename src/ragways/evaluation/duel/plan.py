"""How many calls a duel still takes and what they cost about, before any is made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragways.core.trace import Usage
from ragways.evaluation.duel.contest import Contest
from ragways.evaluation.duel.differential import NOTHING
from ragways.evaluation.duel.lengths import TOLERANCE, TRIES, Aligned, Lengths, apart, key_of, words
from ragways.evaluation.duel.line import Key, Line, Lines
from ragways.evaluation.duel.rules import Rules
from ragways.evaluation.duel.score import settled
from ragways.evaluation.duel.selftest import selftest_sittings
from ragways.evaluation.duel.sitting import Judged, Sitting, sittings
from ragways.models.limits import count_call
from ragways.models.tokens import count_text
from ragways.tasks.duel import DUEL_DIFFERENCE, DUEL_SCORE, DuelInput

LOOKED_AT = 25
"""Prompts whose tokens are counted; the others are taken to be like them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls that are left; `known` replies are in the folder already. `usage` estimates the judge's, without reasoning.

    `lengths` is the most that the generator may be asked, three times for each unequal pair, and is not in `usage`.
    """

    selftest: int
    lengths: int
    duel: int
    known: int
    usage: Usage

    @property
    def calls(self) -> int:
        return self.selftest + self.duel

    def data(self, usd: float | None) -> dict[str, Any]:
        return {**asdict(self), "calls": self.calls, "usd": usd}


def plan(contest: Contest, folder: Path, by: Judged, rules: Rules, *, generator: bool = True) -> Plan:
    """Lengths that are not aligned yet are taken as if they were: what will be left out is not known."""
    lines, lengths = Lines(folder).latest(), Lengths(folder).latest()
    tests = selftest_sittings(contest.records, contest.names, rules)
    duels: list[Sitting] = []
    again = 0
    for pairs in contest.pairs.values():
        some = []
        for pair in pairs:
            known = lengths.get(key_of(pair))
            if known is None:
                again += TRIES * (generator and apart(pair.answers) > TOLERANCE)
                known = Aligned(*key_of(pair), answers=_levelled(pair.answers))
            some.append(known)
        duels += sittings(some, contest.texts, rules.trials)
    testing = [_missing(sitting, 1, by, lines) for sitting in tests]
    dueling = [_missing(sitting, rules.samples, by, lines) for sitting in duels]
    left = [sitting for sitting, calls in zip((*tests, *duels), (*testing, *dueling), strict=True) if calls]
    calls = sum(testing) + sum(dueling)
    return Plan(
        selftest=sum(testing),
        lengths=again,
        duel=sum(dueling),
        known=sum(line.points is not None for line in lines.values() if (line.judge, line.mode) == (by.name, by.mode)),
        usage=_usage(left, calls, by),
    )


def _levelled(answers: tuple[str, str]) -> tuple[str, str]:
    """Both at the longer one's length, so that no pair is taken for one that is left out."""
    longest = max(map(words, answers))
    first, second = (text + " …" * (longest - words(text)) for text in answers)
    return first, second


def _missing(sitting: Sitting, samples: int, by: Judged, lines: Mapping[Key, Line]) -> int:
    missing = sum(not settled(lines.get(sitting.key(by, sample))) for sample in range(samples))
    return missing + (by.mode == "differential" and missing > 0)


def _usage(left: Sequence[Sitting], calls: int, by: Judged) -> Usage:
    if not left:
        return Usage()
    looked = left[:: -(-len(left) // LOOKED_AT)]
    task = DUEL_SCORE if by.mode == "whole" else DUEL_DIFFERENCE
    sizes = []
    for sitting in looked:
        first, second = sitting.in_order
        sizes.append(count_call(task.call(DuelInput(sitting.text, first, second))))
    reply = count_text(json.dumps(asdict(NOTHING)))
    return Usage(calls=calls, input=calls * sum(sizes) // len(sizes), output=calls * reply)
