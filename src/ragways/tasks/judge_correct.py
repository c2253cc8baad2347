"""Say whether an answer is correct, incorrect or incomplete, by the accepted answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragways.models.task import Task

Verdict = Literal["correct", "incorrect", "incomplete"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """`why` first: the reason before the verdict."""

    why: str
    verdict: Verdict


def _render(question: str, answer: str, gold: Sequence[str]) -> Mapping[str, object]:
    return {"question": question, "answer": answer, "gold": "\n".join(gold)}


CORRECT = Task("judge correct", prompt="judge-correct", reply=Ruling, max_output=300, render=_render)
