"""`ragways reproduce`: a source's experiment on the data that one has, our figures beside the published ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.terminal import JsonOption, console, print_json, progress_bar, show_table, with_settings, write_line
from ragways.core.errors import PARTLY
from ragways.core.plain import to_plain
from ragways.core.table import Column, Table
from ragways.core.text import counted
from ragways.core.trace import Budget, spending

if TYPE_CHECKING:
    from ragways.reproduce.by_type import TypeCell, TypeRow
    from ragways.reproduce.experiment import Experiment, PublishedFigure
    from ragways.reproduce.figures import Figure
    from ragways.reproduce.prepare import Prepared
    from ragways.reproduce.reproduce import ReproducedDuel, Reproduction
    from ragways.settings import Settings


@with_settings("trust")
def reproduce(
    chosen: Settings,
    experiment: Annotated[str, typer.Argument(help="thesis, router-bench, windows, agentic or unbiased.")],
    data: Annotated[Path, typer.Option("--data", help="Folder that holds the data, or folders of it.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many questions.", min=1)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the runs.", show_default="reproduced")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.", min=0)] = 0,
    trials: Annotated[
        int | None, typer.Option("--trials", help="Whole comparisons in duels.", min=1, max=1000, show_default="2")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show the calls and what they cost; make none.")] = False,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    json: JsonOption = False,
) -> None:
    """Run a source's experiment with its settings, and say in what it differs; without a model, what can run so."""
    from ragways.evaluation.duel.entries import TRIALS
    from ragways.reproduce.experiment import locate
    from ragways.reproduce.prepare import prepare
    from ragways.reproduce.reproduce import reproduce as run_again
    from ragways.reproduce.sources import find_experiment

    wanted = find_experiment(experiment)
    found, folder = locate(wanted, data), out or Path("reproduced")
    ready = [prepare(chosen, wanted, one, folder, limit=limit, seed=seed, trials=trials or TRIALS) for one in found]
    if plan or chosen.model.name or chosen.judge.name:
        plans = _plans(ready, json=json, only=plan)
        if plan:
            if json:
                print_json([{"data": name, "parts": table.to_plain()} for name, table in plans.items()])
            return
    with progress_bar(not json) as progress, spending(Budget(usd=budget)):
        results = [asyncio.run(run_again(one, progress)) for one in ready]
    if json:
        print_json([_plain(result) for result in results])
    else:
        _show_all(wanted, results)
    if any(result.undone for result in results):
        raise typer.Exit(PARTLY)


def _plans(ready: Sequence[Prepared], *, json: bool, only: bool) -> dict[str, Table]:
    """The plan of each data set: as a table where nothing else is wanted, else as a line on standard error."""
    from ragways.reproduce.plan import plan

    plans = {}
    for one in ready:
        name = one.located.data.name
        with progress_bar(not json) as progress:
            plans[name] = replace(asyncio.run(plan(one, progress)), title=f"{one.experiment.name}, {name}")
        if only and not json:
            show_table(plans[name])
        elif not only:
            write_line(f"{name}: {_in_words(plans[name])}", error=True)
    return plans


def _in_words(plan: Table) -> str:
    calls, given, written, usd = (plan.column(name) for name in ("calls", "input", "output", "usd"))
    price = "price unknown" if usd[-1] is None else f"about ${usd[-1]:,.2f}"
    each = ", ".join(f"{part} {count:,}" for part, count in zip(plan.column("part")[:-1], calls, strict=False) if count)
    return f"about {calls[-1]:,} calls ({each}), {(given[-1] + written[-1]) / 1e6:,.1f} million tokens, {price}"


def _plain(result: Reproduction) -> dict[str, Any]:
    tables = {table.name: table.to_plain() for table in result.tables}
    return {**to_plain(replace(result, tables=())), "tables": tables}


