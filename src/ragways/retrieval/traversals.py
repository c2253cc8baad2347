"""Query → Hits: seven traversals of the window graph.

Each but the first begins at the anchor, the window most similar to the question. Settled here where the source leaves
it open: the windows that are *available* are the neighbours of the current window that were not visited; a hop to a
sentence leads to the window it hangs under, the best one where there are several; the last window gives only as
many sentences as `max_sentences` has room for; equals go to a window before a sentence, and to the earlier window.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from ragways.core.errors import StoreFailed, UnusableReply
from ragways.core.step import Step
from ragways.core.trace import current_span
from ragways.core.types import Answer, Document, Found, Hit, Hits, Piece, Query, ranked
from ragways.index.open import Index
from ragways.layers.protocols import Similarities, Windows
from ragways.models.client import ModelClient
from ragways.models.tokens import count_tokens
from ragways.retrieval.answer import answer, answered
from ragways.retrieval.paradigm import Count, Paradigm, Strategy, Tokens
from ragways.retrieval.resources import Resources
from ragways.retrieval.retrieve import pack
from ragways.tasks.search import CHOOSE_HOP, ChooseHopInput, HopChoice, HopPreview


@dataclass(frozen=True, slots=True)
class VisitedWindow:
    """A hop as the trace keeps it: the window and the sentences that were gathered there, all by id."""

    window: str
    similarity: float
    why: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WindowPath:
    """What a traversal leaves in the trace: the windows it visited, in order, and why it stopped."""

    windows: tuple[VisitedWindow, ...]
    stopped: str


@dataclass(frozen=True, slots=True)
class Hop:
    """A window that was visited, how similar it was by the traversal's own measure, and why it was chosen."""

    window: int
    similarity: float
    why: str
    sentences: tuple[int, ...]


@dataclass
class WindowWalk:
    """A window, or a sentence, that repeats the text of another one is that one: so no window is visited twice, no
    sentence is gathered twice, and boilerplate does not fill the evidence.
    """

    windows: Windows
    near: Similarities
    max_sentences: int
    hops: list[Hop] = field(default_factory=list)
    gathered: list[int] = field(default_factory=list)
    stopped: str = ""
    note: str = ""
    _visited: set[int] = field(default_factory=set)
    _held: set[int] = field(default_factory=set)

    @property
    def here(self) -> int:
        return self.hops[-1].window

    @property
    def full(self) -> bool:
        return len(self.gathered) >= self.max_sentences

    def visit(self, window: int, similarity: float, why: str) -> None:
        """Go to a window and gather its sentences, as many as there is room for."""
        new = self.new(window)[: self.max_sentences - len(self.gathered)]
        self._visited.add(self.windows.same_window(window))
        self._held.update(map(self.windows.same_sentence, new))
        self.gathered += new
        self.hops.append(Hop(window, similarity, why, tuple(new)))

    def visited(self, window: int) -> bool:
        return self.windows.same_window(window) in self._visited

    def new(self, window: int) -> list[int]:
        """Sentences of a window that are not gathered yet."""
        found: dict[int, int] = {}
        for sentence in self.windows.sentences_of(window):
            same = self.windows.same_sentence(sentence)
            if same not in self._held:
                found.setdefault(same, sentence)
        return list(found.values())

    def touches(self, window: int) -> bool:
        """Whether it has a gathered sentence."""
        return any(self.windows.same_sentence(sentence) in self._held for sentence in self.windows.sentences_of(window))

    def ahead(self) -> list[tuple[int, float]]:
        """Neighbours not visited, each with its similarity to the current window."""
        return [(window, similar) for window, similar in self.windows.neighbours(self.here) if not self.visited(window)]

    def to_window(self, window: int) -> float:
        return self.near.window(window)

    def to_sentence(self, sentence: int) -> float:
        return self.near.sentence(sentence)

    def best_sentence(self) -> float:
        """How near the best gathered sentence is to the question."""
        return max(self.to_sentence(sentence) for sentence in self.gathered)

    def begin(self) -> bool:
        """Visit the anchor, the window most similar to the question; False where there is no window at all."""
        anchor = next(self.near.falling(), None)
        if anchor is None:
            self.stopped = "the index has no windows"
            return False
        self.visit(anchor, self.to_window(anchor), "anchor: most similar to the question")
        return True

    def must_stop(self, ahead: list[tuple[int, float]]) -> bool:
        """The two ends that every traversal has."""
        if self.full:
            self.stopped = f"{self.max_sentences} sentences gathered"
        elif not ahead:
            self.stopped = "no way on"
        return bool(self.stopped)


