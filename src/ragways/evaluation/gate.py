"""A gate for continuous integration: does a run reach what is required, and is it no worse than an earlier one?

Two runs of a system that did not change differ by chance. So a metric fails the gate only where it was shown to have
fallen by more than its margin, in pairs by question and corrected for the number of comparisons. It passes where it was
shown to have fallen by less. Between the two lies "undecided": the questions are too few for that margin. Without a
margin a metric passes unless a fall is shown, and the check says how large a fall is ruled out.
"""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.table import Table
from ragways.core.text import counted, printable
from ragways.evaluation.metric import SIGNED, deciding
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Record, Run
from ragways.evaluation.score import score_records, scored
from ragways.evaluation.statistics.comparison import Comparison, compare
from ragways.evaluation.statistics.inference import ALPHA, holm
from ragways.evaluation.statistics.values import Values, gather, source_documents

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
# A metric's name has no colon, so what stands before the last one is the paradigm, whatever its own name and settings.
_REQUIREMENT = re.compile(r"\s*(?:(.+):)?([\w@ -]+?)\s*(>=|<=|>|<)\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*")
LEAST = 20
"""Questions that two runs must share at least: with fewer, hardly any fall could be shown."""
COSTS = {"usd": "usd", "tokens": "tokens", "seconds": "seconds", "seconds-p95": "seconds_p95", "spent": "spent"}
"""What can be limited beside metrics: means of an answer, a percentile, and the USD that all answers took."""
BEYOND = "no change beyond"
Outcome = Literal["passed", "undecided", "failed"]


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One check of one paradigm; `words` say what came out."""

    paradigm: str
    name: str
    outcome: Outcome
    words: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of a gate. `strict`: what is undecided does not pass either."""

    checks: tuple[GateCheck, ...]
    strict: bool = False

    @property
    def misses(self) -> tuple[GateCheck, ...]:
        """What keeps the run from passing."""
        missing = ("failed", "undecided") if self.strict else ("failed",)
        return tuple(check for check in self.checks if check.outcome in missing)

    @property
    def passed(self) -> bool:
        return not self.misses

    def __str__(self) -> str:
        if self.misses:
            return f"not passed: {'; '.join(f'{one.paradigm}: {one.words}' for one in self.misses)}"
        counts = Counter(check.outcome for check in self.checks)
        parts = [f"passed: {counted(counts['passed'], 'check')}"]
        if counts["undecided"]:
            parts.append(
                f"{counts['undecided']:,} undecided (a fall beyond the margin was neither shown nor ruled out)"
            )
        beyond = [f"{check.paradigm}: {check.words}" for check in self.checks if BEYOND in check.words]
        return "; ".join([", ".join(parts), *beyond])

    def junit(self) -> str:
        """The checks as JUnit's XML; what is undecided and passes is skipped there."""
        suite = ElementTree.Element("testsuite", name="ragways gate", tests=str(len(self.checks)))
        for check in self.checks:
            case = ElementTree.SubElement(suite, "testcase", classname=printable(check.paradigm), name=check.name)
            if check in self.misses:
                ElementTree.SubElement(case, "failure", message=printable(check.words))
            elif check.outcome == "undecided":
                ElementTree.SubElement(case, "skipped", message=printable(check.words))
        suite.set("failures", str(len(self.misses)))
        suite.set("skipped", str(len(suite.findall("*/skipped"))))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def gate(
    run: Path,
    *,
    require: Sequence[str] = (),
    no_worse_than: Path | None = None,
    metrics: Mapping[str, float] | None = None,
    margin: float = 0.0,
    least: int = LEAST,
    strict: bool = False,
) -> GateResult:
    """Check a run: failures, what is required (`accuracy>=0.8`, `fused:tokens<=3000`), and the fall since another run.

    `metrics`: those that must not have fallen, each with its margin; without it all that the other run has but advisory
    ones, with `margin`. Fewer than `least` questions in common do not pass. Raises UsageError where a run holds no
    record, a name is wrong, or a metric is advisory.
    """
    wanted = [Requirement.parse(text) for text in require]
    chosen = {deciding(find_metric(name)): value for name, value in (metrics or {}).items()}
    more = [*chosen, *(deciding(find_metric(one.metric)) for one in wanted if one.metric not in COSTS)]
    now = scored(Run(run), *more)
    if not now:
        raise UsageError(f"{run} holds no record", "make some with: ragways eval run")
    tables = score_records(now)
    checks = [check for one in wanted for check in one.checks(tables)]
    for paradigm, failed in tables["paradigms"].only("paradigm", "failed").rows:
        words = f"{counted(int(failed or 0), 'answer')} failed"
        checks.append(GateCheck(str(paradigm), "answers", "failed" if failed else "passed", words))
    if no_worse_than is not None:
        before = scored(Run(no_worse_than), *more)
        margins = {metric.name: value for metric, value in chosen.items()}
        checks += no_worse(now, before, margins=margins, margin=margin, least=least)
    return GateResult(tuple(checks), strict)


