"""Points that reports make towards a question, each rated by how much it helps to answer it.

Without a model a point is a line of a report, rated by the share of the question's words that it and its title hold and
by its cosine to the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragways.models.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_POINTS = 5  # of one report at most, by the rule
_NEAR = 0.25  # cosine below which a line that shares no word with the question is about something else


@dataclass(frozen=True, slots=True)
class Shown:
    """A report as it is shown: its title, and its text in lines. `names`, a list of who is in it, is never a point."""

    title: str
    lines: tuple[str, ...]
    names: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """Something that helps to answer, from 0 (not at all) to 100, and the numbers, from 1, of reports it rests on."""

    text: str
    rating: int
    reports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Points:
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Rater:
    """What rating without a model needs: vectors of texts, and the words of a text as they are compared."""

    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]
    terms: Callable[[str], list[str]]


def _render(question: str, reports: Sequence[Shown], rater: Rater) -> Mapping[str, object]:  # noqa: ARG001
    return {"question": question, "reports": "\n\n".join(_shown(n, r) for n, r in enumerate(reports, start=1))}


def _shown(number: int, report: Shown) -> str:
    return "\n".join(line for line in (f"[{number}] {report.title}", report.names, *report.lines) if line)


def _check(reply: Points, variables: Mapping[str, object]) -> str | None:
    reports = variables["reports"]
    shown = len(reports) if isinstance(reports, Sequence) else 0
    for point in reply.points:
        if not 0 <= point.rating <= 100:
            return f"a rating is {point.rating}; ratings go from 0 to 100"
        wrong = next((n for n in point.reports if not 1 <= n <= shown), None)
        if wrong is not None:
            return f"there is no report {wrong}; reports are numbered 1 to {shown}"
        if point.rating and not point.reports:
            return "a point names no report that it rests on"
    return None


async def _without(question: str, reports: Sequence[Shown], rater: Rater) -> Points:
    """The lines of each report that say most of what is asked for."""
    wanted = set(rater.terms(question))
    lines = [(n, line, report.title) for n, report in enumerate(reports, start=1) for line in report.lines if line]
    if not lines or not wanted:
        return Points(())
    vectors = await rater.embed([question, *(line for _, line, _ in lines)])
    nearness = (vectors[1:] @ vectors[0]).tolist()
    points = []
    for (number, line, title), near in zip(lines, nearness, strict=True):
        share = len(wanted.intersection(rater.terms(f"{title} {line}"))) / len(wanted)
        points.append(Point(line, _rating(share, near), (number,)))
    return Points(tuple(point for n in range(1, len(reports) + 1) for point in _best(points, n)))


def _rating(share: float, near: float) -> int:
    if not share and near < _NEAR:
        return 0
    return min(100, max(0, round(100 * (share + max(0.0, near)) / 2)))


def _best(points: Sequence[Point], report: int) -> list[Point]:
    own = [point for point in points if point.reports == (report,)]
    return sorted(own, key=lambda point: (-point.rating, point.text))[:_POINTS]


POINTS = Task("points", prompt="points", reply=Points, without=_without, render=_render, check=_check, max_output=700)
