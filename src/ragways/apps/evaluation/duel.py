"""`ragways eval duel`: paradigms judged against each other, two at a time, by a judge that is tested."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import AtOnceOption, BudgetOption, JsonOption, LimitOption, RunArgument, with_settings
from ragways.core.errors import PARTLY, UsageError

if TYPE_CHECKING:
    from ragways.core.runtime import ProgressCallback
    from ragways.evaluation.duel.entries import DuelEntries, DuelRules
    from ragways.evaluation.duel.replies import DuelJudge
    from ragways.settings import RoleSettings, Settings

CURE = "set judge.name and judge.base_url (or model.name and model.base_url) in the settings"


@with_settings("trust")
def duel(
    chosen: Settings,
    run: RunArgument,
    paradigms: Annotated[
        str, typer.Option("--paradigms", help="Joined by commas.", show_default="all of the run")
    ] = "",
    trials: Annotated[
        int | None, typer.Option("--trials", help="Whole comparisons (M).", min=1, max=1000, show_default="2")
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
    at_once: AtOnceOption = None,
    budget: BudgetOption = None,
    json: JsonOption = False,
) -> None:
    """Judge paradigms against each other: equal lengths, both orders, many trials, and a test of the judge."""
    from ragways.apps.evaluation.duel_tables import show_duel, show_plan
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.assemble import prices_of
    from ragways.core.plain import to_plain
    from ragways.evaluation.duel.entries import duel_entries
    from ragways.evaluation.duel.result import duel_result
    from ragways.evaluation.duel.trials import plan_duel
    from ragways.evaluation.record import Records, locked

    records = list(Records(run))
    by, rules = _judge_and_rules(chosen, run, trials, samples, differential, anyway)
    names = [name.strip() for name in paradigms.split(",") if name.strip()]
    entries = duel_entries(records, rules, names, limit=limit)
    plan = plan_duel(entries, run, by, rules, generator=bool(chosen.model.name))
    plan = replace(plan, usd=prices_of(chosen).of(plan.usage, by.name, _judging(chosen).base_url))
    if _judging(chosen).name:
        if not json:
            show_plan(plan)
        with progress_bar(not json) as progress, locked(run):
            asyncio.run(_run(chosen, entries, run, rules, at_once, budget, progress))
    result = duel_result(entries, run, by, rules)
    if json:
        print_json({"plan": to_plain(plan), **to_plain(result)})
    else:
        show_duel(result)
    unread = any(pair.scored < pair.replies for pair in result.pairs)
    if unread or not result.test.passed:
        raise typer.Exit(PARTLY)


def _judging(settings: Settings) -> RoleSettings:
    """The settings of the model that judges."""
    return settings.judge if settings.judge.name else settings.model


def _judge_and_rules(
    settings: Settings,
    run: Path,
    trials: int | None,
    samples: int | None,
    differential: bool,
    anyway: bool,
) -> tuple[DuelJudge, DuelRules]:
    """The judge that is set; without one, who judged before, and as often: then figures are computed and no more."""
    from ragways.evaluation.duel.entries import TRIALS, DuelRules, Mode
    from ragways.evaluation.duel.replies import DuelReplies, duel_judge, times_asked

    mode: Mode = "differential" if differential else "whole"
    if name := _judging(settings).name:
        return duel_judge(name, mode), DuelRules(trials or TRIALS, samples or 2, mode, go_on=anyway)
    replies = [reply for reply in DuelReplies(run) if reply.mode == mode]
    if not replies:
        raise UsageError("a duel cannot be judged without a language model", CURE)
    by = duel_judge(replies[-1].judge, mode)
    before = times_asked(reply for reply in replies if reply.judge == by.name)
    return by, DuelRules(trials or before[0], samples or before[1], mode, go_on=anyway)


async def _run(
    settings: Settings,
    entries: DuelEntries,
    run: Path,
    rules: DuelRules,
    at_once: int | None,
    budget: float | None,
    progress: ProgressCallback,
) -> None:
    from ragways.assemble import client_of, judge_client_of
    from ragways.evaluation.duel.trials import Trials

    async with judge_client_of(settings) as judge, client_of(settings) as generator:
        side_by_side = at_once or _judging(settings).concurrency
        await Trials(judge, generator, run, rules, at_once=side_by_side, progress=progress).run(entries, budget=budget)
