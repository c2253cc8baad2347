"""The Model Context Protocol at `/mcp/NAME` and, for a key that sees one collection, at `/mcp`: HTTP, without sessions.

Requests are answered by workers, from the collection that the key may see, on the key's budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.routing import Route

from ragways.core.errors import RagwaysError
from ragways.service.auth import Access, Service, caller, collection
from ragways.service.errors import BadRequest, NotFound, ServiceError, as_service, reply

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from ragways.service.work.mcp import Data

_ACCESS = "ragways.access"


class ProtocolEndpoint:
    """An ASGI application that answers as long as `running` lasts."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._wanted = asyncio.Event()
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    def routes(self) -> list[Route]:
        return [Route("/mcp", self), Route("/mcp/{collection}", self)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests. The package `mcp` takes a second to import, so it is loaded with the first of them."""
        self._wanted, self._manager = asyncio.Event(), asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._manager))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, manager: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        await self._wanted.wait()
        try:
            made = await asyncio.to_thread(self._make)
        except Exception as error:
            manager.set_exception(error)  # for the request that waits
            return
        async with made.run():
            manager.set_result(made)
            await asyncio.Event().wait()  # until it is cancelled

    def _make(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from ragways.service.work.mcp import protocol_server

        server = protocol_server(self._answer, trusted=False)
        limit = self._service.config.limits.body
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            if self._manager is None:
                raise NotFound("page")
            scope[_ACCESS] = await self._access(request)
        except (ServiceError, RagwaysError) as error:
            await reply(request, as_service(error))(scope, receive, send)
            return
        self._wanted.set()
        manager = await asyncio.shield(self._manager)
        await manager.handle_request(scope, receive, send)

    async def _access(self, request: Request) -> Access:
        if name := request.path_params.get("collection"):
            return await collection("read")(request, name)
        who = await caller("read")(request)
        seen = self._service.collections.visible(who)
        if len(seen) != 1:
            what = "there are several collections here" if seen else "there is no collection here yet"
            raise BadRequest(what, "name one in the address: /mcp/NAME")
        return Access(self._service, who, seen[0])

    async def _answer(self, context: ServerRequestContext[Any], method: str, params: Data) -> Data:
        access: Access = context.request.scope[_ACCESS]  # type: ignore[union-attr]
        arguments = {"method": method, "params": params}
        found: Data
        if method == "tools/call":
            found, _ = await access.paid("mcp", arguments)
        else:
            found = await access.call("mcp", **arguments)
        return found
