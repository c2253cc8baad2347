"""Everything a report shows as one value: what JSON has, Markdown tells and the page draws.

Figures stay dataclasses. Questions with their answers are plain data, cut to what can be shown: each piece of evidence
stands once, however many answers rest on it, and answers name it by its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ragways.core import __version__
from ragways.core.plain import to_plain
from ragways.evaluation.metric import Metric
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.question import Gold
from ragways.evaluation.record import EvidenceItem, Record
from ragways.evaluation.report.agreement import RunAgreement, label_section
from ragways.evaluation.report.comparisons import (
    TELLING,
    ComparisonSection,
    best_of,
    comparison_section,
    telling_first,
    verdict,
)
from ragways.evaluation.report.runs import RunSummary, read_runs, run_summary
from ragways.evaluation.report.sections import (
    COSTS,
    BreakEvenSection,
    RunDuels,
    Timeline,
    ToolCalls,
    break_even_section,
    duel_section,
    known_costs,
    report_usage,
    timeline_of,
    tool_section,
)
from ragways.evaluation.resources.sampler import samples_of
from ragways.evaluation.resources.usage import ParadigmUsage
from ragways.evaluation.routing.evaluate import RouterEvaluation, evaluate_router
from ragways.evaluation.routing.learn import FitSettings
from ragways.evaluation.routing.outcomes import gather
from ragways.evaluation.routing.told import evaluation_data
from ragways.evaluation.routing.tuning import USUAL_TRADE, usual_quality
from ragways.evaluation.score import Gap, ParadigmScores, Scored, gaps, score

EVIDENCE = 2000
"""Characters shown of a piece of evidence."""
ANSWER = 20_000
ALL_EVIDENCE = 24_000_000
"""Characters of all pieces together: past that each is cut shorter, so that a report can still be opened."""
SHORTEST = 200
MISSING = {
    "comparisons": "there is one paradigm, and nothing to compare it with: ragways eval run --paradigms NAME,NAME",
    "timeline": "CPU and memory were not sampled in this run: they are when it is made with ragways eval run",
    "tools": "no answer called a tool: only agents do (ragways eval run --paradigms agent)",
    "labels": "no person has labelled an answer: ragways eval label RUN",
    "duels": "no duel was run: ragways eval duel RUN",
    "breakevens": "no layer or answer cost a token, or there is one paradigm: ragways eval run --paradigms NAME,NAME",
}
"""Why a section is not there, and how to get it."""
_BOUNDED = ("questions", "pieces", "evidence_cut_at")
"""Fields that are plain data already."""
_DETAIL = 600
_DETAILS = 40
_DEEP = 4
_NAMED = 8
_USAGE = ("calls", "input", "output", "reasoning", "usd", "evidence")


@dataclass(frozen=True)
class ReportRow(ParadigmScores):
    """The scores of a paradigm, what it used with its share of the index, and a figure for each known `cost`."""

    cost: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is."""

    name: str
    family: str
    summary: str
    less_is_better: bool
    advisory: bool


@dataclass(frozen=True)
class EvaluationReport:
    """One or more runs side by side.

    `verdict` says in a sentence or two what to use. `main` are the metrics that are shown first, `costs` the kinds of
    cost that tell paradigms apart, with their words; `best` says by metric which paradigms are best. `missing` says of
    each section that is not there why, and how to get it; `routing` is there where it was asked for. `questions` hold
    all answers, whose evidence is named by its place in `pieces`.
    """

    ragways: str
    verdict: str
    runs: tuple[RunSummary, ...]
    asked: int
    notes: tuple[str, ...]
    paradigms: tuple[str, ...]
    types: tuple[str, ...]
    metrics: tuple[MetricInfo, ...]
    main: tuple[str, ...]
    costs: Mapping[str, str]
    rows: tuple[ReportRow, ...]
    gaps: tuple[Gap, ...]
    best: Mapping[str, list[str]]
    comparisons: ComparisonSection | None
    timeline: tuple[Timeline, ...]
    tools: tuple[ToolCalls, ...]
    labels: tuple[RunAgreement, ...]
    duels: tuple[RunDuels, ...]
    breakevens: BreakEvenSection | None
    missing: Mapping[str, str]
    questions: Sequence[Mapping[str, Any]]
    pieces: Sequence[Mapping[str, Any]]
    evidence_cut_at: int
    routing: RouterEvaluation | None = None

    def to_plain(self) -> dict[str, Any]:
        """For JSON and the page: without the sections that are missing, and no more digits than anyone reads."""
        figures = [one.name for one in fields(self) if one.name not in (*_BOUNDED, *self.missing, "routing")]
        plain: dict[str, Any] = _rounded({name: to_plain(getattr(self, name)) for name in figures})
        routing = {"routing": _rounded(evaluation_data(self.routing))} if self.routing is not None else {}
        return plain | routing | {name: getattr(self, name) for name in _BOUNDED}


