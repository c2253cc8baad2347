"""Samples of a rule graph to be read by a person: entities, relations and merges, each with the text it comes from.

    python benchmarks/graph_reading.py CORPUS [CORPUS…] [--sample 100] [--seed 1] [--what entities,relations,merges]

CORPUS is a file or a folder of documents. The graph is made of all of them by rules alone, without vectors; the same
seed gives the same sample of the same graph. Relations are sampled twice: all of them, and those that have a predicate
of their own (`stated`). With `--marks FILE`, a line `entities 1100111…` a sample, the shares are printed with their
intervals (Wilson, 95 %): 1 right, 0 wrong, anything else left out.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from graph_quality import FIELDS, no_embedder

from ragways.corpus.source import LoadOptions
from ragways.index.build import build
from ragways.index.open import Index
from ragways.index.recipe import Recipe
from ragways.layers.protocols import UNSTATED

AROUND = 140
"""Characters of text shown on either side of a name."""
T = TypeVar("T")
WHAT = ("entities", "relations", "stated", "merges")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="*")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", default=",".join(WHAT))
    parser.add_argument("--marks", type=Path, help="verdicts of a reader, to be counted")
    options = parser.parse_args()
    if options.marks:
        print(*counted(options.marks.read_text(encoding="utf-8")), sep="\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        recipe = Recipe(embedder=no_embedder, layers=frozenset({"graph"}), options=LoadOptions(fields=FIELDS))
        asyncio.run(build(Path(folder) / "index", options.corpus, recipe))
        index = Index.open(Path(folder) / "index")
        reader = Reader(index, options.sample, options.seed)
        print(reader.summary())
        for what in options.what.split(","):
            print(f"\n## {what}\n")
            for number, line in enumerate(getattr(reader, what)(), start=1):
                print(f"{number:3}. {line}")
        index.close()


class Reader:
    """One sample of each kind, by a seed."""

    def __init__(self, index: Index, sample: int, seed: int) -> None:
        self.index, self.graph, self.size, self.seed = index, index.graph, sample, seed

    def summary(self) -> str:
        graph = self.graph
        relations = graph.relations_at(range(graph.counts()["relations"])).values()
        unstated = sum(triplet.predicate in UNSTATED for triplet in relations)
        types = Counter(entity.type for entity in graph.entities(self._ids()).values())
        typed = sum(types.values()) - types[""]
        return (
            f"{graph.counts()}\n{unstated} of {len(relations)} relations say only that two things are named together; "
            f"{typed} of {sum(types.values())} entities have a type: {types.most_common(14)}"
        )

    def entities(self) -> Iterator[str]:
        chosen = self._chosen(self._ids())
        known = self.graph.entities(chosen)
        for entity in (known[id] for id in chosen if known[id].type not in ("date", "quantity")):
            aliases = f" also {', '.join(entity.aliases[:4])}" if entity.aliases else ""
            chunk = next((id for id, _ in self.graph.mentions([entity.id], 1)), "")
            yield f"{entity.name} [{entity.type or '?'}]{aliases}\n     {self._around(chunk, entity.name)}"

    def relations(self) -> Iterator[str]:
        yield from self._relations(stated=False)

    def stated(self) -> Iterator[str]:
        yield from self._relations(stated=True)

    def _relations(self, stated: bool) -> Iterator[str]:
        every = self.graph.relations_at(range(self.graph.counts()["relations"]))
        numbers = [n for n, triplet in every.items() if not stated or triplet.predicate not in UNSTATED]
        for triplet in (every[n] for n in self._chosen(numbers)):
            said = " ".join(triplet.description.split())[:400]
            yield f"{triplet.subject_name} — {triplet.predicate} — {triplet.object_name} ({triplet.way})\n     {said}"

    def merges(self) -> Iterator[str]:
        """Merges that a rule decided; two spellings that are compared as one (`same name`) are left out."""
        found = [merge for merge in self.graph.merges() if merge[3] != "same name"]
        for id, name, into, reason, documents in self._chosen(found):
            chunks = [chunk for chunk, _ in self.graph.mentions([id], 400)]
            shown = next((text for chunk in chunks if name in (text := self._around(chunk, name))), "")
            yield f"{name} → {into} ({reason}, {documents})\n     {shown}"

    def _ids(self) -> list[str]:
        return [self.graph.entity_at(number) for number in range(self.graph.counts()["entities"])]

    def _chosen(self, rows: Sequence[T]) -> list[T]:
        return random.Random(self.seed).sample(sorted(rows, key=repr), min(self.size, len(rows)))

    def _around(self, chunk: str, name: str) -> str:
        pieces = self.index.pieces([chunk]).values()
        text = next((f"{piece.title} || {piece.text}" for piece in pieces), "")
        at = max(0, text.find(name, text.find("||")))
        return " ".join(text[max(0, at - AROUND) : at + len(name) + AROUND].split())


def counted(marks: str) -> Iterator[str]:
    """Shares of right ones with their intervals."""
    for line in marks.splitlines():
        what, _, verdicts = line.partition(" ")
        right, n = verdicts.count("1"), verdicts.count("1") + verdicts.count("0")
        if n:
            low, high = wilson(right, n)
            yield f"{what} {right} of {n}: {100 * right / n:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    middle = (right + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(right * (n - right) / n + z * z / 4)
    return middle - half, middle + half


if __name__ == "__main__":
    main()
