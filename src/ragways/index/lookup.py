"""What an id stands for: a document or a part of it in its place, an entity, a relation or a community's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.core.errors import UsageError, did_you_mean
from ragways.core.text import clean, printable_name
from ragways.core.types import Origin, Piece, title_name
from ragways.index.open import Index

AROUND = 400
"""Characters given before and after a part."""
NAMED = 3
"""Documents of a file that are named where one is to be chosen."""
LISTED = 20
"""Relations, members or chunks that are given."""


@dataclass(frozen=True, slots=True)
class TextView:
    """A document, or a part of one: its plain text, and as Markdown with what stands before and after it. `source` says
    where in its file it stands.
    """

    id: str
    document: str
    key: str
    title: str
    metadata: Mapping[str, str]
    start: int
    end: int
    text: str
    markdown: str
    before: str
    after: str
    source: Origin


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity of the graph. `relations` are texts by id; `chunks` are those that name it, texts by id."""

    id: str
    title: str
    type: str
    description: str
    aliases: tuple[str, ...]
    way: str
    relations: Mapping[str, str]
    chunks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RelationView:
    """A relation of the graph. `chunks` are those that state it, texts by id."""

    id: str
    title: str
    subject: str
    predicate: str
    object: str
    description: str
    weight: float
    date: str
    way: str
    chunks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community of entities and its report. `members` are names by id."""

    id: str
    title: str
    summary: str
    level: int
    parent: str
    size: int
    way: str
    findings: tuple[str, ...]
    members: Mapping[str, str]


View = TextView | EntityView | RelationView | CommunityView


def look_up(index: Index, id: str) -> View:
    """What has this id, or the document of this key, source file or title. UsageError where there is nothing of the
    kind, and where a file holds several documents.
    """
    view: View | None = None
    kind = id.partition(":")[0]
    if kind == "entity" and "graph" in index.layers:
        view = _entity(index, id)
    elif kind == "relation" and "graph" in index.layers:
        view = _relation(index, id)
    elif kind == "community" and "communities" in index.layers:
        view = _community(index, id)
    else:
        view = _part(index, id) or _part(index, _named(index, id))
    if view is None:
        raise UsageError(
            f"nothing in this index has the id, key or title '{printable_name(id)}'",
            "ids stand beside evidence in: ragways ask; keys in: ragways status --documents",
        )
    return view


def find_document(index: Index, name: str) -> str:
    """The id of the document of this id, key, source file or title. UsageError with the nearest title where there is
    none, and where a file holds several.
    """
    if place := index.place(name):
        return place[0].id
    if id := _named(index, name):
        return id
    documents = index.documents()
    near = did_you_mean(name, (title for _, _, title in documents)) if documents else ""
    cure = near if near.startswith("did") else "see them with: ragways status --documents"
    raise UsageError(f"no document is called '{printable_name(name)}'", cure)


def _named(index: Index, name: str) -> str:
    """The id of the document of this key, source file or title, of several of one title the first; empty where there is
    none.
    """
    key = printable_name(name)
    if found := index.named("key", key):
        return next(iter(found))
    if len(found := index.named("source", key)) > 1:
        some = ", ".join(list(found.values())[:NAMED]) + (" …" if len(found) > NAMED else "")
        raise UsageError(f"{key} holds {len(found):,} documents", f"name one of them: {some}")
    return next(iter(found or index.named("name", title_name(clean(name)))), "")


def _part(index: Index, id: str) -> TextView | None:
    place = index.place(id) if id else None
    if place is None:
        return None
    document, start, end = place
    first, last = max(0, start - AROUND), min(len(document.text), end + AROUND)
    markdown, before, after = (
        index.shown(Piece(id, "article", document.text[a:b], document.id, document.title, a, b, 0))
        for a, b in ((start, end), (first, start), (end, last))
    )
    return TextView(
        id,
        document.id,
        document.key,
        document.title,
        dict(document.metadata),
        start,
        end,
        document.text[start:end],
        markdown,
        before=("… " if first else "") + before,
        after=after + (" …" if last < len(document.text) else ""),
        source=index.origins([(document.id, start, end)])[0],
    )


def _entity(index: Index, id: str) -> EntityView | None:
    entity = index.graph.entities([id]).get(id)
    if entity is None:
        return None
    relations = {relation.id: relation.text for relation in index.graph.triplets([id], LISTED)}
    chunks = _texts(index, [chunk for chunk, _ in index.graph.mentions([id], LISTED)])
    return EntityView(id, entity.name, entity.type, entity.description, entity.aliases, entity.way, relations, chunks)


def _relation(index: Index, id: str) -> RelationView | None:
    relation = index.graph.relations([id]).get(id)
    if relation is None:
        return None
    chunks = _texts(index, index.graph.relation_chunks([id]).get(id, [])[:LISTED])
    return RelationView(
        id,
        relation.text,
        relation.subject,
        relation.predicate,
        relation.object,
        relation.description,
        relation.weight,
        relation.date,
        relation.way,
        chunks,
    )


def _community(index: Index, id: str) -> CommunityView | None:
    community = index.communities.communities([id]).get(id)
    if community is None:
        return None
    report = index.communities.report(id)
    members = index.graph.entities(index.communities.members(id)[:LISTED], described=False)
    return CommunityView(
        id,
        community.title,
        community.summary,
        community.level,
        community.parent,
        community.size,
        community.way,
        tuple(finding.text for finding in report.findings) if report else (),
        {member.id: member.name for member in members.values()},
    )


def _texts(index: Index, ids: Sequence[str]) -> dict[str, str]:
    return {id: piece.text for id, piece in index.pieces(ids).items()}
