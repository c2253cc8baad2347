"""The knowledge graph of a collection over HTTP: entities, what is around them, ways between two, communities, a map of
it all, and the walk that led to an answer on it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from ragways.service.auth import Access, collection
from ragways.service.errors import ERRORS, NotFound

router = APIRouter(tags=["graph"], responses=ERRORS)
Reading = Annotated[Access, Depends(collection("read"))]
EntityId = Annotated[str, Path(max_length=100, description="an id of the graph, such as entity:0123456789abcdef")]
Identity = Annotated[str, Field(max_length=500)]


class GraphPlace(BaseModel):
    """A stretch of a document, in characters."""

    document: str
    start: int
    end: int


class GraphQuote(GraphPlace):
    """A sentence that bears something out, and where it stands."""

    text: str
    title: str
    chunk: str


class GraphNode(BaseModel):
    """An entity. `degree` counts those it is joined to, `community` is the coarsest that it belongs to."""

    id: str
    name: str
    type: str
    kind: str
    description: str
    degree: int
    community: str


class NearNode(GraphNode):
    """An entity, and how many hops it is from the one that was asked for."""

    hop: int


class GraphEdge(BaseModel):
    """A relation between two entities, and a sentence that states it."""

    id: str
    source: str
    target: str
    predicate: str
    description: str
    weight: float
    date: str
    quote: GraphQuote | None


class FoundEntities(BaseModel):
    entities: list[GraphNode]


class EntityDetails(BaseModel):
    """An entity, its other names, how often it is named and in how many chunks, and sentences about it."""

    id: str
    name: str
    type: str
    description: str
    aliases: list[str]
    count: int
    chunks: int
    quotes: list[GraphQuote]


class EntityAround(BaseModel):
    """`reached` counts all entities within so many hops; `nodes` are the nearest and heaviest of them."""

    entity: EntityDetails
    nodes: list[NearNode]
    edges: list[GraphEdge]
    reached: int


class GraphPath(BaseModel):
    """Entities from one end to the other; `hops` are the ids of the relations between each two."""

    nodes: list[str]
    hops: list[list[str]]


class FoundPaths(BaseModel):
    """The shortest paths, the heaviest first; none where the two are too far apart."""

    paths: list[GraphPath]
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class CommunityRow(BaseModel):
    """A community. `way` tells who wrote its report; where it is empty there is none."""

    id: str
    level: int
    parent: str
    leaf: bool
    size: int
    title: str
    summary: str
    rank: float
    way: str


class CommunityList(BaseModel):
    levels: list[int]
    communities: list[CommunityRow]
    total: int


class NamedEntity(BaseModel):
    id: str
    name: str


class ReportedFinding(BaseModel):
    text: str
    rating: float
    entities: list[NamedEntity]


class CommunityDetails(CommunityRow):
    """A community with its report, its best-connected members and the communities inside it."""

    findings: list[ReportedFinding]
    members: list[GraphNode]
    children: list[CommunityRow]


class PlacedNode(BaseModel):
    """An entity on the map."""

    id: str
    name: str
    type: str
    kind: str
    degree: int
    community: str
    x: float
    y: float


class GraphOverview(BaseModel):
    """The best-connected entities at their places; `edges` join places in `nodes`, with a weight."""

    nodes: list[PlacedNode]
    edges: list[tuple[int, int, float]]
    entities: int
    communities: list[CommunityRow]


Figure = Annotated[float, Field(allow_inf_nan=False)]
Scored = tuple[Identity, Figure]


class PageRankWalk(BaseModel):
    """What PageRank left in a trace: where it began, where it went, and the passages it led to."""

    kind: Literal["GraphWalk"]
    seeds: list[Scored] = Field(default=[], max_length=60)
    entities: list[Scored] | None = Field(None, max_length=60)
    passages: list[Scored] = Field(default=[], max_length=60)


class WalkedWindow(BaseModel):
    window: Identity
    similarity: Figure
    sentences: list[Identity] = Field(max_length=60)


class WindowWalkTrace(BaseModel):
    """What a traversal of windows left in a trace."""

    kind: Literal["WindowPath"]
    windows: list[WalkedWindow] = Field(default=[], max_length=60)
    stopped: str = Field("", max_length=500)


class WalkRequest(BaseModel):
    """The attachments of an answer's steps, and the ids of its evidence, for ways that leave no walk."""

    attachments: list[Annotated[PageRankWalk | WindowWalkTrace, Field(discriminator="kind")]] = Field(
        default=[], max_length=40
    )
    evidence: list[Identity] = Field(default=[], max_length=60)


