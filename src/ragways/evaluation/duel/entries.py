"""The answers that meet in a duel: by which rules, which are paired, and how both are brought to one length.

Judges take the longer of two answers for the better one. So the shorter is generated again from the same evidence, with
the longer one's number of words asked for. What still differs is made up for by remarks that say nothing about the
matter. They are few, so that no answer drowns in them; pairs that differ by more are left out. An abstention is not
generated again: asked for at length, it would be another answer than the paradigm gave.

All answers are in their normal form: without markup, citations and names of systems, which judges like and which say
nothing about the matter.
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

SAMPLE_LIMIT = 1000
"""More samples than one prompt is ever asked for: so the number of a call never depends on how many there are."""
FILE = "lengths.jsonl"
TOLERANCE = 10
"""Words by which two answers may differ."""
TRIES = 3

ALONE = "only one of the two was asked"
FAILED = "an answer failed"
EMPTY = "an answer is empty"
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
    """`trials` (M) whole comparisons of `samples` (N) replies to each prompt, both orders.

    `answers` and `selftest`: the judge is tested on so many answers, with so many replies of each kind at least, drawn
    by `seed`. Why
    100 and 200: a judge that prefers one side 4 times of 5 is then found out practically always, one that does so 65
    times of 100 about 19 times of 20, and one without a bias fails in 1 test of 100. `control`: so many replies about
    right answers against answers to other questions; a judge that sees the difference 4 times of 5 then passes 19 times
    of 20, and one that throws a coin once in a hundred. `go_on`: duel with a judge that failed; still nobody wins.
    """

    trials: int = 25
    samples: int = 2
    mode: Mode = "whole"
    answers: int = 100
    selftest: int = 200
    control: int = 50
    seed: int = 7
    go_on: bool = False

    def __post_init__(self) -> None:
        for name in ("trials", "samples", "answers", "selftest", "control"):
            if not 1 <= getattr(self, name) <= SAMPLE_LIMIT:
                raise UsageError(f"{name} is {getattr(self, name)}", f"it must lie between 1 and {SAMPLE_LIMIT:,}")


@dataclass(frozen=True)
class AnswerPair:
    """Two records of the same question and repeat, by two paradigms."""

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
        return answer_of(self.a), answer_of(self.b)

    @property
    def key(self) -> AlignedKey:
        return self.question, self.repeat, self.a.paradigm, self.b.paradigm, text_hash(*self.answers)


@dataclass(frozen=True)
class DuelEntries:
    """The answers of a run in their normal form, every two paradigms paired question by question; `left_out` counts,
    by reason, what makes no pair, and `one_sided`, by question, where only one of the two has an answer. Paradigms
    stand in the order of their names, so that a pair is the same one whoever was named first.
    """

    names: tuple[str, ...]
    records: tuple[Record, ...]
    pairs: dict[PairNames, list[AnswerPair]]
    left_out: dict[PairNames, Counter[str]]
    one_sided: dict[PairNames, Counter[str]]

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
    asked = set(list(dict.fromkeys(record.question for record in every))[:limit])
    systems = {*known, *(record.made.model for record in every)} - {""}
    entered = tuple(
        replace(record, answer=normal_form(answer_of(record), systems, record.text), explanation="")
        for record in every
        if record.paradigm in chosen and record.question in asked
    )
    paired = {(a, b): pairs_of(entered, a, b, trials=rules.trials) for a, b in combinations(chosen, 2)}
    return DuelEntries(
        chosen,
        entered,
        {names: found[0] for names, found in paired.items()},
        {names: found[1] for names, found in paired.items()},
        {names: found[2] for names, found in paired.items()},
    )


def pairs_of(
    records: Iterable[Record], a: str, b: str, *, trials: int
) -> tuple[list[AnswerPair], Counter[str], Counter[str]]:
    """Pairs in the order of the records, what makes none, by reason, and of that, by question, where only one side has
    an answer. Of several repeats each trial takes one in turn, so no more than `trials` of a question.
    """
    sides: dict[tuple[str, int], dict[str, Record]] = {}
    for record in records:
        if record.paradigm in (a, b):
            sides.setdefault((record.question, record.repeat), {})[record.paradigm] = record
    pairs: list[AnswerPair] = []
    left_out: Counter[str] = Counter()
    one_sided: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for (question, _), side in sorted(sides.items(), key=lambda item: item[0][1]):
        why = _unfit(side, a, b) or (SPARE if taken[question] >= trials else "")
        if why:
            left_out[why] += 1
            one_sided[question] += sum(_answered(record) for record in side.values()) == 1
        else:
            taken[question] += 1
            pairs.append(AnswerPair(side[a], side[b]))
    return pairs, left_out, +one_sided


def _answered(record: Record) -> bool:
    return not record.error and bool(answer_of(record))


def _unfit(side: dict[str, Record], a: str, b: str) -> str:
    if a not in side or b not in side:
        return ALONE
    if side[a].error or side[b].error:
        return FAILED
    return "" if answer_of(side[a]) and answer_of(side[b]) else EMPTY


def text_hash(*texts: str) -> str:
    """A short name for texts, so that a reply about other texts is not taken for one about these."""
    return content_hash(*texts)[:16]


# --- Answers of equal length --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlignedAnswers:
    """A pair's answers as they are judged. `again`: tries to generate the shorter one, by `generator`; `rewritten`: the
    paradigm whose answer it took the place of, empty where the answer stayed; `padded`: words appended; `source`: the
    hash of the two answers as they were given.
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
    rewritten: str = ""

    @property
    def key(self) -> AlignedKey:
        return self.question, self.repeat, self.a, self.b, self.source

    @property
    def usable(self) -> bool:
        """Whether the answers are of one length."""
        return apart(self.answers) <= TOLERANCE

    @property
    def identical(self) -> bool:
        return self.answers[0] == self.answers[1]


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


