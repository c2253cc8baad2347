"""`auto`: take a first look, decide by it how to answer, and answer that way.

What several arms share is done once: an arm that shows the first k of the look searches nothing again. All others are
the paradigms of the table, with the settings that the router names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources as package
from pathlib import Path
from typing import Annotated, Any, Final

from annotated_types import Ge

from ragways.core.errors import UsageError
from ragways.core.step import Step
from ragways.core.stream import current_stream
from ragways.core.trace import current_span
from ragways.core.types import ABSTENTION, Answer, Query
from ragways.reading.answers import IN_ORDER, USUAL
from ragways.reading.question_type import question_type
from ragways.retrieval.answer import answer, is_retrieval_only
from ragways.retrieval.fused import FUSED
from ragways.retrieval.paradigm import Paradigm, Strategy, Tokens, parse_variant
from ragways.retrieval.reader import affordable
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.features import FEATURES, all_features
from ragways.retrieval.routing.look import Look, cut, look
from ragways.retrieval.routing.router import ABSTAIN, ArmEstimate, ArmModel, Decision, Router

NAME: Final = "auto"
OWN: Final = "router.json"
"""The router of an index, in its folder; `ragways tune` writes it."""
USUAL_SHOWN: Final = "k=15;tokens=1600"
"""What is shown where no router fits: on documentation it holds what thirty passages hold, for half the tokens."""
PARADIGM_ROUTER: Final = "paradigms"
"""The bundled router among the paradigms of RAGRouter-Bench, which is taken where the settings name it so."""
DOUBT: Final = 0.23
"""The value of abstaining from which on the chance of an answer is lowered."""
SEEN: Final = 3
"""Passages shown beside an abstention by the router."""
NOT_ROUTED: Final = "no router was fitted for what this index has"
WISHED: Final = "that number of passages is set"
ABSTAINED: Final = "router: abstained"
"""The way of an answer for which no arm was taken."""
WITHHELD: Final = "router: withheld, too unlikely to be right"
"""The way of an answer whose own chance is below the router's threshold."""
Find = Callable[[str], Paradigm]


@dataclass(frozen=True)
class Arm:
    """An arm as it is taken: a paradigm with settings."""

    paradigm: Paradigm
    settings: dict[str, Any]

    def cuts(self, looked: Look) -> bool:
        """Whether it shows the first of what was looked at already, and nothing else."""
        return self.paradigm.name == looked.by and self.settings.keys() <= {"k", "tokens"}

    @property
    def size(self) -> tuple[int, int]:
        """Passages and tokens that it shows at most."""
        own = {**self.paradigm.settings, **self.settings}
        return own["k"], own["tokens"]


@lru_cache(maxsize=256)
def arm_of(name: str, find: Find) -> Arm:
    """The paradigm and the settings that an arm's name stands for; UsageError where there is none."""
    paradigm, settings = parse_variant(name)
    found = find(paradigm)
    return Arm(found, found.check(settings))


def auto_paradigm(find: Find) -> Paradigm:
    """The paradigm `auto` over a table of paradigms: `find` gives one by its name."""

    def build(
        use: Resources,
        *,
        k: Annotated[int, Ge(0)] = 0,
        trade: Annotated[float, Ge(0)] | None = None,
        tokens: Tokens = 8000,
    ) -> Strategy:
        """`k`: so many passages of the look are shown, whatever the router decides; with 0 it decides. `trade`: what
        1,000 tokens (a dollar, a second) are worth in quality, in place of the router's own.
        """
        see = look(use)

        async def run(query: Query) -> Answer:
            return _with_missing_layer(use, query, await take(query))

        async def take(query: Query) -> Answer:
            looked = await see(query)
            decision = await _decide(use, find, k, trade, looked)(query)
            if decision.arm == ABSTAIN:
                return await _abstain(use, looked, tokens)
            arm, here = arm_of(decision.arm, find), replace(use, doubt=doubt(decision))
            if not arm.cuts(looked):
                return _withheld(await arm.paradigm.strategy(here, _within(arm, tokens))(query), decision)
            size, most = arm.size
            evidence = await cut(here, looked, size, min(most, tokens))
            return _withheld(await answer(here, reach=_reach(looked))(evidence), decision)

        return Step("take", run)

    return Paradigm(
        name=NAME,
        summary="A first look by the cheap retrievers, then the way that a router takes for the best at its cost.",
        source="R, T",
        needs=frozenset(),
        build=build,
    )


def _reach(looked: Look) -> Any:  # noqa: ANN401 - as `fused` has it, so that its arms answer alike
    return IN_ORDER if looked.by == FUSED.name and affordable(FUSED.settings["spend"]) else USUAL


def _within(arm: Arm, tokens: int) -> dict[str, Any]:
    """Its settings, with no more tokens than are allowed; a paradigm with another kind of budget has its own."""
    if "tokens" not in arm.paradigm.settings:
        return arm.settings
    own = {**arm.paradigm.settings, **arm.settings}["tokens"]
    return {**arm.settings, "tokens": min(own, tokens)}


async def _abstain(use: Resources, looked: Look, tokens: int) -> Answer:
    """Nothing is answered; the nearest passages are shown all the same, and no model reads them."""
    evidence = await cut(use, looked, SEEN, tokens)
    way = "retrieval only" if is_retrieval_only() else ABSTAINED
    return Answer(evidence, ABSTENTION, abstained=True, way=way)