class WindowTexts:
    """Texts of windows and sentences; each document is read once."""

    def __init__(self, index: Index, windows: Windows) -> None:
        self.windows = windows
        self._index = index
        self._documents: dict[str, Document] = {}

    def document(self, id: str) -> Document:
        if id not in self._documents:
            found = self._index.document(id)
            if found is None:
                raise StoreFailed(f"the windows name {id}, which is not in the index", "build again with --rebuild")
            self._documents[id] = found
        return self._documents[id]

    def title(self, window: int) -> str:
        return self.document(self.windows.document_of(window)).title

    def sentence(self, sentence: int) -> str:
        id = ":".join(self.windows.sentence_id(sentence).split(":")[:2])
        start, end = self.windows.span_of(sentence)
        return self.document(id).text[start:end]

    def window(self, window: int) -> str:
        return " ".join(self.sentence(sentence) for sentence in self.windows.sentences_of(window))


def gathered_hits(index: Index, query: Query, by: str, walk: WindowWalk) -> Hits:
    """The gathered sentences in the order they were gathered: the score is 1 / place.

    That order is what a traversal decides, so it is what a budget must cut from the end; sorted by similarity, the
    sentences of a window would be torn apart and all seven would look alike. The similarity to the question stands in
    `found`, whose rank is the number of the hop and whose note is the way there.
    """
    windows = walk.windows
    _attach_path(walk)
    texts = WindowTexts(index, windows)
    hits: list[Hit] = []
    way: list[str] = []
    for number, hop in enumerate(walk.hops, start=1):
        way.append(windows.window_id(hop.window))
        for sentence in hop.sentences:
            found = Found(by, number, walk.to_sentence(sentence), " → ".join(way))
            hits.append(Hit(_piece(texts, hop.window, sentence), 1 / (len(hits) + 1), (found,)))
    return replace(ranked(query, hits), note=walk.note)


def _piece(texts: WindowTexts, window: int, sentence: int) -> Piece:
    document = texts.document(texts.windows.document_of(window))
    start, end = texts.windows.span_of(sentence)
    text = document.text[start:end]
    return Piece(
        id=texts.windows.sentence_id(sentence),
        kind="sentence",
        text=text,
        document=document.id,
        title=document.title,
        start=start,
        end=end,
        tokens=count_tokens(text),
        date=document.metadata.get("date", ""),
    )


def _attach_path(walk: WindowWalk) -> None:
    """Leave the path where a picture of the walk can be drawn from."""
    visited = []
    for hop in walk.hops:
        gathered = tuple(map(walk.windows.sentence_id, hop.sentences))
        visited.append(VisitedWindow(walk.windows.window_id(hop.window), round(hop.similarity, 6), hop.why, gathered))
    here = current_span()
    here.attachments.append(WindowPath(tuple(visited), walk.stopped))
    here.details["found"] = len(walk.gathered)


Follow = Callable[[WindowWalk, Query], Awaitable[None]]
Point = NDArray[np.float64]
_BEATEN = "the best sentence beats the best window"
_SHOWN = 12
"""Gathered sentences that the guiding model sees: those of the last hop, and those most similar to the question."""
_UNUSABLE = 2
"""Replies that name no hop, after which a model steers no further."""
NOT_STEERED = f"{_UNUSABLE} replies of the model named no hop; the walk ended there"
_BY_RULE = 15
"""Sentences where no model says when it is enough."""


