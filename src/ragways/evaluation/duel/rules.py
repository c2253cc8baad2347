"""How a duel is fought: how often, in which mode, and how large the test of the judge is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragways.core.errors import UsageError

Mode = Literal["whole", "differential"]

MANY = 1000
"""More samples than one prompt is ever asked for: so the number of a call never depends on how many there are."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`trials` (M) whole comparisons of `samples` (N) replies to each prompt, both orders.

    `answers` and `selftest`: the judge is tested on so many answers, with so many replies of each kind at least. Why
    100 and 200: a judge that prefers one side 4 times of 5 is then found out practically always, one that does so 65
    times of 100 about 19 times of 20, and one without a bias fails in 1 test of 100. `control`: so many replies about
    right answers against answers to other questions; a judge that sees the difference 4 times of 5 then passes 19 times
    of 20, and one that throws a coin once in a hundred. `go_on`: duel with a judge that failed; still nobody wins.
    """

    trials: int = 25
    samples: int = 2
    mode: Mode = "whole"
    answers: int = 100
    selftest: int = 200
    control: int = 50
    seed: int = 7
    go_on: bool = False

    def __post_init__(self) -> None:
        for name in ("trials", "samples", "answers", "selftest", "control"):
            if not 1 <= getattr(self, name) <= MANY:
                raise UsageError(f"{name} is {getattr(self, name)}", f"it must lie between 1 and {MANY:,}")

    def data(self) -> dict[str, Any]:
        return asdict(self)
