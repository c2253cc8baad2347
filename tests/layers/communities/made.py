"""A small index of plain sentences: rows, the graph, and communities folded or made, one generation after another."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragways.core.types import Document, Part, Structure, content_hash, document_number
from ragways.layers.communities.layer import COMMUNITIES
from ragways.layers.communities.read import StoredCommunities
from ragways.layers.graph.layer import GRAPH
from ragways.layers.graph.names import fold, hash_of
from ragways.layers.graph.read import StoredGraph
from ragways.layers.layer import Use
from ragways.layers.settings import CommunitySettings, GraphSettings
from ragways.models.client import ModelClient
from ragways.store.cache import WorkCache
from ragways.store.store import Change, Store
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes

TABLES = ("mentions", "relations", "other_names", "descriptions")
_NAME = re.compile(r"[A-Z]\w+ [A-Z]\w+|\b1[89]\d\d\b")
_TYPED = re.compile(r"([A-Z]\w+ [A-Z]\w+) \((\w+)\)")
_SENTENCE = re.compile(r"[^.]+\.")

HARBOUR = {
    "tamsett": "Orla Tamsett built the Skerry Light with Bram Oldcastle. Orla Tamsett was born in Kelder Bay. "
    "Bram Oldcastle mapped Kelder Bay for the Harbour Guild.",
    "guild": "The Harbour Guild paid Orla Tamsett for the Skerry Light. "
    "Bram Oldcastle led the Harbour Guild from Kelder Bay. The Skerry Light stands over Kelder Bay.",
    "light": "The Skerry Light was lit by Orla Tamsett and Bram Oldcastle. The Harbour Guild keeps the Skerry Light.",
}
ORCHARD = {
    "venn": "Maud Venn planted the Quillon Orchard with Piers Hallow. Piers Hallow sold cider to the Vale Market. "
    "Maud Venn bought the Vale Market.",
    "market": "The Vale Market buys from the Quillon Orchard. Piers Hallow and Maud Venn met at the Vale Market.",
}
FAR = {
    "comet": "Comet Ysolde was seen by Tycho Marn from Mount Ferrin. Tycho Marn wrote to the Star Society about Comet "
    "Ysolde. The Star Society met on Mount Ferrin.",
}


def facts(text: str) -> dict[str, list[tuple[object, ...]]]:
    """Names are two capital words, or years; what stands in a sentence with another one is joined to it. A type stands
    in brackets behind a name.
    """
    types = {fold(name): type for name, type in _TYPED.findall(text)}
    names = [fold(name) for name in _NAME.findall(text)]
    spelled = {fold(name): name for name in _NAME.findall(text)}
    mentions: list[tuple[object, ...]] = [
        (0, name, hash_of(name), kind_of(name), "", spelled[name], types.get(name, ""), names.count(name), "rules")
        for name in dict.fromkeys(names)
    ]
    relations: list[tuple[object, ...]] = [
        (0, fold(one), kind_of(one), "stands_with", fold(other), kind_of(other), 1_000_000, "", at.start(),
         len(at[0]), "", "rules")
        for at in _SENTENCE.finditer(text)
        for one, other in pairwise(_NAME.findall(at[0]))
        if fold(one) != fold(other)
    ]  # fmt: skip
    return {"mentions": mentions, "relations": relations}


def kind_of(name: str) -> str:
    return "date" if name.isdecimal() else ""


class MadeIndex:
    """Documents of one chunk each; `fold` and `make` publish the next generation."""

    def __init__(self, folder: Path, embedder: WordHashes | None = None, **settings: Any) -> None:
        self.folder = folder
        self.store = Store.write(folder)
        self.cache = WorkCache(folder)
        self.embedder: Any = embedder
        self.settings = CommunitySettings(**{"members": 3, "text": 0, **settings})
        self.generation = 0
        if embedder is not None:
            self.store.set_meta({"embedder": embedder.name, "dimension": str(embedder.dimension)})

    def put(self, documents: Mapping[str, str]) -> None:
        with self.store.batch() as batch:
            for key, text in documents.items():
                document = Document(key, key, text, "text")
                section = Part(f"{document.id}:s0", 0, len(text))
                paragraph = Part(f"{document.id}:s0:p0", 0, len(text))
                chunk = Part(f"{document.id}:s0:p0:c0", 0, len(text))
                sentences = [Part(f"{chunk.id}:n{at.start()}", *at.span()) for at in _SENTENCE.finditer(text)]
                structure = Structure(document, (section,), (paragraph,), (chunk,), tuple(sentences))
                batch.put(structure, "made", [len(text.split())], [content_hash(text)])
                batch.put_facts("graph", document_number(key), facts(text), TABLES, "1")

    def remove(self, *keys: str) -> None:
        with self.store.batch() as batch:
            for key in keys:
                batch.remove(document_number(key))

    @property
    def view(self) -> Path:
        return self.folder / "views" / str(self.generation) / "communities"

    def fold(
        self, model: Any = None, *, fresh: bool = False, pays: bool = True, last: bool = True, anew: bool = False
    ) -> Use:
        """The next generation, from that before unless it is made anew."""
        before = None if anew or not self.generation or not self.view.is_dir() else self.generation
        previous = self.view
        self.generation = self.store.generation
        if before != self.generation:
            shutil.rmtree(self.view.parent, ignore_errors=True)
            (self.view.parent / "graph").mkdir(parents=True)
            if before is None:
                self.view.mkdir()
            else:
                shutil.copytree(previous, self.view)
            self.make_graph()
        change = None if before is None else self.store.changes(before, "communities")
        return self._folded(self.view, change, model, fresh=fresh, pays=pays, last=last)

    def made(self, folder: Path) -> StoredCommunities:
        """Communities of the same rows, made in another folder."""
        view = folder / "communities"
        view.mkdir(parents=True)
        Path(folder / "graph").symlink_to(self.view.parent / "graph", target_is_directory=True)
        self._folded(view, None, None)
        return StoredCommunities(view, self.store)

    def _folded(
        self,
        view: Path,
        change: Change | None,
        model: Any,
        *,
        fresh: bool = False,
        pays: bool = True,
        last: bool = True,
    ) -> Use:
        graph = self.graph()
        use = Use(
            self.cache,
            model if isinstance(model, ModelClient) else ModelClient(model),
            self.embedder,
            self._embed,
            lambda _: graph,
            {"communities": self.settings, "graph": GraphSettings()},
            frozenset({"graph", "communities"} | ({"vectors"} if self.embedder else set())),
            pays=pays,
            last=last,
            fresh=frozenset({"communities"} if fresh else ()),
        )
        asyncio.run(COMMUNITIES.fold(view, self.store, change, use))
        return use

    async def _embed(self, texts: Mapping[str, str]) -> None:
        if self.embedder is not None:
            missing = {hash: text for hash, text in texts.items() if not self.cache.known(self.embedder.name, [hash])}
            vectors = await self.embedder.embed(list(missing.values()))
            self.cache.keep(self.embedder.name, dict(zip(missing, vectors, strict=True)))

    def make_graph(self) -> None:
        asyncio.run(
            GRAPH.fold(
                self.view.parent / "graph",
                self.store,
                None,
                Use(self.cache, ModelClient(None), None, self._embed, str),
            )
        )

    def graph(self) -> StoredGraph:
        return GRAPH.open(self.view.parent / "graph", self.store)

    def open(self) -> StoredCommunities:
        return StoredCommunities(self.view, self.store)

    def close(self) -> None:
        self.cache.close()
        self.store.close()


def all_of(read: StoredCommunities) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that readers see of the layer."""
    communities = {community for level in read.levels() for community in read.of_level(level)}
    vectors = read.vectors
    return {
        "communities": sorted(astuple(community) for community in communities),
        "members": sorted((each.id, *read.members(each.id)) for each in communities),
        "reports": sorted((id, repr(report)) for id, report in read.reports([c.id for c in communities]).items()),
        "vectors": [] if vectors is None else [(id, vectors.matrix[n].tobytes()) for n, id in enumerate(vectors.ids)],
    }


class Reporter(ScriptedModel):
    """Writes a report for every call, however many there are; what it writes differs by what it is shown."""

    def __init__(self, fail: int = 0) -> None:
        super().__init__([])
        self.fail = fail

    async def send(self, call: Any) -> Any:
        self.calls.append(call)
        if len(self.calls) <= self.fail:
            return self._say("no report today", call)
        shown = call.messages[-1].content
        name = shown.split("Entities:\n", 1)[1].split("\n", 1)[0].split(" (")[0].split(":")[0]
        written = {
            "title": f"About {name}",
            "summary": f"A group around {name}.",
            "rating": 7,
            "findings": [
                {"text": f"{name} matters.", "rating": 4, "entities": [name, "Nobody"]},
                {"text": f"{name} matters most.", "rating": 9, "entities": [name]},
            ],
        }
        return self._say(written, call)
