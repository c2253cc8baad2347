"""Match the claims of an answer with those of the gold answer, so that precision and recall come from one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.judge_support import count_of, each_once, numbered


@dataclass(frozen=True, slots=True)
class Match:
    """The gold claims that a claim of the answer states; none where it is wrong, or beside the gold answer."""

    claim: int
    why: str
    gold: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    matches: tuple[Match, ...]


def _check(reply: Matches, variables: Mapping[str, object]) -> str | None:
    known = count_of(variables, "gold")
    wrong = sorted({n for match in reply.matches for n in match.gold if not 1 <= n <= known})
    if wrong:
        return f"there is no gold claim {wrong[0]}; they are numbered 1 to {known}"
    return each_once([match.claim for match in reply.matches], count_of(variables, "claims"), "claim")


def _render(question: str, claims: Sequence[str], gold: Sequence[str]) -> Mapping[str, object]:
    return {"question": question, "claims": numbered(claims), "gold": numbered(gold)}


MATCH = Task("judge match", prompt="judge-match", reply=Matches, max_output=4000, check=_check, render=_render)
