"""`ragways reproduce`: a source's experiment on the data that one has, our figures beside the published ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.options import JsonOption, SettingsOption, TrustOption, chosen_settings
from ragways.core.errors import UsageError

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.question import Question
    from ragways.evaluation.reproduce.experiment import Experiment, Located, Way
    from ragways.settings import Settings


NO_MODEL = "answers: taken from the evidence by rule, as no model is set; their level cannot be compared with theirs"


def reproduce(
    experiment: Annotated[str, typer.Argument(help="thesis, router-bench, windows, agentic or unbiased.")],
    data: Annotated[Path, typer.Option("--data", help="Folder that holds the data, or folders of it.")],
    limit: Annotated[int | None, typer.Option("--limit", help="Only so many questions.", min=1)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the runs.", show_default="reproduced")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.", min=0)] = 0,
    budget: Annotated[float | None, typer.Option("--budget", help="USD to spend at most.", min=0)] = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Run a source's experiment with its preset; without a model, what can be run without one."""
    from ragways.apps.reproduced import show_reproduced
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.core.trace import Budget, spending
    from ragways.evaluation.reproduce import find_experiment
    from ragways.evaluation.reproduce.experiment import locate

    chosen, wanted = chosen_settings(settings, trust=trust), find_experiment(experiment)
    found = locate(wanted, data)
    with progress_bar(not json) as report, spending(Budget(usd=budget)):
        results = [
            asyncio.run(_reproduce(chosen, wanted, one, out or Path("reproduced"), limit, seed, report))
            for one in found
        ]
    if json:
        print_json(results)
    else:
        for result in results:
            show_reproduced(result)


async def _reproduce(
    settings: Settings,
    wanted: Experiment,
    found: Located,
    out: Path,
    limit: int | None,
    seed: int,
    report: ProgressCallback,
) -> dict[str, Any]:
    from ragways.evaluation.reproduce.table import asked_here, table
    from ragways.evaluation.score import score_run

    folder = out / f"{wanted.name}-{found.data.name.lower().replace(' ', '-')}"
    skipped = [way for way in wanted.ways if way.needs_model and not settings.model.name]
    ways = [way for way in wanted.ways if way not in skipped]
    questions, corpus = _prepared(wanted, found, folder, limit, seed)
    chosen = _preset(settings, wanted, folder)
    await _index(chosen, ways, corpus, report)
    asked = await _questions(chosen, wanted, questions, folder / "questions.jsonl", limit, seed, report)
    await _ask(chosen, ways, asked, folder, seed, report)
    judged = await _judge(chosen, wanted, found, folder, report)
    duels, undone = await _duel(chosen, wanted, ways, folder, report)
    cuts = [column.metric for column in wanted.columns_on(found.data) if column.metric is not None]
    rows = score_run(folder, *cuts)
    traced = table(wanted, found.data, ways, rows)
    traced["differs"].insert(0, asked_here(asked, limit))
    if not settings.model.name:
        traced["differs"].insert(0, NO_MODEL)
    return {
        **traced,
        "run": str(folder),
        "questions": len(asked),
        "not_run": [*(f"{way.published}: needs a model" for way in skipped), *judged, *undone],
        "duels": duels,
        "warnings": _warnings(wanted, found, asked),
    }


def _warnings(wanted: Experiment, found: Located, asked: Sequence[Question]) -> list[str]:
    from ragways.evaluation.reproduce.table import without_gold

    if wanted.generated or found.questions is None or not without_gold(asked):
        return []
    return [f"no question of {found.questions.name} has a gold answer or gold evidence, so nothing could be scored; "
            f"it was read as {found.data.format}: is it laid out so?"]  # fmt: skip


def _preset(settings: Settings, wanted: Experiment, folder: Path) -> Settings:
    """The user's settings with the source's chunking and its own prompts, and an index of its own."""
    from ragways.settings import ChunkingSettings

    return settings.model_copy(update={"index": folder / "index", "chunking": ChunkingSettings(preset=wanted.chunking)})


def _prepared(
    wanted: Experiment, found: Located, folder: Path, limit: int | None, seed: int
) -> tuple[list[Question], Path]:
    """The questions, sampled as the source did, and the corpus, cut down to their evidence if the source did that."""
    from ragways.evaluation.datasets import DATASETS, load_questions, write_corpus
    from ragways.evaluation.sampling import documents, kept_documents, sample, write_documents

    questions: list[Question] = []
    if found.questions is not None and not wanted.generated:
        questions = load_questions(found.data.format, found.questions)
        if wanted.per_type is not None:
            questions = list(sample(questions, per_type=wanted.per_type, seed=seed).questions)
        elif limit is not None:
            questions = list(sample(questions, count=limit, seed=seed).questions)
        questions = questions[:limit]
    corpus = found.corpus
    if corpus is None:
        assert found.questions is not None  # noqa: S101 - a data set without a corpus holds it in its questions
        corpus = write_corpus(DATASETS.find(found.data.format), found.questions, folder / "corpus")
    if wanted.evidence_only:
        kept = kept_documents(questions, documents(corpus), seed=seed)
        corpus = write_documents(documents(corpus), kept.keys, folder / "corpus" / "documents.jsonl")
    return questions, corpus


