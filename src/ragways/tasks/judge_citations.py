"""Say of each cited sentence of an answer whether what it cites bears it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.judge_support import Supports, count_of, each_once


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence and the quotes that it rests on."""

    sentence: str
    quotes: tuple[str, ...]


def _check(reply: Supports, variables: Mapping[str, object]) -> str | None:
    return each_once([verdict.claim for verdict in reply.verdicts], count_of(variables, "cited"), "sentence")


def _render(question: str, cited: Sequence[Cited]) -> Mapping[str, object]:
    return {"question": question, "cited": "\n\n".join(_shown(n, one) for n, one in enumerate(cited, start=1))}


def _shown(number: int, cited: Cited) -> str:
    quotes = "\n".join(f"   quote: {' '.join(quote.split())}" for quote in cited.quotes)
    return f"{number}. {' '.join(cited.sentence.split())}\n{quotes}"


CITATIONS = Task(
    "judge citations", prompt="judge-citations", reply=Supports, max_output=4000, check=_check, render=_render
)
