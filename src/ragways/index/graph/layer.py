"""The layer of the index: what must be paid for is done chunk by chunk, the graph itself is derived as a whole."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.folder import writing
from ragways.index.graph.data import DocumentFacts, EntityRow, GraphData, make_graph
from ragways.index.graph.extraction import expected_usage, extract_facts, import_facts, import_kind, model_kind
from ragways.index.graph.facts import PassageFacts, sources
from ragways.index.graph.names import fold
from ragways.index.graph.reader import Graph
from ragways.index.graph.resolve import DocumentNames, Merge, near_hashes, near_merges, veto_hash
from ragways.index.graph.tables import FILE, check_names, check_references, write_graph
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext, no_files, rows_of_table
from ragways.index.settings import GraphSettings
from ragways.index.vectors import save_known
from ragways.index.work_cache import WorkCache

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


def graph_of(context: BuildContext) -> GraphData:
    """The graph of the documents. Ask for it by `context.once`: several layers do."""
    with _no_collection():
        return _graph(context, _settings(context))


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


def _graph(context: BuildContext, settings: GraphSettings) -> GraphData:
    from ragways.index.graph.kept_facts import facts_by_rules, kept_facts

    corpus = facts_by_rules(context, settings)
    titles: dict[str, str] = {}
    for name, title in corpus.titles():
        if folded := fold(name):
            titles.setdefault(folded, title)
    apart = {veto_hash(one, other) for one, other in settings.apart}

    def vetoes(hashes: Iterable[str]) -> set[str]:
        wanted = set(hashes)
        return (apart & wanted) | context.work_cache.results(VETO, wanted).keys()

    def near(names: Mapping[int, DocumentNames]) -> Iterable[Merge]:
        if not settings.near:
            return ()
        return near_merges(
            context, names, titles, settings.near_string, settings.near_cosine, context.once(_near_names)
        )

    chapters = kept_facts(context.store.db)
    if settings.method != "rules":
        chapters = _with_paid(context, settings, chapters)
    return make_graph(chapters, titles, corpus.lexicon.common, vetoes, near)


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
    if _with_vectors(context, settings):
        if settings.near:
            context.once(graph_of)
            await context.embed(near_hashes(context.once(_near_names)))
            context.forget(graph_of)
        graph = context.once(graph_of)
        await context.embed({content_hash(text): text for text in _embedded(graph, settings).values()})


def _with_vectors(context: BuildContext, settings: GraphSettings) -> bool:
    return settings.vectors != "none" and context.has_layer("vectors")


def _embedded(graph: GraphData, settings: GraphSettings) -> dict[str, str]:
    """Texts to embed, by id of entity or relation."""
    shared: dict[str, int] = {}
    for mention in graph.mentions:
        shared[mention.entity] = shared.get(mention.entity, 0) + (2 if mention.about else 1)

    def chosen(node: EntityRow) -> bool:
        return node.type not in ("date", "quantity") and (settings.vectors == "all" or shared.get(node.id, 0) > 1)

    texts = {node.id: node.text for node in graph.entities if chosen(node)}
    if settings.relation_vectors:
        names = {node.id: node.name for node in graph.entities}
        for edge in graph.relations:
            said = edge.description or f"{names[edge.subject]} {edge.predicate.replace('_', ' ')} {names[edge.object]}"
            texts[edge.id] = said
    return texts


def _plan(planning: PlanContext) -> LayerEstimate:
    """Entities are not known before they are found: those of the sample, by rules, tell how many there will be."""
    context, sample, settings = planning.context, planning.sample, _settings(planning.context)
    began = time.perf_counter()
    graph = sample.once(graph_of)
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = Usage(), ""
    if settings.method == "model":
        usage, kind = expected_usage(context, settings), model_kind(context.model, settings)
    texts = list(_embedded(graph, settings).values()) if _with_vectors(sample, settings) else []
    exact = planning.share == 1.0 and settings.method == "rules"
    return LayerEstimate(
        round(len(graph.entities) / planning.share**_GROWTH),
        texts=texts if exact else (),
        like=() if exact else texts,
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="" if exact else "entities and their vectors",
    )


def _derive(context: BuildContext, folder: Path) -> None:
    settings = _settings(context)
    graph = context.once(graph_of)
    with _no_collection():
        write_graph(graph, folder, context.before if context.changes is not None else None)
    if _with_vectors(context, settings):
        texts = _embedded(graph, settings)
        for name, prefix in (("entities", "entity:"), ("relations", "relation:")):
            save_known(context, {id: text for id, text in texts.items() if id.startswith(prefix)}, folder, name)


def _used(context: BuildContext) -> dict[str, set[str]]:
    settings = _settings(context)
    graph = context.once(graph_of)
    used = {VETO: set(graph.proposed)}
    used |= _extracted(context)
    if _with_vectors(context, settings):
        used["vectors"] = {content_hash(text) for text in _embedded(graph, settings).values()}
        used["vectors"] |= near_hashes(context.once(_near_names)).keys()
    return used


def _extracted(context: BuildContext) -> dict[str, set[str]]:
    kind = context.store.meta().get(_KIND, "")
    return {kind: {p.key for source in sources(context.store) for p in source.passages}} if kind else {}


GRAPH = Layer(
    name="graph",
    summary="entities and relations of the corpus, with the chunks they came from",
    needs=frozenset(),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
    checks=(check_references, check_names),
    settings=GraphSettings,
    open=Graph.open,
    files=(FILE, "graph-*", "entities.*", "relations.*"),
    rows=rows_of_table(FILE, "entities"),
    kinds=frozenset({"facts"}),
    # What rules find in a text depends on all the others; what a model is asked does not.
    apart=Layer(
        "graph",
        "facts by a model",
        frozenset(),
        derive=no_files,
        work=_extract,
        used=_extracted,
        settings=GraphSettings,
    ),
)
