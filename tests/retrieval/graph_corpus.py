"""A small corpus with names and dates, indexed with the graph: what the graph's paradigms are tested on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragways.core.trace import Span, span
from ragways.core.types import Answer, Query
from ragways.index.build import build
from ragways.index.open import Index
from ragways.layers.protocols import Triplet
from ragways.models.client import ModelClient
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write

TEXTS = {
    "ness-light.md": "# Ness Light\n\nThe Ness Light was designed by Ada Holm in 1801. It stands on Gull Rock near the "
    "harbour of Ness. The Ness Light was rebuilt by Bertil Oakes in 1884.",
    "ada-holm.md": "# Ada Holm\n\nAda Holm was an engineer. Ada Holm was born in Port Averne in 1770. In 1799 Ada Holm "
    "married Corwin Larch.",
    "bertil-oakes.md": "# Bertil Oakes\n\nBertil Oakes was a mason from Skelwick. Bertil Oakes built the Osker Viaduct "
    "in 1875 and rebuilt the Ness Light in 1884.",
    "gull-rock.md": "# Gull Rock\n\nGull Rock is an islet off Ness. In 1883 the Great Gale broke the tower on "
    "Gull Rock.",
    "great-gale.md": "# Great Gale\n\nThe Great Gale of 1883 sank the brig Grey Petrel off Gull Rock. Bertil Oakes "
    "surveyed the damage in Ness.",
    "port-averne.md": "# Port Averne\n\nPort Averne is a town on Tollen. Corwin Larch was mayor of Port Averne from "
    "1802.",
    "osker-viaduct.md": "# Osker Viaduct\n\nThe Osker Viaduct carries the railway over the River Osker. It was opened "
    "in 1875 by Thea Brandell.",
    "market.md": "# Market\n\nHerring is sold on the quay of Skelwick. Cod is dear in winter.",
}
HOPS = "In which town was the designer of the Ness Light born?"
TWO = "What joins Bertil Oakes and the Ness Light?"
WHEN = "When did Bertil Oakes work on the Ness Light?"


GRAPH_LAYERS = frozenset({"vectors", "words", "graph"})


def indexed(
    folder: Path,
    texts: dict[str, str] = TEXTS,
    layers: frozenset[str] = GRAPH_LAYERS,
    communities: dict[str, Any] | None = None,
    **graph: Any,
) -> Path:
    """An index of these texts, with vectors of all entities unless the settings say otherwise."""
    settings = {"graph": {"vectors": "all", **graph}, "communities": communities or {}}
    corpus = write(folder / "corpus", texts)
    asyncio.run(build(folder / "index", [corpus], recipe(WordHashes(), layers=layers, settings=settings)))
    return folder / "index"


def resources(index: Index, script: Iterable[object] | None = None) -> Resources:
    """Without a script, without a model. Threshold 0: with vectors of hashed words, more would only test hashes."""
    return Resources(index, WordHashes(), ModelClient(None if script is None else ScriptedModel(script)), threshold=0.0)


def asked(use: Resources, paradigm: Paradigm, question: str, **settings: Any) -> tuple[Answer, Span]:
    async def run() -> tuple[Answer, Span]:
        with span("test") as trace:
            answer = await paradigm.strategy(use, settings)(Query(question))
        return answer, trace

    answer, trace = asyncio.run(run())
    if isinstance(use.model.model, ScriptedModel):
        use.model.model.close()
    return answer, trace


def prompts(use: Resources) -> list[str]:
    """What the scripted model was told, call by call."""
    assert isinstance(use.model.model, ScriptedModel)
    return [call.messages[-1].content for call in use.model.model.calls]


def step(trace: Span, name: str) -> Span:
    return next(each for each in trace.walk() if each.name == name)


def ids(answer: Answer, kind: str = "") -> list[str]:
    """Ids of the evidence; of one kind, or of entities, which are shown as triplets."""
    pieces = [hit.piece for hit in answer.evidence.items]
    if kind == "entity":
        return [piece.id for piece in pieces if piece.id.startswith("entity:")]
    return [p.id for p in pieces if kind in ("", p.kind) and (kind != "triplet" or p.id.startswith("relation:"))]


def every_entity(index: Index) -> list[str]:
    return [index.graph.entity_at(number) for number in range(index.graph.counts()["entities"])]


def mentions(index: Index) -> set[tuple[str, str]]:
    """All entities with the chunks that name them."""
    return {(id, chunk) for id in every_entity(index) for chunk, _ in index.graph.mentions([id])}


def relations(index: Index) -> list[Triplet]:
    """All relations, by id."""
    rows = index.graph.relations_at(range(index.graph.counts()["relations"])).values()
    return sorted(rows, key=lambda row: row.id)


def stated(index: Index) -> dict[str, list[str]]:
    """The chunks of every relation."""
    return index.graph.relation_chunks([row.id for row in relations(index)])


def similarities(index: Index, names: Iterable[str]) -> dict[str, float]:
    """Of every entity, its best cosine to any of the names; 1 where it is called so."""
    wanted, best = list(names), dict[str, float]()
    for vector in asyncio.run(WordHashes().embed(wanted)):
        for id, cosine in index.graph.cosines(vector, every_entity(index)).items():
            best[id] = max(cosine, best.get(id, -1.0))
    for name in wanted:
        best |= dict.fromkeys(index.graph.named(name), 1.0)
    return best


def falls(answer: Answer) -> None:
    """Best first, equals by id, each with a reason, no piece twice, and exact tokens."""
    hits = answer.evidence.hits.items
    order = [(-hit.score, hit.piece.id) for hit in hits]
    assert order == sorted(order)
    assert len({hit.piece.id for hit in hits}) == len(hits)
    assert all(hit.found for hit in hits)
    assert answer.evidence.items == hits[: len(answer.evidence.items)]
    assert answer.evidence.tokens == sum(hit.piece.tokens for hit in answer.evidence.items)
