"""A sitting: one prompt to the judge, two answers in one order, asked as often as there are samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragways.evaluation.duel.lengths import Aligned
from ragways.evaluation.duel.line import Key, Kind, Line, Order
from ragways.evaluation.duel.pair import print_of
from ragways.evaluation.duel.rules import MANY, Mode
from ragways.tasks.duel import DUEL_DIFFERENCE, DUEL_DIFFERENTIAL, DUEL_SCORE

ORDERS: tuple[Order, Order] = ("ab", "ba")


@dataclass(frozen=True)
class Sitting:
    """`answers` are a's and b's, whichever is shown first."""

    kind: Kind
    question: str
    text: str
    repeat: int
    a: str
    b: str
    order: Order
    trial: int
    answers: tuple[str, str]

    @property
    def in_order(self) -> tuple[str, str]:
        first, second = self.answers
        return (first, second) if self.order == "ab" else (second, first)

    def number(self, sample: int) -> int:
        """What tells this reply from all others to the same prompt."""
        return self.trial * MANY + sample

    def key(self, judge: Judged, sample: int) -> Key:
        return self.line(judge, sample).key

    def line(self, judge: Judged, sample: int) -> Line:
        """A line that has no points yet."""
        return Line(
            self.kind, judge.mode, judge.name, judge.prompt, self.question, self.repeat, self.a, self.b, self.order,
            self.trial, sample, print_of(self.text, *self.answers), None,
        )  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """By whom and by which prompts: replies of another judge, or to other words, are never mixed with these."""

    name: str
    prompt: str
    mode: Mode


def judged_by(name: str, mode: Mode) -> Judged:
    if mode == "whole":
        return Judged(name, DUEL_SCORE.text.hash, mode)
    return Judged(name, f"{DUEL_DIFFERENCE.text.hash}+{DUEL_DIFFERENTIAL.text.hash}", mode)


def by_question(aligned: Iterable[Aligned]) -> dict[str, list[Aligned]]:
    """Pairs that can be judged, those of one question together."""
    found: dict[str, list[Aligned]] = {}
    for one in aligned:
        if one.usable:
            found.setdefault(one.question, []).append(one)
    return found


def sittings(aligned: Iterable[Aligned], texts: dict[str, str], trials: int) -> Iterator[Sitting]:
    """Trial by trial, so that what a stop leaves out is whole trials. Each takes the next repeat of a question.

    Answers that are the same, letter by letter, tie without a judge.
    """
    questions = by_question(aligned)
    for trial in range(trials):
        for question, repeats in questions.items():
            one = repeats[trial % len(repeats)]
            if one.identical:
                continue
            for order in ORDERS:
                yield Sitting("duel", question, texts[question], one.repeat, one.a, one.b, order, trial, one.answers)
