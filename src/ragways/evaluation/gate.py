"""A gate for continuous integration: does a run reach what is required, and is it no worse than an earlier one?"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ragways.core.errors import UsageError
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Requirement:
    """`accuracy>=0.8`, of every paradigm of the run; `fused:recall@5>=0.9`, of one."""

    paradigm: str
    metric: str
    sign: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        match = re.fullmatch(r"\s*(?:([\w-]+):)?([\w@ -]+?)\s*(>=|<=|>|<)\s*([0-9.]+)\s*", text)
        if match is None:
            raise UsageError(f"{text!r} is not a requirement", "write it as accuracy>=0.8 or fused:recall@5>=0.9")
        try:
            return cls(match[1] or "", match[2], match[3], float(match[4]))
        except ValueError:
            raise UsageError(f"{match[4]!r} is not a number", "write it as 0.8") from None

    @property
    def found(self) -> Metric:
        return find_metric(self.metric)

    def misses(self, rows: Sequence[dict[str, Any]]) -> list[str]:
        """In words, each paradigm that does not reach it. Unscored is a miss: nothing was shown."""
        chosen = [row for row in rows if self.paradigm in ("", row["paradigm"])]
        if not chosen:
            raise UsageError(f"the run has no paradigm {self.paradigm!r}", "see: ragways eval score RUN")
        found = []
        for row in chosen:
            mean = row["metrics"].get(self.found.name, {"mean": None})["mean"]
            if mean is None:
                found.append(f"{row['paradigm']}: {self.metric} is unscored")
            elif not _SIGNS[self.sign](mean, self.value):
                found.append(f"{row['paradigm']}: {self.metric} is {mean:.3f}, required {self.sign} {self.value:g}")
        return found


def worse(rows: Sequence[dict[str, Any]], baseline: Sequence[dict[str, Any]], tolerance: float) -> list[str]:
    """In words, each metric of each paradigm that fell below the baseline by more than the tolerance."""
    before = {row["paradigm"]: row["metrics"] for row in baseline}
    found = []
    for row in rows:
        for metric, figure in row["metrics"].items():
            old = before.get(row["paradigm"], {}).get(metric, {}).get("mean")
            if old is None:
                continue
            change = (figure["mean"] if figure["mean"] is not None else -1.0) - old
            if (-change if find_metric(metric).less_is_better else change) < -tolerance:
                found.append(f"{row['paradigm']}: {metric} went from {old:.3f} to {old + change:.3f}")
    return found
