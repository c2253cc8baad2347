"""Say of each of several claims whether a text bears it out. Claims are numbered from 1, and each needs one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Support:
    """`why` comes first, so that a model gives its reason before its verdict and not after."""

    claim: int
    why: str
    supported: bool


@dataclass(frozen=True, slots=True)
class Supports:
    verdicts: tuple[Support, ...]

    def in_order(self) -> list[Support]:
        return sorted(self.verdicts, key=lambda verdict: verdict.claim)


def numbered(texts: Sequence[str]) -> str:
    """A line each, with its number; white space inside a text cannot make it look like two."""
    return "\n".join(f"{n}. {' '.join(text.split())}" for n, text in enumerate(texts, start=1))


def each_once(numbers: Sequence[int], count: int, noun: str) -> str | None:
    """A complaint where a number is missing, stands twice or names nothing."""
    said = Counter(numbers)
    wrong = next((n for n in sorted(said) if not 1 <= n <= count), None)
    if wrong is not None:
        return f"there is no {noun} {wrong}; they are numbered 1 to {count}"
    twice = next((n for n in sorted(said) if said[n] > 1), None)
    if twice is not None:
        return f"{noun} {twice} has more than one verdict"
    missing = next((n for n in range(1, count + 1) if n not in said), None)
    return None if missing is None else f"{noun} {missing} has no verdict"


def count_of(variables: Mapping[str, object], name: str) -> int:
    shown = variables[name]
    return len(shown) if isinstance(shown, Sequence) else 0


def _check(reply: Supports, variables: Mapping[str, object]) -> str | None:
    return each_once([verdict.claim for verdict in reply.verdicts], count_of(variables, "claims"), "claim")


def _render(claims: Sequence[str], text: str) -> Mapping[str, object]:
    return {"claims": numbered(claims), "text": text}


# A judge has no way without a model: what is not judged is unscored.
SUPPORT = Task("judge support", prompt="judge-support", reply=Supports, max_output=4000, check=_check, render=_render)