def evaluation_report(folders: Sequence[Path], *, baseline: str = "", routing: bool = False) -> EvaluationReport:
    """The report on the runs in these folders. `baseline`: compare all paradigms with this one, not every pair.

    `routing`: also hold a router against the paradigms, which takes some seconds. UsageError where that cannot be done.
    """
    routed = _routing(folders) if routing else None
    runs = read_runs(folders)
    rows = [row for run in runs for row in run.rows]
    metrics = telling_first([find_metric(name) for name in dict.fromkeys(name for row in rows for name in row.values)])
    main = [metric for metric in metrics if metric.name in TELLING]
    scores, used = score(rows), report_usage(runs)
    costs = {name: known_costs(own) for name, own in used.items()}
    comparisons = comparison_section(rows, metrics, baseline=baseline)
    lines = (timeline_of(list(samples_of(run.folder)), run.paradigms, run=run.name) for run in runs)
    sections: dict[str, Any] = {
        "comparisons": comparisons,
        "timeline": tuple(line for line in lines if line is not None),
        "tools": tool_section(rows),
        "labels": label_section(runs),
        "duels": duel_section(runs),
        "breakevens": break_even_section(runs, main[0] if main else None),
    }
    # Where all are free, nothing is to be weighed against a kind of cost.
    kinds = {name: words for name, words in COSTS.items() if any(own.get(name) for own in costs.values())}
    return EvaluationReport(
        ragways=__version__,
        verdict=verdict(scores, comparisons.tables if comparisons is not None else (), costs, kinds),
        runs=tuple(map(run_summary, runs)),
        asked=len({row.record.question for row in rows}),
        notes=_notes(rows),
        paradigms=tuple(dict.fromkeys(row.record.paradigm for row in rows)),
        types=tuple(sorted({type for row in scores for type in row.by_type})),
        metrics=tuple(map(_metric_info, metrics)),
        main=tuple(metric.name for metric in main),
        costs=kinds,
        rows=tuple(_report_row(row, used[row.paradigm], costs[row.paradigm]) for row in scores),
        gaps=tuple(gaps(scores)),
        best=best_of(scores, comparisons.tables if comparisons is not None else ()),
        **sections,
        missing={name: why for name, why in MISSING.items() if not sections[name]},
        routing=routed,
        **_questions(rows),
    )


def _routing(folders: Sequence[Path]) -> RouterEvaluation:
    outcomes = gather(folders, quality=usual_quality(folders), common=True)
    return evaluate_router(outcomes, FitSettings(trade=USUAL_TRADE["tokens"]))


def _report_row(row: ParadigmScores, used: ParadigmUsage, cost: Mapping[str, float]) -> ReportRow:
    return ReportRow(
        row.paradigm, row.records, row.questions, row.repeats, row.failed, row.failed_questions, row.metrics,
        row.by_type, used, cost,
    )  # fmt: skip


def _metric_info(metric: Metric) -> MetricInfo:
    return MetricInfo(metric.name, metric.family, metric.summary, metric.less_is_better, metric.advisory)


def _notes(rows: Sequence[Scored]) -> tuple[str, ...]:
    """What a reader must know before setting one mean beside another."""
    asked: dict[str, set[str]] = {}
    for row in rows:
        asked.setdefault(row.record.paradigm, set()).add(row.record.question)
    every = set().union(*asked.values())
    few = [f"{name} {len(some):,}" for name, some in asked.items() if len(some) < len(every)]
    if not few:
        return ()
    more = f" and {len(few) - _NAMED} more" if len(few) > _NAMED else ""
    return (
        f"Not every paradigm was asked all {len(every):,} questions ({', '.join(few[:_NAMED])}{more}): their means are "
        "over different questions. Comparisons take only those that both were asked.",
    )


