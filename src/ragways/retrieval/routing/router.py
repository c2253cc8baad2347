"""A router: what each arm is worth on a question, by a linear model of its features, and the decision made from that.

An arm is a paradigm with settings (`fused[k=3]`), or `abstain`. Its value is the quality that it is expected to have;
its utility is the value less what its cost is worth (`trade`). The arm of the highest utility is taken, unless the
router is no better than one fixed arm (its guard), the corpus is unlike those it was fitted on, or the question looks
as if nothing answered it.

A router is a file of JSON that can be read and checked by eye. `ragways route fit` makes one, and one comes with
ragways.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Literal

from ragways.core.errors import UsageError
from ragways.core.plain import from_json, to_plain

FORMAT: Final = 1
ABSTAIN: Final = "abstain"
CostUnit = Literal["tokens", "usd", "seconds"]
UNITS: Final[Mapping[CostUnit, float]] = {"tokens": 1000.0, "usd": 1.0, "seconds": 1.0}
"""What a trade is given for: so much quality for 1,000 tokens, a dollar, a second."""


def cost_in_words(amount: float, unit: CostUnit) -> str:
    """A cost in words."""
    return {"tokens": f"{amount:,.0f} tokens", "usd": f"${amount:.4f}", "seconds": f"{amount:.2f} s"}[unit]


LARGEST_FILE: Final = 4_000_000
"""Bytes. No router is near that."""
NAMED: Final = 3
"""Features that a decision names."""
ENOUGH: Final = 100
"""Questions below which a gain is not believed."""
_DIGITS: Final = 6

# What a router's file holds


@dataclass(frozen=True, slots=True)
class Scale:
    """How a feature was spread over the questions that the router was fitted on."""

    mean: float
    scale: float


@dataclass(frozen=True, slots=True)
class ArmModel:
    """An arm, what it took and gave, and the model of its value.

    `needs` are the layers of an index without which it cannot be taken, `model` whether it needs a language model,
    `least` the value from which on it is taken. `quality` is its mean over corpora, each counting the same; `cost` are
    its means of tokens, calls, usd, seconds and tokens of evidence. Its value is the logistic of `constant` and of
    `weights` times standardised features.
    """

    name: str
    quality: float
    constant: float
    weights: Mapping[str, float] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    model: bool = False
    least: float = 0.0

    def value(self, standardised: Mapping[str, float]) -> float:
        """The expected quality."""
        total = self.constant + sum(weight * standardised.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether the router was better than its best fixed arm on questions it was not fitted on.

    `gain` is in utility, `lower` its lower bound (one-sided, 95 %); it is `passed` where that is above -`tolerance`, of
    `ENOUGH` questions at least. `how` describes how the questions were separated.
    """

    gain: float
    lower: float
    passed: bool
    tolerance: float = 0.0
    how: str = ""
    questions: int = 0


@dataclass(frozen=True, slots=True)
class CorpusRange:
    """A corpus that the router was fitted on: its features, and how many questions it gave."""

    features: Mapping[str, float]
    questions: int


@dataclass(frozen=True, slots=True)
class Stop:
    """When nothing is answered. `look`: where the value of `abstain` is at least this; `answer`: where the answer's own
    chance is below this. None: never. `words` say what is known of the share of wrong ones among those answered
    (`alpha`), and whether it is `certified`.
    """

    look: float | None = None
    answer: float | None = None
    alpha: float | None = None
    certified: bool = False
    words: str = "not certified"


