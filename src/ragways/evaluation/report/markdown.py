"""The report as Markdown: the same tables in words and figures, and every question where they are wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragways.core.table import Cell, Column, Table, markdown_text
from ragways.core.text import counted
from ragways.evaluation.duel.figures import BoxPlot
from ragways.evaluation.report.data import EvaluationReport, MetricInfo, ReportRow
from ragways.evaluation.resources.worth import pareto
from ragways.evaluation.routing.told import evaluation_in_words, evaluation_tables
from ragways.evaluation.score import MetricScore, TypeScores

PAIRS = 30
"""Pairs of paradigms that are listed one by one."""
BREAK_EVENS = 20
"""Break-evens that are listed."""
MOST_CALLS = 8
"""Calls of a tool for one question that have a column of their own; more are counted with them."""
FRONTS = (
    "The fronts are of means alone: whether two paradigms were shown to differ is not looked at here, so other "
    "questions may place others on them."
)


def markdown(report: EvaluationReport, *, answers: bool = True) -> str:
    """The report as Markdown text. `answers`: with every question, its answers, evidence and judgements."""
    sections = (
        _head, _main_metrics, _unscored, _types, _comparisons, _pareto_fronts, _routing, _labels, _duels, _costs,
        _break_evens, _timeline, _tools, _missing,
    )  # fmt: skip
    lines = [line for section in sections for line in section(report)]
    if answers:
        lines += [*_other_metrics(report), *_questions(report)]
    return "\n".join(lines).rstrip() + "\n"


def amount(value: float | None) -> str:
    """A number in few letters; an en dash where there is none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _table(columns: Sequence[str | Column], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield Table.of(columns, rows).markdown()
    yield ""


def _right(*titles: str) -> list[Column]:
    """Columns of figures that are written out already."""
    return [Column(title, align="right") for title in titles]


def _amounts(*titles: str) -> list[Column]:
    return [Column(title, amount, "right") for title in titles]


# Quality


def _head(report: EvaluationReport) -> Iterator[str]:
    yield f"# Evaluation: {', '.join(markdown_text(run.name) for run in report.runs)}"
    yield ""
    yield f"**{markdown_text(report.verdict)}**"
    yield ""
    for run in report.runs:
        made = "".join(f"; {name} {', '.join(map(markdown_text, values))}" for name, values in run.made.items())
        yield (
            f"- {markdown_text(run.name)}: {counted(run.questions, 'question')}, "
            f"{counted(len(run.paradigms), 'paradigm')}, {counted(run.records, 'answer')}, "
            f"{run.failed:,} failed{f'; {run.date}' if run.date else ''}{made}"
        )
    yield ""
    for note in report.notes:
        yield f"Note: {markdown_text(note)}"
        yield ""
    yield "Means over questions with 95 % intervals. What is unscored is never counted as 0."
    yield ""


def _main_metrics(report: EvaluationReport) -> Iterator[str]:
    yield "## Figures"
    yield ""
    for metric in report.metrics:
        if metric.name in report.main:
            yield from _metric(report, metric)


def _other_metrics(report: EvaluationReport) -> Iterator[str]:
    yield "## Other metrics"
    yield ""
    for metric in report.metrics:
        if metric.name not in report.main:
            yield from _metric(report, metric)


def _metric(report: EvaluationReport, metric: MetricInfo) -> Iterator[str]:
    """The best first; what is unscored last."""
    yield f"### {metric.name}: {metric.summary}{' (less is better)' if metric.less_is_better else ''}"
    yield ""
    sign = 1 if metric.less_is_better else -1
    rows = [(row, row.metrics.get(metric.name, MetricScore())) for row in report.rows]
    rows.sort(key=lambda pair: (pair[1].mean is None, sign * (pair[1].mean or 0.0)))
    columns: list[str | Column] = [
        "paradigm", Column("mean", ".3f", "right"), *_right("95 % interval"), "questions scored", "unscored",
        "answers unscored", "failed",
    ]  # fmt: skip
    yield from _table(columns, [
        [row.paradigm, own.mean, _interval(own), own.n, own.unscored_questions, own.unscored, row.failed]
        for row, own in rows
    ])  # fmt: skip


def _interval(own: MetricScore) -> str:
    return "–" if own.low is None else f"{own.low:.2f} to {own.high:.2f}"


def _unscored(report: EvaluationReport) -> Iterator[str]:
    order = {metric.name: place for place, metric in enumerate(report.metrics)}
    found = sorted(report.gaps, key=lambda gap: order[gap.metric])
    if found:
        yield "Unscored answers, by paradigm and reason:"
        yield ""
        yield from _table(
            ["metric", "of", "unscored", "why"], [[gap.metric, gap.whose, gap.answers, gap.why] for gap in found]
        )


def _types(report: EvaluationReport) -> Iterator[str]:
    if not report.types:
        return
    yield "## By type of question"
    yield ""
    for name in report.main:
        yield f"### {name}, by type"
        yield ""
        rows = [
            [row.paradigm, *(_of_type(row.by_type.get(type), name) for type in report.types)] for row in report.rows
        ]
        yield from _table(["paradigm", *_right(*report.types)], rows)


def _of_type(found: TypeScores | None, metric: str) -> str:
    """A mean, its interval, and how many it is of."""
    own = (found.metrics if found is not None else {}).get(metric, MetricScore())
    if own.mean is None:
        text = f"– ({own.unscored} unscored)" if own.unscored else "–"
    else:
        unscored = f", {own.unscored} unscored" if own.unscored else ""
        between = f"{_interval(own)}; " if own.low is not None else ""
        text = f"{own.mean:.3f} ({between}n {own.n}{unscored})"
    return text + (f", {found.failed:,} failed" if found is not None and found.failed else "")


def _comparisons(report: EvaluationReport) -> Iterator[str]:
    if report.comparisons is None:
        return
    yield "## Comparisons"
    yield ""
    yield report.comparisons.note
    yield ""
    for table in report.comparisons.tables:
        differ = [row for row in table.rows if row.verdict in ("better", "worse")]
        shown = table.rows if len(table.rows) <= PAIRS else differ[:PAIRS]
        yield f"### {table.metric}{' (less is better)' if table.less_is_better else ''}"
        yield ""
        yield table.sentence
        yield ""
        if shown:
            yield replace(table.table(shown), title="", notes=()).markdown()
            yield ""
        if len(table.rows) > len(shown):
            left = len(table.rows) - len(shown)
            yield f"{len(differ):,} of {len(table.rows):,} pairs differ; {left:,} are not listed."
            yield ""


def _labels(report: EvaluationReport) -> Iterator[str]:
    for own in report.labels:
        yield f"## Judges against people in {markdown_text(own.run)}"
        yield ""
        for table in own.tables():
            yield f"### {markdown_text(table.title)}"
            yield ""
            yield replace(table, title="", notes=()).markdown()
            yield ""
            yield from (f"{markdown_text(note)}\n" for note in table.notes)


def _duels(report: EvaluationReport) -> Iterator[str]:
    for duel in report.duels:
        yield f"## Duels in {markdown_text(duel.run)}, judged by {markdown_text(duel.judge) or 'no model'}"
        yield ""
        passed = duel.selftest.passed
        yield "The judge passed its own test." if passed else f"No verdict: {markdown_text(duel.selftest.why)}."
        made = ", ".join(f"seed {run.rules.seed} {'passed' if run.passed else 'not passed'}" for run in duel.selftests)
        yield f"Seed of the draw: {duel.rules.seed}. Tests of this judge in this folder: {made or 'not kept'}."
        yield from (f"Warning: {markdown_text(warning)}." for warning in duel.warnings)
        yield ""
        yield "Relative win rate of the row over the column:"
        yield ""
        rows = [
            [name, *map(_win_rate, rates, outcomes)]
            for name, rates, outcomes in zip(duel.map.names, duel.map.rates, duel.map.outcomes, strict=True)
        ]
        yield from _table(["", *_right(*duel.map.names)], rows)
        columns: list[str | Column] = [
            "first", "second", "verdict", *_right("median of the trials", "quartiles", "outliers", "judged"),
            "left out", "written again to equal length",
        ]  # fmt: skip
        yield from _table(columns, [
            [pair.a, pair.b, pair.verdict.words, *_spread(pair.box), f"{pair.judged:,} of {pair.pairs:,}",
             "; ".join(f"{why or 'no reason given'}: {count:,}" for why, count in pair.left_out.items()) or "none",
             pair.rewriting or "none"]
            for pair in duel.pairs
        ])  # fmt: skip


def _win_rate(rate: float | None, outcome: str | None) -> str:
    if outcome is None:
        return "·"
    return "no verdict" if outcome == "no verdict" or rate is None else f"{rate:+.0%} {outcome}"


def _spread(box: BoxPlot | None) -> list[str]:
    if box is None:
        return ["–"] * 3
    return [f"{box.median:+.0%}", f"{box.first:+.0%} to {box.third:+.0%}", f"{len(box.outliers)}"]


# Cost


def _pareto_fronts(report: EvaluationReport) -> Iterator[str]:
    if not report.costs or not report.main:
        return
    metric = next(one for one in report.metrics if one.name == report.main[0])
    yield "## Quality against cost"
    yield ""
    yield FRONTS
    yield ""
    for cost, words in report.costs.items():
        points = {
            row.paradigm: (row.metrics.get(metric.name, MetricScore()).mean, row.cost.get(cost)) for row in report.rows
        }
        best = [point for point in pareto(points, less_is_better=metric.less_is_better) if point.on_front]
        front = ", ".join(f"{markdown_text(one.name)} ({one.quality:.3f} at {amount(one.cost)})" for one in best)
        yield f"- {words}: on the front of {metric.name} are {front or 'none'}"
    yield ""


def _costs(report: EvaluationReport) -> Iterator[str]:
    yield "## What an answer takes"
    yield ""
    columns = _amounts(
        "answers", "failed", "from our cache", "seconds p50", "p95", "CPU s", "MiB at most", "evidence tokens", "calls",
        "tokens in", "out", "retrieval", "generation", "USD", "index tokens each", "index USD each",
    )  # fmt: skip
    yield from _table(["paradigm", *columns], list(map(_cost, report.rows)))
    if any(row.resources.untimed for row in report.rows):
        yield "Seconds are those of answers without a reply from our cache."
        yield ""


def _cost(row: ReportRow) -> list[Cell]:
    used, total, built = row.resources, row.resources.total, row.resources.construction
    return [
        row.paradigm, used.answered, row.failed, used.untimed, used.seconds_p50, used.seconds_p95, used.cpu,
        used.peak_memory / 2**20 if used.peak_memory else None, used.evidence, total.calls, total.input, total.output,
        used.retrieval.tokens if used.retrieval else None, used.generation.tokens if used.generation else None,
        total.usd, built.tokens_per_question if built else None, built.usd_per_question if built else None,
    ]  # fmt: skip


def _break_evens(report: EvaluationReport) -> Iterator[str]:
    if report.breakevens is None:
        return
    yield "## When a layer has paid for itself"
    yield ""
    for line in report.breakevens.lines[:BREAK_EVENS]:
        yield f"- {markdown_text(line.words)}"
    more = len(report.breakevens.lines) - BREAK_EVENS
    if more > 0:
        yield f"- and {more:,} more: ragways eval report RUN --json"
    yield ""


def _timeline(report: EvaluationReport) -> Iterator[str]:
    for line in report.timeline:
        yield f"## CPU and memory in {markdown_text(line.run)}"
        yield ""
        rows: list[list[Cell]] = [
            [load.paradigm or "opening and warming up", load.seconds, load.cpu, load.cores, load.memory / 2**20]
            for load in line.by_paradigm
        ]
        yield from _table(["at work", *_amounts("seconds", "CPU seconds", "cores on average", "MiB at most")], rows)


def _tools(report: EvaluationReport) -> Iterator[str]:
    if not report.tools:
        return
    yield "## Tools"
    yield ""
    names = sorted({tool for row in report.tools for tool in row.calls})
    yield "Calls per answer, and in all:"
    yield ""
    yield from _table(["paradigm", *_right(*names)], [
        [row.paradigm,
         *(f"{row.calls.get(tool, 0) / row.answers:.2f} ({row.calls.get(tool, 0):,})" for tool in names)]
        for row in report.tools
    ])  # fmt: skip
    most = min(MOST_CALLS, max(len(spread) for row in report.tools for spread in row.distribution.values()) - 1)
    yield "Answers by how often a tool was called for them:"
    yield ""
    columns = [f"{calls}{' or more' if calls == MOST_CALLS else ''}" for calls in range(most + 1)]
    yield from _table(["paradigm", "tool", *_right(*columns)], [
        [row.paradigm, tool,
         *(sum(spread[n : n + 1] if n < MOST_CALLS else spread[n:]) for n in range(most + 1))]
        for row in report.tools for tool, spread in row.distribution.items()
    ])  # fmt: skip


def _routing(report: EvaluationReport) -> Iterator[str]:
    if report.routing is None:
        return
    yield "## Routing\n"
    for name, line in evaluation_in_words(report.routing).items():
        yield f"- {name}: {line}"
    for table in evaluation_tables(report.routing):
        yield f"\n{table.markdown()}\n"


def _missing(report: EvaluationReport) -> Iterator[str]:
    if report.missing:
        yield "## Left out"
        yield ""
        yield from (f"- {name}: {why}" for name, why in report.missing.items())
        yield ""


# Questions


def _questions(report: EvaluationReport) -> Iterator[str]:
    """Answers side by side, scores, and evidence by number, each piece once at the end."""
    yield "## Questions"
    yield ""
    for question in report.questions:
        type = f" ({markdown_text(question['type'])})" if question["type"] else ""
        yield f"### {markdown_text(question['id'])}{type}"
        yield ""
        yield markdown_text(question["text"])
        yield ""
        yield f"Gold: {'; '.join(map(markdown_text, question['gold'])) or 'none given'}"
        yield ""
        for answer in question["answers"]:
            yield from _answer(answer)
    yield "## Evidence"
    yield ""
    yield f"Each piece up to {report.evidence_cut_at:,} characters."
    yield ""
    for number, piece in enumerate(report.pieces):
        named = " ".join(markdown_text(piece[name]) for name in ("title", "date", "id") if name in piece)
        yield f"- E{number}: {named}: {markdown_text(piece['text'], 2100)}"
    yield ""


def _answer(answer: Mapping[str, Any]) -> Iterator[str]:
    repeat = f", repeat {answer['repeat'] + 1}" if answer["repeat"] else ""
    if answer.get("error"):
        yield f"- **{markdown_text(answer['paradigm'])}**{repeat}: failed: {markdown_text(answer['error'])}"
        yield ""
        return
    text = "abstained" if answer.get("abstained") else markdown_text(answer["answer"]) or "(an empty answer)"
    yield f"- **{markdown_text(answer['paradigm'])}**{repeat}: {text}"
    scores = [f"{name} {amount(value)}" for name, value in answer["values"].items()]
    scores += [f"{name} unscored ({markdown_text(why)})" for name, why in answer.get("why", {}).items()]
    yield f"  - scores: {', '.join(scores)}"
    for judged in answer.get("details", ()):
        said = markdown_text(json.dumps(judged["said"], ensure_ascii=False))
        yield f"  - {', '.join(judged['metrics'])}: {said}"
    evidence = [f"E{place}" for place, _ in answer.get("evidence", ())]
    yield f"  - evidence: {', '.join(evidence) or 'none'}"
    yield ""
