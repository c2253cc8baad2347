"""What could not be scored, and why: paradigm by paradigm, those that lack as many together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAMED = 3
"""Paradigms that are named one by one."""


@dataclass(frozen=True, slots=True)
class Gap:
    """So many answers of each of these paradigms have no value, for this reason; `every`: there are no others."""

    metric: str
    why: str
    answers: int
    paradigms: tuple[str, ...]
    every: bool

    @property
    def whose(self) -> str:
        if self.every:
            return "each paradigm"
        more = len(self.paradigms) - NAMED
        return ", ".join(self.paradigms[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def gaps(rows: Sequence[Mapping[str, Any]]) -> Iterator[Gap]:
    """Of the rows of a run, metric by metric. Counts are never added up over paradigms, which share their questions."""
    for metric in dict.fromkeys(name for row in rows for name in row["metrics"]):
        found: dict[tuple[str, int], list[str]] = {}
        for row in rows:
            for why, count in row["metrics"].get(metric, {}).get("why", {}).items():
                found.setdefault((why, count), []).append(row["paradigm"])
        for (why, count), names in found.items():
            yield Gap(metric, why, count, tuple(names), len(names) == len(rows))
