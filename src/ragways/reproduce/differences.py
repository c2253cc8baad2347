"""The settings that an experiment runs with, and all in which it is not as it was in the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragways.evaluation.duel.entries import DuelRules
from ragways.evaluation.question import Question
from ragways.reproduce.experiment import Difference, Experiment, LocatedData
from ragways.settings import ChunkingSettings, Settings


def recreated(settings: Settings, experiment: Experiment, index: Path) -> Settings:
    """The settings with those of the source, where the user has not set another value; without a model, the graph is
    made by rules.
    """
    graph = {name: value for name, value in experiment.graph.items() if name not in settings.graph.model_fields_set}
    answer = {name: value for name, value in experiment.answer.items() if name not in settings.answer.model_fields_set}
    if not settings.model.name:
        graph.pop("method", None)
    return settings.model_copy(
        update={
            "index": index,
            "chunking": ChunkingSettings(preset=experiment.chunking),
            "graph": settings.graph.model_copy(update=graph),
            "answer": settings.answer.model_copy(update=answer),
            # No source holds copies back.
            "guard": settings.guard.model_copy(
                update={} if "copies" in settings.guard.model_fields_set else {"copies": 0}
            ),
        }
    )


def differences(
    settings: Settings,
    experiment: Experiment,
    located: LocatedData,
    questions: Sequence[Question],
    limit: int | None,
    repeats: int,
    rules: DuelRules,
) -> Iterator[Difference]:
    """Differences by the settings and questions of the run, then those that the experiment declares."""
    yield from _models(settings, experiment)
    yield Difference("questions", _asked_here(questions, limit), experiment.questions)
    for name, there in experiment.graph.items():
        here = getattr(settings.graph, name)
        if here != there and not (name == "gleaning" and settings.graph.method != "model"):
            yield Difference(f"graph.{name}", str(here), str(there))
    for name, there in experiment.answer.items():
        here = getattr(settings.answer, name)
        if here != there:
            yield Difference(f"answer.{name}", str(here), str(there))
    if settings.guard.copies:
        yield Difference("guard.copies", str(settings.guard.copies), "none")
    if repeats != experiment.repeats:
        yield Difference("runs", str(repeats), str(experiment.repeats))
    if experiment.duel_rates is not None and (rules.trials, rules.samples) != (25, 2):
        yield Difference("duels", f"{rules.trials} trials of {rules.samples} replies", "25 trials of 2")
    yield from (*located.data.differs, *experiment.differs)


def _models(settings: Settings, experiment: Experiment) -> Iterator[Difference]:
    model, judge = settings.model.name, settings.judge.name or settings.model.name
    if not model:
        by_rule = "taken from the evidence by rule, as no model is set: their level cannot be compared"
        yield Difference("answers", by_rule, f"by {experiment.model}")
    elif model != experiment.model:
        yield Difference("model", model, experiment.model)
    if judge and judge != experiment.judge:
        yield Difference("judge", judge, experiment.judge)
    embedder = settings.embedder.name or {"minilm": "all-MiniLM-L6-v2"}.get(
        settings.embedder.kind, settings.embedder.kind
    )
    if embedder != experiment.embedder:
        yield Difference("embedder", embedder, experiment.embedder)


def _asked_here(questions: Sequence[Question], limit: int | None) -> str:
    """The number of questions that ran, by type: a figure of one question is either 0 or 100."""
    types = Counter(question.type or "no type" for question in questions)
    counts = ", ".join(f"{type} {count:,}" for type, count in sorted(types.items()))
    cut = f", cut by --limit {limit:,}" if limit is not None else ""
    return f"{len(questions):,} were asked{cut} ({counts})"
