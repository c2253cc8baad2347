"""The figures of a run as tables of a terminal's width: means, intervals, and how many were scored or were not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragways.evaluation.score import MetricScore, ParadigmScores

SHOWN = {
    "accuracy": "accur.",
    "f1": "F1",
    "abstained": "abst.",
    "hallucinated": "halluc.",
    "recall@5": "recall\n@ 5",
    "all-evidence@8": "all\n@ 8",
}
ABREAST = 4
"""Paradigms that stand side by side in a table of judged metrics."""
HEAD = 12
"""Letters of a name over a column before it goes on below: as many as the figures under it take."""


def show_run(folder: Path, as_json: bool) -> None:
    """All figures as JSON, or the usual ones as tables."""
    from ragways.apps.terminal import print_json
    from ragways.core.plain import to_plain
    from ragways.evaluation.score import score_run

    rows = score_run(folder)
    if as_json:
        print_json(to_plain(rows))
    else:
        show_figures(rows)


def show_figures(rows: Sequence[ParadigmScores]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console
    from ragways.core.text import printable

    # One space between columns, and no edge: six metrics with their intervals and a name fit 80 columns so.
    title = "means, their 95 % intervals, and of how many questions"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("paradigm", min_width=10, overflow="fold")
    for column in (*SHOWN.values(), "tokens\ns p50", "failed"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        used = row.resources
        costs = f"{_number(used.total.tokens, 0)}\n{_number(used.seconds_p50, 2)}"
        cells = [_cell(row.metrics[name]) for name in SHOWN]
        table.add_row(Text(printable(row.paradigm)), *cells, costs, str(row.failed))
    console().print(table)
    _show_repeats(rows)
    _show_judged(rows)
    _show_unscored(rows)


def _show_repeats(rows: Sequence[ParadigmScores]) -> None:
    """How much the same question differs from one time to the next: the median and range of the repeats' means."""
    from ragways.apps.terminal import console
    from ragways.core.text import printable

    for row in rows:
        traced = [
            f"{name} {over.median:.3f} ({over.minimum:.3f}–{over.maximum:.3f})"
            for name in SHOWN
            if (over := row.metrics[name].repeats) is not None
        ]
        if traced:
            said = f"{printable(row.paradigm)}, median and range of {row.repeats} repeats: {', '.join(traced)}"
            console().print(said, style="dim", markup=False, soft_wrap=True)


def _show_judged(rows: Sequence[ParadigmScores]) -> None:
    """A row a metric, since there may be many of them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console
    from ragways.core.text import printable
    from ragways.evaluation.metrics import METRICS
    from ragways.evaluation.score import MetricScore

    # What is not among the usual ones: metrics of judges, and those that plug-ins bring.
    judged = [n for n in rows[0].metrics if METRICS[n].of is None or METRICS.package_of(n) != "ragways"] if rows else []
    title = "judged" if all(METRICS[name].of is None for name in judged) else "judged, and metrics of plug-ins"
    for at in range(0, len(rows) if judged else 0, ABREAST):
        some = rows[at : at + ABREAST]
        table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column("metric", overflow="fold")
        for row in some:
            # Folded by hand: what may be folded may be narrowed too, and then figures are broken in two.
            table.add_column(Text(_folded(printable(row.paradigm))), justify="right", no_wrap=True)
        for name in judged:
            table.add_row(name, *(_judged(row.metrics.get(name, MetricScore())) for row in some))
        console().print()
        console().print(table)


def _show_unscored(rows: Sequence[ParadigmScores]) -> None:
    """Why values are missing, reason by reason: as many answers of each paradigm, or of those that are named."""
    from ragways.apps.terminal import console
    from ragways.core.text import printable
    from ragways.evaluation.score import gaps

    missing: dict[tuple[str, str], list[str]] = {}
    for gap in gaps(rows):
        missing.setdefault((gap.why, gap.whose), []).append(f"{gap.metric} {gap.answers:,}")
    for (why, whose), counts in missing.items():
        said = f"unscored answers of {whose}, {why or 'no reason given'}: {', '.join(counts)}"
        console().print(printable(said), style="dim", markup=False, soft_wrap=True)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _cell(figure: MetricScore) -> str:
    if figure.mean is None:
        return "–"
    return f"{figure.mean:.3f}\n{between(figure)}\n{figure.n:,}"


def _judged(figure: MetricScore) -> str:
    return "–" if figure.mean is None else f"{figure.mean:.3f} n {figure.n:,}\n{between(figure)}"


def between(figure: MetricScore) -> str:
    """An interval in few letters: .72–.98, or – where there is none."""
    if figure.low is None:
        return "–"
    low, high = (f"{end:.2f}".replace("0.", ".").replace("1.00", "1") for end in (figure.low, figure.high))
    return f"{low} to {high}" if figure.low < 0 else f"{low}–{high}"


def _folded(name: str) -> str:
    return "\n".join(name[at : at + HEAD] for at in range(0, len(name), HEAD))
