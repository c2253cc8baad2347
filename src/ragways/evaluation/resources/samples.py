"""Samples of a run in its folder, a line of JSON each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

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
        self._mended = False

    def append(self, sample: Sample) -> None:
        if not self._mended:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._mend()
            self._mended = True
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(sample.data(), ensure_ascii=False) + "\n")

    def _mend(self) -> None:
        if not self._path.is_file() or not self._path.stat().st_size:
            return
        with self._path.open("rb+") as file:
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")

    def __iter__(self) -> Iterator[Sample]:
        """Nothing where nothing was sampled."""
        if not self._path.is_file():
            return
        with self._path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if (sample := _read(line)) is not None:
                    yield sample


def _read(line: str) -> Sample | None:
    try:
        data = json.loads(line)
        return Sample(float(data["at"]), str(data["label"]), float(data["cpu"]), int(data["memory"]))
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
