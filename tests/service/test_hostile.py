"""Hostile bytes by raw sockets against a real server: smuggling, slow and endless headers, too many connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.gated import raw, served, small

HOST = b"Host: 127.0.0.1\r\n"
QUICK = b"GET /api/v1/quick HTTP/1.1\r\n" + HOST
LAST = QUICK + b"Connection: close\r\n\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    made = small(tmp_path_factory.mktemp("hostile"))
    with served(made.app, made.service.config.limits) as port:
        yield port


def statuses(reply: bytes) -> list[int]:
    return [int(part[:3]) for part in reply.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        b"Content-Length: 4, 4\r\n\r\nabcd",
        b"Content-Length: +4\r\n\r\nabcd",
        b"Content-Length: 0x4\r\n\r\nabcd",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n",
        b"X: a\nContent-Length: 4\x00\r\n\r\nabcd",
        b" folded: x\r\nContent-Length: 4\r\n\r\nabcd",
    ],
    ids=range(15),
)
def test_a_body_whose_end_is_not_clear_is_refused_and_nothing_behind_it_is_read(port: int, head: bytes):
    """What is behind it would be answered with 200."""
    assert statuses(raw(port, b"POST /api/v1/read HTTP/1.1\r\n" + HOST + head + LAST)) == [400]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (QUICK + HOST + b"\r\n", 400),
        (b"GET /api/v1/quick HTTP/1.1\r\n\r\n", 400),
        (b"GET /api/v1/quick HTTP/1.0\r\n\r\n", 400),
        (b"GET http://evil.example/api/v1/quick HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET /api/v1/qu\xffick HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET /api/v1/quick HTTP/9.9\r\n" + HOST + b"\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (
            b"POST /api/v1/read HTTP/1.1\r\n" + HOST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
            415,
        ),
        (b"GET /%00/..%2f..%2fetc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", 404),
        (b"BREW /api/v1/quick HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"TRACE /api/v1/quick HTTP/1.1\r\n" + HOST + b"\r\n", 405),
    ],
    ids=range(11),
)
def test_strange_requests_get_a_plain_no(port: int, request_: bytes, status: int):
    assert statuses(raw(port, request_ + LAST))[0] == status


def test_a_refused_body_is_never_read_as_a_request(port: int):
    hidden = QUICK + b"\r\n"
    head = b"POST /api/v1/read HTTP/1.1\r\n" + HOST + b"Content-Length: 2000\r\n\r\n"
    reply = raw(port, head + hidden * 10, b"x" * (2000 - 10 * len(hidden)) + LAST)
    assert statuses(reply) == [413, 200] or statuses(reply) == [413]
    assert reply.count(b'{"ok":"yes"}') <= 1  # that of LAST, which is a request of its own


def test_requests_one_after_the_other_are_answered_each(port: int):
    assert statuses(raw(port, QUICK + b"\r\n" + QUICK + b"\r\n" + LAST)) == [200, 200, 200]


def test_an_upgrade_is_not_taken(port: int):
    reply = raw(port, QUICK + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n", end=True)
    assert 101 not in statuses(reply)


def test_headers_without_end_are_cut_off(port: int):
    pieces = [QUICK, *(b"X-%d: %s\r\n" % (number, b"a" * 8000) for number in range(40))]
    assert statuses(raw(port, *pieces)) in ([431], [])  # the reply is lost where the client is still sending


def test_a_header_that_comes_too_slowly_and_a_silent_connection_are_closed(tmp_path: Path):
    made = small(tmp_path, header_seconds=0.2)
    with served(made.app, made.service.config.limits) as port:
        assert statuses(raw(port, QUICK)) == [408]
        assert statuses(raw(port)) == [408]
        assert statuses(raw(port, LAST)) == [200]
        # the timer of the first request does not end the second, nor a reply under way
        assert statuses(raw(port, QUICK + b"\r\n" + QUICK[:10])) == [200, 408]


def test_a_body_that_stops_is_not_waited_for(tmp_path: Path):
    made = small(tmp_path, body_seconds=0.2)
    with served(made.app, made.service.config.limits) as port:
        head = b"POST /api/v1/read HTTP/1.1\r\n" + HOST
        assert statuses(raw(port, head + b"Content-Length: 100\r\n\r\nabc")) == [408]
        assert statuses(raw(port, head + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")) == [408]


def test_a_chunked_body_over_its_bound_is_refused(port: int):
    head = b"POST /api/v1/read HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    chunk = b"200\r\n" + b"x" * 512 + b"\r\n"
    assert statuses(raw(port, head + chunk * 3 + b"0\r\n\r\n")) == [413]
    assert statuses(raw(port, head + chunk + b"0\r\n\r\n")) == [200]


def test_more_connections_than_can_be_held_are_refused_and_the_others_go_on(tmp_path: Path):
    made = small(tmp_path)
    with served(made.app, made.service.config.limits, most=5) as port:
        held = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(5)]
        try:
            for connection in held:  # each is known to the server once it has answered
                connection.sendall(QUICK + b"\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
            assert statuses(raw(port)) == [503]
        finally:
            for connection in held:
                connection.close()
