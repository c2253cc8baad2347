"""The connection to Ray: to a cluster that runs, or to one that is started on this machine."""

from __future__ import annotations

import logging
import socket
from typing import Any

from ragways.core.errors import MissingPart, UsageError
from ragways.core.runtime import no_telemetry

WAIT = 5.0
"""Seconds that an address may take to answer at all."""
NAMESPACE = "ragways"


def connected(address: str = "") -> Any:  # noqa: ANN401 - the module of a package that need not be installed
    """Ray, connected to the cluster at `address` (`host:port`, `ray://host:port`, `auto`); without one, to a cluster
    that is started on this machine. A process keeps the first connection it made.
    """
    no_telemetry()
    try:
        import ray
    except ImportError:
        raise MissingPart("Ray is not installed", "pip install 'ragways[ray]', or leave --engine ray out") from None
    if ray.is_initialized():
        return ray
    _check_answers(address)
    try:
        ray.init(
            address=address or "local",
            namespace=NAMESPACE,
            logging_level=logging.ERROR,
            log_to_driver=False,
            **({} if address else {"include_dashboard": False}),
        )
    except (Exception, SystemExit) as error:  # Ray raises what its parts do, and ends the process where one is missing
        said = " ".join(str(error).split())[:200] or type(error).__name__
        what = f"no Ray cluster could be joined at {address}" if address else "Ray does not start on this machine"
        raise UsageError(f"{what} ({said})", _CURE) from error
    return ray


_CURE = "start one with: ray start --head, name it with --address HOST:PORT, or leave --address out"


def _check_answers(address: str) -> None:
    """Ray itself waits for minutes where nobody answers, and then ends the process."""
    host, found, port = address.removeprefix("ray://").rpartition(":")
    if not found:
        return
    if not port.isdecimal():
        raise UsageError(f"{address!r} is no address of a Ray cluster", _CURE)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster answers at {address} ({error})", _CURE) from None
