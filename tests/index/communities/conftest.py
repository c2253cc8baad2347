from __future__ import annotations

import pytest

from ragways.index.communities.layer import COMMUNITIES
from ragways.index.graph.layer import GRAPH
from ragways.index.layers import LAYERS


@pytest.fixture(autouse=True)
def _with_communities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAYERS, "graph", GRAPH)
    monkeypatch.setitem(LAYERS, "communities", COMMUNITIES)
