"""`ragways route`: fit a router on runs, compare it with simpler policies, and explain what it decides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ragways.apps.terminal import (
    BudgetOption,
    IndexOption,
    JsonOption,
    WhereOption,
    print_json,
    progress_bar,
    show_table,
    with_settings,
    write_line,
)
from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.core.runtime import Progress
from ragways.core.table import Column, Table

if TYPE_CHECKING:
    from ragways.evaluation.routing.fit import FitSettings
    from ragways.evaluation.routing.outcomes import Features, Floats, Outcomes
    from ragways.retrieval.routing.explanation import KnownFeature, RouteExplanation
    from ragways.retrieval.routing.router import Decision, Router
    from ragways.settings import Settings

app = typer.Typer(
    help="Fit the router of `auto`, compare it with simpler policies, and explain its decisions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

RunsArgument = Annotated[list[Path], typer.Argument(help="Folders of runs; each index is a corpus.", metavar="RUN...")]
QualityOption = Annotated[
    str | None,
    typer.Option(
        "--quality", help="Metric, between 0 and 1.", show_default="all-evidence, or accuracy where a model answered"
    ),
]
CostOption = Annotated[
    Literal["tokens", "usd", "seconds"], typer.Option("--cost", help="What a method costs: tokens, usd or seconds.")
]
_TRADE = "Quality that 1,000 tokens, a dollar or a second are worth."
TradeOption = Annotated[float | None, typer.Option("--trade", help=_TRADE, min=0, show_default="0.01, for a dollar 1")]
ToleranceOption = Annotated[
    float, typer.Option("--tolerance", help="Loss of utility at which a router is used all the same.", min=0)
]
AlphaOption = Annotated[
    float | None,
    typer.Option("--alpha", help="Certify that at most this share of what is answered is wrong.", show_default="none"),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of every draw.", min=0)]
CommonOption = Annotated[
    bool, typer.Option("--common", help="Leave out questions that a method has no value for, which are an error else.")
]


@app.command()
@with_settings("index", "model")
def explain(
    chosen: Settings,
    question: Annotated[str, typer.Argument(help="What would be asked.")],
    trade: Annotated[float | None, typer.Option("--trade", help=_TRADE, min=0, show_default="the router's")] = None,
    router: Annotated[
        Path | None,
        typer.Option(
            "--router", help="File of a router, or paradigms.", show_default="the index's own, or the bundled one"
        ),
    ] = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Show which way `auto` would answer a question and why. Nothing is answered, and no model is called."""
    from ragways.assemble import opened
    from ragways.retrieval.ask import check_question
    from ragways.retrieval.routing.explanation import explained

    text = check_question(question)

    async def decided() -> RouteExplanation:
        async with opened(chosen) as use:
            own = use if router is None else replace(use, router=router)
            return await explained(own.only(where), text, trade)

    found = asyncio.run(decided())
    if json:
        print_json(to_plain(found))
    else:
        _show_route(found)


@app.command()
@with_settings("index", "trust")
def fit(
    chosen: Settings,
    runs: RunsArgument,
    out: Annotated[Path, typer.Option("--out", help="File for the router, e.g. router.json.")],
    quality: QualityOption = None,
    cost: CostOption = "tokens",
    trade: TradeOption = None,
    tolerance: ToleranceOption = 0.0,
    alpha: AlphaOption = None,
    seed: SeedOption = 0,
    common: CommonOption = False,
    index: IndexOption = None,
    json: JsonOption = False,
) -> None:
    """Fit a router on runs of `eval run`, and say whether it is worth using.

    Runs without features need their index: --index.
    """
    from ragways.experiment import fit_settings

    outcomes = gathered(runs, quality, common, chosen if index else None)
    fit_and_show(outcomes, fit_settings(cost, trade, seed, alpha, tolerance), out, json=json)


