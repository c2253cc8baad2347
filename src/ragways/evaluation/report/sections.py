"""The sections of a report, from the runs alone: costs, break-evens, duels, the machine's load, tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from ragways.evaluation.duel.entries import AlignedLog, DuelRules, duel_entries
from ragways.evaluation.duel.replies import DuelJudge, DuelReplies, DuelReply, times_asked
from ragways.evaluation.duel.result import DuelResult, duel_result
from ragways.evaluation.duel.selftest import SelfTestRuns
from ragways.evaluation.metric import Metric
from ragways.evaluation.report.comparisons import compare_scored
from ragways.evaluation.report.runs import ReportedRun
from ragways.evaluation.resources.sampler import ResourceSample, samples_of
from ragways.evaluation.resources.usage import ParadigmUsage, usage
from ragways.evaluation.resources.worth import BreakEven, break_evens
from ragways.evaluation.score import Scored

COSTS = {
    "tokens": "tokens per answer",
    "usd": "US dollars per answer",
    "cpu": "CPU seconds per answer",
    "seconds": "seconds per answer (median)",
    "evidence": "tokens of evidence per answer",
    "tokens_with_index": "tokens per answer with its share of the index",
    "usd_with_index": "US dollars per answer with its share of the index",
}
"""The first that is known is shown first. CPU stands before seconds, which hang on what else the machine did."""
POINTS = 800
"""Points of a timeline."""
PAUSE = 60.0
"""Seconds without a sample after which the run was stopped and went on later: that time is not drawn."""


# Costs


def report_usage(runs: Sequence[ReportedRun]) -> dict[str, ParadigmUsage]:
    """What the answers of each paradigm took, with its share of what building the index of its run cost."""
    found = {}
    for run in runs:
        info = run.info
        built = info.construction if info is not None and info.construction else None
        for name, used in usage(run.records, built=built, samples=samples_of(run.folder)).items():
            found[run.paradigms[name]] = replace(used, paradigm=run.paradigms[name])
    return found


def known_costs(used: ParadigmUsage) -> dict[str, float]:
    """A figure for each kind of cost that is known."""
    full = used.with_construction
    cost = {
        "tokens": used.total.tokens,
        "usd": used.total.usd,
        "seconds": used.seconds_p50,
        "cpu": used.cpu,
        "evidence": used.evidence,
        "tokens_with_index": full.tokens if full is not None else None,
        "usd_with_index": full.usd if full is not None else None,
    }
    return {name: value for name, value in cost.items() if value is not None}


@dataclass(frozen=True)
class RunBreakEven(BreakEven):
    """A break-even in one of the runs."""

    run: str = ""


@dataclass(frozen=True, slots=True)
class BreakEvenSection:
    """After how many questions a layer has paid for itself, soonest first in each run; quality is by `metric`."""

    metric: str
    lines: tuple[RunBreakEven, ...]


def break_even_section(runs: Sequence[ReportedRun], metric: Metric | None) -> BreakEvenSection | None:
    """None where nothing was paid for: then every layer pays from the first question."""
    if metric is None:
        return None
    lines = tuple(line for run in runs for line in _break_evens(run, metric))
    return BreakEvenSection(metric.name, lines) if lines else None


def _break_evens(run: ReportedRun, metric: Metric) -> list[RunBreakEven]:
    info = run.info
    uses = usage(run.records, built=info.construction if info is not None else None)
    any_cost = any(used.total.tokens or (used.construction and used.construction.tokens) for used in uses.values())
    if info is None or not info.construction or not any_cost or len(uses) < 2:
        return []
    named = {run.paradigms[name]: replace(used, paradigm=run.paradigms[name]) for name, used in uses.items()}
    compared = compare_scored(run.rows, metric)
    return [
        RunBreakEven(**_values(even), run=run.name) for even in break_evens(named, compared.rows, info.construction)
    ]


def _values(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass, to make one that extends it
    return {one.name: getattr(value, one.name) for one in fields(value)}


# Duels


@dataclass(frozen=True)
class RunDuels(DuelResult):
    """The duels of one of the runs."""

    run: str = ""


def duel_section(runs: Sequence[ReportedRun]) -> tuple[RunDuels, ...]:
    """The duels of the runs, from the judge's replies alone: one result for each judge, mode and prompt."""
    return tuple(_named(result, run) for run in runs for result in _duels(run))


def _duels(run: ReportedRun) -> Iterator[DuelResult]:
    by: dict[DuelJudge, list[DuelReply]] = {}
    for reply in DuelReplies(run.folder):
        by.setdefault(DuelJudge(reply.judge, reply.prompt, reply.mode), []).append(reply)
    known = {record.paradigm for record in run.records}
    for judge, replies in by.items():
        fought = [reply for reply in replies if reply.kind == "duel"]
        names = sorted({name for reply in fought or replies for name in (reply.a, reply.b)} & known)
        if len(names) < 2:
            continue
        # As it was drawn when the judge was tested: another seed would draw a test that was never made.
        tests = SelfTestRuns(run.folder).of(judge)
        trials, samples = times_asked(replies)
        rules = replace(tests[-1].rules if tests else DuelRules(mode=judge.mode), trials=trials, samples=samples)
        entries = duel_entries(run.records, rules, names, limit=_duel_limit(run, fought))
        yield duel_result(entries, run.folder, judge, rules)


