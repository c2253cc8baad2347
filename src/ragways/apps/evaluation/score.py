"""`ragways eval score`, `report` and `gate`: the figures of runs, from their records and judgements alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, RunArgument
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.core.table import Cell, Table

SHOWN = {
    "accuracy": "accur.",
    "f1": "F1",
    "abstained": "abst.",
    "hallucinated": "halluc.",
    "recall@5": "recall\n@ 5",
    "all-evidence@8": "all\n@ 8",
}
"""The metrics of the first table, and their heads."""
NAME_WIDTH = 10
"""Letters of a paradigm that are never broken: six metrics with their intervals then fit 80 columns."""
ABREAST = 4
"""Paradigms that stand side by side in a table of judged metrics."""
HEAD = 12
"""Letters of a name over a column before it goes on below: as many as the figures under it take."""


def score(run: RunArgument, json: JsonOption = False) -> None:
    """Compute the figures of a run again, from its records and judgements alone."""
    show_run(run, json)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; of several, paradigms are named by run.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write Markdown to this file.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", help="Write the tables as LaTeX to this file.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file for each table to this folder.")] = None,
    baseline: Annotated[
        str, typer.Option("--baseline", help="Compare all with this one.", show_default="every pair")
    ] = "",
    routing: Annotated[
        bool, typer.Option("--routing", help="Also compare a router with the paradigms; takes some seconds.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Report on runs: figures, comparisons, costs, duels, and every question with all its answers."""

    from ragways.apps.terminal import print_json
    from ragways.core.text import printable
    from ragways.evaluation.answers import answers, report_data
    from ragways.evaluation.answers import markdown as as_markdown
    from ragways.evaluation.record import Run
    from ragways.evaluation.report import read_runs
    from ragways.evaluation.report import report as tables_of
    from ragways.evaluation.routing.evaluate import routing_tables
    from ragways.pictures.report import report_page
    from ragways.pictures.shell import write_page

    more, routed = routing_tables(runs) if routing else ([], None)
    read = read_runs([Run(folder) for folder in runs])
    tables = [*tables_of(read, baseline=baseline), *more]
    data = report_data(tables, read, routed) if html is not None or json else {}
    files: dict[Path, str] = {}
    questions = counted(len({name for run in read for name in run.questions.values()}), "question")
    paradigms = counted(len({name for run in read for name in run.paradigms.values()}), "paradigm")
    if html is not None:
        files[html] = report_page(data)
    if markdown is not None:
        files[markdown] = as_markdown(tables, answers(read))
    if latex is not None:
        files[latex] = "\n".join(part.latex() for table in tables for part in table.parts() if part.rows)
    for file, text in files.items():
        write_page(file, text)
        typer.echo(f"wrote {file}: {questions}, {paradigms}", err=json)
    if csv is not None:
        for table in tables:
            write_page(csv / f"{table.name.replace(' ', '-')}.csv", table.csv())
        typer.echo(f"wrote {csv}: {counted(len(tables), 'table')}", err=json)
    if json:
        print_json(data)
    elif not files and csv is None:
        typer.echo(printable(as_markdown(tables)), nl=False)


def gate(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            help='E.g. "accuracy>=0.8", or a cost: usd, tokens, seconds, seconds-p95 of an answer; spent by all.',
        ),
    ] = None,
    no_worse_than: Annotated[
        Path | None, typer.Option("--no-worse-than", help="Folder of an earlier run over the same questions.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="A metric that must not have fallen, maybe with its own margin: accuracy=0.05.",
            show_default="all that the earlier run has",
        ),
    ] = None,
    margin: Annotated[float, typer.Option("--margin", help="How much worse is not worse.", min=0)] = 0.0,
    least: Annotated[int, typer.Option("--least", help="Questions that the runs must share at least.", min=1)] = 20,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail, too, where a fall beyond the margin is neither shown nor ruled out.")
    ] = False,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the checks to this file as JUnit XML.")] = None,
) -> None:
    """Exit with 1, and a line that says why, where a run misses a requirement or was shown to be worse than another."""

    from ragways.evaluation.gate import gate as check
    from ragways.pictures.shell import write_page

    metrics = dict(_with_margin(text, margin) for text in metric or [])
    found = check(
        run,
        require=require or (),
        no_worse_than=no_worse_than,
        metrics=metrics,
        margin=margin,
        least=least,
        strict=strict,
    )
    if junit is not None:
        write_page(junit, found.junit())
    typer.echo(str(found))
    if not found.passed:
        raise typer.Exit(1)


