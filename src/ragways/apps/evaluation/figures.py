"""The figures of a run as tables of a terminal's width: means, intervals, and how many were scored or were not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

SHOWN = {
    "accuracy": "accur.",
    "f1": "F1",
    "abstained": "abst.",
    "hallucinated": "halluc.",
    "recall@5": "recall\n@ 5",
    "all-evidence@8": "all\n@ 8",
}
ABREAST = 5
"""Paradigms that stand side by side in a table of judged metrics."""


def show_run(folder: Path, as_json: bool) -> None:
    """All figures as JSON, or the usual ones as tables."""
    from ragways.apps.terminal import print_json
    from ragways.evaluation.score import score_run

    rows = score_run(folder)
    if as_json:
        print_json(rows)
    else:
        show_figures(rows)


def show_figures(rows: Sequence[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    from ragways.apps.terminal import console

    title = "means with half of their 95 % intervals; below, how many questions were scored"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    for column in ("paradigm", *SHOWN.values(), "tokens", "s p50", "failed"):
        table.add_column(column, justify="left" if column == "paradigm" else "right", no_wrap=True)
    for row in rows:
        used = row["resources"]
        costs = _number(used["total"]["tokens"], 0), _number(used["seconds_p50"], 2)
        cells = [_cell(row["metrics"][name]) for name in SHOWN]
        table.add_row(row["paradigm"], *cells, *costs, str(row["failed"]))
    console().print(table)
    _show_repeats(rows)
    _show_judged(rows)
    _show_unscored(rows)


def _show_repeats(rows: Sequence[dict[str, Any]]) -> None:
    """How much the same question differs from one time to the next: the median and range of the repeats' means."""
    from ragways.apps.terminal import console

    for row in rows:
        told = [
            f"{name} {over['median']:.3f} ({over['least']:.3f}–{over['most']:.3f})"
            for name in SHOWN
            if (over := row["metrics"][name].get("repeats")) is not None
        ]
        if told:
            said = f"{row['paradigm']}, median and range of {row['repeats']} repeats: {', '.join(told)}"
            console().print(said, style="dim", markup=False, soft_wrap=True)


def _show_judged(rows: Sequence[dict[str, Any]]) -> None:
    """A row a metric, since there may be many of them."""
    from rich.table import Table

    from ragways.apps.terminal import console
    from ragways.evaluation.metrics import METRICS

    judged = [name for name in rows[0]["metrics"] if METRICS[name].of is None] if rows else []
    for at in range(0, len(rows) if judged else 0, ABREAST):
        some = rows[at : at + ABREAST]
        table = Table(title="judged", padding=(0, 0, 0, 1))
        for column in ("metric", *(row["paradigm"] for row in some)):
            table.add_column(column, justify="left" if column == "metric" else "right", overflow="fold")
        for name in judged:
            table.add_row(
                name, *(_cell(row["metrics"].get(name, {"mean": None})).replace("\n", " ", 1) for row in some)
            )
        console().print(table)


def _show_unscored(rows: Sequence[dict[str, Any]]) -> None:
    """Why values are missing: by metric and reason, all paradigms together."""
    from ragways.apps.terminal import console

    missing: dict[str, dict[str, int]] = {}
    for row in rows:
        for name, figure in row["metrics"].items():
            for why, count in figure["why"].items():
                reasons = missing.setdefault(why, {})
                reasons[name] = reasons.get(name, 0) + count
    for why, counts in missing.items():
        said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        console().print(f"unscored, {why}: {said}", style="dim", markup=False, soft_wrap=True)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _cell(figure: dict[str, Any]) -> str:
    if figure["mean"] is None:
        return "–"
    return f"{figure['mean']:.3f}\n±{(figure['high'] - figure['low']) / 2:.2f}\n{figure['n']}"
