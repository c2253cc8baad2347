"""What a layer of the index is: work that is kept by content, and files derived from it and from the store.

An index is a function of its documents: whatever costs time or money is kept in the work cache under the hash of what
it was made from, and everything else is derived again, in one fixed order, for each generation. So the order in which
documents came, and what happened on the way, cannot be told from the result.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.core.errors import SettingsError, did_you_mean
from ragways.core.progress import ProgressCallback, silent
from ragways.core.trace import Usage
from ragways.index.store import Store
from ragways.index.work_cache import WorkCache
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Texts = Mapping[str, str]
"""Texts by their content hash."""


@dataclass
class BuildContext:
    """Where a layer is built. The store is open for writing and holds the documents of the generation to come."""

    store: Store
    work_cache: WorkCache
    model: ModelClient
    embedder: Embedder | None
    embed: Callable[[Texts], Awaitable[None]]
    """Sees to it that each text has its vector in the work cache."""
    report: ProgressCallback = silent
    before: Path | None = None
    """The derived folder of the generation before, to take over what did not change."""
    new: frozenset[int] | None = None
    """Numbers of the documents that came, where none changed or went; None where some did."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all layers by name, e.g. `settings["graph"]["way"]`; what is missing has its default."""
    made: dict[str, Any] = field(default_factory=dict)
    """What one layer made in this run for another to use."""
    failed: int = 0
    """Units of work that could not be done; they are tried again on the next run."""
    why: str = ""
    """What the first of them failed of."""

    def fail(self, why: str, units: int = 1) -> None:
        self.failed += units
        self.why = self.why or why


@dataclass(frozen=True)
class PlanContext:
    """A run that is only planned. `context` holds the documents as the run would leave them, in a store of its own.

    `sample` is a context of a few of these documents on which nothing is paid for, and everything is done by rules:
    what it takes there tells what it will take. `share` is the sample's share of the tokens of the corpus, and `fresh`
    the share of documents that the layer has not seen yet.
    """

    context: BuildContext
    sample: BuildContext
    share: float
    fresh: float


@dataclass(frozen=True)
class LayerEstimate:
    """What a layer would do. `texts` are those that need a vector; of others, which nobody knows before, there will be
    some `like` these, so many `times`. `usage` is that of the model for work kept as `kind`, `seconds` what is computed
    besides. `estimated` says, in words, what was not counted.
    """

    rows: int
    texts: Iterable[str] = ()
    like: Sequence[str] = ()
    times: float = 1.0
    usage: Usage = field(default_factory=Usage)
    kind: str = ""
    seconds: float = 0.0
    estimated: str = ""


async def _no_work(_: BuildContext) -> None:
    """All of the layer is derived."""


def _nothing(_: BuildContext) -> dict[str, set[str]]:
    return {}


def _no_cost(_: PlanContext) -> LayerEstimate:
    return LayerEstimate(0)


@dataclass(frozen=True)
class Layer:
    """`work` does what must be paid for, `derive` writes the layer's files into a folder, `used` tells which hashes of
    each kind of work the layer still needs, so that the rest can be forgotten when documents go. `plan` tells what
    `work` and `derive` would take.
    """

    name: str
    summary: str
    needs: frozenset[str]
    derive: Callable[[BuildContext, Path], None]
    work: Callable[[BuildContext], Awaitable[None]] = _no_work
    used: Callable[[BuildContext], dict[str, set[str]]] = _nothing
    plan: Callable[[PlanContext], LayerEstimate] = _no_cost


def check_names(layer: str, given: Iterable[str], known: Collection[str]) -> None:
    """A setting that a layer does not have is a slip."""
    for name in given:
        if name not in known:
            raise SettingsError(f"there is no setting {layer}.{name}", did_you_mean(name, known))


def given_settings(context: BuildContext, layer: str) -> Mapping[str, Any]:
    """The settings given, else those that this index was built with: a removal must not change them."""
    given: Mapping[str, Any] | None = context.settings.get(layer)
    kept: Mapping[str, Any] = json.loads(context.store.meta().get(layer, "{}"))
    return kept if given is None else given


def keep_settings(context: BuildContext, layer: str, options: DataclassInstance, **more: str) -> None:
    """Remember how this index is built."""
    context.store.set_meta({layer: json.dumps(asdict(options), sort_keys=True), **more})
