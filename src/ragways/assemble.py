"""Settings made into things: the embedder, the client of a model, what a question and an index need."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import EmbedderChanged, SettingsError, StoreError, UsageError, did_you_mean
from ragways.core.registry import Registry
from ragways.core.runtime import ProgressCallback, silent
from ragways.corpus.structure import PRESETS, Chunking
from ragways.layers.table import USUAL
from ragways.models.providers import PROVIDERS
from ragways.settings import (
    AnswerSettings,
    ChunkingSettings,
    CorpusSettings,
    EndpointSettings,
    RoleSettings,
    Settings,
    plain_settings,
    read_settings,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.corpus.source import LoadOptions, WebSource
    from ragways.evaluation.judges.judge import JudgeResources
    from ragways.index.open import Index
    from ragways.index.plan import IndexPlan
    from ragways.index.recipe import Recipe, Summary
    from ragways.layers.layer import Engine
    from ragways.layers.settings import GraphSettings
    from ragways.models.adapt import OwnEmbedder, OwnModel
    from ragways.models.call import Model, ReplyCache
    from ragways.models.client import ModelClient
    from ragways.models.embed import Embedder
    from ragways.models.reader import Reader
    from ragways.models.tokens import Prices
    from ragways.models.transport import Extras
    from ragways.retrieval.resources import LiveResources, Resources
    from ragways.store.cache import WorkCache
    from ragways.tasks.answers import AnswerWishes


def chunking_of(settings: ChunkingSettings) -> Chunking:
    """The preset with what the settings change of it."""
    changes = settings.model_dump(exclude={"preset"}, exclude_none=True)
    return replace(PRESETS[settings.preset], **changes)


@dataclass(frozen=True)
class EmbedderKind:
    """A kind of embedder that settings can name (`embedder.kind`).

    `make` gets all settings and returns an embedder, or an awaitable one; of a plug-in, any object with `name` and
    `embed(texts)` will do.
    """

    name: str
    summary: str
    make: Callable[[Settings], object]


@dataclass(frozen=True)
class ModelKind:
    """A kind of language model that settings can name (`model.kind`).

    `make` gets all settings and the section that names the model, and returns a model; of a plug-in, any object with
    `name` and `complete(messages)` will do.
    """

    name: str
    summary: str
    make: Callable[[Settings, RoleSettings], object]


def _minilm(settings: Settings) -> Embedder:
    from ragways.models.minilm import MiniLM

    return MiniLM(threads=settings.embedder.threads)


async def _endpoint_embedder(settings: Settings) -> Embedder:
    from ragways.models.embed import EndpointEmbedder
    from ragways.models.limits import Traffic

    chosen = settings.embedder
    if not chosen.base_url or not chosen.name:
        raise SettingsError("embedder.kind is endpoint, but embedder.base_url or embedder.name is not set", "set both")
    key, extras = chosen.key.get_secret_value(), extras_of(chosen)
    dimension = chosen.dimension or await EndpointEmbedder.discover(chosen.base_url, key, chosen.name, extras)
    return EndpointEmbedder(
        chosen.base_url,
        key,
        chosen.name,
        dimension=dimension,
        prefixes=(chosen.query_prefix, chosen.passage_prefix),
        extras=extras,
        prices=prices_of(settings),
        traffic=Traffic(concurrency=settings.model.concurrency, patience=settings.model.patience),
    )


def _endpoint_model(settings: Settings, chosen: RoleSettings) -> Model:
    from ragways.models.call import ModelTraits
    from ragways.models.dialect import DialectMemory
    from ragways.models.endpoint import Endpoint
    from ragways.models.ollama import OllamaModel

    key, provider = chosen.key.get_secret_value(), PROVIDERS.get(chosen.provider)
    common: dict[str, Any] = {
        "timeout": chosen.timeout,
        "total_timeout": chosen.total_timeout,
        "extras": extras_of(chosen),
        "traits": ModelTraits(chosen.top_p, chosen.reasoning_effort, chosen.context),
    }
    if provider is not None and provider.name == "ollama":
        return OllamaModel(chosen.base_url, key, chosen.name, **common)
    if provider is not None:
        traits = ModelTraits(chosen.top_p, chosen.reasoning_effort, chosen.context or provider.context)
        common |= {"dialect": provider.dialect, "traits": traits}
    return Endpoint(chosen.base_url, key, chosen.name, memory=DialectMemory(settings.cache), **common)


def extras_of(chosen: EndpointSettings) -> Extras:
    """What goes with every request to the endpoint that a section names."""
    from ragways.models.transport import Extras

    headers = {name: value.get_secret_value() for name, value in chosen.headers.items()}
    auth = PROVIDERS[chosen.provider].auth if chosen.provider else "authorization"
    return Extras(headers, chosen.query, auth)


EMBEDDERS: Registry[EmbedderKind] = Registry(
    "ragways.embedders",
    "embedder",
    EmbedderKind,
    (
        EmbedderKind("minilm", "all-MiniLM-L6-v2 on this machine, without a key", _minilm),
        EmbedderKind("endpoint", "an OpenAI-compatible endpoint", _endpoint_embedder),
    ),
)
MODELS: Registry[ModelKind] = Registry(
    "ragways.models",
    "model",
    ModelKind,
    (ModelKind("endpoint", "an OpenAI-compatible endpoint", _endpoint_model),),
)


async def embedder_of(settings: Settings, own: OwnEmbedder | None = None) -> Embedder:
    """The embedder that is given, or else the one that the settings name."""
    from ragways.models.adapt import as_embedder

    made = own if own is not None else EMBEDDERS.find(settings.embedder.kind).make(settings)
    return as_embedder(await made if inspect.isawaitable(made) else made)


def client_of(
    settings: Settings, cache: ReplyCache | None = None, *, own: OwnModel | None = None, temperature: float = 0.0
) -> ModelClient:
    """The client of the model that is given, or else of those that are set, or of none."""
    client = _client(settings, settings.model, "model", cache, own, temperature)
    for role, chosen in settings.model.roles.items() if own is None else ():
        client.roles[role] = _client(settings, chosen, f"model.{role}", cache, None, temperature)
    return client


def judge_client_of(settings: Settings, cache: ReplyCache | None = None) -> ModelClient:
    """The client of the model that judges: the one set for it, else the language model itself."""
    if settings.judge.name or settings.judge.base_url:
        return _client(settings, settings.judge, "judge", cache, None)
    return client_of(settings, cache)


def _client(
    settings: Settings,
    chosen: RoleSettings,
    section: str,
    cache: ReplyCache | None,
    own: OwnModel | None,
    temperature: float = 0.0,
) -> ModelClient:
    from ragways.models.adapt import as_model
    from ragways.models.client import ModelClient
    from ragways.models.limits import Traffic

    if own is None and not chosen.name and not chosen.base_url:
        return ModelClient(None)
    if own is None and (not chosen.name or (chosen.kind == "endpoint" and not chosen.base_url)):
        missing = "name" if not chosen.name else "base_url"
        cure = f"set both {section}.name and {section}.base_url (or {section}.provider), or neither: see docs/models.md"
        raise SettingsError(f"{section}.{missing} is not set", cure)
    model = own if own is not None else MODELS.find(chosen.kind).make(settings, chosen)
    return ModelClient(
        as_model(model),
        cache=cache,
        prices=prices_of(settings),
        traffic=Traffic(
            concurrency=chosen.concurrency,
            requests_per_minute=chosen.requests_per_minute,
            tokens_per_minute=chosen.tokens_per_minute,
            patience=chosen.patience,
        ),
        temperature=temperature,
        headroom=chosen.reasoning_tokens,
        variant=" ".join(
            f"{name}={value}"
            for name, value in (("top_p", chosen.top_p), ("effort", chosen.reasoning_effort))
            if value not in (None, "")
        ),
    )


def prices_of(settings: Settings) -> Prices:
    """The built-in table, with what the settings say of it."""
    from ragways.models.tokens import Price, Prices

    return Prices({name: Price(p.input, p.output, p.cached) for name, p in settings.prices.items()})


def recipe_of(
    settings: Settings,
    layers: Iterable[str] | None,
    *,
    graph: GraphSettings | None = None,
    embedder: OwnEmbedder | None = None,
    model: OwnModel | None = None,
) -> Recipe:
    """What the settings say an index is to be; `graph` takes the place of what they say of the graph. Without `layers`
    it has vectors and words and, where it is new and gains by one, a graph by rules.
    """
    from ragways.corpus.patterns import Selection
    from ragways.index.recipe import Recipe
    from ragways.layers.table import check_layers, layer_settings

    return Recipe(
        embedder=lambda: embedder_of(settings, embedder),
        chunking=chunking_of(settings.chunking),
        layers=USUAL if layers is None else check_layers(layers),
        graph_where_it_pays=layers is None and settings.graph.method == "rules",
        model=lambda work_cache: client_of(settings, work_cache, own=model),
        options=_load_options(settings.corpus),
        selection=Selection(settings.corpus.include, settings.corpus.exclude, settings.corpus.gitignore),
        settings={
            "graph": graph or settings.graph,
            "windows": settings.windows,
            "communities": settings.communities,
            **layer_settings(settings.layers, "layers."),
        },
        engine=engine_of(settings, embedder),
    )


def engine_of(settings: Settings, embedder: OwnEmbedder | None) -> Callable[[], Engine] | None:
    """What connects a run to where documents are embedded and extracted; None is this process."""
    if settings.cluster.engine == "local":
        return None
    if embedder is not None:
        raise UsageError(
            "an embedder of your own stays in this process, and texts are embedded on a cluster",
            "name it in the settings (embedder.kind: docs/python.md), or set cluster.engine to local",
        )
    from ragways.cluster.engine import RayEngine

    # A task of Ray has one CPU.
    threads = settings.embedder.model_copy(update={"threads": settings.embedder.threads or 1})
    plain = plain_settings(settings.model_copy(update={"embedder": threads}))
    return lambda: RayEngine(settings.cluster.address, _embedder_from, plain)


async def _embedder_from(plain: str) -> Embedder:
    """The embedder of settings that came to another process as JSON."""
    return await embedder_of(Settings.model_validate_json(plain))


@dataclass(frozen=True)
class IndexOptions:
    """What to index, and how: the arguments of `ragways.build`, which says what each is, and of `ragways index`."""

    paths: str | Path | Iterable[str | Path]
    index: str | Path | None = None
    _: KW_ONLY
    layers: Iterable[str] | None = None
    include: Iterable[str] | None = None
    exclude: Iterable[str] | None = None
    web: WebSource | None = None
    embedder: OwnEmbedder | None = None
    model: OwnModel | None = None
    settings: Settings | None = None
    budget: float | None = None
    rebuild: bool = False
    compare_contents: bool = False
    fresh: Iterable[str] = ()
    erase: bool = False
    progress: ProgressCallback = silent


async def index_files(wanted: IndexOptions) -> Summary:
    """Index files and folders, or bring an index up to date with them; returns what the run did."""
    from ragways.cloud.copies import written
    from ragways.core.trace import Budget, spending
    from ragways.index.build import build

    chosen, recipe, arguments = _run_of(wanted)
    with spending(Budget(usd=wanted.budget)), written(chosen.index, chosen.cache) as place:
        run = build(place.folder, recipe=recipe, erase=wanted.erase, **arguments)
        place.summary = await run
    return place.summary


async def plan_files(wanted: IndexOptions) -> IndexPlan:
    """What `index_files` would do and cost. Changes nothing."""
    from ragways.cloud.copies import no_url
    from ragways.index.plan import plan

    chosen, recipe, arguments = _run_of(wanted)
    return await plan(no_url(chosen.index, "a plan"), recipe=recipe, **arguments)


def _run_of(wanted: IndexOptions) -> tuple[Settings, Recipe, dict[str, Any]]:
    """The settings, the recipe, and the arguments that a run and a plan of it share."""
    from ragways.index.recipe import check_fresh

    chosen = settings_for(wanted.settings, wanted.index).selecting(wanted.include, wanted.exclude)
    recipe = recipe_of(chosen, wanted.layers, embedder=wanted.embedder, model=wanted.model)
    paths = [wanted.paths] if isinstance(wanted.paths, str | Path) else wanted.paths
    return chosen, recipe, {
        "paths": list(map(Path, paths)), "web": wanted.web, "rebuild": wanted.rebuild,
        "fresh": check_fresh(wanted.fresh), "compare_contents": wanted.compare_contents, "progress": wanted.progress,
    }  # fmt: skip


def settings_for(settings: Settings | None, index: str | Path | None) -> Settings:
    """The settings given, or those of this folder and the environment; `index` goes before theirs."""
    chosen = settings or read_settings()
    return chosen if index is None else chosen.model_copy(update={"index": Path(index)})


def _load_options(settings: CorpusSettings) -> LoadOptions:
    from ragways.corpus.source import Fields, LoadOptions

    known = [field.name for field in fields(Fields)]
    for name in settings.fields:
        if name not in known:
            raise SettingsError(f"there is no setting corpus.fields.{name}", did_you_mean(name, known))
    return LoadOptions(
        max_bytes=settings.max_bytes, fields=Fields(**{name: (value,) for name, value in settings.fields.items()})
    )


@asynccontextmanager
async def opened(
    settings: Settings, *, embedder: OwnEmbedder | None = None, model: OwnModel | None = None
) -> AsyncIterator[Resources]:
    """Everything a question needs, closed when done; an embedder or a model that is given goes before the settings.

    The index stays as it is when it is opened; `opened_live` follows it.
    """
    async with opened_live(settings, embedder=embedder, model=model) as live:
        with live.snapshot() as use:
            yield use


@asynccontextmanager
async def opened_live(
    settings: Settings, *, embedder: OwnEmbedder | None = None, model: OwnModel | None = None
) -> AsyncIterator[LiveResources]:
    """What a program needs that keeps its corpus open, and asks what is in it at the time."""
    from ragways.index.open import LiveIndex
    from ragways.retrieval.resources import LiveResources, Resources

    async with AsyncExitStack() as stack:
        live = stack.enter_context(closing(LiveIndex(settings.index)))
        chosen = await stack.enter_async_context(_embedder(settings, embedder))
        asks = settings.model.name or settings.model.roles
        work_cache = _reply_cache(settings.index, stack) if model is not None or asks else None
        client = await stack.enter_async_context(
            client_of(settings, work_cache, own=model, temperature=settings.answer.temperature)
        )
        reader = _reader(settings, stack)
        vectors: dict[str, NDArray[np.float32]] = {}  # of questions, which outlive a snapshot

        def resources(index: Index) -> Resources:
            if "vectors" in index.layers and index.embedder != chosen.name:
                given = "the one given" if embedder is not None else "the one in the settings"
                raise EmbedderChanged(
                    f"this index was built with embedder {index.embedder}, and {given} is {chosen.name}",
                    "set it back, give yours (ragways.open(…, embedder=…)), or build anew: "
                    "ragways index --rebuild PATH",
                )
            return Resources(
                index,
                chosen,
                client,
                threshold=settings.answer.threshold,
                sentences=settings.answer.sentences,
                reader=reader,
                answer_by=settings.answer.reader,
                order=settings.answer.order,
                stop_below=settings.answer.stop_below,
                check=settings.answer.check,
                prompts=settings.answer.prompts,
                fallback=settings.answer.fallback,
                wishes=_wishes(settings.answer),
                guard=settings.guard,
                support=settings.answer.support,
                router=settings.answer.router,
                _vectors=vectors,
            )

        with live.snapshot() as index:
            resources(index)  # a wrong embedder is an error before the first question
        yield LiveResources(live, resources)


def _wishes(answer: AnswerSettings) -> AnswerWishes:
    """What the settings ask of answers by a model; brief where they name no style."""
    from ragways.tasks.answers import AnswerWishes

    return AnswerWishes(answer.style or "brief", answer.system, answer.language, answer.tokens)


@asynccontextmanager
async def judge_resources_of(settings: Settings, run: Path | None = None) -> AsyncIterator[JudgeResources]:
    """What judges work with; their replies are stored in the folder of the run."""
    from ragways.evaluation.judges.judge import JudgeResources

    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(_embedder(settings))
        reader = _reader(settings, stack)
        has_model = settings.judge.name or settings.model.name
        work_cache = _reply_cache(run, stack) if has_model and run is not None else None
        yield JudgeResources(await stack.enter_async_context(judge_client_of(settings, work_cache)), embedder, reader)


@asynccontextmanager
async def _embedder(settings: Settings, own: OwnEmbedder | None = None) -> AsyncIterator[Embedder]:
    embedder = await embedder_of(settings, own)
    try:
        yield embedder
    finally:
        await embedder.aclose()


def _reader(settings: Settings, stack: AsyncExitStack) -> Reader | None:
    """What reads answers out of evidence; its file is opened when the first question needs it."""
    from ragways.models.encoder import comes_with
    from ragways.models.reader import FILE, Reader

    if not comes_with(FILE):
        return None
    reader = Reader(threads=settings.embedder.threads)
    stack.push_async_callback(reader.aclose)
    return reader


def _reply_cache(folder: Path, stack: AsyncExitStack) -> WorkCache | None:
    """The cache of replies in a folder; None where it cannot be written."""
    from ragways.store.cache import WorkCache

    try:
        return stack.enter_context(closing(WorkCache(folder)))
    except StoreError:
        return None


def registries() -> tuple[Registry[Any], ...]:
    """Every table that other packages can add to."""
    from ragways.corpus.load import LOADERS
    from ragways.evaluation.datasets import DATASETS
    from ragways.evaluation.metrics import METRICS
    from ragways.layers.table import LAYERS
    from ragways.retrieval.ask import PARADIGMS

    return (PARADIGMS, LAYERS, LOADERS, METRICS, DATASETS, EMBEDDERS, MODELS)
