"""What a question's words cover, the features of passages, and the step that weighs them."""

from __future__ import annotations

import asyncio
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.step import fuse, rank_fusion
from ragways.core.trace import span
from ragways.core.types import Hits, Query
from ragways.index.open import Index
from ragways.layers.protocols import sureness
from ragways.retrieval.fused import (
    FEATURES,
    LINKED,
    LINKED_READ,
    PARTNERS,
    PLAIN,
    PLAIN_READ,
    RANK,
    Bridge,
    Candidates,
    Cover,
    Weights,
    chance,
    mixed,
    weighed,
)
from ragways.retrieval.pagerank import linked
from ragways.retrieval.retrieve import dense, words
from tests.retrieval.graph_corpus import HOPS, TEXTS, TWO, indexed, resources

WORDS = st.sampled_from(["tower", "towers", "designer", "designed", "gale", "war", "award", "city", "cities", "the"])
TEXT = st.lists(WORDS, max_size=8).map(" ".join)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = Index.open(indexed(tmp_path_factory.mktemp("fusion")))
    yield index
    index.close()


def lists(index: Index, question: str, depth: int = 3) -> list[Hits]:
    use = resources(index)
    steps = (dense(use, k=depth), words(use, k=depth), linked(use, k=depth))
    return [asyncio.run(step(Query(question))) for step in steps]


def candidates(index: Index, question: str, hits: Hits) -> Candidates:
    use = resources(index)
    return Candidates(use, hits, asyncio.run(use.embed_question(question)))


def test_words_are_met_in_all_their_forms():
    cover = Cover("cities, the designer of the war memorial", [])
    assert cover.of("She designed an award for the City.") == [True, True, False, False]
    assert cover.of("") == [False] * 4


def test_a_rare_word_weighs_more():
    cover = Cover("tower gale", ["the tower", "a tower", "tower and gale"])
    assert cover.weights.sum() == pytest.approx(1)
    assert cover.weights[1] > cover.weights[0]
    assert cover.weights[0] == pytest.approx(math.log(2) / (math.log(2) + math.log(3)))


@given(TEXT, st.lists(TEXT, max_size=5))
def test_cover_is_whole_for_itself_and_never_falls_with_more_text(question: str, texts: list[str]):
    cover = Cover(question, texts)
    assert cover.present.shape == (len(texts), len(cover.weights))
    assert all(cover.of(question))
    for one, other in itertools.combinations(texts, 2):
        both = cover.of(f"{one} {other}")
        assert both == [a or b for a, b in zip(cover.of(one), cover.of(other), strict=True)]


@pytest.mark.parametrize("question", ["", "the of", "?!", "é" * 300, "word " * 5000])
def test_odd_questions_are_covered(question: str):
    cover = Cover(question, ["a text"])
    assert len(cover.weights) <= 64
    assert cover.present.shape == (1, len(cover.weights))


def test_weights_belong_to_features_and_none_speaks_against_a_passage():
    assert {"read", *LINKED.features, *PLAIN.features} == set(FEATURES)
    for before, after in ((LINKED, LINKED_READ), (PLAIN, PLAIN_READ)):
        assert after.features.keys() - before.features.keys() == {"read"}
        assert all(weight > 0 for weights in (before, after) for weight in weights.features.values())


@given(st.lists(st.floats(0, 1), min_size=len(FEATURES), max_size=len(FEATURES)), st.floats(0, 1))
def test_chance_by_hand(row: list[float], whole: float):
    def total(weights: Weights) -> float:
        values = dict(zip(FEATURES, row, strict=True))
        return sum(weight * values[name] for name, weight in weights.features.items()) + weights.bias

    between = whole * total(LINKED) + (1 - whole) * total(PLAIN)
    assert chance(np.array([row]), mixed(whole)).tolist() == pytest.approx([1 / (1 + math.exp(-between))])


