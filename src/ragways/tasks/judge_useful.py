"""Say whether one retrieved passage helps to arrive at an answer. Each passage is judged alone, so that neither its
place nor its neighbours sway the verdict, and a passage that two paradigms found gets one verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class Useful:
    """`why` first: the reason before the verdict."""

    why: str
    useful: bool


USEFUL = Task("judge useful", prompt="judge-useful", reply=Useful, max_output=300)
