"""`ragways eval label` and `agreement`: people say whether answers are right, and judges are held against them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, RunArgument

if TYPE_CHECKING:
    from ragways.evaluation.labels import Labelling, LabelTask

AboutOption = Annotated[
    str, typer.Option("--about", help="What is labelled: correct (against the gold answer), or supported by evidence.")
]


def label(
    run: RunArgument,
    count: Annotated[int, typer.Option("--count", help="Answers to label in all.", min=1)] = 100,
    by: Annotated[str, typer.Option("--by", help="Who labels; several people may label one run.")] = "me",
    about: Annotated[
        str,
        typer.Option(
            "--about",
            help="What is labelled: correct (against the gold answer), supported by evidence, or which of two answers "
            "of a duel is better.",
        ),
    ] = "correct",
    paradigms: Annotated[
        str, typer.Option("--paradigms", help="The two of a duel, joined by a comma.", show_default="those of the run")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="Which answers are drawn.")] = 0,
    page: Annotated[bool, typer.Option("--page", help="Label in a browser, on a page served to this machine.")] = False,
) -> None:
    """Label answers of a run by hand: right, partly right or wrong. They are drawn by a seed, as many of each paradigm,
    and it is not shown which one gave them. Or label pairs of a duel (--about better): 30 of them anchor its verdict.
    Stop at any time; the next call continues.
    """
    from ragways.core.text import printable
    from ragways.evaluation.labels import Labelling
    from ragways.evaluation.record import Records

    names = [name.strip() for name in paradigms.split(",") if name.strip()]
    work = Labelling(run, list(Records(run)), by=by, count=count, seed=seed, verdict=about, names=names)
    try:
        if page:
            from ragways.apps.evaluation.label_page import serve

            serve(work, lambda url: typer.echo(f"open {url}\nDone on the page, or Ctrl-C here, ends it"))
        else:
            _ask(work)
    except KeyboardInterrupt:
        typer.echo()
    said = ", ".join(f"{number:,} {value}" for value, number in work.counts.items())
    typer.echo(printable(f"{len(work.tasks) - work.values.count(None):,} of {len(work.tasks):,} labelled: {said}"))
    more = "" if about == "correct" else f" --about {about}"
    pair = f" --paradigms {shlex.quote(paradigms)}" if names else ""
    shown = f"the duel, anchored on them: ragways eval duel {run}{pair}"
    if about != "better":
        shown = f"judges against labels: ragways eval agreement {run}{more}"
    typer.echo(printable(shown))


def agreement(
    run: RunArgument,
    about: AboutOption = "correct",
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", help="Means to correct.", show_default="the usual ones; with --json all"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Hold the judges of a run against its labels: their agreement, and means corrected by the labels."""
    from ragways.apps.terminal import print_json, show_table
    from ragways.evaluation.agreement import label_agreement, shown
    from ragways.evaluation.answers import plain_tables
    from ragways.evaluation.metrics import find_metric
    from ragways.evaluation.record import Run
    from ragways.evaluation.report import TELLING

    wanted = [find_metric(name) for name in metric or ()]
    found = label_agreement(Run(run), about, *wanted)
    if json:
        print_json({table["name"]: table["rows"] for table in plain_tables(found)})
        return
    for table in shown(found, [one.name for one in wanted], TELLING):
        show_table(table, compact=True)


def _ask(work: Labelling) -> None:
    """One answer after the other, until all have a label or the labeller quits."""
    keys = {"s" if value == "skip" else str(at): value for at, value in enumerate(work.choices, start=1)}
    prompt = " · ".join([*(f"{key} {value}" for key, value in keys.items()), "b back", "q quit"]) + ": "
    at = work.first
    while at < len(work.tasks):
        for line in _shown(work, at):
            typer.echo(line)
        try:
            key = input(prompt).strip().casefold()
        except EOFError:
            return
        if key == "q":
            return
        if key == "b":
            at = max(0, at - 1)
        elif key in keys:
            work.give(at, keys[key])
            at = next((n for n in range(at + 1, len(work.tasks)) if work.values[n] is None), work.first)
        else:
            typer.echo(f"there is no key {key[:20]!r}")


def _shown(work: Labelling, at: int) -> Iterator[str]:
    """What a labeller sees, its texts made printable."""
    from ragways.core.text import printable

    task: LabelTask = work.tasks[at]
    before = work.values[at]
    yield f"\n{at + 1:,} of {len(work.tasks):,}. {work.verdict.about}" + (f" (labelled {before})" if before else "")
    yield printable(f"question: {task.question}")
    yield from (printable(f"gold: {gold}") for gold in task.gold)
    yield from (printable(f"evidence: {passage}") for passage in task.evidence)
    yield printable(f"{'first ' if task.other else ''}answer: {task.answer}")
    if task.other:
        yield printable(f"second answer: {task.other}")
