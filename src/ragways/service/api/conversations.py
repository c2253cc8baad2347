"""Conversations over HTTP: begin one, see one's own, delete it. `ask` with `conversation` adds a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from ragways.service.auth import Access, Reading
from ragways.service.conversations import RewrittenQuestion
from ragways.service.errors import ERRORS
from ragways.tasks.follow_up import TURNS, Turn

router = APIRouter(tags=["conversations"], responses=ERRORS)


@router.post("/collections/{collection}/conversations", status_code=201)
async def begin(access: Reading) -> dict[str, Any]:
    """Begin a conversation; its id goes into `ask`. Those not used for longest go where there are more than 200."""
    return asdict(access.service.conversations.start(access.caller, access.collection.id))


@router.get("/collections/{collection}/conversations")
async def listed(access: Reading) -> dict[str, Any]:
    """The caller's conversations with this collection, the one used last first."""
    found = access.service.conversations.of(access.caller, access.collection.id)
    return {"conversations": [asdict(each) for each in found]}


@router.get("/collections/{collection}/conversations/{id}")
async def shown(access: Reading, id: str, rendered: bool = False) -> dict[str, Any]:
    """A conversation with its turns: each question as it was sent and as it was understood, and its answer; with
    `rendered`, as a tree of `blocks`, too.
    """
    stored = access.service.conversations
    found = stored.find(access.caller, access.collection.id, id)
    turns = [asdict(each) for each in stored.turns(id)]
    if rendered and turns:
        trees = await access.call("blocks", answers=[[turn["answer"], turn["answer_way"]] for turn in turns])
        turns = [{**turn, "blocks": blocks} for turn, blocks in zip(turns, trees, strict=True)]
    return {**asdict(found), "turns": turns}


@router.delete("/collections/{collection}/conversations/{id}", status_code=204)
async def delete(access: Reading, id: str) -> Response:
    """Delete a conversation with everything in it."""
    access.service.conversations.delete(access.caller, access.collection.id, id)
    return Response(status_code=204)


async def made_whole(
    access: Access, turns: Sequence[Turn], question: str, budget: float | None = None
) -> RewrittenQuestion:
    """A question as it can be understood without the turns before it. A worker rewrites it: by the model where there
    is one, else by the rule. `budget` is what that may cost, in USD.
    """
    if not turns:
        return RewrittenQuestion(question, "")
    arguments = {"question": question, "turns": [[turn.question, turn.answer] for turn in turns[-TURNS:]]}
    found, usd = await access.paid("rewrite", arguments, budget)
    usage = found["usage"]
    return RewrittenQuestion(found["question"], found["way"], usd, (usage["input"], usage["output"]))
