"""Answers that the reader finds: span and sentence with exact citations, the chance, and what happens without it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import ragways
from ragways.assemble import opened
from ragways.core.errors import MissingPart, StoreFailed, UsageError
from ragways.core.runtime import warn_once
from ragways.core.types import ABSTENTION, Answer
from ragways.index.open import Index
from ragways.layers.table import LAYERS
from ragways.models import encoder
from ragways.models.client import ModelClient
from ragways.models.reader import FILE, Passage, Reader, Reading
from ragways.retrieval.answer import READ_WAY
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import PARADIGMS, Result, ask
from ragways.retrieval.resources import Resources
from ragways.settings import Settings, read_settings
from ragways.testing.scripted import ScriptedModel
from tests.fakes import FindsWords, WordHashes
from tests.retrieval.graph_corpus import indexed

BORN = "In which town was Ada Holm born?"
READER = FindsWords({"in Port Averne": 8.0, "Skelwick": 1.0}, {"Ness Light was designed": 3.0})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("reader"), layers=frozenset(LAYERS))


@pytest.fixture(scope="module")
def index(folder: Path) -> Index:
    return Index.open(folder)


def use(index: Index, reader: object = READER, model: ScriptedModel | None = None, **changes: object) -> Resources:
    plain = Resources(index, WordHashes(), ModelClient(model), threshold=0.0, reader=reader)  # type: ignore[arg-type]
    return replace(plain, **changes)  # type: ignore[arg-type]


def asked(use: Resources, question: str = BORN, paradigm: str = "words", **settings: object) -> Result:
    return asyncio.run(ask(use, question, paradigm, settings))


def test_the_answer_is_short_its_sentence_explains_it_and_the_citation_is_that_sentence(index: Index):
    answer = asked(use(index)).answer
    number = next(n for n, hit in enumerate(answer.evidence.items, start=1) if hit.piece.title == "Ada Holm")
    assert answer.text == f"Port Averne [{number}]"
    assert answer.explanation == f"Ada Holm was born in Port Averne in 1770. [{number}]"
    cited = answer.citations[0]
    assert (cited.sentence, cited.quote) == (0, "Ada Holm was born in Port Averne in 1770.")
    assert index.text(cited.document, cited.start, cited.end) == cited.quote
    assert answer.way == READ_WAY
    assert answer.chance is not None
    assert "Port Averne" in repr(answer)


def test_the_citation_is_the_sentence_that_was_read_not_the_one_most_like_the_answer(index: Index):
    answer = asked(use(index, FindsWords({"of Port Averne": 8.0})), "Of what was Corwin Larch mayor?").answer
    assert answer.text.startswith("Port Averne [")
    assert [citation.quote for citation in answer.citations] == ["Corwin Larch was mayor of Port Averne from 1802."]


def test_a_bridge_cites_both_sentences(index: Index):
    answer = asked(use(index), "In which town was the designer of the Ness Light born?").answer
    assert [citation.quote for citation in answer.citations] == [
        "Ada Holm was born in Port Averne in 1770.",
        "The Ness Light was designed by Ada Holm in 1801.",
    ]
    assert answer.explanation.count("[") == 2


@pytest.mark.parametrize("name", [name for name in PARADIGMS if name != "llm-only"])
def test_every_paradigm_takes_the_reader_and_extract_is_the_old_way(index: Index, name: str):
    reads, old = asked(use(index), paradigm=name), asked(use(index), paradigm=name, reader="extract")
    without = asked(use(index, None), paradigm=name)
    assert (old.answer.text, old.answer.citations) == (without.answer.text, without.answer.citations)
    assert old.answer.chance is None
    assert old.settings["reader"] == "extract"
    assert "reader" not in without.settings
    if reads.answer.evidence.items and not reads.answer.abstained:
        assert reads.answer.way == READ_WAY


def test_another_reader_than_these_two_is_refused(index: Index):
    with pytest.raises(UsageError, match="reader"):
        asked(use(index), reader="guess")


def test_the_threshold_is_the_least_chance(index: Index):
    chance = asked(use(index)).answer.chance
    assert chance is not None
    assert not asked(use(index, threshold=chance - 0.01)).answer.abstained
    refused = asked(use(index, threshold=chance + 0.01)).answer
    assert (refused.text, refused.abstained, refused.chance) == (ABSTENTION, True, chance)


def test_the_trace_holds_what_the_chance_was_made_from_and_json_the_chance(index: Index):
    result = asked(use(index))
    features = next(step.details["features"] for step in result.trace.walk() if "features" in step.details)
    assert isinstance(features, dict)
    assert features["span"] == 8.0
    assert features["names"] == 1.0
    assert features["agreement"] == 1
    assert result_data(result)["chance"] == round(result.answer.chance or 0, 4)


def test_how_and_why_are_answered_by_whole_sentences(index: Index):
    answer = asked(use(index), "How was the tower on Gull Rock broken?").answer
    assert "In 1883 the Great Gale broke the tower on Gull Rock." in answer.text
    assert answer.explanation == ""
    assert answer.citations[0].quote in answer.text


def test_pieces_of_the_answer_end_in_the_whole_of_it(index: Index):
    heard: list[str] = []

    def listen(text: str, *, restart: bool = False) -> None:
        heard.append(text)

    result = asyncio.run(ask(use(index), BORN, "words", on_text=listen))
    assert "".join(heard) == result.answer.full_text
    assert len(heard) > 1


class Broken:
    """A reader whose file is missing or was altered."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        raise self.error


