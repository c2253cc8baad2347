"""`ragways eval duel`: paradigms judged against each other, two at a time, by a judge that was tested first."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.evaluation.options import AtOnceOption, BudgetOption, LimitOption, RunArgument
from ragways.apps.options import JsonOption, SettingsOption, TrustOption, chosen_settings
from ragways.core.errors import PARTLY, UsageError

if TYPE_CHECKING:
    from ragways.core.progress import ProgressCallback
    from ragways.evaluation.duel.contest import Contest
    from ragways.evaluation.duel.plan import Plan
    from ragways.evaluation.duel.result import Result
    from ragways.evaluation.duel.rules import Rules
    from ragways.evaluation.duel.sitting import Judged
    from ragways.settings import Settings

CURE = "set judge.name and judge.base_url (or model.name and model.base_url) in the settings"


def duel(
    run: RunArgument,
    paradigms: Annotated[
        str, typer.Option("--paradigms", help="Joined by commas.", show_default="all of the run")
    ] = "",
    trials: Annotated[
        int | None, typer.Option("--trials", help="Whole comparisons (M).", min=1, max=1000, show_default="25")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", help="Replies to each prompt (N).", min=1, max=1000, show_default="2")
    ] = None,
    differential: Annotated[
        bool, typer.Option("--differential", help="Judge only what one answer says and the other does not.")
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Go on with a judge that fails its test; still nobody wins.")
    ] = False,
    limit: LimitOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw of answers the judge is tested on.")] = 7,
    at_once: AtOnceOption = None,
    budget: BudgetOption = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Judge paradigms against each other: equal lengths, both orders, many trials, after a test of the judge."""
    from ragways.apps.evaluation.duel_shown import show, show_plan
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.duel.contest import contest
    from ragways.evaluation.duel.plan import plan
    from ragways.evaluation.duel.result import result
    from ragways.evaluation.record import Records, locked

    chosen, records = chosen_settings(settings, trust=trust), list(Records(run))
    by, rules = _who(chosen, run, trials, samples, differential, anyway, seed)
    names = [name.strip() for name in paradigms.split(",") if name.strip()]
    entries = contest(records, rules, names, limit=limit)
    planned = plan(entries, run, by, rules, generator=bool(chosen.model.name))
    usd = _usd(chosen, planned, by)
    if _judge_name(chosen):
        if not json:
            show_plan(planned, usd)
        with progress_bar(not json) as report, locked(run):
            asyncio.run(_fought(chosen, entries, run, rules, at_once, budget, report))
    found = result(entries, run, by, rules)
    if json:
        print_json({"plan": planned.data(usd), **found.data()})
    else:
        show(found)
    if _partly(found):
        raise typer.Exit(PARTLY)


def _judge_name(settings: Settings) -> str:
    return settings.judge.name or settings.model.name


def _who(
    settings: Settings,
    run: Path,
    trials: int | None,
    samples: int | None,
    differential: bool,
    anyway: bool,
    seed: int,
) -> tuple[Judged, Rules]:
    """The judge that is set; without one, who judged before, and as often: then figures are computed and no more."""
    from ragways.evaluation.duel.line import Lines
    from ragways.evaluation.duel.rules import Mode, Rules
    from ragways.evaluation.duel.sitting import judged_by

    mode: Mode = "differential" if differential else "whole"
    if name := _judge_name(settings):
        return judged_by(name, mode), Rules(trials or 25, samples or 2, mode, seed=seed, go_on=anyway)
    lines = [line for line in Lines(run) if line.mode == mode]
    if not lines:
        raise UsageError("a duel cannot be judged without a language model", CURE)
    by = judged_by(lines[-1].judge, mode)
    fought = [line for line in lines if line.kind == "duel" and line.judge == by.name]
    most = max((line.trial for line in fought), default=0) + 1, max((line.sample for line in fought), default=0) + 1
    return by, Rules(trials or most[0], samples or most[1], mode, seed=seed, go_on=anyway)


async def _fought(
    settings: Settings,
    entries: Contest,
    run: Path,
    rules: Rules,
    at_once: int | None,
    budget: float | None,
    report: ProgressCallback,
) -> None:
    from ragways.assemble import client_of, judge_client_of
    from ragways.evaluation.duel.trials import Trials

    asked = settings.judge if settings.judge.name else settings.model
    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        side_by_side = at_once or asked.concurrency
        trials = Trials(judge, generator, run, rules, at_once=side_by_side, report=report)
        await trials.run(entries, budget=budget)


def _usd(settings: Settings, planned: Plan, by: Judged) -> float | None:
    """None where nobody knows the price."""
    from ragways.assemble import prices_of

    asked = settings.judge if settings.judge.name else settings.model
    return prices_of(settings).of(planned.usage, by.name, asked.base_url)


def _partly(found: Result) -> bool:
    """Whether replies could not be used, or the judge was not fit to judge."""
    unread = any(sum(pair.rounds.unscored.values()) for pair in found.pairs)
    return unread or not found.selftest.passed
