"""Write a report of a community of entities: what it is about, and what holds in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A finding: how much it matters, from 0 to 10, and the names of entities it rests on."""

    text: str
    rating: float
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SaidReport:
    """`rating`, from 0 to 10, is how much the community matters to the corpus."""

    title: str
    summary: str
    rating: float
    findings: tuple[SaidFinding, ...] = ()


def _render(entities: str, relations: str, reports: str) -> Mapping[str, object]:
    shown = (("Reports of its parts", reports), ("Entities", entities), ("Relations", relations))
    return {"community": "\n\n".join(f"{head}:\n{text}" for head, text in shown if text)}


def _check(reply: SaidReport, variables: Mapping[str, object]) -> str | None:  # noqa: ARG001
    if not reply.title.strip() or not reply.summary.strip():
        return "title and summary must not be empty"
    ratings = [reply.rating, *(finding.rating for finding in reply.findings)]
    wrong = next((rating for rating in ratings if not 0 <= rating <= 10), None)
    return None if wrong is None else f"a rating is {wrong:g}; ratings go from 0 to 10"


# Without a model, a report comes from rules over the whole graph and its documents, which is not a thing of one call.
REPORT = Task("report", prompt="report", reply=SaidReport, max_output=1000, check=_check, render=_render)
