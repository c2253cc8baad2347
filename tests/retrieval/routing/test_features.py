"""Features are named, finite and the same each time; what is not known is left out. Several are computed by hand."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Sequence
from importlib import resources as files
from pathlib import Path

import pytest

from ragways.assemble import opened
from ragways.core.types import Found, Hit, Hits, Piece, Query
from ragways.index.diagnosis import diagnose, save
from ragways.index.open import Index
from ragways.retrieval.routing.features import (
    FEATURES,
    all_features,
    corpus_features,
    look_features,
    question_features,
)
from ragways.retrieval.routing.look import Look
from ragways.settings import Settings
from tests.retrieval.graph_corpus import HOPS, TEXTS, TWO, indexed, resources

HOSTILE = {
    "long": "Who built the Ness Light " * 320,
    "long name": "A" + "a" * 7999,
    "capitals": "Ness Light " * 700,
    "no letters": "?! … 12 — ((((",
    "one sign": "?",
    "nested": "(" * 4000 + ")" * 4000,
    "quotes": "'\"“" * 2000,
    "Chinese": "谁设计了内斯灯塔？",
    "Arabic": "من صمم منارة نيس؟",
    "Thai": "ใครออกแบบประภาคารเนส",
    "emoji": "🚢🚢🚢 where?",
    "not normal": "\x00\x1b[31m \u202e Ness Light \ufffe?",
    "query": "'; DROP TABLE documents; -- $.date %s {0} Ness Light",
}
FEWER = ({"vectors", "words"}, {"vectors"}, {"words"}, {"words", "graph"})
WITHOUT_GRAPH = {"question.entities", "question.unknown", "question.homonyms", "question.sureness", "look.hops",
                 "look.linked", "look.read", "look.top", "look.sum@10", "look.left@10", "corpus.density"}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("features")))
    yield index
    index.close()


def taken(index: Index, question: str) -> dict[str, float]:
    return asyncio.run(all_features(resources(index), question))


def check(found: dict[str, float]) -> None:
    assert found.keys() <= FEATURES.keys()
    assert {name for name, value in found.items() if type(value) is not float or not math.isfinite(value)} == set()


def test_every_feature_says_what_it_is():
    assert {name.split(".")[0] for name in FEATURES} == {"question", "look", "corpus"}
    assert all(said.endswith(".") and said[0].isupper() for said in FEATURES.values())
    assert len(set(FEATURES.values())) == len(FEATURES)


def demo_questions() -> list[str]:
    lines = (files.files("ragways") / "demo" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line)["question"] for line in lines]
    return [*asked[:3], *asked[-2:], "Did the Averne Mercury of 4 April 1868 and Tobin Farr say the same?"]


def test_on_the_bundled_corpus_all_are_known_and_do_not_depend_on_what_was_asked_before(demo_settings: Settings):
    async def run(questions: Sequence[str]) -> dict[str, dict[str, float]]:
        async with opened(demo_settings) as use:
            return {question: await all_features(use, question) for question in questions}

    questions = demo_questions()
    there, back = asyncio.run(run(questions)), asyncio.run(run(questions[::-1]))
    assert there == back
    for found in there.values():
        check(found)
        assert found["look.fused"] == 1.0
        assert all(name in found for name in FEATURES if name.startswith("corpus."))
    assert {name for found in there.values() for name in found} == FEATURES.keys()
    last = there[questions[-1]]
    assert last["question.sources"] == 2.0
    assert (last["question.dates"], last["question.dates_known"]) == (1.0, 1.0)


@pytest.mark.parametrize("layers", FEWER, ids=lambda layers: "+".join(sorted(layers)))
def test_fewer_layers_give_fewer_features(tmp_path: Path, layers: set[str]):
    index = Index.open(indexed(tmp_path, layers=frozenset(layers)))
    for question in (HOPS, TWO, "zzz"):
        found = taken(index, question)
        check(found)
        assert found == taken(index, question)
        assert found["corpus.documents"] == math.log(len(TEXTS))
        assert found["look.fused"] == 0.0
        if "graph" not in layers:
            assert not WITHOUT_GRAPH & found.keys()
        if "vectors" not in layers:
            assert not {"look.nearness", "corpus.hubness"} & found.keys()
    index.close()


@pytest.mark.parametrize("question", HOSTILE.values(), ids=HOSTILE)
def test_hostile_questions(index: Index, question: str):
    found = taken(index, question)
    check(found)
    assert found == taken(index, question)


def test_of_a_question_by_hand(index: Index):
    use = resources(index)
    found = question_features(use, HOPS)  # In which town was the designer of the Ness Light born?
    assert found["question.words"] == 11
    assert found["question.form.span"] == 1.0
    assert sum(value for name, value in found.items() if ".form." in name) == 1.0
    assert (found["question.names"], found["question.entities"], found["question.unknown"]) == (1, 1, 0)
    assert found["question.titles"] == 1
    assert found["question.dates"] == 0
    assert "question.dates_known" not in found
    assert question_features(use, TWO)["question.titles"] == 2  # Bertil Oakes and the Ness Light
    odd = question_features(use, "Was Zebulon Quirk born before Ada Holm in 1770?")
    assert [odd["question.names"], odd["question.unknown"]] == pytest.approx([3, 1 / 3])  # a year is known too
    assert odd["question.degrees"] == 1
    assert odd["question.dates"] == 1
    assert "question.dates_known" not in odd  # no document has a date
    assert "question.unknown" not in question_features(use, "what is dear in winter?")


def hit(n: int, score: float, *found: Found, document: str = "article:1", text: str = "") -> Hit:
    return Hit(Piece(f"{document}:s0:p{n}:c0", "chunk", text, document, "Title", 0, 9, 100), score, found)


def test_of_a_look_by_hand(index: Index):
    question = "What joins Bertil Oakes and the Ness Light?"
    hits = (
        hit(1, 0.9, Found("dense", 1, 0.7), Found("words", 12, 3.0), text="Bertil Oakes was a mason."),
        hit(2, 0.5, Found("linked", 1, 0.1), Found("dense", 3, 0.6), text="It joins nothing."),
        hit(3, 0.2, Found("words", 1, 9.0), Found("bridge", 1, 0.5), document="article:2"),
        hit(4, 0.1, Found("dense", 11, 0.2), text="the ness light"),
    )
    found = look_features(Look(Hits(Query(question), hits), "fused", 0.25, -1.5), question, resources(index))
    check(found)
    assert found["look.top"] == 0.9
    assert found["look.margin"] == pytest.approx(0.4)
    assert found["look.sum@3"] == pytest.approx(1.6)
    assert found["look.sum@60"] == pytest.approx(1.7)
    assert found["look.left@3"] == pytest.approx(math.log(0.9))
    assert found["look.left@5"] == 0.0
    shares = [score / 1.7 for score in (0.9, 0.5, 0.2, 0.1)]
    assert found["look.entropy"] == pytest.approx(-sum(p * math.log(p) for p in shares) / math.log(4))
    assert found["look.overlap.dense-linked"] == 1.0  # the one of the walk is of the two by meaning
    assert found["look.overlap.dense-words"] == 0.0
    assert found["look.agreed"] == 2
    assert found["look.documents"] == 2
    assert found["look.tokens@3"] <= found["look.tokens@10"] == 400
    assert found["look.bridged"] == 0.25
    assert found["look.nearness"] == 0.7
    assert (found["look.linked"], found["look.read"]) == (0.25, -1.5)
    assert (found["look.names@3"], found["look.names@10"]) == (0.5, 1.0)
    assert [found["look.words@3"], found["look.words@10"]] == pytest.approx([3 / 5, 1.0])  # no `ness`, no `light`
    assert found["look.hops"] == 1.0  # Bertil Oakes rebuilt the Ness Light


def test_the_corpus_is_measured_once_and_taken_from_its_diagnosis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = indexed(tmp_path)
    index = Index.open(folder)
    measured = diagnose(index)
    assert measured.texts is not None
    assert measured.structure is not None
    found = corpus_features(index)
    check(found)
    assert found["corpus.tokens"] == pytest.approx(math.log(measured.texts.mean_tokens or 0))
    assert found["corpus.density"] == pytest.approx(math.log(measured.structure.density or 0))
    assert found["corpus.linked"] == measured.texts.linked_share
    save(folder, measured)
    monkeypatch.setattr("ragways.index.diagnosis.diagnose", None)  # whoever measures again fails
    assert corpus_features(index) == found
    other = Index.open(folder)
    assert corpus_features(other) == found
    index.close()
    other.close()


def test_dates_of_documents(tmp_path: Path):
    texts = {"a.md": "---\ndate: 1883-02-11\n---\n# Gale\n\nThe Great Gale.", "b.md": "# Calm\n\nNo wind."}
    index = Index.open(indexed(tmp_path, texts, frozenset({"words"})))
    use = resources(index)
    for question, share in (
        ("What happened on 11 February 1883?", 1.0),
        ("What happened in February 1883?", 1.0),
        ("What happened in 1883?", 1.0),
        ("What happened on 12 February 1883?", 0.0),
        ("What happened in 1883 and 1884?", 0.5),
    ):
        assert question_features(use, question)["question.dates_known"] == share
    index.close()
