"""Each traversal against a slow, literal transcription of its formulas, and each way it can end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragways.core.trace import Span, span
from ragways.core.types import Hits, Query
from ragways.index.build import build
from ragways.index.open import Index
from ragways.models.call import Reply
from ragways.models.client import ModelClient
from ragways.retrieval import traversals
from ragways.retrieval.paradigm import Paradigm
from ragways.retrieval.resources import Resources
from ragways.retrieval.traversals import WindowPath
from ragways.tasks.search import CHOOSE_HOP, ChooseHopInput, HopPreview
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write
from tests.layers.windows.graphs import Graph, graph

PARADIGMS = tuple(one for one in vars(traversals).values() if isinstance(one, Paradigm))

# The formulas, transcribed. A window or sentence with the same text as another is that one.


class Slow:
    """q, c, n and their cosines as plain numbers; S is what is gathered."""

    def __init__(self, g: Graph) -> None:
        self.g = g
        layer = g.windows
        near = layer.nearness(g.question)
        self.q_window = [float(x) for x in near.windows]
        self.q_sentence = [float(x) for x in near.sentences]
        self.count = len(layer)
        self.S: list[int] = []
        self.path: list[int] = []
        self.end = ""

    def children(self, c: int) -> list[int]:
        return list(self.g.windows.sentences_of(c))

    def edges(self, c: int) -> dict[int, float]:
        return dict(self.g.windows.neighbours(c))

    def seen(self, c: int) -> bool:
        return any(self.g.window_texts[c] == self.g.window_texts[p] for p in self.path)

    def has(self, s: int) -> bool:
        return any(self.g.sentence_texts[s] == self.g.sentence_texts[o] for o in self.S)

    def unvisited(self) -> dict[int, float]:
        return {n: s for n, s in self.edges(self.path[-1]).items() if not self.seen(n)}

    def visit(self, c: int, most: int) -> None:
        self.path.append(c)
        for s in self.children(c):
            if not self.has(s) and len(self.S) < most:
                self.S.append(s)

    def anchor(self, most: int) -> None:
        self.visit(max(range(self.count), key=lambda c: (self.q_window[c], -c)), most)

    def ended(self, available: object, most: int) -> bool:
        if len(self.S) >= most:
            self.end = "max"
        elif not available:
            self.end = "no way on"
        return bool(self.end)

    def best_node(self, score_window: Callable[[int], float], score_sentence: Callable[[int], float]) -> int:
        """argmax over windows and the ungathered sentences under them; a sentence leads to its best parent."""
        nodes = []
        for n in self.unvisited():
            nodes.append((score_window(n), 1, score_window(n), -n))
            nodes += [(score_sentence(s), 0, score_window(n), -n) for s in self.children(n) if not self.has(s)]
        return -max(nodes)[3]


def slow_basic(w: Slow, most: int, least: int) -> None:
    for c in sorted(range(w.count), key=lambda c: (-w.q_window[c], c)):
        if w.seen(c):
            continue
        if w.ended([c], most):
            return
        if len(w.S) >= least and max(w.q_sentence[s] for s in w.S) > w.q_window[c]:
            w.end = "beaten"
            return
        w.visit(c, most)
    w.ended([], most)


def slow_query(w: Slow, most: int, least: int) -> None:
    w.anchor(most)
    while not w.ended(available := w.unvisited(), most):
        if len(w.S) >= least and max(w.q_sentence[s] for s in w.S) > max(w.q_window[c] for c in available):
            w.end = "beaten"
            return
        w.visit(w.best_node(lambda n: w.q_window[n], lambda s: w.q_sentence[s]), most)


def slow_kg(w: Slow, most: int, least: int) -> None:
    w.anchor(most)
    hops: list[float] = []
    while True:
        c = w.path[-1]
        candidates = {n: s for n, s in w.unvisited().items() if not any(w.has(t) for t in w.children(n))}
        if w.ended(candidates, most):
            return
        following = max(candidates, key=lambda n: (candidates[n], -n))
        if hops and w.edges(c)[following] <= hops[-1]:
            w.end = "no more similar"
            return
        hops.append(w.edges(c)[following])
        w.visit(following, most)


def slow_average(w: Slow, most: int, least: int) -> None:
    layer = w.g.windows
    w.anchor(most)
    while not w.ended(available := w.unvisited(), most):
        c = w.path[-1]

        def of_window(n: int, c: int = c, available: dict[int, float] = available) -> float:
            return (w.q_window[c] + w.q_window[n] + available[n]) / 3

        def of_sentence(s: int, c: int = c) -> float:
            return (w.q_window[c] + w.q_sentence[s] + float(layer.sentences[s] @ layer.windows[c])) / 3

        if len(w.S) >= least and max(of_sentence(s) for s in w.S) > max(of_window(n) for n in available):
            w.end = "beaten"
            return
        w.visit(w.best_node(of_window, of_sentence), most)


def centroid_distance(q: list[float], c: list[float], n: list[float]) -> float:
    centroid = [(a + b + d) / 3 for a, b, d in zip(q, c, n, strict=True)]
    return math.sqrt(sum((x - a) ** 2 for x, a in zip(centroid, q, strict=True)))


def slow_centroid(w: Slow, most: int, q: list[float], points: np.ndarray) -> None:
    w.anchor(most)
    at = points.astype(np.float64).tolist()
    while not w.ended(available := w.unvisited(), most):
        c = w.path[-1]
        w.visit(min(available, key=lambda n: (round(centroid_distance(q, at[c], at[n]), 12), n)), most)


def slow_3d(w: Slow, most: int, least: int) -> None:
    layer = w.g.windows
    slow_centroid(w, most, layer.projection.apply(w.g.question).tolist(), layer.projection.apply(layer.windows))


def slow_full(w: Slow, most: int, least: int) -> None:
    slow_centroid(w, most, w.g.question.astype(np.float64).tolist(), np.asarray(w.g.windows.windows))


def slow_guided(w: Slow, most: int, least: int) -> None:
    """Without a model: the window most similar to the question, ending as query traversal does."""
    w.anchor(most)
    while True:
        available = [n for n in w.unvisited() if not all(w.has(s) for s in w.children(n))]
        if w.ended(available, most):
            return
        best = max(available, key=lambda n: (w.q_window[n], -n))
        if len(w.S) >= least and max(w.q_sentence[s] for s in w.S) > w.q_window[best]:
            w.end = "rule"
            return
        w.visit(best, most)


WALKS: dict[str, tuple[Any, Callable[[Slow, int, int], None]]] = {
    "basic-retrieval": (traversals.basic_retrieval, slow_basic),
    "query-traversal": (traversals.query_traversal, slow_query),
    "kg-traversal": (traversals.kg_traversal, slow_kg),
    "triangulation-average": (traversals.triangulation_average, slow_average),
    "triangulation-3d": (traversals.triangulation_3d, slow_3d),
    "triangulation-full": (traversals.triangulation_full, slow_full),
    "llm-guided": (traversals.llm_guided, slow_guided),
}
ENDS = {
    "sentences gathered": "max",
    "no way on": "no way on",
    "beats": "beaten",
    "no more similar": "no more similar",
    "rule: the best sentence beats": "rule",
}
ALL_ENDS = {
    "basic-retrieval": {"max", "no way on", "beaten"},
    "query-traversal": {"max", "no way on", "beaten"},
    "kg-traversal": {"max", "no way on", "no more similar"},
    "triangulation-average": {"max", "no way on", "beaten"},
    "triangulation-3d": {"max", "no way on"},
    "triangulation-full": {"max", "no way on"},
    "llm-guided": {"max", "no way on", "rule"},
}


class OneQuestion:
    """An embedder that knows one question."""

    def __init__(self, vector: np.ndarray) -> None:
        self.vector = vector

    async def embed(self, texts):
        return np.stack([self.vector for _ in texts])


def walk(name: str, g: Graph, *, most: int, least: int, model: ModelClient | None = None) -> tuple[Hits, Span]:
    use = Resources(g.index, OneQuestion(g.question), model or ModelClient(None))  # type: ignore[arg-type]
    limits = {"max_sentences": most, "min_sentences": least}
    if "beaten" not in ALL_ENDS[name] and "rule" not in ALL_ENDS[name]:
        del limits["min_sentences"]
    return asyncio.run(_traced(WALKS[name][0](use, **limits)))


async def _traced(step) -> tuple[Hits, Span]:
    with span("test") as trace:
        hits = await step(Query("question"))
    return hits, trace.children[0]


def path_of(trace: Span) -> WindowPath:
    [path] = trace.attachments
    assert isinstance(path, WindowPath)
    return path


def end_of(trace: Span) -> str:
    said = path_of(trace).stopped
    return [meant for words, meant in ENDS.items() if words in said][-1]


@pytest.mark.parametrize("name", WALKS)
@given(
    seed=st.integers(0, 100_000),
    level=st.booleans(),
    documents=st.integers(1, 6),
    edges=st.integers(0, 5),
    words=st.sampled_from([5, 20, 1000]),
    most=st.integers(1, 16),
    least=st.integers(1, 9),
)
@example(seed=12785, level=False, documents=1, edges=2, words=1000, most=4, least=1)  # one sentence under two windows
@settings(max_examples=25, deadline=None)
def test_a_traversal_does_what_its_formulas_say(name, seed, level, documents, edges, words, most, least):
    g = graph(seed, level=level, documents=documents, edges=edges, words=words)
    slow = Slow(g)
    WALKS[name][1](slow, most, least)
    hits, trace = walk(name, g, most=most, least=least)
    path = [visited.window for visited in path_of(trace).windows]
    assert path == [*map(g.windows.window_id, slow.path)]
    assert [hit.piece.id for hit in hits.items] == [*map(g.windows.sentence_id, slow.S)]
    assert end_of(trace) == slow.end
    # Windows once, sentences once, and no more than was asked for.
    assert len(set(path)) == len(path)
    assert len({hit.piece.text for hit in hits.items}) == len(hits.items) <= most


@pytest.mark.parametrize("name", WALKS)
def test_every_way_to_end_is_reached(name: str):
    reached = set()
    for seed in range(40):
        # Few documents end for want of neighbours, many at the limit or when a sentence is better.
        g = graph(seed, level=False, documents=1 + seed % 8, longest=4 + seed % 9, edges=1 + seed % 5, words=1000)
        least = 5 if name == "basic-retrieval" else 8
        reached.add(end_of(walk(name, g, most=(15, least + 1)[seed % 2], least=least)[1]))
    assert reached == ALL_ENDS[name]


@pytest.mark.parametrize("name", WALKS)
def test_hits_are_sentences_in_the_order_of_the_walk(name: str):
    g = graph(7, level=False, documents=6, longest=8, words=1000)
    hits, trace = walk(name, g, most=12, least=8)
    assert [hit.score for hit in hits.items] == [1 / place for place in range(1, len(hits.items) + 1)]
    near = g.windows.nearness(g.question)
    path = path_of(trace).windows
    for hit in hits.items:
        [found] = hit.found
        piece = hit.piece
        assert (piece.kind, found.by) == ("sentence", name)
        document = g.index.document(piece.document)
        assert document is not None
        assert document.text[piece.start : piece.end] == piece.text
        assert piece.tokens > 0
        rows = [row for row in range(len(near.sentences)) if g.windows.sentence_id(row) == piece.id]
        assert [found.score] == near.sentences[rows].tolist()
        assert found.note.split(" → ") == [visited.window for visited in path[: found.rank]]
    assert [id for visited in path for id in visited.sentences] == [hit.piece.id for hit in hits.items]


# The model as guide


def guided(g: Graph, replies: Sequence[object], **client) -> tuple[Hits, Span, ScriptedModel]:
    with ScriptedModel(replies) as model:
        hits, trace = walk("llm-guided", g, most=0, least=8, model=ModelClient(model, **client))
    return hits, trace, model


def wide() -> Graph:
    return graph(11, level=False, documents=6, longest=8, edges=5, words=1000)


def test_the_model_takes_two_hops_and_stops():
    g = wide()
    hits, trace, model = guided(g, ["2", "Passage 1", "stop"])
    path = path_of(trace).windows
    assert len(path) == 3
    assert path_of(trace).stopped == "model scripted"
    near, layer = g.windows.nearness(g.question), g.windows
    anchor = int(near.windows.argmax())
    best = sorted((n for n, _ in layer.neighbours(anchor)), key=lambda n: -near.windows[n])
    assert (path[1].window, path[1].why) == (layer.window_id(best[1]), "model scripted")
    assert path[1].similarity == pytest.approx(near.windows[best[1]], abs=1e-5)
    shown = [call.messages[-1].content for call in model.calls]
    assert "question" in shown[0]
    assert hits.items[0].piece.text in shown[0]
    assert "[5] D" in shown[0]
    assert "[6]" not in shown[0]
    assert "Found so far (3 of 3 sentences" in shown[0]


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        *((text, ("stop", 0, "")) for text in (
            "stop", "Stop.", "**STOP**", "`stop`", "stop: the sentences answer it", "I would stop here.", "done",
            '{"choice": "stop"}', '{"reason": "answered", "choice": "Stop"}', '```json\n{"choice": "stop"}\n```')),
        *((text, ("go", 2, "")) for text in (
            "2", "[2]", "**2**", "Passage 2", "I would go to passage 2, which names her.", "2 - it names the town",
            '{"choice": 2, "reason": "new"}', '{"reason": "1 is old", "choice": "2"}', "<think>5 or 2?</think>\n2")),
        ("0 Ada Holm birthplace", ("jump", 0, "Ada Holm birthplace")),
        ("`0 Ada Holm birthplace`", ("jump", 0, "Ada Holm birthplace")),
        ("0: stop signs of Ness", ("jump", 0, "stop signs of Ness")),
        ("0", ("jump", 0, "")),
        ('{"choice": 0}', ("jump", 0, "")),
        *((text, ("unusable", 0, "")) for text in (
            "The harbour was built in 1801.", "Hm.", "9", "-", "I cannot say.", '{"choice": null}', "1801")),
    ],
)  # fmt: skip
def test_each_form_of_a_hop_is_read(reply: str, choice: tuple[str, int, str]):
    given = ChooseHopInput("?", (), 0, [HopPreview("D", "text")] * 5, False)
    found = CHOOSE_HOP.read(Reply(reply), given)
    assert (found.act, found.number, found.words) == choice


def test_zero_is_a_jump_to_where_other_words_lead_and_no_end():
    g = wide()
    _, trace, _ = guided(g, ["0 other words", "0", "stop"])
    path = path_of(trace).windows
    assert len(path) == 3
    assert path[1].why == "model scripted: jump to other words"
    falling = [g.windows.window_id(w) for w in g.windows.nearness(g.question).falling()]
    assert [step.window for step in path] == falling[:3], "this embedder knows one question only"


def test_the_model_sees_the_newest_sentences_and_those_most_like_the_question():
    g = wide()
    hits, _, model = guided(g, ["1"] * 6 + ["stop"])
    asked = model.calls[-1].messages[-1].content
    assert f"(12 of {len(hits.items)} sentences" in asked
    assert len(hits.items) > 12
    last = max(hit.found[0].rank for hit in hits.items)
    best = sorted(hits.items, key=lambda hit: (hit.found[0].rank != last, -hit.found[0].score))[:12]
    assert all(hit.piece.text in asked for hit in best)


def test_the_model_decides_when_it_is_enough_within_hops_and_tokens():
    g = graph(11, level=False, documents=8, longest=12, edges=5, words=1000)
    hits, trace, _ = guided(g, ["1"] * 12 + ["stop"])
    assert len(hits.items) > 15, "no cap of 15 sentences, which there is without a model"
    assert path_of(trace).stopped == "model scripted"
    assert len(walk("llm-guided", g, most=0, least=100)[0].items) == 15
    _, trace, model = guided(g, ["1"] * 15)
    assert (len(model.calls), path_of(trace).stopped) == (15, "15 hops")
    budget = sum(hit.piece.tokens for hit in hits.items[:12])
    use = Resources(g.index, OneQuestion(g.question), ModelClient(ScriptedModel(["1"] * 16)))  # type: ignore[arg-type]
    cut, trace = asyncio.run(_traced(traversals.llm_guided(use, tokens=budget)))
    assert path_of(trace).stopped == f"{budget:,} tokens gathered"
    assert 12 <= len(cut.items) <= 14


def test_an_unusable_reply_leads_to_the_window_most_similar_to_the_question_and_a_second_one_to_the_end():
    g = wide()
    hits, trace, model = guided(g, ["The harbour was built in 1801.", "It was built by Ada Holm."])
    path = path_of(trace).windows
    assert len(model.calls) == 2
    assert path[1].why.startswith("fallback after an unusable reply")
    assert path_of(trace).stopped == hits.note == traversals.NOT_STEERED
    without, _ = walk("llm-guided", g, most=15, least=8)
    assert path[1].window == without.items[-1].found[0].note.split(" → ")[1]


def test_without_a_model_the_trace_says_that_a_rule_chose():
    _, trace = walk("llm-guided", wide(), most=15, least=8)
    path = path_of(trace).windows
    assert len(path) > 1
    assert all(visited.why.startswith("rule") for visited in path[1:])
    assert {child.way for child in trace.children} == {"rule"}


def test_the_model_cannot_go_past_the_limit():
    g = wide()
    with ScriptedModel(["1"]) as model:
        hits, trace = walk("llm-guided", g, most=4, least=8, model=ModelClient(model))
    assert len(hits.items) == 4
    assert end_of(trace) == "max"


# The paradigms on a real index

TEXTS = {
    "harbour.txt": "The harbour of Ness has a light. The light was built in 1801. Ada Holm designed the light. "
    "Ships pass the tower by night. The keeper of the light lives in the tower. He writes the log.",
    "storm.txt": "A storm took the tower in 1883. The keeper died in the storm. The light was dark for a year. "
    "Ships were lost. The harbour paid for a new tower.",
    "holm.txt": "Ada Holm was an engineer. She designed the light of the harbour. She was born in 1770 in Ness.",
    "fish.txt": "Fish is sold on Monday. The market stands at the quay. Herring is cheap. Cod is dear.",
}


@pytest.fixture
def resources(tmp_path: Path):
    corpus = write(tmp_path / "corpus", TEXTS)
    embedder = WordHashes()
    layers = frozenset({"vectors", "windows"})
    asyncio.run(build(tmp_path / "index", [corpus], recipe(embedder, layers=layers)))
    index = Index.open(tmp_path / "index")
    yield Resources(index, embedder, ModelClient(None), threshold=0.0)
    index.close()


def real_graph(use: Resources, question: str) -> Graph:
    layer = use.index.windows

    def text(sentence: int) -> str:
        document, start, end = use.index.place(layer.sentence_id(sentence))  # type: ignore[misc]
        return document.text[start:end]

    last = max(layer.sentences_of(len(layer) - 1))
    sentences = [text(s) for s in range(last + 1)]
    windows = [" ".join(sentences[s] for s in layer.sentences_of(w)) for w in range(len(layer))]
    return Graph(layer, use.index, asyncio.run(use.embed_question(question)), windows, sentences)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WALKS)
def test_a_traversal_of_a_real_layer_does_what_its_formulas_say(name: str, resources: Resources):
    for question in ("Who designed the light of the harbour?", "Which fish is cheap?", "When did the keeper die?"):
        slow = Slow(real_graph(resources, question))
        WALKS[name][1](slow, 15, 5 if name == "basic-retrieval" else 8)
        hits = asyncio.run(WALKS[name][0](resources)(Query(question)))
        assert [hit.piece.id for hit in hits.items] == [*map(slow.g.windows.sentence_id, slow.S)]


@pytest.mark.parametrize("paradigm", PARADIGMS, ids=lambda paradigm: paradigm.name)
def test_a_paradigm_answers_from_sentences_and_cites_them(paradigm: Paradigm, resources: Resources):
    answer = asyncio.run(paradigm.strategy(resources)(Query("Who designed the light of the harbour?")))
    assert answer.way == "rule"
    assert "Ada Holm" in answer.text or "She designed" in answer.text
    assert answer.citations
    for citation in answer.citations:
        document = resources.index.document(citation.document)
        assert document is not None
        assert document.text[citation.start : citation.end] == citation.quote
        assert citation.piece in {hit.piece.id for hit in answer.evidence.items}


@pytest.mark.parametrize("paradigm", PARADIGMS, ids=lambda paradigm: paradigm.name)
def test_settings_reach_the_walk(paradigm: Paradigm, resources: Resources):
    assert paradigm.needs == {"vectors", "windows"}
    assert paradigm.source == "W"
    answer = asyncio.run(paradigm.strategy(resources, {"max_sentences": 2})(Query("Who designed the light?")))
    assert len(answer.evidence.hits.items) == 2


def test_an_index_without_windows_finds_nothing(tmp_path: Path):
    corpus = write(tmp_path / "corpus", {"empty.md": "# Title only\n"})
    embedder = WordHashes()
    layers = frozenset({"vectors", "windows"})
    asyncio.run(build(tmp_path / "index", [corpus], recipe(embedder, layers=layers)))
    index = Index.open(tmp_path / "index")
    use = Resources(index, embedder, ModelClient(None))
    for paradigm in PARADIGMS:
        assert asyncio.run(paradigm.strategy(use)(Query("Anything?"))).abstained
    index.close()


def test_the_answer_says_that_the_model_did_not_steer(resources: Resources):
    prose = "The harbour was built long ago."
    model = ScriptedModel([prose, prose, "Ada Holm designed the light. [1]"])
    use = replace(resources, model=ModelClient(model))
    said = asyncio.run(traversals.LLM_GUIDED.strategy(use, {"characters": 20})(Query("Who designed the light?")))
    assert (said.text, said.note) == ("Ada Holm designed the light. [1]", traversals.NOT_STEERED)
