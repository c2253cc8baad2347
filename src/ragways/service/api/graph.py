"""The knowledge graph of a collection over HTTP: entities, what is around them, paths between two, communities, a map,
and the walk that led to an answer. A node is an entity, an edge a relation with a sentence that states it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from ragways.service.auth import Access, Reading
from ragways.service.errors import ERRORS, NotFound

router = APIRouter(tags=["graph"], responses=ERRORS)
EntityId = Annotated[str, Path(max_length=100, description="an id of the graph, such as entity:0123456789abcdef")]
Identity = Annotated[str, Field(max_length=500)]
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


@router.get("/collections/{collection}/entities")
async def entities(
    access: Reading,
    search: Annotated[str, Query(max_length=200, description="a name, its beginning, or words of it")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Response:
    """`entities` by name; without a search, the best-connected. `degree` counts those that an entity is joined to,
    `community` is the coarsest that it belongs to.
    """
    return await _answered(access, "entities", search=search, limit=limit)


@router.get("/collections/{collection}/entities/{id}/neighbourhood")
async def neighbourhood(
    access: Reading,
    id: EntityId,
    hops: Annotated[int, Query(ge=1, le=3)] = 1,
    limit: Annotated[int, Query(ge=1, le=300)] = 60,
) -> Response:
    """An `entity`, the nearest and heaviest `nodes` around it with their `hop`, and `edges` with a sentence that states
    each. `reached` counts all entities within so many hops.
    """
    return await _answered(access, "neighbourhood", id=id, hops=hops, limit=limit)


@router.get("/collections/{collection}/paths")
async def paths(
    access: Reading,
    start: Annotated[str, Query(max_length=100, description="the id of an entity")],
    end: Annotated[str, Query(max_length=100, description="the id of another")],
    limit: Annotated[int, Query(ge=1, le=20)] = 5,
) -> Response:
    """The shortest `paths` from one entity to another, the heaviest first; none where they are too far apart. `hops`
    are the ids of the relations between each two `nodes`.
    """
    return await _answered(access, "paths", start=start, end=end, limit=limit)


@router.get("/collections/{collection}/communities")
async def communities(
    access: Reading,
    level: Annotated[int, Query(ge=0, le=20, description="0 is the coarsest")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """`communities` of a level, by rank. `way` is who wrote a report; where it is empty there is none."""
    return await _answered(access, "communities", level=level, limit=limit)


@router.get("/collections/{collection}/communities/{id}")
async def community(access: Reading, id: EntityId) -> Response:
    """A community with the `findings` of its report, its best-connected `members`, and its `children`."""
    return await _answered(access, "community", id=id)


@router.get("/collections/{collection}/graph")
async def graph(access: Reading, limit: Annotated[int, Query(ge=1, le=5000)] = 1000) -> Response:
    """A map of the graph: its best-connected `nodes` at their places, `edges` between places in `nodes` with a weight,
    and the `communities` on it.
    """
    return await _answered(access, "graph_overview", limit=limit)


@router.post("/collections/{collection}/walk")
async def walk(access: Reading, body: WalkRequest) -> Response:
    """Where an answer came from, on the graph: `stops` in order, the `nodes` named at them, and the `edges` between.
    `stopped` says why the walk ended.
    """
    return await _answered(access, "walk", **body.model_dump())


async def _answered(access: Access, operation: str, **arguments: Any) -> Response:  # noqa: ANN401 - JSON
    """What a worker gives, which is a text of JSON already."""
    found = await access.call(operation, **arguments)
    if found is None:
        raise NotFound("entity" if operation in ("neighbourhood", "paths") else operation)
    return Response(found, media_type="application/json")
