"""A record: one answer in a run, with everything that its figures are computed from. A line of JSON each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError
from ragways.evaluation import jsonl

FILE = "records.jsonl"


@dataclass(frozen=True)
class Record:
    """`gold`: accepted answers; `wanted`: gold evidence, and `ranks` where it was found; `cpu`: None where answers were
    made side by side and cannot be told apart; `error`: why there is no answer; `made`: by which version and model.
    """

    question: str
    text: str
    type: str
    gold: tuple[str, ...]
    paradigm: str
    repeat: int
    answer: str = ""
    abstained: bool = False
    way: str = ""
    wanted: tuple[dict[str, Any], ...] = ()
    ranks: tuple[int | None, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    citations: tuple[dict[str, Any], ...] = ()
    usage: dict[str, float] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    tools: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float | None = None
    seed: int = 0
    error: str = ""
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells records of a run apart."""
        return self.question, self.paradigm, self.repeat


class Records:
    """The records of a run in its folder. A line cut short by a kill is dropped and asked again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Record]:
        if not self._path.is_file():
            raise UsageError(f"{self.folder} holds no run", "make one with: ragways eval run")
        for row in jsonl.read(self._path):
            record = _read(row)
            if record is not None:
                yield record

    def append(self, record: Record) -> None:
        jsonl.append(self._path, asdict(record))

    def mend(self) -> set[tuple[str, str, int]]:
        """Drop a line that was cut short and records that failed; returns the keys that need not be asked again."""
        if not self._path.is_file():
            return set()
        kept = [record for record in self if not record.error]
        jsonl.replace(self._path, map(asdict, kept))
        return {record.key for record in kept}


def _read(row: dict[str, Any]) -> Record | None:
    try:
        lists = {
            name: tuple(row.get(name, ())) for name in ("gold", "wanted", "ranks", "evidence", "citations", "steps")
        }
        return Record(**{**row, **lists})
    except TypeError:
        return None
