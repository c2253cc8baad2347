"""`ragways eval run`: every question of every paradigm, recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import (
    AtOnceOption,
    BudgetOption,
    DataOption,
    DatasetOption,
    FormatOption,
    LimitOption,
    QuestionsOption,
)
from ragways.apps.options import IndexOption, JsonOption, SettingsOption, TrustOption, chosen_settings
from ragways.core.errors import PARTLY

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.question import Question
    from ragways.evaluation.record import Records
    from ragways.evaluation.run import Variant
    from ragways.settings import Settings


def run(
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")],
    questions: QuestionsOption = None,
    format: FormatOption = None,
    dataset: DatasetOption = None,
    data: DataOption = None,
    paradigms: Annotated[
        str, typer.Option("--paradigms", help="Joined by commas, or all; with settings: naive,naive[k=20].")
    ] = "naive,words,hybrid-words",
    repeats: Annotated[int, typer.Option("--repeats", help="How often each question is asked.", min=1)] = 1,
    per_type: Annotated[
        int | None, typer.Option("--per-type", help="A sample: so many questions of each type.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample, and of the model where it takes one.", min=0)] = 0,
    at_once: AtOnceOption = None,
    budget: BudgetOption = None,
    limit: LimitOption = None,
    index: IndexOption = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Ask every question of every paradigm and record the answers; then show the figures.

    Over the index that is there; with --dataset and without --index, over one of that data set, made in the cache.
    """
    from ragways.apps.ask import parse_variants
    from ragways.apps.evaluation.figures import show_run
    from ragways.apps.evaluation.source import corpus_of, source
    from ragways.apps.terminal import progress_bar
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.record import Records
    from ragways.evaluation.reproduce.table import without_gold
    from ragways.evaluation.sampling import sample

    chosen, records = chosen_settings(settings, index, trust=trust), Records(out)
    found = source(chosen, dataset, data, questions, format, None)
    asked = load_questions(found.format, found.questions)
    if per_type is not None:
        asked = list(sample(asked, per_type=per_type, seed=seed).questions)
    asked = asked[:limit]
    if without_gold(asked):
        typer.echo(f"warning: no question of {found.questions.name} has a gold answer or gold evidence", err=True)
    variants = parse_variants(paradigms, chosen)
    corpus = corpus_of(found, chosen) if dataset is not None and index is None else None
    traced = {"questions": found.questions.name, "format": found.format, "dataset": dataset, "count": len(asked),
            "per_type": per_type, "limit": limit}  # fmt: skip
    with progress_bar(not json) as report:
        failed = asyncio.run(
            _run(chosen, asked, variants, records, repeats, seed, traced, corpus, at_once, budget, report)
        )
    show_run(out, json)
    if not json:
        _tell(records)
    if failed:
        raise typer.Exit(PARTLY)


def _tell(records: Records) -> None:
    """What a reader of the figures must know that stands in none of them."""
    absent = {record.question: record.absent for record in records if record.absent}
    if absent:
        typer.echo(
            f"{sum(absent.values())} pieces of gold evidence of {len(absent)} questions are not in this index: "
            "they count as not found"
        )
    if records.unreadable:
        typer.echo(f"{records.unreadable} lines of the records could not be read and are in no figure")


async def _run(
    settings: Settings,
    asked: Sequence[Question],
    variants: Sequence[Variant],
    records: Records,
    repeats: int,
    seed: int,
    data: dict[str, Any],
    corpus: Path | None,
    at_once: int | None,
    budget: float | None,
    report: ProgressCallback,
) -> int:
    from ragways.apps.evaluation.source import indexed
    from ragways.assemble import opened
    from ragways.evaluation.run import evaluate
    from ragways.index.health import layer_status

    if corpus is not None:
        settings = await indexed(settings, corpus, [variant.paradigm for variant in variants], report)
    built = {layer.name: layer.spent for layer in layer_status(settings.index) if layer.built}
    async with opened(settings) as use:
        side_by_side = at_once or (settings.model.concurrency if use.model.model is not None else 1)
        run = await evaluate(
            use,
            asked,
            variants,
            records.folder,
            repeats=repeats,
            seed=seed,
            at_once=side_by_side,
            budget=budget,
            data=data,
            construction=built,
            report=report,
        )
    return run.failed
