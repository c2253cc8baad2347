"""An index whose graph has one entity joined to all others, and what it costs to ask about it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from unittest.mock import patch

from ragways.core.types import content_hash
from ragways.index.build import build
from ragways.index.graph.data import EntityRow, GraphData, MentionRow, RelationRow
from ragways.index.layer import BuildContext
from ragways.index.reader import Index
from ragways.models.client import ModelClient
from ragways.pictures.neighbourhood import neighbourhood
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from tests.fakes import WordHashes, recipe, write

HUB = "Hub Town"
QUESTION = "Who lives in Hub Town near Person 77?"
LAYERS = frozenset({"vectors", "words", "graph"})


def hub_graph(edges: int, chunks: list[str]) -> GraphData:
    """A hub and its neighbours; every tenth is joined to the next one as well."""
    ids = sorted(f"entity:{content_hash(str(number))[:16]}" for number in range(edges + 1))
    names = {ids[0]: HUB, **{id: f"Person {number}" for number, id in enumerate(ids[1:], start=1)}}
    pairs = [(ids[0], id) for id in ids[1:]] + list(zip(ids[1::10], ids[2::10], strict=False))
    relations = (
        RelationRow(
            f"relation:{content_hash(left, right)[:16]}", left, "knows", right,
            f"{names[left]} knows {names[right]}.", 1.0 + number % 7, "", "rules", (chunks[number % len(chunks)],),
        )
        for number, (left, right) in enumerate(pairs)
    )  # fmt: skip
    return GraphData(
        tuple(EntityRow(id, names[id], "", "", (), 1, "rules") for id in ids),
        tuple(sorted(relations, key=lambda relation: relation.id)),
        tuple(sorted(
            [MentionRow(ids[0], chunk, 1, False) for chunk in chunks]
            + [MentionRow(id, chunks[number % len(chunks)], 1, False) for number, id in enumerate(ids[1:])],
            key=lambda mention: (mention.entity, mention.chunk),
        )),
        (), tuple(chunks), frozenset(), frozenset(),
    )  # fmt: skip


def hub_index(home: Path, edges: int, documents: int = 300) -> Path:
    """An index of small documents whose graph has a hub."""
    write(home / "docs", {f"{n}.txt": f"Person {n} lives in {HUB} and knows Person {n + 1}." for n in range(documents)})

    def made(context: BuildContext, _: object) -> GraphData:
        return hub_graph(edges, [id for id, _ in context.store.chunk_rows()])

    settings = {"graph": {"vectors": "none"}}
    with patch("ragways.index.graph.layer._graph", made):
        asyncio.run(build(home / "index", [home / "docs"], recipe(settings=settings, layers=LAYERS)))
    return home / "index"


def first_question(folder: Path, paradigm: str) -> float:
    """CPU seconds of opening an index and asking it once."""
    started = time.process_time()
    use = Resources(Index.open(folder), WordHashes(), ModelClient(None))
    asyncio.run(ask(use, QUESTION, paradigm))
    use.index.close()
    return time.process_time() - started


def more_questions(folder: Path, paradigm: str, count: int) -> list[float]:
    """CPU seconds of each further question about the hub, once the index is open."""
    use = Resources(Index.open(folder), WordHashes(), ModelClient(None))
    took = []
    for number in range(count + 1):
        started = time.process_time()
        asyncio.run(ask(use, f"Who lives in {HUB} near Person {77 + 13 * number}?", paradigm))
        took.append(time.process_time() - started)
    use.index.close()
    return took[1:]


def picture(folder: Path) -> float:
    """CPU seconds of opening an index and drawing the hub's neighbourhood."""
    started = time.process_time()
    index = Index.open(folder)
    neighbourhood(index, HUB, hops=1).page()
    index.close()
    return time.process_time() - started


def asked_paradigms() -> list[str]:
    return [name for name, paradigm in PARADIGMS.items() if "graph" in paradigm.needs and paradigm.needs <= LAYERS]
