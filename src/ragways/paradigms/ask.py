"""Ask a question with a paradigm, and keep everything that a reader of the answer may want to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragways.core.errors import UsageError
from ragways.core.trace import Budget, Span, Usage, span, spending
from ragways.core.types import Answer, Query
from ragways.modules.resources import Resources
from ragways.paradigms import find_paradigm

LONGEST_QUESTION = 8000
"""Characters. What is longer is a document, not a question."""


@dataclass(frozen=True, slots=True)
class Result:
    """An answer, how it came about and what it cost."""

    question: str
    paradigm: str
    settings: Mapping[str, Any]
    answer: Answer
    trace: Span
    prompts: str = "shared"
    """The preset of prompts it was answered by."""

    @property
    def usage(self) -> Usage:
        return self.trace.total

    @property
    def seconds(self) -> float:
        return self.trace.seconds


def check_question(question: str) -> str:
    """The question without white space at its ends, or an error if it is none."""
    question = question.encode("utf-8", "replace").decode().strip()
    if not question:
        raise UsageError("the question is empty", 'ask something: ragways ask "Who built the lighthouse?"')
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters", f"ask in at most {LONGEST_QUESTION:,}, or index the text"
        )
    return question


async def ask(
    use: Resources,
    question: str,
    paradigm: str,
    settings: Mapping[str, Any] | None = None,
    *,
    budget: Budget | None = None,
) -> Result:
    """Answer one question in one way."""
    question = check_question(question)
    chosen = find_paradigm(paradigm)
    own = chosen.check(settings or {})
    strategy = chosen.strategy(use, own)
    with spending(budget), span(paradigm) as trace:
        answer = await strategy(Query(question))
    return Result(question, paradigm, {**chosen.settings, **own}, answer, trace, use.prompts)
