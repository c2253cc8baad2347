"""What every part of ragways must hold to, as checks that a plug-in's own tests can call.

    from ragways.testing import check_paradigm

    def test_my_paradigm():
        check_paradigm(MY_PARADIGM)

Each check takes the part and raises AssertionError, in a sentence, where something does not hold. Our own parts are
tested by the same checks.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ragways.assemble import EmbedderKind, ModelKind
from ragways.core.errors import LoadError, MissingLayer, RagwaysError, UsageError
from ragways.core.types import ABSTENTION, Document, Heading, Hits, Infobox, Link
from ragways.corpus.load import Loader
from ragways.corpus.source import LoadOptions, SourceFile
from ragways.evaluation.datasets import Dataset
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import Record
from ragways.index.open import Index
from ragways.layers.layer import Layer
from ragways.layers.table import LAYERS
from ragways.library import Corpus, build, sample_corpus
from ragways.library import open as open_corpus
from ragways.models.adapt import OwnEmbedder, OwnModel, as_embedder, as_model
from ragways.models.call import Call, Message
from ragways.retrieval.ask import Result
from ragways.retrieval.paradigm import Paradigm
from ragways.settings import Settings, read_settings
from ragways.testing.embedder import HashingEmbedder

QUESTIONS = (
    "In which inn did the delegates meet to conclude the Treaty of Oskerford?",
    "Who designed the lighthouse on Pell Rock, and where was she born?",
)
ODD_QUESTIONS = ("?", "{{passages}} {0} %s", "' OR 1=1 --", "AND OR NOT (", "日本語の質問", "x" * 7999)


@contextmanager
def small_corpus(layers: Iterable[str], **open_with: Any) -> Iterator[Corpus]:  # noqa: ANN401 - what `open` takes
    """The bundled corpus, indexed with these layers in a temporary folder by an embedder that costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        settings = _settings(Path(folder))
        build(sample_corpus(), settings=settings, layers=layers, embedder=HashingEmbedder())
        with open_corpus(settings=settings, embedder=HashingEmbedder(), **open_with) as corpus:
            yield corpus


def check_paradigm(paradigm: Paradigm, corpus: Corpus | None = None, questions: Iterable[str] = QUESTIONS) -> None:
    """Check a paradigm on an open corpus, or on the bundled one: it answers without a model and says so, its evidence
    is ranked, in its place and within its budget, the same question gives the same answer, more budget loses nothing,
    unknown and unfit settings are refused, and odd questions do no harm.
    """
    _check_names(paradigm)
    unknown = paradigm.needs - set(LAYERS)
    assert not unknown, f"{paradigm.name} needs layers that do not exist: {', '.join(sorted(unknown))}"
    if corpus is None:
        with small_corpus(sorted({"vectors", "words"} | paradigm.needs)) as opened:
            check_paradigm(paradigm, opened, questions)
        return
    ask = partial(_ask, corpus, paradigm)
    for question in questions:
        result = ask(question)
        _check_result(result, question)
        assert ask(question).answer == result.answer, f"{paradigm.name} gave two answers to {question!r}"
        if "tokens" in paradigm.settings:
            _check_budgets(paradigm, corpus, question)
    for question in ODD_QUESTIONS:
        assert ask(question).answer.text, f"{paradigm.name} has no answer, not even that it has none, to {question!r}"
    _check_settings(paradigm, corpus)


def _ask(corpus: Corpus, paradigm: Paradigm, question: str, **settings: Any) -> Result:  # noqa: ANN401
    result: Result = corpus.ask(question, paradigm, **settings)
    return result


def _check_result(result: Result, question: str) -> None:
    answer, evidence = result.answer, result.answer.evidence
    name = result.paradigm
    assert evidence.hits.query.text == question, f"{name} lost the question on the way to its evidence"
    _check_ranking(name, evidence.hits)
    assert evidence.items == evidence.hits.items[: len(evidence.items)], f"the evidence of {name} is not its best hits"
    assert evidence.tokens == sum(hit.piece.tokens for hit in evidence.items), f"{name} miscounts the tokens it packed"
    if answer.abstained:
        assert answer.text == ABSTENTION, f"{name} abstained in words of its own"
    pieces = {hit.piece.id for hit in evidence.items}
    for citation in answer.citations:
        assert citation.piece in pieces, f"{name} cites {citation.piece}, which is not among its evidence"
        assert citation.quote.strip(), f"{name} cites nothing of {citation.piece}"


def _check_ranking(name: str, hits: Hits) -> None:
    order = [(-hit.score, hit.piece.id) for hit in hits.items]
    assert order == sorted(order), f"the hits of {name} are not in order: best first, equal scores by id"
    assert len({id for _, id in order}) == len(order), f"{name} found a piece twice"
    for hit in hits.items:
        assert hit.found, f"{name} does not say who found {hit.piece.id}"


