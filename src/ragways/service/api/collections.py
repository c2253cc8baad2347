"""Collections over HTTP: list, make, look at, delete."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ragways.service.auth import Access, Reading, caller, collection, service_of
from ragways.service.errors import ERRORS, Forbidden
from ragways.service.keys import COLLECTION_NAME, Caller

router = APIRouter(tags=["collections"], responses=ERRORS)


class NewCollection(BaseModel):
    """A collection to be made."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        pattern=f"^{COLLECTION_NAME.pattern}$", max_length=64, description="unique among your collections"
    )
    layers: list[Annotated[str, Field(max_length=64)]] | None = Field(
        None,
        max_length=20,
        description="what index jobs build unless they name others: vectors, words, windows, graph, communities",
    )


class CollectionInfo(BaseModel):
    """A collection, and what its index had after the last job."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    managed: bool = Field(description="whether files can be uploaded; else an index that the server only reads")
    documents: int
    chunks: int
    layers: list[str] = Field(description="those that are built")
    wanted: list[str] = Field(
        description="those that index jobs build unless they name others; none: vectors and words, and for a new index "
        "a graph, where many short documents name each other"
    )
    generation: int = Field(description="grows with each change of the index; 0: not indexed yet")
    created: str
    trouble: str = Field(description="why it cannot be asked, with the cure; empty where it can")


class CollectionList(BaseModel):
    """The collections that the key may see, by name."""

    collections: list[CollectionInfo]


class CollectionStatus(CollectionInfo):
    """A collection, with what a worker reads of its index; None where there is none that can be opened."""

    status: dict[str, Any] | None = None


@router.get("/collections")
async def collections(request: Request, who: Annotated[Caller, Depends(caller("read"))]) -> CollectionList:
    """The collections that the key may see."""
    visible = service_of(request).collections.visible(who)
    return CollectionList(collections=[CollectionInfo.model_validate(each) for each in visible])


@router.post("/collections", status_code=201)
async def create(
    request: Request, who: Annotated[Caller, Depends(caller("admin"))], body: NewCollection
) -> CollectionInfo:
    """Make a collection. It is empty: upload files, then start an index job."""
    service = service_of(request)
    if not who.sees(who.tenant, body.name):  # else it would learn which of those that it may not see are there
        raise Forbidden("this key is for certain collections only", "use one of their names, or another key")
    made = service.collections.create(who.tenant, body.name, body.layers)
    service.audit.note(who, "collection.create", collection=made.name)
    return CollectionInfo.model_validate(made)


@router.get("/collections/{collection}")
async def status(access: Reading) -> CollectionStatus:
    """A collection, and its index as it is now."""
    refreshed = await asyncio.to_thread(access.service.collections.refresh, access.collection)
    shown = CollectionStatus.model_validate(refreshed)
    if refreshed.generation and not refreshed.trouble:
        shown.status = await access.call("status")
    return shown


@router.delete("/collections/{collection}", status_code=204)
async def delete(access: Annotated[Access, Depends(collection("admin"))]) -> Response:
    """Delete a collection with its files, its index, its runs and its feedback. Its jobs are cancelled."""
    access.service.collections.withdraw(access.collection)  # first, so that nothing new begins in it
    await asyncio.shield(_delete(access))  # whole, even when nobody waits for it any more
    return Response(status_code=204)


async def _delete(access: Access) -> None:
    service, gone = access.service, access.collection
    await service.jobs.drop(gone)
    await asyncio.to_thread(service.collections.delete, gone)
    service.uploads.forget(gone)
    service.conversations.forget(gone.id)
    service.feedback.remove(gone.id)
    await service.workers.forget(gone)
    access.note("collection.delete")