def basic_retrieval(use: Resources, *, max_sentences: Count = 15, min_sentences: Count = 5) -> Step[Query, Hits]:
    """Windows in falling similarity, no traversal. From `min_sentences` on, ends when the best sentence gathered beats
    the next window.
    """

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        for window in walk.near.falling():
            if walk.visited(window):
                continue
            if walk.must_stop([(window, 0.0)]):
                return
            if len(walk.gathered) >= min_sentences and walk.best_sentence() > walk.to_window(window):
                walk.stopped = "the best sentence beats the next window"
                return
            walk.visit(window, walk.to_window(window), "next in similarity to the question")
        walk.must_stop([])

    return _step("basic-retrieval", use, follow, max_sentences=max_sentences, min_sentences=min_sentences)


def query_traversal(use: Resources, *, max_sentences: Count = 15, min_sentences: Count = 8) -> Step[Query, Hits]:
    """Hop to the neighbour, window or sentence, most similar to the question. From `min_sentences` on, ends when the
    best sentence gathered beats the best window available.
    """

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        going = walk.begin()
        while going and not walk.must_stop(ahead := walk.ahead()):
            if _enough(walk, ahead, min_sentences):
                walk.stopped = _BEATEN
                return
            choices = [
                (walk.to_window(window), [walk.to_sentence(sentence) for sentence in walk.new(window)], window)
                for window, _ in ahead
            ]
            _hop(walk, choices, "nearest the question")

    return _step("query-traversal", use, follow, max_sentences=max_sentences, min_sentences=min_sentences)


def kg_traversal(use: Resources, *, max_sentences: Count = 15) -> Step[Query, Hits]:
    """Hop to the window most similar to the current one, past those that share a sentence with what is gathered. Ends
    when the next similarity is not above that of the last hop.
    """

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        going, last = walk.begin(), -np.inf
        while going and not walk.must_stop(ahead := [pair for pair in walk.ahead() if not walk.touches(pair[0])]):
            window, similarity = min(ahead, key=lambda pair: (-pair[1], pair[0]))
            if similarity <= last:
                walk.stopped = "the next window is no more similar than the last"
                return
            walk.visit(window, similarity, "most similar to the current window")
            last = similarity

    return _step("kg-traversal", use, follow, max_sentences=max_sentences)


def triangulation_average(use: Resources, *, max_sentences: Count = 15, min_sentences: Count = 8) -> Step[Query, Hits]:
    """Hop to the node n, window or sentence, with the greatest mean of sim(q, c), sim(q, n) and sim(c, n). From
    `min_sentences` on, ends when the best mean of a sentence gathered beats the best of a window available.
    """

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        going = walk.begin()
        while going and not walk.must_stop(ahead := walk.ahead()):
            means = {window: _mean(walk, walk.to_window(window), similar) for window, similar in ahead}
            new = {window: walk.new(window) for window in means}
            of_sentences = _sentence_means(walk, [*walk.gathered, *chain.from_iterable(new.values())])
            best_gathered = max(of_sentences[sentence] for sentence in walk.gathered)
            if len(walk.gathered) >= min_sentences and best_gathered > max(means.values()):
                walk.stopped = _BEATEN
                return
            choices = [(mean, [of_sentences[s] for s in new[window]], window) for window, mean in means.items()]
            _hop(walk, choices, "with the best mean of its triangle")

    return _step("triangulation-average", use, follow, max_sentences=max_sentences, min_sentences=min_sentences)


def triangulation_3d(use: Resources, *, max_sentences: Count = 15) -> Step[Query, Hits]:
    """Hop to the window whose triangle with the question and the current window has its centroid nearest the question,
    all in the three dimensions in which windows differ most.
    """

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        project = walk.windows.projected
        _to_nearest_centroid(walk, project(walk.near.question), lambda windows: project(walk.windows.points(windows)))

    return _step("triangulation-3d", use, follow, max_sentences=max_sentences)


def triangulation_full(use: Resources, *, max_sentences: Count = 15) -> Step[Query, Hits]:
    """As `triangulation_3d`, in the full dimension."""

    async def follow(walk: WindowWalk, query: Query) -> None:  # noqa: ARG001
        _to_nearest_centroid(walk, walk.near.question.astype(np.float64), walk.windows.points)

    return _step("triangulation-full", use, follow, max_sentences=max_sentences)


