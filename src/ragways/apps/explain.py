"""`ragways route explain`: why a question is answered in the way that `auto` takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import JsonOption, WhereOption, with_settings

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.retrieval.routing.explanation import KnownFeature, RouteExplanation
    from ragways.retrieval.routing.router import Decision
    from ragways.settings import Settings

RouterOption = Annotated[
    Path | None, typer.Option("--router", help="File of a router.", show_default="the index's own, or the bundled one")
]
TradeOption = Annotated[
    float | None,
    typer.Option(
        "--trade", help="Quality that 1,000 tokens, a dollar or a second are worth.", min=0, show_default="the router's"
    ),
]


@with_settings("index", "model")
def explain(
    chosen: Settings,
    question: Annotated[str, typer.Argument(help="What would be asked.")],
    trade: TradeOption = None,
    router: RouterOption = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Show which way `auto` would answer a question and why. Nothing is answered, and no model is asked."""
    from ragways.apps.terminal import print_json
    from ragways.assemble import opened
    from ragways.core.plain import to_plain
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
        _show(found)


# As text


def _show(found: RouteExplanation) -> None:
    from ragways.apps.terminal import console, show_table
    from ragways.core.text import printable

    out = console()
    for name, line in _lines(found):
        out.print(f"{name:<8}{printable(line)}", markup=False, soft_wrap=True)
    out.print()
    show_table(_arms(found.decision), compact=True)
    for group, rows in found.features.items():
        show_table(_features(group, rows), compact=True)


def _lines(found: RouteExplanation) -> Iterator[tuple[str, str]]:
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


def _arms(decision: Decision) -> Table:
    from ragways.core.table import Column, Table
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


def _features(group: str, rows: tuple[KnownFeature, ...]) -> Table:
    from ragways.core.table import Column, Table

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
