"""An experiment on a data set made ready: its corpus, its questions, and the settings of the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from ragways.assemble import recipe_of
from ragways.core.errors import UsageError
from ragways.evaluation.datasets import DATASETS, write_corpus
from ragways.evaluation.duel.entries import TRIALS, DuelRules
from ragways.evaluation.question import Question
from ragways.evaluation.sampling import documents, kept_documents, sample, write_documents
from ragways.index.recipe import Recipe
from ragways.reproduce.differences import SAMPLES, recreated
from ragways.reproduce.experiment import Experiment, LocatedData, PublishedColumn, PublishedVariant
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import Settings

"""Whole comparisons of a duel, unless told otherwise: the source's 25 take some 90,000 calls."""


@dataclass(frozen=True)
class Prepared:
    """An experiment on a data set, ready to be run: with the source's settings, the variants that can be run (`skipped`
    ones need a model), the questions (none yet where they are generated), and the corpus. `absent` pieces of gold
    evidence are in no document.
    """

    experiment: Experiment
    located: LocatedData
    folder: Path
    settings: Settings
    recipe: Recipe
    variants: tuple[PublishedVariant, ...]
    skipped: tuple[PublishedVariant, ...]
    columns: tuple[PublishedColumn, ...]
    questions: tuple[Question, ...]
    corpus: Path
    absent: int
    repeats: int
    rules: DuelRules
    limit: int | None
    seed: int

    @property
    def names(self) -> dict[str, str]:
        return {variant.label: variant.published for variant in self.variants}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The variants that meet in duels, by their names in the run; the one that the source names first is first."""
        if self.experiment.duel_rates is None or not (self.settings.judge.name or self.settings.model.name):
            return []
        twins = {variant.label: variant.twin_of for variant in self.variants if variant.twin_of}
        labels = {published: label for label, published in self.names.items()}
        others = [label for label in self.names if label not in twins]
        return [*combinations(others, 2), *((labels[first], label) for label, first in twins.items())]

    @property
    def kinds(self) -> dict[str, int]:
        """How many questions of each kind are generated."""
        counts = self.experiment.generated
        share = -(-self.limit // len(counts)) if self.limit and counts else None
        return {kind: count if share is None else min(count, share) for kind, count in counts.items()}

    @property
    def questions_file(self) -> Path:
        """Where generated questions are stored."""
        return self.folder / "questions.jsonl"


def prepare(
    settings: Settings,
    experiment: Experiment,
    located: LocatedData,
    out: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    trials: int = TRIALS,
) -> Prepared:
    """Write the corpus of a data set into a folder of `out`, and draw its questions: with `limit` only so many.

    `seed` is that of the sample; `trials` is the number of whole comparisons in duels.
    """
    data = located.data
    folder = out / f"{experiment.name}-{data.name.lower().replace(' ', '-')}"
    questions, corpus, absent = _drawn(experiment, located, folder, limit, seed)
    every = experiment.variants_on(data)
    variants = tuple(variant for variant in every if settings.model.name or not variant.needs_model)
    chosen = recreated(settings, experiment, folder / "index")
    needs = {need for one in variants for need in PARADIGMS.find(one.paradigm).needs_with(one.settings)}
    return Prepared(
        experiment=experiment,
        located=located,
        folder=folder,
        settings=chosen,
        recipe=recipe_of(chosen, {"vectors", *needs}),
        variants=variants,
        skipped=tuple(variant for variant in every if variant not in variants),
        columns=experiment.columns_on(data),
        questions=tuple(questions),
        corpus=corpus,
        absent=absent,
        repeats=experiment.repeats if settings.model.name else 1,  # by rule, each would be like the first
        # A judge that fails its test gives figures all the same, and no winner.
        rules=DuelRules(trials=trials, samples=SAMPLES, go_on=True),
        limit=limit,
        seed=seed,
    )


def _drawn(
    experiment: Experiment, located: LocatedData, folder: Path, limit: int | None, seed: int
) -> tuple[list[Question], Path, int]:
    """The questions, sampled as the source did, and the corpus, cut down to their evidence if the source did that; then
    how much of the evidence no document holds, too.
    """
    absent = 0
    questions: list[Question] = []
    if located.questions and not experiment.generated:
        types = located.data.types
        typed = [replace(one, type=types.get(one.type, one.type)) for one in located.questions]
        questions = [one for one, before in zip(typed, located.questions, strict=True) if one.type or not before.type]
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
        if kept.missing and not kept.keys:
            raise UsageError(
                f"no document of {corpus} is evidence of a question of {located.questions_file}",
                "take the corpus of these questions, with the names of fields that it is published with",
            )
        corpus = write_documents(documents(corpus), kept.keys, folder / "corpus" / "documents.jsonl")
        absent = len(kept.missing)
    return questions, corpus, absent