# What is required


@dataclass(frozen=True, slots=True)
class Requirement:
    """`accuracy>=0.8`, of every paradigm of the run; `fused:recall@5>=0.9` or `naive[k=20]:tokens<3000`, of one."""

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

    def checks(self, tables: Mapping[str, Table]) -> list[GateCheck]:
        """A check of each paradigm, or of the one that is named. Unscored is a miss: nothing was shown."""
        known = tables["paradigms"].column("paradigm")
        if self.paradigm and self.paradigm not in known:
            raise UsageError(f"the run has no paradigm {self.paradigm!r}", did_you_mean(self.paradigm, known))
        return [self._check(tables, name) for name in known if self.paradigm in ("", name)]

    def _check(self, tables: Mapping[str, Table], paradigm: str) -> GateCheck:
        cost = COSTS.get(self.metric)
        found = (
            tables["costs"].cell(cost, paradigm=paradigm)
            if cost
            else _mean(tables, paradigm, deciding(find_metric(self.metric)).name)
        )
        name = f"{self.metric} {self.sign} {self.value:g}"
        if found is None:
            return GateCheck(paradigm, name, "failed", f"{self.metric} is unscored")
        # A mean of equal values may be a hair off.
        reached = "=" in self.sign if math.isclose(found, self.value) else _SIGNS[self.sign](found, self.value)
        words = f"{self.metric} is {format(found, '.6g' if cost else '.3f')}, required {self.sign} {self.value:g}"
        return GateCheck(paradigm, name, "passed" if reached else "failed", words)


def _mean(tables: Mapping[str, Table], paradigm: str, metric: str) -> float | None:
    mean: float | None = tables["figures"].cell("mean", metric=metric, paradigm=paradigm, type="")
    return mean


# No worse than an earlier run


@dataclass(frozen=True, slots=True)
class Margin:
    """By how much a metric of a paradigm may fall."""

    paradigm: str
    metric: str
    value: float = 0.0
    less_is_better: bool = False


def no_worse(
    now: Sequence[Record],
    before: Sequence[Record],
    *,
    margins: Mapping[str, float] | None = None,
    margin: float = 0.0,
    least: int = LEAST,
) -> list[GateCheck]:
    """A check for each metric of each paradigm of the earlier run. Runs over other questions, or over the same ones
    with other gold, are not compared, and do not pass.
    """
    if not before:
        raise UsageError("the earlier run holds no record", "name a run that does: --no-worse-than RUN")
    mine, theirs = score_records(now), score_records(before)
    other = unlike(now, before)
    checks: list[GateCheck] = []
    pairs = {}
    known = list(dict.fromkeys(theirs["figures"].column("metric")))
    for paradigm in theirs["paradigms"].column("paradigm"):
        questions = theirs["paradigms"].cell("questions", paradigm=paradigm)
        if paradigm not in mine["paradigms"].column("paradigm"):
            checks.append(GateCheck(paradigm, "same paradigms", "failed", "it is not in this run"))
        elif paradigm in other:
            checks.append(GateCheck(paradigm, "same questions", "failed", other[paradigm]))
        elif questions < least:
            words = f"{questions:,} questions are too few to compare with the earlier run: {least:,} are needed"
            checks.append(GateCheck(paradigm, "least questions", "failed", words))
        else:
            for name in margins or [name for name in known if not find_metric(name).advisory]:
                was, is_now = (_mean(tables, paradigm, name) for tables in (theirs, mine))
                if was is not None and is_now is None:
                    checks.append(
                        GateCheck(paradigm, f"{name} no worse", "failed", f"{name} was {was:.3f} and is now unscored")
                    )
                elif was is not None:
                    value = (margins or {}).get(name, margin)
                    one = Margin(paradigm, name, value, deciding(find_metric(name)).less_is_better)
                    pairs[one] = (gather(now, name)[paradigm], gather(before, name)[paradigm])
                elif margins:
                    words = f"{name} was unscored in the earlier run"
                    checks.append(GateCheck(paradigm, f"{name} no worse", "failed", words))
    return checks + compare_margins(pairs, source_documents(before))


