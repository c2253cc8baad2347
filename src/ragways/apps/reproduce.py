"""`ragways reproduce`: a source's experiment on the data that one has, our figures beside the published ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, print_json, progress_bar, show_table, with_settings, write_line
from ragways.core.plain import to_plain
from ragways.core.table import Column, Table
from ragways.core.text import counted
from ragways.core.trace import Budget, spending

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.reproduce.by_type import TypeCell, TypeRow
    from ragways.reproduce.experiment import Experiment, PublishedFigure
    from ragways.reproduce.figures import Figure
    from ragways.reproduce.reproduce import ReproducedDuel, Reproduction
    from ragways.settings import Settings

ABREAST = 5
"""Columns of one table; more stand in a table below it."""


@with_settings("trust")
def reproduce(
    chosen: Settings,
    experiment: Annotated[str, typer.Argument(help="thesis, router-bench, windows, agentic or unbiased.")],
    data: Annotated[Path, typer.Option("--data", help="Folder that holds the data, or folders of it.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many questions.", min=1)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the runs.", show_default="reproduced")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.", min=0)] = 0,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    json: JsonOption = False,
) -> None:
    """Run a source's experiment with its settings, and say in what it differs; without a model, what can run so."""
    from ragways.reproduce.experiment import locate
    from ragways.reproduce.reproduce import reproduce as run_again
    from ragways.reproduce.sources import find_experiment

    wanted = find_experiment(experiment)
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
        if wanted.types:
            show_table(_by_type(wanted, results), compact=True)


def _show(result: Reproduction) -> None:
    for at in range(0, len(result.columns), ABREAST):
        show_table(_table(result, at), compact=True)
    if result.duels:
        show_table(_duels(result), compact=True)
    for style, what, lines in (
        ("", "data", result.files),
        ("yellow", "warning", (*result.warnings, *(result.duel_result.warnings if result.duel_result else ()))),
        ("", "differs", result.differs),
        ("", "they say", result.notes),
        ("yellow", "not run", result.not_run),
    ):
        for line in lines:
            write_line(f"{what}  {line}", style)
    write_line(f"see it all: ragways eval report {result.run} --html report.html\n")


def _table(result: Reproduction, at: int) -> Table:
    """Some columns; a row a variant: ours, its interval, of how many questions, and below the published figure."""
    some = slice(at, at + ABREAST)
    columns, last = result.columns[some], at + ABREAST >= len(result.columns)
    heads = [Column(column.label.replace(" ", "\n", 1), align="right") for column in columns]
    rows = []
    for row in result.rows:
        figures = zip(row.ours[some], row.published[some], columns, strict=True)
        cells = [f"{_ours(ours, column.digits)}\n{_theirs(theirs, column.digits)}" for ours, theirs, column in figures]
        failed = f", {row.failed} failed" if row.failed else ""
        rows.append([f"{row.paradigm}{failed}\n\n\n{row.published_name}", *cells])
    runs = f"; median of {result.runs} runs and their range" if result.runs > 1 else ""
    return Table.of(
        ["variant", *heads],
        rows,
        title="" if at else f"{result.title}: {result.data}, {counted(result.questions, 'question')}",
        notes=[
            f"above: ours{runs}, its 95 % interval, and n questions; below: published, with {result.published_with}",
            f"whether variants differ: ragways eval compare {result.run}",
        ]
        if last
        else [],
    )


def _ours(own: Figure, digits: int) -> str:
    spread = "" if own.minimum is None else f" ({_number(own.minimum, digits)}–{_number(own.maximum, digits)})"
    to = " to " if own.low is not None and own.low < 0 else "–"
    between = "" if own.low is None else f"{_number(own.low, digits)}{to}{_number(own.high, digits)}"
    return f"{_number(own.value, digits)}{spread}\n{between}\n{'' if own.n is None else f'n {own.n:,}'}"


