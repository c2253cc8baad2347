"""`ragways tune`: fit a router on questions of one's own corpus, each answered by every arm."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.route import (
    AlphaOption,
    CostOption,
    QualityOption,
    SeedOption,
    ToleranceOption,
    TradeOption,
    fit_and_show,
    gathered,
)
from ragways.apps.terminal import (
    AtOnceOption,
    BudgetOption,
    FormatOption,
    JsonOption,
    QuestionsOption,
    print_json,
    progress_bar,
    show_table,
    with_settings,
    write_line,
)
from ragways.core.errors import BudgetExceeded, UsageError
from ragways.core.table import Table
from ragways.core.text import counted
from ragways.core.trace import Budget, spending

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.question import Question
    from ragways.evaluation.run import Variant
    from ragways.retrieval.resources import Resources
    from ragways.settings import Settings

COUNT = 20
"""Questions of each kind."""
UNCOUNTED = "not counted: the model's calls to write and check the questions; these figures are for as many by rules"
"""A note on a plan with a model."""


@with_settings("index", "model")
def tune(
    chosen: Settings,
    questions: QuestionsOption = None,
    format: FormatOption = None,
    count: Annotated[
        int, typer.Option("--count", help="Without --questions: make so many of each kind.", min=1, max=1000)
    ] = COUNT,
    arms: Annotated[
        str | None,
        typer.Option(
            "--arms", help="What is tried, as eval run has it: 'fused[k=3],iterative'.", show_default="what fits"
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show how many calls that takes, and what they cost; do nothing.")
    ] = False,
    budget: BudgetOption = None,
    quality: QualityOption = None,
    cost: CostOption = "tokens",
    trade: TradeOption = None,
    tolerance: ToleranceOption = 0.0,
    alpha: AlphaOption = None,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File for the router.", show_default="in the folder of the index")
    ] = None,
    at_once: AtOnceOption = None,
    json: JsonOption = False,
) -> None:
    """Make questions on your corpus, try ways of answering them, and have `auto` take the best for each.

    Says which way wins for which type of question, at what price, and whether that is worth it at all: if not, `auto`
    stays as it is. Stopped, it goes on where it was when run again; its run is stored in the cache folder.
    """
    wanted = _Wanted(questions, format or "plain", count, arms, seed, at_once)
    with progress_bar(not json) as progress, spending(Budget(usd=budget)):
        if plan:
            planned = asyncio.run(_plan(chosen, wanted, progress))
        else:
            folder, metric = asyncio.run(_run(chosen, wanted, quality, progress))
    if plan:
        _show_plan(*planned, made=questions is None, json=json)
        return
    from ragways.experiment import fit_settings
    from ragways.retrieval.routing.auto import OWN

    outcomes = gathered([folder], metric, True, chosen)
    given = fit_settings(cost, trade, seed, alpha, tolerance)
    fit_and_show(outcomes, given, out or chosen.index / OWN, json=json, run=folder, only_if_better=out is None)


@dataclass(frozen=True)
class _Wanted:
    """The options of the command."""

    questions: Path | None
    format: str
    count: int
    arms: str | None
    seed: int
    at_once: int | None

    def variants(self, use: Resources, settings: Settings) -> list[Variant]:
        from ragways.evaluation.routing.tuning import usual_arms
        from ragways.evaluation.run import parse_variants

        found = parse_variants(self.arms or ",".join(usual_arms(use)), settings.paradigms)
        if len(found) < 2:
            raise UsageError(f"there is one method only ({found[0].name})", "name two or more with --arms")
        if any(variant.paradigm_name == "auto" for variant in found):
            raise UsageError("auto is what is tuned, and no method of its own", "name others with --arms")
        for variant in found:
            variant.strategy(use)
        return found


# Planning


async def _plan(settings: Settings, wanted: _Wanted, progress: ProgressCallback) -> tuple[int, Table]:
    """The number of questions, and what each arm would take for them."""
    from ragways.assemble import opened
    from ragways.evaluation.routing.tuning import plan_arms

    async with opened(settings) as use:
        variants = wanted.variants(use, settings)
        asked = await _questions(use, wanted, progress, without_model=True)
        table = await plan_arms(use, asked, variants, progress=progress)
        if wanted.questions is None and use.model.model is not None:
            table = replace(table, notes=(*table.notes, UNCOUNTED))
        return len(asked), table


def _show_plan(questions: int, arms: Table, *, made: bool, json: bool) -> None:
    costs = arms.column("usd")
    usd = None if None in costs else sum(costs)
    if json:
        unasked = UNCOUNTED if UNCOUNTED in arms.notes else ""
        print_json({"questions": questions, "made": made, "arms": arms.to_plain(), "unasked": unasked, "usd": usd})
        return
    show_table(arms, compact=True)
    total = "at an unknown price (set prices)" if usd is None else f"${usd:.4f} at most"
    write_line(f"{counted(questions * len(arms), 'answer')}, {total}; nothing was done")


# Questions and answers


async def _run(
    settings: Settings, wanted: _Wanted, quality: str | None, progress: ProgressCallback
) -> tuple[Path, str]:
    """The folder of the run with every arm's answers, and the metric that they are to be scored by."""
    from ragways.assemble import opened
    from ragways.evaluation.metrics import find_metric
    from ragways.evaluation.routing.fit import FEWEST
    from ragways.evaluation.run import RunOptions, evaluate

    if quality is not None:
        find_metric(quality)  # an unknown name is an error before any question is asked
    async with opened(settings) as use:
        variants = wanted.variants(use, settings)
        folder = _folder(settings, wanted, use)
        asked = await _questions(use, wanted, progress, stored=folder / "questions.jsonl")
        if len(asked) < FEWEST:
            few = counted(len(asked), "question is", "questions are")
            raise UsageError(f"{few} too few to tune on", f"make more (--count), or bring {FEWEST} or more")
        with_model = use.model.model is not None
        at_once = wanted.at_once or (settings.model.concurrency if with_model else 1)
        await evaluate(use, asked, variants, folder, options=RunOptions(seed=wanted.seed, at_once=at_once),
                       data={"questions": "tune", "count": len(asked)}, progress=progress)  # fmt: skip
    return folder, quality or ("accuracy" if with_model else "all-evidence")


