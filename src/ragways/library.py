"""ragways from Python: build an index, open it, ask it, compare ways of answering.

    import ragways

    ragways.build(["docs"], "my-index")
    corpus = ragways.open("my-index")
    result = corpus.ask("Who built the lighthouse?", "fused")
    print(result.answer.text, [citation.quote for citation in result.answer.citations])

Everything here works in a script, in a notebook and inside a server whose event loop is running. Whoever writes `async`
code uses the twins `abuild`, `aopen` and `AsyncCorpus`, which take the same arguments.
"""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ragways.asynchronous import (
    DEFAULT_PARADIGM,
    AsyncCorpus,
    AsyncStreamedAnswer,
    ComparedAnswers,
    abuild,
    settings_for,
)
from ragways.core.errors import UsageError
from ragways.core.runtime import ProgressCallback, limit_threads, silent
from ragways.core.sync import LoopThread, run_sync
from ragways.core.table import Table
from ragways.core.text import counted
from ragways.core.types import Answer, Evidence, Hits, Query
from ragways.corpus.source import WebSource
from ragways.index.recipe import Summary
from ragways.layers.table import USUAL
from ragways.pictures.neighbourhood import Neighbourhood
from ragways.retrieval.ask import PARADIGMS, Result
from ragways.retrieval.paradigm import Paradigm
from ragways.settings import Settings

if TYPE_CHECKING:
    from ragways.core.step import Step
    from ragways.models.adapt import OwnEmbedder, OwnModel

limit_threads()

T = TypeVar("T")


def build(
    paths: str | Path | Iterable[str | Path],
    index: str | Path | None = None,
    *,
    layers: Iterable[str] = USUAL,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    web: WebSource | None = None,
    embedder: OwnEmbedder | None = None,
    model: OwnModel | None = None,
    settings: Settings | None = None,
    budget: float | None = None,
    rebuild: bool = False,
    fresh: Iterable[str] = (),
    erase: bool = False,
    progress: ProgressCallback = silent,
) -> Summary:
    """Index files and folders, or bring an index up to date with them.

    Args:
        paths: files and folders to read. What was read before and did not change is not read again.
        index: the folder of the index; unset, the one in the settings (`.ragways`).
        layers: what to build besides the structure: `vectors`, `words`, `windows`, `graph`, `communities`.
        include: patterns as in `.gitignore` of files to read, counted from each folder; unset, those of the settings.
        exclude: patterns of files and folders to leave out; unset, those of the settings.
        web: pages of web sites to fetch and index too: `WebSource(("https://example.org/docs/",), depth=2)`.
        embedder: an embedder of your own, any object with `name` and `embed(texts)`. The index remembers its name and
            can only be opened with it.
        model: a language model of your own, any object with `name` and `complete(messages)`.
        settings: those to use; unset, they are read from `ragways.toml` and the environment.
        budget: the most to spend, in USD. What was done before it is reached is kept.
        rebuild: start anew instead of updating.
        fresh: what is otherwise made anew only after many changes, and is to be in this run: `lexicon`, `communities`.
        erase: leave no byte of documents that are removed or changed. `summary.erasure` says what was looked at, and
            `summary.unerased` whether something can still be read.
        progress: called with a `Progress` as the work goes on.

    Returns:
        What the run did: documents added, changed, removed and unchanged, files that could not be read, and the cost.

    Example:
        >>> ragways.build("docs", "my-index", layers=["vectors", "words", "graph"]).added  # doctest: +SKIP
        12
    """
    return run_sync(
        abuild(
            paths,
            index,
            layers=layers,
            include=include,
            exclude=exclude,
            web=web,
            embedder=embedder,
            model=model,
            settings=settings,
            budget=budget,
            rebuild=rebuild,
            fresh=fresh,
            erase=erase,
            progress=progress,
        )
    )


def open(
    index: str | Path | None = None,
    *,
    embedder: OwnEmbedder | None = None,
    model: OwnModel | None = None,
    settings: Settings | None = None,
) -> Corpus:
    """Open an index that was built before.

    Args:
        index: its folder; unset, the one in the settings (`.ragways`).
        embedder: the embedder of your own that it was built with, if it was.
        model: a language model of your own: any object with `name` and `complete(messages)`, which gets a list of
            `{"role": …, "content": …}` and returns text. Unset, the one in the settings, if there is one.
        settings: those to use; unset, they are read from `ragways.toml` and the environment.

    Returns:
        A `Corpus`, open until `close` is called, a `with` block ends, or nobody holds it any more.

    Example:
        >>> with ragways.open("my-index") as corpus:  # doctest: +SKIP
        ...     print(corpus.ask("Who built the lighthouse?").answer.text)
    """
    return Corpus(settings_for(settings, index), embedder, model)