def test_weights_are_those_of_the_one_or_the_other_at_the_ends():
    for share, weights in ((1.0, LINKED), (0.0, PLAIN)):
        assert {name: weight for name, weight in mixed(share).features.items() if weight} == weights.features
        assert mixed(share).bias == weights.bias


@pytest.mark.parametrize("question", [HOPS, TWO])
def test_features_by_hand(index: Index, question: str):
    """Against plain loops over the definition."""
    parts = lists(index, question)
    hits = rank_fusion(parts, 5, (1.0, 0.3, 2.5))
    found = candidates(index, question, hits)
    rows = dict(zip(found.pieces, found.features().tolist(), strict=True))
    walked = [hit.piece.id for hit in parts[2].items]
    named = [id for name in index.graph.in_question(question) for id in name.entities]
    rarest = min(entity.chunks for entity in index.graph.entities(named).values())
    cosines = index.vectors.cosines(asyncio.run(resources(index).embed_question(question)), rows)
    cover = Cover(question, [f"{hit.piece.title} {hit.piece.text}" for hit in hits.items])
    held = {id: np.array(cover.of(f"{piece.title} {piece.text}")) for id, piece in found.pieces.items()}
    best = list(found.pieces)[:PARTNERS]
    for id, row in rows.items():
        values = dict(zip(FEATURES, row, strict=True))
        expected = (RANK + 1) / (RANK + walked.index(id) + 1) if id in walked else 0.0
        assert values["walk"] == pytest.approx(expected * math.sqrt(1 / rarest))
        assert values["meaning"] == pytest.approx(cosines[id] / max(cosines.values()), abs=5e-5)
        shares = {other: float((held[id] | held[other]) @ cover.weights) for other in best}
        joined = {bridge.source for bridge in found.bridges.get(id, ())}
        alone = float(held[id] @ cover.weights)
        assert values["pair"] == pytest.approx(max(shares.values()))
        assert values["joined"] == pytest.approx(max([alone, *(shares[s] for s in joined if s in shares)]))
        assert 0 <= values["bridge"] <= 1
        assert 0 <= values["named"] <= 1
        title = re.findall(r"\w+", found.pieces[id].title.casefold())
        share = sum(word[:5] in question.casefold() for word in title) / len(title)
        assert values["title"] == pytest.approx(share)
        orders = [[hit.piece.id for hit in part.items] for part in parts[:2]]
        ranks = [order.index(id) + 1 for order in orders if id in order]
        assert values["agreed"] == pytest.approx(sum((RANK + 1) / (RANK + rank) for rank in ranks) / 2)
        assert values["text"] == pytest.approx(float(np.array(cover.of(found.pieces[id].text)) @ cover.weights))
        assert values["text"] <= alone + 1e-9
    assert found.linked == 1.0, "every text of this corpus is one passage"


def long_article(folder: Path) -> Index:
    """A long article beside seven short ones."""
    years = "\n\n".join(f"## Year {year}\n\nThe keeper wrote a log in {year}." for year in range(40))
    return Index.open(indexed(folder, {**TEXTS, "ness-light.md": f"# Ness Light\n\n{years}"}))


def test_parts_of_long_articles_are_told_from_whole_ones(tmp_path: Path):
    index = long_article(tmp_path)
    size = index.vectors.sizes({id.rsplit(":", 3)[0] for id in index.vectors.ids})
    (long,) = (id for id, count in size.items() if count > 1)
    assert size[long] >= 20
    assert sum(size.values()) == len(index.vectors.ids)
    shares = []
    for question in ("What did the keeper write in the log?", "Cod is dear in winter"):
        found = candidates(index, question, words_only(index, question))
        mean = np.mean([1 / size[piece.document] for piece in found.pieces.values()])
        assert found.linked == 0  # no bridge leads from one passage to the article about what it names
        found.bridges = {id: [Bridge(id, id, "Ness Light", 0, own=True)] for id in found.pieces}
        assert found.linked == pytest.approx(3 * mean**2 - 2 * mean**3)
        shares.append(found.linked)
        found.bridges = {id: [Bridge(id, id, "Ness Light", 0, own=False)] for id in found.pieces}
        assert found.linked == 0
    assert 0 <= shares[0] < 0.1
    assert 0.9 < shares[1] <= 1
    index.close()


