"""What a model judges about an answer. A judge has no way without a model: what is not judged is unscored.

Things to judge are numbered from 1, and each needs one verdict. A reason stands before its verdict, so that a model
gives it first and not after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragways.models.task import Task
from ragways.tasks.shown import shown, task

Correctness = Literal["correct", "incorrect", "incomplete"]
QUESTION_COUNT = 3
"""Questions to write for each answer."""


def each_once(numbers: Sequence[int], count: int, noun: str) -> str | None:
    """A complaint where a number is missing, stands twice or names nothing."""
    counts = Counter(numbers)
    wrong = next((n for n in sorted(counts) if not 1 <= n <= count), None)
    if wrong is not None:
        return f"there is no {noun} {wrong}; they are numbered 1 to {count}"
    twice = next((n for n in sorted(counts) if counts[n] > 1), None)
    if twice is not None:
        return f"{noun} {twice} has more than one verdict"
    missing = next((n for n in range(1, count + 1) if n not in counts), None)
    return None if missing is None else f"{noun} {missing} has no verdict"


@dataclass(frozen=True, slots=True)
class ClaimsInput:
    """A text that answers a question."""

    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Claims:
    """None where the text says nothing that could be true or false."""

    claims: tuple[str, ...]


def _check_claims(reply: Claims, _: ClaimsInput) -> str | None:
    empty = next((n for n, claim in enumerate(reply.claims, start=1) if not claim.strip()), None)
    return None if empty is None else f"claim {empty} is empty"


CLAIMS: Task[ClaimsInput, Claims] = task("judge claims", Claims, 3000, _check_claims)
"""Split a text into claims, each of which can be checked alone."""


@dataclass(frozen=True, slots=True)
class SupportInput:
    """Claims, and the text that may bear them out."""

    claims: Sequence[str]
    text: str


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """`why` comes first, so that a model gives its reason before its verdict and not after."""

    __pydantic_config__: ClassVar = {"title": "Support"}  # its name in the schema, which cache keys hold

    claim: int
    why: str
    supported: bool


@dataclass(frozen=True, slots=True)
class ClaimSupports:
    verdicts: tuple[ClaimSupport, ...]

    def in_order(self) -> list[ClaimSupport]:
        return sorted(self.verdicts, key=lambda verdict: verdict.claim)


def _check_support(reply: ClaimSupports, given: SupportInput) -> str | None:
    return each_once([verdict.claim for verdict in reply.verdicts], len(given.claims), "claim")


SUPPORT: Task[SupportInput, ClaimSupports] = task("judge support", ClaimSupports, 4000, _check_support)
"""Say of each of several claims whether a text bears it out."""


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence, the quotes that it rests on, and the passages that these are from, by their ids."""

    sentence: str
    quotes: tuple[str, ...]
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationsInput:
    """Cited sentences of an answer, and the passages that they cite by their ids."""

    question: str
    cited: Sequence[CitedSentence]
    passages: Mapping[str, str]


def _check_citations(reply: ClaimSupports, given: CitationsInput) -> str | None:
    return each_once([verdict.claim for verdict in reply.verdicts], len(given.cited), "sentence")


def _render_citations(given: CitationsInput) -> Mapping[str, object]:
    letters = {id: f"P{n}" for n, id in enumerate(given.passages, start=1)}
    passages = "\n\n".join(f"{letters[id]}: {text}" for id, text in given.passages.items())
    sentences = [
        f"{n}. {' '.join(one.sentence.split())}\n   cites {', '.join(letters[id] for id in one.passages)}"
        for n, one in enumerate(given.cited, start=1)
    ]
    return {"question": given.question, "passages": passages, "cited": "\n\n".join(sentences)}


CITATIONS: Task[CitationsInput, ClaimSupports] = task(
    "judge citations", ClaimSupports, 4000, _check_citations, render=_render_citations
)
"""Say of each cited sentence of an answer whether what it cites bears it out."""


@dataclass(frozen=True, slots=True)
class MatchInput:
    """The claims of an answer, and those of the gold answer."""

    question: str
    claims: Sequence[str]
    gold: Sequence[str]


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """The gold claims that a claim of the answer states; none where it is wrong, or beside the gold answer."""

    __pydantic_config__: ClassVar = {"title": "Match"}  # its name in the schema, which cache keys hold

    claim: int
    why: str
    gold: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClaimMatches:
    matches: tuple[ClaimMatch, ...]


def _check_match(reply: ClaimMatches, given: MatchInput) -> str | None:
    known = len(given.gold)
    wrong = sorted({n for match in reply.matches for n in match.gold if not 1 <= n <= known})
    if wrong:
        return f"there is no gold claim {wrong[0]}; they are numbered 1 to {known}"
    return each_once([match.claim for match in reply.matches], len(given.claims), "claim")


MATCH: Task[MatchInput, ClaimMatches] = task("judge match", ClaimMatches, 4000, _check_match)
"""Match the claims of an answer with those of the gold answer, so that precision and recall come from one look."""


@dataclass(frozen=True, slots=True)
class CorrectInput:
    """An answer, and the accepted ones."""

    question: str
    answer: str
    gold: Sequence[str]


@dataclass(frozen=True, slots=True)
class Ruling:
    """`why` first: the reason before the verdict."""

    why: str
    verdict: Correctness


def _render_correct(given: CorrectInput) -> Mapping[str, object]:
    return {**shown(given), "gold": "\n".join(given.gold)}


CORRECT: Task[CorrectInput, Ruling] = task("judge correct", Ruling, 300, render=_render_correct)
"""Say whether an answer is correct, incorrect or incomplete, by the accepted answers."""


@dataclass(frozen=True, slots=True)
class UsefulInput:
    question: str
    answer: str
    passage: str


@dataclass(frozen=True, slots=True)
class Useful:
    """`why` first: the reason before the verdict."""

    why: str
    useful: bool


USEFUL: Task[UsefulInput, Useful] = task("judge useful", Useful, 300)
"""Say whether one retrieved passage helps to arrive at an answer. Each is judged alone, so that neither its place nor
its neighbours sway the verdict, and a passage that two paradigms found gets one verdict."""


@dataclass(frozen=True, slots=True)
class QuestionsInput:
    answer: str


@dataclass(frozen=True, slots=True)
class AnsweredQuestions:
    """`noncommittal`: the answer evades, so that no question would be answered by it."""

    noncommittal: bool
    questions: tuple[str, ...]


def _check_questions(reply: AnsweredQuestions, _: QuestionsInput) -> str | None:
    if len(reply.questions) != QUESTION_COUNT:
        return f"there are {len(reply.questions)} questions, and there must be {QUESTION_COUNT}"
    return None if all(question.strip() for question in reply.questions) else "a question is empty"


def _render_questions(given: QuestionsInput) -> Mapping[str, object]:
    return {"answer": given.answer, "count": QUESTION_COUNT}


QUESTIONS: Task[QuestionsInput, AnsweredQuestions] = task(
    "judge questions", AnsweredQuestions, 500, _check_questions, render=_render_questions
)
"""Write the questions that an answer answers, without having seen the one that was asked."""
