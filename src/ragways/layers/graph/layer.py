"""The graph as a layer of the index: facts of documents, by rules, a model or a file, and the view of all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast
from weakref import WeakKeyDictionary, finalize

from ragways.core.runtime import default_threads, together
from ragways.core.trace import Usage
from ragways.layers.graph.names import fold, hash_of, veto_hash
from ragways.layers.layer import CheckContext, Estimate, Finding, Layer, Sample, Use
from ragways.layers.settings import GraphSettings, LayerSettings
from ragways.store.cache import WorkCache
from ragways.store.source import Source
from ragways.store.store import Change, Facts, Store

# What reads texts or asks a model is imported when a run needs it: whoever opens an index does without.
if TYPE_CHECKING:
    from ragways.layers.graph.extract import FactsOfChunk, NamesApart, Processes
    from ragways.layers.graph.model import FactsOfDocument
    from ragways.layers.graph.read import StoredGraph
    from ragways.layers.known_names import KnownNames
    from ragways.layers.lexicon import Lexicon

FACTS = "facts:"
"""How kinds of cached facts begin that were paid for."""
VETO = "merge-veto"
"""The kind of cached result that holds merges which a person undid: two names, a line each."""
MANY = 4000
"""Documents of a run from which on several processes read them."""
_KINDS = "2"
"""Changes when kinds of what a model or a file names do: its facts are then read again from the cache."""
_GROWTH = 0.93
"""A corpus of ten times the text names fewer than ten times the entities."""


class GraphLayer(Layer):
    """Entities and relations of the corpus, with the chunks they came from."""

    name: ClassVar[str] = "graph"
    summary: ClassVar[str] = "entities and relations of the corpus, with the chunks they came from"
    settings: ClassVar[type[LayerSettings]] = GraphSettings
    tables: ClassVar[tuple[str, ...]] = ("mentions", "relations", "other_names", "descriptions")
    reads_lexicon: ClassVar[bool] = True
    kinds: ClassVar[frozenset[str]] = frozenset({FACTS.removesuffix(":")})

    def __init__(self) -> None:
        self._runs: WeakKeyDictionary[Use, _Run] = WeakKeyDictionary()

    # Facts

    def facts_made_with(self, settings: LayerSettings) -> str:
        given = cast(GraphSettings, settings)
        parts: list[object] = [given.method, sorted(map(sorted, given.apart))]
        if given.method != "rules":
            from ragways.layers.graph.model import file_hash, prompts

            parts += [given.structure, _KINDS]
            parts += (
                [prompts(given), given.passage_tokens] if given.method == "model" else [file_hash(Path(given.file))]
            )
        return repr(parts)

    async def extract(self, documents: Sequence[Source], use: Use) -> list[Facts | None]:
        from ragways.layers.graph.extract import extract, extract_all, pieces
        from ragways.layers.graph.model import kinds_of

        settings = use.settings_of(self.name, GraphSettings)
        assert use.lexicon is not None  # noqa: S101 - the layer says that it reads one
        known, apart = use.lexicon, _apart(settings, use.cache)
        if use.engine is not None and settings.method == "rules" and known.path is not None:
            shared = use.engine.share(known.path)
            done = (use.engine.run(extract_all, shared, apart, piece) for piece in pieces(documents))
            return [facts for found in await together(done) for facts in found]
        if (processes := self._processes_of(use, settings, known, apart, len(documents))) is not None:
            return [*processes.extract(documents)]
        paid, kind_of = await _paid_facts(documents, use, settings), kinds_of(settings)
        return [
            None if given is None else extract(source, known, _facts_of(source, known, settings, given), apart, kind_of)
            for source, given in zip(documents, paid, strict=True)
        ]

    def _processes_of(
        self, use: Use, settings: GraphSettings, lexicon: Lexicon, apart: NamesApart, documents: int
    ) -> Processes | None:
        """Processes beside this one, where rules read so many documents in a run that it is worth to start some. They
        end with the run.
        """
        from ragways.layers.graph.extract import Processes

        count = settings.processes or default_threads()
        if settings.method != "rules" or count < 2 or lexicon.path is None:
            return None
        run = self._runs.setdefault(use, _Run())
        run.documents += documents
        if run.processes is not None and run.processes.epoch != lexicon.epoch:
            run.processes.close()
            run.processes = None
        if run.processes is None and run.documents >= MANY:
            run.processes = Processes(lexicon.path, lexicon.epoch, apart, count)
            finalize(use, run.processes.close)
        return run.processes

    def unfinished(self, store: Store, use: Use) -> Iterable[int]:
        """Documents with names that a person has split since."""
        return [row[0] for row in store.db.execute(_TO_EXTRACT, (self.name,))]

    def estimate(self, sample: Sample, use: Use) -> Estimate:
        from ragways.layers.graph.extract import extract
        from ragways.layers.graph.model import expected_usage, model_kind
        from ragways.layers.lexicon import Lexicon
        from ragways.tasks.graph import FACTS

        settings = use.settings_of(self.name, GraphSettings)
        began = time.perf_counter()
        known = Lexicon.of(sample.documents)
        facts = [extract(source, known) for source in sample.documents]
        names = {row[1] for rows in facts for row in rows.get("mentions", ())}
        seconds = (time.perf_counter() - began) / sample.share
        usage, kind = Usage(), ""
        if settings.method == "model":
            usage = expected_usage(sample.every(), use, settings)
            kind = model_kind(use.model.of(FACTS.role), settings)
        embedded = settings.vectors != "none" and "vectors" in use.layers
        return Estimate(
            round(len(names) / sample.share**_GROWTH),
            like=list(_embedded_texts(facts, settings)) if embedded else (),
            times=1 / sample.share,
            usage=usage,
            kind=kind,
            role=FACTS.role,
            seconds=seconds,
            estimated="entities and their vectors" if embedded else "entities",
        )

    # The view

    def view_made_with(self, settings: LayerSettings) -> str:
        given = cast(GraphSettings, settings)
        near = (given.near_string, given.near_cosine) if given.near else ()
        return repr((near, sorted(map(sorted, given.apart)), given.vectors, given.relation_vectors))

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        from ragways.layers.graph.view import fold_view

        apart = pairs_apart(use.settings_of(self.name, GraphSettings), use.cache)
        await fold_view(view, store, change, use, apart)

    def open(self, view: Path, store: Store) -> StoredGraph:
        from ragways.layers.graph.read import StoredGraph

        return StoredGraph.open(view, store)

    def check(self, context: CheckContext) -> Iterator[Finding]:
        from ragways.layers.graph.view import check_graph

        view = context.views / self.name
        return check_graph(context, view) if view.is_dir() else iter(())

    def count(self, view: Path, store: Store) -> int:
        from ragways.layers.graph.csr import GraphArrays

        return len(GraphArrays.load(view))

    def used(self, store: Store, view: Path, use: Use) -> Mapping[str, set[str]]:
        """Facts that were paid for, vectors of entities and relations, and corrections of names that the corpus has."""
        from ragways.layers.graph.view import embedded_hashes

        keys = {passage.key for source in store.sources() for passage in source.passages}
        found = dict.fromkeys(use.cache.kinds(FACTS), keys) if keys else {}
        vetoes = use.cache.all_results(VETO).items()
        used = {hash for hash, pair in vetoes if all(_is_named(store, name) for name in pair.split("\n"))}
        return found | {VETO: used, "vectors": embedded_hashes(view)}


@dataclass
class _Run:
    """What a run has extracted by now, and the processes that do so."""

    documents: int = 0
    processes: Processes | None = None


async def _paid_facts(documents: Sequence[Source], use: Use, settings: GraphSettings) -> list[FactsOfDocument | None]:
    """What a model or a file knows of documents; None where that is to be tried again."""
    from ragways.layers.graph.model import facts_by_model, facts_from_file

    if settings.method == "model":
        return await facts_by_model(documents, use, settings)
    if settings.method == "import":
        return [*facts_from_file(documents, Path(settings.file))]
    return [{} for _ in documents]


def _facts_of(source: Source, known: KnownNames, settings: GraphSettings, paid: FactsOfDocument) -> list[FactsOfChunk]:
    """What rules find in a document, and beside it what was paid for: a model's types are not overridden by rules."""
    from ragways.layers.graph.extract import rule_facts
    from ragways.layers.graph.model import guessed, with_values

    by_rules = settings.method == "rules"
    if source.redirect:
        return []
    facts: list[FactsOfChunk] = [[] for _ in source.passages]
    if by_rules or settings.structure:
        facts = rule_facts(source, known, text=by_rules)
    if settings.method == "model":
        facts = [[(way, guessed(found)) for way, found in each] for each in facts]
    for ordinal, found in paid.items():
        facts[ordinal].append((settings.method, with_values(found, settings.method)))
    return facts


