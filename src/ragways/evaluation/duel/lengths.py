"""Answers of equal length: judges take the longer for the better one.

The shorter answer is generated again from the same evidence, with the longer one's number of words asked for. What
still differs is made up for by remarks that say nothing about the matter. They are few, so that no answer drowns in
them; pairs that differ by more are left out. An abstention is not generated again: asked for at length, it would be
another answer than the paradigm gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.core import log as jsonl
from ragways.core.errors import ModelRefused, UnusableReply
from ragways.evaluation.duel.pair import Pair, print_of
from ragways.evaluation.record import EvidenceItem, Record
from ragways.tasks.duel import DUEL_ANSWER, DuelAnswerInput

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

FILE = "lengths.jsonl"
TOLERANCE = 10
"""Words by which two answers may differ."""
TRIES = 3
UNEQUAL = "lengths still unequal"

# Each a word longer than the tolerance at most: padding then ends within it and never makes the shorter one longer.
PADDING = (
    "That is the answer to the question as it was asked.",
    "Nothing more is added here, and nothing above is taken back.",
    "The lines above are meant to be read as a whole.",
    "This closing remark does not change what has been said.",
)

Key = tuple[str, int, str, str, str]


@dataclass(frozen=True)
class Aligned:
    """A pair's answers as they are judged. `again`: tries to generate the shorter one; `padded`: words appended."""

    question: str
    repeat: int
    a: str
    b: str
    source: str
    answers: tuple[str, str]
    again: int = 0
    padded: int = 0
    generator: str = ""

    @property
    def key(self) -> Key:
        return self.question, self.repeat, self.a, self.b, self.source

    @property
    def usable(self) -> bool:
        return apart(self.answers) <= TOLERANCE

    @property
    def identical(self) -> bool:
        return self.answers[0] == self.answers[1]


class Lengths:
    """What was aligned already, in the folder of a run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def __iter__(self) -> Iterator[Aligned]:
        for row in jsonl.read(self._path):
            try:
                first, second = row["answers"]
                yield Aligned(**{**row, "answers": (str(first), str(second))})
            except (TypeError, KeyError, ValueError):
                continue

    def append(self, aligned: Aligned) -> None:
        jsonl.append(self._path, vars(aligned))

    def latest(self) -> dict[Key, Aligned]:
        return {aligned.key: aligned for aligned in self}


def words(text: str) -> int:
    return len(text.split())


def apart(answers: tuple[str, str]) -> int:
    """Words by which they differ."""
    return abs(words(answers[0]) - words(answers[1]))


def pad(text: str, wanted: int) -> str:
    """The text with as many remarks as bring it to within the tolerance of so many words, or all that there are."""
    for remark in PADDING:
        if wanted - words(text) <= TOLERANCE:
            break
        text = f"{text} {remark}"
    return text


def padded_copy(text: str) -> str:
    """The same answer with every remark: as much as is ever appended to an answer."""
    return " ".join((text, *PADDING))


def key_of(pair: Pair) -> Key:
    return pair.question, pair.repeat, pair.a.paradigm, pair.b.paradigm, print_of(*pair.answers)


async def align(generator: ModelClient | None, pair: Pair) -> Aligned:
    """Both answers at the length of the longer, as far as that goes: see `usable`."""
    aligned = Aligned(*key_of(pair), answers=pair.answers)
    if aligned.usable:
        return aligned
    aligned = await _generated(generator, pair, aligned)
    short = _shorter(aligned.answers)
    before = aligned.answers[short]
    after = pad(before, words(aligned.answers[1 - short]))
    return replace(aligned, answers=_with(aligned.answers, short, after), padded=words(after) - words(before))


async def _generated(generator: ModelClient | None, pair: Pair, aligned: Aligned) -> Aligned:
    short = _shorter(aligned.answers)
    record = (pair.a, pair.b)[short]
    if generator is None or generator.model is None or not _renewable(record):
        return aligned
    wanted = asked = words(aligned.answers[1 - short])
    best, tries = aligned.answers[short], 0
    while abs(words(best) - wanted) > TOLERANCE and tries < TRIES:
        said = await _again(generator, pair.a.text, record.evidence, asked, tries)
        tries += 1
        if said:
            if abs(words(said) - wanted) < abs(words(best) - wanted):
                best = said
            # Models miss a length by a share of it: ask for that much more, or less.
            asked = max(wanted // 2, min(2 * wanted, asked * wanted // max(1, words(said))))
    return replace(aligned, answers=_with(aligned.answers, short, best), again=tries, generator=generator.model.name)


def _renewable(record: Record) -> bool:
    return bool(record.evidence) and not record.abstained


def worth_another(generator: ModelClient | None, pair: Pair, aligned: Aligned) -> bool:
    """Whether a pair that was left out for want of a model can be generated now."""
    if aligned.usable or aligned.again or generator is None or generator.model is None:
        return False
    return _renewable((pair.a, pair.b)[_shorter(pair.answers)])


async def _again(
    generator: ModelClient, question: str, evidence: tuple[EvidenceItem, ...], asked: int, sample: int
) -> str:
    passages = [(piece.title, piece.text) for piece in evidence]
    try:
        given = DuelAnswerInput(question, passages, asked)
        said = (await generator.do(replace(DUEL_ANSWER, sample=sample), given)).value
    except (UnusableReply, ModelRefused):
        return ""
    return said.answer.strip() if said.answered else ""


def _shorter(answers: tuple[str, str]) -> int:
    return 0 if words(answers[0]) < words(answers[1]) else 1


def _with(answers: tuple[str, str], at: int, text: str) -> tuple[str, str]:
    return (text, answers[1]) if at == 0 else (answers[0], text)
