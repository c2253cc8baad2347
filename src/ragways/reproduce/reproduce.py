"""An experiment run again: its data prepared, indexed, answered, judged; our figures beside the published ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragways.assemble import client_of, judge_client_of, judge_resources_of, opened
from ragways.core.errors import BudgetExceeded, UsageError
from ragways.core.runtime import ProgressCallback, silent
from ragways.core.table import Table
from ragways.core.text import counted
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.duel.entries import duel_entries
from ragways.evaluation.duel.replies import duel_judge
from ragways.evaluation.duel.result import DuelResult, duel_result
from ragways.evaluation.duel.trials import Trials
from ragways.evaluation.judges import find_judge
from ragways.evaluation.judging import Judgements, judge_run
from ragways.evaluation.question import Question, without_gold
from ragways.evaluation.questions.generate import generate, write
from ragways.evaluation.record import Record, Run, locked
from ragways.evaluation.resources.sampler import samples_of
from ragways.evaluation.run import RunOptions, Variant, evaluate
from ragways.evaluation.score import score_records, scored
from ragways.index.build import build_own
from ragways.index.recipe import Summary
from ragways.reproduce.by_type import TypeRow, type_rows
from ragways.reproduce.differences import differences
from ragways.reproduce.duels import ForcedDuel, LevelDuel, ask_forced, duels_by_level, only, published_rate
from ragways.reproduce.experiment import Difference, PublishedFigure
from ragways.reproduce.figures import Figure, VariantRun
from ragways.reproduce.prepare import Prepared
from ragways.reproduce.tables import SECOND_MATCH, beside, heat_map, unscored


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
    table; `tables`: what else it has tables of. `names`: published, by the variants' names in the run.
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
    tables: tuple[Table, ...]
    differs: tuple[Difference, ...]
    notes: tuple[str, ...]
    run: str
    questions: int
    not_run: tuple[str, ...]
    names: Mapping[str, str]
    duels: tuple[ReproducedDuel, ...]
    duel_result: DuelResult | None
    warnings: tuple[str, ...]
    undone: int
    """Files that could not be read for the index, and units of work that it lacks."""


async def reproduce(ready: Prepared, progress: ProgressCallback = silent) -> Reproduction:
    """Run an experiment with the source's settings; without a model, what can be run without one.

    The run, its index and its questions are stored in its folder; run again, nothing is answered twice.
    """
    experiment, chosen, folder = ready.experiment, ready.settings, ready.folder
    built = await build_own(chosen.index, [ready.corpus], ready.recipe, progress=progress)
    if built.stopped:
        raise BudgetExceeded(built.stopped, "run again with a larger budget: what was done is stored")
    if experiment.generated:
        ready = replace(ready, questions=tuple(await _generated(ready, progress)))
    async with opened(chosen) as use:
        run = await evaluate(
            use,
            ready.questions,
            [Variant(variant.label, variant.paradigm, variant.settings) for variant in ready.variants],
            folder,
            options=RunOptions(
                repeats=ready.repeats,
                seed=ready.seed,
                at_once=chosen.model.concurrency if use.model.model is not None else 1,
                shared=False,  # each paradigm's own calls, so that its seconds are known
            ),
            progress=progress,
        )
        own_tables = list(beside(experiment, ready.located.data, ready.questions, use.index))
    unjudged = await _judge(ready, run, progress)
    runs, judged_tables = _scored(ready, run)
    duels, result, undone = await _duel(ready, run, progress)
    return Reproduction(
        experiment=experiment.name,
        title=experiment.title,
        data=ready.located.data.name,
        files=ready.located.files,
        published_with=experiment.model,
        runs=ready.repeats,
        columns=tuple(ReproducedColumn(column.label, column.digits) for column in ready.columns),
        rows=_rows(ready, runs),
        by_type=type_rows(experiment, ready.located.data, runs),
        tables=(*own_tables, *judged_tables),
        differs=tuple(
            differences(chosen, experiment, ready.located, ready.questions, ready.limit, ready.repeats, ready.rules)
        ),
        notes=(*experiment.notes, *ready.located.data.notes),
        run=str(folder),
        questions=len(ready.questions),
        not_run=(*(f"{one.published}: needs a model" for one in ready.skipped if not one.twin_of), *unjudged, *undone),
        names=ready.names,
        duels=duels,
        duel_result=result,
        warnings=(*_unbuilt(built), *_warnings(ready)),
        undone=built.undone + len(built.failed),
    )


async def _generated(ready: Prepared, progress: ProgressCallback) -> list[Question]:
    """Questions generated over the index: once, for a model would not say the same again. What a model wrote is taken
    as it is, as in the source.
    """
    file, kinds = ready.questions_file, ready.kinds
    if file.is_file():
        return load_questions("plain", file)[: ready.limit]
    async with opened(ready.settings) as use:
        made = await generate(
            use, kinds=kinds, count=max(kinds.values()), seed=ready.seed, verified=False, progress=progress
        )
    if not made.questions:
        cure = "take a larger corpus" if ready.settings.model.name else "set a model, or take a larger corpus"
        raise UsageError("no question could be made from this corpus", cure)
    write(made, file)
    return list(made.questions)[: ready.limit]


async def _judge(ready: Prepared, run: Run, progress: ProgressCallback) -> list[str]:
    """Run the judges that the columns need; reports in words which could not run."""
    settings = ready.settings
    judges = {judge.name: judge for column in ready.columns if column.judge for judge in [find_judge(column.judge)]}
    if ready.experiment.crag_twice and "crag" in judges:
        judges[SECOND_MATCH.name] = SECOND_MATCH
    async with judge_resources_of(settings, run.folder) as resources:
        able = [judge for judge in judges.values() if judge.by == "embedder" or resources.model.model is not None]
        at_once = settings.judge.concurrency if resources.model.model is not None else 1
        with locked(run.folder):
            await judge_run(resources, run.folder, list(run.records), able, at_once=at_once, progress=progress)
    return [f"{judge.name}: needs a judge, set model or judge" for judge in judges.values() if judge not in able]


def _scored(ready: Prepared, run: Run) -> tuple[dict[str, VariantRun], list[Table]]:
    """What was run, by the source's name, and tables of what judges said. A refusal counts as the source of each metric
    counts it.
    """
    cuts = [column.metric for column in ready.columns if column.metric is not None]
    every = scored(run, *cuts, refusals="source")
    built, samples = run.info.construction, list(samples_of(run.folder))
    tables = score_records(every, built=built, samples=samples)
    records: dict[str, list[Record]] = defaultdict(list)
    for record in every:
        if not record.error:
            records[record.paradigm].append(record)
    runs = {
        variant.published: VariantRun(variant.label, tables, records[variant.label], samples, built)
        for variant in ready.variants
        if variant.label in tables["paradigms"].column("paradigm")
    }
    able = bool(ready.settings.judge.name or ready.settings.model.name)
    judged = {metric.name: metric for column in ready.columns if column.judge and able
              for metric in find_judge(column.judge).metrics}  # fmt: skip
    found = [unscored(every, list(judged.values()), ready.names)]
    if ready.experiment.crag_twice and "crag-fine" in judged:
        fine = {key: judgement.value for key, judgement in Judgements(run.folder).latest().items()}
        found.append(heat_map(every, fine, ready.names))
    return runs, [table for table in found if table is not None]


async def _duel(
    ready: Prepared, run: Run, progress: ProgressCallback
) -> tuple[tuple[ReproducedDuel, ...], DuelResult | None, list[str]]:
    """The answers in unbiased pairs and in the old way, where the source did that; says in words why if it could not
    be done.
    """
    settings, rules, rates = ready.settings, ready.rules, ready.experiment.duel_rates
    if rates is None:
        return (), None, []
    if not ready.pairs:
        return (), None, ["the duels: need a judge, set model or judge"]
    records = list(run.records)
    entries = only(duel_entries(records, rules, list(ready.names)), ready.pairs)
    by = duel_judge(settings.judge.name or settings.model.name, rules.mode)
    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        at_once = (settings.judge if settings.judge.name else settings.model).concurrency
        await Trials(judge, generator, run.folder, rules, at_once=at_once, progress=progress).run(entries)
        forced = await ask_forced(judge, records, ready.pairs, run.folder, at_once=at_once, progress=progress)
    result = duel_result(entries, run.folder, by, rules)
    levels = tuple(duels_by_level(entries, run.folder, by, rules))
    duels = [_reproduced(rates, ready.names, one, result, levels) for one in forced]
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
        verdict=pair.words,
        published=published_rate(rates, theirs[pair.a], theirs[pair.b]),
        levels=tuple(one for one in levels if (one.a, one.b) == (pair.a, pair.b)),
        forced=forced,
    )


def _rows(ready: Prepared, runs: Mapping[str, VariantRun]) -> tuple[ReproducedRow, ...]:
    """Variants that were not run stand last."""
    rows = []
    for variant in (*ready.variants, *ready.skipped):
        did = runs.get(variant.published)
        rows.append(
            ReproducedRow(
                published_name=variant.published,
                paradigm=variant.paradigm,
                settings=variant.settings,
                answered=len(did.records) if did is not None else 0,
                failed=int(did.cost("failed") or 0) if did is not None else 0,
                ours=tuple(column.read(did) if did is not None else Figure() for column in ready.columns),
                published=tuple(column.published.get(variant.published) for column in ready.columns),
            )
        )
    return tuple(rows)


def _unbuilt(built: Summary) -> Iterator[str]:
    """Say what the index lacks that the answers are made of."""
    if built.failed:
        first = built.failed[0]
        yield f"{counted(len(built.failed), 'file')} could not be read, the first: {first.key}: {first.reason}"
    if built.undone:
        yield (
            f"the index is not whole: {counted(built.undone, 'unit')} of work not done, the first because {built.why}; "
            "run again: they are tried again, and what was answered without them is asked for again"
        )


def _warnings(ready: Prepared) -> Iterator[str]:
    file = ready.located.questions_file
    if ready.absent:
        yield f"{ready.absent:,} pieces of gold evidence are in no document of the corpus given: nobody could find them"
    if not ready.experiment.generated and file is not None and without_gold(ready.questions):
        yield (
            f"no question of {file.name} has a gold answer or gold evidence, so nothing could be "
            f"scored; it was read as {ready.located.data.format}: is it laid out so?"
        )
