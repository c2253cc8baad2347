"""Answer a question again from the evidence that it was answered from, in so many words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Rewritten:
    """`answered` is false when the passages do not hold the answer."""

    answered: bool
    answer: str


def _render(question: str, passages: Sequence[tuple[str, str]], words: int) -> Mapping[str, object]:
    shown = "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(passages, start=1))
    return {"question": question, "passages": shown, "words": words}


def _check(reply: Rewritten, _: Mapping[str, object]) -> str | None:
    return "`answered` is true, but there is no answer" if reply.answered and not reply.answer.strip() else None


# Without a model there is nobody to ask for a longer answer; the caller appends text instead, or leaves the pair out.
DUEL_ANSWER = Task(
    "duel answer",
    prompt="duel-answer",
    reply=Rewritten,
    render=_render,
    check=_check,
    temperature=0.7,
    max_output=4096,
)
