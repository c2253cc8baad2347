"""Which tokens of an answer were spent on finding, and which on saying it: from the steps that its record keeps.

Generation is the last step named `answer` or `recall`, which holds the call that said what was answered; of an agent,
which answers in the midst of its work, the last round. All that was spent besides is retrieval: naming entities,
sub-questions, points of reports, verdicts, hops, calls of tools, vectors from an endpoint, and answers that were thrown
away for a later one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]
"""A row of the trace: `name`, `depth` and the `usage` of all inside it; figures that are 0 may be left out."""
Figures = Mapping[str, float]

ANSWERING = ("answer", "recall")
CALLS = ("model call", "embedding call")
"""The only steps that spend anything themselves."""
KEYS = ("calls", "input", "output", "cached", "reasoning", "usd")


def split(steps: Sequence[Step], usage: Figures) -> tuple[Figures, Figures] | None:
    """What retrieval and what generation used; None where the steps do not tell of all that the answer used."""
    if tokens(usage) and sum(tokens(step["usage"]) for step in steps if step["name"] in CALLS) != tokens(usage):
        return None
    last = answering(steps)
    generation = {key: float(last["usage"].get(key, 0)) if last else 0.0 for key in KEYS}
    return {key: float(usage.get(key, 0)) - generation[key] for key in KEYS}, generation


def answering(steps: Sequence[Step]) -> Step | None:
    """The step that made the answer."""
    found, within = None, None
    for step in steps:
        # A step and the task it does have the same name: the outer one is meant, which holds all of it.
        if within is not None and step["depth"] > within:
            continue
        within = step["depth"] if step["name"] in ANSWERING else None
        found = step if within is not None else found
    rounds = (step for step in reversed(steps) if step["name"] == "round" and tokens(step["usage"]))
    return found or next(rounds, None)


def tokens(usage: Figures) -> float:
    """Some systems tell no more of an answer than this sum."""
    return float(usage.get("tokens") or usage.get("input", 0) + usage.get("output", 0))
