"""An index whose graph has one entity joined to all others, and what it costs to ask about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from ragways.index.build import build
from ragways.index.open import Index
from ragways.layers.graph.layer import GraphLayer
from ragways.layers.graph.names import fold, hash_of
from ragways.layers.layer import Use
from ragways.models.client import ModelClient
from ragways.pictures.neighbourhood import neighbourhood
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from ragways.store.source import Source
from ragways.store.store import Facts
from tests.fakes import WordHashes, recipe, write

HUB = "Hub Town"
QUESTION = "Who lives in Hub Town near Person 77?"
LAYERS = frozenset({"vectors", "words", "graph"})


def hub_facts(edges: int, documents: Sequence[Source]) -> Iterator[Facts]:
    """A hub and its neighbours, a part in each document; every tenth is joined to the next as well."""
    names = [HUB, *(f"Person {number}" for number in range(1, edges + 1))]
    pairs = [(0, number) for number in range(1, edges + 1)]
    pairs += zip(range(1, edges + 1, 10), range(2, edges + 1, 10), strict=False)
    numbered = list(enumerate(pairs))
    for place in range(len(documents)):
        here = numbered[place :: len(documents)]
        ends = sorted({0} | {end for _, pair in here for end in pair})
        yield {
            "mentions": [
                (0, fold(names[n]), hash_of(fold(names[n])), "", "", names[n], "", 1, "rules") for n in ends
            ],
            "relations": [
                (0, fold(names[one]), "", "knows", fold(names[other]), "", 1_000_000 * (1 + number % 7), "", -1, 0,
                 f"{names[one]} knows {names[other]}.", "rules")
                for number, (one, other) in here
            ],
        }  # fmt: skip


def hub_index(home: Path, edges: int, documents: int = 300) -> Path:
    """An index of small documents whose graph has a hub."""
    write(home / "docs", {f"{n}.txt": f"Person {n} lives in {HUB} and knows Person {n + 1}." for n in range(documents)})

    async def extract(_: GraphLayer, sources: Sequence[Source], use: Use) -> list[Facts | None]:
        return [*hub_facts(edges, sources)]

    with patch.object(GraphLayer, "extract", extract):
        asyncio.run(build(home / "index", [home / "docs"], recipe(layers=LAYERS)))
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