class WalkStop(BaseModel):
    """A stop of the walk and the entities named there; `place` is where its text stands, where it has one."""

    number: int
    id: str
    role: Literal["seed", "entity", "relation", "community", "passage", "window"]
    title: str
    text: str
    entities: list[str]
    score: float | None
    place: GraphPlace | None


class WalkOnGraph(BaseModel):
    """The stops in order, the entities named at them and what joins these; `stopped` says why the walk ended."""

    stops: list[WalkStop]
    stopped: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]


@router.get("/collections/{collection}/entities", response_model=FoundEntities)
async def entities(
    access: Reading,
    search: Annotated[str, Query(max_length=200, description="a name, its beginning, or words of it")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Response:
    """Entities by name; without a search, the best-connected."""
    return await _told(access, "entities", search=search, limit=limit)


@router.get("/collections/{collection}/entities/{id}/neighbourhood", response_model=EntityAround)
async def neighbourhood(
    access: Reading,
    id: EntityId,
    hops: Annotated[int, Query(ge=1, le=3)] = 1,
    limit: Annotated[int, Query(ge=1, le=300)] = 60,
) -> Response:
    """An entity, those around it, and the relations between them with a sentence that states each."""
    return await _told(access, "neighbourhood", id=id, hops=hops, limit=limit)


@router.get("/collections/{collection}/paths", response_model=FoundPaths)
async def paths(
    access: Reading,
    start: Annotated[str, Query(max_length=100, description="the id of an entity")],
    end: Annotated[str, Query(max_length=100, description="the id of another")],
    limit: Annotated[int, Query(ge=1, le=20)] = 5,
) -> Response:
    """The shortest ways from one entity to another, with what joins them at each hop."""
    return await _told(access, "paths", start=start, end=end, limit=limit)


@router.get("/collections/{collection}/communities", response_model=CommunityList)
async def communities(
    access: Reading,
    level: Annotated[int, Query(ge=0, le=20, description="0 is the coarsest")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """Communities of a level, those that matter most first."""
    return await _told(access, "communities", level=level, limit=limit)


@router.get("/collections/{collection}/communities/{id}", response_model=CommunityDetails)
async def community(access: Reading, id: EntityId) -> Response:
    """A community with its report."""
    return await _told(access, "community", id=id)


@router.get("/collections/{collection}/graph", response_model=GraphOverview)
async def graph(access: Reading, limit: Annotated[int, Query(ge=1, le=5000)] = 1000) -> Response:
    """A map of the graph: its best-connected entities, communities together, and what joins them."""
    return await _told(access, "graph_overview", limit=limit)


@router.post("/collections/{collection}/walk", response_model=WalkOnGraph)
async def walk(access: Reading, body: WalkRequest) -> Response:
    """Where an answer came from, on the graph."""
    return await _told(access, "walk", **body.model_dump())


async def _told(access: Access, operation: str, **arguments: Any) -> Response:  # noqa: ANN401 - JSON
    """What a worker tells, which is a text of JSON already."""
    found = await access.service.workers.call(operation, access.collection, arguments, tenant=access.caller.tenant)
    if found is None:
        raise NotFound("entity" if operation in ("neighbourhood", "paths") else operation)
    return Response(found, media_type="application/json")
