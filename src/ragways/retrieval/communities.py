"""Points that reports of communities make, and all that surrounds the entities of a question.

The paradigms community-global and community-local.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from ragways.core.errors import UnusableReply
from ragways.core.runtime import together
from ragways.core.step import Step
from ragways.core.text import counted
from ragways.core.trace import current_span
from ragways.core.types import Found, Hit, Hits, Piece, Query, content_hash, ranked
from ragways.layers.words import terms
from ragways.models.client import RULE_INSTEAD
from ragways.models.tokens import count_tokens
from ragways.retrieval.answer import answered
from ragways.retrieval.knowledge_graph import EntityScores, entities_nearby, rounded, triplet_pieces
from ragways.retrieval.paradigm import Count, Paradigm, Tokens
from ragways.retrieval.resources import Resources
from ragways.tasks.graph import POINTS, PointsInput, RatedPoint, RatedPoints, Rater, ShownReport

if TYPE_CHECKING:
    from ragways.layers.communities.read import Community
    from ragways.layers.communities.report import CommunityReport


Share = Annotated[float, Ge(0)]
RELATIONS, CHUNKS = 40, 100
"""Relations and chunks of one entity that are looked at: a hub must not swamp the others."""
_PIECES = 100  # of one kind that are put in order; no budget holds more
_DENSE = 1000  # chunks whose cosine to the question is counted


@dataclass(frozen=True, slots=True)
class Chosen:
    """A report to be read."""

    community: Community
    report: CommunityReport


def report_points(
    use: Resources,
    *,
    level: Annotated[int, Ge(-1)] = -1,
    reports: Tokens = 9000,
    batch: Count = 3500,
    seed: int = 0,
) -> Step[Query, Hits]:
    """The reports of a level, shuffled and read in batches, each asked for rated points; those rated 0 are dropped.

    `reports` bounds the tokens of reports that are read: where a level has more, those nearest the question are taken,
    and the search is no longer global; trace and notes say so. With 0 every report of the level is read, as source T's
    global search does, at whatever it costs. A level of -1 is the finest whose reports all fit, or the coarsest where
    none does.
    """

    async def run(query: Query) -> Hits:
        chosen, read = await _choose(use, query, level, reports)
        batches = _batches(chosen, batch, seed)
        replies = await together(_ask(use, query, each) for each in batches)
        unusable = sum(reply is None for reply in replies)
        current_span().details.update(read=read, reports=len(chosen), batches=len(batches), unusable=unusable)
        if unusable and unusable == len(replies) and use.fallback:
            replies = await together(_by_rule(use, query, each) for each in batches)
        elif unusable and unusable == len(replies):
            raise UnusableReply("points: no batch of reports gave a usable reply", "use a stronger model for this task")
        hits = []
        for number, (each, reply) in enumerate(zip(batches, replies, strict=True), start=1):
            note = f"{read}; batch {number}"
            hits += [_hit(point, each, note) for point in (reply.points if reply else ()) if _counts(point)]
        return _with_ranks(ranked(query, hits))

    return Step("report points", run, level=level, reports=reports, batch=batch, seed=seed)


async def _choose(use: Resources, query: Query, level: int, tokens: int) -> tuple[list[Chosen], str]:
    """The reports to read, and which these are, in words."""
    communities = use.index.communities
    wanted = _level(use, tokens) if level < 0 else level
    there = [community for community in communities.of_level(wanted) if community.way]
    current_span().details["level"] = wanted
    if communities.left_out:
        current_span().details["left_out_by_filter"] = communities.left_out
    read = f"{'the' if len(there) == 1 else 'all'} {counted(len(there), 'report')}"
    if tokens and sum(community.tokens for community in there) > tokens:
        near = _fitting(await _by_nearness(use, query, there), tokens)
        read = f"the {len(near):,} nearest of {counted(len(there), 'report')}, up to {counted(tokens, 'token')}"
        there = near
    found = communities.reports([community.id for community in there])
    return [Chosen(community, found[community.id]) for community in there], read


def _level(use: Resources, tokens: int) -> int:
    communities = use.index.communities
    levels = communities.levels()
    fitting = [level for level in levels if not tokens or communities.tokens_of_level(level) <= tokens]
    return fitting[-1] if fitting else 0


async def _by_nearness(use: Resources, query: Query, there: Sequence[Community]) -> list[Community]:
    """By cosine of their reports; behind them, those that have no vector, by the words they share with the question."""
    vector = await use.embed_question(query.text)
    cosines = dict(use.index.communities.nearest(vector, None))
    wanted = set(terms(query.text))

    def nearness(community: Community) -> float:
        if community.id in cosines:
            return cosines[community.id]
        shared = wanted.intersection(terms(f"{community.title} {community.summary}"))
        return len(shared) / max(1, len(wanted)) - 2.0

    return sorted(there, key=lambda community: (-nearness(community), community.id))


def _fitting(communities: Sequence[Community], tokens: int) -> list[Community]:
    """The first that fit; one too large for what room is left is passed over."""
    chosen = []
    for community in communities:
        if community.tokens <= tokens:
            tokens -= community.tokens
            chosen.append(community)
    return chosen


def _batches(chosen: Sequence[Chosen], tokens: int, seed: int) -> list[list[Chosen]]:
    """Shuffled, so that each batch is mixed. A report larger than a batch gets a batch of its own."""
    shuffled = sorted(chosen, key=lambda one: one.community.id)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a fixed order is what is wanted
    batches: list[list[Chosen]] = []
    room = 0
    for one in shuffled:
        if not batches or one.community.tokens > room:
            batches.append([])
            room = tokens
        batches[-1].append(one)
        room -= one.community.tokens
    return batches


def _given(use: Resources, query: Query, batch: Sequence[Chosen]) -> PointsInput:
    return PointsInput(query.text, tuple(_shown(one) for one in batch), Rater(use.embed, terms))


async def _ask(use: Resources, query: Query, batch: Sequence[Chosen]) -> RatedPoints | None:
    try:
        return (await use.model.do(POINTS, _given(use, query, batch))).value
    except UnusableReply:
        return None


async def _by_rule(use: Resources, query: Query, batch: Sequence[Chosen]) -> RatedPoints | None:
    """For all batches or for none: a rule's ratings are not a model's."""
    return (await use.model.by_rule(POINTS, _given(use, query, batch), RULE_INSTEAD)).value


def _shown(one: Chosen) -> ShownReport:
    report = one.report
    if one.community.way == "rules":  # its summary is a list of names
        return ShownReport(report.title, tuple(finding.text for finding in report.findings), report.summary)
    return ShownReport(report.title, tuple(report.text.splitlines()))


def _counts(point: RatedPoint) -> bool:
    return point.rating > 0 and bool(point.text.strip())


def _hit(point: RatedPoint, batch: Sequence[Chosen], note: str) -> Hit:
    text = point.text.strip()
    sources = [batch[n - 1] for n in point.reports]
    main = sources[0]
    piece = Piece(
        f"{main.community.id}:{content_hash(text)[:8]}",
        "report",
        text,
        main.community.id,
        main.report.title,
        0,
        len(text),
        count_tokens(text),
    )
    titles = "; ".join(source.report.title for source in sources)
    return Hit(piece, float(point.rating), (Found("points", 0, float(point.rating), f"{note}: {titles}"),))


def _with_ranks(hits: Hits) -> Hits:
    """The hits, with `found` giving their ranks in this list."""
    return Hits(
        hits.query,
        tuple(
            Hit(hit.piece, hit.score, tuple(Found(f.by, rank, f.score, f.note) for f in hit.found))
            for rank, hit in enumerate(hits.items, start=1)
        ),
    )


@dataclass(frozen=True, slots=True)
class NearEntities:
    """Entities of a question, by id: how near each is, up to 1, and its name."""

    scores: Mapping[str, float]
    names: Mapping[str, str]

    def sum(self, ids: Iterable[str]) -> float:
        return sum(self.scores[id] for id in ids)

    def note(self, ids: Iterable[str]) -> str:
        """Names, the nearest first."""
        order = sorted(set(ids), key=lambda id: (-self.scores[id], id))
        return ", ".join(self.names[id] for id in order[:5])


def surroundings(
    use: Resources,
    *,
    entities: Count = 10,
    minimum: float = 0.3,
    named: bool = True,
    chunks: Share = 0.5,
    relations: Share = 0.35,
    reports: Share = 0.15,
) -> Step[Query, Hits]:
    """Source chunks, relations and reports of the entities nearest the question.

    `chunks`, `relations` and `reports` are shares of the tokens. They apply at every length of the list, so a larger
    budget keeps all that a smaller one had. `named`: entities that the question names count
    as well as those nearest it by description.
    """
    shares = {"chunk": chunks, "triplet": relations, "report": reports}

    async def run(query: Query) -> Hits:
        seeds = await find_seeds(use, query, entities, minimum, named)
        found = [*await _chunks(use, query, seeds), *_triplets(use, seeds), *_reports(use, seeds)]
        here = current_span()
        here.details["found"] = len(found)
        here.attachments.append(EntityScores("seeds", rounded(seeds.scores.items())))
        return in_shares(query, found, shares)

    return Step("surroundings", run, entities=entities, minimum=minimum, named=named, **shares)


async def find_seeds(use: Resources, query: Query, entities: int, minimum: float, named: bool) -> NearEntities:
    """The entities that the question names, as near as can be, and where entities have vectors those nearest it by
    description; where there are none, those of the passages nearest it.
    """
    graph = use.index.graph
    scores = dict(graph.nearest(await use.embed_question(query.text), entities, minimum))
    if named or not scores:
        scores |= {name.entities[0]: 1.0 for name in graph.in_question(query.text, entities)}
    scores = scores or dict(await entities_nearby(use, query.text, entities, minimum))
    return NearEntities(scores, {id: entity.name for id, entity in graph.entities(scores, described=False).items()})


def in_shares(query: Query, found: Sequence[Hit], shares: Mapping[str, float]) -> Hits:
    """One list of several kinds: next comes always the kind that is furthest below its share of the tokens so far.

    Within a kind the best come first. Scores fall with the place, so that the list keeps this order.
    """
    waiting = {
        kind: list(_with_ranks(ranked(query, (hit for hit in found if hit.piece.kind == kind))).items)
        for kind, share in shares.items()
        if share > 0
    }
    used = dict.fromkeys(waiting, 0)
    ordered: list[Hit] = []
    while any(waiting.values()):
        shared = {kind: used[kind] / shares[kind] for kind, hits in waiting.items() if hits}
        kind = min(shared, key=lambda kind: shared[kind])
        hit = waiting[kind].pop(0)
        used[kind] += hit.piece.tokens
        ordered.append(Hit(hit.piece, 1.0 / (len(ordered) + 1), hit.found))
    return Hits(query, tuple(ordered))


async def _chunks(use: Resources, query: Query, seeds: NearEntities) -> list[Hit]:
    """Chunks that name the entities: the nearness of those each names, added up, and its own to the question."""
    naming: dict[str, list[str]] = defaultdict(list)
    for id in sorted(seeds.scores):
        for chunk, _ in use.index.graph.mentions([id], CHUNKS):
            naming[chunk].append(id)
    cosines = dict(use.index.vectors.search(await use.embed_question(query.text), _DENSE))
    scores = {chunk: seeds.sum(ids) + cosines.get(chunk, 0.0) for chunk, ids in naming.items()}
    pieces = use.index.pieces(_best(scores))
    return [_near(piece, scores[id], f"names {seeds.note(naming[id])}") for id, piece in pieces.items()]


def _triplets(use: Resources, seeds: NearEntities) -> list[Hit]:
    """Relations of the entities: those between two of them come first, then the heaviest of the nearest."""
    found = {t.id: t for id in sorted(seeds.scores) for t in use.index.graph.triplets([id], RELATIONS)}
    ends = {id: [end for end in (t.subject, t.object) if end in seeds.scores] for id, t in found.items()}
    # Weight has no upper end: it settles what is left, between 0 and 0.1.
    scores = {id: seeds.sum(ends[id]) + 0.1 * t.weight / (1.0 + t.weight) for id, t in found.items()}
    pieces = triplet_pieces(use, (found[id] for id in _best(scores)))
    return [_near(piece, scores[id], f"relation of {seeds.note(ends[id])}") for id, piece in pieces.items()]


def _reports(use: Resources, seeds: NearEntities) -> list[Hit]:
    """The smallest community of each entity that has a report: the more of the entities share it, the better."""
    communities = use.index.communities
    sharing: dict[str, list[str]] = defaultdict(list)
    for id in sorted(seeds.scores):
        written = [community for community in communities.of_entity(id) if community.way]
        if written:
            sharing[written[-1].id].append(id)
    rows = communities.communities(sharing)
    return [
        _near(_whole(rows[id], report), seeds.sum(sharing[id]), f"community of {seeds.note(sharing[id])}")
        for id, report in communities.reports(sharing).items()
    ]


def _whole(community: Community, report: CommunityReport) -> Piece:
    """A report stands in no document: its community takes the document's place."""
    text = report.text
    return Piece(community.id, "report", text, community.id, report.title, 0, len(text), community.tokens)


def _near(piece: Piece, score: float, note: str) -> Hit:
    return Hit(piece, score, (Found("surroundings", 0, score, note),))


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda id: (-scores[id], id))[:_PIECES]


COMMUNITY_GLOBAL = Paradigm(
    name="community-global",
    summary="The nearest reports of communities, as many as a budget holds (reports=0: all), read in batches for rated "
    "points; the best points make the answer.",
    source="T, U",
    needs=frozenset({"vectors", "graph", "communities"}),
    build=answered(report_points, "points", tokens=2500),
)


COMMUNITY_LOCAL = Paradigm(
    name="community-local",
    summary="The entities of the question, with their relations, reports and source chunks.",
    source="T",
    needs=frozenset({"vectors", "graph", "communities"}),
    build=answered(surroundings, "facts"),
)