def doubt(decision: Decision) -> float:
    """Return what a decision divides the odds of an answer by: over 1 where abstaining has a high value, never less.
    A router that is far from home, or that was certified for answers' own chances, has no say in them.
    """
    value = next((each.value for each in decision.estimates if each.arm == ABSTAIN), 0.0)
    if decision.far or decision.least_chance is not None or not 0 < value < 1:
        return 1.0
    return max(1.0, value * (1 - DOUBT) / ((1 - value) * DOUBT))


def _withheld(answer: Answer, decision: Decision) -> Answer:
    """The answer, or an abstention where its own chance is below what the router was certified for."""
    least, chance = decision.least_chance, answer.chance
    if answer.abstained or least is None or chance is None or chance >= least:
        return answer
    if (listening := current_stream()) is not None:
        listening.update(ABSTENTION)
    return Answer(answer.evidence, ABSTENTION, abstained=True, way=WITHHELD, chance=chance)


WHOLE: Final = 0.8
"""The chance, by its words, from which on a question is taken to be about the corpus as a whole: none of 923 questions
of users on documentation reaches it.
"""
REPORTS_MISSING: Final = (
    "this asks about the corpus as a whole, which reports on communities answer: "
    "build them with ragways index PATH --with communities"
)


def _with_missing_layer(use: Resources, query: Query, answer: Answer) -> Answer:
    """The answer with a note on the layer that would answer better, where passages cannot answer such a question."""
    if "communities" in use.index.layers or question_type(query.text)["summary"] < WHOLE:
        return answer
    return replace(answer, note="; ".join(filter(None, (answer.note, REPORTS_MISSING))))


# Deciding


def _decide(use: Resources, find: Find, k: int, trade: float | None, looked: Look) -> Step[Query, Decision]:
    async def run(query: Query) -> Decision:
        decision = (
            _without_router(looked, f"k={k}", WISHED) if k else await decide(use, query.text, looked, find, trade)
        )
        current_span().attachments.append(decision)
        current_span().details.update(arm=decision.arm, reason=decision.reason)
        return decision

    return Step("route", run)


async def decide(use: Resources, question: str, looked: Look, find: Find, trade: float | None = None) -> Decision:
    """Which arm to take on a question after a look at it, and why."""
    router = router_of(use, looked.by, find)
    if router is None:
        return _without_router(looked, USUAL_SHOWN, NOT_ROUTED)
    arms = {arm.name: arm_of(arm.name, find) for arm in router.arms if arm.name != ABSTAIN}
    evidence = {name: _tokens(looked, arm) for name, arm in arms.items() if arm.cuts(looked)}

    def possible(arm: ArmModel) -> str:
        missing = sorted(set(arm.needs) - use.index.layers)
        if missing:
            return f"the index has no {', '.join(missing)}"
        if arm.model and use.model.model is None:
            return "no model is set"
        return ""

    features = await all_features(use, question, looked)
    return router.decide(features, possible, evidence, trade, use.index.embedder)


def _without_router(looked: Look, shown: str, reason: str) -> Decision:
    """The first passages of the look, as many as these settings say, without a router."""
    name = f"{looked.by}[{shown}]"
    return Decision(name, reason, (ArmEstimate(name, 0.0, 0.0, 0.0),), (), name)


def _tokens(looked: Look, arm: Arm) -> float:
    """What an arm would show of a look, but for what the guard holds back."""
    k, most = arm.size
    total = 0
    for hit in looked.hits.items[:k]:
        if total + hit.piece.tokens > most:
            break
        total += hit.piece.tokens
    return float(total)


def router_of(use: Resources, by: str, find: Find) -> Router | None:
    """The router that the settings name, else the index's own, else the one that comes with ragways for looks of this
    kind; None where there is none of them for such looks.
    """
    if str(use.router) == PARADIGM_ROUTER:
        return bundled(PARADIGM_ROUTER)
    if use.router is not None:
        chosen = _read(use.router, _stamp(use.router), find)
        if chosen.look != by:
            raise UsageError(
                f"{use.router} was fitted on looks by {chosen.look}, and this index has looks by {by}",
                "fit one on a run over this index, or leave answer.router unset",
            )
        return chosen
    own = use.index.folder / OWN
    if own.is_file():
        chosen = _read(own, _stamp(own), find)
        if chosen.look == by:
            return chosen
    return bundled(by)


@lru_cache(maxsize=8)
def bundled(name: str) -> Router | None:
    """The router of this name that comes with ragways: that for looks by a paradigm has the paradigm's name."""
    file = package.files("ragways.retrieval.routing") / "routers" / f"{name}.json"
    return Router.parse(file.read_text(encoding="utf-8"), f"the bundled router {name}") if file.is_file() else None


def _stamp(file: Path) -> tuple[int, int]:
    """What changes when a file does."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _read(file: Path, stamp: tuple[int, int], find: Find) -> Router:  # noqa: ARG001 - a changed file is read again
    return checked(Router.read(file), str(file), find)


def checked(router: Router, name: str, find: Find) -> Router:
    """The router itself; UsageError where it names arms, layers or features that are not there in this version."""
    cure = "fit it anew with: ragways route fit RUN --out router.json"
    for arm in router.arms:
        if arm.name == ABSTAIN:
            continue
        try:
            known = arm_of(arm.name, find)
        except UsageError as error:
            raise UsageError(f"{name} has an arm that is not there: {error.message}", cure) from error
        if known.paradigm.name == NAME:
            raise UsageError(f"{name} names itself as one of its arms", cure)
        if frozenset(arm.needs) != known.paradigm.needs_with(known.settings):
            raise UsageError(f"{name} was fitted where {arm.name} needed other layers", cure)
    unknown = sorted(router.features.keys() - FEATURES.keys())
    if unknown:
        raise UsageError(f"{name} has features that are not there: {', '.join(unknown[:5])}", cure)
    return router
