"""Small corpora whose communities can be told by eye, and what every test of the layer does with them."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import astuple
from pathlib import Path
from typing import Any

from ragways.index.build import build
from ragways.index.communities.reader import Communities
from ragways.index.update import Summary
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe

LAYERS_USED = frozenset({"vectors", "graph", "communities"})

HARBOUR = {
    "tamsett.md": "# Orla Tamsett\n\nOrla Tamsett built the Skerry Light with Bram Oldcastle. "
    "Orla Tamsett was born in Kelder Bay. Bram Oldcastle mapped Kelder Bay for the Harbour Guild.",
    "guild.md": "# Harbour Guild\n\nThe Harbour Guild paid Orla Tamsett for the Skerry Light. "
    "Bram Oldcastle led the Harbour Guild from Kelder Bay. The Skerry Light stands over Kelder Bay.",
    "light.md": "# Skerry Light\n\nThe Skerry Light was lit by Orla Tamsett and Bram Oldcastle. "
    "The Harbour Guild keeps the Skerry Light.",
}
ORCHARD = {
    "venn.md": "# Maud Venn\n\nMaud Venn planted the Quillon Orchard with Piers Hallow. "
    "Piers Hallow sold cider to the Vale Market. Maud Venn bought the Vale Market.",
    "market.md": "# Vale Market\n\nThe Vale Market buys from the Quillon Orchard. "
    "Piers Hallow and Maud Venn met at the Vale Market.",
}
FAR = {
    "comet.md": "# Comet Ysolde\n\nComet Ysolde was seen by Tycho Marn from Mount Ferrin. "
    "Tycho Marn wrote to the Star Society about Comet Ysolde. The Star Society met on Mount Ferrin.",
}
EASY: dict[str, Any] = {"members": 3, "text": 0}


def run(
    folder: Path, corpus: Path, model: Any = None, embedder: WordHashes | None = None, **communities: Any
) -> Summary:
    from ragways.models.client import ModelClient

    settings = {"graph": {"vectors": "shared"}, "communities": {**EASY, **communities}}
    client = model if isinstance(model, ModelClient) else ModelClient(model)
    chosen = recipe(embedder, layers=LAYERS_USED, settings=settings, model=lambda _: client)
    return asyncio.run(build(folder, [corpus], chosen))


class Opened(Communities):
    """The communities of an index, with a connection of their own."""

    def __init__(self, folder: Path) -> None:
        db = sqlite3.connect(folder / "index.sqlite")
        known = db.execute("SELECT value FROM meta WHERE key = 'dimension'").fetchone()
        super().__init__(db, int(known[0]) if known else 0)

    def close(self) -> None:
        self._db.close()


def opened(folder: Path) -> Opened:
    return Opened(folder)


def held(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that readers see of the layer."""
    read = opened(folder)
    communities = [community for level in read.levels() for community in read.of_level(level)]
    rows: dict[str, list[tuple[object, ...]]] = {
        "communities": sorted({astuple(community) for community in communities}),
        "members": sorted({(c.id, *read.members(c.id)) for c in communities}),
        "reports": sorted((id, repr(report)) for id, report in read.reports([c.id for c in communities]).items()),
    }
    vectors = read.vectors
    assert vectors is not None
    rows["vectors"] = [(id, vectors.matrix[n].tobytes()) for n, id in enumerate(vectors.ids)]
    read.close()
    return rows


class Reporter(ScriptedModel):
    """Writes a report for every call, however many there are; what it says differs by what it was shown."""

    def __init__(self, fail: int = 0) -> None:
        super().__init__([])
        self.fail = fail

    async def send(self, call: Any) -> Any:
        self.calls.append(call)
        if len(self.calls) <= self.fail:
            return self._say("no report today", call)
        shown = call.messages[-1].content
        first = shown.split("Entities:\n", 1)[1].split("\n", 1)[0]
        name = first.split(" (")[0].split(":")[0]
        finding = {"text": f"{name} matters.", "rating": 4, "entities": [name, "Nobody"]}
        more = {"text": f"{name} matters most.", "rating": 9, "entities": [name]}
        said = {
            "title": f"About {name}",
            "summary": f"A group around {name}.",
            "rating": 7,
            "findings": [finding, more],
        }
        return self._say(said, call)
