"""Conversations over HTTP: begin one, see one's own, delete it. `ask` with `conversation` adds a turn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from ragways.service.auth import Access, collection
from ragways.service.errors import ERRORS

router = APIRouter(tags=["conversations"], responses=ERRORS)
Reading = Annotated[Access, Depends(collection("read"))]


@router.post("/collections/{collection}/conversations", status_code=201)
async def begin(access: Reading) -> dict[str, Any]:
    """Begin a conversation; its id goes into `ask`. Those not used for longest go where there are more than 200."""
    return asdict(access.service.conversations.start(access))


@router.get("/collections/{collection}/conversations")
async def listed(access: Reading) -> dict[str, Any]:
    """The caller's conversations with this collection, the one used last first."""
    return {"conversations": [asdict(each) for each in access.service.conversations.of(access)]}


@router.get("/collections/{collection}/conversations/{id}")
async def shown(access: Reading, id: str, rendered: bool = False) -> dict[str, Any]:
    """A conversation with its turns: each question as it was asked and as it was understood, and its answer; where
    `rendered` is asked for, as a tree of `blocks`, too.
    """
    found = access.service.conversations.find(access, id)
    turns = [asdict(each) for each in access.service.conversations.turns(access, id)]
    if rendered and turns:
        answers = {"answers": [[turn["answer"], turn["answer_way"]] for turn in turns]}
        trees = await access.service.workers.call("blocks", access.collection, answers, tenant=access.caller.tenant)
        turns = [{**turn, "blocks": blocks} for turn, blocks in zip(turns, trees, strict=True)]
    return {**asdict(found), "turns": turns}


@router.delete("/collections/{collection}/conversations/{id}", status_code=204)
async def delete(access: Reading, id: str) -> Response:
    """Delete a conversation with everything in it."""
    access.service.conversations.delete(access, id)
    return Response(status_code=204)
