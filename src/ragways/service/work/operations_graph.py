"""What a worker reads of a knowledge graph: entities, what is around them, paths between two, communities, a map of it
all, and the walk that led to an answer. Plain data in and out, and all of it bounded.

None is what has no such id; the route makes a 404 of it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ragways.core.plain import to_plain
from ragways.core.text import shortened
from ragways.index.open import Index
from ragways.layers.communities.read import Community
from ragways.layers.graph.names import coarse, tokens
from ragways.layers.protocols import Graph, GraphEntity, Triplet
from ragways.pictures.graph_map import communities_of, graph_map
from ragways.pictures.neighbourhood import QuotedSentence, connections, entity_quotes
from ragways.service.work.operations import Operation, Work

EDGES = 1500
"""Relations of one reply; each is quoted."""
MEMBERS = 200
STOPS, NAMED, WALKED = 60, 6, 300
"""Stops of a walk, entities that are named at one, and entities in all."""
_RELATIONS = 3  # of a hop on a path
_LETTERS = 400

Plain = dict[str, Any]


def entities(index: Index, search: str, limit: int) -> Plain:
    """Entities that are called so, whose name begins so, or holds these words; the best-connected without a search."""
    graph = index.graph
    search = search.strip()[:200]
    if not search:
        best = graph_map(index, limit).nodes
        return {"entities": _nodes(index, [node.id for node in best])}
    found = dict.fromkeys([*graph.named(search, limit), *graph.beginning(search, limit)])
    if len(found) < limit and (words := tokens(search)):
        found |= dict.fromkeys(id for id, _ in graph.matching(words, limit))
    return {"entities": _nodes(index, list(found)[:limit])}


def neighbourhood(index: Index, id: str, hops: int, limit: int) -> Plain | None:
    """An entity, those around it from the nearest and heaviest on, and the relations between them, quoted."""
    graph = index.graph
    centre = graph.entities([id]).get(id)
    if centre is None:
        return None
    found, reached = graph.around(id, hops, limit)
    stated = graph.triplets(found, EDGES, induced=True)
    nodes = _nodes(index, list(found))
    return {
        "entity": _entity(index, centre),
        "nodes": [{**node, "hop": found[node["id"]].hop} for node in nodes],
        "edges": _edges(index, stated),
        "reached": reached,
    }


def paths(index: Index, start: str, end: str, limit: int) -> Plain | None:
    """The shortest ways from one entity to another, the heaviest first; each hop with what joins its ends, quoted."""
    graph = index.graph
    ways = graph.paths(start, end, limit)
    if ways is None:
        return None
    joins: dict[tuple[str, str], list[Triplet]] = {}
    for pair in (pair for way in ways for pair in itertools.pairwise(way)):
        if pair not in joins:
            between = graph.triplets(pair, EDGES, induced=True)
            joins[pair] = [each for each in between if each.subject != each.object][:_RELATIONS]
    return {
        "paths": [
            {"nodes": way, "hops": [[each.id for each in joins[pair]] for pair in itertools.pairwise(way)]}
            for way in ways
        ],
        "nodes": _nodes(index, list(dict.fromkeys(id for way in ways for id in way))),
        "edges": _edges(index, {each.id: each for some in joins.values() for each in some}.values()),
    }


def communities(index: Index, level: int, limit: int) -> Plain:
    """The communities of a level and those above it that are not split, by rank."""
    found = index.communities.of_level(level)
    return {
        "levels": index.communities.levels(),
        "communities": [_community(each) for each in found[:limit]],
        "total": len(found),
    }


def community(index: Index, id: str) -> Plain | None:
    """A community with its report, its members from the best-connected on, and the communities inside it."""
    found = index.communities.communities([id]).get(id)
    if found is None:
        return None
    report = index.communities.report(id)
    members = sorted(_nodes(index, index.communities.members(id)), key=lambda node: (-node["degree"], node["id"]))
    names = {node["id"]: node["name"] for node in members}
    return {
        **_community(found),
        "findings": [
            {
                "text": finding.text,
                "rating": finding.rating,
                "entities": [{"id": each, "name": names[each]} for each in finding.entities if each in names],
            }
            for finding in (report.findings if report else ())
        ],
        "members": members[:MEMBERS],
        "children": [_community(each) for each in index.communities.children(id)],
    }


def overview(index: Index, limit: int) -> Plain:
    """The map of the graph, and the communities on it with their titles."""
    found = graph_map(index, limit)
    seen = {node.community for node in found.nodes if node.community}
    known = index.communities.communities(seen).values() if seen else ()
    named = sorted(known, key=lambda each: (-each.size, each.id))
    return {**to_plain(found), "communities": [_community(each) for each in named]}


def walk(index: Index, attachments: Sequence[Mapping[str, Any]], evidence: Sequence[str]) -> Plain:
    """Where an answer came from, on the graph: the stops in order, and what joins the entities named at them.

    `attachments` are those of the answer's trace, as `result_data` gives them. Where no step left a walk, the stops are
    the pieces of evidence. What is no longer in the index is left out.
    """
    graph = index.graph
    stops: list[Plain] = []
    stopped = ""
    for each in attachments:
        if each["kind"] == "GraphWalk":
            stops += _ppr_stops(index, each)
        else:
            stops += _window_stops(index, each)
            stopped = each["stopped"]
    if not stops:
        stops = [stop for id in evidence if (stop := _piece_stop(index, id)) is not None]
    stops = [stop for stop in stops if stop["entities"]][:STOPS]
    ids = list(dict.fromkeys(id for stop in stops for id in stop["entities"]))[:WALKED]
    shown = set(ids)
    for number, stop in enumerate(stops, 1):
        stop["number"] = number
        stop["entities"] = [id for id in stop["entities"] if id in shown]
    return {
        "stops": stops,
        "stopped": stopped,
        "nodes": _nodes(index, ids),
        "edges": _edges(index, [t for t in graph.triplets(ids, EDGES, induced=True) if t.subject != t.object]),
    }


# Stops of a walk


def _ppr_stops(index: Index, walk: Mapping[str, Any]) -> Iterable[Plain]:
    seeds, strongest = walk["seeds"], walk["entities"] or ()
    named = index.graph.entities([id for id, _ in (*seeds, *strongest)])
    for role, some in (("seed", seeds), ("entity", strongest)):
        for id, score in some:
            if id in named and not (role == "entity" and any(id == seed for seed, _ in seeds)):
                yield {**_stop(id, role, named[id].name, named[id].description, [id]), "score": score}
    for id, score in walk["passages"]:
        stop = _piece_stop(index, id)
        if stop is not None:
            yield {**stop, "score": score}


def _window_stops(index: Index, path: Mapping[str, Any]) -> Iterable[Plain]:
    for window in path["windows"]:
        places = [place for id in window["sentences"] if (place := index.place(id)) is not None]
        if not places:
            continue
        document, start, _ = places[0]
        inside = [place for place in places if place[0].id == document.id]
        text = " ".join(document.text[start:end] for _, start, end in inside)
        stop = _stop(window["window"], "window", document.title, text, _named_in(index.graph, text))
        yield {**stop, "score": window["similarity"], "place": _place(document.id, start, inside[-1][2])}


def _piece_stop(index: Index, id: str) -> Plain | None:
    """The entities of a piece of evidence: a chunk's, a relation's ends, an entity itself, those in a sentence."""
    graph, kind = index.graph, id.partition(":")[0]
    if kind == "entity":
        found = graph.entities([id]).get(id)
        return None if found is None else _stop(id, "entity", found.name, found.description, [id])
    if kind == "relation":
        triplet = graph.relations([id]).get(id)
        if triplet is None:
            return None
        return _stop(id, kind, triplet.text, triplet.description, [triplet.subject, triplet.object])
    if kind == "community" and "communities" in index.layers:
        report = index.communities.communities([id]).get(id)
        members = index.communities.members(id)[:NAMED]
        return None if report is None else _stop(id, kind, report.title, report.summary, members)
    place = index.place(id)
    if place is None:
        return None
    document, start, end = place
    text = document.text[start:end]
    named = [each for each, _ in graph.mentioned([id], NAMED)] or _named_in(graph, text)
    return {**_stop(id, "passage", document.title, text, named), "place": _place(document.id, start, end)}


def _named_in(graph: Graph, text: str) -> list[str]:
    return list(dict.fromkeys(match.entities[0] for match in graph.in_question(text)))[:NAMED]


def _stop(id: str, role: str, title: str, text: str, named: Sequence[str]) -> Plain:
    return {
        "id": id,
        "role": role,
        "title": title,
        "text": shortened(text, _LETTERS),
        "entities": list(named),
        "score": None,
        "place": None,
    }


def _place(document: str, start: int, end: int) -> Plain:
    return {"document": document, "start": start, "end": end}


# Rows


def _nodes(index: Index, ids: Sequence[str]) -> list[Plain]:
    """Entities in this order, with how many others each is joined to and the coarsest community it belongs to."""
    graph = index.graph
    found = graph.entities(ids)
    of = communities_of(index, ids)
    degrees = graph.degrees(ids)
    return [
        {
            "id": id,
            "name": found[id].name,
            "type": found[id].type,
            "kind": coarse(found[id].type),
            "description": shortened(found[id].description, _LETTERS),
            "degree": degrees[id],
            "community": of.get(id, ""),
        }
        for id in ids
        if id in found
    ]


def _entity(index: Index, entity: GraphEntity) -> Plain:
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": list(entity.aliases[:20]),
        "count": entity.count,
        "chunks": entity.chunks,
        "quotes": _quotes(index, entity_quotes(index, entity)),
    }


def _edges(index: Index, triplets: Collection[Triplet]) -> list[Plain]:
    found = connections(index, list(triplets))
    quotes = iter(_quotes(index, [each.quote for each in found if each.quote]))
    return [{**to_plain(each), "quote": next(quotes) if each.quote else None} for each in found]


def _quotes(index: Index, quotes: Sequence[QuotedSentence]) -> list[Plain]:
    """Sentences with their places in documents: where one was put together from several lines, its chunk's."""
    pieces = index.pieces({quote.chunk for quote in quotes})
    rows = []
    for quote in quotes:
        piece = pieces[quote.chunk]
        text = quote.text.removesuffix("…")
        at = piece.text.find(text)
        start, end = (piece.start + at, piece.start + at + len(text)) if at >= 0 else (piece.start, piece.end)
        rows.append(
            {"text": quote.text, "title": quote.title, "chunk": quote.chunk, **_place(piece.document, start, end)}
        )
    return rows


def _community(community: Community) -> Plain:
    row: Plain = to_plain(community)
    return {name: value for name, value in row.items() if name != "tokens"}


def _operation(act: Callable[..., Plain | None]) -> Operation:
    """The function as an operation: its arguments are those of the call.

    Its result is given as a text of JSON, which the server passes on as it is: a map of 5,000 entities has a million
    characters, and reading and writing that again would hold up everybody else's requests.
    """

    async def run(work: Work) -> str | None:
        with work.corpus.snapshot() as use:
            found = act(use.index, **work.arguments)
        return None if found is None else json.dumps(found, separators=(",", ":"), allow_nan=False)

    return run


GRAPH_OPERATIONS: dict[str, Operation] = {
    "entities": _operation(entities),
    "neighbourhood": _operation(neighbourhood),
    "paths": _operation(paths),
    "communities": _operation(communities),
    "community": _operation(community),
    "graph_overview": _operation(overview),
    "walk": _operation(walk),
}
