"""`ragways eval retrieval`: how well paradigms find the gold evidence, before anything is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import DataOption, DatasetOption, FormatOption, LimitOption, QuestionsOption
from ragways.apps.options import JsonOption, SettingsOption, TrustOption, chosen_settings

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.retrieval import RetrievalScores
    from ragways.settings import Settings


def retrieval(
    questions: QuestionsOption = None,
    format: FormatOption = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="File or folder to index; unset, what the questions hold.")
    ] = None,
    paradigms: Annotated[str, typer.Option("--paradigms", help="Joined by commas.")] = "naive,words,hybrid-words",
    openie: Annotated[Path | None, typer.Option("--openie", help="Facts to import instead of finding them.")] = None,
    dataset: DatasetOption = None,
    data: DataOption = None,
    limit: LimitOption = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A paradigm's setting, e.g. k=20.")] = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Index a corpus (once) and see how well paradigms find the gold evidence."""
    from ragways.apps.ask import parse_names, parse_settings
    from ragways.apps.evaluation.source import corpus_of, source
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.core.plain import to_plain
    from ragways.evaluation.datasets import DATASETS, load_questions

    names, values = parse_names([paradigms]), parse_settings(set_ or [])
    chosen = chosen_settings(settings, trust=trust)
    found = source(chosen, dataset, data, questions, format, corpus)
    layout, asked = DATASETS.find(found.format), load_questions(found.format, found.questions)[:limit]
    place = corpus_of(found, chosen)
    with progress_bar(not json) as report:
        rows = asyncio.run(_measure(chosen, place, openie, asked, names, values, report))
    traced = {
        "format": found.format,
        "corpus": place.name,
        "questions": len(asked),
        "licence": layout.licence,
        "citation": layout.citation,
        "paradigms": to_plain(rows),
    }
    if json:
        print_json(traced)
    else:
        show_retrieval(
            f"{place.name}: {len(asked)} questions", rows, layout.licence and f"{layout.licence}; {layout.citation}"
        )


async def _measure(
    settings: Settings,
    corpus: Path,
    openie: Path | None,
    asked: Sequence[Any],
    names: Sequence[str],
    values: Mapping[str, str],
    report: ProgressCallback,
) -> list[RetrievalScores]:
    from ragways.apps.ask import settings_of
    from ragways.apps.evaluation.source import indexed
    from ragways.assemble import opened
    from ragways.evaluation.retrieval import measure_retrieval

    async with opened(await indexed(settings, corpus, names, report, openie=openie)) as use:
        paradigms = {name: settings_of(name, names, settings, values) for name in names}
        return await measure_retrieval(use, asked, paradigms, report=report)


def show_retrieval(what: str, scores: Sequence[RetrievalScores], data: str = "") -> None:
    """A row a paradigm; `what` was asked, and `data` is where it comes from."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.evaluation.figures import between
    from ragways.apps.terminal import console
    from ragways.core.text import printable

    metrics = list(scores[0].metrics)
    # One space between columns, and no edge: seven metrics with their intervals fit 80 columns so.
    title = Text(f"{printable(what)}, means and their 95 % intervals")
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    shown = [name.replace("all-evidence", "all").replace("@", "\n@ ") for name in metrics]
    table.add_column("paradigm", overflow="fold")
    for column in (*shown, "tokens", "CPU ms\np50/95"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in scores:
        cells = [
            "–" if one.mean is None else f"{one.mean:.3f}\n{between(one)}"
            for one in map(row.metrics.__getitem__, metrics)
        ]
        cpu = f"{row.cpu_ms_p50:.1f}\n{row.cpu_ms_p95:.1f}"
        table.add_row(Text(printable(row.paradigm)), *cells, f"{row.evidence_tokens:.0f}", cpu)
    out = console()
    out.print(table)
    out.print("CPU is that of a question, apart from embedding it", style="dim")
    if scores[0].unscored or scores[0].gold_not_in_index:
        out.print(
            f"unscored: {scores[0].unscored} questions without gold evidence; "
            f"{scores[0].gold_not_in_index} pieces of gold are not in the corpus and count as not found"
        )
    if data:
        out.print(f"data: {data}", style="dim", markup=False)
