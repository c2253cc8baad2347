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
from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ragways.assemble import IndexOptions, index_files, settings_for
from ragways.asynchronous import DEFAULT_PARADIGM, AsyncCorpus, AsyncStreamedAnswer
from ragways.core.errors import UsageError
from ragways.core.runtime import limit_threads
from ragways.core.sync import LoopThread, run_sync
from ragways.core.table import Table
from ragways.core.text import counted
from ragways.core.types import Answer, Query
from ragways.retrieval.ask import PARADIGMS, Result
from ragways.retrieval.paradigm import Paradigm
from ragways.settings import Settings

if TYPE_CHECKING:
    from ragways.core.step import Step
    from ragways.index.recipe import Summary
    from ragways.models.adapt import OwnEmbedder, OwnModel

limit_threads()

P = ParamSpec("P")
Options = TypeVar("Options")
T = TypeVar("T")


def _taking(options: Callable[P, Options]) -> Callable[[Callable[[Options], T]], Callable[P, T]]:
    """A decorator: the function is called with the arguments of its options object."""

    def decorate(work: Callable[[Options], T]) -> Callable[P, T]:
        @wraps(options, assigned=(), updated=())  # `help` shows the arguments of the options
        @wraps(work)
        def call(*arguments: P.args, **keywords: P.kwargs) -> T:
            return work(options(*arguments, **keywords))

        return call

    return decorate


@_taking(IndexOptions)
def build(wanted: IndexOptions) -> Summary:
    """Index files and folders, or bring an index up to date with them.

    Args:
        paths: files and folders to read. What was read before and did not change is not read again.
        index: the folder of the index; unset, the one in the settings (`.ragways`).
        layers: what to build besides the structure: `vectors`, `words`, `windows`, `graph`, `communities`. Unset, those
            that the index has; a new one gets vectors and words, and a graph where many short documents name others.
        include: patterns as in `.gitignore` of files to read, counted from each folder; unset, those of the settings.
        exclude: patterns of files and folders to leave out; unset, those of the settings.
        web: pages of web sites to fetch and index too: `WebSource(("https://example.org/docs/",), depth=2)`.
        embedder: an embedder of your own, any object with `name` and `embed(texts)`. The index remembers its name and
            can only be opened with it.
        model: a language model of your own, any object with `name` and `complete(messages)`.
        settings: those to use; unset, they are read from `ragways.toml` and the environment.
        budget: the most to spend, in USD. What was done before it is reached is stored.
        rebuild: start anew instead of updating.
        compare_contents: compare the bytes of files whose size and time are as before: copies that keep the time
            (`cp -p`, `rsync -t`) may hide an edit.
        fresh: what is otherwise made anew only after many changes, and is to be in this run: `lexicon`, `communities`.
        erase: leave no byte of documents that are removed or changed. `summary.erasure` says what was searched, and
            `summary.unerased` whether something can still be read.
        progress: called with a `Progress` as the work goes on.

    Returns:
        What the run did: documents added, changed, removed and unchanged, files that could not be read, and the cost.

    Example:
        >>> ragways.build("docs", "my-index", layers=["vectors", "words", "graph"]).added  # doctest: +SKIP
        12
    """
    return run_sync(index_files(wanted))


@_taking(IndexOptions)
def abuild(wanted: IndexOptions) -> Coroutine[Any, Any, Summary]:
    """The async twin of `build`: `await abuild("docs", "my-index")`."""
    return index_files(wanted)


def waiting(
    work: Callable[Concatenate[AsyncCorpus, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Corpus, P], T]:
    """Async work on an `AsyncCorpus` as work on a `Corpus` that waits for the result. Takes the same arguments."""

    @wraps(work)
    def call(corpus: Corpus, /, *arguments: P.args, **keywords: P.kwargs) -> T:
        return corpus._run(work(corpus._corpus, *arguments, **keywords))

    return call


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

    ask = waiting(AsyncCorpus.ask)
    retrieve = waiting(AsyncCorpus.retrieve)
    compare = waiting(AsyncCorpus.compare)
    neighbourhood = waiting(AsyncCorpus.neighbourhood)

    def stream(
        self,
        question: str,
        paradigm: str | Paradigm | Step[Query, Answer] = DEFAULT_PARADIGM,
        **options: Any,  # noqa: ANN401 - those of `ask`, checked there
    ) -> StreamedAnswer:
        """Answer one question, and give the answer as it is written. Takes what `ask` takes.

        Returns an iterator over pieces of text; `stream.result` is the whole result at the end.

        Example:
            >>> stream = corpus.stream("Who built the lighthouse?")  # doctest: +SKIP
            >>> for piece in stream:  # doctest: +SKIP
            ...     print(piece, end="", flush=True)
            >>> stream.result.answer.citations  # doctest: +SKIP
        """
        return StreamedAnswer(self._corpus.stream(question, paradigm, **options), self._thread)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that are built."""
        return self._read(lambda corpus: corpus.layers)

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
        return self._read(len)

    def __bool__(self) -> bool:
        """A corpus is a thing, not a list: an empty one is still there."""
        return True

    def __repr__(self) -> str:
        if self.closed:
            return f"<Corpus {self.path}: closed>"
        return f"<Corpus {self.path}: {counted(len(self), 'document')}, layers {', '.join(self.layers)}>"

    def _read(self, value: Callable[[AsyncCorpus], T]) -> T:
        async def read() -> T:
            return value(self._corpus)

        return self._run(read())

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
