"""Settings made into things: the embedder, the client of a model, what a question and an index need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import EmbedderChanged, SettingsError, StoreError, did_you_mean
from ragways.core.registry import Registry
from ragways.corpus.structure import PRESETS, Chunking
from ragways.settings import ChunkingSettings, CorpusSettings, ModelSettings, Settings

if TYPE_CHECKING:
    from ragways.corpus.source import LoadOptions
    from ragways.evaluation.judges.judge import JudgeResources
    from ragways.index.update import Recipe
    from ragways.index.work_cache import WorkCache
    from ragways.models.call import ReplyCache
    from ragways.models.client import ModelClient
    from ragways.models.embed import Embedder
    from ragways.models.tokens import Prices
    from ragways.retrieval.resources import Resources


def chunking_of(settings: ChunkingSettings) -> Chunking:
    """The preset with what the settings change of it."""
    changes = settings.model_dump(exclude={"preset"}, exclude_none=True)
    return replace(PRESETS[settings.preset], **changes)


async def embedder_of(settings: Settings) -> Embedder:
    chosen = settings.embedder
    if chosen.kind == "minilm":
        from ragways.models.minilm import MiniLM

        return MiniLM(settings.cache, precision=chosen.precision, threads=chosen.threads)
    from ragways.models.embed import EndpointEmbedder

    if not chosen.base_url or not chosen.name:
        raise SettingsError("embedder.kind is endpoint, but embedder.base_url or embedder.name is not set", "set both")
    key = chosen.key.get_secret_value()
    dimension = chosen.dimension or await EndpointEmbedder.discover(chosen.base_url, key, chosen.name)
    return EndpointEmbedder(
        chosen.base_url,
        key,
        chosen.name,
        dimension=dimension,
        prices=prices_of(settings),
        concurrency=settings.model.concurrency,
        patience=settings.model.patience,
    )


def client_of(settings: Settings, cache: ReplyCache | None = None) -> ModelClient:
    """The client of the model that is set, or of none."""
    return _client(settings, settings.model, "model", cache)


def judge_client_of(settings: Settings, cache: ReplyCache | None = None) -> ModelClient:
    """The client of the model that judges: the one set for it, else the language model itself."""
    if settings.judge.name or settings.judge.base_url:
        return _client(settings, settings.judge, "judge", cache)
    return client_of(settings, cache)


def _client(settings: Settings, chosen: ModelSettings, section: str, cache: ReplyCache | None) -> ModelClient:
    from ragways.models.client import ModelClient

    if not chosen.name and not chosen.base_url:
        return ModelClient(None)
    if not chosen.name or not chosen.base_url:
        missing = "name" if not chosen.name else "base_url"
        cure = f"set both {section}.name and {section}.base_url, or neither"
        raise SettingsError(f"{section}.{missing} is not set", cure)
    from ragways.models.endpoint import Endpoint

    return ModelClient(
        Endpoint(chosen.base_url, chosen.key.get_secret_value(), chosen.name, timeout=chosen.timeout),
        cache=cache,
        prices=prices_of(settings),
        concurrency=chosen.concurrency,
        requests_per_minute=chosen.requests_per_minute,
        tokens_per_minute=chosen.tokens_per_minute,
        patience=chosen.patience,
    )


def prices_of(settings: Settings) -> Prices:
    """The built-in table, with what the settings say of it."""
    from ragways.models.tokens import Price, Prices

    return Prices({name: Price(p.input, p.output, p.cached) for name, p in settings.prices.items()})


def recipe_of(settings: Settings, layers: frozenset[str], *, graph: Mapping[str, Any] | None = None) -> Recipe:
    """What the settings say an index is to be; `graph` changes how its knowledge graph is made."""
    from ragways.index.update import Recipe

    return Recipe(
        embedder=lambda: embedder_of(settings),
        chunking=chunking_of(settings.chunking),
        layers=layers,
        model=lambda work_cache: client_of(settings, work_cache),
        options=_load_options(settings.corpus),
        settings={
            "graph": {**settings.graph, **(graph or {})},
            "windows": settings.windows,
            "communities": settings.communities,
        },
    )


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
async def opened(settings: Settings) -> AsyncIterator[Resources]:
    """Everything a question needs, closed when done."""
    from ragways.index.reader import Index
    from ragways.retrieval.resources import Resources

    async with AsyncExitStack() as stack:
        index = stack.enter_context(closing(Index.open(settings.index)))
        embedder = await stack.enter_async_context(_embedder(settings))
        if "vectors" in index.layers and index.embedder != embedder.name:
            raise EmbedderChanged(
                f"this index was built with embedder {index.embedder}, and the settings now say {embedder.name}",
                "set it back, or build anew with: ragways index --rebuild PATH",
            )
        work_cache = _kept_replies(settings.index, stack) if settings.model.name else None
        yield Resources(
            index,
            embedder,
            await stack.enter_async_context(client_of(settings, work_cache)),
            threshold=settings.answer.threshold,
            sentences=settings.answer.sentences,
            prompts=settings.answer.prompts,
        )


@asynccontextmanager
async def judge_resources_of(settings: Settings, run: Path | None = None) -> AsyncIterator[JudgeResources]:
    """What judges work with; the replies to them are kept in the folder of the run."""
    from ragways.evaluation.judges.judge import JudgeResources

    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(_embedder(settings))
        asked = settings.judge.name or settings.model.name
        work_cache = _kept_replies(run, stack) if asked and run is not None else None
        yield JudgeResources(await stack.enter_async_context(judge_client_of(settings, work_cache)), embedder)


@asynccontextmanager
async def _embedder(settings: Settings) -> AsyncIterator[Embedder]:
    embedder = await embedder_of(settings)
    try:
        yield embedder
    finally:
        await embedder.aclose()


def _kept_replies(folder: Path, stack: AsyncExitStack) -> WorkCache | None:
    """Replies are kept in a folder; where it cannot be written, they are not kept."""
    from ragways.index.work_cache import WorkCache

    try:
        return stack.enter_context(closing(WorkCache(folder)))
    except StoreError:
        return None


def registries() -> tuple[Registry[Any], ...]:
    """Every table that other packages can add to."""
    from ragways.corpus.load import LOADERS
    from ragways.evaluation.datasets import DATASETS
    from ragways.evaluation.metrics import METRICS
    from ragways.retrieval.ask import PARADIGMS

    return PARADIGMS, LOADERS, METRICS, DATASETS
