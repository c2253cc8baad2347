"""Samples of a run in its folder, a line of JSON each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragways.core import log as jsonl

FILE = "resources.jsonl"


@dataclass(frozen=True, slots=True)
class Sample:
    """`at`: seconds since 1970; `cpu`: seconds since the process began, so it falls where a run went on later."""

    at: float
    label: str
    cpu: float
    memory: int
    """Bytes in memory, of the process and its children."""

    def data(self) -> dict[str, Any]:
        return asdict(self)


class Samples:
    """A line cut short by a kill is left out when read, and ended before the next is written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def append(self, sample: Sample) -> None:
        jsonl.append(self._path, sample.data())

    def __iter__(self) -> Iterator[Sample]:
        """Nothing where nothing was sampled."""
        return (sample for row in jsonl.read(self._path) if (sample := _read(row)) is not None)


def _read(row: Mapping[str, Any]) -> Sample | None:
    try:
        return Sample(float(row["at"]), str(row["label"]), float(row["cpu"]), int(row["memory"]))
    except (ValueError, TypeError, KeyError):
        return None


def peaks(samples: Iterable[Sample]) -> dict[str, int]:
    """The most memory seen under each label."""
    found: dict[str, int] = {}
    for sample in samples:
        found[sample.label] = max(sample.memory, found.get(sample.label, 0))
    return found


def seconds(samples: Iterable[Sample]) -> dict[str, float]:
    """CPU seconds under each label: what came since the sample before, where the process is the same."""
    found: dict[str, float] = {}
    for before, after in pairwise(samples):
        if after.cpu >= before.cpu:
            found[after.label] = found.get(after.label, 0.0) + after.cpu - before.cpu
    return found