def _theirs(theirs: PublishedFigure | None, digits: int) -> str:
    if theirs is None or theirs.minimum is None:
        return _number(theirs.value if theirs else None, digits)
    return f"{_number(theirs.value, digits)} ({_number(theirs.minimum, digits)}–{_number(theirs.maximum, digits)})"


def _by_type(experiment: Experiment, results: list[Reproduction]) -> Table:
    """The source's table of types and corpora: all its corpora, those that were not run with its figures alone."""
    from ragways.reproduce.by_type import JUDGED, type_rows

    ours = {result.data: result.by_type for result in results}
    corpora = {data.name: ours.get(data.name) or type_rows(experiment, data) for data in experiment.data}
    names = [cell.published_name for cell in next(iter(corpora.values()))[0].cells]
    exact = [name for name, rows in ours.items() if rows[0].metric != JUDGED]
    absent = [name for name in corpora if name not in ours]
    notes = [
        f"above: ours, n questions; below: published, with {experiment.model}; * the best of its row, or the cheapest",
        "tokens a question, with its share of what building cost; ours only where a model was asked",
    ]
    if exact:
        notes.append(f"{', '.join(exact)}: ours were not judged; it is the share of exactly right answers")
    if absent:
        notes.append(f"not run, for there is no data: {', '.join(absent)}")
    return Table.of(
        ["corpus", "type", *(Column(name.replace(" ", "\n"), align="right") for name in names)],
        [
            ["" if at else name, row.type or "tokens", *(_typed(cell, row, ran=name in ours) for cell in row.cells)]
            for name, rows in corpora.items()
            for at, row in enumerate(rows)
        ],
        title="By type of question and corpus: correct %",
        notes=notes,
    )


def _typed(cell: TypeCell, row: TypeRow, *, ran: bool) -> str:
    digits = 1 if row.type else 0
    theirs = f"{_number(cell.published, digits)}{'*' if cell.published_best else ' '}"
    if not ran:
        return theirs
    if cell.ours.value is None:
        return f"{'unscored' if row.type else '–'} \n{theirs}"
    counted = f"n {cell.ours.n:,}: " if row.type and cell.ours.n is not None else ""
    return f"{counted}{_number(cell.ours.value, digits)}{'*' if cell.best else ' '}\n{theirs}"


def _duels(result: Reproduction) -> Table:
    """A row two variants: by the unbiased procedure in all and by level, and by the old one."""
    levels = list(dict.fromkeys(one.level for duel in result.duels for one in duel.levels))
    heads = ["relative\nwin rate", *(f"on\n{level}" for level in levels), "published", "old way:\nfirst wins"]
    return Table.of(
        ["pair", *(Column(head, align="right") for head in heads), "verdict"],
        [_duel(duel, levels) for duel in result.duels],
        title="in pairs: above 0 the first of a pair wins more questions than the second",
        notes=[
            "old way: one order, no equal lengths, one reply, and somebody must win; the share won by who stood first",
        ],
    )


def _duel(duel: ReproducedDuel, levels: list[str]) -> list[str]:
    by_level = {one.level: one.figures for one in duel.levels}
    cells = [
        _rate(found.rate, found.low, found.high, found.n) if (found := by_level.get(level)) is not None else "–"
        for level in levels
    ]
    old = duel.forced
    asked = old.wins_a + old.wins_b
    return [
        f"{duel.a}\n{duel.b}",
        _rate(duel.rate, duel.low, duel.high, None),
        *cells,
        "–" if duel.published is None else f"{duel.published:+.0%}",
        f"{old.a}\n{_rate(old.share, old.low, old.high, asked, signed=False)}",
        duel.verdict,
    ]


def _rate(value: float | None, low: float | None, high: float | None, n: int | None, *, signed: bool = True) -> str:
    if value is None:
        return "–"
    sign = "+" if signed else ""
    between = "" if low is None or high is None else f"\n{low:{sign}.0%} to {high:{sign}.0%}"
    return f"{value:{sign}.0%}{between}" + ("" if n is None else f"\nn {n:,}")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
