"""The async half of the Python API: `aopen` and `AsyncCorpus`.

    async with ragways.aopen("my-index") as corpus:
        result = await corpus.ask("Who built the lighthouse?", "fused")

`library.py` has the same for code that is not async, and stands on this.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ragways.assemble import opened_live, settings_for
from ragways.cloud.copies import readable
from ragways.core.errors import RagwaysError, StoreBusy, UsageError
from ragways.core.runtime import limit_threads
from ragways.core.stream import OnText
from ragways.core.table import Column, Table
from ragways.core.text import counted
from ragways.core.trace import Budget, spending
from ragways.core.types import Answer, Evidence, Hits, Query, answer_html
from ragways.pictures.neighbourhood import Neighbourhood, neighbourhood
from ragways.retrieval.ask import Result, ask, check_question, retrieve
from ragways.retrieval.paradigm import Paradigm
from ragways.settings import Settings
from ragways.tasks.follow_up import FOLLOW_UP, FollowUpInput, Turn

if TYPE_CHECKING:
    from ragways.core.step import Step
    from ragways.models.adapt import OwnEmbedder, OwnModel
    from ragways.retrieval.resources import Resources

limit_threads()

T = TypeVar("T")


DEFAULT_PARADIGM = "auto"


class AsyncCorpus:
    """An open index, for asking from async code. Made by `aopen`; close it with `aclose` or an `async with` block.

    Each question sees the index as it is when it is asked: what was indexed or removed since it was opened counts.
    """

    def __init__(self, settings: Settings, embedder: OwnEmbedder | None, model: OwnModel | None) -> None:
        self.settings = settings
        self._own = (embedder, model)
        self._stack = AsyncExitStack()

    async def open(self) -> AsyncCorpus:
        """Open the index; `aopen` does this."""
        embedder, model = self._own
        folder = await asyncio.to_thread(readable, self.settings.index, self.settings.cache)
        self.settings = self.settings.model_copy(update={"index": folder})
        live = opened_live(self.settings, embedder=embedder, model=model)
        self._live = await self._stack.enter_async_context(live)
        return self

    def snapshot(self, where: str | None = None) -> AbstractContextManager[Resources]:
        """What steps work with, at one state of the index: `with corpus.snapshot() as use`. `where` is a filter."""
        return self._live.snapshot(where)

    async def _question(self, ask: Callable[[Resources], Awaitable[T]]) -> T:
        """Ask at the newest state; where a removal took it away meanwhile, once more."""
        try:
            with self.snapshot() as use:
                return await ask(use)
        except StoreBusy:
            with self.snapshot() as use:
                return await ask(use)

    async def aclose(self) -> None:
        """Let go of the index and of connections. A second call does nothing."""
        await self._stack.aclose()

    async def __aenter__(self) -> AsyncCorpus:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def ask(
        self,
        /,
        question: str,
        paradigm: str | Paradigm | Step[Query, Answer] = DEFAULT_PARADIGM,
        *,
        where: str | None = None,
        budget: float | None = None,
        history: Sequence[tuple[str, str]] = (),
        style: str | None = None,
        on_text: OnText | None = None,
        **settings: Any,  # noqa: ANN401 - the paradigm's own, checked by it
    ) -> Result:
        """Answer one question in one way.

        Args:
            question: what to ask.
            paradigm: the name of a way of answering (`ragways.paradigms()` lists them), or a `Paradigm` or a `Step`
                from `Query` to `Answer` of your own.
            where: a filter of documents, such as `'date>2020 and path~"api/"'`: no other has a part in the answer.
            budget: the most this answer may cost, in USD.
            history: questions and answers before, the oldest first. The question may lean on them ("Where was she
                born?"): it is made whole first, and `result.question` is how it was understood.
            style: of an answer by a model: `brief`, `full`, or your own words; None is the settings' `answer.style`.
            on_text: called with pieces of the answer's text while it is written.
            **settings: settings of the paradigm, such as `k=20`.

        Returns:
            The answer with its citations and evidence, the trace of how it came about, and what it cost.
        """
        chosen = self._paradigm_settings(paradigm, settings)
        turns = [Turn(*turn) for turn in history]

        async def answered(use: Resources) -> Result:
            whole = question
            if style is not None:
                use = replace(use, wishes=replace(use.wishes, style=style))
            if turns:
                given = FollowUpInput(check_question(question), turns)
                whole = (await use.model.do(FOLLOW_UP, given, rule_if_unusable=True)).value.question
            return await ask(use, whole, paradigm, chosen, on_text=on_text, where=where)

        with spending(Budget(usd=budget)):
            return await self._question(answered)

    async def retrieve(
        self,
        /,
        question: str,
        paradigm: str | Paradigm | Step[Query, Hits] | Step[Query, Evidence] | Step[Query, Answer] = DEFAULT_PARADIGM,
        *,
        where: str | None = None,
        **settings: Any,  # noqa: ANN401 - the paradigm's own, checked by it
    ) -> Hits:
        """Find evidence for a question without answering it.

        Args:
            question: what to look for.
            paradigm: a name, a `Paradigm`, or a `Step` from `Query` to `Hits`, `Evidence` or `Answer`.
            where: a filter of documents, as in `ask`.
            **settings: settings of the paradigm.

        Returns:
            The ranked hits, best first.
        """
        chosen = self._paradigm_settings(paradigm, settings)
        return await self._question(lambda use: retrieve(use, question, paradigm, chosen, where=where))

    def stream(
        self,
        question: str,
        paradigm: str | Paradigm | Step[Query, Answer] = DEFAULT_PARADIGM,
        **options: Any,  # noqa: ANN401 - those of `ask`, checked there
    ) -> AsyncStreamedAnswer:
        """Answer one question, and give the answer as it is written. Takes what `ask` takes.

        Returns an iterator over pieces of text; `stream.result` is the whole result at the end.
        """
        return AsyncStreamedAnswer(lambda sink: self.ask(question, paradigm, on_text=sink, **options))

    async def compare(
        self,
        question: str,
        paradigms: Sequence[str | Paradigm],
        *,
        where: str | None = None,
        budget: float | None = None,
    ) -> ComparedAnswers:
        """Answer one question in several ways, one after the other.

        Args:
            question: what to ask.
            paradigms: names, or paradigms of your own.
            where: a filter of documents, as in `ask`.
            budget: the most that all of them together may cost, in USD.

        Returns:
            The results by name, with a table of them; one that failed is its error.
        """
        results: dict[str, Result | RagwaysError] = {}
        with spending(Budget(usd=budget)):
            for paradigm in paradigms:
                name = paradigm if isinstance(paradigm, str) else paradigm.name
                try:
                    results[name] = await self.ask(question, paradigm, where=where)
                except UsageError:
                    raise
                except RagwaysError as error:  # one way that cannot answer must not hide the others
                    results[name] = error
        return ComparedAnswers(question, results)

    async def neighbourhood(self, entity: str, *, hops: int = 1) -> Neighbourhood:
        """What the knowledge graph has around an entity, as a value that a notebook shows as a picture.

        Args:
            entity: a name or an id.
            hops: how far to go.

        Returns:
            The entity with those around it, heaviest first, and the relations between them with their quotes.
        """
        with self.snapshot() as use:
            return neighbourhood(use.index, entity, hops=hops)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that are built."""
        with self.snapshot() as use:
            return tuple(sorted(use.index.layers))

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self.settings.index

    def __len__(self) -> int:
        """How many documents there are."""
        with self.snapshot() as use:
            return len(use.index.documents())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {counted(len(self), 'document')}, layers {', '.join(self.layers)}>"

    def _paradigm_settings(self, paradigm: object, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the settings file for this paradigm, with what this call says."""
        return {**(self.settings.paradigms.get(paradigm, {}) if isinstance(paradigm, str) else {}), **settings}


class AsyncStreamedAnswer:
    """Pieces of an answer's text as they are written: `async for piece in stream`. `result` is there at the end.

    Where a model's reply could not be used and it was asked again, the answer begins anew: `text` is what counts of the
    pieces so far, and at the end it is the answer's text.
    """

    def __init__(self, ask: Callable[[OnText], Coroutine[Any, Any, Result]]) -> None:
        self._ask = ask
        self._result: Result | None = None
        self.text = ""

    @property
    def result(self) -> Result:
        """The whole answer with its citations, evidence, trace and cost."""
        if self._result is None:
            raise UsageError("the answer is not complete yet", "read the stream to its end first")
        return self._result

    async def __aiter__(self) -> AsyncIterator[str]:
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def sink(text: str, *, restart: bool = False) -> None:
            self.text = text if restart else self.text + text
            if text:
                pieces.put_nowait(text)

        async def work() -> Result:
            try:
                return await self._ask(sink)
            finally:
                pieces.put_nowait(None)

        task = asyncio.ensure_future(work())
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            self._result = await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class _Opening:
    """What `aopen` gives: something to await, or to enter with `async with`."""

    def __init__(self, corpus: AsyncCorpus) -> None:
        self._corpus = corpus

    def __await__(self) -> Generator[Any, None, AsyncCorpus]:
        return self._corpus.open().__await__()

    async def __aenter__(self) -> AsyncCorpus:
        return await self._corpus.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._corpus.aclose()


def aopen(
    index: str | Path | None = None,
    *,
    embedder: OwnEmbedder | None = None,
    model: OwnModel | None = None,
    settings: Settings | None = None,
) -> _Opening:
    """The async twin of `open`: `corpus = await aopen("my-index")`, or `async with aopen("my-index") as corpus`."""
    return _Opening(AsyncCorpus(settings_for(settings, index), embedder, model))


@dataclass(frozen=True)
class ComparedAnswers(Mapping[str, Any]):
    """Answers to one question by several paradigms, by name; one that failed is its error."""

    question: str
    results: Mapping[str, Result | RagwaysError]

    def __getitem__(self, name: str) -> Result | RagwaysError:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def table(self) -> Table:
        """A row a paradigm: answer, pieces and tokens of evidence, calls, money and seconds."""
        rows = [_compared_row(name, result) for name, result in self.results.items()]
        names = ("paradigm", "answer", "evidence", "tokens", "calls")
        columns = [*map(Column, names), Column("usd", ".4f"), Column("seconds", ".2f")]
        return Table.of(columns, rows, title=self.question)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        answered = {name: result for name, result in self.results.items() if isinstance(result, Result)}
        answers = "".join(f"<h4>{name}</h4>{answer_html(result.answer)}" for name, result in answered.items())
        return self.table().html() + answers


def _compared_row(name: str, result: Result | RagwaysError) -> tuple[str | int | float | None, ...]:
    if isinstance(result, RagwaysError):
        return (name, f"failed: {result}", None, None, None, None, None)
    evidence, usage = result.answer.evidence, result.usage
    return (name, result.answer.text, len(evidence.items), evidence.tokens, usage.calls, usage.cost, result.seconds)
