"""`ragways eval`: how well the paradigms do on questions whose answers are known."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.options import IndexOption, JsonOption, SettingsOption, chosen_settings
from ragways.core.errors import PARTLY, UsageError

if TYPE_CHECKING:
    from ragways.core.progress import Report
    from ragways.evaluation.record import Records
    from ragways.settings import Settings

app = typer.Typer(
    help="Measure paradigms on questions with known answers.", no_args_is_help=True, rich_markup_mode=None
)

LAYOUTS = "hipporag, multihop-rag, graphrag-bench, 2wiki-results or plain"


@app.command()
def retrieval(
    format: Annotated[str, typer.Option("--format", help=f"Layout of the questions: {LAYOUTS}.")],
    corpus: Annotated[Path, typer.Option("--corpus", help="File or folder to index.")],
    questions: Annotated[Path, typer.Option("--questions", help="File of questions.")],
    paradigms: Annotated[str, typer.Option("--paradigms", help="Joined by commas.")] = "naive,words,hybrid-words",
    openie: Annotated[Path | None, typer.Option("--openie", help="Facts to import instead of finding them.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A paradigm's setting, e.g. k=20.")] = None,
    settings: SettingsOption = None,
    json: JsonOption = False,
) -> None:
    """Index a corpus (once) and see how well paradigms find the gold evidence."""
    from ragways.apps.asking import parse_names, parse_settings
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.datasets import find_dataset, load_questions

    names, values = parse_names([paradigms]), parse_settings(set_ or [])
    dataset, asked = find_dataset(format), load_questions(format, questions)[:limit]
    if not asked:
        raise UsageError(f"{questions} holds no question", "name a file of questions")
    chosen = chosen_settings(settings)
    with progress_bar(not json) as report:
        rows = asyncio.run(_measure(chosen, corpus, openie, asked, names, values, report))
    data = {
        "format": format,
        "corpus": corpus.name,
        "questions": len(asked),
        "licence": dataset.licence,
        "citation": dataset.citation,
        "paradigms": rows,
    }
    if json:
        print_json(data)
    else:
        _show(data)


@app.command()
def run(
    questions: Annotated[Path, typer.Option("--questions", help="File of questions.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")],
    format: Annotated[str, typer.Option("--format", help=f"Layout of the questions: {LAYOUTS}.")] = "plain",
    paradigms: Annotated[
        str, typer.Option("--paradigms", help="Joined by commas, or all.")
    ] = "naive,words,hybrid-words",
    repeats: Annotated[int, typer.Option("--repeats", help="How often each question is asked.", min=1)] = 1,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)] = None,
    index: IndexOption = None,
    settings: SettingsOption = None,
    json: JsonOption = False,
) -> None:
    """Ask every question of every paradigm and record the answers; then show the figures."""
    from ragways.apps.asking import parse_names
    from ragways.apps.terminal import progress_bar
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.record import Records

    names, asked = parse_names([paradigms]), load_questions(format, questions)[:limit]
    chosen, records = chosen_settings(settings, index), Records(out)
    with progress_bar(not json) as report:
        failed = asyncio.run(_run(chosen, asked, names, records, repeats, budget, report))
    _figures(records, json)
    if failed:
        raise typer.Exit(PARTLY)


async def _run(
    settings: Settings,
    asked: Sequence[Any],
    names: Sequence[str],
    records: Records,
    repeats: int,
    budget: float | None,
    report: Report,
) -> int:
    from ragways.apps.asking import settings_of
    from ragways.assemble import opened
    from ragways.evaluation.run import run as run_all

    async with opened(settings) as use:
        paradigms = {name: settings_of(name, names, settings, {}) for name in names}
        return await run_all(use, asked, paradigms, records, repeats=repeats, budget=budget, report=report)


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    json: JsonOption = False,
) -> None:
    """Compute the figures of a run again, from its records alone."""
    from ragways.evaluation.record import Records

    _figures(Records(run), json)


@app.command()
def gate(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    require: Annotated[list[str] | None, typer.Option("--require", help='E.g. "accuracy>=0.8".')] = None,
    no_worse_than: Annotated[Path | None, typer.Option("--no-worse-than", help="Folder of an earlier run.")] = None,
    tolerance: Annotated[float, typer.Option("--tolerance", help="How much worse is not worse.", min=0)] = 0.0,
) -> None:
    """Exit with 1, and say why in a line, where a run misses what is required or is worse than an earlier one."""
    from ragways.evaluation.gate import Requirement, worse
    from ragways.evaluation.record import Records
    from ragways.evaluation.score import score as score_records

    rows = score_records(Records(run))
    misses = [miss for text in require or [] for miss in Requirement.parse(text).misses(rows)]
    misses += [f"{row['paradigm']}: {row['failed']} answers failed" for row in rows if row["failed"]]
    if no_worse_than is not None:
        misses += worse(rows, score_records(Records(no_worse_than)), tolerance)
    if misses:
        typer.echo(f"not passed: {'; '.join(misses)}")
        raise typer.Exit(1)
    typer.echo(f"passed: {sum(row['records'] for row in rows)} records of {len(rows)} paradigms")


def _figures(records: Records, as_json: bool) -> None:
    from ragways.apps.terminal import console, print_json
    from ragways.evaluation.score import score as score_records

    rows = score_records(records)
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    shown = {
        "accuracy": "accur.",
        "f1": "F1",
        "abstained": "abst.",
        "hallucinated": "halluc.",
        "recall@5": "recall\n@ 5",
        "all-evidence@8": "all\n@ 8",
    }
    table = Table(title="means with half of their 95 % intervals; below, how many were scored", padding=(0, 0, 0, 1))
    for column in ("paradigm", *shown.values(), "tokens", "s p50", "failed"):
        table.add_column(column, justify="left" if column == "paradigm" else "right", no_wrap=True)
    for row in rows:
        cells = [_cell(row["metrics"][name]) for name in shown]
        used = row["resources"]
        tokens = f"{used['input'] + used['output']:.0f}" if used else "–"
        table.add_row(
            row["paradigm"], *cells, tokens, f"{used['seconds_p50']:.2f}" if used else "–", str(row["failed"])
        )
    console().print(table)


def _cell(figure: dict[str, Any]) -> str:
    if figure["mean"] is None:
        return "unscored"
    return f"{figure['mean']:.3f}\n±{(figure['high'] - figure['low']) / 2:.2f}\n{figure['n']}"


async def _measure(
    settings: Settings,
    corpus: Path,
    openie: Path | None,
    asked: Sequence[Any],
    names: Sequence[str],
    values: Mapping[str, str],
    report: Report,
) -> list[dict[str, Any]]:
    from ragways.apps.asking import settings_of
    from ragways.assemble import opened, recipe_of
    from ragways.evaluation.retrieval import measure
    from ragways.index.build import build
    from ragways.index.layers import check_layers
    from ragways.paradigms import find_paradigm

    layers = check_layers(sorted({"vectors", *(need for name in names for need in find_paradigm(name).needs)}))
    chosen = settings.model_copy(update={"index": _place(settings.cache, corpus, openie)})
    recipe = recipe_of(chosen, layers, graph={"way": "import", "import": str(openie)} if openie else None)
    await build(chosen.index, [corpus], recipe, report=report)
    async with opened(chosen) as use:
        paradigms = {name: settings_of(name, names, settings, values) for name in names}
        return [figures.as_data() for figures in await measure(use, asked, paradigms, report=report)]


def _place(cache: Path, corpus: Path, openie: Path | None) -> Path:
    """An index for each corpus, found again by where the corpus lies; the build itself notices what changed in it."""
    named = f"{corpus.resolve()}|{openie.resolve() if openie else ''}"
    return cache / "evaluation" / hashlib.sha256(named.encode()).hexdigest()[:16]


def _show(data: dict[str, Any]) -> None:
    from rich.table import Table

    from ragways.apps.terminal import console

    metrics = [name for name, value in data["paradigms"][0].items() if isinstance(value, dict)]
    title = f"{data['corpus']}: {data['questions']} questions, means with 95 % intervals"
    table = Table(title=title, padding=(0, 0, 0, 1))
    for column in ("paradigm", *(name.replace("@", "\n@ ") for name in metrics), "tokens", "CPU ms\np50/p95"):
        table.add_column(column, justify="left" if column == "paradigm" else "right", no_wrap=True)
    for row in data["paradigms"]:
        figures = [
            "–" if row[m]["mean"] is None else f"{row[m]['mean']:.3f}\n±{(row[m]['high'] - row[m]['low']) / 2:.3f}"
            for m in metrics
        ]
        cpu = f"{row['cpu_ms_p50']:.1f}\n{row['cpu_ms_p95']:.1f}"
        table.add_row(row["paradigm"], *figures, f"{row['evidence_tokens']:.0f}", cpu)
    out = console()
    out.print(table)
    for row in data["paradigms"][:1]:
        if row["unscored"] or row["gold_not_in_index"]:
            out.print(
                f"unscored: {row['unscored']} questions without gold evidence; "
                f"{row['gold_not_in_index']} pieces of gold are not in the corpus and count as not found"
            )
    if data["licence"]:
        out.print(f"data: {data['licence']}; {data['citation']}", style="dim", markup=False)
