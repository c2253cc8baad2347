"""A walk through the window graph, the words behind its rows, and what it gathered as hits."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragways.core.errors import StoreFailed
from ragways.core.trace import current_span
from ragways.core.types import Document, Found, Hit, Hits, Piece, Query, ranked
from ragways.index.open import Index
from ragways.layers.protocols import Similarities, Windows
from ragways.models.tokens import count_tokens


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
        """Whether it holds a gathered sentence."""
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
    return ranked(query, hits)


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