def _with_margin(text: str, usual: float) -> tuple[str, float]:
    """A metric as it is written, with its margin or the usual one."""
    from ragways.core.errors import UsageError

    name, given, value = text.partition("=")
    try:
        own = float(value) if given else usual
    except ValueError:
        own = -1.0
    if not 0 <= own < float("inf"):
        raise UsageError(f"{text!r} has no margin of 0 or more", "write it as accuracy=0.05")
    return name.strip(), own


# Tables of a terminal's width: means, intervals, and how many were scored or were not


def show_run(folder: Path, as_json: bool) -> None:
    """All figures of a run as JSON, or the usual ones as tables."""
    from ragways.apps.terminal import print_json
    from ragways.core.plain import to_plain
    from ragways.evaluation.record import Run
    from ragways.evaluation.score import nested
    from ragways.evaluation.score import score as tables_of

    tables = tables_of(Run(folder))
    if as_json:
        print_json(to_plain(nested(tables)))
    else:
        show_scores(tables)


def show_scores(tables: Mapping[str, Table]) -> None:
    """The usual metrics, then those of judges, then the spread of repeats and what is unscored, a line each."""
    from ragways.apps.terminal import console, show_table
    from ragways.core.text import printable

    show_table(_score_table(tables), compact=True, name_width=NAME_WIDTH)
    for line in _repeats(tables):
        console().print(printable(line), style="dim", markup=False, soft_wrap=True)
    for table in _judged_tables(tables):
        show_table(table, compact=True)
    for line in (*_untimed(tables), *_unscored(tables)):
        console().print(printable(line), style="dim", markup=False, soft_wrap=True)


def show_retrieval(what: str, scores: Table, data: str = "") -> None:
    """How well paradigms found the gold evidence; `what` was asked, and `data` is where it comes from."""
    from ragways.apps.terminal import show_table
    from ragways.core.table import Column, Table
    from ragways.evaluation.metrics import USUAL

    rows = scores.to_plain()
    heads = [str(metric).replace("all-evidence", "all").replace("@", "\n@ ") for metric in USUAL]
    notes = ["CPU is that of a question, apart from embedding it"]
    if rows[0]["unscored"] or rows[0]["gold_not_in_index"]:
        notes.append(
            f"unscored: {counted(int(rows[0]['unscored'] or 0), 'question')} without gold evidence; "
            f"{rows[0]['gold_not_in_index']} pieces of gold are not in the corpus and count as not found"
        )
    table = Table.of(
        ["paradigm", *(Column(head, align="right") for head in (*heads, "tokens", "CPU ms\np50/95"))],
        [
            [row["paradigm"], *(_mean(row[str(one)], row[f"{one} low"], row[f"{one} high"]) for one in USUAL),
             f"{row['evidence_tokens']:.0f}", f"{row['cpu_ms_p50']:.1f}\n{row['cpu_ms_p95']:.1f}"]
            for row in rows
        ],
        title=f"{what}, means and their 95 % intervals",
        notes=[*notes, *([f"data: {data}"] if data else [])],
    )  # fmt: skip
    show_table(table, compact=True, name_width=NAME_WIDTH)


def _score_table(tables: Mapping[str, Table]) -> Table:
    from ragways.core.table import Column, Table

    heads = (*SHOWN.values(), "tokens\ns p50", "failed")
    costs = tables["costs"]
    return Table.of(
        ["paradigm", *(Column(head, align="right") for head in heads)],
        [
            [name, *(_figure(tables, metric, name) for metric in SHOWN),
             f"{_number(costs.cell('tokens', paradigm=name), 0)}\n"
             f"{_number(costs.cell('seconds_p50', paradigm=name), 2)}",
             tables["paradigms"].cell("failed", paradigm=name)]
            for name in _names(tables)
        ],
        title="means, their 95 % intervals, and of how many questions",
    )  # fmt: skip


