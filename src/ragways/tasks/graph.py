"""The tasks of the knowledge graph: facts of passages, reports of communities, and what reports say to a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from ragways.models.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NumberedPassages = Sequence[tuple[str, str]]
"""Titles and texts of passages; the first has number 1."""
GraphSchema = Mapping[Literal["entities", "relations"], Mapping[str, str]]
"""The types of entities, and the predicates, that are wanted, each with what it is; all where there are none."""
_ENTITIES = (
    "people, places, organisations, works, events, things and ideas that a passage says something about.\n`type` is "
    "person, place, organization, work, event, vehicle, species or term where one fits, else another small word."
)
_RELATIONS = "one fact each. `predicate` is in small letters with underscores (born_in, member_of)."
_ONLY = "those that are listed here and no others; `{}` is the word before the colon."


@dataclass(frozen=True, slots=True)
class FactsInput:
    passages: NumberedPassages
    schema: GraphSchema = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MoreFactsInput:
    """`known` is what the first look found."""

    passages: NumberedPassages
    known: str
    schema: GraphSchema = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity that passage number `passage` names."""

    __pydantic_config__: ClassVar = {"title": "SaidEntity"}  # its name in the schema, which cache keys hold

    passage: int
    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A relation that passage number `passage` states; `date` is empty where the text has none."""

    __pydantic_config__: ClassVar = {"title": "SaidRelation"}

    passage: int
    subject: str
    predicate: str
    object: str
    weight: float = 1.0
    date: str = ""


@dataclass(frozen=True, slots=True)
class ExtractedFacts:
    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]


def _render_facts(given: FactsInput | MoreFactsInput) -> Mapping[str, object]:
    numbered = (f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(given.passages, start=1))
    return {
        "passages": "\n\n".join(numbered),
        "entities": _listed("type", given.schema.get("entities"), _ENTITIES),
        "relations": _listed("predicate", given.schema.get("relations"), _RELATIONS),
    }


def _listed(field: str, wanted: Mapping[str, str] | None, every: str) -> str:
    return (
        "\n".join([_ONLY.format(field), *(f"- {name}: {what}" for name, what in wanted.items())]) if wanted else every
    )


def _render_more(given: MoreFactsInput) -> Mapping[str, object]:
    return {**_render_facts(given), "known": given.known}


def _keep_facts(reply: ExtractedFacts, given: FactsInput | MoreFactsInput) -> ExtractedFacts:
    """The facts with names that belong to a passage that was shown."""
    shown = len(given.passages)
    kept = ExtractedFacts(
        tuple(e for e in reply.entities if 1 <= e.passage <= shown and e.name.strip()),
        tuple(
            r for r in reply.relations
            if 1 <= r.passage <= shown and r.subject.strip() and r.predicate.strip() and r.object.strip()
        ),
    )  # fmt: skip
    if reply != kept == ExtractedFacts((), ()):
        raise ValueError(f"no fact has names and the number of a passage; passages are numbered 1 to {shown}")
    return kept


# Without a model, facts come from rules over the whole corpus, which is not a thing of one call.
FACTS: Task[FactsInput, ExtractedFacts] = Task(
    "facts",
    prompt="facts",
    reply=ExtractedFacts,
    max_output=6000,
    keep=_keep_facts,
    render=_render_facts,
    whole=True,
    role="extract",
)
"""Entities and relations of numbered passages."""
FACTS_MORE: Task[MoreFactsInput, ExtractedFacts] = Task(
    "facts more",
    prompt="facts-more",
    reply=ExtractedFacts,
    max_output=6000,
    keep=_keep_facts,
    render=_render_more,
    whole=True,
    role="extract",
)
"""A second look for those that were missed."""


@dataclass(frozen=True, slots=True)
class CommunityReportInput:
    """A community of entities in words; `reports` are those of its parts."""

    entities: str
    relations: str
    reports: str


@dataclass(frozen=True, slots=True)
class WrittenFinding:
    """A finding: how much it matters, from 0 to 10, and the names of entities it rests on."""

    __pydantic_config__: ClassVar = {"title": "SaidFinding"}  # its name in the schema, which cache keys hold

    text: str
    rating: float = 5.0
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """`rating`, from 0 to 10, is how much the community matters to the corpus."""

    title: str
    summary: str
    rating: float = 5.0
    findings: tuple[WrittenFinding, ...] = ()


def _render_report(given: CommunityReportInput) -> Mapping[str, object]:
    shown = (("Reports of its parts", given.reports), ("Entities", given.entities), ("Relations", given.relations))
    return {"community": "\n\n".join(f"{head}:\n{text}" for head, text in shown if text)}


def _keep_report(reply: WrittenReport, _: CommunityReportInput) -> WrittenReport:
    """Ratings within their bounds, and findings that say something."""
    findings = (replace(one, rating=_within(one.rating, 10)) for one in reply.findings if one.text.strip())
    return replace(reply, rating=_within(reply.rating, 10), findings=tuple(findings))


def _within(rating: float, most: float) -> float:
    return min(max(rating, 0), most)


def _check_report(reply: WrittenReport, _: CommunityReportInput) -> str | None:
    return None if reply.title.strip() and reply.summary.strip() else "title and summary must not be empty"


# Without a model, a report comes from rules over the whole graph and its documents, which is not a thing of one call.
REPORT = Task(
    "report",
    prompt="report",
    reply=WrittenReport,
    max_output=1000,
    role="report",
    keep=_keep_report,
    check=_check_report,
    render=_render_report,
)
"""Write a report of a community of entities: what it is about, and what holds in it."""

_POINTS = 5  # of one report at most, by the rule
_NEAR = 0.25  # cosine below which a line that shares no word with the question is about something else


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report as it is shown: its title, and its text in lines. `names`, a list of who is in it, is never a point."""

    title: str
    lines: tuple[str, ...]
    names: str = ""


