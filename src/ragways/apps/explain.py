"""`ragways route explain`: why a question is answered in the way that `auto` takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragways.apps.terminal import (
    IndexOption,
    JsonOption,
    ModelOption,
    ProviderOption,
    SettingsOption,
    TrustOption,
    WhereOption,
    chosen_settings,
)

if TYPE_CHECKING:
    from ragways.core.table import Table
    from ragways.retrieval.resources import Resources
    from ragways.retrieval.routing.look import Look
    from ragways.retrieval.routing.router import Decision, Router

SEEN = 5
"""Passages of a look that are shown."""

RouterOption = Annotated[
    Path | None, typer.Option("--router", help="File of a router.", show_default="the index's own, or the bundled one")
]
TradeOption = Annotated[
    float | None,
    typer.Option(
        "--trade", help="Quality that 1,000 tokens, a dollar or a second are worth.", min=0, show_default="the router's"
    ),
]


@dataclass(frozen=True, slots=True)
class SeenPassage:
    """A passage that the first look found; `score` is a chance where the look is by `fused`."""

    id: str
    title: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What was looked by, how many candidates it found, and the first of them."""

    by: str
    found: int
    first: tuple[SeenPassage, ...]


@dataclass(frozen=True, slots=True)
class KnownFeature:
    """A feature of this question; None where it is not known here. `usual` is its mean where the router was fitted."""

    name: str
    value: float | None
    usual: float | None
    meaning: str


@dataclass(frozen=True, slots=True)
class RouteExplanation:
    """A decision with all it rests on. `router` says which one decided; `guard`, `corpora` and `stop` are of it, in
    words. `features` are by group.
    """

    question: str
    router: str
    guard: str
    corpora: str
    stop: str
    look: FirstLook
    features: dict[str, tuple[KnownFeature, ...]]
    decision: Decision


def explain(
    question: Annotated[str, typer.Argument(help="What would be asked.")],
    trade: TradeOption = None,
    router: RouterOption = None,
    where: WhereOption = None,
    index: IndexOption = None,
    provider: ProviderOption = None,
    model: ModelOption = None,
    settings: SettingsOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Show which way `auto` would answer a question and why. Nothing is answered, and no model is asked."""
    from ragways.apps.terminal import print_json
    from ragways.assemble import opened
    from ragways.core.plain import to_plain
    from ragways.retrieval.ask import check_question

    text = check_question(question)
    chosen = chosen_settings(settings, index, trust=trust, provider=provider, model=model)

    async def decided() -> RouteExplanation:
        async with opened(chosen) as use:
            own = use if router is None else replace(use, router=router)
            return await explained(own.only(where), text, trade)

    found = asyncio.run(decided())
    if json:
        print_json(to_plain(found))
    else:
        _show(found)


async def explained(use: Resources, question: str, trade: float | None = None) -> RouteExplanation:
    """The decision on a question, and what it rests on."""
    from ragways.core.types import Query
    from ragways.retrieval.ask import PARADIGMS
    from ragways.retrieval.routing.auto import decide, router_of
    from ragways.retrieval.routing.features import all_features
    from ragways.retrieval.routing.look import look
    from ragways.retrieval.routing.router import guard_in_words

    looked = await look(use)(Query(question))
    router = router_of(use, looked.by, PARADIGMS.find)
    decision = await decide(use, question, looked, PARADIGMS.find, trade)
    features = await all_features(use, question, looked)
    return RouteExplanation(
        question=question,
        router=_named(use, looked.by, router),
        guard=guard_in_words(router) if router is not None else "",
        corpora=_corpora_in_words(router, decision) if router is not None else "",
        stop=router.stop.words if router is not None else "",
        look=_first(looked),
        features=_grouped(features, router),
        decision=decision,
    )


def _named(use: Resources, by: str, router: Router | None) -> str:
    """Which router decides: a file, or the one that comes along."""
    from ragways.retrieval.routing.auto import OWN, bundled

    if router is None:
        return f"none: no router is there for looks by {by}"
    if router is bundled(by):
        return f"the one that comes with ragways, for looks by {by}"
    return str(use.router or use.index.folder / OWN)


def _corpora_in_words(router: Router, decision: Decision) -> str:
    names = ", ".join(router.corpora)
    if decision.distance is None:
        return f"how far this corpus is from {names or 'those of the router'} cannot be told"
    reach = "" if router.reach is None else f", and {router.reach:.2f} is its reach"
    return f"{decision.distance:.2f} deviations from the nearest of {names}{reach}" + (": too far" * decision.far)


def _first(looked: Look) -> FirstLook:
    hits = looked.hits.items
    first = (SeenPassage(hit.piece.id, hit.piece.title, hit.score, hit.piece.tokens) for hit in hits[:SEEN])
    return FirstLook(looked.by, len(hits), tuple(first))


def _grouped(features: dict[str, float], router: Router | None) -> dict[str, tuple[KnownFeature, ...]]:
    from ragways.retrieval.routing.features import FEATURES

    usual = {name: scale.mean for name, scale in router.features.items()} if router is not None else {}
    rows: dict[str, list[KnownFeature]] = {}
    for name, meaning in FEATURES.items():
        row = KnownFeature(name, features.get(name), usual.get(name), meaning)
        rows.setdefault(name.partition(".")[0], []).append(row)
    return {group: tuple(some) for group, some in rows.items()}


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
