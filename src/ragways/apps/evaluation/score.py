"""`ragways eval score`, `report` and `gate`: the figures of runs, from their records and judgements alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, RunArgument
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.evaluation.retrieval import RetrievalScores
    from ragways.evaluation.score import MetricScore, ParadigmScores

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
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs; of several, paradigms are told apart by run.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write Markdown to this file.")] = None,
    baseline: Annotated[
        str, typer.Option("--baseline", help="Compare all with this one.", show_default="every pair")
    ] = "",
    routing: Annotated[
        bool, typer.Option("--routing", help="Also hold a router against the paradigms; takes some seconds.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Report on runs: figures, comparisons, costs, duels, and every question with all its answers."""

    from ragways.core.text import printable
    from ragways.evaluation.report.data import evaluation_report
    from ragways.evaluation.report.markdown import markdown as as_markdown
    from ragways.pictures.shell import write_page

    found = evaluation_report(runs, baseline=baseline, routing=routing)
    written = f"{counted(len(found.questions), 'question')}, {counted(len(found.paradigms), 'paradigm')}"
    if html is not None:
        from ragways.pictures.report import report_page

        write_page(html, report_page(found.to_plain()))
        typer.echo(f"wrote {html}: {written}", err=json)
    if markdown is not None:
        write_page(markdown, as_markdown(found))
        typer.echo(f"wrote {markdown}: {written}", err=json)
    if json:
        from ragways.apps.terminal import print_json

        print_json(found.to_plain())
    elif html is None and markdown is None:
        typer.echo(printable(as_markdown(found, answers=False)), nl=False)


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
        bool, typer.Option("--strict", help="Fail, too, where no fall was shown, nor that there is none.")
    ] = False,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the checks to this file as JUnit XML.")] = None,
) -> None:
    """Exit with 1, and say why in a line, where a run misses what is required or was shown to be worse than another."""

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
    from ragways.evaluation.score import score_run

    rows = score_run(folder)
    if as_json:
        print_json(to_plain(rows))
    else:
        show_scores(rows)


def show_scores(rows: Sequence[ParadigmScores]) -> None:
    """The usual metrics, then what judges say, then the spread of repeats and what is unscored, a line each."""
    from ragways.apps.terminal import console, show_table
    from ragways.core.text import printable

    show_table(_score_table(rows), compact=True, name_width=NAME_WIDTH)
    for line in _repeats(rows):
        console().print(printable(line), style="dim", markup=False, soft_wrap=True)
    for table in _judged_tables(rows):
        show_table(table, compact=True)
    for line in (*_untimed(rows), *_unscored(rows)):
        console().print(printable(line), style="dim", markup=False, soft_wrap=True)


def show_retrieval(what: str, scores: Sequence[RetrievalScores], data: str = "") -> None:
    """How well paradigms found the gold evidence; `what` was asked, and `data` is where it comes from."""
    from ragways.apps.terminal import show_table
    from ragways.core.table import Column, Table

    metrics = list(scores[0].metrics)
    heads = [name.replace("all-evidence", "all").replace("@", "\n@ ") for name in metrics]
    notes = ["CPU is that of a question, apart from embedding it"]
    if scores[0].unscored or scores[0].gold_not_in_index:
        notes.append(
            f"unscored: {counted(scores[0].unscored, 'question')} without gold evidence; "
            f"{scores[0].gold_not_in_index} pieces of gold are not in the corpus and count as not found"
        )
    table = Table.of(
        ["paradigm", *(Column(head, align="right") for head in (*heads, "tokens", "CPU ms\np50/95"))],
        [
            [row.paradigm, *(_mean(row.metrics[name]) for name in metrics), f"{row.evidence_tokens:.0f}",
             f"{row.cpu_ms_p50:.1f}\n{row.cpu_ms_p95:.1f}"]
            for row in scores
        ],
        title=f"{what}, means and their 95 % intervals",
        notes=[*notes, *([f"data: {data}"] if data else [])],
    )  # fmt: skip
    show_table(table, compact=True, name_width=NAME_WIDTH)


