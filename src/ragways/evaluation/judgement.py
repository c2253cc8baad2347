"""A judgement: what a judge said of one record, kept beside it, so that figures need no second call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.evaluation import jsonl
from ragways.evaluation.metric import Score

FILE = "judgements.jsonl"
Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Judgement:
    """`why`: the reason a value is missing; `details`: claims and verdicts, or a reply that could not be read."""

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
