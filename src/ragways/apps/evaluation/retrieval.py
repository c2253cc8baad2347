"""`ragways eval retrieval`: how well paradigms find the gold evidence, before anything is answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import FormatHelp
from ragways.apps.options import JsonOption, SettingsOption, chosen_settings
from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from ragways.core.progress import Report
    from ragways.settings import Settings


def retrieval(
    format: Annotated[str, typer.Option("--format", help=FormatHelp)],
    questions: Annotated[Path, typer.Option("--questions", help="File of questions.")],
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="File or folder to index; unset, what the questions hold.")
    ] = None,
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
    from ragways.evaluation.datasets import find_dataset, load_questions, write_corpus

    names, values = parse_names([paradigms]), parse_settings(set_ or [])
    dataset, asked = find_dataset(format), load_questions(format, questions)[:limit]
    if not asked:
        raise UsageError(f"{questions} holds no question", "name a file of questions")
    chosen = chosen_settings(settings)
    corpus = corpus or write_corpus(dataset, questions, chosen.cache / "evaluation" / "corpora")
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
    from rich import box
    from rich.table import Table

    from ragways.apps.terminal import console

    metrics = [name for name, value in data["paradigms"][0].items() if isinstance(value, dict)]
    title = f"{data['corpus']}: {data['questions']} questions, means and half of their 95 % intervals"
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    shown = [name.replace("all-evidence", "all").replace("@", "\n@ ") for name in metrics]
    for column in ("paradigm", *shown, "tokens", "CPU ms\np50/95"):
        table.add_column(column, justify="left" if column == "paradigm" else "right", no_wrap=True)
    for row in data["paradigms"]:
        figures = ["–" if row[m]["mean"] is None else f"{row[m]['mean']:.3f}\n{_half(row[m])}" for m in metrics]
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


def _half(figure: dict[str, Any]) -> str:
    return f"±{(figure['high'] - figure['low']) / 2:.3f}".replace("±0.", "±.")