async def _questions(
    use: Resources,
    wanted: _Wanted,
    progress: ProgressCallback,
    *,
    without_model: bool = False,
    stored: Path | None = None,
) -> list[Question]:
    """The questions of the file, or those generated on the corpus; generated once for a run, and `stored` beside it."""
    from ragways.evaluation.datasets import load_questions
    from ragways.evaluation.questions.generate import generate, write

    if wanted.questions is not None:
        return load_questions(wanted.format, wanted.questions)
    if stored is not None and stored.is_file():
        return load_questions("plain", stored)
    made = await generate(use, count=wanted.count, seed=wanted.seed, without_model=without_model, progress=progress)
    if made.stopped:
        raise BudgetExceeded(f"{made.stopped}; the questions are not all made", "run again with a larger --budget")
    if not made.questions:
        raise UsageError("no question could be made from this corpus", "set a model, or bring --questions FILE")
    if stored is not None:
        write(made, stored)
    return list(made.questions)


def _folder(settings: Settings, wanted: _Wanted, use: Resources) -> Path:
    """A folder in the cache for each state of an index and each set of questions. It names the corpus in routers."""
    asked = str(wanted.questions.resolve()) if wanted.questions else f"{wanted.count}"
    model = use.model.model.name if use.model.model is not None else ""
    named = "|".join((use.index.identity, asked, str(wanted.seed), model))
    place = settings.index.resolve()
    name = place.parent.name if place.name.startswith(".") else place.name
    return settings.cache / "tuning" / f"{name or 'corpus'}-{hashlib.sha256(named.encode()).hexdigest()[:12]}"
