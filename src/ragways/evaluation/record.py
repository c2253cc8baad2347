"""A record: one answer in a run, with everything that its figures are computed from. A line of JSON each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragways.core import log as jsonl
from ragways.core.errors import UsageError

FILE = "records.jsonl"
Key = tuple[str, str, int]
"""Question, paradigm, repeat."""


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
    absent: int = 0
    """Pieces of gold evidence whose documents are not in the index: nobody could have found them."""
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
    def key(self) -> Key:
        """What tells records of a run apart."""
        return self.question, self.paradigm, self.repeat


class Records:
    """The records of a run in its folder, one a key: of several the last that did not fail, else the last.

    Nothing is taken out of the file when a run goes on: what failed stays until an answer takes its place, and lines
    that this version cannot read stay for one that can. `unreadable` counts those of the last reading.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unreadable = 0
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Record]:
        if not self._path.is_file():
            raise UsageError(f"{self.folder} holds no run", "make one with: ragways eval run")
        found: dict[Key, Record] = {}
        self.unreadable = 0
        for row in jsonl.lines(self._path):
            record = None if row is None else _read(row)
            if record is None:
                self.unreadable += 1
            elif not record.error or record.key not in found or found[record.key].error:
                found[record.key] = record
        return iter(found.values())

    def append(self, record: Record) -> None:
        jsonl.append(self._path, asdict(record))

    def here(self) -> list[Record]:
        """Those that are there; none where nothing was recorded yet."""
        return list(self) if self._path.is_file() else []


_TEXTS = ("question", "text", "type", "paradigm", "answer", "way", "error")
_LISTS: dict[str, tuple[type, ...]] = {
    "gold": (str,), "wanted": (dict,), "ranks": (int, type(None)), "evidence": (dict,), "citations": (dict,),
    "steps": (dict,),
}  # fmt: skip
_TABLES = ("usage", "tools", "settings", "made")


def _read(row: dict[str, Any]) -> Record | None:
    """None for what is no record: a field that is missing, unknown or of another kind."""
    fits = (
        all(isinstance(row.get(name, ""), str) for name in _TEXTS)
        and all(isinstance(row.get(name, {}), dict) for name in _TABLES)
        and all(_list_of(row.get(name, []), kinds) for name, kinds in _LISTS.items())
        and isinstance(row.get("repeat"), int)
        and isinstance(row.get("seconds", 0.0), int | float)
    )
    try:
        return Record(**{**row, **{name: tuple(row.get(name, ())) for name in _LISTS}}) if fits else None
    except TypeError:
        return None


def _list_of(value: object, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, kinds) for one in value)