def _show_all(wanted: Experiment, results: list[Reproduction]) -> None:
    for result in results:
        _show(result)
    if wanted.types:
        _show_stacked(_by_type(wanted, results))
    if len(results) > 1 and all(result.duels for result in results):
        _show_stacked(_mean_duels(results))


def _show(result: Reproduction) -> None:
    title = f"{result.title}: {result.data}, {counted(result.questions, 'question')}"
    _show_stacked(replace(_variants(result), title=title))
    for table in result.tables:
        _show_stacked(table)
    if result.duels:
        _show_duels(result)
    for style, what, lines in (
        ("", "data", result.files),
        ("yellow", "warning", (*result.warnings, *(result.duel_result.warnings if result.duel_result else ()))),
        ("", "differs", result.differs),
        ("", "they say", result.notes),
        ("yellow", "not run", result.not_run),
    ):
        for line in lines:
            text = f"{what}  {line}"
            write_line(fill(text, console().width, subsequent_indent="    ", break_long_words=False,
                            break_on_hyphens=False), style)  # fmt: skip
    write_line(f"see it all: ragways eval report {result.run} --html report.html\n")


def _show_stacked(table: Table) -> None:
    for part in stacked(table, console().width):
        show_table(part, compact=True)


def stacked(table: Table, width: int) -> Iterator[Table]:
    """A table as several of at most this width, each with the first column; the title is above the first, the notes
    below the last. A column that stands to the right is never broken, one to the left is where it must be.
    """

    def need(number: int) -> int:
        lines = [line for text in texts[number] for line in text.split("\n")]
        longest = max(map(len, lines), default=1)
        return longest if table.right(number) else min(longest, WRAPPED)

    texts = [
        [column.title, *cells] for column, cells in zip(table.columns, zip(*table.texts(), strict=True), strict=True)
    ]
    first = need(0)
    parts: list[list[int]] = [[]]
    room = width - first
    for number in range(1, len(table.columns)):
        if parts[-1] and need(number) + 1 > room:
            parts.append([])
            room = width - first
        parts[-1].append(number)
        room -= need(number) + 1
    names = [column.name for column in table.columns]
    for at, numbers in enumerate(parts):
        notes = table.notes if at == len(parts) - 1 else ()
        part = table.only(names[0], *(names[number] for number in numbers))
        yield replace(part, title="" if at else table.title, notes=notes)


WRAPPED = 21
"""Letters of a column of words that are kept on one line."""


def _variants(result: Reproduction) -> Table:
    """A row a variant: ours, its interval, of how many questions, and below the published figure."""
    rows = []
    for row in result.rows:
        figures = zip(row.ours, row.published, result.columns, strict=True)
        cells = [f"{_ours(ours, column.digits)}\n{_theirs(theirs, column.digits)}" for ours, theirs, column in figures]
        failed = f", {row.failed} failed" if row.failed else ""
        rows.append([f"{row.paradigm}{failed}\n\n\n{row.published_name}", *cells])
    several = f"; median of {result.runs} runs and their range, the 95 % interval of their mean"
    interval = several if result.runs > 1 else ", its 95 % interval"
    heads = [Column(column.label.replace(" ", "\n", 1), align="right") for column in result.columns]
    return Table.of(
        ["variant", *heads],
        rows,
        notes=[
            f"above: ours{interval}, and n questions; below: published, with {result.published_with}",
            f"whether variants differ: ragways eval compare {result.run}",
        ],
    )


def _ours(own: Figure, digits: int) -> str:
    to = " to " if own.low is not None and own.low < 0 else "–"
    between = "" if own.low is None else f"{_number(own.low, digits)}{to}{_number(own.high, digits)}"
    spread = "" if own.minimum is None else f" {_range(own.minimum, own.maximum, digits)}"
    return f"{_number(own.value, digits)}{spread}\n{between}\n{'' if own.n is None else f'n {own.n:,}'}"


