"""The headers of a request, which two servers must not read differently and a page of another site must not send; and
those of a reply, which make a browser careful.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragways.service.config import KnownHosts
from ragways.service.errors import BadRequest, Forbidden, ServiceError

Headers = list[tuple[bytes, bytes]]
Head = dict[bytes, bytes]
"""The headers of a request that the gate reads; each may come once."""

_ONCE = frozenset({b"host", b"content-length", b"transfer-encoding", b"content-encoding", b"authorization", b"origin",
                   b"sec-fetch-site", b"expect", b"access-control-request-method"})  # fmt: skip
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API = ("/api/", "/v1/", "/mcp")
"""Beginnings of paths whose replies are not cached, and that need a key where there are keys."""
CSP = "default-src 'none'; frame-ancestors 'none'"
"""Of replies that set no policy of their own: a browser loads nothing for them, and no page shows them in a frame."""
_SECURE: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
]
_NO_STORE = (b"cache-control", b"no-store")
_PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"600"),
]


# Of a request


def read_head(given: Iterable[tuple[bytes, bytes]], head: Head) -> None:
    """Put those that the gate reads into `head`, one after the other: what came before a fault is there."""
    for name, value in given:
        if name in _ONCE:
            if name in head:
                raise BadRequest(f"the header {name.decode()} came twice", "send it once")
            head[name] = value


def check_head(head: Head, hosts: KnownHosts) -> bool:
    """Whether a body follows. Raises where the request is for another host, or how long its body is not clear."""
    if b"host" not in head:
        raise BadRequest("the header Host is missing", "send it")
    if not hosts.knows(head[b"host"].decode("latin-1")):
        raise ServiceError(421, "host", "this server does not go by that name", "add it to the setting serve.hosts")
    chunked, length = head.get(b"transfer-encoding"), head.get(b"content-length")
    if chunked is not None and (length is not None or chunked.strip(b" \t").lower() != b"chunked"):
        raise BadRequest("the length of the body is not clear", "send Content-Length, or Transfer-Encoding: chunked")
    if length is not None and not (length.isdigit() and len(length) < 16):
        raise BadRequest("Content-Length is no number", "send the number of bytes")
    if head.get(b"content-encoding", b"identity").strip(b" \t").lower() not in (b"identity", b""):
        raise ServiceError(415, "encoding", "bodies cannot be compressed", "send it as it is")
    return chunked is not None or int(length or 0) > 0


def check_origin(method: str, head: Head, origins: frozenset[str]) -> None:
    """What changes something must come from our own page, from one that may, or from no page at all."""
    if method in _SAFE_METHODS:
        return
    origin = head.get(b"origin")
    if origin is None:
        site = head.get(b"sec-fetch-site", b"none")
        allowed = site in (b"same-origin", b"none")
    else:
        text = origin.decode("latin-1").lower()
        scheme, _, host = text.partition("://")
        own = scheme in ("http", "https") and host == head[b"host"].decode("latin-1").lower()
        allowed = own or text in origins
    if not allowed:
        raise _from_elsewhere()


def preflight(method: str, head: Head, origins: frozenset[str]) -> Headers | None:
    """The reply to a browser that asks whether a page of another site may send a request; None for other requests."""
    if method != "OPTIONS" or b"access-control-request-method" not in head:
        return None
    if not _may_send(head, origins):
        raise _from_elsewhere()
    return _PREFLIGHT


def _may_send(head: Head, origins: frozenset[str]) -> bool:
    return head.get(b"origin", b"").decode("latin-1").lower() in origins


def _from_elsewhere() -> ServiceError:
    return Forbidden("requests from pages of other sites are refused", "add it to the setting serve.origins")


# Of a reply


def reply_headers(headers: Headers, head: Head, path: str, id: str, origins: frozenset[str]) -> Headers:
    """Those of a route, with all that it did not set itself; `head` is the request's, `id` that of the request."""
    there = {name.lower() for name, _ in headers}
    for pair in _SECURE:
        if pair[0] not in there:
            headers.append(pair)
    if b"cache-control" not in there and path.startswith(API):
        headers.append(_NO_STORE)
    headers.append((b"x-request-id", id.encode()))
    if origins:
        headers.append((b"vary", b"Origin"))
        if _may_send(head, origins):
            headers.append((b"access-control-allow-origin", head[b"origin"]))
            headers.append((b"access-control-expose-headers", b"x-request-id, retry-after"))
    return headers
