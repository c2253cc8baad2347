"""A walk through the window graph: where it has been, what it has gathered, where it can go."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragways.index.windows.reader import Nearness, Windows


@dataclass(frozen=True, slots=True)
class Hop:
    """A window that was visited, how similar it was by the traversal's own measure, and why it was chosen."""

    window: int
    similarity: float
    why: str
    sentences: tuple[int, ...]


@dataclass
class Walk:
    """A window, or a sentence, that repeats the text of another one is that one: so no window is visited twice, no
    sentence is gathered twice, and boilerplate does not fill the evidence.
    """

    windows: Windows
    near: Nearness
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
        self._visited.add(int(self.windows.window_same[window]))
        self._held.update(int(self.windows.sentence_same[sentence]) for sentence in new)
        self.gathered += new
        self.hops.append(Hop(window, similarity, why, tuple(new)))

    def visited(self, window: int) -> bool:
        return int(self.windows.window_same[window]) in self._visited

    def new(self, window: int) -> list[int]:
        """Sentences of a window that are not gathered yet."""
        found: dict[int, int] = {}
        for sentence in self.windows.sentences_of(window):
            same = int(self.windows.sentence_same[sentence])
            if same not in self._held:
                found.setdefault(same, sentence)
        return list(found.values())

    def touches(self, window: int) -> bool:
        """Whether it holds a gathered sentence."""
        return any(int(self.windows.sentence_same[s]) in self._held for s in self.windows.sentences_of(window))

    def ahead(self) -> list[tuple[int, float]]:
        """Neighbours not visited, each with its similarity to the current window."""
        return [(window, similar) for window, similar in self.windows.neighbours(self.here) if not self.visited(window)]

    def to_window(self, window: int) -> float:
        return float(self.near.windows[window])

    def to_sentence(self, sentence: int) -> float:
        return float(self.near.sentences[sentence])

    def best_sentence(self) -> float:
        """How near the best gathered sentence is to the question."""
        return max(self.to_sentence(sentence) for sentence in self.gathered)

    def begin(self) -> bool:
        """Visit the anchor, the window most similar to the question; False where there is no window at all."""
        if not len(self.windows):
            self.stopped = "the index has no windows"
            return False
        anchor = int(self.near.windows.argmax())
        self.visit(anchor, self.to_window(anchor), "anchor: most similar to the question")
        return True

    def must_stop(self, ahead: list[tuple[int, float]]) -> bool:
        """The two ends that every traversal has."""
        if self.full:
            self.stopped = f"{self.max_sentences} sentences gathered"
        elif not ahead:
            self.stopped = "no way on"
        return bool(self.stopped)