def _theirs(theirs: PublishedFigure | None, digits: int) -> str:
    if theirs is None or theirs.minimum is None:
        return _number(theirs.value if theirs else None, digits)
    value = "" if theirs.value is None else f"{_number(theirs.value, digits)} "
    return f"{value}{_range(theirs.minimum, theirs.maximum, digits)}"


def _range(low: float | None, high: float | None, digits: int) -> str:
    to = " to " if low is not None and low < 0 else "–"
    return f"({_number(low, digits)}{to}{_number(high, digits)})"


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


# Duels


def _show_duels(result: Reproduction) -> None:
    """By the unbiased procedure and by the old one, with the judge's test, aspects and box plots."""
    from ragways.apps.evaluation.duel_tables import aspect_table, box_plots, pair_table

    found = result.duel_result
    if found is None:
        return
    short = [replace(pair, a=result.names[pair.a], b=result.names[pair.b]) for pair in found.pairs]
    mark = "" if found.test.passed else " (the judge FAILED its test: figures alone, and no winner)"
    _show_stacked(replace(_duels(result), title=f"{PAIRS}{mark}"))
    if any(pair.n for pair in short):
        _show_stacked(pair_table(short))
        for line in box_plots(short):
            console().print(line, markup=False, no_wrap=True)
        _show_stacked(aspect_table(short))


PAIRS = "in pairs: above 0 the first of a pair wins more questions than the second"


def _duels(result: Reproduction) -> Table:
    """A row two variants: by the unbiased procedure in all and by level, and by the old one."""
    levels = list(dict.fromkeys(one.level for duel in result.duels for one in duel.levels))
    heads = ["relative\nwin rate", *(f"on\n{level}" for level in levels), "published", "old way:\nfirst wins"]
    return Table.of(
        ["pair", *(Column(head, align="right") for head in heads), "verdict"],
        [_duel(duel, levels, result.names) for duel in result.duels],
        notes=["old way: one order, no equal lengths, one reply, and somebody must win; the share that the first won"],
    )


def _duel(duel: ReproducedDuel, levels: list[str], names: Mapping[str, str]) -> list[str]:
    by_level = {one.level: one.figures for one in duel.levels}
    cells = [
        _rate(found.rate, found.low, found.high, found.n) if (found := by_level.get(level)) is not None else "–"
        for level in levels
    ]
    old = duel.forced
    return [
        f"{names[duel.a]}\n{names[duel.b]}",
        _rate(duel.rate, duel.low, duel.high, None),
        *cells,
        "–" if duel.published is None else f"{duel.published:+.0%}",
        f"{names[old.a]}\n{_rate(old.share, old.low, old.high, old.wins_a + old.wins_b, signed=False)}",
        duel.verdict,
    ]


def _mean_duels(results: Sequence[Reproduction]) -> Table:
    """Each pair's relative win rate, as a mean over the corpora that were run."""
    rows: list[tuple[str, str | None, str, str]] = []
    for duel in results[0].duels:
        others = [one for result in results for one in result.duels if (one.a, one.b) == (duel.a, duel.b)]
        rates = [one.rate for one in others if one.rate is not None]
        names = results[0].names
        published = "–" if duel.published is None else f"{duel.published:+.0%}"
        rows.append((f"{names[duel.a]}\n{names[duel.b]}", f"{fmean(rates):+.0%}" if rates else None, published,
                     f"{len(rates)}"))  # fmt: skip
    return Table.of(
        ["pair", *(Column(head, align="right") for head in ("relative\nwin rate", "published", "corpora"))],
        rows,
        title="in pairs: means over the corpora",
    )


def _rate(value: float | None, low: float | None, high: float | None, n: int | None, *, signed: bool = True) -> str:
    if value is None:
        return "–"
    sign = "+" if signed else ""
    between = "" if low is None or high is None else f"\n{low:{sign}.0%} to {high:{sign}.0%}"
    return f"{value:{sign}.0%}{between}" + ("" if n is None else f"\nn {n:,}")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