def _embedded_texts(facts: Iterable[Facts], settings: GraphSettings) -> Iterable[str]:
    """About what entities are embedded by: names, and what is written of them."""
    chunks: dict[str, int] = {}
    described: dict[str, str] = {}
    for rows in facts:
        for _, name in {(row[0], row[1]) for row in rows.get("mentions", ())}:
            chunks[name] = chunks.get(name, 0) + 1
        described |= {row[1]: row[3] for row in rows.get("descriptions", ())}
        if settings.relation_vectors:
            yield from (f"{row[1]} {row[3]} {row[4]}" for row in rows.get("relations", ()))
    for name, count in chunks.items():
        if settings.vectors == "all" or count > 1 or name in described:
            yield f"{name}: {described[name]}" if name in described else name


# Corrections by people


def pairs_apart(settings: GraphSettings, cache: WorkCache) -> frozenset[tuple[str, str]]:
    """Names that are never one, by the settings or because a person undid their merge."""
    undone = (tuple(pair.split("\n")) for pair in cache.all_results(VETO).values())
    return frozenset([*settings.apart, *((pair[0], pair[1]) for pair in undone if len(pair) == 2)])


def _apart(settings: GraphSettings, cache: WorkCache) -> NamesApart:
    from ragways.layers.graph.extract import NamesApart

    return NamesApart.of(pairs_apart(settings, cache))


