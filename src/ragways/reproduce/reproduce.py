"""An experiment run again: its data prepared, indexed, asked, judged, and our figures set beside the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragways.assemble import client_of, judge_client_of, judge_resources_of, opened, recipe_of
from ragways.core.errors import UsageError
from ragways.core.runtime import ProgressCallback, silent
from ragways.evaluation.datasets import DATASETS, load_questions, write_corpus
from ragways.evaluation.duel.entries import DuelRules, duel_entries
from ragways.evaluation.duel.replies import duel_judge
from ragways.evaluation.duel.result import DuelResult, duel_result
from ragways.evaluation.duel.trials import Trials
from ragways.evaluation.judges import find_judge
from ragways.evaluation.question import Question, without_gold
from ragways.evaluation.questions.generate import generate, write
from ragways.evaluation.run import Run, Variant, evaluate
from ragways.evaluation.sampling import documents, kept_documents, sample, write_documents
from ragways.evaluation.score import ParadigmScores
from ragways.index.build import build
from ragways.index.layers import check_layers
from ragways.reproduce.experiment import Experiment, LocatedData, PublishedVariant
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import ChunkingSettings, Settings

NO_MODEL = "answers: taken from the evidence by rule, as no model is set; their level cannot be compared with theirs"


@dataclass(frozen=True, slots=True)
class ReproducedColumn:
    """A column of the source's table, and with how many digits it is written."""

    label: str
    digits: int


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """A variant: for each column what we measured (`ours`), over how many questions (`n`), and what was published; None
    where there is none.
    """

    published_name: str
    paradigm: str
    settings: Mapping[str, Any]
    answered: int
    failed: int
    n: tuple[int | None, ...]
    ours: tuple[float | None, ...]
    published: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Our figures beside the published ones, and what must be known to read them: what `differs`, what was not run."""

    experiment: str
    title: str
    data: str
    published_with: str
    columns: tuple[ReproducedColumn, ...]
    rows: tuple[ReproducedRow, ...]
    differs: tuple[str, ...]
    run: str
    questions: int
    not_run: tuple[str, ...]
    duels: DuelResult | None
    warnings: tuple[str, ...]


async def reproduce(
    settings: Settings,
    experiment: Experiment,
    located: LocatedData,
    out: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    progress: ProgressCallback = silent,
) -> Reproduction:
    """Run an experiment on a data set with the source's preset; without a model, what can be run without one.

    The run, its index and its questions are kept in a folder of `out`; run again, nothing is asked twice. `limit`: only
    so many questions; `seed`: of the sample.
    """
    folder = out / f"{experiment.name}-{located.data.name.lower().replace(' ', '-')}"
    skipped = [variant for variant in experiment.variants if variant.needs_model and not settings.model.name]
    variants = [variant for variant in experiment.variants if variant not in skipped]
    questions, corpus = _prepared(experiment, located, folder, limit, seed)
    chunking = ChunkingSettings(preset=experiment.chunking)
    chosen = settings.model_copy(update={"index": folder / "index", "chunking": chunking})
    needs = {need for variant in variants for need in PARADIGMS.find(variant.paradigm).needs}
    await build(chosen.index, [corpus], recipe_of(chosen, check_layers(sorted({"vectors", *needs}))), progress=progress)
    if experiment.generated:
        questions = await _generated(chosen, experiment.generated, folder / "questions.jsonl", limit, seed, progress)
    async with opened(chosen) as use:
        at_once = chosen.model.concurrency if use.model.model is not None else 1
        asked = [Variant(variant.label, variant.paradigm, variant.settings) for variant in variants]
        columns = experiment.columns_on(located.data)
        cuts = [column.metric for column in columns if column.metric is not None]
        run = await evaluate(use, questions, asked, folder, seed=seed, at_once=at_once, metrics=cuts, progress=progress)
    unjudged = await _judge(chosen, run, [column.judge for column in columns if column.judge], progress)
    duels, undone = await _duel(chosen, experiment, variants, run, progress)
    scores = {row.paradigm: row for row in run.scores()}
    shown = (*variants, *(variant for variant in experiment.variants if variant not in variants))
    return Reproduction(
        experiment=experiment.name,
        title=experiment.title,
        data=located.data.name,
        published_with=experiment.model,
        columns=tuple(ReproducedColumn(column.label, column.digits) for column in columns),
        rows=tuple(_row(experiment, located, variant, scores.get(variant.label)) for variant in shown),
        differs=(*(() if settings.model.name else (NO_MODEL,)), _asked_here(questions, limit), *experiment.differs),
        run=str(folder),
        questions=len(questions),
        not_run=(*(f"{variant.published}: needs a model" for variant in skipped), *unjudged, *undone),
        duels=duels,
        warnings=_warnings(experiment, located, questions),
    )


def _prepared(
    experiment: Experiment, located: LocatedData, folder: Path, limit: int | None, seed: int
) -> tuple[list[Question], Path]:
    """The questions, sampled as the source did, and the corpus, cut down to their evidence if the source did that."""
    questions: list[Question] = []
    if located.questions is not None and not experiment.generated:
        questions = load_questions(located.data.format, located.questions)
        if experiment.per_type is not None:
            questions = list(sample(questions, per_type=experiment.per_type, seed=seed).questions)
        elif limit is not None:
            questions = list(sample(questions, count=limit, seed=seed).questions)
        questions = questions[:limit]
    corpus = located.corpus
    if corpus is None:
        assert located.questions is not None  # noqa: S101 - a data set without a corpus holds it in its questions
        corpus = write_corpus(DATASETS.find(located.data.format), located.questions, folder / "corpus")
    if experiment.evidence_only:
        kept = kept_documents(questions, documents(corpus), seed=seed)
        corpus = write_documents(documents(corpus), kept.keys, folder / "corpus" / "documents.jsonl")
    return questions, corpus


async def _generated(
    settings: Settings, counts: Mapping[str, int], file: Path, limit: int | None, seed: int, progress: ProgressCallback
) -> list[Question]:
    """Questions generated over the index: once, for a model would not say the same again."""
    if file.is_file():
        return load_questions("plain", file)[:limit]
    share = -(-limit // len(counts)) if limit else None
    count = max(count if share is None else min(count, share) for count in counts.values())
    async with opened(settings) as use:
        made = await generate(use, kinds=list(counts), count=count, seed=seed, progress=progress)
    if not made.questions:
        raise UsageError("no question could be made from this corpus", "set a model, or take a larger corpus")
    write(made, file)
    return list(made.questions)[:limit]


async def _judge(settings: Settings, run: Run, names: Sequence[str], progress: ProgressCallback) -> list[str]:
    """Ask the judges that the columns need; says in words which could not be asked."""
    judges = {judge.name: judge for judge in map(find_judge, dict.fromkeys(names))}
    async with judge_resources_of(settings, run.folder) as resources:
        able = [judge for judge in judges.values() if judge.by == "embedder" or resources.model.model is not None]
        at_once = settings.judge.concurrency if resources.model.model is not None else 1
        await run.judge(resources, able, at_once=at_once, progress=progress)
    return [f"{judge.name}: needs a judge, set model or judge" for judge in judges.values() if judge not in able]


async def _duel(
    settings: Settings,
    experiment: Experiment,
    variants: Sequence[PublishedVariant],
    run: Run,
    progress: ProgressCallback,
) -> tuple[DuelResult | None, list[str]]:
    """The answers in unbiased pairs, where the source did that; says in words why if it could not be done."""
    if not experiment.duel:
        return None, []
    if not (settings.judge.name or settings.model.name):
        return None, ["the duels: need a judge, set model or judge"]
    rules = DuelRules()
    entries = duel_entries(list(run.records), rules, [variant.label for variant in variants])
    by = duel_judge(settings.judge.name or settings.model.name, rules.mode)
    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        at_once = (settings.judge if settings.judge.name else settings.model).concurrency
        await Trials(judge, generator, run.folder, rules, at_once=at_once, progress=progress).run(entries)
    return duel_result(entries, run.folder, by, rules), []


def _row(
    experiment: Experiment, located: LocatedData, variant: PublishedVariant, scores: ParadigmScores | None
) -> ReproducedRow:
    columns = experiment.columns_on(located.data)
    return ReproducedRow(
        published_name=variant.published,
        paradigm=variant.paradigm,
        settings=variant.settings,
        answered=scores.records - scores.failed if scores is not None else 0,
        failed=scores.failed if scores is not None else 0,
        n=tuple(column.n(scores) if scores is not None else None for column in columns),
        ours=tuple(column.value(scores) if scores is not None else None for column in columns),
        published=tuple(column.published.get(variant.published) for column in columns),
    )


def _asked_here(questions: Sequence[Question], limit: int | None) -> str:
    """How many were really asked, of which types: a figure of one question is 0 or 100 and nothing between."""
    types = Counter(question.type or "no type" for question in questions)
    counts = ", ".join(f"{type} {count:,}" for type, count in sorted(types.items()))
    cut = f", cut by --limit {limit:,}" if limit is not None else ""
    return f"questions: {len(questions):,} were asked here{cut} ({counts})"


def _warnings(experiment: Experiment, located: LocatedData, questions: Sequence[Question]) -> tuple[str, ...]:
    if experiment.generated or located.questions is None or not without_gold(questions):
        return ()
    return (
        f"no question of {located.questions.name} has a gold answer or gold evidence, so nothing could be scored; "
        f"it was read as {located.data.format}: is it laid out so?",
    )
