"""HTTP to public addresses only: what `--url` reads with.

A page that is indexed may redirect to anywhere, and a name may lead to this machine or its network. So every request
looks its host up, refuses addresses that are not public, and connects to the address that was checked: a second look-up
could give another one. The host's name stays in the Host header and in TLS. Proxies of the environment are not used.
"""

from __future__ import annotations

import ipaddress
import socket
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urljoin, urlsplit

import httpx2

from ragways.core.errors import LoadError

USER_AGENT = "ragways (indexes pages that its user names; respects robots.txt)"
_REDIRECTS = 5
_ADDRESSES = 4
"""Of a host that are tried, one after the other."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SPECIAL = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "fec0::/10", "3fff::/20"))
)
"""Taken for public by some versions of Python, or public by the register, and yet what a cloud has for its machines."""
Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response. `url` is where redirects led; a status of 304 has no data."""

    url: str
    status: int
    headers: Mapping[str, str]
    data: bytes


def look_up(host: str, port: int) -> list[str]:
    """Every address of a host."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def check_url(url: str) -> str:
    """The URL without its fragment. Raises LoadError where it is no http(s) address or holds a password."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isprintable()
    except ValueError:  # brackets or a port that are none
        known = False
    if not known:
        raise LoadError(
            f"{url[:300]!r} is no http or https address", "give an address such as https://example.org/docs/"
        )
    if parts.username is not None or parts.password is not None:
        raise LoadError(f"the address of {parts.hostname} holds a name or a password", "leave it out of the address")
    return parts._replace(fragment="", path=parts.path or "/").geturl()


def is_public(address: str) -> bool:
    """Whether this is an address of the internet, and not one that only wraps another that is not."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    if any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


class _PinnedTransport(httpx2.HTTPTransport):
    """Connects to an address that was checked. No connection is used twice: hosts may share an address."""

    def __init__(self, allowed: frozenset[str], resolve: Resolve) -> None:
        super().__init__(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
        self._allowed = allowed
        self._resolve = resolve

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        *others, last = self._checked(host, request.url.port or (443 if request.url.scheme == "https" else 80))
        for address in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return super().handle_request(_pinned(request, host, address))
        return super().handle_request(_pinned(request, host, last))

    def _checked(self, host: str, port: int) -> list[str]:
        """Addresses of a host, the first few of them, if every one may be connected to."""
        try:
            addresses = self._resolve(host, port)
        except (OSError, UnicodeError) as error:  # the latter for a name that no host can have
            raise LoadError(f"{host} cannot be found", "check the address and the network") from error
        for address in addresses:
            if host not in self._allowed and not is_public(address):
                which = "" if host == address else f" leads to {address}, which"
                raise LoadError(f"{host}{which} is no public address", f"if that is meant: --allow-private {host}")
        return addresses[:_ADDRESSES]


def _pinned(request: httpx2.Request, host: str, address: str) -> httpx2.Request:
    """The request to one address of its host, whose name stays in the Host header and in TLS."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


class PublicClient:
    """Fetches one page after the other. Close it at the end."""

    def __init__(
        self, *, allowed: frozenset[str] = frozenset(), timeout: float = 30.0, resolve: Resolve = look_up
    ) -> None:
        self._timeout = timeout
        self._client = httpx2.Client(
            transport=_PinnedTransport(frozenset(map(str.lower, allowed)), resolve),
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
            headers={"user-agent": USER_AGENT, "accept-encoding": "identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # stores none
        )

    def close(self) -> None:
        self._client.close()

    def get(self, url: str, limit: int, headers: Mapping[str, str] | None = None) -> Fetched:
        """The page at this address, of at most so many bytes, after redirects on its own site."""
        start = url = check_url(url)
        try:
            for _ in range(_REDIRECTS + 1):
                with self._client.stream("GET", url, headers=dict(headers or {})) as response:
                    if response.status_code not in (301, 302, 303, 307, 308):
                        return Fetched(url, response.status_code, response.headers, self._body(response, limit))
                    url = _redirected(start, url, response.headers.get("location", ""))
        except httpx2.TimeoutException as error:
            raise LoadError(f"does not answer within {self._timeout:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise LoadError(f"cannot be read ({type(error).__name__}: {str(error)[:200]})") from error
        raise LoadError(f"redirects more than {_REDIRECTS} times")

    def _body(self, response: httpx2.Response, limit: int) -> bytes:
        """Raw bytes, so that what unpacks to more than the limit is never unpacked whole."""
        data, ends = bytearray(), time.monotonic() + self._timeout
        for chunk in response.iter_raw():
            data += chunk
            if len(data) > limit:
                raise LoadError(f"is larger than {limit:,} bytes")
            if time.monotonic() > ends:
                raise LoadError(f"does not come whole within {self._timeout:g} s")
        coding = response.headers.get("content-encoding", "identity").lower()
        if coding in ("gzip", "x-gzip"):
            return unpacked(bytes(data), limit)
        if coding not in ("identity", ""):
            raise LoadError(f"is packed as {coding[:20]}, which was not requested")
        return bytes(data)


def unpacked(data: bytes, limit: int) -> bytes:
    """What gzip packed, if that is no more than the limit."""
    try:
        whole = zlib.decompressobj(wbits=31).decompress(data, limit + 1)
    except zlib.error as error:
        raise LoadError("is damaged: it is no gzip") from error
    if len(whole) > limit:
        raise LoadError(f"unpacks to more than {limit:,} bytes")
    return whole


def _redirected(start: str, url: str, location: str) -> str:
    """Where a redirect leads, if that is the same site, no other port of it, and no step from https to http."""
    try:
        target = check_url(urljoin(url, location))
    except ValueError as error:
        raise LoadError("redirects to no address that can be read") from error
    before, after = urlsplit(start), urlsplit(target)
    same = (before.hostname or "").removeprefix("www.") == (after.hostname or "").removeprefix("www.")
    same = same and after.port in (before.port, None, 443 if after.scheme == "https" else 80)
    if not same or (before.scheme, after.scheme) == ("https", "http"):
        raise LoadError(f"redirects to {target[:300]}", "if that is meant, give that address as --url")
    return target