def unlike(now: Iterable[Record], before: Iterable[Record]) -> dict[str, str]:
    """By paradigm that both runs have, in words how its questions differ. Means over other questions say nothing."""
    mine, theirs = _asked(now), _asked(before)
    found = {}
    for paradigm in theirs.keys() & mine.keys():
        new, old = mine[paradigm], theirs[paradigm]
        shared = new.keys() & old.keys()
        counts = (
            (len(old.keys() - new.keys()), "gone"),
            (len(new.keys() - old.keys()), "new"),
            (sum(new[id].text != old[id].text for id in shared), "with another text"),
            (sum((new[id].gold, new[id].wanted) != (old[id].gold, old[id].wanted) for id in shared), "with other gold"),
        )
        if differing := ", ".join(f"{count:,} {how}" for count, how in counts if count):
            found[paradigm] = (
                f"other questions than in the earlier run ({differing}), so that the two cannot be compared"
            )
    return found


def _asked(records: Iterable[Record]) -> dict[str, dict[str, Record]]:
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        found.setdefault(record.paradigm, {})[record.question] = record
    return found


def compare_margins(
    pairs: Mapping[Margin, tuple[Values, Values]],
    documents: Mapping[str, tuple[str, ...]] | None = None,
    *,
    alpha: float = ALPHA,
) -> list[GateCheck]:
    """A check for each margin, of the values now and before. All together raise a false alarm with a chance of `alpha`
    at most; a fall of more than its margin passes with that chance at most.
    """
    found = {
        # Turned round where less is better, so that a fall is always below 0.
        one: compare(
            *((before, now) if one.less_is_better else (now, before)),
            level=1 - 2 * alpha,
            documents=documents,
            span=(-1.0, 1.0) if one.metric in SIGNED else None,
            failure=1.0 if one.less_is_better else 0.0,
            beyond=-one.value,
        )
        for one, (now, before) in pairs.items()
    }
    falls = [
        (fall.p or 1.0) / 2 if (fall.most or 0.0) < -one.value else 1.0 for one, fall in found.items()
    ]  # one-sided
    return [_fallen(one, found[one], p, alpha) for one, p in zip(found, holm(falls), strict=True)]


def _fallen(one: Margin, found: Comparison, p: float, alpha: float) -> GateCheck:
    name = f"{one.metric} no worse" + (f" by {one.value:g}" if one.value else "")
    if found.mean_a is None or found.mean_b is None:
        words = f"{one.metric} has no question that both runs scored"
        return GateCheck(one.paradigm, name, "failed", words)
    was, is_now = (found.mean_a, found.mean_b) if one.less_is_better else (found.mean_b, found.mean_a)
    words = f"{one.metric} went from {was:.3f} to {is_now:.3f}"
    low, high = found.low, found.high
    outcome: Outcome = "passed"
    if low is None or high is None:  # all questions changed alike, or not at all
        outcome = "failed" if p <= alpha else "passed"
    elif p <= alpha and high < -one.value:
        outcome, words = "failed", f"{words} (a fall between {-high:.3f} and {-low:.3f}, margin {one.value:g})"
    elif low <= -one.value and (one.value or found.depends):
        words += f", {found.one_sided:,} questions lack a value, more on one side" if found.depends else ""
        outcome, words = "undecided", f"{words} (a gain between {low:+.3f} and {high:+.3f}, margin {one.value:g})"
    elif low <= 0 and found.wins + found.losses:
        words = f"{words}, {BEYOND} {max(-low, high):.3f}" if not one.value else words
    return GateCheck(one.paradigm, name, outcome, words)
