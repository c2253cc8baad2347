"""`ragways eval judge`: what records alone do not tell, judged by an embedder or a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.evaluation.options import AtOnceOption, BudgetOption, RunArgument
from ragways.apps.options import JsonOption, SettingsOption, TrustOption, chosen_settings
from ragways.core.errors import PARTLY
from ragways.core.text import printable

if TYPE_CHECKING:
    from ragways.core.progress import ProgressCallback
    from ragways.evaluation.judges.judge import Judge, JudgeResources
    from ragways.evaluation.judging import Tally
    from ragways.evaluation.record import Record
    from ragways.settings import Settings

SHOWN = 160
"""Characters shown of what a judge said when it failed."""


@dataclass(frozen=True)
class Judged:
    """What came of it: `favoured` are the models that answered and are of the judge's own family."""

    judges: tuple[Judge, ...]
    model: str
    embedder: str
    favoured: tuple[str, ...]
    tally: Tally
    usd: float
    failed: int

    def as_data(self) -> dict[str, Any]:
        scored, unscored = self.tally.scored, self.tally.unscored
        names = [metric.name for judge in self.judges for metric in judge.metrics]
        return {
            "judge": self.model,
            "embedder": self.embedder,
            "same_family": list(self.favoured),
            "usd": self.usd,
            "metrics": {name: {"scored": scored[name], "unscored": dict(unscored.get(name, {}))} for name in names},
            "errors": self.tally.errors,
        }


def judge(
    run: RunArgument,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Metrics or whole judges, joined by commas.",
            show_default="all that need no model, and the others where one is set",
        ),
    ] = None,
    at_once: AtOnceOption = None,
    budget: BudgetOption = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Judge the answers of a run. What was judged already is left as it is; what failed, or was said of an answer that
    has been replaced since, is judged again.
    """
    from ragways.apps.terminal import print_json, progress_bar
    from ragways.evaluation.judges import find_judge
    from ragways.evaluation.record import Records, locked

    names = [name.strip() for name in (metrics or "").split(",") if name.strip()]
    wanted = tuple(dict.fromkeys(map(find_judge, names)))
    records = list(Records(run))
    with progress_bar(not json) as report, locked(run):
        done = asyncio.run(
            _judge(chosen_settings(settings, trust=trust), run, records, wanted, at_once, budget, report)
        )
    if json:
        print_json(done.as_data())
    else:
        _show(done)
    if done.failed:
        raise typer.Exit(PARTLY)


async def _judge(
    settings: Settings,
    run: Path,
    records: Sequence[Record],
    wanted: tuple[Judge, ...],
    at_once: int | None,
    budget: float | None,
    report: ProgressCallback,
) -> Judged:
    from ragways.assemble import judge_resources_of
    from ragways.core.trace import spending
    from ragways.evaluation.judging import Judgements, Tally
    from ragways.evaluation.judging import judge as judge_all

    judgements = Judgements(run)
    async with judge_resources_of(settings, run) as resources:
        judges = wanted or _usable(resources)
        model = resources.model.model
        by = model.name if model is not None and any(one.by == "model" for one in judges) else ""
        asked = settings.judge if settings.judge.name else settings.model
        side_by_side = at_once or (asked.concurrency if by else 1)
        with spending() as meter:
            await judge_all(resources, records, judges, judgements, at_once=side_by_side, budget=budget, report=report)
        embedder = resources.embedder.name
    tally = Tally.of(records, judgements.latest(), [metric for one in judges for metric in one.metrics])
    return Judged(judges, by, embedder, _favoured(by, records), tally, meter.spent.usd, tally.again)


def _usable(resources: JudgeResources) -> tuple[Judge, ...]:
    from ragways.evaluation.judges import JUDGES

    return tuple(one for one in JUDGES.values() if one.by == "embedder" or resources.model.model is not None)


def _favoured(judge: str, records: Sequence[Record]) -> tuple[str, ...]:
    from ragways.evaluation.judges.judge import same_family

    answered = dict.fromkeys(record.made.model for record in records)
    return tuple(name for name in answered if same_family(judge, name))


def _show(done: Judged) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console

    table = Table(
        title=f"judged by {done.model or 'no model'} and {done.embedder}, ${done.usd:.4f}", padding=(0, 0, 0, 1)
    )
    table.add_column("metric", no_wrap=True)
    table.add_column("scored", justify="right", no_wrap=True)
    table.add_column("unscored", overflow="fold")
    for name, row in done.as_data()["metrics"].items():
        why = "; ".join(f"{count:,} {reason}" for reason, count in row["unscored"].items())
        table.add_row(name, f"{row['scored']:,}", Text(printable(why)))
    console().print(table)
    for reason, said in done.tally.errors.items():
        console(error=True).print(Text(printable(f"{reason}, for instance: {' '.join(said.split())[:SHOWN]}")))
    if done.favoured:
        models = ", ".join(done.favoured)
        warning = f"warning: {done.model} judges answers of its own family ({models}), which judges tend to favour"
        console(error=True).print(Text(printable(warning), style="yellow"))