def test_passages_are_weighed_by_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    index = long_article(tmp_path)
    monkeypatch.setattr(Candidates, "linked", 0.4)
    question = "What did the keeper of the Ness Light write in the log of 12?"
    hits = rank_fusion(lists(index, question, depth=10), 5)
    found = candidates(index, question, hits)
    by_hand = dict(zip(found.pieces, chance(found.features(), mixed(found.linked)).tolist(), strict=True))
    scores = {hit.piece.id: hit.score for hit in asyncio.run(weighed(resources(index))(hits)).items}
    assert scores == pytest.approx(by_hand)
    assert scores != pytest.approx(dict(zip(by_hand, chance(found.features(), LINKED).tolist(), strict=True)))
    index.close()


def words_only(index: Index, question: str) -> Hits:
    return asyncio.run(words(resources(index), k=20)(Query(question)))


def test_a_walk_from_a_hub_tells_less(index: Index):
    assert sureness({}) == 0
    assert sureness({"a": 1.0, "b": 0.01}) == 1
    assert sureness({"b": 0.01}) == pytest.approx(0.1)
    seeds = index.graph.question_seeds(HOPS)
    seeds.clear()
    assert index.graph.question_seeds(HOPS), "what is kept of a question is not what callers may change"
    assert index.graph.question_seeds(TWO).keys() != index.graph.question_seeds(HOPS).keys()


def test_a_bridge_brings_in_what_no_list_has(index: Index):
    query = Query(HOPS)
    alone = Hits(query, lists(index, HOPS)[2].items[:1])
    assert [hit.piece.title for hit in alone.items] == ["Ness Light"]
    found = asyncio.run(weighed(resources(index))(alone))
    reached = {hit.piece.title: hit for hit in found.items}
    assert "Ada Holm" in reached
    (why,) = reached["Ada Holm"].found
    assert (why.by, why.note) == ("bridge", "Ness Light names Ada Holm")


def test_the_order_of_lists_does_not_matter_and_nothing_is_lost(index: Index):
    parts, weights = lists(index, TWO), (1.0, 0.3, 2.5)
    results = []
    for order in itertools.permutations(range(3)):
        hits = rank_fusion([parts[n] for n in order], 5, [weights[n] for n in order])
        found = asyncio.run(weighed(resources(index))(hits))
        assert {hit.piece.id for hit in hits.items} <= {hit.piece.id for hit in found.items}
        results.append(found)
    assert all(found == results[0] for found in results)
    places = [(-hit.score, hit.piece.id) for hit in results[0].items]
    assert places == sorted(places)


def test_learned_scores_are_chances_and_the_trace_says_why(index: Index):
    use = resources(index)

    async def run() -> tuple[Hits, dict[str, object]]:
        together = fuse(dense(use, k=3), words(use, k=3), linked(use, k=3))
        with span("test") as trace:
            found = await (together >> weighed(use))(Query(HOPS))
        return found, next(each for each in trace.walk() if each.name == "weigh").details

    found, details = asyncio.run(run())
    assert all(0 < hit.score < 1 for hit in found.items)
    best = details["best"]
    assert isinstance(best, dict)
    first = found.items[0]
    assert next(iter(best)) == first.piece.id
    assert set(best[first.piece.id]) == {"chance", *FEATURES}
    assert best[first.piece.id]["chance"] == pytest.approx(first.score, abs=1e-3)
    assert details["linked"] == 1.0
    assert details["weights"] == {name: round(weight, 2) for name, weight in mixed(1.0).features.items()}


def test_nothing_found_stays_nothing(index: Index):
    nothing = Hits(Query("zzz"))
    assert asyncio.run(weighed(resources(index))(nothing)) == nothing