@dataclass(frozen=True)
class Rater:
    """What rating without a model needs: vectors of texts, and the words of a text as they are compared."""

    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]
    terms: Callable[[str], list[str]]


@dataclass(frozen=True)
class PointsInput:
    question: str
    reports: Sequence[ShownReport]
    rater: Rater


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """Something that helps to answer, from 0 (not at all) to 100, and the numbers, from 1, of reports it rests on."""

    __pydantic_config__: ClassVar = {"title": "Point"}  # its name in the schema, which cache keys hold

    text: str
    rating: int
    reports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RatedPoints:
    points: tuple[RatedPoint, ...]


def _render_points(given: PointsInput) -> Mapping[str, object]:
    shown = "\n\n".join(_shown(n, report) for n, report in enumerate(given.reports, start=1))
    return {"question": given.question, "reports": shown}


def _shown(number: int, report: ShownReport) -> str:
    return "\n".join(line for line in (f"[{number}] {report.title}", report.names, *report.lines) if line)


def _keep_points(reply: RatedPoints, given: PointsInput) -> RatedPoints:
    """The points that say something and name a report that was shown, with ratings within their bounds."""
    shown = len(given.reports)
    kept = []
    for point in reply.points:
        reports = tuple(n for n in point.reports if 1 <= n <= shown)
        rating = int(_within(point.rating, 100))
        if point.text.strip() and (reports or not rating):
            kept.append(replace(point, rating=rating, reports=reports))
    if reply.points and not kept:
        raise ValueError(f"no point has a text and a report that it rests on; reports are numbered 1 to {shown}")
    return RatedPoints(tuple(kept))


async def _best_lines(given: PointsInput) -> RatedPoints:
    """The lines of each report that are most about the question.

    A line is rated by the share of the question's words that it and its title hold, and by its cosine to the question.
    """
    wanted = set(given.rater.terms(given.question))
    lines = [
        (n, line, report.title) for n, report in enumerate(given.reports, start=1) for line in report.lines if line
    ]
    if not lines or not wanted:
        return RatedPoints(())
    vectors = await given.rater.embed([given.question, *(line for _, line, _ in lines)])
    nearness = (vectors[1:] @ vectors[0]).tolist()
    points = []
    for (number, line, title), near in zip(lines, nearness, strict=True):
        share = len(wanted.intersection(given.rater.terms(f"{title} {line}"))) / len(wanted)
        points.append(RatedPoint(line, _rating(share, near), (number,)))
    return RatedPoints(tuple(point for n in range(1, len(given.reports) + 1) for point in _best(points, n)))


def _rating(share: float, near: float) -> int:
    if not share and near < _NEAR:
        return 0
    return min(100, max(0, round(100 * (share + max(0.0, near)) / 2)))


def _best(points: Sequence[RatedPoint], report: int) -> list[RatedPoint]:
    own = [point for point in points if point.reports == (report,)]
    return sorted(own, key=lambda point: (-point.rating, point.text))[:_POINTS]


POINTS = Task(
    "points",
    prompt="points",
    reply=RatedPoints,
    without=_best_lines,
    render=_render_points,
    keep=_keep_points,
    max_output=700,
)
"""Points that reports make towards a question, each rated by how much it helps to answer it."""