def _check_budgets(paradigm: Paradigm, corpus: Corpus, question: str) -> None:
    before: list[str] = []
    for tokens in (0, 100, 400, 1600, 6400):
        evidence = _ask(corpus, paradigm, question, tokens=tokens).answer.evidence
        assert evidence.tokens <= tokens, f"{paradigm.name} packed {evidence.tokens} tokens where {tokens} were allowed"
        ids = [hit.piece.id for hit in evidence.items]
        assert ids[: len(before)] == before, f"{paradigm.name} lost evidence when it was given more tokens"
        before = ids


def _check_settings(paradigm: Paradigm, corpus: Corpus) -> None:
    _must_raise(UsageError, partial(_ask, corpus, paradigm, QUESTIONS[0], **{"no-such-setting": 1}),
                f"{paradigm.name} takes a setting that it does not have")  # fmt: skip
    for name, default in paradigm.settings.items():
        if isinstance(default, int | float) and not isinstance(default, bool):
            _must_raise(UsageError, partial(_ask, corpus, paradigm, QUESTIONS[0], **{name: "many"}),
                        f"{paradigm.name} takes {name} = 'many'")  # fmt: skip


def check_missing_layer(paradigm: Paradigm) -> None:
    """Check that a paradigm whose layers are not built says so, with the command that builds them."""
    if not paradigm.needs - {"words"}:
        return
    with small_corpus(["words"]) as corpus:
        _must_raise(MissingLayer, partial(_ask, corpus, paradigm, QUESTIONS[0]),
                    f"{paradigm.name} answers without the layers that it needs")  # fmt: skip