@app.command()
@with_settings("index", "trust")
def evaluate(
    chosen: Settings,
    runs: RunsArgument,
    quality: QualityOption = None,
    cost: CostOption = "tokens",
    trade: TradeOption = None,
    tolerance: ToleranceOption = 0.0,
    seed: SeedOption = 0,
    common: CommonOption = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with a picture to this file.")] = None,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="Have the model that is set choose too: a call a question.")
    ] = False,
    budget: BudgetOption = None,
    index: IndexOption = None,
    json: JsonOption = False,
) -> None:
    """Compare a router with every fixed arm, simpler routers and an oracle, on what it was not fitted on.

    Each corpus is left out in turn; of fewer than three corpora, each fifth of the questions.
    """
    from ragways.evaluation.routing.evaluate import evaluate_router
    from ragways.experiment import fit_settings

    outcomes = gathered(runs, quality, common, chosen if index else None)
    given = fit_settings(cost, trade, seed, tolerance=tolerance)
    more = asyncio.run(_model_choices(chosen, outcomes, given, budget)) if ask_model else None
    with progress_bar(not json) as progress:
        progress(Progress("fitting without each fold", 0))
        found = evaluate_router(outcomes, given, more=more)
    if html is not None:
        from ragways.pictures.report import routing_page
        from ragways.pictures.shell import write_page

        write_page(html, routing_page(found.to_plain()))
    if json:
        print_json(found.to_plain())
        return
    for table in found.tables():
        show_table(table, compact=True)
    for name, line in found.words.items():
        write_line(f"{name:<10} {line}")
    if html is not None:
        write_line(f"wrote {html}")


async def _model_choices(
    settings: Settings, outcomes: Outcomes, given: FitSettings, budget: float | None
) -> dict[str, Floats]:
    """The choices of the model that is set."""
    from ragways.assemble import client_of
    from ragways.core.trace import Budget, spending
    from ragways.evaluation.routing.evaluate import PROMPTED
    from ragways.evaluation.routing.models import usual_by
    from ragways.evaluation.routing.policies import prompt_router

    if not settings.model.name:
        raise UsageError("no model is set that could choose", "set one (docs/models.md), or leave out --ask-model")
    with spending(Budget(usd=budget)):
        async with client_of(settings) as client:
            by = usual_by(len(outcomes.corpora))
            return {PROMPTED: await prompt_router(client, outcomes, given, by, at_once=settings.model.concurrency)}


def fit_and_show(
    outcomes: Outcomes,
    settings: FitSettings,
    file: Path,
    *,
    json: bool,
    run: Path | None = None,
    only_if_better: bool = False,
) -> None:
    """Fit a router, write it, and show the result. `only_if_better`: where routing is off, nothing is written."""
    from ragways.evaluation.routing.fit import fit as fitted
    from ragways.index.export import replacing

    with progress_bar(not json) as progress:
        progress(Progress("fitting", 0))
        router = fitted(outcomes, settings)
    written = None if only_if_better and not router.guard.passed else file
    if written is not None:
        with replacing(written) as draft:
            draft.write_text(router.text(), encoding="utf-8")
    _show_fit(outcomes, router, settings, written, json=json, run=run)


def gathered(runs: Sequence[Path], quality: str | None, common: bool, settings: Settings | None = None) -> Outcomes:
    """The outcomes of these runs; `settings` name the index of runs without features."""
    from ragways.evaluation.routing.outcomes import gather
    from ragways.evaluation.routing.tuning import usual_quality

    for folder in runs:
        if not folder.is_dir():
            raise UsageError(f"there is no run in {folder}", "make one with: ragways eval run --out FOLDER")
    known = asyncio.run(_features(runs, settings)) if settings is not None else None
    found = gather(runs, quality=quality or usual_quality(runs), common=common, features=known)
    if "look.fused" in found.names and not found.look:
        raise UsageError(
            "the questions of these runs were not looked at alike: some indexes have a graph, and some have none",
            "fit a router for runs with a graph, and another for runs without",
        )
    return found


async def _features(runs: Sequence[Path], settings: Settings) -> Features:
    """The features of the questions whose records have none, by a look at each in the index that was named."""
    from ragways.assemble import opened
    from ragways.evaluation.record import Run
    from ragways.retrieval.routing.features import all_features

    found: dict[str, dict[str, float]] = {}
    wanted = {run: {one.text for one in Run(run).records if not one.features} for run in runs}
    if not any(wanted.values()):
        return found
    async with opened(settings) as use:
        for run, texts in wanted.items():
            if texts and Run(run).info.index not in ("", use.index.identity):
                raise UsageError(
                    f"{run} has no features, and was made on another index, or before this one changed",
                    "name its own with --index, or run it again: ragways eval run",
                )
        with progress_bar() as progress:
            every = sorted(set().union(*wanted.values()))
            for number, text in enumerate(every):
                progress(Progress("looking", number, len(every)))
                found[text] = await all_features(use, text)
    return found


