"""`ragways eval run` and `retrieval`: paradigms on the questions of a file or of a data set, over its corpus."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.terminal import (
    AtOnceOption,
    BudgetOption,
    DataOption,
    DatasetOption,
    FormatOption,
    IndexOption,
    JsonOption,
    LimitOption,
    QuestionsOption,
    WhereOption,
    print_json,
    progress_bar,
    with_settings,
)
from ragways.core.errors import PARTLY, UsageError
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.core.table import Table
    from ragways.evaluation.datasets import DatasetFiles
    from ragways.evaluation.record import Records, Run
    from ragways.evaluation.run import RunOptions, Variant
    from ragways.settings import Settings

DEMO = "demo"
"""The bundled questions over the bundled corpus."""


@with_settings("index", "trust")
def run(
    chosen: Settings,
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
    apart: Annotated[
        bool, typer.Option("--apart", help="Each paradigm in a process of its own, whose memory is then its own.")
    ] = False,
    features: Annotated[
        bool, typer.Option("--features/--no-features", help="Store what is known of a question before it is answered.")
    ] = True,
    where: WhereOption = None,
    index: IndexOption = None,
    json: JsonOption = False,
) -> None:
    """Ask every question of every paradigm and record the answers; then show the figures.

    Over the index that is there; with --dataset and without --index, over one of that data set, made in the cache.
    """
    from ragways.apps.evaluation.score import show_run
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.question import without_gold
    from ragways.evaluation.record import Records
    from ragways.evaluation.run import RunOptions, evaluate, parse_variants
    from ragways.evaluation.sampling import sample

    records = Records(out)
    found = source(chosen, dataset, data, questions, format, None)
    asked = load_questions(found.format, found.questions)
    if per_type is not None:
        asked = list(sample(asked, per_type=per_type, seed=seed).questions)
    asked = asked[:limit]
    if without_gold(asked):
        typer.echo(f"warning: no question of {found.questions.name} has a gold answer or gold evidence", err=True)
    variants = parse_variants(paradigms, chosen.paradigms)
    corpus = corpus_of(found, chosen) if dataset is not None and index is None else None
    described = {"questions": found.questions.name, "format": found.format, "dataset": dataset, "count": len(asked),
            "per_type": per_type, "limit": limit, **({"where": where} if where else {})}  # fmt: skip
    if apart:
        failed = _each_apart(variants, records, budget)
    else:
        with progress_bar(not json) as progress:
            ask = partial(
                evaluate,
                questions=asked,
                variants=variants,
                folder=records.folder,
                data=described,
                progress=progress,
            )
            if corpus is not None:
                chosen = asyncio.run(indexed(chosen, corpus, [variant.name for variant in variants], progress))
            options = RunOptions(repeats, seed, at_once or 0, budget, features)
            failed = asyncio.run(_run(chosen, where, options, ask))
    show_run(out, json)
    if not json:
        _warn(records)
    if failed:
        raise typer.Exit(PARTLY)


def _each_apart(variants: Sequence[Variant], records: Records, budget: float | None) -> int:
    """This command once more for each variant, one after the other; returns for how many an answer failed."""
    arguments = [one for one in sys.argv[1:] if one != "--apart"]
    before, failed = _spent(records), 0
    for variant in variants:
        left = [] if budget is None else ["--budget", str(max(0.0, budget - _spent(records) + before))]
        command = [sys.executable, "-m", "ragways", *arguments, "--paradigms", variant.name, *left, "--json"]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603 - our own
        if code not in (0, PARTLY):
            raise typer.Exit(code)
        failed += code == PARTLY
    return failed


def _spent(records: Records) -> float:
    return sum(record.usage.spent or 0.0 for record in records.here())


def _warn(records: Records) -> None:
    """What is counted in none of the figures."""
    absent = {record.question: record.absent for record in records if record.absent}
    if absent:
        typer.echo(
            f"not in this index: {counted(sum(absent.values()), 'piece')} of gold evidence of "
            f"{counted(len(absent), 'question')}, which counts as not found"
        )
    if records.unreadable:
        typer.echo(f"in no figure: {counted(records.unreadable, 'line')} of the records that could not be read")


async def _run(
    settings: Settings, where: str | None, options: RunOptions, ask: Callable[..., Coroutine[Any, Any, Run]]
) -> int:
    from ragways.assemble import opened

    async with opened(settings) as whole:
        use = whole.only(where)
        concurrency = settings.model.concurrency if use.model.model is not None else 1
        return (await ask(use, options=replace(options, at_once=options.at_once or concurrency))).failed


@with_settings("trust")
def retrieval(
    chosen: Settings,
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
    json: JsonOption = False,
) -> None:
    """Index a corpus (once) and see how well paradigms find the gold evidence."""
    from ragways.apps.ask import parse_names
    from ragways.apps.evaluation.score import show_retrieval
    from ragways.evaluation.datasets import DATASETS, load_questions
    from ragways.retrieval.paradigm import parse_settings

    names, values = parse_names([paradigms]), parse_settings(set_ or [])
    found = source(chosen, dataset, data, questions, format, corpus)
    layout, asked = DATASETS.find(found.format), load_questions(found.format, found.questions)[:limit]
    place = corpus_of(found, chosen)
    with progress_bar(not json) as progress:
        rows = asyncio.run(_measure(chosen, place, openie, asked, names, values, progress))
    measured = {
        "format": found.format,
        "corpus": place.name,
        "questions": len(asked),
        "licence": layout.licence,
        "citation": layout.citation,
        "paradigms": [_nested(row) for row in rows.to_plain()],
    }
    if json:
        print_json(measured)
    else:
        show_retrieval(
            f"{place.name}: {counted(len(asked), 'question')}",
            rows,
            layout.licence and f"{layout.licence}; {layout.citation}",
        )


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of retrieval as JSON, with the figures of each metric together."""
    names = [name.removesuffix(" low") for name in row if name.endswith(" low")]
    scored = row["questions"] - row["unscored"]
    metrics = {
        one: {"mean": row[one], "low": row[f"{one} low"], "high": row[f"{one} high"], "n": scored} for one in names
    }
    return {key: value for key, value in row.items() if key.partition(" ")[0] not in names} | {"metrics": metrics}