async def _index(settings: Settings, ways: Sequence[Way], corpus: Path, report: ProgressCallback) -> None:
    from ragways.assemble import recipe_of
    from ragways.index.build import build
    from ragways.index.layers import check_layers
    from ragways.retrieval.ask import PARADIGMS

    layers = check_layers(sorted({"vectors", *(need for way in ways for need in PARADIGMS.find(way.paradigm).needs)}))
    await build(settings.index, [corpus], recipe_of(settings, layers), report=report)


async def _questions(
    settings: Settings,
    wanted: Experiment,
    questions: list[Question],
    file: Path,
    limit: int | None,
    seed: int,
    report: ProgressCallback,
) -> list[Question]:
    """Those of the data, or generated over the index: once, for a model would not say the same again."""
    from ragways.evaluation.datasets import load_questions

    if not wanted.generated:
        return questions
    if file.is_file():
        return load_questions("plain", file)[:limit]
    from ragways.assemble import opened
    from ragways.evaluation.questions.generate import generate, write

    share = len(wanted.generated)
    counts = {kind: min(count, -(-limit // share)) if limit else count for kind, count in wanted.generated.items()}
    async with opened(settings) as use:
        made = await generate(use, kinds=list(counts), count=max(counts.values()), seed=seed, report=report)
    if not made.questions:
        raise UsageError("no question could be made from this corpus", "set a model, or take a larger corpus")
    write(made, file)
    return list(made.questions)[:limit]


async def _ask(
    settings: Settings,
    ways: Sequence[Way],
    questions: Sequence[Question],
    folder: Path,
    seed: int,
    report: ProgressCallback,
) -> None:
    from ragways.assemble import opened
    from ragways.evaluation.run import Variant, evaluate

    async with opened(settings) as use:
        variants = [Variant(way.label, way.paradigm, way.settings) for way in ways]
        at_once = settings.model.concurrency if use.model.model is not None else 1
        await evaluate(use, questions, variants, folder, seed=seed, at_once=at_once, report=report)


async def _judge(
    settings: Settings, wanted: Experiment, found: Located, folder: Path, report: ProgressCallback
) -> list[str]:
    """Ask the judges that the columns need; says in words which could not be asked."""
    from ragways.assemble import judge_resources_of
    from ragways.evaluation.judges import find_judge
    from ragways.evaluation.judging import Judgements, judge
    from ragways.evaluation.record import Records

    names = list(dict.fromkeys(column.judge for column in wanted.columns_on(found.data) if column.judge))
    judges = {one.name: one for one in map(find_judge, names)}
    async with judge_resources_of(settings, folder) as resources:
        able = [one for one in judges.values() if one.by == "embedder" or resources.model.model is not None]
        at_once = settings.judge.concurrency if resources.model.model is not None else 1
        await judge(resources, list(Records(folder)), able, Judgements(folder), at_once=at_once, report=report)
    return [f"{one.name}: needs a judge, set model or judge" for one in judges.values() if one not in able]


async def _duel(
    settings: Settings, wanted: Experiment, ways: Sequence[Way], folder: Path, report: ProgressCallback
) -> tuple[dict[str, Any] | None, list[str]]:
    """The answers in unbiased pairs, where the source did that; says in words why if it could not be done."""
    if not wanted.duel:
        return None, []
    if not (settings.judge.name or settings.model.name):
        return None, ["the duels: need a judge, set model or judge"]
    from ragways.assemble import client_of, judge_client_of
    from ragways.core.plain import to_plain
    from ragways.evaluation.duel.entries import DuelRules, duel_entries
    from ragways.evaluation.duel.replies import duel_judge
    from ragways.evaluation.duel.result import duel_result
    from ragways.evaluation.duel.trials import Trials
    from ragways.evaluation.record import Records

    rules = DuelRules()
    entries = duel_entries(list(Records(folder)), rules, [way.label for way in ways])
    by = duel_judge(settings.judge.name or settings.model.name, rules.mode)
    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        at_once = (settings.judge if settings.judge.name else settings.model).concurrency
        await Trials(judge, generator, folder, rules, at_once=at_once, report=report).run(entries)
    return to_plain(duel_result(entries, folder, by, rules)), []
