"""What a server is to be: where its data lies, what it listens on, and the bounds of every request."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds. Bytes of a body and of an uploaded file, files of a collection; seconds of a request that works, of a
    body and of a header to arrive; requests that work at once, that wait for a worker, and that one key may have under
    way; `budget` is what a request may spend, in USD, where its key has a budget and it names none itself.
    """

    body: int = 1 << 20
    upload: int = 256 << 20
    files: int = 10_000
    seconds: float = 120.0
    body_seconds: float = 30.0
    header_seconds: float = 10.0
    at_once: int = 64
    waiting: int = 256
    per_key: int = 16
    budget: float = 0.10


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """`data` is the folder of the service's own; `indexes` are folders of others' that are served read-only.

    `hosts` are names that requests may be addressed to besides loopback and `host`; `origins` are pages of other sites
    that may send requests (none, unless set).
    """

    data: Path
    settings: Settings
    indexes: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8080
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    workers: int = 2
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        return self.host in LOOPBACK


def config_of(
    settings: Settings,
    *,
    data: Path | None = None,
    indexes: tuple[Path, ...] = (),
    host: str | None = None,
    port: int | None = None,
) -> ServiceConfig:
    """What the settings say, with what the command says over it."""
    import os

    chosen = settings.serve
    return ServiceConfig(
        data=data or chosen.data,
        settings=settings,
        indexes=indexes,
        host=host or chosen.host,
        port=chosen.port if port is None else port,
        origins=chosen.origins,
        hosts=chosen.hosts,
        workers=chosen.workers or max(1, min(os.cpu_count() or 1, 8)),
        jobs=chosen.jobs,
        limits=Limits(
            upload=chosen.upload_mb << 20,
            files=chosen.files,
            seconds=chosen.seconds,
            at_once=chosen.at_once,
            per_key=chosen.per_key,
            budget=chosen.budget,
        ),
    )


class KnownHosts:
    """The hosts that requests may be addressed to: a page elsewhere can turn its own name into our address (DNS
    rebinding), but it is known by that name.
    """

    def __init__(self, config: ServiceConfig) -> None:
        bound = config.host.lower()
        names = (bound if ":" not in bound else f"[{bound}]", *map(str.lower, config.hosts))
        anything = {"0.0.0.0", "::", "[::]", ""}  # noqa: S104 - compared with, not bound to
        self._names = {"localhost", "127.0.0.1", "[::1]"} | {name for name in names if name not in anything}
        self._any_address = not config.is_local

    def knows(self, host: str) -> bool:
        """Whether requests may be addressed to this host, with or without a port."""
        if host.startswith("["):
            name, bracket, port = host.partition("]")
            name, port = name + bracket, port.removeprefix(":")
        else:
            name, _, port = host.partition(":")
        if port and not port.isdecimal():
            return False
        return name.lower() in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def check_place(config: ServiceConfig, keys: int) -> None:
    """Raise where other machines could ask without a key."""
    if not config.is_local and not keys:
        raise UsageError(
            f"{config.host} is open to other machines, and there is no key yet",
            "make one first: ragways key add NAME --scope read; or leave out --host",
        )
