"""The layer of the index: what must be paid for is done chunk by chunk, the graph itself is derived as a whole."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Set
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragways.core.runtime import told
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.array_tables import ArrayTable
from ragways.index.folder import writing
from ragways.index.gone_texts import text_now
from ragways.index.graph.checks import check_graph
from ragways.index.graph.data import DocumentFacts
from ragways.index.graph.embedded import EmbeddedTexts, see_to_texts
from ragways.index.graph.extraction import expected_usage, extract_facts, import_facts, import_kind, model_kind
from ragways.index.graph.facts import PassageFacts, sources
from ragways.index.graph.graph_tables import GraphTables
from ragways.index.graph.ids import ENTITIES, EntityIds
from ragways.index.graph.names import fold
from ragways.index.graph.reader import Graph
from ragways.index.graph.resolve import near_hashes, near_merges, veto_hash
from ragways.index.graph.tables import write_arrays
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext, no_files
from ragways.index.numbered_vectors import check_numbered
from ragways.index.settings import GraphSettings
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache

if TYPE_CHECKING:
    from ragways.index.graph.claims import NameAnswers
    from ragways.index.graph.held_names import HeldNames
    from ragways.index.graph.updates import Passes
    from ragways.index.graph.workers import GraphWorkers

T = TypeVar("T")

VETO = "merge-veto"
"""The kind of result that holds merges which a person undid."""
_KIND = "graph_kind"
"""Where the store keeps the kind of result that holds facts of a model or a file; empty where rules find them."""
_GROWTH = 0.93
"""A corpus of ten times the text names fewer than ten times the entities (`benchmarks/graph_speed.py`)."""


def veto(work_cache: WorkCache, name: str, other: str) -> None:
    """Never merge these two names again; takes effect when the graph is next derived."""
    work_cache.keep_results(VETO, {veto_hash(name, other): f"{name}\n{other}"})


def split(folder: Path, name: str, other: str) -> None:
    """Veto a merge of an index, and have the next run derive the graph again even if no document changed."""
    with writing(folder, rebuild=False) as (store, work_cache):
        veto(work_cache, name, other)
        store.set_meta({"again": "yes"})
        store.commit()


def tables_of(context: BuildContext) -> GraphTables:
    """The rows of the graph in the store, as the documents are. Ask for it by `context.once`."""
    with _no_collection():
        return _see_to(context, _settings(context))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of small objects, none of them garbage: looking for some again and again is a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _settings(context: BuildContext) -> GraphSettings:
    return context.settings_of("graph", GraphSettings)


_COMPARING = "comparing names"
_FORMAT = "4"
"""Changes when what is kept of entities or relations does: it is made of the facts again, which are not found anew."""
_FORMAT_BEFORE = "3"
"""The one before, which kept more: which document states a relation (`GraphTables` drops it)."""
_MEANT = "graph_meant"
"""Where the store keeps how the meaning of names was found, and for which generation."""


def _see_to(context: BuildContext, settings: GraphSettings) -> GraphTables:
    from ragways.index.graph.claims import NameAnswers
    from ragways.index.graph.held_names import HeldNames
    from ragways.index.graph.kept_facts import facts_by_rules
    from ragways.index.graph.updates import change_graph, fill_graph, fits_in_memory
    from ragways.index.graph.workers import GraphWorkers

    store, db = context.store, context.store.db
    forbidden = {veto_hash(one, other) for one, other in settings.apart} | context.work_cache.all_results(VETO).keys()
    with closing(GraphWorkers(store, settings, forbidden)) as workers, closing(HeldNames(db)) as held:
        wanted = settings.method == "rules" and not fits_in_memory(db)
        run = facts_by_rules(context, settings, workers, held if wanted else None)
        answers = NameAnswers(db, run.corpus.lexicon.common, forbidden)
        # Facts of a model or a file, and names that are alike, are gone through as a whole at each run.
        by_itself = settings.method == "rules" and not settings.near
        made, made_before = (
            content_hash(format, settings.method, str(settings.near), *sorted(forbidden))
            for format in (_FORMAT, _FORMAT_BEFORE)
        )
        meta = store.meta()
        known, _, generation = meta.get(_MEANT, "").partition(" ")
        if known == made_before:
            known = made
            store.set_meta({_MEANT: f"{made} {generation}"})
        run_before = str(int(meta["generation"]) - 1)
        if by_itself and known == made and not run.whole and not context.doubted and generation == meta["generation"]:
            return GraphTables(db)
        store.set_meta({_MEANT: f"{made} {meta['generation']}"})
        if by_itself and known == made and not run.whole and generation == run_before:
            return change_graph(db, run, answers, context.before)
        passes = _passes(context, settings, answers, held, workers if by_itself else None)
        fill_graph(db, passes, answers, lambda: _near(context, settings, answers), context.progress)
    return GraphTables(db)


def _passes(
    context: BuildContext, settings: GraphSettings, answers: NameAnswers, held: HeldNames, workers: GraphWorkers | None
) -> Passes:
    """How the documents are gone through. `workers`: other processes that may do so."""
    from ragways.index.graph.kept_facts import kept_facts, kept_names
    from ragways.index.graph.updates import PassesHere, PassesInMemory, fits_in_memory

    db, total = context.store.db, context.store.count("documents")
    text = partial(text_now, db)

    def tell(stage: str, items: Iterable[T]) -> Iterator[T]:
        return told(context.progress, stage, items, total)

    def facts(stage: str = "making the graph") -> Iterator[DocumentFacts]:
        found = kept_facts(db) if settings.method == "rules" else _with_paid(context, settings, kept_facts(db))
        return tell(stage, found)

    if fits_in_memory(db):
        return PassesInMemory(facts(), answers, text)
    if held.empty:  # they were read in another run, or a model or a file knows more
        by_rules = settings.method == "rules"
        names = kept_names(db) if by_rules else ((each.number, each.names()) for each in facts(_COMPARING))
        held.put_all(tell(_COMPARING, names) if by_rules else names)
    if workers is not None and workers.useful:
        return workers.passes(held, tell)
    return PassesHere(held, lambda after: tell(_COMPARING, held.documents(after)), facts, answers, text)


def _near(context: BuildContext, settings: GraphSettings, answers: NameAnswers) -> dict[str, tuple[str, str]]:
    """Names that are alike, by the name that is used less."""
    from ragways.index.graph.claim_rows import SPELLING, all_claims

    if not settings.near:
        return {}
    db = context.store.db
    counts = {name: sum(said[SPELLING].values()) for name, said in all_claims(db) if SPELLING in said}
    titles = {row[0] for row in db.execute("SELECT folded FROM graph_ends")}
    asked = context.once(_near_names)
    found: dict[str, tuple[str, str]] = {}
    for merge in near_merges(context, counts, titles, settings.near_string, settings.near_cosine, asked):
        if answers.allowed(merge.name, merge.into):
            found.setdefault(merge.name, (merge.into, merge.reason))
    return found


def _near_names(_: BuildContext) -> set[str]:
    """Names that nearly match another, whose vectors decide: empty, and filled when the graph is made."""
    return set()


def _with_paid(
    context: BuildContext, settings: GraphSettings, chapters: Iterable[DocumentFacts]
) -> Iterator[DocumentFacts]:
    """The facts of a model or a file beside those of the rules."""
    kind = context.store.meta().get(_KIND, "")
    for chapter in chapters:
        [source] = sources(context.store, [chapter.number])
        keys = {passage.id: passage.key for passage in source.passages}
        kept = context.work_cache.results(kind, keys.values()) if kind else {}
        yield DocumentFacts(
            chapter.number,
            chapter.title,
            [
                (
                    id,
                    [
                        *said,
                        *((settings.method, PassageFacts.from_json(kept[key])) for key in [keys[id]] if key in kept),
                    ],
                )
                for id, said in chapter.chunks
            ],
        )


async def _extract(context: BuildContext) -> None:
    """Have the facts of each passage, where a model or a file knows them."""
    settings = _settings(context)
    new_settings = context.has_new_settings("graph")
    if new_settings:
        context.store.set_meta({_KIND: ""})
    # A removal knows neither the model nor the file, and needs neither: what is left has its facts already.
    if settings.method == "model" and (new_settings or context.model.model is not None):
        context.store.set_meta({_KIND: model_kind(context.model, settings)})
        await extract_facts(context, settings)
    elif settings.method == "import" and (new_settings or Path(settings.file).is_file()):
        context.store.set_meta({_KIND: import_kind(settings.file)})
        import_facts(context, settings)


async def _work(context: BuildContext) -> None:
    settings = _settings(context)
    await _extract(context)
    if _with_near(context, settings):
        context.once(tables_of)
        await context.embed(near_hashes(context.once(_near_names)))
        context.forget(tables_of)
    for texts in context.once(embedded_of):
        await texts.embed(context)


def _with_vectors(context: BuildContext, settings: GraphSettings) -> bool:
    return settings.vectors != "none" and context.has_layer("vectors")


def _with_near(context: BuildContext, settings: GraphSettings) -> bool:
    """Whether names that are alike are merged, which takes their vectors."""
    return settings.near and context.has_layer("vectors")


def embedded_of(context: BuildContext) -> list[EmbeddedTexts]:
    """The texts of entities and relations to embed. Ask for it by `context.once`."""
    settings, tables = _settings(context), context.once(tables_of)
    return see_to_texts(
        context.store.db,
        tables.touched if context.changes is not None else None,
        before=context.before,
        vectors=_with_vectors(context, settings),
        every=settings.vectors == "all",
        relations=settings.relation_vectors,
    )


def _plan(planning: PlanContext) -> LayerEstimate:
    """Entities are not known before they are found: those of the sample, by rules, tell how many there will be."""
    context, sample, settings = planning.context, planning.sample, _settings(planning.context)
    began = time.perf_counter()
    sample.once(tables_of)
    (entities,) = sample.store.db.execute("SELECT count(*) FROM graph_entities").fetchone()
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = Usage(), ""
    if settings.method == "model":
        usage, kind = expected_usage(context, settings), model_kind(context.model, settings)
    texts = [text for some in sample.once(embedded_of) for text in some.all()]
    exact = planning.share == 1.0 and settings.method == "rules"
    return LayerEstimate(
        round(entities / planning.share**_GROWTH),
        texts=texts if exact else (),
        like=() if exact else texts,
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="" if exact else "entities and their vectors",
    )


def _derive(context: BuildContext, folder: Path) -> None:
    tables = context.once(tables_of)
    with _no_collection():
        write_arrays(context.store.db, folder, context.before, tables.touched)
    for texts in context.once(embedded_of):
        texts.save(context, folder)


def _used(context: BuildContext) -> dict[str, set[str]]:
    used = {VETO: _used_vetoes(context)} | _extracted(context)
    used["vectors"] = set().union(*(texts.all_hashes() for texts in context.once(embedded_of)))
    if _with_near(context, _settings(context)):
        used["vectors"] |= near_hashes(context.once(_near_names)).keys()
    return used


def _freed(context: BuildContext) -> Set[str] | None:
    """Vectors of texts that entities and relations do not have any more, and vetoes, which are few."""
    kinds = context.once(embedded_of)
    known = all(texts.gone is not None for texts in kinds) and context.once(tables_of).touched is not None
    if not known or _settings(context).near or context.store.meta().get(_KIND, ""):
        return None
    return set(context.work_cache.all_results(VETO)).union(*(texts.freed for texts in kinds))


def _still_used(context: BuildContext, hashes: Set[str]) -> Set[str]:
    return _used_vetoes(context).union(*(texts.used(hashes) for texts in context.once(embedded_of)))


def _used_vetoes(context: BuildContext) -> set[str]:
    """Vetoes of names both of which the corpus still has: the others must not keep what was removed."""
    from ragways.index.graph.claim_rows import SPELLING, claims_of_name
    from ragways.index.graph.corpus_names import titled

    db = context.store.db

    def there(name: str) -> bool:
        return SPELLING in claims_of_name(db, fold(name)) or bool(titled(db, fold(name)))

    vetoes = context.work_cache.all_results(VETO)
    return {hash for hash, names in vetoes.items() if all(map(there, names.split("\n")))}


def _extracted(context: BuildContext) -> dict[str, set[str]]:
    kind = context.store.meta().get(_KIND, "")
    return {kind: {p.key for source in sources(context.store) for p in source.passages}} if kind else {}


def _count(_: Store, derived: Path) -> int:
    """How many entities there are."""
    there = (derived / f"{ENTITIES}.json").is_file()
    return len(EntityIds.load(ArrayTable(derived, ENTITIES))) if there else 0


GRAPH = Layer(
    name="graph",
    summary="entities and relations of the corpus, with the chunks they came from",
    needs=frozenset(),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    freed=_freed,
    still_used=_still_used,
    checks=(check_graph, check_numbered),
    settings=GraphSettings,
    open=Graph.open,
    files=("graph-*", "entities", "relations"),
    rows=_count,
    kinds=frozenset({"facts"}),
    # What rules find in a text depends on all the others; what a model is asked does not.
    apart=Layer(
        "graph",
        "facts by a model",
        frozenset(),
        derive=no_files,
        work=_extract,
        used=_extracted,
        freed=lambda context: None if context.store.meta().get(_KIND, "") else set(),
        still_used=lambda _, __: set(),
        settings=GraphSettings,
    ),
)
