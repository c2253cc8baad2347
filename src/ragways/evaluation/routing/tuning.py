"""Tuning to one corpus: which arms are tried on it, and what that would take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from ragways.core.errors import NoModel
from ragways.core.runtime import Progress, ProgressCallback, silent
from ragways.core.table import Cell, Column, Table
from ragways.core.text import counted
from ragways.core.trace import Usage
from ragways.evaluation.question import Question
from ragways.evaluation.record import RunInfo
from ragways.evaluation.run import Variant
from ragways.models.client import ModelClient
from ragways.models.limits import Bound
from ragways.models.task import In, Out, Outcome, Task
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.look import best_look
from ragways.retrieval.routing.router import CostUnit

CUTS: Final = (3, 10, 30)
"""Passages that the arms show which cut the first look."""
WITH_REPORTS: Final = ("community-global",)
WITH_MODEL: Final = ("recursive", "iterative", "agent-graph", "llm-only")
TRIALS: Final = 5
"""Questions that a plan tries without a model."""
USUAL_TRADE: Final[dict[CostUnit, float]] = {"tokens": 0.01, "usd": 1.0, "seconds": 0.01}
"""A point of quality for 1,000 tokens, a cent or a second."""


def usual_arms(use: Resources) -> tuple[str, ...]:
    """The arms that are tried where none are named: those that the layers and the model allow."""
    layers, cheap = use.index.layers, best_look(use.index.layers).name
    others = WITH_REPORTS + (WITH_MODEL if use.model.model is not None else ())
    return (*(f"{cheap}[k={k}]" for k in CUTS), *(name for name in others if PARADIGMS[name].needs <= layers))


def usual_quality(runs: Sequence[Path]) -> str:
    """The metric where none is named: whether an answer is right where a model gave it, else what it was shown."""
    infos = map(RunInfo.read, runs)
    return "accuracy" if any(info is not None and info.model for info in infos) else "all-evidence"


# What it would take


class _CountingClient(ModelClient):
    """Has no model: it does each task by its rule, and counts what a model would have been sent."""

    def __init__(self) -> None:
        super().__init__(None)
        self.counted = Usage()
        self._most = Bound()

    async def by_rule(self, task: Task[In, Out], given: In, way: str) -> Outcome[Out]:
        self.counted = self.counted + self._most.of_call(task.call(given))
        return await super().by_rule(task, given, way)


async def plan_arms(
    use: Resources, questions: Sequence[Question], variants: Sequence[Variant], *, progress: ProgressCallback = silent
) -> Table:
    """What each arm would take for these questions, from a few of them that are tried by rules. Nothing is recorded,
    and no model is called. Where an arm goes round by round, a model may go all the rounds that it has.

    Returns a row for each arm: calls and tokens at most, USD (None: the price is unknown), and the seconds of what is
    done here, without waiting for the model.
    """
    tried = questions[:: max(1, len(questions) // TRIALS)][:TRIALS]
    rows: list[list[Cell]] = []
    for variant in variants:
        client = _CountingClient()
        own = replace(use, model=client)
        began = time.perf_counter()
        for number, question in enumerate(tried):
            progress(Progress("planning", number, len(tried), variant.name))
            with suppress(NoModel):  # which is counted before it is raised
                await ask(own, question.text, variant.paradigm, variant.settings)
        times = len(questions) / max(1, len(tried))
        seconds = (time.perf_counter() - began) * times
        used, times = client.counted, times * _rounds(variant)
        if use.model.model is None:
            used = Usage()
        total = Usage(*(round(value * times) for value in (used.calls, used.input, used.output)))
        usd = use.model.price(total) if use.model.model is not None else 0.0
        rows.append([variant.name, total.calls, total.input, total.output, usd, seconds])
    return Table.of(
        ["arm", Column("calls", ",d"), Column("input", ",d"), Column("output", ",d"),
         Column("USD", ".4f", "right", "usd"), Column("seconds here", ",.0f", key="seconds")],
        rows,
        title=f"{counted(len(questions), 'question')} for each of {counted(len(variants), 'arm')}: at most",
        notes=["counted on a few questions that were tried by rules; an agent is taken to go all its rounds"],
    )  # fmt: skip


def _rounds(variant: Variant) -> int:
    """How often an agent may call a model for what the rules do once."""
    paradigm = PARADIGMS.find(variant.paradigm) if isinstance(variant.paradigm, str) else variant.paradigm
    if not paradigm.name.startswith("agent"):
        return 1
    return int({**paradigm.settings, **variant.settings}.get("rounds", 1))