def _rounded(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


# Questions and answers


def _questions(rows: Sequence[Scored]) -> dict[str, Any]:
    """`questions`, whose answers name their evidence by its place in `pieces`; each piece stands there once."""
    pieces = _Pieces()
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        record = row.record
        question = found.setdefault(record.question, {
            "id": record.question, "text": cut(record.text, ANSWER), "type": record.type,
            "gold": [cut(gold, ANSWER) for gold in record.gold], "wanted": [_wanted(gold) for gold in record.wanted],
            "answers": [],
        })  # fmt: skip
        question["answers"].append(_answer(row, pieces))
    length = pieces.length
    return {"questions": list(found.values()), "pieces": pieces.data(length), "evidence_cut_at": length}


class _Pieces:
    """Pieces of evidence, each once, however many answers rest on it."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._pieces: list[EvidenceItem] = []

    def place(self, piece: EvidenceItem) -> int:
        key = piece.id, piece.text
        if key not in self._places:
            self._places[key] = len(self._pieces)
            self._pieces.append(piece)
        return self._places[key]

    @property
    def length(self) -> int:
        """So many characters of each can be shown."""
        return EVIDENCE if not self._pieces else max(SHORTEST, min(EVIDENCE, ALL_EVIDENCE // len(self._pieces)))

    def data(self, length: int) -> list[dict[str, Any]]:
        return [
            {name: value for name in ("id", "kind", "title", "date") if (value := getattr(piece, name))}
            | {"text": cut(piece.text, length)}
            for piece in self._pieces
        ]


def cut(text: str, length: int) -> str:
    """The beginning, and how much is not shown."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def _answer(row: Scored, pieces: _Pieces) -> dict[str, Any]:
    record = row.record
    said: dict[str, Any] = {
        "paradigm": record.paradigm,
        "repeat": record.repeat,
        "answer": cut("\n\n".join(filter(None, (record.answer, record.explanation))), ANSWER),
        "values": {name: _round(score.value) for name, score in row.values.items() if score.value is not None},
        "seconds": round(record.seconds, 3),
    }
    more: dict[str, Any] = {
        "why": {} if record.error else {name: one.why for name, one in row.values.items() if one.value is None},
        "details": _details(row),
        "error": cut(record.error, EVIDENCE),
        "abstained": record.abstained,
        "way": record.way,
        "ranks": list(record.ranks),
        "evidence": [[pieces.place(one), _round(one.score)] for one in record.evidence],
        "cited": _cited(record),
        "usage": {name: _round(value) for name in _USAGE if (value := getattr(record.usage, name))},
        "tools": record.tools,
    }
    return said | {name: value for name, value in more.items() if value}


def _wanted(gold: Gold) -> dict[str, Any]:
    return {name: _plain(text) for name, text in to_plain(gold).items() if text}


def _details(row: Scored) -> list[dict[str, Any]]:
    """What judges said, once for all metrics that came of it."""
    found: list[tuple[list[str], Mapping[str, Any]]] = []
    for name, own in row.values.items():
        if own.details and found and found[-1][1] == own.details:
            found[-1][0].append(name)
        elif own.details:
            found.append(([name], own.details))
    return [{"metrics": names, "said": _plain(details)} for names, details in found]


def _cited(record: Record) -> list[int]:
    """Numbers of the evidence, from 1, that the answer rests on."""
    named = {citation.piece for citation in record.citations}
    return [number for number, piece in enumerate(record.evidence, start=1) if piece.id in named]


def _round(value: object) -> float | None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, 4)


def _plain(value: object, deep: int = 0) -> Any:  # noqa: ANN401
    """What a judge left behind, within bounds: it may hold whatever a model said."""
    if isinstance(value, str):
        return cut(value, _DETAIL)
    if deep == _DEEP:
        return "…"
    if isinstance(value, Mapping):
        kept = {cut(str(key), 80): _plain(item, deep + 1) for key, item in list(value.items())[:_DETAILS]}
        return kept | ({"…": f"{len(value) - _DETAILS:,} more"} if len(value) > _DETAILS else {})
    if isinstance(value, list | tuple):
        shown = [_plain(item, deep + 1) for item in value[:_DETAILS]]
        return shown + ([f"… {len(value) - _DETAILS:,} more"] if len(value) > _DETAILS else [])
    return _round(value) if isinstance(value, float) else value
