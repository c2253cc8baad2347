"""Settings made into things: the embedder, the door to a model, the resources of a question, the recipe of an index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import EmbedderChanged, SettingsError, StoreError
from ragways.core.suggest import did_you_mean
from ragways.corpus.chunking import PRESETS, Chunking
from ragways.settings import ChunkingSettings, CorpusSettings, Settings

if TYPE_CHECKING:
    from ragways.corpus.source import LoadOptions
    from ragways.index.paid import Paid
    from ragways.index.recipe import Recipe
    from ragways.models.door import Door
    from ragways.models.embed import Embedder
    from ragways.models.prices import Prices
    from ragways.modules.resources import Resources


def chunking_of(settings: ChunkingSettings) -> Chunking:
    """The preset with what the settings change of it."""
    changes = settings.model_dump(exclude={"preset"}, exclude_none=True)
    return replace(PRESETS[settings.preset], **changes)


async def embedder_of(settings: Settings) -> Embedder:
    chosen = settings.embedder
    if chosen.kind == "minilm":
        from ragways.models.minilm import MiniLM

        return MiniLM(settings.cache, precision=chosen.precision, threads=chosen.threads)
    from ragways.models.endpoint_embed import EndpointEmbedder

    if not chosen.base_url or not chosen.name:
        raise SettingsError("embedder.kind is endpoint, but embedder.base_url or embedder.name is not set", "set both")
    key = chosen.key.get_secret_value()
    dimension = chosen.dimension or await EndpointEmbedder.discover(chosen.base_url, key, chosen.name)
    return EndpointEmbedder(
        chosen.base_url,
        key,
        chosen.name,
        dimension=dimension,
        prices=_prices(settings),
        concurrency=settings.model.concurrency,
        patience=settings.model.patience,
    )


def door_of(settings: Settings, cache: Paid | None = None) -> Door:
    """The door to the model that is set, or one that leads to none."""
    from ragways.models.door import Door

    chosen = settings.model
    if not chosen.name and not chosen.base_url:
        return Door(None)
    if not chosen.name or not chosen.base_url:
        missing = "name" if not chosen.name else "base_url"
        raise SettingsError(f"model.{missing} is not set", "set both model.name and model.base_url, or neither")
    from ragways.models.endpoint import Endpoint

    return Door(
        Endpoint(chosen.base_url, chosen.key.get_secret_value(), chosen.name, timeout=chosen.timeout),
        cache=cache,
        prices=_prices(settings),
        concurrency=chosen.concurrency,
        requests_per_minute=chosen.requests_per_minute,
        tokens_per_minute=chosen.tokens_per_minute,
        patience=chosen.patience,
    )


def _prices(settings: Settings) -> Prices:
    from ragways.models.prices import Price, Prices

    return Prices({name: Price(p.input, p.output, p.cached) for name, p in settings.prices.items()})


def recipe_of(settings: Settings, layers: frozenset[str], *, graph: Mapping[str, Any] | None = None) -> Recipe:
    """What the settings say an index is to be; `graph` changes how its knowledge graph is made."""
    from ragways.index.recipe import Recipe

    return Recipe(
        embedder=lambda: embedder_of(settings),
        chunking=chunking_of(settings.chunking),
        layers=layers,
        model=lambda paid: door_of(settings, paid),
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
    from ragways.modules.resources import Resources

    index = Index.open(settings.index)
    embedder = await embedder_of(settings)
    if "vectors" in index.layers and index.embedder != embedder.name:
        index.close()
        raise EmbedderChanged(
            f"this index was built with embedder {index.embedder}, and the settings now say {embedder.name}",
            "set it back, or build anew with: ragways index --rebuild PATH",
        )
    paid = _reply_cache(settings.index) if settings.model.name else None
    door = door_of(settings, paid)
    try:
        yield Resources(
            index,
            embedder,
            door,
            care=settings.answer.care,
            sentences=settings.answer.sentences,
            prompts=settings.answer.prompts,
        )
    finally:
        await door.aclose()
        await embedder.aclose()
        if paid is not None:
            paid.close()
        index.close()


def _reply_cache(folder: Path) -> Paid | None:
    """Replies are kept beside the index; where it cannot be written, they are not kept."""
    from ragways.index.paid import Paid

    try:
        return Paid(folder)
    except StoreError:
        return None
