"""A line: one reply of the judge, as it was given. Every figure of a duel comes from these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ragways.core import log as jsonl
from ragways.evaluation.duel.aspects import ASPECTS
from ragways.evaluation.duel.rules import Mode

FILE = "duels.jsonl"
Kind = Literal["duel", "same", "padded", "other"]
Order = Literal["ab", "ba"]
Key = tuple[str, str, str, str, str, int, str, str, str, int, int, str]


@dataclass(frozen=True)
class Line:
    """Points of `a` and `b` by aspect, whichever stood first; None, and `why`, where the reply could not be used.

    `kind`: of a duel, or of the judge's test: an answer against itself (`same`), against its padded copy (`padded`,
    which is b), against an answer to another question (`other`, which is b). `shown` names the two texts. `said`: in
    differential mode, what only a and only b say.
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
    points: tuple[tuple[int, ...], tuple[int, ...]] | None
    why: str = ""
    reply: str = ""
    said: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return (self.kind, self.mode, self.judge, self.prompt, self.question, self.repeat, self.a, self.b, self.order,
                self.trial, self.sample, self.shown)  # fmt: skip

    @property
    def difference(self) -> int:
        """Total of a less that of b."""
        if self.points is None:
            raise ValueError("a line without points")
        return sum(self.points[0]) - sum(self.points[1])


class Lines:
    """Those of a run, in its folder. A later one of the same key takes the place of an earlier."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Line]:
        for row in jsonl.read(self._path):
            line = _read(row)
            if line is not None:
                yield line

    def append(self, line: Line) -> None:
        jsonl.append(self._path, vars(line))  # all its values are plain; asdict copies each

    def latest(self) -> dict[Key, Line]:
        return {line.key: line for line in self}


def _read(row: dict[str, Any]) -> Line | None:
    try:
        points, said = row.get("points"), row.get("said")
        if points is not None:
            points = (_points(points[0]), _points(points[1]))
        if said is not None:
            said = (tuple(map(str, said[0])), tuple(map(str, said[1])))
        return Line(**{**row, "points": points, "said": said})
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _points(row: list[Any]) -> tuple[int, ...]:
    points = tuple(map(int, row))
    if len(points) != len(ASPECTS):
        raise ValueError("not a point for each aspect")
    return points