def _duel_limit(run: ReportedRun, fought: Sequence[DuelReply]) -> int | None:
    """A duel over the first questions alone is not an unfinished one over all."""
    if not fought:
        return None
    asked = {reply.question for reply in fought} | {aligned.question for aligned in AlignedLog(run.folder)}
    order = list(dict.fromkeys(record.question for record in run.records))
    return max((place for place, question in enumerate(order, start=1) if question in asked), default=None)


def _named(result: DuelResult, run: ReportedRun) -> RunDuels:
    """As the paradigms are called in the report."""
    name = run.paradigms
    pairs = tuple(
        replace(
            pair,
            a=name[pair.a],
            b=name[pair.b],
            rewritten={name[own]: count for own, count in pair.rewritten.items()},
            verdict=replace(pair.verdict, winner=name.get(pair.verdict.winner, "")),
        )
        for pair in result.pairs
    )
    heat_map = replace(result.map, names=tuple(name[one] for one in result.map.names))
    return RunDuels(**_values(replace(result, pairs=pairs, map=heat_map)), run=run.name)


# The machine's load, and tools


@dataclass(frozen=True, slots=True)
class LabelLoad:
    """What one paradigm took of the machine; `cores`: CPU seconds a second; `memory`: bytes at most."""

    paradigm: str
    seconds: float
    cpu: float
    cores: float
    memory: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """CPU and memory over the time of a run. A point is the second it ends at, the paradigm, cores and bytes."""

    seconds: float
    points: tuple[tuple[float, str, float, int], ...]
    by_paradigm: tuple[LabelLoad, ...]
    run: str = ""


@dataclass
class _Stretch:
    """What lies between two samples, or several such together, under one label."""

    label: str
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def add(self, wall: float, cpu: float, memory: int) -> None:
        self.wall += wall
        self.cpu += cpu
        self.memory = max(self.memory, memory)

    @property
    def cores(self) -> float:
        return round(self.cpu / self.wall, 3) if self.wall else 0.0


def timeline_of(
    samples: Sequence[ResourceSample], names: Mapping[str, str], *, run: str = "", limit: int = POINTS
) -> Timeline | None:
    """Few enough points to draw, each under the paradigm that was at work; None where nothing was sampled."""
    steps = list(_steps(samples))
    total = sum(wall for _, wall, _, _ in steps)
    if not total:
        return None
    stretches: list[_Stretch] = []
    for label, wall, cpu, memory in steps:
        if not stretches or stretches[-1].label != label or stretches[-1].wall >= total / limit:
            stretches.append(_Stretch(label))
        stretches[-1].add(wall, cpu, memory)
    at, points = 0.0, []
    for one in stretches:
        at += one.wall
        points.append((round(at, 2), names.get(one.label, one.label), one.cores, one.memory))
    return Timeline(round(total, 2), tuple(points), _by_label(stretches, names), run)


def _steps(samples: Sequence[ResourceSample]) -> Iterator[tuple[str, float, float, int]]:
    """Label, seconds, CPU seconds and memory between each two samples of one process."""
    for before, after in pairwise(samples):
        wall, cpu = after.at - before.at, after.cpu - before.cpu
        if 0 < wall <= PAUSE and cpu >= 0:
            yield after.label, wall, cpu, after.memory


def _by_label(stretches: Sequence[_Stretch], names: Mapping[str, str]) -> tuple[LabelLoad, ...]:
    whole: dict[str, _Stretch] = {}
    for one in stretches:
        whole.setdefault(one.label, _Stretch(one.label)).add(one.wall, one.cpu, one.memory)
    return tuple(
        LabelLoad(names.get(label, label), round(one.wall, 2), round(one.cpu, 2), one.cores, one.memory)
        for label, one in whole.items()
    )


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Calls of each tool by one paradigm, in all of its answers. `distribution[tool][n]` answers called it n times."""

    paradigm: str
    answers: int
    calls: Mapping[str, int]
    distribution: Mapping[str, tuple[int, ...]]


def tool_section(rows: Sequence[Scored]) -> tuple[ToolCalls, ...]:
    """Of the paradigms that called any."""
    answers: dict[str, list[Mapping[str, int]]] = {}
    for row in rows:
        if not row.record.error:
            answers.setdefault(row.record.paradigm, []).append(row.record.tools)
    found = []
    for paradigm, called in answers.items():
        tools = sorted({tool for one in called for tool in one})
        times = {tool: Counter(one.get(tool, 0) for one in called) for tool in tools}
        spread = {tool: tuple(own[n] for n in range(max(own) + 1)) for tool, own in times.items()}
        total = {tool: sum(n * answers for n, answers in own.items()) for tool, own in times.items()}
        found += [ToolCalls(paradigm, len(called), total, spread)] if tools else []
    return tuple(found)
