"""`ragways eval compare`: paradigms, or runs, against each other, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.options import JsonOption
from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from ragways.evaluation.metric import Metric
    from ragways.evaluation.report.runs import Run
    from ragways.evaluation.score import Scored
    from ragways.evaluation.statistics.comparison import Comparisons, PairComparison
    from ragways.evaluation.statistics.values import Repeats, ScoreCounts, Value

_FRAME: dict[str, Any] = {"padding": (0, 1, 0, 0), "box": None, "header_style": "bold"}
_NAME = 21
"""Columns that the longest name of a paradigm takes."""
MOST_REASONS = 12
"""Reasons for missing values that are shown; JSON has them all."""


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; of several, paradigms are told apart by run.")],
    metric: Annotated[str, typer.Option("--metric", help="E.g. accuracy, f1 or recall@5.")] = "accuracy",
    baseline: Annotated[
        str, typer.Option("--baseline", help="Compare all with this one.", show_default="every pair")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Compare paradigms on the questions they share: differences, intervals, and what would mostly be missed."""
    from ragways.apps.terminal import print_json
    from ragways.core.plain import to_plain
    from ragways.evaluation.metrics import find_metric
    from ragways.evaluation.report.runs import read_runs
    from ragways.evaluation.statistics.comparison import compare_all

    chosen = find_metric(metric)
    read = read_runs(runs)
    values, unlike = read_values(read, chosen), unlike_questions(read)
    if len(values) < 2:
        raise UsageError(
            f"there is only one paradigm to compare: {next(iter(values), 'none')}",
            "ask more of them (ragways eval run --paradigms) or name a second run",
        )
    found = compare_all(values, metric=chosen.name, less_is_better=chosen.less_is_better, baseline=baseline)
    if json:
        print_json({**to_plain(found), "unlike_questions": unlike})
    else:
        show(found, unlike)


def read_values(runs: Sequence[Run], metric: Metric) -> dict[str, dict[str, list[Value]]]:
    """By paradigm and question, as they are called where several runs are read together."""
    from ragways.evaluation.statistics.values import gather

    return gather((_with(row, metric) for run in runs for row in run.rows), metric.name)


def _with(row: Scored, metric: Metric) -> Scored:
    """A metric beside the usual ones (`recall@17`) is computed here; one of a judge is there or was not asked for."""
    if metric.of is None or metric.name in row.values:
        return row
    return replace(row, values={**row.values, metric.name: metric.score(row.record)})


def unlike_questions(runs: Sequence[Run]) -> int:
    """Ids under which several runs ask different questions. Such questions are never paired."""
    return len({id for run in runs for id, name in run.questions.items() if id != name})


def show(found: Comparisons, unlike: int = 0) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console
    from ragways.core.text import printable

    out = console()
    less = ", less is better" if found.less_is_better else ""
    counts = Table(title=f"{found.metric}{less}: median and range of repeats, and what was scored", **_FRAME)
    counts.add_column("paradigm", min_width=_NAME, overflow="fold")
    for column in ("median\nrange", "ques-\ntions", "an-\nswers", "scored", "un-\nscored", "failed", "not\nasked"):
        counts.add_column(column, justify="right", no_wrap=True)
    for name, count in found.counts.items():
        counts.add_row(Text(printable(name), style="bold"), _mean(found.repeats[name]), *_counts(count))
    out.print(counts)
    pairs = Table(title="differences with 95 % intervals; p after Holm; the least effect it could show", **_FRAME)
    pairs.add_column("paradigm\nagainst", min_width=_NAME, overflow="fold")
    for column in ("difference\ninterval", "p", "won/tied\n/lost", "pairs\ngaps"):
        pairs.add_column(column, justify="right", no_wrap=True)
    pairs.add_column("verdict\nleast effect")
    for row in found.rows:
        pairs.add_row(Text(f"{printable(row.a)}\n{printable(row.b)}"), *_cells(row))
    out.print(pairs)
    out.print(found.sentence, markup=False)
    if unlike:
        said = f"the runs ask different questions under {unlike:,} of their ids; these were not paired"
        out.print(said, style="yellow", markup=False)
    for line in _missing(found.counts):
        out.print(line, style="dim", markup=False)


def _mean(repeats: Repeats) -> str:
    if repeats.median is None or repeats.low is None or repeats.high is None:
        return "unscored"
    range = f"\n{repeats.low:.3f}–{repeats.high:.3f}" if len(repeats.means) > 1 else ""
    return f"{repeats.median:.3f}{range}"


def _counts(count: ScoreCounts) -> tuple[str, ...]:
    figures = (count.questions, count.answers, count.scored, sum(count.unscored.values()), count.failed)
    return tuple(f"{figure:,}" for figure in (*figures, count.not_asked))


def _cells(row: PairComparison) -> tuple[str, ...]:
    one = row
    if one.difference is None:
        return "–", "–", "–", f"0\n{one.dropped:,}", row.verdict
    interval = "no interval" if one.low is None else f"{one.low:+.3f} to {one.high:+.3f}"
    p = "–" if row.adjusted is None else f"{row.adjusted:.3f}" if row.adjusted >= 0.001 else "<0.001"
    least = "" if row.least.effect is None else f"{row.least.effect:.3f}"
    won = f"{one.wins:,}/{one.ties:,}\n/{one.losses:,}"
    return f"{one.difference:+.3f}\n{interval}", p, won, f"{one.n:,}\n{one.dropped:,}", f"{row.verdict}\n{least}"


def _missing(counts: Mapping[str, ScoreCounts]) -> Iterator[str]:
    """Why values are missing: by reason, with the paradigms it befell."""
    from ragways.core.text import printable

    found: dict[str, list[str]] = {}
    for name, count in counts.items():
        for why, many in count.unscored.items():
            found.setdefault(why, []).append(f"{name} {many:,}")
    for why in list(found)[:MOST_REASONS]:
        yield printable(f"unscored, {why}: {', '.join(found[why])}")
    if len(found) > MOST_REASONS:
        yield f"and {len(found) - MOST_REASONS} more reasons: see --json"
