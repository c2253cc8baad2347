"""A gate for continuous integration: does a run reach what is required, and is it no worse than an earlier one?"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragways.core.errors import UsageError, did_you_mean
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Record
from ragways.evaluation.score import MetricScore, ParadigmScores

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
# A metric's name has no colon, so what stands before the last one is the paradigm, whatever its own name and settings.
_REQUIREMENT = re.compile(r"\s*(?:(.+):)?([\w@ -]+?)\s*(>=|<=|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*")
_ROUNDING = 1e-9

QuestionTexts = Mapping[str, Mapping[str, str]]
"""By paradigm, the questions it was asked: ids and their texts."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """`accuracy>=0.8`, of every paradigm of the run; `fused:recall@5>=0.9` or `naive[k=20]:crag-fine>-0.2`, of one."""

    paradigm: str
    metric: str
    sign: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        match = _REQUIREMENT.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r} is not a requirement", "write it as accuracy>=0.8 or fused:recall@5>=0.9")
        return cls((match[1] or "").strip(), match[2].strip(), match[3], float(match[4]))

    @property
    def required(self) -> Metric:
        """The metric that is meant; UsageError where there is none of this name."""
        return find_metric(self.metric)

    def misses(self, rows: Sequence[ParadigmScores]) -> list[str]:
        """In words, each paradigm that does not reach it. Unscored is a miss: nothing was shown."""
        if not rows:
            raise UsageError("the run holds no record", "make some with: ragways eval run")
        chosen = [row for row in rows if self.paradigm in ("", row.paradigm)]
        if not chosen:
            known = [row.paradigm for row in rows]
            raise UsageError(f"the run has no paradigm {self.paradigm!r}", did_you_mean(self.paradigm, known))
        found = []
        for row in chosen:
            mean = row.metrics.get(self.required.name, MetricScore()).mean
            if mean is None:
                found.append(f"{row.paradigm}: {self.metric} is unscored")
            elif not _SIGNS[self.sign](mean, self.value):
                found.append(f"{row.paradigm}: {self.metric} is {mean:.3f}, required {self.sign} {self.value:g}")
        return found


def question_texts(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """By paradigm, the questions that it was asked: ids and their texts."""
    found: dict[str, dict[str, str]] = {}
    for record in records:
        found.setdefault(record.paradigm, {})[record.question] = record.text
    return found


def unlike(now: QuestionTexts, before: QuestionTexts) -> dict[str, str]:
    """By paradigm that both runs have, in words how its questions differ. Means over other questions say nothing."""
    found = {}
    for paradigm in before.keys() & now.keys():
        mine, theirs = now[paradigm], before[paradigm]
        counts = (
            (len(theirs.keys() - mine.keys()), "gone"),
            (len(mine.keys() - theirs.keys()), "new"),
            (sum(mine[id] != theirs[id] for id in mine.keys() & theirs.keys()), "with another text"),
        )
        if said := ", ".join(f"{count:,} {how}" for count, how in counts if count):
            found[paradigm] = f"other questions than in the earlier run ({said}), so that the two cannot be compared"
    return found


def worse(
    rows: Sequence[ParadigmScores],
    baseline: Sequence[ParadigmScores],
    tolerance: float,
    *,
    unlike: Mapping[str, str] | None = None,
) -> list[str]:
    """In words, each metric of each paradigm of the baseline that fell by more than the tolerance, or that is gone.

    `unlike`: paradigms whose questions differ, and how; their figures are not compared.
    """
    if not baseline:
        raise UsageError("the earlier run holds no record", "name a run that does: --no-worse-than RUN")
    now = {row.paradigm: row.metrics for row in rows}
    found = []
    for row in baseline:
        paradigm = row.paradigm
        if paradigm not in now:
            found.append(f"{paradigm} is not in this run")
        elif unlike and paradigm in unlike:
            found.append(f"{paradigm}: {unlike[paradigm]}")
        else:
            found += [f"{paradigm}: {miss}" for miss in _fallen(now[paradigm], row.metrics, tolerance)]
    return found


def _fallen(now: Mapping[str, MetricScore], before: Mapping[str, MetricScore], tolerance: float) -> list[str]:
    found = []
    for metric, figure in before.items():
        old = figure.mean
        if old is None:
            continue
        if metric not in now:
            found.append(f"{metric} was {old:.3f} and is not in this run")
            continue
        new = now[metric].mean
        if new is None:
            found.append(f"{metric} was {old:.3f} and is now unscored")
            continue
        gain = old - new if find_metric(metric).less_is_better else new - old
        if gain < -tolerance - _ROUNDING:
            found.append(f"{metric} went from {old:.3f} to {new:.3f}")
    return found