def _names(tables: Mapping[str, Table]) -> list[str]:
    return tables["paradigms"].column("paradigm")


def _judged_tables(tables: Mapping[str, Table]) -> Iterator[Table]:
    """A row a metric, since there may be many of them."""
    from ragways.core.table import Column, Table
    from ragways.evaluation.metrics import METRICS

    known, names = dict.fromkeys(tables["figures"].column("metric")), _names(tables)
    judged = [name for name in known if METRICS[name].of is None or METRICS.package_of(name) != "ragways"]
    title = "judged" if all(METRICS[name].of is None for name in judged) else "judged, and metrics of plug-ins"
    for at in range(0, len(names) if judged else 0, ABREAST):
        some = names[at : at + ABREAST]
        # Folded by hand: what may be folded may be narrowed too, and then figures are broken in two.
        heads = [Column(_folded(name), align="right") for name in some]
        cells = [[metric, *(_figure(tables, metric, name, wide=True) for name in some)] for metric in judged]
        yield Table.of(["metric", *heads], cells, title=title)


def _repeats(tables: Mapping[str, Table]) -> Iterator[str]:
    """How much the same question differs from one time to the next: the median and range of the repeats' means."""
    for row in tables["paradigms"].to_plain():
        found = []
        for metric in SHOWN:
            over = tables["figures"].where(metric=metric, paradigm=row["paradigm"], type="")
            [(middle, low, high)] = over.only("median", "minimum", "maximum").rows
            if middle is not None:
                found.append(f"{metric} {middle:.3f} ({low:.3f}–{high:.3f})")
        if found:
            yield f"{row['paradigm']}, median and range of {row['repeats']} repeats: {', '.join(found)}"


def _untimed(tables: Mapping[str, Table]) -> Iterator[str]:
    for name, untimed in tables["costs"].only("paradigm", "untimed").rows:
        if untimed:
            cached = "had replies from our cache and"
            answers = counted(int(untimed), f"answer {cached} is", f"answers {cached} are")
            yield f"{name}: {answers} in no seconds"


def _unscored(tables: Mapping[str, Table]) -> Iterator[str]:
    """Why values are missing, reason by reason: as many answers of each paradigm, or of those that are named."""
    from ragways.evaluation.score import gaps

    missing: dict[tuple[str, str], list[str]] = {}
    for metric, whose, answers, why in gaps(tables).rows:
        missing.setdefault((str(why), str(whose)), []).append(f"{metric} {answers:,}")
    for (why, whose), counts in missing.items():
        yield f"unscored answers of {whose}, {why or 'no reason given'}: {', '.join(counts)}"


def _number(value: Cell, digits: int) -> str:
    return "–" if value is None else f"{float(value):,.{digits}f}"


def _figure(tables: Mapping[str, Table], metric: str, paradigm: str, *, wide: bool = False) -> str:
    """A mean with its interval and the number of questions."""
    columns = ("mean", "low", "high", "n")
    where = {"metric": metric, "paradigm": paradigm, "type": ""}
    mean, low, high, n = (tables["figures"].cell(column, **where) for column in columns)
    if mean is None:
        return "–"
    return f"{mean:.3f} n {n:,}\n{_between(low, high)}" if wide else f"{_mean(mean, low, high)}\n{n:,}"


def _mean(mean: Cell, low: Cell, high: Cell) -> str:
    return "–" if mean is None else f"{float(mean):.3f}\n{_between(low, high)}"


def _between(low: Cell, high: Cell) -> str:
    """An interval in few letters: .72–.98, or – where there is none."""
    if low is None or high is None:
        return "–"
    least, most = (f"{float(end):.2f}".replace("0.", ".").replace("1.00", "1") for end in (low, high))
    return f"{least} to {most}" if float(low) < 0 else f"{least}–{most}"


def _folded(name: str) -> str:
    return "\n".join(name[at : at + HEAD] for at in range(0, len(name), HEAD))