# As text


def _show_fit(
    outcomes: Outcomes, router: Router, settings: FitSettings, file: Path | None, *, json: bool, run: Path | None = None
) -> None:
    """The result of a fit: arms, the best by type of question, whether routing is worth it, what is certified."""
    from ragways.evaluation.routing.tables import arm_table, type_table, verdict
    from ragways.retrieval.routing.router import guard_in_words

    tables = {
        "arms": arm_table(outcomes, settings.cost, router.fixed),
        "types": type_table(outcomes, settings, router.fixed),
    }
    lines = {
        "verdict": verdict(router),
        "guard": guard_in_words(router),
        "certified": router.stop.words,
        "notes": "; ".join(outcomes.notes),
    }
    if json:
        data: dict[str, Any] = {
            "file": str(file or ""), "run": str(run or ""), "quality": router.quality, "cost": router.cost,
            "trade": router.trade, "look": router.look, "fixed": router.fixed, "questions": len(outcomes),
            **lines, "guard": to_plain(router.guard), "guard_in_words": lines["guard"], "stop": to_plain(router.stop),
            **{name: table.to_plain() for name, table in tables.items()},
        }  # fmt: skip
        print_json(data)
        return
    for table in tables.values():
        show_table(table, compact=True)
    for name, line in lines.items():
        if line:
            write_line(f"{name:<10} {line}")
    kept = "wrote no router, so `auto` stays as it is (--out FILE writes this one all the same)"
    write_line((f"wrote {file}" if file else kept) + (f"; its run is stored in {run}" if run is not None else ""))


def _show_route(found: RouteExplanation) -> None:
    for name, line in _route_lines(found):
        write_line(f"{name:<8}{line}")
    write_line("")
    show_table(_arm_table(found.decision), compact=True)
    for group, rows in found.features.items():
        show_table(_feature_table(group, rows), compact=True)


def _route_lines(found: RouteExplanation) -> Iterator[tuple[str, str]]:
    decision = found.decision
    yield "takes", f"{decision.arm}: {decision.reason}"
    beside = f" (for it beside {decision.against})" if decision.against else ""
    weighed = ", ".join(f"{one.feature} {one.value:.3g} ({one.weight:+.2f})" for one in decision.weighed)
    if weighed:
        yield "because", f"weighed most{beside}: {weighed}"
    for name, line in (("router", found.router), ("guard", found.guard), ("corpus", found.corpora),
                       ("stop", found.stop)):  # fmt: skip
        if line:
            yield name, line
    yield "look", f"{found.look.by} found {found.look.found:,} candidates" + (", first:" * bool(found.look.first))
    for passage in found.look.first:
        yield "", f"{passage.score:.2f}  {passage.title or passage.id}, {passage.tokens:,} tokens"


def _arm_table(decision: Decision) -> Table:
    from ragways.retrieval.routing.router import UNITS, cost_in_words

    unit = {"tokens": f"{UNITS['tokens']:,.0f} tokens", "usd": "a dollar", "seconds": "a second"}[decision.cost]
    numbers = (Column(name, ".3f", "right") for name in ("value", "utility"))
    value, utility = numbers
    return Table.of(
        ["arm", value, Column("cost", align="right"), utility, ""],
        [
            [one.arm, one.value, cost_in_words(one.cost, decision.cost), one.utility,
             one.impossible or ("taken" if one.arm == decision.arm else "")]
            for one in sorted(decision.estimates, key=lambda one: (bool(one.impossible), -one.utility))
        ],
        notes=[f"value: the quality to be expected; utility: that less {decision.trade:g} for {unit}"],
    )  # fmt: skip


def _feature_table(group: str, rows: tuple[KnownFeature, ...]) -> Table:
    unknown = [row.name.partition(".")[2] for row in rows if row.value is None]
    return Table.of(
        [group, Column("here", ".3g", "right"), Column("usual", ".3g", "right"), "what it is"],
        [
            [row.name.partition(".")[2], row.value, row.usual, row.meaning]
            for row in rows
            if row.value is not None
        ],
        notes=[f"not known here: {', '.join(unknown)}"] if unknown else [],
    )  # fmt: skip
