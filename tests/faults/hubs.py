"""An index whose graph has one entity joined to all others, and what it costs to ask about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from ragways.index.build import build
from ragways.index.graph.data import DocumentGraph, EntityShare
from ragways.index.graph.facts import Relation
from ragways.index.graph.graph_tables import GraphTables
from ragways.index.graph.names import fold
from ragways.index.layer import BuildContext
from ragways.index.reader import Index
from ragways.index.store import number_of
from ragways.models.client import ModelClient
from ragways.pictures.neighbourhood import neighbourhood
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from tests.fakes import WordHashes, recipe, write
from tests.index.graph.graph_data import laid_down

HUB = "Hub Town"
QUESTION = "Who lives in Hub Town near Person 77?"
LAYERS = frozenset({"vectors", "words", "graph"})


def hub_documents(edges: int, chunks: list[str]) -> Iterator[DocumentGraph]:
    """A hub and its neighbours, told of by documents of a chunk each; every tenth is joined to the next as well."""
    names = [HUB, *(f"Person {number}" for number in range(1, edges + 1))]
    keys = [(fold(name), "") for name in names]
    pairs = [(0, number) for number in range(1, edges + 1)]
    pairs += zip(range(1, edges + 1, 10), range(2, edges + 1, 10), strict=False)
    for place, chunk in enumerate(sorted(chunks, key=number_of)):
        statements = [
            (
                keys[left], "knows", keys[right],
                Relation(names[left], "knows", names[right], f"{names[left]} knows {names[right]}.", 1.0 + number % 7),
                chunk, "rules",
            )
            for number, (left, right) in list(enumerate(pairs))[place :: len(chunks)]
        ]  # fmt: skip
        ends = {key for subject, _, object, *_ in statements for key in (subject, object)}
        here = [n for n, key in enumerate(keys) if n == 0 or key in ends]
        yield DocumentGraph(
            number_of(chunk),
            {keys[n]: EntityShare({names[n]: 1}, {}, {}, {"rules": 1}, 1) for n in here},
            ((chunk, {keys[n]: (1, False) for n in here}),),
            tuple(statements),
            {},
        )


def hub_index(home: Path, edges: int, documents: int = 300) -> Path:
    """An index of small documents whose graph has a hub."""
    write(home / "docs", {f"{n}.txt": f"Person {n} lives in {HUB} and knows Person {n + 1}." for n in range(documents)})

    def made(context: BuildContext, _: object) -> GraphTables:
        tables = GraphTables(context.store.db)
        chunks = [id for id, _ in context.store.chunk_rows()]
        documents = hub_documents(edges, chunks)
        tables.fill(laid_down(context.store.db, documents), shown=lambda _: None, common=lambda _: False)
        return tables

    settings = {"graph": {"vectors": "none"}}
    with patch("ragways.index.graph.layer._see_to", made):
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
