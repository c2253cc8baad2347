"""Labels: people rate answers, or say which of two is better, so that judges can be compared with them and corrected.

A labeller sees a question, its gold answer and one answer, not which paradigm gave it, and rates it as right, partly
right or wrong. Or both answers of a duel as the judge sees them, in a drawn order, and names the better one. What is
labelled is drawn by a seed, as many answers of each paradigm. Labels are stored in the run's folder at once. A label
belongs to the answers it was given for: once they are replaced, they are labelled anew.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ragways.core.errors import UsageError
from ragways.core.log import Log
from ragways.core.types import ABSTENTION, content_hash
from ragways.evaluation.duel.entries import (
    SAMPLE_LIMIT,
    AlignedAnswers,
    DuelRules,
    aligned_pairs,
    duel_entries,
    text_hash,
)
from ragways.evaluation.judges.judge import answer_alone, answer_of, fingerprint, passages
from ragways.evaluation.metric import SIGNED, Metric, accepted, refused
from ragways.evaluation.record import Key, Record, locked

FILE = "labels.jsonl"
LabelValue = Literal["right", "partly", "wrong", "first", "even", "second", "skip"]
NUMBERS: Mapping[str, float] = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
"""What a label counts; one that was skipped counts nothing."""
LABEL_VALUES: tuple[LabelValue, ...] = ("right", "partly", "wrong", "skip")
PAIR_VALUES: tuple[LabelValue, ...] = ("first", "even", "second", "skip")
PAIR_NUMBERS: Mapping[str, float] = {"first": 1.0, "even": 0.0, "second": -1.0}
"""What a label of two answers counts for the first."""
LabelKey = tuple[str, str, int, str, str, str]
"""Question, paradigm, repeat, verdict, labeller, and the other paradigm of a pair."""
_SUPPORT = (
    "faithfulness", "support-hard", "support-soft", "citation-correctness", "support-estimated",
    "citation-support-estimated",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """A question to labellers (`about`), which records it is for (`asked`), and which metrics measure the same."""

    name: str
    about: str
    asked: Callable[[Record], bool]
    measured_by: Callable[[Metric], bool]


def _against_gold(metric: Metric) -> bool:
    """The answer against the gold one, from 0 to 1: CRAG's points go below 0, and `judged-correct` is its verdict."""
    needs = set(metric.needs)
    return "gold" in needs and "evidence" not in needs and not metric.less_is_better and metric.name not in SIGNED


VERDICTS: Mapping[str, LabelVerdict] = {
    one.name: one
    for one in (
        LabelVerdict(
            "correct", "Does the answer say what the gold answer says?", lambda r: bool(accepted(r)), _against_gold
        ),
        LabelVerdict(
            "supported",
            "Does the evidence bear out what the answer says?",
            lambda r: bool(r.evidence) and not refused(r),
            lambda metric: metric.name in _SUPPORT,
        ),
    )
}
"""The verdicts on one answer, by name."""
BETTER = LabelVerdict("better", "Which answer is better?", lambda _: True, lambda _: False)
"""The verdict on two answers."""


@dataclass(frozen=True, slots=True)
class Label:
    """The rating of one answer by one labeller. `of` is the fingerprint of the record as it was then (as judgements
    have it), `at` the time in UTC. Of two answers `paradigm` gave the first and `against` the second; `of` is the hash
    of question and answers then.
    """

    question: str
    paradigm: str
    repeat: int
    verdict: str
    value: LabelValue
    by: str
    at: str
    of: str
    against: str = ""

    @property
    def key(self) -> LabelKey:
        return self.question, self.paradigm, self.repeat, self.verdict, self.by, self.against


