"""The layer of the index: what must be paid for is done chunk by chunk, the graph itself is derived as a whole."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.folder import writing
from ragways.index.graph.data import DocumentFacts, EntityRow, GraphData, make_graph
from ragways.index.graph.extraction import expected_usage, extract_facts, import_facts, import_kind, model_kind
from ragways.index.graph.facts import PassageFacts, Source, sources
from ragways.index.graph.names import fold
from ragways.index.graph.options import GraphOptions
from ragways.index.graph.resolve import DocumentNames, Merge, near_hashes, near_merges, veto_hash
from ragways.index.layer import BuildContext, Layer, LayerEstimate, PlanContext
from ragways.index.work_cache import WorkCache

if TYPE_CHECKING:
    from ragways.index.graph.rules import CorpusNames

VETO = "merge-veto"
"""The kind of result that holds merges which a person undid."""
_FREE = (Usage(), "")
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


def draft_of(context: BuildContext) -> GraphData:
    """The graph of the documents; made once a run, however many layers ask for it."""
    made = context.made
    if "graph" not in made:
        with _no_collection():
            made["graph"] = _draft(context, _options(context))
    return cast("GraphData", made["graph"])


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


def _options(context: BuildContext) -> GraphOptions:
    """As the settings say or, where a run has none (a removal, a repair), as the graph was built before."""
    if "graph" not in context.settings and (before := context.store.meta().get("graph")):
        return GraphOptions.of({"graph": json.loads(before)})
    return GraphOptions.of(context.settings)


def _draft(context: BuildContext, options: GraphOptions) -> GraphData:
    from ragways.index.graph.rules import CorpusNames

    documents = list(sources(context.store))
    corpus = CorpusNames(documents)
    titles = {fold(name): title for name, title in sorted(corpus.titles.items(), reverse=True) if fold(name)}
    apart = {veto_hash(one, other) for one, other in options.apart}

    def vetoes(hashes: Iterable[str]) -> set[str]:
        wanted = set(hashes)
        return (apart & wanted) | context.work_cache.results(VETO, wanted).keys()

    def near(spoken: Mapping[int, DocumentNames]) -> Iterable[Merge]:
        if not options.near:
            return ()
        return near_merges(context, spoken, titles, options.near_string, options.near_cosine, _asked(context))

    return make_graph(_chapters(context, options, documents, corpus), titles, corpus.lexicon.common, vetoes, near)


def _asked(context: BuildContext) -> set[str]:
    """Names that nearly match another, whose vectors decide."""
    return cast("set[str]", context.made.setdefault("graph near", set()))


def _chapters(
    context: BuildContext, options: GraphOptions, documents: list[Source], corpus: CorpusNames
) -> Iterator[DocumentFacts]:
    from ragways.index.graph.rules import structure_facts, text_facts

    kept = _kept(context, options, documents)
    for source in documents:
        if source.redirect:
            continue
        said: list[list[tuple[str, PassageFacts]]] = [[] for _ in source.passages]
        if options.structure or options.way == "rules":
            for found, facts in zip(said, structure_facts(source, corpus), strict=True):
                found.append(("rules", facts))
        if options.way == "rules":
            for found, facts in zip(said, text_facts(source, corpus), strict=True):
                found.append(("rules", facts))
        else:
            for found, passage in zip(said, source.passages, strict=True):
                if (text := kept.get(passage.key)) is not None:
                    found.append((options.way, PassageFacts.from_json(text)))
        yield DocumentFacts(
            source.number, source.title, [(p.id, s) for p, s in zip(source.passages, said, strict=True)]
        )


def _kept(context: BuildContext, options: GraphOptions, documents: list[Source]) -> dict[str, str]:
    kind = context.store.meta().get("graph_kind", "") if options.way != "rules" else ""
    if not kind:
        return {}
    return context.work_cache.results(kind, (passage.key for source in documents for passage in source.passages))


async def _work(context: BuildContext) -> None:
    options = _options(context)
    traced = "graph" in context.settings or "graph" not in context.store.meta()
    if traced:
        context.store.set_meta({"graph": json.dumps(asdict(options)), "graph_kind": ""})
    # A removal knows neither the model nor the file, and needs neither: what is left has its facts already.
    if options.way == "model" and (traced or context.model.model is not None):
        context.store.set_meta({"graph_kind": model_kind(context.model, options)})
        await extract_facts(context, options)
    elif options.way == "import" and (traced or Path(options.file).is_file()):
        context.store.set_meta({"graph_kind": import_kind(options.file)})
        import_facts(context, options)
    if _with_vectors(context, options):
        if options.near:
            draft_of(context)
            await context.embed(near_hashes(_asked(context)))
            context.made.pop("graph")
        draft = draft_of(context)
        await context.embed({content_hash(text): text for text in _embedded(draft, options).values()})


def _with_vectors(context: BuildContext, options: GraphOptions) -> bool:
    return options.vectors != "none" and "vectors" in context.store.meta().get("layers", "").split()


def _embedded(draft: GraphData, options: GraphOptions) -> dict[str, str]:
    """Texts to embed, by id of entity or relation."""
    shared: dict[str, int] = {}
    for mention in draft.mentions:
        shared[mention.entity] = shared.get(mention.entity, 0) + (2 if mention.about else 1)

    def chosen(node: EntityRow) -> bool:
        return node.type not in ("date", "quantity") and (options.vectors == "all" or shared.get(node.id, 0) > 1)

    texts = {node.id: node.text for node in draft.entities if chosen(node)}
    if options.relation_vectors:
        names = {node.id: node.name for node in draft.entities}
        for edge in draft.relations:
            said = edge.description or f"{names[edge.subject]} {edge.predicate.replace('_', ' ')} {names[edge.object]}"
            texts[edge.id] = said
    return texts


def _plan(planning: PlanContext) -> LayerEstimate:
    """Entities are not known before they are found: those of the sample, by rules, tell how many there will be."""
    context, sample, options = planning.context, planning.sample, _options(planning.context)
    context.store.set_meta({"graph": json.dumps(asdict(options))})
    began = time.perf_counter()
    draft = draft_of(sample)
    seconds = (time.perf_counter() - began) / planning.share
    usage, kind = (
        (expected_usage(context, options), model_kind(context.model, options)) if options.way == "model" else _FREE
    )
    texts = list(_embedded(draft, options).values()) if _with_vectors(sample, options) else []
    exact = planning.share == 1.0 and options.way == "rules"
    return LayerEstimate(
        round(len(draft.entities) / planning.share**_GROWTH),
        texts=texts if exact else (),
        like=() if exact else texts,
        times=planning.fresh / planning.share,
        usage=usage,
        kind=kind,
        seconds=seconds,
        estimated="" if exact else "entities and their vectors",
    )


def _derive(context: BuildContext, folder: Path) -> None:
    from ragways.index.graph.tables import write_graph

    options = _options(context)
    draft = draft_of(context)
    write_graph(draft, folder)
    if _with_vectors(context, options):
        _save_vectors(context, _embedded(draft, options), folder)


def _save_vectors(context: BuildContext, texts: dict[str, str], folder: Path) -> None:
    """Those that have a vector: where a budget ended the work, the rest is found by name alone."""
    from ragways.index.vectors import Vectors

    meta = context.store.meta()
    hashes = {id: content_hash(text) for id, text in texts.items()}
    known = context.work_cache.vectors(meta["embedder"], sorted(set(hashes.values())))
    for name, prefix in (("entities", "entity:"), ("relations", "relation:")):
        ids = [id for id in sorted(hashes) if id.startswith(prefix) and hashes[id] in known]
        if ids:
            rows = (known[hashes[id]] for id in ids)
            Vectors.stack(ids, rows, int(meta["dimension"])).save(folder, name)


def _used(context: BuildContext) -> dict[str, set[str]]:
    options = _options(context)
    draft = draft_of(context)
    used = {VETO: set(draft.proposed)}
    kind = context.store.meta().get("graph_kind", "")
    if kind:
        used[kind] = {passage.key for source in sources(context.store) for passage in source.passages}
    if _with_vectors(context, options):
        used["vectors"] = {content_hash(text) for text in _embedded(draft, options).values()}
        used["vectors"] |= near_hashes(_asked(context)).keys()
    return used


GRAPH = Layer(
    name="graph",
    summary="entities and relations of the corpus, with the chunks they came from",
    needs=frozenset(),
    plan=_plan,
    work=_work,
    derive=_derive,
    used=_used,
)
