from __future__ import annotations

from tests.encoded_once import encoded_each_time  # noqa: F401 - a fixture
