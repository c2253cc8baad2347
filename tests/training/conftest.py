from __future__ import annotations

from tests.retrieval.conftest import demo_settings  # noqa: F401 - a fixture
