"""Why a question is answered in the way that `auto` takes: the look, the features, every arm, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.core.types import Query
from ragways.retrieval.ask import PARADIGMS
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.auto import OWN, PARADIGM_ROUTER, bundled, decide, router_of
from ragways.retrieval.routing.features import FEATURES, all_features
from ragways.retrieval.routing.look import Look, look
from ragways.retrieval.routing.router import Decision, Router, guard_in_words

SEEN = 5
"""Passages of a look that are shown."""


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
    """A decision with its grounds. `router` names the router that decided; `guard`, `corpora` and `stop` are of it, in
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


async def explained(use: Resources, question: str, trade: float | None = None) -> RouteExplanation:
    """The decision on a question, and what it rests on."""
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
    if router is None:
        return f"none: no router is there for looks by {by}"
    if router is bundled(by):
        return f"the one that comes with ragways, for looks by {by}"
    if router is bundled(PARADIGM_ROUTER):
        return f"{PARADIGM_ROUTER}, which comes with ragways: {router.made['source']}"
    return str(use.router or use.index.folder / OWN)


def _corpora_in_words(router: Router, decision: Decision) -> str:
    names = ", ".join(router.corpora)
    if decision.distance is None:
        return f"how far this corpus is from {names or 'those of the router'} is unknown"
    reach = "" if router.reach is None else f", and {router.reach:.2f} is its reach"
    return f"{decision.distance:.2f} deviations from the nearest of {names}{reach}" + (": too far" * decision.far)


def _first(looked: Look) -> FirstLook:
    hits = looked.hits.items
    first = (SeenPassage(hit.piece.id, hit.piece.title, hit.score, hit.piece.tokens) for hit in hits[:SEEN])
    return FirstLook(looked.by, len(hits), tuple(first))


def _grouped(features: dict[str, float], router: Router | None) -> dict[str, tuple[KnownFeature, ...]]:
    usual = {name: scale.mean for name, scale in router.features.items()} if router is not None else {}
    rows: dict[str, list[KnownFeature]] = {}
    for name, meaning in FEATURES.items():
        row = KnownFeature(name, features.get(name), usual.get(name), meaning)
        rows.setdefault(name.partition(".")[0], []).append(row)
    return {group: tuple(some) for group, some in rows.items()}
