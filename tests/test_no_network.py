import socket

import pytest

from tests.no_network import NetworkBlocked, no_network  # noqa: F401 - the fixture guards these tests


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("8.8.8.8", 53), ("2001:db8::1", 80)])
def test_other_machines_are_out_of_reach(address):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as plug, pytest.raises(NetworkBlocked):
        plug.connect(address)
    with socket.socket(family) as plug, pytest.raises(NetworkBlocked):
        plug.connect_ex(address)
    with socket.socket(family, socket.SOCK_DGRAM) as plug, pytest.raises(NetworkBlocked):
        plug.sendto(b"", address)
    with pytest.raises(NetworkBlocked):
        socket.create_connection(address, timeout=1)


def test_names_are_not_looked_up():
    with pytest.raises(NetworkBlocked):
        socket.getaddrinfo("example.org", 80)


def test_this_machine_is_within_reach():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()[:2], timeout=5):
            pass
        assert socket.getaddrinfo("localhost", 80)