@dataclass(frozen=True, slots=True)
class Router:
    """`quality` is the metric it was fitted for, `cost` and `trade` what was traded for it. `fixed` is the best fixed
    arm. `corpora` and `reach` say where it may be used: within `reach` of one of them. `model` is the model of the
    records it was fitted on, none where it is empty; `embedder` that of their indexes, any where it is empty; `look` is
    the paradigm of the first look, empty where no look matters. `made` says by which version and how it was fitted.
    """

    quality: str
    cost: CostUnit
    trade: float
    fixed: str
    arms: tuple[ArmModel, ...]
    features: Mapping[str, Scale]
    guard: Guard
    corpora: Mapping[str, CorpusRange] = field(default_factory=dict)
    reach: float | None = None
    stop: Stop = Stop()
    model: str = ""
    embedder: str = ""
    look: str = "fused"
    seed: int = 0
    made: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    def text(self) -> str:
        """The router as its file holds it: the same for equal routers, to the byte."""
        return json.dumps(_rounded(to_plain(self)), ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def read(cls, file: Path) -> Router:
        """The router of a file. Raises UsageError where it is none, or one of another format."""
        cure = "make one with: ragways route fit RUN --out router.json"
        try:
            if file.stat().st_size > LARGEST_FILE:
                raise UsageError(f"{file} is too large for a router", cure)
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the router {file}: {error}", cure) from error
        return cls.parse(text, str(file))

    @classmethod
    def parse(cls, text: str, name: str) -> Router:
        """The router of a text; `name` says in errors where it is from."""
        cure = "fit it anew with: ragways route fit RUN --out router.json"
        try:
            given = json.loads(text)
            format = given.get("format") if isinstance(given, dict) else None
            if format != FORMAT:
                raise UsageError(f"{name} is a router of format {format}, this version reads {FORMAT}", cure)
            router = from_json(cls, text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name} is not a router: {error}", cure) from error
        names = [arm.name for arm in router.arms]
        if router.fixed not in names or len(set(names)) < len(names):
            raise UsageError(f"{name} is not a router: its best fixed arm is none of its arms, or one is twice", cure)
        return router

    # Deciding

    def standardised(self, features: Mapping[str, float]) -> dict[str, float]:
        """Features as the weights take them; one that is not known is left out, and so counts as usual."""
        return _moved(features, self.features)

    def distance(self, features: Mapping[str, float]) -> float | None:
        """How far the corpus is from the nearest one that the router was fitted on, in standard deviations of a
        feature on average; None where it is unknown.
        """
        scales = {
            name: known for name, known in self.features.items() if name.startswith("corpus.") and known.scale > 0
        }
        here = _moved(features, scales)
        found = []
        for corpus in self.corpora.values():
            there = _moved(corpus.features, scales)
            shared = here.keys() & there.keys()
            if shared:
                found.append(math.sqrt(sum((here[name] - there[name]) ** 2 for name in shared) / len(shared)))
        return min(found, default=None)

    def decide(
        self,
        features: Mapping[str, float],
        possible: Callable[[ArmModel], str] = lambda _: "",
        evidence: Mapping[str, float] | None = None,
        trade: float | None = None,
        embedder: str = "",
    ) -> Decision:
        """The arm to take on a question with these features.

        `possible` gives the reason why an arm cannot be taken here, else nothing; `evidence` are the tokens of evidence
        that an arm would show, where that is known already; `trade` goes before the router's own. With another
        `embedder` than the router's the best fixed method is taken, as on a corpus unlike those it was fitted on.
        """
        known, price = self.standardised(features), self.trade if trade is None else trade
        estimates = [
            self._estimate(arm, known, possible(arm), price, (evidence or {}).get(arm.name)) for arm in self.arms
        ]
        open_arms = [each for each in estimates if not each.impossible and each.arm != ABSTAIN]
        if not open_arms:
            why = "; ".join(f"{each.arm}: {each.impossible}" for each in estimates if each.impossible)
            raise UsageError(f"none of the router's methods can be taken here ({why})", "name a paradigm with -p")
        best = max(open_arms, key=lambda each: (each.utility, -each.cost))
        fixed = self._fixed(open_arms, price)
        distance = self.distance(features)
        foreign = self.embedder not in ("", embedder) and embedder != ""
        far = foreign or (self.reach is not None and distance is not None and distance > self.reach)
        refusal = next((each for each in estimates if each.arm == ABSTAIN and not each.impossible), None)
        silent = refusal is not None and self.stop.look is not None and refusal.value >= self.stop.look
        if not self.guard.passed and not (silent and self.stop.certified):
            chosen, reason = (
                fixed,
                "routing is off: on questions it was not fitted on, nothing better than this method was shown",
            )
        elif foreign:
            chosen, reason = fixed, "the router was fitted with another embedder: the best fixed method is taken"
        elif far:
            chosen, reason = (
                fixed,
                "this corpus is unlike those the router was fitted on: the best fixed method is taken",
            )
        elif refusal is not None and silent:
            chosen, reason = refusal, "it looks as if nothing here answered this"
        elif len(open_arms) == 1:
            chosen, reason = best, "the only method that can be taken here"
        else:
            chosen, reason = best, "the highest value for its cost"
        others = [each for each in open_arms if each.arm != chosen.arm]
        against = max(others, key=lambda each: (each.utility, -each.cost)) if others else None
        return Decision(
            chosen.arm, reason, tuple(estimates), self._weighed_most(chosen, against, known, features), fixed.arm,
            against.arm if against else "", distance, far, self.cost, price, None if far else self.stop.answer,
        )  # fmt: skip

    def _estimate(
        self, arm: ArmModel, known: Mapping[str, float], impossible: str, trade: float, evidence: float | None
    ) -> ArmEstimate:
        cost = 0.0 if arm.name == ABSTAIN else arm.cost.get(self.cost, 0.0)
        if evidence is not None and self.cost == "tokens":
            # The rest of the prompt and the answer cost what they usually do.
            cost = max(0.0, cost - arm.cost.get("evidence", 0.0) + evidence)
        value = arm.value(known)
        if not impossible and value < arm.least:
            impossible = f"taken from a value of {arm.least:g} on"
        return ArmEstimate(arm.name, value, cost, value - trade * cost / UNITS[self.cost], impossible)

    def _fixed(self, open_arms: Sequence[ArmEstimate], trade: float) -> ArmEstimate:
        """The best fixed arm or, at another trade or where it cannot be taken, the best of those that can."""
        quality = {arm.name: arm.quality for arm in self.arms}
        return max(
            open_arms,
            key=lambda each: (
                each.arm == self.fixed and trade == self.trade,
                quality[each.arm] - trade * each.cost / UNITS[self.cost],
            ),
        )

    def _weighed_most(
        self,
        chosen: ArmEstimate,
        against: ArmEstimate | None,
        known: Mapping[str, float],
        features: Mapping[str, float],
    ) -> tuple[Weighed, ...]:
        """The features that spoke most for the arm chosen, or against it, beside the next best; where both have equal
        weights, as arms that show more or less of one list, those that make this question unlike a usual one.
        """
        weights = {arm.name: arm.weights for arm in self.arms}
        one, other = weights[chosen.arm], weights[against.arm] if against else {}
        parts = {name: (one.get(name, 0.0) - other.get(name, 0.0)) * value for name, value in known.items()}
        if not any(parts.values()):
            parts = {name: one.get(name, 0.0) * value for name, value in known.items()}
        order = sorted(parts, key=lambda name: (-abs(parts[name]), name))[:NAMED]
        return tuple(Weighed(name, features[name], parts[name]) for name in order if parts[name])


FAR: Final = 5.0
"""Standard deviations at which a feature is cut, so that none outweighs all else."""


def _moved(features: Mapping[str, float], scales: Mapping[str, Scale]) -> dict[str, float]:
    return {
        name: max(-FAR, min(FAR, (features[name] - known.mean) / known.scale))
        for name, known in scales.items()
        if name in features and known.scale > 0
    }


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """The expected value and cost of an arm. `impossible` is the reason why it cannot be taken; else empty."""

    arm: str
    value: float
    cost: float
    utility: float
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A feature of the question and how much it spoke for the arm chosen, in logits: beside the next best or, where the
    two have the same weights, beside a usual question.
    """

    feature: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The arm that was taken and why; `against` is the next best, `fixed` the best fixed one, `far` whether the corpus
    is unlike those that the router knows. `least_chance` is the chance below which its answer is withheld.
    """

    arm: str
    reason: str
    estimates: tuple[ArmEstimate, ...]
    weighed: tuple[Weighed, ...]
    fixed: str
    against: str = ""
    distance: float | None = None
    far: bool = False
    cost: CostUnit = "tokens"
    trade: float = 0.0
    least_chance: float | None = None


def _rounded(value: object) -> object:
    """Numbers with as many digits as mean something: so two machines write the same file."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


# In words


def guard_in_words(router: Router) -> str:
    """Whether the router is used at all, and what that rests on."""
    guard = router.guard
    state = "on" if guard.passed else f"off, it takes always `{router.fixed}`"
    return (
        f"{state}: its gain over always `{router.fixed}` was {guard.gain:+.3f}, and at least {guard.lower:+.3f} "
        f"(95 %, {guard.questions:,} questions; {guard.how})"
        + (f"; {ENOUGH} questions are needed" if guard.questions < ENOUGH else "")
        + (f"; down to {-guard.tolerance:+.3f} is tolerated" if guard.tolerance else "")
    )
