"""Small corpora whose communities can be told by eye, and what every test of the layer does with them."""

from __future__ import annotations

import asyncio
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

    settings = {"graph": {}, "communities": {**EASY, **communities}}
    client = model if isinstance(model, ModelClient) else ModelClient(model)
    chosen = recipe(embedder, layers=LAYERS_USED, settings=settings, model=lambda _: client)
    return asyncio.run(build(folder, [corpus], chosen))


def opened(folder: Path) -> Communities:
    generation = max(int(path.name) for path in (folder / "derived").iterdir() if path.name.isdigit())
    return Communities.open(folder / "derived" / str(generation))


def held(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows and vectors of the layer."""
    read = opened(folder)
    rows = {
        table: sorted(read._rows(f"SELECT * FROM {table}"), key=repr)
        for table in ("communities", "members", "findings")
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
