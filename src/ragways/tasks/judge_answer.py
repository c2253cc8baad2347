"""Say whether an answer suffices and, if not, what to look for next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.core.types import ABSTENTION
from ragways.models.task import Task
from ragways.tasks.subquestions import Terms, bridges, uncovered

_REFUSAL = re.compile(
    rf"^\W*({re.escape(ABSTENTION)}|unknown|(i am |i'm )?(sorry|unable)|(i|we) (do not|don['’]t|cannot|can['’]t) |"
    r"(there is )?(no|not enough) (information|answer|evidence)|it is not (known|possible))|"
    r"\b(cannot|can['’]t|could not) be (answered|determined|known)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`subquestion` is empty when the answer suffices, or when no search could help."""

    suffices: bool
    subquestion: str


def refuses(answer: str) -> bool:
    """Whether a text declines to answer, in its own words or in ours."""
    return not answer.strip() or bool(_REFUSAL.search(answer))


async def _without(question: str, answer: str, passages: Sequence[str], asked: Sequence[str], terms: Terms) -> Verdict:
    """Suffices where it is an answer and the passages speak of all that the question names."""
    missing = uncovered(question, passages, terms)
    if not refuses(answer) and not missing:
        return Verdict(True, "")
    if not passages:
        return Verdict(False, question)
    rest = " ".join(missing)
    choices = [f"{name} {rest}" for name in bridges(question, passages, terms)] + [rest] if rest else []
    return Verdict(False, next((choice for choice in choices if choice not in asked), ""))


def _render(
    question: str,
    answer: str,
    passages: Sequence[str],
    asked: Sequence[str],
    terms: Terms,  # noqa: ARG001
) -> Mapping[str, object]:
    return {"question": question, "answer": answer, "passages": "\n\n".join(passages), "asked": "\n".join(asked)}


JUDGE_ANSWER = Task(
    "judge answer",
    prompt="judge-answer",
    reply=Verdict,
    without=_without,
    render=_render,
    temperature=0.1,
    max_output=256,
)
