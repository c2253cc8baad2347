"""Files and documents over HTTP: upload, list, fetch, remove; and what the index made of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from ragways.service.auth import Reading, Writing
from ragways.service.errors import ERRORS, BadRequest
from ragways.service.uploads import UploadedFile

router = APIRouter(tags=["documents"], responses=ERRORS)
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="how many to pass over")]
Limit = Annotated[int, Query(ge=1, le=1000, description="how many to give at most")]
Search = Annotated[str, Query(max_length=200, description="only those whose name has this")]
_BLOCK = 1 << 20
_RAW = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {
    "type": "string", "format": "binary"}}}}}  # fmt: skip


class FileList(BaseModel):
    """A page of the files of a collection, by name."""

    files: list[UploadedFile]
    total: int


class DocumentList(BaseModel):
    """A page of the documents of an index."""

    documents: list[dict[str, Any]]
    total: int


@router.get("/collections/{collection}/files")
async def files(access: Reading, offset: Offset = 0, limit: Limit = 100, search: Search = "") -> FileList:
    """The files that were uploaded, and what became of them."""
    found, total = await access.service.uploads.listed(access.collection, offset, limit, search)
    return FileList(files=found, total=total)


@router.put("/collections/{collection}/files/{path:path}", openapi_extra=_RAW)
async def put(request: Request, access: Writing, path: str) -> UploadedFile:
    """Upload a file, or replace it. The body is the file itself. It is in the index after the next index job."""
    try:
        stored = await access.service.uploads.put(access.collection, path, request.stream())
    except ClientDisconnect:
        raise BadRequest("the upload ended before its end", "send it again") from None
    access.note("file.put", path=stored.path, size=stored.size)
    return stored


@router.get(
    "/collections/{collection}/files/{path:path}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "the file as it was uploaded"}},
)
async def get(access: Reading, path: str) -> Response:
    """A file as it was uploaded. It is always sent as a download, never shown by a browser as a page of ours."""
    descriptor = await access.service.uploads.opened(access.collection, path)
    size = os.fstat(descriptor).st_size
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(_read(descriptor, size), media_type="application/octet-stream", headers=headers)


async def _read(descriptor: int, size: int) -> AsyncIterator[bytes]:
    try:
        for place in range(0, size, _BLOCK):
            yield await asyncio.to_thread(os.pread, descriptor, min(_BLOCK, size - place), place)
    finally:
        os.close(descriptor)


@router.delete("/collections/{collection}/files/{path:path}", status_code=204)
async def delete(access: Writing, path: str) -> Response:
    """Remove a file. Its text is gone from the index after the next index job, whose result shows it."""
    await access.service.uploads.delete(access.collection, path)
    access.note("file.delete", path=path)
    return Response(status_code=204)


@router.get("/collections/{collection}/documents", response_model=DocumentList)
async def documents(access: Reading, offset: Offset = 0, limit: Limit = 100, search: Search = "") -> Response:
    """The documents in the index, or those whose title or key has these words."""
    if not access.collection.generation:
        return JSONResponse({"documents": [], "total": 0})
    return JSONResponse(await access.call("documents", offset=offset, limit=limit, search=search))