def check_loader(loader: Loader, file: Path) -> tuple[Document, ...]:
    """Check a loader on a file of its format, and return the documents: it gives at least one, each with a key of its
    own, and every heading, link and box lies within its text. A file that is empty, cut short or of another kind must
    give documents or a LoadError, and nothing else.
    """
    _check_names(loader)
    documents = _load(loader, file)
    assert documents, f"{loader.name} found no document in {file.name}"
    assert len({document.key for document in documents}) == len(documents), f"{loader.name} used a key twice"
    for document in documents:
        assert document.title.strip(), f"{loader.name} left {document.key} without a title"
        starts = [place.start for place in document.places]
        inside = starts == sorted(set(starts)) and all(0 <= start < len(document.text) for start in starts)
        assert inside, f"{loader.name}: the places of {document.key} are not in order, or lie outside its text"
        parts: tuple[Heading | Link | Infobox, ...] = (*document.headings, *document.links, *document.infoboxes)
        for part in parts:
            inside = 0 <= part.start <= part.end <= len(document.text)
            assert inside, f"{loader.name}: {part} lies outside the text of {document.key}"
    whole = file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        for data in (b"", whole[: len(whole) // 2], b"\x00\xff" * 500, b"\n" * 1000):
            other = Path(folder) / file.name
            other.write_bytes(data)
            try:
                _load(loader, other)
            except LoadError:
                continue
    return documents


def _load(loader: Loader, file: Path) -> tuple[Document, ...]:
    return tuple(loader.load(SourceFile(file, file.name), LoadOptions()))


def check_metric(metric: Metric, records: Iterable[Record] = ()) -> None:
    """Check a metric on records, or on a few made-up ones: it gives a finite number or a reason, the same each time,
    and never a number where it says that it needs what the record does not have.
    """
    _check_names(metric)
    for record in (*records, *_RECORDS):
        score, again = metric.score(record), metric.score(record)
        assert score == again, f"{metric.name} gave two values to one record"
        if score.value is None:
            assert score.why, f"{metric.name} is missing without a reason"
        else:
            assert abs(score.value) < float("inf"), f"{metric.name} is {score.value}"


_RECORDS = (
    Record("q1", "Who built it?", "factual", ("Anna Brack",), "naive", 0, answer="By Anna Brack.", ranks=(1, None)),
    Record("q2", "Who built it?", "factual", ("Anna Brack",), "naive", 0, answer=ABSTENTION, abstained=True),
    Record("q3", "Who ate it?", "null", (), "naive", 0, answer="Nobody."),
    Record("q4", "Who?", "", (), "naive", 0, error="the model was away"),
)  # fmt: skip


def check_dataset(dataset: Dataset, file: Path) -> None:
    """Check a layout of question files on a file: questions have ids of their own and texts, and reading it twice gives
    the same.
    """
    _check_names(dataset)
    questions = dataset.questions(file)
    assert questions, f"{dataset.name} found no question in {file.name}"
    assert len({question.id for question in questions}) == len(questions), f"{dataset.name} used an id twice"
    assert all(question.text.strip() for question in questions), f"{dataset.name} has a question without a text"
    assert dataset.questions(file) == questions, f"{dataset.name} reads one file in two ways"


def check_embedder(embedder: OwnEmbedder | EmbedderKind, settings: Settings | None = None) -> None:
    """Check an embedder, or a kind of embedder under these settings: one row of length 1 a text, the same whatever else
    is in the call.
    """
    import numpy as np

    made: object = embedder
    if isinstance(embedder, EmbedderKind):
        _check_names(embedder)
        made = embedder.make(settings or read_settings(environment={}))

    async def check() -> None:
        chosen = as_embedder(await made if hasattr(made, "__await__") else made)
        texts = ["The harbour light was built in 1801.", "Seals rest on Pell Rock.", "x"]
        rows = await chosen.embed(texts)
        assert rows.shape == (3, chosen.dimension), f"{chosen.name} gave an array of {rows.shape} for 3 texts"
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3), f"rows of {chosen.name} are not of length 1"
        alone = await chosen.embed(texts[1:2])
        assert np.allclose(alone[0], rows[1], atol=1e-3), f"a vector of {chosen.name} depends on its neighbours"
        await chosen.aclose()

    asyncio.run(check())


def check_model(model: OwnModel | ModelKind, settings: Settings | None = None) -> None:
    """Check a language model, or a kind of model under these settings: it replies with text to a plain message."""
    chosen = settings or read_settings(environment={})
    made: object = model
    if isinstance(model, ModelKind):
        _check_names(model)
        made = model.make(chosen, chosen.model)

    async def check() -> None:
        own = as_model(made)
        reply = await own.send(Call((Message("user", "Say one word."),)))
        assert reply.text.strip(), f"{own.name} replied nothing"
        assert reply.usage.calls == 1, f"{own.name} does not count its call"
        await own.aclose()

    asyncio.run(check())


def check_layer(
    layer: Layer, files: Mapping[str, str] | None = None, answers: Callable[[Any], object] | None = None
) -> None:
    """Check a layer on a few files: it is built with what it needs, shown by the index's status, and found sound by its
    check; and when documents come, change and go, the view that is folded is the one that is made of the same rows.

    `answers` gives what the layer's reader answers, as a value that can be compared; without it rows are counted.
    """
    from ragways.index.check import check
    from ragways.index.status import layer_status
    from ragways.index.views import published

    _check_names(layer)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        docs, settings = folder / "docs", _settings(folder)
        docs.mkdir()

        def run(changes: Mapping[str, str]) -> tuple[int, object]:
            for name, text in changes.items():
                (docs / name).write_text(text, encoding="utf-8")
            build(docs, settings=settings, layers=[layer.name], embedder=HashingEmbedder())
            return state()

        def state() -> tuple[int, object]:
            with closing(Index.open(settings.index)) as index:
                answer = answers(index.layer(layer.name)) if answers is not None else None
            status = {status.name: status for status in layer_status(settings.index)}[layer.name]
            assert status.built, f"{layer.name} is not built after a run that built it"
            return status.rows, answer

        before = run(files or _FILES)
        changed = next(iter(files or _FILES))
        text = (docs / changed).read_text(encoding="utf-8")
        folded = run({"more.txt": _MORE, changed: f"{text}\n\n{_MORE}"})
        views = published(settings.index)
        assert views is not None, "no view is published"
        shutil.rmtree(views.folder)
        made = run({})
        assert folded == made, f"{layer.name} folded gives {folded}, and made of the same rows {made}"
        (docs / "more.txt").unlink()
        after = run({changed: text})
        assert after == before, f"{layer.name} gives {after} after changes that were undone, and {before} before them"
        errors = [finding for finding in check(settings.index).findings if finding.severity == "error"]
        assert not errors, f"{layer.name} leaves an index that is not sound: {errors[0]}"


_MORE = "The Skerry Light was lit by Orla Tamsett."
_FILES = {
    "light.txt": "The harbour light was built by Anna Brack in 1801. It stands on Pell Rock.",
    "rock.txt": "Pell Rock lies two miles off the harbour. Seals rest there in winter.",
}


def _check_names(part: Any) -> None:  # noqa: ANN401 - whatever a registry holds
    assert part.name.strip() == part.name != "", f"{part!r} has no name"
    assert part.summary.strip(), f"{part.name} has no summary"


def _must_raise(kind: type[RagwaysError], call: partial[Any], otherwise: str) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(otherwise)


def _settings(folder: Path) -> Settings:
    return read_settings(environment={}, index=folder / "index", cache=folder / "cache")
