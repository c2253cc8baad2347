"""Answer a question from passages, each sentence with the passages it rests on.

There are two presets of prompts. *Shared* is one prompt for all paradigms, so that they differ in what they find alone.
*Native* lets some of them answer in their own way: from facts before text, from rated points, knowing what was
asked on the way, or along a walk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ragways.models.task import Task
from ragways.tasks.extract import Extraction, extract

Native = Literal["facts", "points", "rounds", "walk"]
Prompts = Literal["shared", "native"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence as it is shown: its title and date, and its text in sentences; `rating` is its score."""

    title: str
    date: str
    text: str
    sentences: tuple[str, ...]
    kind: str = "chunk"
    rating: float = 0.0


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of an answer and the numbers, from 1, of the passages it rests on."""

    text: str
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """`answered` is false when the passages do not hold the answer; then there are no sentences."""

    answered: bool
    sentences: tuple[Said, ...]


@dataclass(frozen=True)
class Extractor:
    """What answering without a model needs: vectors of texts, and how careful and how brief to be."""

    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]
    terms: Callable[[str], list[str]]
    threshold: float
    most: int


def _render(
    question: str,
    passages: Sequence[Passage],
    extractor: Extractor,  # noqa: ARG001
    searches: Sequence[str] = (),  # noqa: ARG001
) -> Mapping[str, object]:
    return {"question": question, "passages": "\n\n".join(_shown(n, p) for n, p in enumerate(passages, start=1))}


def _facts_first(
    question: str,
    passages: Sequence[Passage],
    extractor: Extractor,  # noqa: ARG001
    searches: Sequence[str] = (),  # noqa: ARG001
) -> Mapping[str, object]:
    """Facts of the graph as lines, then texts. Each keeps its number in the evidence, so that citations fit."""
    numbered = list(enumerate(passages, start=1))
    facts = [f"[{n}] {p.text}{f' ({p.date})' if p.date else ''}" for n, p in numbered if p.kind == "triplet"]
    texts = [_shown(n, p) for n, p in numbered if p.kind != "triplet"]
    return {"question": question, "facts": "\n".join(facts) or "none", "passages": "\n\n".join(texts) or "none"}


def _rated(
    question: str,
    passages: Sequence[Passage],
    extractor: Extractor,  # noqa: ARG001
    searches: Sequence[str] = (),  # noqa: ARG001
) -> Mapping[str, object]:
    points = [f"[{n}] (rated {p.rating:.0f}) {p.text}" for n, p in enumerate(passages, start=1)]
    return {"question": question, "points": "\n".join(points)}


def _with_searches(
    question: str, passages: Sequence[Passage], extractor: Extractor, searches: Sequence[str] = ()
) -> Mapping[str, object]:
    return {**_render(question, passages, extractor), "searches": "\n".join(searches) or "none"}


def _shown(number: int, passage: Passage) -> str:
    date = f" ({passage.date})" if passage.date else ""
    return f"[{number}] {passage.title}{date}\n{passage.text}"


def _check(reply: Reply, variables: Mapping[str, object]) -> str | None:
    """Citations must name passages that were shown, and an answer must say something."""
    passages = variables["passages"]
    shown = len(passages) if isinstance(passages, Sequence) else 0
    wrong = sorted({n for said in reply.sentences for n in said.passages if not 1 <= n <= shown})
    if wrong:
        return f"there is no passage {wrong[0]}; passages are numbered 1 to {shown}"
    if reply.answered and not any(said.text.strip() for said in reply.sentences):
        return "`answered` is true, but there is no sentence"
    if not reply.answered and any(said.passages for said in reply.sentences):
        return "`answered` is false, but there are sentences that rest on passages"
    return None


async def _without(
    question: str,
    passages: Sequence[Passage],
    extractor: Extractor,
    searches: Sequence[str] = (),  # noqa: ARG001
) -> Reply:
    """The sentences of the passages that answer best, or none where they do not cover the question."""
    found: Extraction = await extract(
        question,
        [(passage.title, passage.date, passage.sentences) for passage in passages],
        embed=extractor.embed,
        terms=extractor.terms,
        threshold=extractor.threshold,
        most=extractor.most,
    )
    if not found.covered:
        return Reply(False, ())
    return Reply(True, tuple(Said(passages[p].sentences[s], (p + 1,)) for p, s in found.sentences))


ANSWER = Task("answer", prompt="answer", reply=Reply, without=_without, render=_render, check=_check)

NATIVE: Mapping[Native, Task[Reply]] = {
    "facts": replace(ANSWER, prompt="native-facts", render=_facts_first),
    "points": replace(ANSWER, prompt="native-points", render=_rated),
    "rounds": replace(ANSWER, prompt="native-rounds", render=_with_searches),
    "walk": replace(ANSWER, prompt="native-walk"),
}


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a model says from memory."""

    answered: bool
    answer: str


async def _nothing(question: str) -> Recalled:  # noqa: ARG001
    """Without a model there is no memory to answer from."""
    return Recalled(False, "")


RECALL = Task("recall", prompt="recall", reply=Recalled, without=_nothing, temperature=0.7, max_output=512)
