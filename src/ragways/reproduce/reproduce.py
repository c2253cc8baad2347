"""An experiment run again: its data prepared, indexed, answered, judged; our figures beside the published ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from ragways.evaluation.judging import judge_run
from ragways.evaluation.question import Question, without_gold
from ragways.evaluation.questions.generate import generate, write
from ragways.evaluation.record import Record, Run, locked
from ragways.evaluation.run import Variant, evaluate
from ragways.evaluation.sampling import documents, kept_documents, sample, write_documents
from ragways.evaluation.score import score
from ragways.index.build import build_own
from ragways.layers.table import check_layers
from ragways.reproduce.by_type import TypeRow, type_rows
from ragways.reproduce.differences import differences, recreated
from ragways.reproduce.duels import ForcedDuel, LevelDuel, ask_forced, duels_by_level, published_rate
from ragways.reproduce.experiment import (
    Difference,
    Experiment,
    LocatedData,
    PublishedColumn,
    PublishedFigure,
    PublishedVariant,
)
from ragways.reproduce.figures import Figure, VariantRun
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import Settings


@dataclass(frozen=True, slots=True)
class ReproducedColumn:
    """A column of the source's table, and with how many digits it is written."""

    label: str
    digits: int


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """A variant: for each column what we measured (`ours`) and what was published; None where there is nothing."""

    published_name: str
    paradigm: str
    settings: Mapping[str, Any]
    answered: int
    failed: int
    ours: tuple[Figure, ...]
    published: tuple[PublishedFigure | None, ...]


