"""The answers that meet in a duel: which are paired, and how both are brought to one length.

Judges take the longer of two answers for the better one. Where lengths differ, one model writes both answers again,
each from its own evidence, with the longer one's number of words asked for: to rewrite one side alone would compare
writers. What still differs is filled up with remarks that say nothing about the matter. Pairs that differ by more are
left out. An abstention is not written again, and then neither is the answer beside it.

Answers are in their normal form: without markup, citations and names of systems. An answer that failed is an outcome:
it is paired as an empty text, and loses without a judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import ModelRefused, UnusableReply, UsageError, did_you_mean
from ragways.core.log import Log
from ragways.core.types import content_hash
from ragways.evaluation.duel.style import normal_form
from ragways.evaluation.judges.judge import answer_of
from ragways.evaluation.record import EvidenceItem, Record
from ragways.tasks.duel import DUEL_ANSWER, DuelAnswerInput

if TYPE_CHECKING:
    from ragways.models.client import ModelClient

Mode = Literal["whole", "differential"]
"""Judged are whole answers, or only what one answer says and the other does not."""
PairNames = tuple[str, str]
AlignedKey = tuple[str, int, str, str, str]

TRIALS = 2
"""Whole comparisons unless more are wanted; the authors of the procedure make 25."""
SAMPLE_LIMIT = 1000
"""More samples than one prompt is ever asked for: so the number of a call never depends on how many there are."""
FILE = "lengths.jsonl"
TOLERANCE = 10
"""Words by which two answers may differ."""
TRIES = 3

ALONE = "only one of the two was asked"
FAILED = "both answers failed"
SPARE = "more repeats than trials"
UNEQUAL = "lengths still unequal"

# Each a word longer than the tolerance at most: padding then ends within it and never makes the shorter one longer.
PADDING = (
    "That is the answer to the question as it was asked.",
    "Nothing more is added here, and nothing above is taken back.",
    "The lines above are meant to be read as a whole.",
    "This closing remark does not change what has been said.",
)


@dataclass(frozen=True, slots=True)
class DuelRules:
    """`trials` (M) whole comparisons of `samples` (N) replies to each prompt, both orders. `go_on`: also with a judge
    that failed its test; nobody wins then.
    """

    trials: int = TRIALS
    samples: int = 2
    mode: Mode = "whole"
    go_on: bool = False

    def __post_init__(self) -> None:
        for name in ("trials", "samples"):
            if not 1 <= getattr(self, name) <= SAMPLE_LIMIT:
                raise UsageError(f"{name} is {getattr(self, name)}", f"it must lie between 1 and {SAMPLE_LIMIT:,}")


@dataclass(frozen=True)
class AnswerPair:
    """Two records of the same question and repeat, by two paradigms. One of the answers may be empty: it failed."""

    a: Record
    b: Record

    @property
    def question(self) -> str:
        return self.a.question

    @property
    def repeat(self) -> int:
        return self.a.repeat

    @property
    def answers(self) -> tuple[str, str]:
        return _answer(self.a), _answer(self.b)

    @property
    def key(self) -> AlignedKey:
        return self.question, self.repeat, self.a.paradigm, self.b.paradigm, text_hash(*self.answers)


@dataclass(frozen=True)
class DuelEntries:
    """The answers of a run in their normal form, every two paradigms paired question by question; `left_out` counts,
    by reason, what makes no pair. Paradigms stand in the order of their names, so that a pair is the same one whoever
    was named first.
    """

    names: tuple[str, ...]
    records: tuple[Record, ...]
    pairs: dict[PairNames, list[AnswerPair]]
    left_out: dict[PairNames, Counter[str]]

    @property
    def texts(self) -> dict[str, str]:
        """The questions by id."""
        return {record.question: record.text for record in self.records}

    @property
    def generators(self) -> tuple[str, ...]:
        """The models that answered."""
        return tuple(sorted({record.made.model for record in self.records} - {""}))


def duel_entries(
    records: Iterable[Record], rules: DuelRules, names: Sequence[str] = (), *, limit: int | None = None
) -> DuelEntries:
    """The answers of these paradigms, or of all in the run, to the first `limit` questions. UsageError where a name is
    not among them, or there are not two.
    """
    every = list(records)
    known = sorted({record.paradigm for record in every})
    for name in names:
        if name not in known:
            raise UsageError(f"the run has no answers of {name!r}", did_you_mean(name, known))
    chosen = tuple(sorted(set(names))) or tuple(known)
    if len(chosen) < 2:
        raise UsageError("a duel takes two paradigms", f"this run has answers of: {', '.join(known) or 'none'}")
    questions = set(list(dict.fromkeys(record.question for record in every))[:limit])
    systems = {*known, *(record.made.model for record in every)} - {""}
    entered = tuple(
        replace(record, answer=normal_form(answer_of(record), systems, record.text), explanation="")
        for record in every
        if record.paradigm in chosen and record.question in questions
    )
    paired = {(a, b): pairs_of(entered, a, b, trials=rules.trials) for a, b in combinations(chosen, 2)}
    return DuelEntries(
        chosen,
        entered,
        {names: pairs for names, (pairs, _) in paired.items()},
        {names: left_out for names, (_, left_out) in paired.items()},
    )


def pairs_of(records: Iterable[Record], a: str, b: str, *, trials: int) -> tuple[list[AnswerPair], Counter[str]]:
    """Pairs in the order of the records, and what makes none, by reason. Of several repeats each trial takes one in
    turn, so no more than `trials` of a question.
    """
    sides: dict[tuple[str, int], dict[str, Record]] = {}
    for record in records:
        if record.paradigm in (a, b):
            sides.setdefault((record.question, record.repeat), {})[record.paradigm] = record
    pairs: list[AnswerPair] = []
    left_out: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for (question, _), side in sorted(sides.items(), key=lambda item: item[0][1]):
        if len(side) < 2:
            left_out[ALONE] += 1
        elif not any(map(_answer, side.values())):
            left_out[FAILED] += 1
        elif taken[question] >= trials:
            left_out[SPARE] += 1
        else:
            taken[question] += 1
            pairs.append(AnswerPair(side[a], side[b]))
    return pairs, left_out


def _answer(record: Record) -> str:
    return "" if record.error else answer_of(record)


def text_hash(*texts: str) -> str:
    """A short name for texts, so that a reply about other texts is not taken for one about these."""
    return content_hash(*texts)[:16]


# --- Answers of equal length --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlignedAnswers:
    """A pair's answers as they are judged. `again`: tries to write both again; `rewritten`: whether the answers are
    those, by `generator`; `padded`: words appended to the shorter; `source`: the hash of the two answers as they were
    given.
    """

    question: str
    repeat: int
    a: str
    b: str
    source: str
    answers: tuple[str, str]
    again: int = 0
    padded: int = 0
    generator: str = ""
    rewritten: bool = False

    @property
    def key(self) -> AlignedKey:
        return self.question, self.repeat, self.a, self.b, self.source

    @property
    def failed(self) -> int:
        """1 where b's answer failed, −1 where a's did, 0 where both have one."""
        return bool(self.answers[0]) - bool(self.answers[1])

    @property
    def usable(self) -> bool:
        """Whether the answers are of one length, or one of them failed."""
        return bool(self.failed) or apart(self.answers) <= TOLERANCE

    @property
    def judged(self) -> bool:
        """Whether the judge is asked about them: answers that are the same tie without a call."""
        return self.usable and not self.failed and self.answers[0] != self.answers[1]


class AlignedLog(Log[AlignedAnswers]):
    """What was aligned already, in the folder of a run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, AlignedAnswers)

    def latest(self) -> dict[AlignedKey, AlignedAnswers]:
        """By key; a later line takes the place of an earlier one."""
        return {aligned.key: aligned for aligned in self}


