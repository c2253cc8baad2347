"""ragways from Python: in a script, in a running loop, from threads; with one's own embedder, model and paradigm."""

from __future__ import annotations

import asyncio
import builtins
import gc
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import ragways
from ragways.core.errors import EmbedderChanged, UsageError
from ragways.core.types import Answer, Evidence, Hits, Query
from ragways.evaluation.metric import Metric
from ragways.retrieval.ask import PARADIGMS
from ragways.settings import Settings, read_settings
from tests.fakes import write

QUESTION = "Who built the harbour light?"
DOCS = {
    "light.txt": "The harbour light was built by Anna Brack in 1801. It stands on Pell Rock.",
    "rock.txt": "Pell Rock lies two miles off the harbour. Seals rest there in winter.",
}


class Letters:
    """An embedder of one's own: a name and one method."""

    name = "letters-1"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


class Parrot:
    """A model of one's own: a name and one method."""

    name = "parrot-1"

    def __init__(self) -> None:
        self.asked: list[list[dict[str, str]]] = []

    def complete(self, messages: list[dict[str, str]]) -> str:
        self.asked.append(messages)
        return "Anna Brack built it. [1]"


class AsyncParrot(Parrot):
    async def complete(self, messages: list[dict[str, str]]) -> str:  # type: ignore[override]
        return super().complete(messages)


@pytest.fixture
def settings(tmp_path: Path, cache_folder: Path) -> Settings:
    return read_settings(environment={}, cache=cache_folder, index=tmp_path / "index")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", DOCS)


@pytest.fixture
def index(settings: Settings, docs: Path) -> Path:
    """An index made with an embedder that costs nothing."""
    assert ragways.build(docs, settings=settings, embedder=Letters()).added == 2
    return settings.index


def test_build_open_and_ask(settings: Settings, docs: Path, tmp_path: Path):
    assert ragways.build([docs], settings=settings).added == 2
    with ragways.open(tmp_path / "index", settings=settings) as corpus:
        result = corpus.ask(QUESTION, k=3)
        assert "Anna Brack" in result.answer.text
        assert result.settings["k"] == 3
        assert corpus.ask(QUESTION, "words").answer.citations


def test_the_front_door_shows_the_arguments_that_it_takes(docs: Path):
    for build in (ragways.build, ragways.abuild):
        assert list(signature(build).parameters)[:3] == ["paths", "index", "layers"]
    assert "question" in signature(ragways.Corpus.ask).parameters
    assert "paradigms" in signature(ragways.evaluate).parameters
    assert ragways.build.__name__ == "build"
    with pytest.raises(TypeError, match="'layer'"):
        ragways.build(docs, layer=["words"])  # type: ignore[call-arg]


def test_inside_a_running_loop_sync_and_async_work_side_by_side(settings: Settings, docs: Path):
    """As in a cell of a notebook or a handler of a server."""

    async def cell() -> None:
        assert ragways.build(docs, settings=settings, embedder=Letters()).added == 2
        assert (await ragways.abuild(docs, settings=settings, embedder=Letters())).unchanged == 2
        corpus = ragways.open(settings=settings, embedder=Letters())
        first = corpus.ask(QUESTION, "words")
        async with ragways.aopen(settings=settings, embedder=Letters()) as same:
            second = await same.ask(QUESTION, "words")
            stream = same.stream(QUESTION, "words")
            pieces = [piece async for piece in stream]
        assert first.answer == second.answer == stream.result.answer
        assert "".join(pieces).split() == first.answer.full_text.split()
        corpus.close()
        opened = await ragways.aopen(settings=settings, embedder=Letters())
        assert len(opened) == 2
        await opened.aclose()

    asyncio.run(cell())


