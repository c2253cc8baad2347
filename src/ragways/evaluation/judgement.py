"""A judgement: what a judge said of one record, kept beside it, so that figures need no second call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.core import log as jsonl
from ragways.evaluation.judges.shown import mark
from ragways.evaluation.metric import Score
from ragways.evaluation.record import Record

FILE = "judgements.jsonl"
Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Judgement:
    """`why`: the reason a value is missing; `details`: claims and verdicts, or a reply that could not be read.

    `made` says by whom, with which prompts, and `of` what: the mark of the record as it was then.
    """

    question: str
    paradigm: str
    repeat: int
    judge: str
    metric: str
    value: float | None
    why: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.question, self.paradigm, self.repeat, self.metric

    @property
    def score(self) -> Score:
        return Score(self.value, self.why, self.details)

    def is_of(self, mark: str) -> bool:
        """Whether it was said of the record with this mark. A line without one, as older versions wrote them, is taken
        to be, unless it says that there was no answer.
        """
        return self.made["of"] == mark if "of" in self.made else self.why != "failed"


class Judgements:
    """Those of a run, in its folder. A later one of the same record and metric takes the place of an earlier."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Judgement]:
        for row in jsonl.read(self._path):
            try:
                yield Judgement(**row)
            except TypeError:
                continue

    def append(self, judgement: Judgement) -> None:
        jsonl.append(self._path, asdict(judgement))

    def latest(self) -> dict[Key, Judgement]:
        return {judgement.key: judgement for judgement in self}


def standing(latest: Mapping[Key, Judgement], record: Record, metrics: Iterable[str]) -> dict[str, Judgement]:
    """What still holds of a record, by metric: said of the answer that is there now, not of one it has replaced."""
    found = {name: one for name in metrics if (one := latest.get((*record.key, name))) is not None}
    if not found or record.error:
        return {}
    now = mark(record)
    return {name: one for name, one in found.items() if one.is_of(now)}