async def _measure(
    settings: Settings,
    corpus: Path,
    openie: Path | None,
    asked: Sequence[Any],
    names: Sequence[str],
    values: Mapping[str, str],
    progress: ProgressCallback,
) -> Table:
    from ragways.apps.ask import settings_of
    from ragways.assemble import opened
    from ragways.evaluation.retrieval import measure_retrieval

    async with opened(await indexed(settings, corpus, names, progress, openie=openie)) as use:
        paradigms = {name: settings_of(name, names, settings, values) for name in names}
        return await measure_retrieval(use, asked, paradigms, progress=progress)


# Where questions and their corpus come from


def source(
    settings: Settings,
    dataset: str | None,
    data: Path | None,
    questions: Path | None,
    format: str | None,
    corpus: Path | None,
) -> DatasetFiles:
    """The files; those that were named go before what the data set would be read from."""
    from ragways.evaluation.datasets import KNOWN, DatasetFiles, KnownFiles, find_data

    if dataset is None:
        if questions is None:
            raise UsageError("no questions are named", "give --questions FILE, or --dataset NAME")
        return DatasetFiles(format or "plain", questions, corpus)
    if dataset == DEMO:
        bundle = Path(str(resources.files("ragways"))) / "demo"
        found = DatasetFiles("plain", bundle / "questions.jsonl", bundle / "corpus")
    else:
        known = {**KNOWN, DEMO: KnownFiles("plain", ())}
        found = find_data(dataset, data or settings.data, known)
    return DatasetFiles(format or found.format, questions or found.questions, corpus or found.corpus)


def corpus_of(found: DatasetFiles, settings: Settings) -> Path:
    """The corpus: a file or folder of its own, or what the questions hold, written out."""
    from ragways.evaluation.datasets import DATASETS, write_corpus

    if found.corpus is not None:
        return found.corpus
    return write_corpus(DATASETS.find(found.format), found.questions, settings.cache / "evaluation" / "corpora")


async def indexed(
    settings: Settings,
    corpus: Path,
    paradigms: Iterable[str],
    progress: ProgressCallback,
    *,
    openie: Path | None = None,
) -> Settings:
    """The settings with an index of this corpus, stored in the cache, with the layers that the paradigms need."""
    from ragways.assemble import recipe_of
    from ragways.index.build import build_own
    from ragways.retrieval.ask import PARADIGMS
    from ragways.retrieval.paradigm import parse_variant

    wanted = [parse_variant(name) for name in paradigms]
    needs = {need for name, own in wanted for need in PARADIGMS.find(name).needs_with(own)}
    chosen = settings.model_copy(update={"index": _place(settings.cache, corpus, openie)})
    recipe = recipe_of(
        chosen,
        {"vectors", *needs},
        graph=chosen.graph.model_copy(update={"method": "import", "file": str(openie)}) if openie else None,
    )
    await build_own(chosen.index, [corpus], recipe, progress=progress)
    return chosen


def _place(cache: Path, corpus: Path, openie: Path | None) -> Path:
    """An index for each corpus, found again by where the corpus lies; the build itself notices what changed in it."""
    named = f"{corpus.resolve()}|{openie.resolve() if openie else ''}"
    return cache / "evaluation" / hashlib.sha256(named.encode()).hexdigest()[:16]
