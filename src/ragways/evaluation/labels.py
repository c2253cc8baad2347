"""Labels: people rate answers, so that judges can be compared with them.

A labeller sees a question, its gold answer and one answer, not which paradigm gave it, and rates it as right, partly
right or wrong. The answers are drawn by a seed, as many of each paradigm. Labels are stored in the run's folder at
once. A label belongs to the answer it was given for: once that is replaced, the answer is labelled anew.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from ragways.core.errors import UsageError
from ragways.core.log import Log
from ragways.core.types import ABSTENTION, content_hash
from ragways.evaluation.judges.judge import answer_alone, answer_of, fingerprint, passages
from ragways.evaluation.metric import SIGNED, Metric, accepted, refused
from ragways.evaluation.record import Key, Record, locked

FILE = "labels.jsonl"
LabelValue = Literal["right", "partly", "wrong", "skip"]
NUMBERS: Mapping[str, float] = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
"""What a label counts; one that was skipped counts nothing."""
LABEL_VALUES: tuple[LabelValue, ...] = get_args(LabelValue)
LabelKey = tuple[str, str, int, str, str]
"""Question, paradigm, repeat, verdict, labeller."""
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
"""The verdicts by name."""


@dataclass(frozen=True, slots=True)
class Label:
    """The rating of one answer by one labeller. `of` is the fingerprint of the record as it was then (as judgements
    have it), `at` the time in UTC.
    """

    question: str
    paradigm: str
    repeat: int
    verdict: str
    value: LabelValue
    by: str
    at: str
    of: str

    @property
    def key(self) -> LabelKey:
        return self.question, self.paradigm, self.repeat, self.verdict, self.by


class Labels(Log[Label]):
    """The labels of a run, in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, Label)

    def latest(self, verdict: str) -> dict[LabelKey, Label]:
        """By key; a later label of the same answer by the same labeller takes the place of an earlier one."""
        return {label.key: label for label in self if label.verdict == verdict}

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


@dataclass(frozen=True, slots=True)
class LabelTask:
    """What a labeller sees of one answer. It does not name the paradigm."""

    question: str
    gold: tuple[str, ...]
    answer: str
    evidence: tuple[str, ...]


class Labelling:
    """One labeller and the drawn answers of a run: `tasks` in their order, and `values`, the label of each.

    Every label is written at once, so that labelling can stop and continue at any time. Other labellers may work on the
    same run.
    """

    def __init__(
        self, folder: Path, records: Sequence[Record], *, by: str, count: int, seed: int = 0, verdict: str = "correct"
    ) -> None:
        if verdict not in VERDICTS:
            raise UsageError(f"there is no verdict {verdict!r}", f"name one of {', '.join(VERDICTS)}")
        if not by.strip():
            raise UsageError("a label needs a labeller", "name one with --by")
        self.verdict, self.by = VERDICTS[verdict], by.strip()
        self._folder, self._labels, self._writing = folder, Labels(folder), threading.Lock()
        self._records = drawn(records, count, seed=seed, verdict=verdict)
        if not self._records:
            raise UsageError(f"no answer of {folder} can be labelled: {self.verdict.about}", "make a run with gold")
        known = self._labels.current(self._records, verdict)
        own = {key: label.value for key, some in known.items() for label in some if label.by == self.by}
        self.tasks = tuple(map(self._task, self._records))
        self.values: list[LabelValue | None] = [own.get(record.key) for record in self._records]

    @property
    def first(self) -> int:
        """Where to go on: the place of the first that has no label; past the last where all have one."""
        return next((at for at, value in enumerate(self.values) if value is None), len(self.values))

    @property
    def counts(self) -> dict[str, int]:
        """How many were labelled so; those that were not yet are left out."""
        return {value: self.values.count(value) for value in LABEL_VALUES}

    def give(self, at: int, value: LabelValue) -> None:
        """Label the answer at this place, or label it again; the last label counts."""
        record = self._records[at]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        label = Label(*record.key, self.verdict.name, value, self.by, now, fingerprint(record))
        with self._writing, locked(self._folder):
            self._labels.append(label)
        self.values[at] = value

    def _task(self, record: Record) -> LabelTask:
        """Without the marks of citations; what is held against the gold answer is the answer alone."""
        supported = self.verdict.name == "supported"
        text = answer_of(record) if supported else answer_alone(record)
        return LabelTask(
            question=record.text,
            gold=() if supported else accepted(record),
            answer=ABSTENTION if refused(record) else text,
            evidence=tuple(passages(record)) if supported else (),
        )