def split(folder: Path, name: str, other: str) -> None:
    """Never merge these two names of an index again, from the next run on: documents that do are extracted again."""
    with closing(Store.write(folder)) as store, closing(WorkCache(folder)) as cache:
        cache.keep_results(VETO, {veto_hash(name, other): f"{name}\n{other}"})
        with store.batch():
            if not store.db.execute(_EXTRACT_AGAIN, (GraphLayer.name, fold(name), fold(other))).rowcount:
                # It is a merge of the view, which looks at corrections when any document comes anew.
                store.db.execute(_ANY_AGAIN, (GraphLayer.name, hash_of(fold(name)), hash_of(fold(other))))


_TO_EXTRACT = "SELECT document FROM extracted WHERE layer = ? AND made = '' ORDER BY document"
_EXTRACT_AGAIN = (
    "UPDATE extracted SET made = '' WHERE layer = ?1 AND document IN (SELECT document FROM other_names "
    "WHERE (name = ?2 AND other = ?3) OR (name = ?3 AND other = ?2) UNION "
    "SELECT document FROM mentions WHERE ?2 = ?3 AND name = ?2)"
)
_ANY_AGAIN = (
    "UPDATE extracted SET made = '' WHERE layer = ? AND document = "
    "(SELECT min(document) FROM mentions WHERE hash IN (?, ?))"
)


def _is_named(store: Store, name: str) -> bool:
    query = "SELECT 1 FROM mentions WHERE hash = ? UNION ALL SELECT 1 FROM other_names WHERE other = ? LIMIT 1"
    return store.db.execute(query, (hash_of(fold(name)), fold(name))).fetchone() is not None


GRAPH = GraphLayer()
