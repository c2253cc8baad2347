"""`ragways eval compare`: paradigms, or runs, against each other, question by question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.evaluation.statistics.comparison import Comparison, Comparisons
    from ragways.evaluation.statistics.values import ScoreCounts

TO = "\nto "
REASONS = 12
"""Reasons for missing values that are shown; JSON has them all."""


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; of several, paradigms are named by run.")],
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
    from ragways.evaluation.record import Run
    from ragways.evaluation.report import compare_runs

    compared = compare_runs([Run(folder) for folder in runs], find_metric(metric), baseline=baseline)
    if json:
        print_json(to_plain(compared))
    else:
        _show(compared)


def _show(compared: Comparisons) -> None:
    from ragways.apps.terminal import console, show_table
    from ragways.core.text import printable

    show_table(_counts_table(compared), compact=True)
    show_table(_pairs_table(compared), compact=True)
    out = console()
    out.print(compared.sentence, markup=False)
    if compared.unlike_questions:
        out.print(
            f"the runs ask different questions under {compared.unlike_questions:,} of their ids; these were not paired",
            style="yellow",
            markup=False,
        )
    for line in (*_one_sided(compared.rows), *_reasons(compared.counts)):
        out.print(printable(line), style="dim", markup=False)


def _counts_table(compared: Comparisons) -> Table:
    from ragways.core.table import Column, Table

    heads = ("median\nrange", "ques-\ntions", "an-\nswers", "scored", "un-\nscored", "failed", "not\nasked")
    rows = [
        (
            name, _median(counts), counts.questions, counts.answers, counts.scored,
            sum(counts.unscored.values()), counts.failed, counts.not_asked,
        )
        for name, counts in compared.counts.items()
    ]  # fmt: skip
    less = ", less is better" if compared.less_is_better else ""
    title = f"{compared.metric}{less}: median and range of repeats, and what was scored"
    return Table.of([Column("paradigm"), *(Column(head, align="right") for head in heads)], rows, title=title)


def _median(counts: ScoreCounts) -> str:
    if counts.median is None:
        return "unscored"
    return f"{counts.median:.3f}" + (f"\n{counts.low:.3f}–{counts.high:.3f}" if counts.repeats > 1 else "")


def _pairs_table(compared: Comparisons) -> Table:
    from ragways.core.table import Column, Table

    heads = ("difference\ninterval", "p", "won/tied\n/lost", "pairs\ngaps")
    return Table.of(
        [
            Column("paradigm\nagainst"),
            *(Column(head, align="right") for head in heads),
            Column("verdict\nleast effect"),
        ],
        [(f"{pair.a}\n{pair.b}", *_cells(pair)) for pair in compared.rows],
        title="differences with 95 % intervals; p after Holm; the least effect it could show",
    )


def _cells(pair: Comparison) -> tuple[str | None, ...]:
    from ragways.evaluation.statistics.inference import p_text

    gaps = f"{pair.n:,}\n{pair.dropped:,}"
    if pair.difference is None:
        return None, None, None, gaps, pair.verdict
    interval = "no interval" if pair.low is None else f"{pair.low:+.3f} to {pair.high:+.3f}"
    won = f"{pair.wins:,}/{pair.ties:,}\n/{pair.losses:,}"
    detectable = "" if pair.detectable.effect is None else f"{pair.detectable.effect:.3f}"
    return f"{pair.difference_text(TO)}\n{interval}", p_text(pair.adjusted), won, gaps, f"{pair.verdict}\n{detectable}"


def _one_sided(pairs: Iterable[Comparison]) -> Iterator[str]:
    """Where values are missing on one side, what the difference could be."""
    for pair in pairs:
        if pair.least is not None and pair.most is not None and pair.least < pair.most:
            yield (
                f"{pair.a} against {pair.b}: on {pair.one_sided:,} questions one of them has no value; "
                f"the difference lies between {pair.difference_text(' and ')}, as these would have come out"
            )


def _reasons(counts: Mapping[str, ScoreCounts]) -> Iterator[str]:
    """Why values are missing: by reason, with the paradigms that lack them."""
    lacking: dict[str, list[str]] = {}
    for name, count in counts.items():
        for why, many in count.unscored.items():
            lacking.setdefault(why, []).append(f"{name} {many:,}")
    for why in list(lacking)[:REASONS]:
        yield f"unscored, {why}: {', '.join(lacking[why])}"
    if len(lacking) > REASONS:
        yield f"and {len(lacking) - REASONS} more reasons: see --json"
