"""`ragways eval judge`: what records alone do not tell, judged by an embedder or a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import AtOnceOption, BudgetOption, JsonOption, RunArgument, with_settings
from ragways.core.errors import PARTLY
from ragways.core.text import printable

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.judges.judge import Judge
    from ragways.evaluation.judging import JudgingSummary
    from ragways.evaluation.record import Record
    from ragways.settings import Settings

SHOWN = 160
"""Characters shown of what a judge said when it failed."""


@with_settings("trust")
def judge(
    chosen: Settings,
    run: RunArgument,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Metrics or whole judges, joined by commas.",
            show_default="all that need no model, and the others where one is set",
        ),
    ] = None,
    at_once: AtOnceOption = None,
    budget: BudgetOption = None,
    json: JsonOption = False,
) -> None:
    """Judge the answers of a run. What was judged already is left as it is; what failed, or was said of an answer that
    has been replaced since, is judged again.
    """
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.core.plain import to_plain
    from ragways.evaluation.judges import find_judge
    from ragways.evaluation.record import Records, locked

    names = [name.strip() for name in (metrics or "").split(",") if name.strip()]
    wanted = tuple(dict.fromkeys(map(find_judge, names)))
    records = list(Records(run))
    with progress_bar(not json) as progress, locked(run):
        summary = asyncio.run(_judge(chosen, run, records, wanted, at_once, budget, progress))
    if json:
        print_json(to_plain(summary))
    else:
        _show(summary)
    if summary.again:
        raise typer.Exit(PARTLY)


async def _judge(
    settings: Settings,
    run: Path,
    records: Sequence[Record],
    wanted: tuple[Judge, ...],
    at_once: int | None,
    budget: float | None,
    progress: ProgressCallback,
) -> JudgingSummary:
    from ragways.assemble import judge_resources_of
    from ragways.evaluation.judging import judge_run, usable_judges

    async with judge_resources_of(settings, run) as resources:
        judges = wanted or usable_judges(resources)
        asks = resources.model.model is not None and any(one.by == "model" for one in judges)
        concurrency = (settings.judge if settings.judge.name else settings.model).concurrency if asks else 1
        return await judge_run(
            resources, run, records, judges, at_once=at_once or concurrency, budget=budget, progress=progress
        )


def _show(summary: JudgingSummary) -> None:
    from ragways.apps.terminal import console, show_table
    from ragways.core.table import Column, Table

    rows = [
        (name, counts.scored, "; ".join(f"{count:,} {why}" for why, count in counts.unscored.items()))
        for name, counts in summary.metrics.items()
    ]
    title = f"judged by {summary.judge or 'no model'} and {summary.embedder}, ${summary.usd:.4f}"
    show_table(Table.of(["metric", Column("scored", align="right"), "unscored"], rows, title=title), compact=True)
    err = console(error=True)
    for reason, said in summary.errors.items():
        err.print(printable(f"{reason}, for instance: {' '.join(said.split())[:SHOWN]}"), markup=False)
    if summary.same_family:
        models = ", ".join(summary.same_family)
        warning = f"warning: {summary.judge} judges answers of its own family ({models}), which judges tend to favour"
        err.print(printable(warning), style="yellow", markup=False)
