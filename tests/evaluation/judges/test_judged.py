"""Judged metrics by their definitions, from scripted verdicts."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.evaluation.judges import JUDGES
from ragways.evaluation.judges.claims import TRIED, coarse, fine, nearest
from ragways.evaluation.judges.judge import family, same_family
from ragways.evaluation.judges.verdicts import average_precision, cited
from ragways.evaluation.metrics import METRICS
from ragways.testing.scripted import ScriptedModel
from tests.evaluation.judges.resources import PIECES, KnownVectors, agreeable, fenced, record, resources, scored, value


def claims(*texts: str) -> dict[str, object]:
    return {"claims": list(texts)}


def verdicts(*supported: bool) -> dict[str, object]:
    return {"verdicts": [{"claim": n, "why": "so", "supported": one} for n, one in enumerate(supported, start=1)]}


def matches(*gold: list[int]) -> dict[str, object]:
    return {"matches": [{"claim": n, "why": "so", "gold": one} for n, one in enumerate(gold, start=1)]}


def test_faithfulness_is_the_share_of_claims_the_evidence_supports():
    turned = {"verdicts": list(reversed(verdicts(True, False, True)["verdicts"]))}  # type: ignore[call-overload]
    with ScriptedModel([claims("a", "b", "c"), turned]) as model:
        found = scored("faithfulness", record(), model)["faithfulness"]
    assert found.value == pytest.approx(2 / 3)
    assert [row["supported"] for row in found.details["claims"]] == [True, False, True]
    text, numbered = fenced(model.calls[1])
    assert numbered == "1. a\n2. b\n3. c"
    assert all(piece["text"] in text and piece["title"] in text for piece in PIECES)
    assert "[1]" not in fenced(model.calls[0])[0]


def test_a_text_without_claims_is_unscored():
    with ScriptedModel([claims()]) as model:
        found = scored("faithfulness", record(), model)["faithfulness"]
    assert (found.value, found.why) == (None, "no claims")


def test_context_recall_asks_for_the_gold_answer():
    with ScriptedModel([claims("a", "b", "c", "d"), verdicts(True, False, False, False)]) as model:
        assert value("context-recall", record(), model) == pytest.approx(0.25)
    assert fenced(model.calls[0]) == ["Ada Holm"]


EXPLAINED = {"answer": "Ada Holm [1]", "explanation": "Ness Light dates from 1912. Holm was born in Vik. [2]"}


@pytest.mark.parametrize(
    ("judge", "expected"),
    [("crag", {"crag-coarse": 1, "crag-fine": 1}), ("factual", {"factual-precision": 1, "factual-recall": 1})],
)
def test_a_right_answer_with_two_sentences_of_explanation_is_right(judge: str, expected: dict[str, float]):
    found = scored(judge, record(**EXPLAINED), agreeable())
    assert {name: found[name].value for name in expected} == expected
    joined = record(answer="\n\n".join(EXPLAINED.values()))
    assert scored(judge, joined, agreeable())[next(iter(expected))].value < 1  # type: ignore[operator]


@pytest.mark.parametrize("name", ["correct", "bertscore", "coverage"])
def test_what_is_held_against_the_gold_answer_does_not_depend_on_the_explanation(name: str):
    with_it, without = (
        scored(name, record(**{**EXPLAINED, **more}), agreeable()) for more in ({}, {"explanation": ""})
    )
    assert {key: one.value for key, one in with_it.items()} == {key: one.value for key, one in without.items()}


def test_what_is_held_against_evidence_or_question_shows_the_explanation_too():
    whole = "Ada Holm\nNess Light dates from 1912. Holm was born in Vik."
    for name, task in (("faithfulness", "judge_claims"), ("answer-relevancy", "judge_questions")):
        model = agreeable()
        scored(name, record(**EXPLAINED), model)
        assert [fenced(call)[0] for call in model.calls if call.schema_name == task] == [whole]


def test_factual_precision_recall_and_f1():
    def split(call):
        return claims("x", "y", "z") if "Vik" in fenced(call)[0] else claims("g", "h")

    def check(call):
        text, listed = fenced(call)
        if listed.startswith("1. x"):
            assert text == "Ada Holm\nA. Holm"  # any accepted answer will do
            return verdicts(True, False, False)
        assert "Vik" in text
        return verdicts(True, False)

    found = scored("factual", record(), agreeable(judge_claims=split, judge_support=check))
    assert found["factual-precision"].value == pytest.approx(1 / 3)
    assert found["factual-recall"].value == pytest.approx(1 / 2)
    assert found["factual-f1"].value == pytest.approx(2 * (1 / 3) * (1 / 2) / (5 / 6))
    nothing = scored(
        "factual",
        record(),
        agreeable(judge_support=lambda call: verdicts(*[False] * fenced(call)[1].count("\n"), False)),
    )
    assert [score.value for score in nothing.values()] == [0, 0, 0]
    unsplit = scored("factual", record(), agreeable(judge_claims=claims()))
    assert {(score.value, score.why) for score in unsplit.values()} == {(None, "no claims")}


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_its_definition(useful: list[bool]):
    """sum over k of precision@k × useful_k, over the number of useful ones."""
    top = sum((sum(useful[: k + 1]) / (k + 1)) * useful[k] for k in range(len(useful)))
    assert average_precision(useful) == pytest.approx(top / (sum(useful) + 1e-10))


def test_context_precision_shows_each_piece_alone_with_gold_or_answer():
    model = agreeable()
    assert value("context-precision", record(), model) == pytest.approx(1.0)  # only the first speaks of Ness
    assert [fenced(call)[0] for call in model.calls] == ["Ada Holm\nA. Holm"] * 3
    assert fenced(model.calls[0])[1].startswith("Ness Light (1912)\n")
    model = agreeable(judge_useful=lambda call: {"why": "", "useful": "Ada Holm\n" in fenced(call)[1]})
    assert value("context-precision-unreferenced", record(), model) == pytest.approx(0.5)
    assert all(fenced(call)[0].startswith("Ness Light was built by Ada Holm.") for call in model.calls)


def test_answer_relevancy_is_the_mean_cosine_to_the_question():
    embedder = KnownVectors({"who": (1, 0, 0), "what": (0, 1, 0), "both": (0.6, 0.8, 0)})
    said = {"noncommittal": False, "questions": ["who", "what", "both"]}
    with ScriptedModel([said]) as model:
        assert value("answer-relevancy", record(text="who"), model, embedder) == pytest.approx((1 + 0 + 0.6) / 3)
    assert "who" not in fenced(model.calls[0])[0].split()
    with ScriptedModel([{**said, "noncommittal": True}]) as model:
        assert value("answer-relevancy", record(text="who"), model, embedder) == 0


@pytest.mark.parametrize("verdict", ["correct", "incorrect", "incomplete"])
def test_the_three_verdicts_are_three_shares(verdict: str):
    with ScriptedModel([{"why": "so", "verdict": verdict}]) as model:
        found = scored("correct", record(), model)
    assert {name: score.value for name, score in found.items()} == {
        f"judged-{name}": float(name == verdict) for name in ("correct", "incorrect", "incomplete")
    }
    assert found["judged-correct"].details["verdict"] == verdict
    assert fenced(model.calls[0])[0] == "Ada Holm\nA. Holm"


def test_an_abstention_is_graded_by_rule():
    gave_up = scored("correct", record(abstained=True), ScriptedModel([]))
    assert gave_up["judged-incomplete"].value == 1
    right = scored("correct", record(abstained=True, gold=("Insufficient information",)), ScriptedModel([]))
    assert right["judged-correct"].value == 1


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1, 1, (1, 1)), (1, 0.5, (-1, 0.5)), (0.5, 1, (-1, -0.5)), (0.5, 0.5, (-1, -0.5)), (0, 0, (-1, -1))],
)
def test_crag_by_its_rules(precision: float, recall: float, expected: tuple[float, float]):
    assert (coarse(precision, recall), fine(precision, recall)) == expected


@pytest.mark.parametrize(
    ("said", "gold", "match", "expected"),
    [
        (claims("a"), claims("g"), matches([1]), (1, 1)),
        (claims("a"), claims("g", "h"), matches([2]), (-1, 0.5)),
        (claims("a"), claims("g", "h"), matches([1, 2]), (1, 1)),
        (claims("a", "b"), claims("g"), matches([1], []), (-1, -0.5)),
        (claims("a", "b"), claims("g"), matches([1], [1]), (1, 1)),
        (claims("a", "b"), claims("g"), matches([], []), (-1, -1)),
    ],
)
def test_crag_from_matched_claims(said, gold, match, expected):
    with ScriptedModel([said, gold, match]) as model:
        found = scored("crag", record(gold=("Ada Holm",)), model)
    assert (found["crag-coarse"].value, found["crag-fine"].value) == expected
    assert found["crag-fine"].details["gold"] == gold["claims"]
    assert fenced(model.calls[1]) == ["Ada Holm"]


def test_crag_of_what_was_not_answered():
    unanswered = scored("crag", record(abstained=True), ScriptedModel([]))
    evaded = scored("crag", record(answer="I am not sure."), ScriptedModel([claims(), claims("g")]))
    null = scored("crag", record(abstained=True, gold=("Insufficient information",)), ScriptedModel([]))
    invented = scored("crag", record(gold=("Insufficient information",)), ScriptedModel([claims("a")]))
    declined = scored(
        "crag", record(answer="That is not known.", gold=("Insufficient information",)), ScriptedModel([claims()])
    )
    odd = scored("crag", record(), ScriptedModel([claims("a"), claims(), claims()]))
    values = [[score.value for score in one.values()] for one in (unanswered, evaded, null, declined, invented, odd)]
    assert values == [[0, 0], [0, 0], [1, 1], [1, 1], [-1, -1], [None, None]]


@given(st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=1, max_size=3), st.integers(3, 4))
def test_coarse_and_fine_never_contradict_each_other(gold: list[list[int]], known: int):
    """The heat maps of the source show judges that did: +1 by one score and −1 by the other."""
    script = [claims(*map(str, range(len(gold)))), claims(*map(str, range(known))), matches(*gold)]
    found = scored("crag", record(gold=("Ada Holm",)), ScriptedModel(script))
    first, second = found["crag-coarse"].value, found["crag-fine"].value
    assert first is not None
    assert second is not None
    assert (first == 1) == (second == 1)
    assert (first == -1) == (second in (0.5, -0.5, -1))


def test_crag_takes_the_accepted_answer_that_fits_best():
    worse, better = matches([]), matches([1])
    with ScriptedModel([claims("a"), claims("g"), worse, claims("h"), better]) as model:
        found = scored("crag", record(answer="She did."), model)
    assert [one.value for one in found.values()] == [1, 1]
    assert found["crag-fine"].details["accepted"] == "A. Holm"
    assert [fenced(call) for call in model.calls[1:]] == [["Ada Holm"], ["1. a", "1. g"], ["A. Holm"], ["1. a", "1. h"]]
    with ScriptedModel([claims("a"), claims("g"), worse, claims("h", "i"), better]) as model:
        partly = scored("crag", record(answer="She did."), model)
    assert [one.value for one in partly.values()] == [-1, 0.5]
    with ScriptedModel([claims("a"), claims(), claims("h"), better]) as model:  # one that claims nothing is passed over
        assert scored("crag", record(answer="She did."), model)["crag-coarse"].value == 1


def test_crag_asks_no_more_than_it_must():
    """An alias that stands in the answer comes first, alike ones count once, and of many only some are asked."""
    known = ("the Ada Holm", "Ada Holm", "Ada Holm.", *(f"alias {n}" for n in range(30)), "Holm of Vik")
    one = record(answer="Holm of Vik did.", gold=known)
    assert nearest(one)[:3] == ["Holm of Vik", "the Ada Holm", "alias 0"]
    assert len(nearest(one)) == 32
    with ScriptedModel([claims("a"), claims("g"), matches([1])]) as model:
        assert scored("crag", one, model)["crag-fine"].value == 1
    with ScriptedModel([claims("a"), *[claims("g"), matches([])] * TRIED]) as model:
        assert scored("crag", one, model)["crag-fine"].value == -1


@pytest.mark.parametrize("gold", [(), ("Insufficient information",)])
def test_a_null_question_is_judged_with_and_without_the_words_for_it(gold: tuple[str, ...]):
    null = {"type": "null", "gold": gold, "citations": ()}
    with ScriptedModel([{"why": "", "verdict": "incorrect"}]) as model:
        assert value("judged-incorrect", record(**null), model) == 1
    assert fenced(model.calls[0])[0] == "Insufficient information"
    assert value("judged-correct", record(**null, abstained=True, answer=""), ScriptedModel([])) == 1
    assert value("crag-fine", record(**null, abstained=True, answer=""), ScriptedModel([])) == 1
    assert value("crag-fine", record(**null), ScriptedModel([claims("a")])) == -1
    for name in ("judged-correct", "crag-fine"):
        assert METRICS[name].missing(record(**null)) == ""


def test_an_empty_accepted_answer_is_none_to_compare_with():
    with ScriptedModel([claims("a"), verdicts(True)]) as model:
        assert value("context-recall", record(gold=("", "Ada Holm")), model) == 1
    assert fenced(model.calls[0]) == ["Ada Holm"]


def test_citation_correctness_is_a_share_of_cited_sentences():
    with ScriptedModel([verdicts(True, False)]) as model:
        assert value("citation-correctness", record(), model) == 0.5
    assert fenced(model.calls[0]) == [
        "P1: Ness Light (1912)\nNess Light was built in 1912 by Ada Holm. It stands on a rock.\n\n"
        "P2: Ada Holm\nAda Holm was born in Vik.",
        "1. Ness Light was built by Ada Holm.\n   cites P1\n\n2. She was born in Vik.\n   cites P2",
    ]


def citation(sentence: int, quote: str = "q", piece: str = "p") -> dict[str, object]:
    return {"sentence": sentence, "piece": piece, "document": "d", "start": 0, "end": 1, "quote": quote}


@pytest.mark.parametrize(
    ("answer", "numbers", "expected"),
    [
        ("One. [1][2] Two. [3]", (0, 0, 1), ["One.", "Two."]),
        ("Uncited. Cited. [1] Uncited too. Last. [2]", (1, 3), ["Cited.", "Last."]),
        ("A first. And more of it. [1]", (0,), ["And more of it."]),
        ("Ada; Bo [1][2]\n\nHow it follows.", (0, 0), ["Ada; Bo"]),
        ("One [1] with a mark inside. [1] Two. [2]", (0, 1), ["One with a mark inside.", "Two."]),
        ("No marks at all.", (0, 7), ["No marks at all.", "No marks at all."]),
    ],
)
def test_cited_sentences_are_found_in_the_answer(answer: str, numbers: tuple[int, ...], expected: list[str]):
    found = cited(record(answer=answer, citations=tuple(citation(n, f"q{at}") for at, n in enumerate(numbers))))
    assert [one.sentence for one in found] == expected
    assert list(itertools.chain(*(one.quotes for one in found))) == [f"q{at}" for at in range(len(numbers))]


def test_citations_valid_needs_the_quote_in_the_evidence_it_names():
    metric = METRICS["citations-valid"]
    pieces = (
        {"id": "p", "kind": "chunk", "text": "Ada Holm\nwas born in Vik."},
        {"id": "t", "kind": "triplet", "text": "Ada Holm — born in — Vik"},
    )

    def valid(*some: dict[str, object]) -> float | None:
        return metric.score(record(evidence=pieces, citations=some)).value

    good, elsewhere = citation(0, "Holm was born"), citation(0, "Holm was born", "gone")
    assert valid(good) == 1
    assert valid(good, elsewhere) == 0.5
    assert valid(citation(0, "Holm died"), citation(0, "  ")) == 0
    assert valid(citation(0, "Ada Holm was born.", "t")) is None
    assert valid(citation(0, "Ada Holm was born.", "t"), good) == 1
    assert metric.score(record()).value == 1
    assert metric.score(record(citations=())).why == "nothing was cited"


def test_the_same_claims_are_asked_for_once_where_replies_are_kept():
    model = agreeable()
    use = resources(model, cache=True)

    async def run() -> None:
        for name in ("factual", "crag", "faithfulness", "context-recall"):
            await JUDGES[name].score(use, record(gold=("Ada Holm",)))

    asyncio.run(run())
    assert sum(call.schema_name == "judge_claims" for call in model.calls) == 2  # answer and gold, for four judges


def test_one_piece_found_by_two_paradigms_is_judged_once():
    model = agreeable()
    use = resources(model, cache=True)

    async def run() -> None:
        await JUDGES["context-precision"].score(use, record())
        await JUDGES["context-precision"].score(use, record(paradigm="words", evidence=PIECES[::-1]))

    asyncio.run(run())
    assert len(model.calls) == len(PIECES)


FAMILIES = {
    "gpt": ["gpt-4o-mini", "openai/gpt-oss-20b", "chatgpt-4o-latest", "o3-mini", "o1"],
    "claude": ["claude-3-5-sonnet-20241022", "anthropic.claude-v2"],
    "gemini": ["gemini-2.0-flash", "google/gemini-pro"],
    "gemma": ["gemma2:9b"],
    "llama": ["meta-llama/Llama-3.3-70B-Instruct", "llama3.1:8b", "nvidia/llama-3"],
    "qwen": ["Qwen/Qwen2.5-7B-Instruct", "qwq-32b"],
    "mistral": ["mistral-large", "mixtral-8x7b"],
    "deepseek": ["deepseek-chat", "DeepSeek-R1-Distill-Qwen-7B"],
    "phi": ["phi-4", "microsoft/Phi-3.5-mini"],
    "acme": ["acme-foo-2", "acme7b", "house/Acme.9"],
}


@pytest.mark.parametrize(("name", "expected"), [(name, known) for known, names in FAMILIES.items() for name in names])
def test_families(name: str, expected: str):
    assert family(name) == expected


def test_same_family():
    assert same_family("gpt-4o", "o3-mini")
    assert not same_family("gpt-4o", "claude-3-haiku")
    assert not same_family("", "")
    assert not same_family("gpt-4o", "")
    assert same_family("7b", "7b")