def _score_table(rows: Sequence[ParadigmScores]) -> Table:
    from ragways.core.table import Column, Table

    heads = (*SHOWN.values(), "tokens\ns p50", "failed")
    return Table.of(
        ["paradigm", *(Column(head, align="right") for head in heads)],
        [
            [row.paradigm, *(_mean(row.metrics[name], counted=True) for name in SHOWN),
             f"{_number(row.resources.total.tokens, 0)}\n{_number(row.resources.seconds_p50, 2)}", row.failed]
            for row in rows
        ],
        title="means, their 95 % intervals, and of how many questions",
    )  # fmt: skip


def _judged_tables(rows: Sequence[ParadigmScores]) -> Iterator[Table]:
    """A row a metric, since there may be many of them."""
    from ragways.core.table import Column, Table
    from ragways.evaluation.metrics import METRICS
    from ragways.evaluation.score import MetricScore

    judged = [n for n in rows[0].metrics if METRICS[n].of is None or METRICS.package_of(n) != "ragways"] if rows else []
    title = "judged" if all(METRICS[name].of is None for name in judged) else "judged, and metrics of plug-ins"
    for at in range(0, len(rows) if judged else 0, ABREAST):
        some = rows[at : at + ABREAST]
        # Folded by hand: what may be folded may be narrowed too, and then figures are broken in two.
        heads = [Column(_folded(row.paradigm), align="right") for row in some]
        cells = [[name, *(_judged(row.metrics.get(name, MetricScore())) for row in some)] for name in judged]
        yield Table.of(["metric", *heads], cells, title=title)


def _repeats(rows: Sequence[ParadigmScores]) -> Iterator[str]:
    """How much the same question differs from one time to the next: the median and range of the repeats' means."""
    for row in rows:
        spread = [
            f"{name} {over.median:.3f} ({over.minimum:.3f}–{over.maximum:.3f})"
            for name in SHOWN
            if (over := row.metrics[name].repeats) is not None
        ]
        if spread:
            yield f"{row.paradigm}, median and range of {row.repeats} repeats: {', '.join(spread)}"


def _untimed(rows: Sequence[ParadigmScores]) -> Iterator[str]:
    for row in rows:
        if row.resources.untimed:
            cached = "had replies from our cache and"
            answers = counted(row.resources.untimed, f"answer {cached} is", f"answers {cached} are")
            yield f"{row.paradigm}: {answers} in no seconds"


def _unscored(rows: Sequence[ParadigmScores]) -> Iterator[str]:
    """Why values are missing, reason by reason: as many answers of each paradigm, or of those that are named."""
    from ragways.evaluation.score import gaps

    missing: dict[tuple[str, str], list[str]] = {}
    for gap in gaps(rows):
        missing.setdefault((gap.why, gap.whose), []).append(f"{gap.metric} {gap.answers:,}")
    for (why, whose), counts in missing.items():
        yield f"unscored answers of {whose}, {why or 'no reason given'}: {', '.join(counts)}"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _mean(own: MetricScore, *, counted: bool = False) -> str:
    if own.mean is None:
        return "–"
    return f"{own.mean:.3f}\n{_between(own)}" + (f"\n{own.n:,}" if counted else "")


def _judged(own: MetricScore) -> str:
    return "–" if own.mean is None else f"{own.mean:.3f} n {own.n:,}\n{_between(own)}"


def _between(own: MetricScore) -> str:
    """An interval in few letters: .72–.98, or – where there is none."""
    if own.low is None or own.high is None:
        return "–"
    low, high = (f"{end:.2f}".replace("0.", ".").replace("1.00", "1") for end in (own.low, own.high))
    return f"{low} to {high}" if own.low < 0 else f"{low}–{high}"


def _folded(name: str) -> str:
    return "\n".join(name[at : at + HEAD] for at in range(0, len(name), HEAD))