class Corpus:
    """An open index, for asking. Made by `open`. Any number of threads may use one.

    Each question sees the index as it is when it is asked: what was indexed or removed since it was opened counts.
    """

    def __init__(self, settings: Settings, embedder: OwnEmbedder | None = None, model: OwnModel | None = None) -> None:
        self._thread = LoopThread()
        self._corpus = AsyncCorpus(settings, embedder, model)
        try:
            self._thread.run(self._corpus.open())
        except BaseException:
            self._thread.close()
            raise
        self._end = weakref.finalize(self, _close, self._thread, self._corpus)

    def ask(
        self,
        question: str,
        paradigm: str | Paradigm | Step[Query, Answer] = DEFAULT_PARADIGM,
        *,
        where: str | None = None,
        budget: float | None = None,
        history: Sequence[tuple[str, str]] = (),
        style: str | None = None,
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
            **settings: settings of the paradigm, such as `k=20`.

        Returns:
            The answer with its citations and evidence, the trace of how it came about, and what it cost.
        """
        return self._run(
            self._corpus.ask(question, paradigm, where=where, budget=budget, history=history, style=style, **settings)
        )

    def retrieve(
        self,
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
        return self._run(self._corpus.retrieve(question, paradigm, where=where, **settings))

    def stream(
        self,
        question: str,
        paradigm: str | Paradigm | Step[Query, Answer] = DEFAULT_PARADIGM,
        *,
        where: str | None = None,
        budget: float | None = None,
        **settings: Any,  # noqa: ANN401 - the paradigm's own, checked by it
    ) -> StreamedAnswer:
        """Answer one question, and give the answer as it is written.

        Takes what `ask` takes. Returns an iterator over pieces of text; `stream.result` is the whole result at the end.

        Example:
            >>> stream = corpus.stream("Who built the lighthouse?")  # doctest: +SKIP
            >>> for piece in stream:  # doctest: +SKIP
            ...     print(piece, end="", flush=True)
            >>> stream.result.answer.citations  # doctest: +SKIP
        """
        stream = self._corpus.stream(question, paradigm, where=where, budget=budget, **settings)
        return StreamedAnswer(stream, self._thread)

    def compare(
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
        return self._run(self._corpus.compare(question, paradigms, where=where, budget=budget))

    def neighbourhood(self, entity: str, *, hops: int = 1) -> Neighbourhood:
        """What the knowledge graph has around an entity, as a value that a notebook shows as a picture.

        Args:
            entity: a name or an id.
            hops: how far to go.

        Returns:
            The entity with those around it, heaviest first, and the relations between them with their quotes.
        """
        return self._run(self._corpus.neighbourhood(entity, hops=hops))

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that are built."""

        async def layers() -> tuple[str, ...]:
            return self._corpus.layers

        return self._run(layers())

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._corpus.path

    @property
    def closed(self) -> bool:
        return self._thread.closed

    def close(self) -> None:
        """Let go of the index, of connections and of the thread. A second call does nothing."""
        self._end()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """How many documents there are."""

        async def count() -> int:
            return len(self._corpus)

        return self._run(count())

    def __bool__(self) -> bool:
        """A corpus is a thing, not a list: an empty one is still there."""
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<Corpus {self.path}: closed>"
        return f"<Corpus {self.path}: {counted(len(self), 'document')}, layers {', '.join(self.layers)}>"

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self.closed:
            work.close()
            raise UsageError(f"the corpus {self.path} is closed", "open it again: ragways.open(…)")
        return self._thread.run(work)


class StreamedAnswer:
    """Pieces of an answer's text as they are written: `for piece in stream`. `result` is there at the end."""

    def __init__(self, stream: AsyncStreamedAnswer, thread: LoopThread) -> None:
        self._stream = stream
        self._thread = thread

    @property
    def result(self) -> Result:
        """The whole answer with its citations, evidence, trace and cost."""
        return self._stream.result

    @property
    def text(self) -> str:
        """What counts of the pieces so far; an answer that had to begin anew has dropped what came before."""
        return self._stream.text

    def __iter__(self) -> Iterator[str]:
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()

        async def work() -> None:
            try:
                async for piece in self._stream:
                    pieces.put(piece)
            finally:
                pieces.put(None)

        future = self._thread.start(work())
        try:
            while (piece := pieces.get()) is not None:
                yield piece
            future.result()
        finally:
            future.cancel()


def _close(thread: LoopThread, corpus: AsyncCorpus) -> None:
    """End a corpus and its thread; from the thread itself, where a collection of garbage may call, in another one."""
    if thread.is_current:
        threading.Thread(target=_close, args=(thread, corpus), daemon=True).start()
        return
    try:
        thread.run(corpus.aclose())
    finally:
        thread.close()


def paradigms() -> Table:
    """The ways of answering there are: their names, what they do, the layers they need and their settings."""
    rows = [
        (one.name, one.summary, ", ".join(sorted(one.needs)), ", ".join(f"{k}={v!r}" for k, v in one.settings.items()))
        for one in PARADIGMS.values()
    ]
    return Table.of(["name", "summary", "needs", "settings"], rows)


def sample_corpus() -> Path:
    """The folder of the bundled corpus: 60 articles about an invented archipelago, to try things out on."""
    return Path(str(resources.files("ragways") / "demo" / "corpus"))