def padded_copy(text: str) -> str:
    """The same answer with every remark: as much as is ever appended to an answer."""
    return " ".join((text, *PADDING))


def padding_words(text: str) -> int:
    """How many words of the text are such remarks."""
    return sum(words(remark) for remark in PADDING if remark in text)


async def align(generator: ModelClient | None, pair: AnswerPair) -> AlignedAnswers:
    """Both answers at the length of the longer, as far as that goes: see `usable`."""
    aligned = AlignedAnswers(*pair.key, answers=pair.answers)
    if aligned.usable:
        return aligned
    aligned = await _generated(generator, pair, aligned)
    short = _shorter(aligned.answers)
    before = aligned.answers[short]
    after = pad(before, words(aligned.answers[1 - short]))
    return replace(aligned, answers=_with(aligned.answers, short, after), padded=words(after) - words(before))


async def _generated(generator: ModelClient | None, pair: AnswerPair, aligned: AlignedAnswers) -> AlignedAnswers:
    short = _shorter(aligned.answers)
    record = (pair.a, pair.b)[short]
    if generator is None or generator.model is None or not _renewable(record):
        return aligned
    wanted = asked = words(aligned.answers[1 - short])
    best, tries, rewritten = aligned.answers[short], 0, ""
    while abs(words(best) - wanted) > TOLERANCE and tries < TRIES:
        answer = await _again(generator, pair, record.evidence, asked, tries)
        tries += 1
        if answer:
            if abs(words(answer) - wanted) < abs(words(best) - wanted):
                best, rewritten = answer, record.paradigm
            # Models miss a length by a share of it: ask for that much more, or less.
            asked = max(wanted // 2, min(2 * wanted, asked * wanted // max(1, words(answer))))
    answers, writer = _with(aligned.answers, short, best), generator.model.name
    return replace(aligned, answers=answers, again=tries, generator=writer, rewritten=rewritten)


def _renewable(record: Record) -> bool:
    return bool(record.evidence) and not record.abstained


def worth_another(generator: ModelClient | None, pair: AnswerPair, aligned: AlignedAnswers) -> bool:
    """Whether a pair that was left out for want of a model can be generated now."""
    if aligned.usable or aligned.again or generator is None or generator.model is None:
        return False
    return _renewable((pair.a, pair.b)[_shorter(pair.answers)])


async def _again(
    generator: ModelClient, pair: AnswerPair, evidence: tuple[EvidenceItem, ...], asked: int, sample: int
) -> str:
    question = pair.a.text
    passages = [(piece.title, piece.text) for piece in evidence]
    try:
        given = DuelAnswerInput(question, passages, asked)
        rewritten = (await generator.do(replace(DUEL_ANSWER, sample=sample), given)).value
    except (UnusableReply, ModelRefused):
        return ""
    return normal_form(rewritten.answer, (pair.a.paradigm, pair.b.paradigm), question) if rewritten.answered else ""


def _shorter(answers: tuple[str, str]) -> int:
    return 0 if words(answers[0]) < words(answers[1]) else 1


def _with(answers: tuple[str, str], at: int, text: str) -> tuple[str, str]:
    return (text, answers[1]) if at == 0 else (answers[0], text)