def aligned_pairs(entries: DuelEntries, folder: Path) -> dict[PairNames, list[AlignedAnswers]]:
    """What was aligned already, pair by pair."""
    done = AlignedLog(folder).latest()
    return {names: [done[key] for pair in pairs if (key := pair.key) in done] for names, pairs in entries.pairs.items()}


def words(text: str) -> int:
    """How many there are."""
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


async def align(generator: ModelClient | None, pair: AnswerPair) -> AlignedAnswers:
    """Both answers at the length of the longer, as far as that goes: see `usable`."""
    aligned = AlignedAnswers(*pair.key, answers=pair.answers)
    if aligned.usable:
        return aligned
    aligned = await _rewritten(generator, pair, aligned)
    first, second = aligned.answers
    wanted = max(words(first), words(second))
    padded = pad(first, wanted), pad(second, wanted)
    return replace(aligned, answers=padded, padded=sum(map(words, padded)) - words(first) - words(second))


def renewable(generator: ModelClient | None, pair: AnswerPair) -> bool:
    """Whether both answers can be written again from their evidence."""
    has_model = generator is not None and generator.model is not None
    return has_model and all(record.evidence and not record.abstained for record in (pair.a, pair.b))


async def _rewritten(generator: ModelClient | None, pair: AnswerPair, aligned: AlignedAnswers) -> AlignedAnswers:
    """Both answers by the same model, or neither."""
    if generator is None or generator.model is None or not renewable(generator, pair):
        return aligned
    wanted, tries, drafts = max(map(words, aligned.answers)), 0, []
    for record in (pair.a, pair.b):
        best, length = "", wanted
        for sample in range(TRIES):
            draft = await _draft(generator, pair, record.evidence, length, sample)
            tries += 1
            if draft and (not best or abs(words(draft) - wanted) < abs(words(best) - wanted)):
                best = draft
            if best and abs(words(best) - wanted) <= TOLERANCE // 2:
                break
            if draft:  # models miss a length by a share of it: ask for that much more, or less
                length = max(wanted // 2, min(2 * wanted, length * wanted // max(1, words(draft))))
        drafts.append(best)
    if not all(drafts):
        return replace(aligned, again=tries)
    answers = (drafts[0], drafts[1])
    return replace(aligned, answers=answers, again=tries, generator=generator.model.name, rewritten=True)


async def _draft(
    generator: ModelClient, pair: AnswerPair, evidence: tuple[EvidenceItem, ...], length: int, sample: int
) -> str:
    question = pair.a.text
    given = DuelAnswerInput(question, [(piece.title, piece.text) for piece in evidence], length)
    try:
        rewritten = (await generator.do(replace(DUEL_ANSWER, sample=sample), given)).value
    except (UnusableReply, ModelRefused):
        return ""
    return normal_form(rewritten.answer, (pair.a.paradigm, pair.b.paradigm), question) if rewritten.answered else ""
