"""No test can reach anything but this machine: `tests/conftest.py` imports the fixture, which guards every test."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import pytest


class NetworkBlocked(AssertionError):
    """A test tried to reach another machine."""


def is_allowed(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a socket file of this machine
    return is_here(address[0])


def is_here(host: object) -> bool:
    if host is None:
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return text in ("localhost", "")


def guarded_call(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: socket.socket, *arguments: Any) -> Any:
        address = arguments[-1]  # connect(address), connect_ex(address), sendto(data, [flags,] address)
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_allowed(address):
            raise NetworkBlocked(f"a test tried to {name} to {address!r}")
        return real(self, *arguments)

    return call


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, guarded_call(name, getattr(socket.socket, name)))
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **named: Any) -> Any:
        if not is_here(host):
            raise NetworkBlocked(f"a test tried to look up {host!r}")
        return look_up(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
