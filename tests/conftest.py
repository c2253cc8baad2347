from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ragways.settings import limit_threads

limit_threads()

# The machine may be busy: how long an example takes says nothing about the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

from tests.no_network import no_network  # noqa: E402, F401 - guards every test


@pytest.fixture(autouse=True)
def _plain_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the machine that runs the tests reaches them; above all, no key."""
    for name in list(os.environ):
        if name.startswith("RAGWAYS_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def cache_folder() -> Path:
    """The offline model, built once and kept between runs."""
    folder = Path(__file__).parent.parent / ".cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def demo_corpus() -> Iterator[Path]:
    from importlib import resources

    with resources.as_file(resources.files("ragways") / "demo") as folder:
        yield folder