@dataclass(frozen=True, slots=True)
class ReproducedDuel:
    """Two variants in pairs: our relative win rate with its interval, the published one, the rates by level of the
    questions, and what the old procedure says, where the first stands first and somebody must win.
    """

    a: str
    b: str
    rate: float | None
    low: float | None
    high: float | None
    verdict: str
    published: float | None
    levels: tuple[LevelDuel, ...]
    forced: ForcedDuel


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Our figures beside the published ones, and what must be known to read them: which `files` they come from, in what
    they differ, what the source says besides (`notes`), and what was not run. `by_type`: where the source has such a
    table.
    """

    experiment: str
    title: str
    data: str
    files: tuple[str, ...]
    published_with: str
    runs: int
    columns: tuple[ReproducedColumn, ...]
    rows: tuple[ReproducedRow, ...]
    by_type: tuple[TypeRow, ...]
    differs: tuple[Difference, ...]
    notes: tuple[str, ...]
    run: str
    questions: int
    not_run: tuple[str, ...]
    duels: tuple[ReproducedDuel, ...]
    duel_result: DuelResult | None
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
    """Run an experiment on a data set with the source's settings; without a model, what can be run without one.

    The run, its index and its questions are stored in a folder of `out`; run again, nothing is answered twice.
    `limit`: only so many questions; `seed`: of the sample.
    """
    folder = out / f"{experiment.name}-{located.data.name.lower().replace(' ', '-')}"
    skipped = [variant for variant in experiment.variants if variant.needs_model and not settings.model.name]
    variants = [variant for variant in experiment.variants if variant not in skipped]
    questions, corpus, absent = _prepared(experiment, located, folder, limit, seed)
    chosen = recreated(settings, experiment, folder / "index")
    needs = {need for variant in variants for need in PARADIGMS.find(variant.paradigm).needs}
    recipe = recipe_of(chosen, check_layers(sorted({"vectors", *needs})))
    await build_own(chosen.index, [corpus], recipe, progress=progress)
    if experiment.generated:
        questions = await _generated(chosen, experiment.generated, folder / "questions.jsonl", limit, seed, progress)
    columns, rules = experiment.columns_on(located.data), DuelRules()
    repeats = experiment.repeats if chosen.model.name else 1  # by rule, each would be like the first
    async with opened(chosen) as use:
        at_once = chosen.model.concurrency if use.model.model is not None else 1
        asked = [Variant(variant.label, variant.paradigm, variant.settings) for variant in variants]
        run = await evaluate(
            use, questions, asked, folder, repeats=repeats, seed=seed, at_once=at_once, progress=progress
        )
    unjudged = await _judge(chosen, run, [column.judge for column in columns if column.judge], progress)
    runs = _runs(experiment, columns, run)
    duels, result, undone = await _duel(chosen, experiment, variants, run, rules, progress)
    return Reproduction(
        experiment=experiment.name,
        title=experiment.title,
        data=located.data.name,
        files=located.files,
        published_with=experiment.model,
        runs=repeats,
        columns=tuple(ReproducedColumn(column.label, column.digits) for column in columns),
        rows=_rows(experiment, columns, runs),
        by_type=type_rows(experiment, located.data, runs),
        differs=tuple(differences(chosen, experiment, located, questions, limit, repeats, rules)),
        notes=experiment.notes,
        run=str(folder),
        questions=len(questions),
        not_run=(*(f"{variant.published}: needs a model" for variant in skipped), *unjudged, *undone),
        duels=duels,
        duel_result=result,
        warnings=tuple(_warnings(experiment, located, questions, absent)),
    )


def _prepared(
    experiment: Experiment, located: LocatedData, folder: Path, limit: int | None, seed: int
) -> tuple[list[Question], Path, int]:
    """The questions, sampled as the source did, and the corpus, cut down to their evidence if the source did that; then
    how much of the evidence no document holds, too.
    """
    absent = 0
    questions: list[Question] = []
    if located.questions and not experiment.generated:
        types = located.data.types
        questions = [replace(one, type=types.get(one.type, one.type)) for one in located.questions]
        if experiment.per_type is not None:
            questions = list(sample(questions, per_type=experiment.per_type, seed=seed).questions)
        elif limit is not None:
            questions = list(sample(questions, count=limit, seed=seed).questions)
        questions = questions[:limit]
    corpus = located.corpus_file
    if corpus is None:
        assert located.questions_file is not None  # noqa: S101 - a data set without a corpus holds it in its questions
        corpus = write_corpus(DATASETS.find(located.data.format), located.questions_file, folder / "corpus")
    if experiment.evidence_only:
        kept = kept_documents(questions, documents(corpus), seed=seed)
        corpus = write_documents(documents(corpus), kept.keys, folder / "corpus" / "documents.jsonl")
        absent = len(kept.missing)
    return questions, corpus, absent


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
    """Run the judges that the columns need; reports in words which could not run."""
    judges = {judge.name: judge for judge in map(find_judge, dict.fromkeys(names))}
    async with judge_resources_of(settings, run.folder) as resources:
        able = [judge for judge in judges.values() if judge.by == "embedder" or resources.model.model is not None]
        at_once = settings.judge.concurrency if resources.model.model is not None else 1
        with locked(run.folder):
            await judge_run(resources, run.folder, list(run.records), able, at_once=at_once, progress=progress)
    return [f"{judge.name}: needs a judge, set model or judge" for judge in judges.values() if judge not in able]


async def _duel(
    settings: Settings,
    experiment: Experiment,
    variants: Sequence[PublishedVariant],
    run: Run,
    rules: DuelRules,
    progress: ProgressCallback,
) -> tuple[tuple[ReproducedDuel, ...], DuelResult | None, list[str]]:
    """The answers in unbiased pairs and in the old way, where the source did that; says in words why if it could not
    be done.
    """
    if experiment.duel_rates is None:
        return (), None, []
    if not (settings.judge.name or settings.model.name):
        return (), None, ["the duels: need a judge, set model or judge"]
    records = list(run.records)
    entries = duel_entries(records, rules, [variant.label for variant in variants])
    by = duel_judge(settings.judge.name or settings.model.name, rules.mode)
    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        at_once = (settings.judge if settings.judge.name else settings.model).concurrency
        await Trials(judge, generator, run.folder, rules, at_once=at_once, progress=progress).run(entries)
        names = [variant.label for variant in variants]
        forced = await ask_forced(judge, records, names, run.folder, at_once=at_once, progress=progress)
    result = duel_result(entries, run.folder, by, rules)
    levels = tuple(duels_by_level(entries, run.folder, by, rules))
    theirs = {variant.label: variant.published for variant in variants}
    duels = [_reproduced(experiment.duel_rates, theirs, one, result, levels) for one in forced]
    return tuple(duels), result, []


def _reproduced(
    rates: Mapping[tuple[str, str], float],
    theirs: Mapping[str, str],
    forced: ForcedDuel,
    result: DuelResult,
    levels: Sequence[LevelDuel],
) -> ReproducedDuel:
    """In the order in which a duel has the two, which is that of their names."""
    pair = next(one for one in result.pairs if {one.a, one.b} == {forced.a, forced.b})
    return ReproducedDuel(
        a=pair.a,
        b=pair.b,
        rate=pair.rate,
        low=pair.low,
        high=pair.high,
        verdict=pair.verdict.words,
        published=published_rate(rates, theirs[pair.a], theirs[pair.b]),
        levels=tuple(one for one in levels if (one.a, one.b) == (pair.a, pair.b)),
        forced=forced,
    )


def _runs(experiment: Experiment, columns: Sequence[PublishedColumn], run: Run) -> dict[str, VariantRun]:
    """What was run, by the source's name. A refusal counts as the source of each metric counts it."""
    cuts = [column.metric for column in columns if column.metric is not None]
    tables = score(run, *cuts, refusals="source")
    records: dict[str, list[Record]] = defaultdict(list)
    for record in run.records:
        if not record.error:
            records[record.paradigm].append(record)
    return {
        variant.published: VariantRun(variant.label, tables, records[variant.label])
        for variant in experiment.variants
        if variant.label in tables["paradigms"].column("paradigm")
    }


def _rows(
    experiment: Experiment, columns: Sequence[PublishedColumn], runs: Mapping[str, VariantRun]
) -> tuple[ReproducedRow, ...]:
    """Variants that were not run stand last."""
    rows = []
    for variant in sorted(experiment.variants, key=lambda one: one.published not in runs):
        did = runs.get(variant.published)
        rows.append(
            ReproducedRow(
                published_name=variant.published,
                paradigm=variant.paradigm,
                settings=variant.settings,
                answered=len(did.records) if did is not None else 0,
                failed=int(did.cost("failed") or 0) if did is not None else 0,
                ours=tuple(column.read(did) if did is not None else Figure() for column in columns),
                published=tuple(column.published.get(variant.published) for column in columns),
            )
        )
    return tuple(rows)


def _warnings(
    experiment: Experiment, located: LocatedData, questions: Sequence[Question], absent: int
) -> Iterator[str]:
    if absent:
        yield f"{absent:,} pieces of gold evidence are in no document of the corpus given: nobody could find them"
    if not experiment.generated and located.questions_file is not None and without_gold(questions):
        yield (
            f"no question of {located.questions_file.name} has a gold answer or gold evidence, so nothing could be "
            f"scored; it was read as {located.data.format}: is it laid out so?"
        )
