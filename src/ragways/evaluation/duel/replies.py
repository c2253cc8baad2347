"""What the judge is asked in a duel, and its replies, each stored as it was given: every figure comes from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragways.core.log import Log
from ragways.evaluation.duel.entries import SAMPLE_LIMIT, AlignedAnswers, Mode, text_hash
from ragways.tasks.duel import DUEL_DIFFERENCE, DUEL_DIFFERENTIAL, DUEL_SCORE

FILE = "duels.jsonl"
Kind = Literal["duel", "taste", "other"]
"""Of a duel, or of the judge's test: one answer with words of a and with words of b (`taste`), or an answer against one
to another question (`other`, which is b)."""
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, Order] = ("ab", "ba")
Points = tuple[int, int, int, int]
"""Of one answer, an aspect each, in the order of `ragways.tasks.duel.ASPECTS`."""
ReplyKey = tuple[str, str, str, str, str, int, str, str, str, int, int, str]


@dataclass(frozen=True, slots=True)
class ReplyCost:
    """By which version of ragways a reply was asked for, and what it took."""

    version: str = ""
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class DuelReply:
    """Points of `a` and `b` by aspect, whichever stood first; None, and `why`, where the reply could not be used.

    `shown` is the hash of the question and the two texts. `said`: in differential mode, what only a and only b say.
    `reason` is what the judge wrote before it gave points.
    """

    kind: Kind
    mode: Mode
    judge: str
    prompt: str
    question: str
    repeat: int
    a: str
    b: str
    order: Order
    trial: int
    sample: int
    shown: str
    points: tuple[Points, Points] | None
    why: str = ""
    reply: str = ""
    said: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    reason: str = ""
    made: ReplyCost = ReplyCost()

    @property
    def key(self) -> ReplyKey:
        return (self.kind, self.mode, self.judge, self.prompt, self.question, self.repeat, self.a, self.b, self.order,
                self.trial, self.sample, self.shown)  # fmt: skip

    @property
    def difference(self) -> int:
        """Total of a less that of b."""
        if self.points is None:
            raise ValueError("a reply without points")
        return sum(self.points[0]) - sum(self.points[1])


def scored(reply: DuelReply | None) -> bool:
    """Whether there is a reply with points."""
    return reply is not None and reply.points is not None


class DuelReplies(Log[DuelReply]):
    """The replies of a run's duels, in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, DuelReply)

    def latest(self) -> dict[ReplyKey, DuelReply]:
        """By key; a later reply takes the place of an earlier one."""
        return {reply.key: reply for reply in self}


def times_asked(replies: Iterable[DuelReply]) -> tuple[int, int]:
    """How many trials, and how many samples of each prompt, a duel has had so far: the file does not say how many were
    meant.
    """
    numbers = [(reply.trial, reply.sample) for reply in replies if reply.kind == "duel"]
    trials, samples = (max((number[at] for number in numbers), default=0) + 1 for at in (0, 1))
    return trials, samples


@dataclass(frozen=True)
class DuelJudge:
    """Who judges, by which prompts: replies of another judge, or to other words, are never mixed with these."""

    name: str
    prompt: str
    mode: Mode


def duel_judge(name: str, mode: Mode) -> DuelJudge:
    """The model of this name, with the prompts as they are now."""
    if mode == "whole":
        return DuelJudge(name, DUEL_SCORE.text.hash, mode)
    return DuelJudge(name, f"{DUEL_DIFFERENCE.text.hash}+{DUEL_DIFFERENTIAL.text.hash}", mode)


@dataclass(frozen=True)
class DuelPrompt:
    """One prompt to the judge: two answers in one order, asked as often as there are samples.

    `answers` are a's and b's, whichever is shown first.
    """

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
        """The answers as they are shown."""
        first, second = self.answers
        return (first, second) if self.order == "ab" else (second, first)

    def number(self, sample: int) -> int:
        """What tells this sample from all others of the same prompt."""
        return self.trial * SAMPLE_LIMIT + sample

    def key(self, judge: DuelJudge, sample: int) -> ReplyKey:
        return self.blank_reply(judge, sample).key

    def blank_reply(self, judge: DuelJudge, sample: int) -> DuelReply:
        """A reply that has no points yet."""
        return DuelReply(
            self.kind, judge.mode, judge.name, judge.prompt, self.question, self.repeat, self.a, self.b, self.order,
            self.trial, sample, text_hash(self.text, *self.answers), None,
        )  # fmt: skip


def by_question(aligned: Iterable[AlignedAnswers]) -> dict[str, list[AlignedAnswers]]:
    """Pairs that can be judged, those of one question together."""
    found: dict[str, list[AlignedAnswers]] = {}
    for answers in aligned:
        if answers.usable:
            found.setdefault(answers.question, []).append(answers)
    return found


def duel_prompts(aligned: Iterable[AlignedAnswers], texts: dict[str, str], trials: int) -> Iterator[DuelPrompt]:
    """Trial by trial, so that what a stop leaves out is whole trials. Each takes the next repeat of a question.

    Answers that are the same tie, and one that failed loses, without a judge.
    """
    questions = by_question(aligned)
    for trial in range(trials):
        for question, repeats in questions.items():
            pair = repeats[trial % len(repeats)]
            if not pair.judged:
                continue
            for order in ORDERS:
                text = texts[question]
                yield DuelPrompt("duel", question, text, pair.repeat, pair.a, pair.b, order, trial, pair.answers)