def test_an_index_of_ones_own_embedder_opens_with_it_alone(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        assert len(corpus.retrieve(QUESTION, "naive")) == 2
    with pytest.raises(EmbedderChanged, match=r"built with embedder letters-1.*ragways\.open\(…, embedder=…\)"):
        ragways.open(settings=settings)


@pytest.mark.parametrize("kind", [Parrot, AsyncParrot])
def test_a_model_of_ones_own_answers_and_its_replies_are_cached(settings: Settings, index: Path, kind: type[Parrot]):
    model = kind()
    for calls in (1, 0):
        with ragways.open(settings=settings, embedder=Letters(), model=model) as corpus:
            result = corpus.ask(QUESTION, "words")
        assert result.answer.text == "Anna Brack built it. [1]"
        assert "parrot-1" in result.answer.way
        assert result.usage.calls == calls
    assert len(model.asked) == 1
    assert any("harbour light" in message["content"] for message in model.asked[0])


def test_ask_and_retrieve_take_a_paradigm_or_a_step_of_ones_own(settings: Settings, index: Path):
    async def nothing(query: Query) -> Hits:
        return Hits(query)

    async def shrug(query: Query) -> Answer:
        return Answer(Evidence(Hits(query), (), 0), "Nobody knows.", way="a shrug")

    step: ragways.Step[Query, Hits] = ragways.Step("nothing", nothing)
    answer: ragways.Step[Query, Answer] = ragways.Step("shrug", shrug)
    mine = ragways.Paradigm("mine", "Says nothing.", "me", frozenset(), lambda use, *, loud=False: answer)
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        assert len(corpus.retrieve(QUESTION, step)) == 0
        assert corpus.ask(QUESTION, answer).answer.text == "Nobody knows."
        result = corpus.ask(QUESTION, mine, loud=True)
        assert (result.paradigm, result.settings) == ("mine", {"loud": True})
        with pytest.raises(UsageError, match="has no setting 'load'"):
            corpus.ask(QUESTION, mine, load=True)
        best = corpus.retrieve(QUESTION, "words")
        assert best.items[0].piece.title == "light"


def test_a_question_may_lean_on_those_before(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        result = corpus.ask("When was it built?", "words", history=[("Who built Harl Tower?", "Anna Brack.")])
        assert result.question == "When was Harl Tower built?"
        assert corpus.ask("When was it built?", "words").question == "When was it built?"
        with pytest.raises(UsageError, match="empty"):
            corpus.ask(" ", "words", history=[("Who?", "Nobody.")])


def test_a_stream_gives_the_answer_in_pieces_and_then_the_whole(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        stream = corpus.stream(QUESTION, "words")
        with pytest.raises(UsageError, match="not complete"):
            stream.result  # noqa: B018
        text = "".join(stream)
        assert text.split() == stream.result.answer.full_text.split()
        assert stream.result.answer.citations
        abandoned = iter(corpus.stream(QUESTION, "words"))
        next(abandoned)
        del abandoned  # nobody reads on: the work ends, and the corpus goes on
        with pytest.raises(UsageError, match="there is no paradigm"):
            list(corpus.stream(QUESTION, "wrods"))
        assert corpus.ask(QUESTION, "words").answer.text


def test_compare_sets_answers_side_by_side_and_one_failure_hides_nothing(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        both = corpus.compare(QUESTION, ["words", "naive", "kg"])
        assert list(both) == ["words", "naive", "kg"]
        assert isinstance(both["kg"], ragways.RagwaysError), "the graph is not built"
        rows = both.table().to_plain()
        assert [row["paradigm"] for row in rows] == ["words", "naive", "kg"]
        assert "Anna Brack" in str(rows[0]["answer"])
        assert str(rows[2]["answer"]).startswith("failed: ")
        assert "Anna Brack" in both._repr_html_()
        with pytest.raises(UsageError, match="did you mean words"):
            corpus.compare(QUESTION, ["wrods"])


def test_everything_shows_itself(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        assert repr(corpus) == f"<Corpus {index}: 2 documents, layers vectors, words>"
        result = corpus.ask(QUESTION, "words")
        assert "Anna Brack" in repr(result)
        assert len(repr(result)) < 2000
        assert repr(result.answer).startswith("<Answer: Anna Brack [1]")
        for shown in (result, result.answer, result.answer.evidence, result.answer.evidence.hits):
            assert "<script" not in shown._repr_html_()
            assert "Anna Brack" in shown._repr_html_()
    assert repr(corpus) == f"<Corpus {index}: closed>"
    with pytest.raises(UsageError, match="is closed"):
        corpus.ask(QUESTION)


def test_text_of_documents_is_escaped_in_notebooks(settings: Settings, tmp_path: Path):
    docs = write(
        tmp_path / "bad", {"bad.txt": "The harbour light <img src=x onerror=alert(1)> was built by Anna Brack."}
    )
    ragways.build(docs, settings=settings, embedder=Letters())
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        result = corpus.ask(QUESTION, "words")
        assert "<img" in result.answer.evidence.items[0].piece.text
        for shown in (result, result.answer, result.answer.evidence.hits, corpus.compare(QUESTION, ["words"])):
            assert "<img" not in shown._repr_html_()


def test_an_evaluation_has_tables_comparisons_a_report_and_frames(settings: Settings, index: Path, tmp_path: Path):
    asked: list[Any] = [
        {"question": QUESTION, "answers": ["Anna Brack"], "evidence": [{"title": "light"}]},
        ragways.Question("seals", "Where do seals rest?", ("Pell Rock",), gold=(ragways.Gold(title="rock"),)),
        "Who ate the cake?",
    ]
    length = Metric("length", "exact", "characters of the answer", of=lambda record: float(len(record.answer)))
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        mine = ragways.Paradigm("mine", "A copy.", "me", frozenset({"words"}), PARADIGMS["words"].build)
        paradigms: list[str | ragways.Paradigm] = ["words", "naive[k=1]", mine]
        evaluation = ragways.evaluate(
            corpus, asked, paradigms, metrics=["recall@5", "f1", length], out=tmp_path / "run"
        )
        again = ragways.evaluate(corpus, asked, paradigms, metrics=["recall@5"], out=tmp_path / "run")
        with pytest.raises(UsageError, match="there is no metric 'recal'"):
            ragways.evaluate(corpus, asked, ["words"], metrics=["recal"])
    rows = {row["paradigm"]: row for row in evaluation.table().to_plain()}
    assert list(rows) == ["words", "naive[k=1]", "mine"]
    assert rows["words"]["recall@5"] == rows["mine"]["recall@5"] == 1.0
    assert rows["words"]["length"] == rows["mine"]["length"]
    assert (rows["words"]["questions"], rows["words"]["failed"]) == (3, 0)
    assert again.table().to_plain()[0]["recall@5"] == 1.0
    compared = evaluation.compare("recall@5", baseline="words")
    assert [(row.a, row.b) for row in compared.rows] == [("naive[k=1]", "words"), ("mine", "words")]
    assert "verdict on the first" in repr(compared)
    page = evaluation.report(tmp_path / "report.html").read_text()
    assert "Who ate the cake?" in page
    frame = evaluation.to_pandas()
    assert len(frame) == 9
    assert set(frame[frame.paradigm == "words"]["recall@5"].dropna()) == {1.0}
    assert "<table>" in evaluation._repr_html_()


def test_a_run_without_a_folder_goes_with_its_evaluation(settings: Settings, index: Path):
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        evaluation = ragways.evaluate(corpus, [QUESTION], ["words"])
        with pytest.raises(UsageError, match="no question"):
            ragways.evaluate(corpus, [], ["words"])
    folder = evaluation.folder
    assert folder.is_dir()
    del evaluation
    gc.collect()
    assert not folder.exists()


def test_the_front_door_is_listed_and_a_star_shadows_nothing():
    names: dict[str, Any] = {}
    exec("from ragways import *", names)
    del names["__builtins__"]
    assert not set(names) & set(dir(builtins))
    assert {"Corpus", "build", "evaluate", "Step", "Paradigm"} <= set(names)
    assert set(ragways.__all__) <= set(dir(ragways))
    assert "open" in dir(ragways)
    for name in dir(ragways):
        assert getattr(ragways, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ragways.nothing  # noqa: B018


def test_public_things_have_docstrings():
    for name in ragways.__all__:
        if not name.startswith("__"):
            assert len(getattr(ragways, name).__doc__ or "") > 20, f"{name} has no docstring"
