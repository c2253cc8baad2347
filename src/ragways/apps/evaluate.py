"""`ragways eval`: how well the paradigms do on questions whose answers are known."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragways.settings import Settings

app = typer.Typer(
    help="Measure paradigms on questions with known answers.", no_args_is_help=True, rich_markup_mode=None
)

LAYOUTS = "hipporag, multihop-rag, graphrag-bench, 2wiki-results or plain"


@app.callback()
def _group() -> None:
    """Keeps `retrieval` a command of its own while it is the only one."""


@app.command()
def retrieval(
    format: Annotated[str, typer.Option("--format", help=f"Layout of the questions: {LAYOUTS}.")],
    corpus: Annotated[Path, typer.Option("--corpus", help="File or folder to index.")],
    questions: Annotated[Path, typer.Option("--questions", help="File of questions.")],
    paradigms: Annotated[str, typer.Option("--paradigms", help="Joined by commas.")] = "naive,words,hybrid-words",
    openie: Annotated[Path | None, typer.Option("--openie", help="Facts to import instead of finding them.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Only the first so many questions.", min=1)] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A paradigm's setting, e.g. k=20.")] = None,
    settings: Annotated[Path | None, typer.Option("--settings", help="Settings file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Index a corpus (once) and see how well paradigms find the gold evidence."""
    from ragways.apps.asking import parse_names, parse_settings
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.datasets import find_dataset, load_questions
    from ragways.settings import read_settings

    names, values = parse_names([paradigms]), parse_settings(set_ or [])
    dataset, asked = find_dataset(format), load_questions(format, questions)[:limit]
    chosen = read_settings(settings)
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


async def _measure(
    settings: Settings,
    corpus: Path,
    openie: Path | None,
    asked: Sequence[Any],
    names: Sequence[str],
    values: Mapping[str, str],
    report: Any,  # noqa: ANN401
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
