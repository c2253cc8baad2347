"""`ragways reproduce`: a source's experiment on the data that one has, our figures beside the published ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, SettingsOption, TrustOption, chosen_settings

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.reproduce.reproduce import ReproducedColumn, Reproduction


def reproduce(
    experiment: Annotated[str, typer.Argument(help="thesis, router-bench, windows, agentic or unbiased.")],
    data: Annotated[Path, typer.Option("--data", help="Folder that holds the data, or folders of it.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many questions.", min=1)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the runs.", show_default="reproduced")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.", min=0)] = 0,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Run a source's experiment with its preset; without a model, what can be run without one."""
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.core.plain import to_plain
    from ragways.core.trace import Budget, spending
    from ragways.reproduce.experiment import locate
    from ragways.reproduce.reproduce import reproduce as run_again
    from ragways.reproduce.sources import find_experiment

    chosen, wanted = chosen_settings(settings, trust=trust), find_experiment(experiment)
    found, folder = locate(wanted, data), out or Path("reproduced")
    with progress_bar(not json) as progress, spending(Budget(usd=budget)):
        results = [
            asyncio.run(run_again(chosen, wanted, one, folder, limit=limit, seed=seed, progress=progress))
            for one in found
        ]
    if json:
        print_json(to_plain(results))
    else:
        for result in results:
            _show(result)


def _show(result: Reproduction) -> None:
    from ragways.apps.terminal import console, show_table

    show_table(_table(result), compact=True)
    out = console()
    for style, what, lines in (
        ("yellow", "warning", result.warnings),
        ("", "differs", result.differs),
        ("yellow", "not run", result.not_run),
    ):
        for line in lines:
            out.print(f"{what}  {line}", style=style, markup=False, soft_wrap=True)
    out.print(f"see it all: ragways eval report {result.run} --html report.html\n", markup=False, soft_wrap=True)


def _table(result: Reproduction) -> Table:
    """A row a variant: ours, of how many questions, and below the published figure."""
    from ragways.core.table import Column, Table

    heads = [Column(column.label.replace(" ", "\n", 1), align="right") for column in result.columns]
    rows = []
    for row in result.rows:
        figures = zip(row.ours, row.n, row.published, result.columns, strict=True)
        cells = [
            f"{_number(ours, column)}\n{'' if n is None else f'n {n:,}'}\n{_number(theirs, column)}"
            for ours, n, theirs, column in figures
        ]
        failed = f", {row.failed} failed" if row.failed else ""
        rows.append([f"{row.paradigm}{failed}\n\n{row.published_name}", *cells])
    return Table.of(
        ["variant", *heads],
        rows,
        title=f"{result.title}: {result.data}, {result.questions} questions",
        notes=[
            f"above: ours, and n, the questions scored; below: published, with {result.published_with}",
            f"whether variants differ: ragways eval compare {result.run}",
        ],
    )


def _number(value: float | None, column: ReproducedColumn) -> str:
    return "–" if value is None else f"{value:,.{column.digits}f}"
