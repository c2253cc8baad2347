"""The reader with its own weights: what it finds in plain texts, with margins that no processor's rounding crosses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import ragways
from ragways.layers.words import terms
from ragways.models.reader import Passage, Reader
from ragways.tasks.extract import AnswerPassage
from ragways.tasks.read import ReadAnswer, read_answer
from tests.fakes import WordHashes
from tests.retrieval.graph_corpus import indexed

LIGHT = (
    "The Ness Light was designed by Ada Holm in 1801.",
    "It stands on Gull Rock near the harbour of Ness.",
    "The tower is 46 metres tall.",
)
HOLM = ("Ada Holm was an engineer.", "Ada Holm was born in Port Averne in 1770.")
MARKET = ("Herring is sold on the quay of Skelwick.", "Cod is dear in winter.")


def passage(title: str, sentences: tuple[str, ...]) -> AnswerPassage:
    return AnswerPassage(title, "", " ".join(sentences), sentences, retrievers=2, nearness=0.6)


ALL = [passage("Ness Light", LIGHT), passage("Ada Holm", HOLM), passage("Market", MARKET)]


@pytest.fixture(scope="module")
def reader():
    return Reader(threads=1)


def said(reader: Reader, question: str) -> ReadAnswer:
    work = read_answer(question, ALL, reader, embed=WordHashes().embed, terms=terms, maximum=3)
    return asyncio.run(work)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who designed the Ness Light?", "Ada Holm"),
        ("When was the Ness Light designed?", "1801"),
        ("Where was Ada Holm born?", "Port Averne"),
        ("How tall is the tower of the Ness Light?", "46 metres"),
        ("What is sold on the quay of Skelwick?", "Herring"),
    ],
)
def test_plain_questions_are_answered_by_the_span(reader: Reader, question: str, answer: str):
    found = said(reader, question)
    assert found.sentences[0].text == answer
    assert found.explanation


def test_a_question_that_nothing_answers_is_less_likely(reader: Reader):
    told, untold = said(reader, "Who designed the Ness Light?"), said(reader, "Who painted the portrait of Queen Maud?")
    assert untold.chance < 0.5 < told.chance


def test_what_is_read_does_not_depend_on_what_else_is(reader: Reader):
    group = [Passage("Ness Light", " ".join(LIGHT))]
    alone = asyncio.run(reader.read("Who designed it?", [group]))
    together = asyncio.run(reader.read("Who designed it?", [group, [Passage("Market", " ".join(MARKET))], group]))
    assert alone[0] == together[0] == together[2]


def test_an_index_is_answered_from_by_the_reader_unless_told_otherwise(tmp_path: Path):
    with ragways.open(indexed(tmp_path), embedder=WordHashes()) as corpus:
        read = corpus.ask("In which town was Ada Holm born?", "words").answer
        old = corpus.ask("In which town was Ada Holm born?", "words", reader="extract").answer
    assert (read.text.split(" [")[0], read.way) == ("Port Averne", "rule: read")
    assert (old.way, old.chance) == ("rule", None)


def test_odd_texts_do_no_harm(reader: Reader):
    odd = ["", "a" * 100_000, "🎈 " * 5_000, "\x00\n\t"]
    for text in odd:
        work = read_answer(
            "Who designed it?", [passage(text[:50], (text,))], reader, embed=None, terms=terms, maximum=3
        )
        assert 0 <= asyncio.run(work).chance <= 1
