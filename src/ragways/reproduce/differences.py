"""The settings that an experiment runs with, and all in which it is not as it was in the source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragways.core.text import counted
from ragways.evaluation.duel.entries import DuelRules
from ragways.evaluation.question import Question
from ragways.reproduce.experiment import Difference, Experiment, LocatedData, published
from ragways.settings import ChunkingSettings, Settings

TRIALS, SAMPLES = 25, 2
"""Whole comparisons, and replies to each prompt, of the source's duels (M and N)."""
_OF_A_MODEL = frozenset({"graph.gleaning", "graph.passage_tokens", "communities.text", "communities.tokens"})
"""Settings that matter only where a model makes the graph."""


def _sections(experiment: Experiment) -> dict[str, Mapping[str, Any]]:
    return {"graph": experiment.graph, "communities": experiment.communities, "answer": experiment.answer}


def recreated(settings: Settings, experiment: Experiment, index: Path) -> Settings:
    """The settings with those of the source, where the user has not set another value; without a model, the graph is
    made by rules, from the structure of documents too.
    """
    update: dict[str, Any] = {"index": index, "chunking": ChunkingSettings(preset=experiment.chunking)}
    # No source holds copies back.
    for name, values in {**_sections(experiment), "guard": {"copies": 0}}.items():
        section = getattr(settings, name)
        mine = set(section.model_fields_set)
        if name == "graph" and not settings.model.name:
            mine |= {"method", "structure"}
        update[name] = section.model_copy(update={key: value for key, value in values.items() if key not in mine})
    return settings.model_copy(update=update)


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
    yield from _models(settings, experiment, _judge(settings, located))
    yield Difference("questions", _asked_here(questions, limit), experiment.questions)
    for section, values in _sections(experiment).items():
        for name, there in values.items():
            here, about = getattr(getattr(settings, section), name), f"{section}.{name}"
            if here != there and not (about in _OF_A_MODEL and settings.graph.method != "model"):
                yield Difference(about, str(here), str(there))
    if settings.guard.copies:
        yield Difference("guard.copies", str(settings.guard.copies), "none")
    if repeats != experiment.repeats:
        yield Difference("runs", str(repeats), str(experiment.repeats))
    if experiment.generated:
        checked = "drawn by rules and checked by the text" if not settings.model.name else "as the model wrote them"
        yield Difference("questions' origin", f"written on the index here, {checked}", "as the model wrote them")
    if experiment.duel_rates is not None and (rules.trials, rules.samples) != (TRIALS, SAMPLES):
        here = f"{counted(rules.trials, 'trial')} of {rules.samples} replies (--trials {TRIALS} makes as many as there)"
        yield Difference("duels", here, f"{TRIALS} trials of {SAMPLES}")
    at_once = settings.model.concurrency if settings.model.name else 1
    if at_once > 1:
        there = "one after the other" if "seconds" in published(experiment.name, located.data.name) else "not reported"
        yield Difference("seconds", f"of answers of which {at_once} are made at once", there)
    yield from (*located.data.differs, *experiment.differs)
    if settings.model.name:
        yield from experiment.model_differs
    if _judge(settings, located):
        yield from experiment.judge_differs


def _judge(settings: Settings, located: LocatedData) -> str:
    """The model that judges the answers; empty where none does."""
    return (settings.judge.name or settings.model.name) if located.data.judged else ""


def _models(settings: Settings, experiment: Experiment, judge: str) -> Iterator[Difference]:
    model = settings.model.name
    if not model:
        by_rule = "taken from the evidence by rule, as no model is set: their level cannot be compared"
        yield Difference("answers", by_rule, f"by {experiment.model}")
    elif not _same(model, experiment.model):
        yield Difference("model", model, experiment.model)
    if model and settings.model.reasoning_effort != experiment.reasoning:
        here = settings.model.reasoning_effort or "the endpoint's own"
        yield Difference("model.reasoning_effort", here, experiment.reasoning or "not stated")
    if judge and not _same(judge, experiment.judge):
        yield Difference("judge", judge, experiment.judge)
    embedder = settings.embedder.name or {"minilm": "all-MiniLM-L6-v2"}.get(
        settings.embedder.kind, settings.embedder.kind
    )
    if not _same(embedder, experiment.embedder):
        yield Difference("embedder", embedder, experiment.embedder)


def _same(one: str, other: str) -> bool:
    """Whether two names mean one model: `openai/gpt-4o-mini` is GPT-4o mini."""
    first, second = (re.sub(r"[\W_]", "", name.rpartition("/")[2].casefold()) for name in (one, other))
    return first == second


def _asked_here(questions: Sequence[Question], limit: int | None) -> str:
    """The number of questions that ran, by type: a figure of one question is either 0 or 100."""
    types = Counter(question.type or "no type" for question in questions)
    counts = ", ".join(f"{type} {count:,}" for type, count in sorted(types.items()))
    cut = f", cut by --limit {limit:,}" if limit is not None else ""
    were = "was" if len(questions) == 1 else "were"
    return f"{len(questions):,} {were} asked{cut} ({counts})"
