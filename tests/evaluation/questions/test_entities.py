"""Graphs of concepts are asked about as graphs of names are; junk is not, and nothing is asked twice."""

from __future__ import annotations

import json

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.questions.source import SHARES, checked_shares, read_shares
from ragways.evaluation.record import Record
from ragways.index.open import Index
from tests.evaluation.questions.fakes import REPLIES, ModelByTask, indexed, made, shown

BOOK = {
    "skin": "Skin cancer is a disease of the skin. Radiation therapy is a treatment that uses high-energy rays. "
    "Patients often ask about it, and nurses explain it to them at length.",
    "breast": "Breast cancer may be treated with radiation therapy after surgery. Radiation therapy can cause skin "
    "changes that last for weeks. Many people get over them.",
    "scans": "A bone scan is an imaging test that shows where cells divide. Breast cancer can be found in a bone scan.",
}
TRIPLES = [
    ("breast cancer", "treated by", "radiation therapy", "Rays are given once the tumour is out.", "breast"),
    ("radiation therapy", "causes", "skin changes", "Skin reacts to rays.", "breast"),
    ("skin cancer", "treated by", "radiation therapy", "Rays are one of its treatments.", "skin"),
    ("bone scan", "finds", "breast cancer", "A scan shows spread to bones.", "scans"),
    ("it", "shows", "them", "Junk.", "skin"),
]
LAYERS = frozenset({"vectors", "graph"})


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """A textbook whose headings name nothing, with a graph of lower-case concepts that a model found."""
    folder = tmp_path_factory.mktemp("book")
    names = ("subject", "predicate", "object", "description", "text")
    rows = [dict(zip(names, (*triple[:4], BOOK[triple[4]]), strict=True)) for triple in TRIPLES]
    (folder / "triples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = {f"{n}.txt": text for n, text in enumerate(BOOK.values())}
    settings = {"graph": {"method": "import", "file": str(folder / "triples.jsonl"), "structure": False}}
    return indexed(folder, texts, LAYERS, settings)


def test_concepts_give_questions_without_a_model(book: Index):
    found = made(book, kinds=["node", "edge", "summary"], count=5)
    asked = {question.text: question.answers[0] for question in found.questions}
    assert asked["What is radiation therapy?"] == "a treatment that uses high-energy rays"
    assert asked["What is a bone scan?"] == "an imaging test that shows where cells divide"
    types = [question.type for question in found.questions]
    assert types.count("edge") >= 2
    assert "summary" in types
    assert not any(" it " in f" {text.rstrip('?.')} " or "them" in text for text in asked)


@pytest.mark.parametrize("kind", ["node", "edge", "summary", "subgraph"])
def test_a_model_sees_concepts_their_descriptions_and_the_whole_text(book: Index, kind: str):
    model = ModelByTask(REPLIES)
    assert made(book, model, kinds=[kind], count=3).questions
    written = [call for call in model.calls if call.schema_name in ("question_structure", "question_summary")]
    seen = " ".join(call.messages[-1].content for call in written)
    assert {text for call in written for text in shown(call)} <= set(BOOK.values())
    assert kind == "summary" or any(description in seen for _, _, _, description, _ in TRIPLES)
    assert "it shows them" not in seen


def test_no_question_comes_twice_in_other_words(demo: Index):
    found = made(demo, kinds=["moved"], count=20)
    facts = [question.provenance["path"][0] for question in found.questions]  # type: ignore[index]
    assert len(set(facts)) == len(facts) > 5
    both = made(demo, kinds=["comparison", "native", "theme_based", "factual"], count=15)
    made_of = [(sorted(question.provenance["path"]), question.answers[0]) for question in both.questions]  # type: ignore[call-overload]
    assert all(made_of.count(one) == 1 for one in made_of)
    turns = iter(("Where did the engineer Ada die?", "Where did Ada, the engineer, die?", "Who sailed on?"))
    lines = {
        **REPLIES,
        "question_factual": lambda _: {"question": next(turns, "Who?"), "answer": "in the Keldrey Isles"},
    }
    lines["question_grounded"] = "in the Keldrey Isles"
    model = made(demo, ModelByTask(lines), kinds=["factual"], count=3, seed=2)
    texts = [question.text for question in model.questions]
    assert len([text for text in texts if "Ada" in text]) <= 1


def test_ways_to_make_a_question_harder_are_chosen(demo: Index):
    assert read_shares("") == SHARES
    assert read_shares("reasoning") == {"reasoning": 1}
    assert read_shares("reasoning=0.4, comparative=0.2, multi-context=0") == {"reasoning": 0.4, "comparative": 0.2}
    for wrong in ("reasonin", "reasoning=x", "reasoning=-1", "reasoning=0", "reasoning=nan"):
        with pytest.raises(UsageError):
            read_shares(wrong)
    assert checked_shares(SHARES) == SHARES
    found = made(demo, kinds=["native"], count=15, evolutions={"comparative": 1})
    assert {question.provenance["note"] for question in found.questions} <= {"comparative", "not evolved"}
    assert found.about["evolutions"] == {"comparative": 1}
    model = ModelByTask(REPLIES)
    made(demo, model, kinds=["native"], count=2, evolutions={"reasoning": 1})
    told = [call.messages[-1].content for call in model.calls if call.schema_name == "question_evolved"]
    assert told
    assert all("several steps of thought" in text for text in told)


@pytest.mark.parametrize(
    ("type", "gold", "short"),
    [
        ("factual", "a word", True),
        ("node", "a lawyer and politician", False),
        ("summary", "Two. Sentences.", False),
        ("native", "1801", True),
        ("native", "She was born in Ness and moved to Tollen in 1801 with her mother and father.", False),
        ("of another set", "She was born in Ness and moved to Tollen in 1801 with her mother and father.", True),
    ],
)
def test_a_gold_text_is_scored_by_coverage_not_by_accuracy(type: str, gold: str, short: bool):
    record = Record("q", "?", type, (gold,), "naive", 0, answer="Something else.")
    for name in ("accuracy", "em", "accuracy-strict"):
        score = find_metric(name).score(record)
        assert (score.value == 0.0) if short else (score.value is None and "coverage" in score.why)
    assert find_metric("f1").score(record).value is not None
    assert find_metric("coverage").missing(record) == ""
