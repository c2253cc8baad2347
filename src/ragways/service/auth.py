"""Who sends a request, and what they may do. Routes depend on it: `Depends(caller("read"))`,
`Depends(collection("write"))`.

A collection that a caller may not see does not exist for them: the same 404, after the same steps.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from typing import Annotated, Any

from fastapi import Depends, Request

from ragways.service.audit import Audit
from ragways.service.collections import Collection, Collections
from ragways.service.config import ServiceConfig
from ragways.service.conversations import Conversations
from ragways.service.errors import Forbidden, NotFound, TooMany, Unauthorized
from ragways.service.feedback import Feedback
from ragways.service.jobs import Jobs
from ragways.service.keys import LOCAL, Caller, Keys, Scope
from ragways.service.ledger import Ledger
from ragways.service.metrics import Metrics
from ragways.service.state import State
from ragways.service.telemetry import Telemetry
from ragways.service.uploads import Uploads
from ragways.service.work.child import OnEvent
from ragways.service.work.workers import WorkerPool

TRIES = 10
"""Wrong keys that one address may send in a minute."""
_MINUTE = 60.0
_ADDRESSES = 4096


class FailedKeys:
    """Wrong keys by address, so that guesses are slowed. Memory is bounded."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wrong(self, address: str) -> None:
        """Note a wrong key; `TooMany` where this address must wait before it may send another."""
        where = _network(address)
        times = self._failed.setdefault(where, deque(maxlen=TRIES))
        self._failed.move_to_end(where)
        while len(self._failed) > _ADDRESSES:
            self._failed.popitem(last=False)
        if len(times) == TRIES and (wait := times[0] + _MINUTE - self._now()) > 0:
            raise TooMany("too many wrong keys came from this address", "wait, then try again", retry_after=wait)
        times.append(self._now())


def _network(address: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 one, which has one owner."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address[:64]
    return ip.exploded[:19] if isinstance(ip, IPv6Address) and ip.ipv4_mapped is None else address


@dataclass
class Service:
    """Everything that requests are served from; `make_app` makes it, and routes get it by `service_of`."""

    config: ServiceConfig
    state: State
    keys: Keys
    ledger: Ledger
    audit: Audit
    collections: Collections
    workers: WorkerPool
    uploads: Uploads
    jobs: Jobs
    metrics: Metrics
    conversations: Conversations
    feedback: Feedback
    telemetry: Telemetry | None = None
    failed: FailedKeys = field(default_factory=FailedKeys)

    @property
    def chat_style(self) -> str:
        """The style of answers in chats and on the page, unless a request names one."""
        return self.config.settings.answer.style or "full"


@dataclass(frozen=True, slots=True)
class Access:
    """A caller who may do what the route does with a collection."""

    service: Service
    caller: Caller
    collection: Collection

    async def call(self, operation: str, **arguments: Any) -> Any:  # noqa: ANN401 - JSON
        """Have a worker do what costs nothing."""
        return await self.service.workers.call(operation, self.collection, arguments, tenant=self.caller.tenant)

    async def paid(
        self, operation: str, arguments: dict[str, Any], budget: float | None = None, on_event: OnEvent | None = None
    ) -> tuple[Any, float]:
        """Have a worker do what may cost money, under the budget of the key and of the request. Gives the result, and
        what it cost in USD.
        """
        with self.service.ledger.hold(self.caller.key, budget, growing=True) as held:
            found = await self.service.workers.call(
                operation, self.collection, arguments, tenant=self.caller.tenant, on_event=on_event, held=held
            )
        return found, held.actual or 0.0

    def note(self, action: str, **fields: object) -> None:
        """Add a line about the collection to the audit log."""
        self.service.audit.note(self.caller, action, collection=self.collection.name, **fields)


def service_of(request: Request) -> Service:
    """The service that this request came to."""
    service: Service = request.app.state.service
    return service


def authenticated(service: Service, authorization: str | None, address: str) -> Caller:
    """Who sends the header `Authorization`; `Unauthorized` where a key is needed and none that is valid was sent."""
    if authorization is None:
        if service.keys.some():
            raise Unauthorized
        return LOCAL
    kind, _, key = authorization.partition(" ")
    key = key.strip()
    if kind.lower() != "bearer" or not key:
        raise Unauthorized
    if not service.keys.some():  # a client that must send something, such as OpenAI's, may send anything
        return LOCAL
    found = service.keys.caller(key)
    if found is None:  # a valid key is good also beside an attacker, who cannot guess 32 random bytes
        service.failed.wrong(address)
        raise Unauthorized("this key is not valid", "check it, or ask whoever runs the server for another")
    return found


def caller(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency: the caller, who may do what needs this scope."""

    async def allowed(request: Request) -> Caller:
        return _may(_caller_of(request), scope)

    return allowed


def collection(scope: Scope) -> Callable[[Request, str], Awaitable[Access]]:
    """A dependency of routes with {collection} in their path: the collection, which the caller may see and use."""

    async def allowed(request: Request, collection: str) -> Access:
        service, who = service_of(request), _caller_of(request)
        found = service.collections.find(who.tenant, collection)
        if found is None or not who.sees(found.tenant, found.name):
            raise NotFound("collection")
        return Access(service, _may(who, scope), found)

    return allowed


Reading = Annotated[Access, Depends(collection("read"))]
Writing = Annotated[Access, Depends(collection("write"))]


def _caller_of(request: Request) -> Caller:
    """Who sends this request: the gate has checked the key that it brings."""
    known: Caller | None = request.scope.get("ragways.caller")
    return known or authenticated(service_of(request), None, "")


def _may(who: Caller, scope: Scope) -> Caller:
    if scope not in who.scopes:
        raise Forbidden(f"this key may not {_VERBS[scope]}", f"use a key with the scope {scope}")
    return who


_VERBS = {"read": "read", "write": "change collections", "admin": "make or delete collections"}
