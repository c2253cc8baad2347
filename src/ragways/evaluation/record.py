"""A record: one answer in a run, with everything that its figures are computed from. A line of JSON each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError

FILE = "records.jsonl"


@dataclass(frozen=True)
class Record:
    """`ranks`: of the gold evidence; `error`: why there is no answer; `made`: by which version, model and prompts."""

    question: str
    text: str
    type: str
    gold: tuple[str, ...]
    paradigm: str
    repeat: int
    answer: str = ""
    abstained: bool = False
    way: str = ""
    ranks: tuple[int | None, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    citations: tuple[dict[str, Any], ...] = ()
    usage: dict[str, float] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    error: str = ""
    made: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells records of a run apart."""
        return self.question, self.paradigm, self.repeat


class Records:
    """The records of a run in its folder. A line cut short by a kill is dropped and asked again."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Record]:
        if not self._path.is_file():
            raise UsageError(f"{self._path.parent} holds no run", "make one with: ragways eval run")
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                record = _read(line)
                if record is not None:
                    yield record

    def append(self, record: Record) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")

    def mend(self) -> set[tuple[str, str, int]]:
        """Drop a line that was cut short and records that failed; returns the keys that need not be asked again."""
        if not self._path.is_file():
            return set()
        kept = [record for record in self if not record.error]
        draft = self._path.with_suffix(".draft")
        draft.write_text(
            "".join(json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in kept), encoding="utf-8"
        )
        os.replace(draft, self._path)
        return {record.key for record in kept}


def _read(line: str) -> Record | None:
    try:
        data = json.loads(line)
        for name in ("gold", "ranks", "evidence", "citations", "steps"):
            data[name] = tuple(data[name])
        return Record(**data)
    except (ValueError, TypeError, KeyError):
        return None