def llm_guided(
    use: Resources,
    *,
    max_sentences: int = 0,
    min_sentences: int = 8,
    hops: int = 15,
    previews: int = 5,
    characters: int = 200,
    tokens: int = 8000,
) -> Step[Query, Hits]:
    """Walk as the model steers: it sees the question, the newest sentences gathered and those most like it, and the
    beginnings of the neighbours most like it. It picks one, jumps to where other words lead, or stops, in one call
    a hop, `hops` at most. It also ends with `tokens` gathered, as what comes after would not be read, and after two
    replies that name no hop; the first of them leads to the most similar neighbour. Without a model that is the rule at
    every hop, and it ends as `query_traversal` does, with 15 sentences at most unless told otherwise.
    """
    limit = max_sentences or (_BY_RULE if use.model.model is None else max(1, tokens))

    async def follow(walk: WindowWalk, query: Query) -> None:
        going, texts, used, unusable = walk.begin(), WindowTexts(use.index, walk.windows), 0, 0
        # A window with nothing new to read is not worth a call.
        while going and not walk.must_stop(ahead := [pair for pair in walk.ahead() if walk.new(pair[0])]):
            used += sum(count_tokens(texts.sentence(sentence)) for sentence in walk.hops[-1].sentences)
            if used >= tokens or len(walk.hops) > hops:
                walk.stopped = f"{tokens:,} tokens gathered" if used >= tokens else f"{hops} hops"
                return
            shown = sorted((window for window, _ in ahead), key=lambda w: (-walk.to_window(w), w))[:previews]
            newest = frozenset(walk.hops[-1].sentences)
            best = sorted(walk.gathered, key=lambda s: (s not in newest, -walk.to_sentence(s)))[:_SHOWN]
            given = ChooseHopInput(
                query.text,
                gathered=tuple(texts.sentence(sentence) for sentence in walk.gathered if sentence in best),
                total=len(walk.gathered),
                previews=tuple(HopPreview(texts.title(w), texts.window(w)[:characters]) for w in shown),
                enough=_enough(walk, ahead, min_sentences),
            )
            choice, why = await _choose(use.model, given)
            if choice.act == "stop":
                walk.stopped = f"{why}: {choice.reason}" if choice.reason else why
                return
            unusable += choice.act == "unusable"
            if unusable == _UNUSABLE:
                walk.stopped = walk.note = NOT_STEERED
                return
            window = shown[max(0, choice.number - 1)]
            if choice.act == "jump":
                near = walk.windows.nearness(await use.embed_question(choice.words)) if choice.words else walk.near
                window = next((w for w in near.falling() if not walk.visited(w) and walk.new(w)), window)
                why = f"{why}: jump to {choice.words or query.text}"
            walk.visit(window, walk.to_window(window), why)

    return _step(
        "llm-guided",
        use,
        follow,
        max_sentences=limit,
        min_sentences=min_sentences,
        hops=hops,
        previews=previews,
        characters=characters,
        tokens=tokens,
    )


def _step(name: str, use: Resources, follow: Follow, *, max_sentences: int, **details: object) -> Step[Query, Hits]:
    async def run(query: Query) -> Hits:
        windows = use.index.windows
        walk = WindowWalk(windows, windows.nearness(await use.embed_question(query.text)), max_sentences)
        await follow(walk, query)
        return gathered_hits(use.index, query, name, walk)

    return Step(name, run, max_sentences=max_sentences, **details)


def _enough(walk: WindowWalk, ahead: list[tuple[int, float]], min_sentences: int) -> bool:
    best_window = max(walk.to_window(window) for window, _ in ahead)
    return len(walk.gathered) >= min_sentences and walk.best_sentence() > best_window


def _hop(walk: WindowWalk, choices: list[tuple[float, list[float], int]], measure: str) -> None:
    """Visit the window that is the best node or holds it. A choice is a window's score, those of its new sentences,
    and its row.
    """
    best = max(max((score, *of_sentences)) for score, of_sentences, _ in choices)
    leading = [choice for choice in choices if best in (choice[0], *choice[1])]
    score, _, window = min(leading, key=lambda choice: (choice[0] != best, -choice[0], choice[2]))
    node = "window" if score == best else "sentence"
    walk.visit(window, best, f"{node} {measure}")


