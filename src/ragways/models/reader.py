"""The reader: a question and passages → where the answer stands, whether it is there, which passages are evidence.

A small encoder of our own (`training/` says how it was made). The question and the passages are one text:
`[CLS] question [SEP] passage [SEP] passage [SEP]`. For each token there are five numbers: that an answer starts here
and that it ends here; at the first token, that the passages answer and that they support a claim; at the mark behind a
passage, that this passage is evidence. All are logits; what starts or ends at the first token stands for "not here".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ragways.models.encoder import END, POSITIONS, START, Encoder, tokenizer

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

FILE: Final = "reader.onnx"
READER_LANGUAGE: Final = "en"
"""All that it was trained on."""
HEADS: Final = ("start", "end", "answers", "evidence", "supports")
QUESTION_TOKENS: Final = 64
LONGEST_SPAN: Final = 24
"""Tokens of an answer at most."""
_RECENT: Final = 64
"""Readings that are cached."""
STARTS: Final = 12
"""Tokens that an answer may start with: those whose logits are largest."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document as the reader sees it: its title, then its text."""

    title: str
    text: str

    @property
    def shown(self) -> str:
        return f"{self.title}. {self.text}" if self.title else self.text

    @property
    def begin(self) -> int:
        """Where the text begins in what is shown."""
        return len(self.title) + 2 if self.title else 0


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Characters `start:end` of what is shown of the passage `passage` (from 0). `score` is the logit of the answer
    standing here against it being nowhere.
    """

    passage: int
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """The reader's output for passages read together: spans, the likeliest first, none inside another; the logits of
    "these passages answer", "they support the claim", and of each passage being evidence.
    """

    spans: tuple[AnswerSpan, ...]
    answers: float
    supports: float
    evidence: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Tokens of a question with passages. `places` has a row for each: passage (−1 for none), first character, end;
    `marks` are the tokens behind the passages.
    """

    ids: list[int]
    places: NDArray[np.int32]
    marks: tuple[int, ...]


class Reader:
    """Reads on the CPU, offline. Safe to share between tasks and threads; what comes out for a question and passages is
    the same, bit for bit, whatever else is read with them.
    """

    def __init__(self, *, max_tokens: int = 384, threads: int | None = None) -> None:
        self._encoder = Encoder(FILE, max_tokens=max_tokens, threads=threads)
        self._max_tokens = max_tokens
        # What puts passages in order and what answers from them often read the same.
        self._recent = lru_cache(_RECENT)(self._read)

    async def read(self, question: str, groups: Sequence[Sequence[Passage]], *, most: int = 8) -> list[Reading]:
        """One reading for each group of passages, which are read together; `most` spans of each at most."""
        return await self._encoder.each(lambda group: self._recent(question, tuple(group), most), groups, _length)

    async def aclose(self) -> None:
        self._encoder.close()

    def _read(self, question: str, passages: tuple[Passage, ...], most: int) -> Reading:
        layout = lay_out(tokenizer(), question, passages, self._max_tokens)
        logits = self._encoder.run(layout.ids)
        start, end, answers, evidence, supports = logits.T
        return Reading(
            tuple(best_spans(layout, start, end, most)),
            float(answers[0]),
            float(supports[0]),
            tuple(evidence[list(layout.marks)].tolist()),
        )


def _length(group: Sequence[Passage]) -> int:
    return sum(len(passage.text) for passage in group)


def lay_out(tokens: Tokenizer, question: str, passages: Sequence[Passage], longest: int) -> LaidOut:
    """The one text that question and passages make, in at most `longest` tokens."""
    question_ids = _encoded(tokens, question, QUESTION_TOKENS).ids[:QUESTION_TOKENS]
    return joined(question_ids, [_encoded(tokens, passage.shown, longest) for passage in passages], longest)


def joined(question_ids: Sequence[int], passages: Sequence[Encoding], longest: int) -> LaidOut:
    """The same of what the tokenizer made of them: passages share what the question leaves, short ones whole, long ones
    cut.
    """
    room = min(longest, POSITIONS) - len(question_ids) - 2 - len(passages)
    ids, places, marks = [START, *question_ids, END], [(-1, 0, 0)] * (len(question_ids) + 2), list[int]()
    lengths_left = shares([len(each.ids) for each in passages], room)
    for number, (each, length) in enumerate(zip(passages, lengths_left, strict=True)):
        ids += [*each.ids[:length], END]
        places += [*((number, *offsets) for offsets in each.offsets[:length]), (-1, 0, 0)]
        marks.append(len(ids) - 1)
    return LaidOut(ids, np.array(places, np.int32), tuple(marks))


def _encoded(tokens: Tokenizer, text: str, most: int) -> Encoding:
    # A lone surrogate, which the tokenizer cannot take, becomes one other character, so that places stay true.
    cut = text[: 20 * most].encode("utf-8", "replace").decode("utf-8")
    return tokens.encode(cut, add_special_tokens=False)


def shares(lengths: Sequence[int], room: int) -> list[int]:
    """What is left of each: short ones whole, the rest in equal parts."""
    left, lengths_left = max(room, 0), [0] * len(lengths)
    for rank, at in enumerate(sorted(range(len(lengths)), key=lambda at: lengths[at])):
        lengths_left[at] = min(lengths[at], left // (len(lengths) - rank))
        left -= lengths_left[at]
    return lengths_left


def best_spans(layout: LaidOut, start: NDArray[np.float32], end: NDArray[np.float32], most: int) -> list[AnswerSpan]:
    """The likeliest spans inside passages, none of which holds a part of a better one."""
    inside = np.flatnonzero(layout.places[:, 0] >= 0)
    nowhere = float(start[0] + end[0])
    found: list[tuple[float, int, int]] = []
    for first in inside[np.argsort(-start[inside], kind="stable")[:STARTS]].tolist():
        lasts = np.arange(first, min(first + LONGEST_SPAN, len(layout.ids)))
        lasts = lasts[layout.places[lasts, 0] == layout.places[first, 0]]
        found += [(float(start[first] + end[last]) - nowhere, first, int(last)) for last in lasts]
    chosen: list[tuple[float, int, int]] = []
    for score, first, last in sorted(found, key=lambda one: (-one[0], one[1], one[2])):
        if len(chosen) == most:
            break
        if all(last < other or first > another for _, other, another in chosen):
            chosen.append((score, first, last))
    places = layout.places.tolist()
    return [AnswerSpan(places[first][0], places[first][1], places[last][2], score) for score, first, last in chosen]