@pytest.mark.parametrize("error", [MissingPart("it is gone", "install again"), StoreFailed("altered", "install again")])
def test_where_the_reader_cannot_be_opened_the_old_way_answers_and_it_is_told_once(
    index: Index, error: Exception, caplog: pytest.LogCaptureFixture
):
    warn_once.cache_clear()
    broken, old = use(index, Broken(error)), asked(use(index), reader="extract").answer
    with caplog.at_level(logging.WARNING, "ragways"):
        answers = [asked(broken).answer for _ in range(2)]
    assert all((answer.text, answer.way) == (old.text, "rule") for answer in answers)
    assert "install again" in answers[1].note
    assert len([record for record in caplog.records if "install again" in record.getMessage()]) == 1


@pytest.mark.parametrize("content", [None, b"altered"])
def test_a_missing_or_altered_file_is_refused_with_the_cure_and_the_old_way_answers(
    index: Index, content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The reader itself, over a folder in which its file is not the one that the manifest names."""
    for file in encoder.WEIGHTS.iterdir():
        if file.name not in (FILE, "manifest.json"):
            (tmp_path / file.name).symlink_to(file)
    manifest = json.loads((encoder.WEIGHTS / "manifest.json").read_bytes())
    manifest["files"][FILE] = {"sha256": "0" * 64}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    if content is not None:
        (tmp_path / FILE).write_bytes(content)
    monkeypatch.setattr(encoder, "WEIGHTS", tmp_path)
    answer = asked(use(index, Reader(threads=1))).answer
    assert (answer.text, answer.way) == (asked(use(index, None)).answer.text, "rule")
    assert encoder.CURE in answer.note


def test_a_question_in_another_language_is_answered_the_old_way_and_the_answer_says_why(index: Index):
    question = "In welcher Stadt wurde die Erbauerin Ada Holm geboren und wo ist sie gestorben?"
    result = asked(use(index), question)
    assert result.answer.way == "rule"
    assert result.answer.note == "the reader knows English only, and the question is in German"
    assert any(step.details.get("reader") == result.answer.note for step in result.trace.walk())
    assert result.answer.text == asked(use(index, None), question).answer.text


def test_where_a_model_fails_the_reader_answers(index: Index):
    answer = asked(use(index, model=ScriptedModel([""] * 9), fallback=True)).answer
    assert answer.text.startswith("Port Averne")
    assert answer.error
    assert answer.way.startswith("rule, after")


def test_a_model_writes_the_answer_where_there_is_one(index: Index):
    said = "In Port Averne. [1]"
    answer = asked(use(index, model=ScriptedModel([said]))).answer
    assert (answer.text, answer.chance) == ("In Port Averne. [1]", None)


def test_the_reader_is_opened_once_with_the_corpus_and_closed_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    closed = []

    async def close(self: Reader) -> None:
        closed.append(self)

    monkeypatch.setattr(encoder, "comes_with", lambda name: name == FILE)
    monkeypatch.setattr(Reader, "aclose", close)
    settings = read_settings(environment={}, index=folder)

    async def both() -> tuple[object, object]:
        from ragways.assemble import opened_live

        async with opened_live(settings, embedder=WordHashes()) as live:
            with live.snapshot() as one, live.snapshot() as other:
                assert closed == []
                return one.reader, other.reader

    one, other = asyncio.run(both())
    assert one is other
    assert isinstance(one, Reader)
    assert closed == [one]


def test_a_version_without_the_readers_file_answers_the_old_way(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(encoder, "comes_with", lambda _: False)

    async def reader() -> object:
        async with opened(read_settings(environment={}, index=folder), embedder=WordHashes()) as use:
            return use.reader

    assert asyncio.run(reader()) is None


def test_the_setting_chooses_and_a_question_may_choose_otherwise(folder: Path):
    settings = read_settings(environment={"RAGWAYS_ANSWER__READER": "extract"}, index=folder)
    assert settings.answer.reader == "extract"
    with ragways.open(settings=settings, embedder=WordHashes()) as corpus:
        assert corpus.ask(BORN, "words", reader="read").settings["reader"] == "read"


def test_the_bundled_corpus_answers_its_own_questions_and_refuses_foreign_ones(demo_settings: Settings):
    """With the real reader and the fitted chance."""
    own = {
        "What did the public call the composer Mathilde Thorsby?": "Madame Tides",
        "In which inn did the delegates meet to conclude the Treaty of Oskerford?": "Three Oars",
        "On which bank did Sabine Ollerby locate the place where silverling spawn?": "Hask Bank",
        "How many breeding pairs of ringed tarricks were there according to the 1985 census?": "14,200",
    }
    foreign = [
        "When was the Duchy of Normandy founded?",
        "Which film was released first, The Falcon Of The Desert or Striporama?",
        "What is the name of the airport in the city where WILM is licensed to broadcast?",
        "From which countries did the Norse originate?",
    ]

    async def all_asked() -> list[Answer]:
        async with opened(demo_settings) as use:
            return [(await ask(use, question, "hybrid-words")).answer for question in (*own, *foreign)]

    answers = asyncio.run(all_asked())
    for answer, said in zip(answers, own.values(), strict=False):
        assert said in answer.text
        assert answer.chance is not None
        assert answer.chance >= demo_settings.answer.threshold
    assert [answer.abstained for answer in answers[len(own) :]] == [True] * len(foreign)