def _mean(walk: WindowWalk, to_question: float, to_current: float) -> float:
    return (walk.to_window(walk.here) + to_question + to_current) / 3


def _sentence_means(walk: WindowWalk, sentences: list[int]) -> dict[int, float]:
    """The source estimates how similar a sentence is to the current window; a few products tell it."""
    return {
        sentence: _mean(walk, walk.to_sentence(sentence), similar)
        for sentence, similar in zip(sentences, walk.windows.likeness(walk.here, sentences), strict=True)
    }


def _to_nearest_centroid(walk: WindowWalk, question: Point, points: Callable[[Sequence[int]], Point]) -> None:
    going = walk.begin()
    while going and not walk.must_stop(ahead := walk.ahead()):
        windows = sorted(window for window, _ in ahead)
        centroids = (question + points([walk.here]) + points(windows)) / 3
        # What differs by rounding alone is equal, and goes to the earlier window.
        distances = np.linalg.norm(centroids - question, axis=1).round(12)
        nearest = int(distances.argmin())
        walk.visit(windows[nearest], -float(distances[nearest]), "its triangle's centroid is nearest the question")


_FALLBACK = "fallback after an unusable reply: most similar to the question"


async def _choose(model: ModelClient, given: ChooseHopInput) -> tuple[HopChoice, str]:
    """The choice of the model or of the rule, and which of them made it."""
    try:
        outcome = await model.do(CHOOSE_HOP, given)
    except UnusableReply:
        return HopChoice("unusable"), _FALLBACK
    if outcome.value.act == "unusable":
        return outcome.value, _FALLBACK
    if outcome.by_rule and outcome.value.act == "go":
        return outcome.value, "rule: most similar to the question"
    return outcome.value, outcome.way


def build_llm_guided(
    use: Resources,
    *,
    max_sentences: Annotated[int, Ge(0)] = 0,
    min_sentences: Count = 8,
    hops: Count = 15,
    previews: Count = 5,
    characters: Count = 200,
    tokens: Tokens = 8000,
) -> Strategy:
    """`max_sentences`: 0 leaves the end to the model, within `hops` and `tokens`; without a model it is 15."""
    walk = llm_guided(
        use,
        max_sentences=max_sentences,
        min_sentences=min_sentences,
        hops=hops,
        previews=previews,
        characters=characters,
        tokens=tokens,
    )

    async def run(query: Query) -> Answer:
        hits = await walk(query)
        said = await (pack(use, tokens) >> answer(use, "walk"))(hits)
        return replace(said, note="; ".join(filter(None, (said.note, hits.note))))

    return Step("walk and answer", run)


_NEEDS = frozenset({"vectors", "windows"})

BASIC_RETRIEVAL = Paradigm(
    "basic-retrieval",
    "The windows nearest the question, one after the other, until a sentence beats the next; no traversal.",
    "W",
    _NEEDS,
    answered(basic_retrieval),
)
QUERY_TRAVERSAL = Paradigm(
    "query-traversal",
    "A walk from window to window, always to the neighbour nearest the question.",
    "W",
    _NEEDS,
    answered(query_traversal),
)
KG_TRAVERSAL = Paradigm(
    "kg-traversal",
    "A walk to the window most similar to the current one, past what was read already.",
    "W",
    _NEEDS,
    answered(kg_traversal),
)
TRIANGULATION_AVERAGE = Paradigm(
    "triangulation-average",
    "A walk by the mean similarity of question, current window and next.",
    "W",
    _NEEDS,
    answered(triangulation_average),
)
TRIANGULATION_3D = Paradigm(
    "triangulation-3d",
    "A walk by the centroid of question, current window and next, in three dimensions.",
    "W",
    _NEEDS,
    answered(triangulation_3d),
)
TRIANGULATION_FULL = Paradigm(
    "triangulation-full",
    "A walk by the centroid of question, current window and next, in the full dimension.",
    "W",
    _NEEDS,
    answered(triangulation_full),
)
LLM_GUIDED = Paradigm(
    "llm-guided",
    "A walk on which the model picks the next window from previews, jumps to other words, or stops.",
    "W",
    _NEEDS,
    build_llm_guided,
)