class Labels(Log[Label]):
    """The labels of a run, in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, Label)

    def latest(self, verdict: str) -> dict[LabelKey, Label]:
        """By key; a later label of the same answer by the same labeller takes the place of an earlier one."""
        return {label.key: label for label in self if label.verdict == verdict}

    def of_pairs(self) -> list[Label]:
        """The latest labels of two answers."""
        return list(self.latest(BETTER.name).values())

    def current(self, records: Iterable[Record], verdict: str) -> dict[Key, list[Label]]:
        """By record, the latest labels that were given for the answer that is there now."""
        latest = self.latest(verdict)
        by_record: dict[Key, list[Label]] = defaultdict(list)
        for label in latest.values():
            by_record[label.question, label.paradigm, label.repeat].append(label)
        found = {}
        for record in records:
            if record.key in by_record and not record.error:
                now = fingerprint(record)
                if own := [label for label in by_record[record.key] if label.of == now]:
                    found[record.key] = own
        return found


def drawn(records: Iterable[Record], count: int, *, seed: int = 0, verdict: str = "correct") -> list[Record]:
    """The answers to label: `count` in all, as many of each paradigm as there are, in an order that does not tell
    paradigms apart. Those of each are a plain random sample of its answers.

    More of them begin with the same ones, so that a larger `count` goes on where a smaller one ended.
    """
    by_paradigm: dict[str, list[tuple[str, Record]]] = defaultdict(list)
    for record in records:
        if not record.error and VERDICTS[verdict].asked(record):
            place = content_hash(json.dumps([seed, *record.key]))
            by_paradigm[record.paradigm].append((place, record))
    turns = [
        (turn, place, record)
        for some in by_paradigm.values()
        for turn, (place, record) in enumerate(sorted(some, key=lambda pair: pair[0]))
    ]
    return [record for *_, record in sorted(turns, key=lambda each: each[:2])[:count]]


def pair_values(
    labels: Iterable[Label], aligned: Iterable[AlignedAnswers], texts: Mapping[str, str]
) -> dict[str, float]:
    """By question, what people said of these answers: 1 where a is better, −1 where b is; the mean of several."""
    hashes = {(one.question, one.repeat, one.a, one.b): pair_hash(one, texts) for one in aligned}
    found: dict[str, list[float]] = defaultdict(list)
    for label in labels:
        for sign, a, b in ((1, label.paradigm, label.against), (-1, label.against, label.paradigm)):
            if label.value in PAIR_NUMBERS and hashes.get((label.question, label.repeat, a, b)) == label.of:
                found[label.question].append(sign * PAIR_NUMBERS[label.value])
    return {question: sum(some) / len(some) for question, some in found.items()}


def pair_hash(one: AlignedAnswers, texts: Mapping[str, str]) -> str:
    """The hash of question and answers: a label of other answers does not count for these."""
    return text_hash(texts[one.question], *one.answers)


@dataclass(frozen=True, slots=True)
class LabelTask:
    """What a labeller sees: one answer, or two where `other` is not empty. It does not name the paradigm."""

    question: str
    gold: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...] = ()
    other: str = ""


class Labelling:
    """One labeller and the drawn answers of a run: `tasks` in their order, and `values`, the label of each.

    Every label is written at once, so that labelling can stop and continue at any time. Other labellers may work on the
    same run. `verdict`: one of `VERDICTS`, or "better" for pairs of a duel of these two paradigms (`names`).
    """

    def __init__(
        self, folder: Path, records: Sequence[Record], *, by: str, count: int, seed: int = 0, verdict: str = "correct",
        names: Sequence[str] = (),
    ) -> None:  # fmt: skip
        known = {**VERDICTS, BETTER.name: BETTER}
        if verdict not in known:
            raise UsageError(f"there is no verdict {verdict!r}", f"name one of {', '.join(known)}")
        if not by.strip():
            raise UsageError("a label needs a labeller", "name one with --by")
        self.verdict, self.by = known[verdict], by.strip()
        self.choices = PAIR_VALUES if verdict == BETTER.name else LABEL_VALUES
        self._folder, self._labels, self._writing = folder, Labels(folder), threading.Lock()
        if verdict == BETTER.name:
            drawn_tasks = list(_pair_tasks(folder, records, names, count, seed))
        else:
            drawn_tasks = [self._of_answer(one) for one in drawn(records, count, seed=seed, verdict=verdict)]
        if not drawn_tasks:
            raise UsageError(f"no answer of {folder} can be labelled: {self.verdict.about}", "make a run with gold")
        self._blanks, self.tasks = [blank for blank, _ in drawn_tasks], tuple(task for _, task in drawn_tasks)
        latest = self._labels.latest(verdict)
        own = [latest.get(replace(blank, by=self.by).key) for blank in self._blanks]
        self.values: list[LabelValue | None] = [
            label.value if label is not None and label.of == blank.of else None
            for label, blank in zip(own, self._blanks, strict=True)
        ]

    @property
    def first(self) -> int:
        """Where to continue: the place of the first that has no label; past the last where all have one."""
        return next((at for at, value in enumerate(self.values) if value is None), len(self.values))

    @property
    def counts(self) -> dict[str, int]:
        """How many were labelled so; those that were not yet are left out."""
        return {value: self.values.count(value) for value in self.choices}

    def give(self, at: int, value: LabelValue) -> None:
        """Label the answer at this place, or label it again; the last label counts."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing, locked(self._folder):
            self._labels.append(replace(self._blanks[at], value=value, by=self.by, at=now))
        self.values[at] = value

    def _of_answer(self, record: Record) -> tuple[Label, LabelTask]:
        """Without the marks of citations; what is held against the gold answer is the answer alone."""
        supported = self.verdict.name == "supported"
        text = answer_of(record) if supported else answer_alone(record)
        task = LabelTask(
            question=record.text,
            gold=() if supported else accepted(record),
            answer=ABSTENTION if refused(record) else text,
            evidence=tuple(passages(record)) if supported else (),
        )
        return Label(*record.key, self.verdict.name, "skip", "", "", fingerprint(record)), task


def _pair_tasks(
    folder: Path, records: Sequence[Record], names: Sequence[str], count: int, seed: int
) -> Iterator[tuple[Label, LabelTask]]:
    """A plain random sample of the pairs that a duel judges, as the judge sees them; which answer stands first is
    drawn too.
    """
    entries = duel_entries(records, DuelRules(trials=SAMPLE_LIMIT), names)
    if len(entries.names) != 2:
        raise UsageError(f"pairs are of two paradigms, here are {len(entries.names)}", "name two: --paradigms A,B")
    (aligned,) = aligned_pairs(entries, folder).values()
    judged = [one for one in aligned if one.judged]
    if not judged:
        raise UsageError(
            f"no duel of {' and '.join(entries.names)} in {folder}", f"judge one: ragways eval duel {folder}"
        )
    gold = {record.question: accepted(record) for record in entries.records}
    places = sorted((content_hash(json.dumps([seed, one.question, one.repeat])), at) for at, one in enumerate(judged))
    for place, at in places[:count]:
        one = judged[at]
        turned = int(place, 16) % 2
        first, second = (one.b, one.a) if turned else (one.a, one.b)
        answers = one.answers[::-1] if turned else one.answers
        text = entries.texts[one.question]
        label = Label(
            one.question, first, one.repeat, BETTER.name, "skip", "", "", pair_hash(one, entries.texts), second
        )
        yield label, LabelTask(text, gold[one.question], answers[0], other=answers[1])
