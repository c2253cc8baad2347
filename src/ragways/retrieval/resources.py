"""The resources of a step: the index, the embedder, the client of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ragways.core.section import Section
from ragways.index.open import Index, LiveIndex
from ragways.models.client import ModelClient
from ragways.models.embed import Embedder
from ragways.tasks.answers import AnswerBy, AnswerWishes, Prompts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.reading.answers import PassageReader


_VECTORS_CACHED = 4096


class LiveResources:
    """Resources for a program that keeps its corpus open: each question gets them with the newest snapshot."""

    def __init__(self, index: LiveIndex, resources: Callable[[Index], Resources]) -> None:
        self._index = index
        self._resources = resources

    @contextmanager
    def snapshot(self, where: str | None = None) -> Iterator[Resources]:
        """For one question, or for several that must see the same; `where` is a filter of documents."""
        with self._index.snapshot() as index:
            yield self._resources(index).only(where)


class GuardSettings(Section):
    """Limits on copies and planted documents in evidence. Sources are patterns of keys (`source.key` of evidence)."""

    copies: int = Field(1, ge=0, description="most pieces of each group of near-duplicates in evidence; 0 is no limit")
    alike: float = Field(
        0.7, gt=0, le=1, description="share of their words that two pieces have in common to be near-duplicates"
    )
    echo: float = Field(
        0.8,
        gt=0,
        le=1,
        description="share of the question's words that makes a piece an echo; echoes are near-duplicates",
    )
    trust: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict,
        description='what pieces of a source count, 0 leaves them out, e.g. `{"docs/uploads/*" = 0.3}`; the longest '
        "pattern that fits is taken, * fits / too, sources that none fits count 1",
    )
    most: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict,
        description='most pieces of all documents that a pattern fits, e.g. `{"docs/uploads/*" = 2}`',
    )


@dataclass
class Resources:
    """`threshold` is the least chance of being right for an answer by rule, `sentences` the most sentences it has."""

    index: Index
    embedder: Embedder
    model: ModelClient
    threshold: float = 0.1
    sentences: int = 3
    doubt: float = 1.0
    """What the odds of an answer by rule are divided by: over 1 where a router takes it for unlikely that the corpus
    answers the question.
    """
    prompts: Prompts = "shared"
    """Whether all paradigms answer by one prompt, some by their own, or all as briefly as can be."""
    wishes: AnswerWishes = field(default_factory=AnswerWishes)
    """What the user wants of answers by a model."""
    fallback: bool = False
    """Whether the rule answers where the model could not; the answer reports it."""
    reader: PassageReader | None = None
    """What finds answers in evidence without a model; None where there is no such thing."""
    answer_by: AnswerBy = "read"
    """Whether the reader answers where there is no model, or the best sentences do."""
    order: bool = False
    """Whether a model is shown the best passages in the order in which the reader takes them for evidence."""
    stop_below: float = 0.0
    """The chance that the evidence answers below which a model is not asked."""
    check: bool = False
    """Whether the model's answer is compared with a short answer of the reader."""
    guard: GuardSettings = field(default_factory=GuardSettings)
    """What is left out of evidence."""
    router: Path | None = None
    """The file of the router that `auto` goes by, or `paradigms`; None is the index's own, or else the bundled one."""
    support: bool = False
    """Whether it is estimated how likely citations bear an answer out."""
    embedding: float = 0.0
    """CPU seconds that embedding has taken so far, for those who measure what else a question takes."""
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, each made once however many steps and paradigms ask for it."""
        import numpy as np

        if len(self._vectors) + len(texts) > _VECTORS_CACHED:
            self._vectors.clear()
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            began = time.process_time()
            known |= zip(missing, await self.embedder.embed(missing), strict=True)
            self.embedding += time.process_time() - began
            self._vectors.update(known)
        # From `known`: another question that is asked at the same time may have emptied the store meanwhile.
        return np.stack([known[text] for text in texts])

    def forget(self) -> None:
        """Forget the vectors made so far, so that the next question is timed as if it were the first."""
        self._vectors.clear()

    def over(self, index: Index, *, keep_vectors: bool = False) -> Resources:
        """The same over another reader of the index, with the vectors made so far or with none."""
        return replace(self, index=index, _vectors=dict(self._vectors) if keep_vectors else {})

    def only(self, where: str | None) -> Resources:
        """The same over the documents that match a filter (docs/filters.md); None is no filter."""
        from ragways.index.filtered import only

        return self if where is None else replace(self, index=only(self.index, where))

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, which some embedders make otherwise than that of a passage."""
        if not hasattr(self.embedder, "embed_queries"):
            vector: NDArray[np.float32] = (await self.embed([text]))[0]
            return vector
        name = f"question\0{text}"
        if name not in self._vectors:
            self._vectors[name] = (await self.embedder.embed_queries([text]))[0]
        return self._vectors[name]
