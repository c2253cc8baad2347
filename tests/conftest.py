from __future__ import annotations

import gc
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from ragways.core.runtime import limit_threads
from ragways.store import database

limit_threads()

# The machine may be busy: how long an example takes says nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

from tests.apps.browser import BROWSER, MISSING  # noqa: E402
from tests.encoded_once import encoded_once  # noqa: E402, F401 - spares every test
from tests.no_network import no_network  # noqa: E402, F401 - guards every test


def pytest_configure(config: pytest.Config) -> None:
    """Where all tests must run (`.ci/run`), a missing browser is an error and not a reason to skip."""
    if BROWSER is None and os.environ.get("TEST_BROWSER") == "required":
        raise pytest.UsageError(MISSING)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not look through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not run, and how to have it run: a line for each reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"{count} {'test' if count == 1 else 'tests'} skipped: {reason}")


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """A power cut would end the tests as well, so nothing in this process waits until the disk holds it: that takes as
    long as the rest of building a small index. Processes that tests start are as they are everywhere.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(database, "SYNCHRONOUS", "OFF")
        yield


@pytest.fixture(autouse=True)
def _plain_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the machine that runs the tests reaches them; above all, no key."""
    for name in list(os.environ):
        if name.startswith("RAGWAYS_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-settings-of-a-user"))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that the test starts."""
    processes: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return processes


@pytest.fixture(scope="session")
def cache_folder() -> Path:
    """Built once and stored between runs: an index of the bundled corpus, for one."""
    folder = Path(__file__).parent.parent / ".cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def demo_corpus() -> Iterator[Path]:
    from importlib import resources

    with resources.as_file(resources.files("ragways") / "demo") as folder:
        yield folder
