"""What a model judges about an answer. A judge has no way without a model: what is not judged is unscored.

Things to judge are numbered from 1, and each needs one verdict. A reason stands before its verdict, so that a model
gives it first and not after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

from ragways.models.task import Task
from ragways.tasks.shown import shown, task

Correctness = Literal["correct", "incorrect", "incomplete"]
QUESTION_COUNT = 3
"""Questions to write for each answer."""
Verdict = TypeVar("Verdict", "ClaimSupport", "ClaimMatch")


def _each_once(verdicts: Sequence[Verdict], count: int, noun: str) -> tuple[Verdict, ...]:
    """The verdicts on what was shown, in its order; ValueError where one is missing, or two say different things."""
    kept: dict[int, Verdict] = {}
    for verdict in verdicts:
        if replace(kept.setdefault(verdict.claim, verdict), why="") != replace(verdict, why=""):
            raise ValueError(f"{noun} {verdict.claim} has more than one verdict")
    missing = next((n for n in range(1, count + 1) if n not in kept), None)
    if missing is not None:
        raise ValueError(f"{noun} {missing} has no verdict; they are numbered 1 to {count}")
    return tuple(kept[n] for n in range(1, count + 1))


@dataclass(frozen=True, slots=True)
class ClaimsInput:
    """A text that answers a question."""

    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Claims:
    """None where the text says nothing that could be true or false."""

    claims: tuple[str, ...]


CLAIMS: Task[ClaimsInput, Claims] = task("judge claims", Claims, 3000, whole=True)
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


def _keep_support(reply: ClaimSupports, given: SupportInput) -> ClaimSupports:
    return ClaimSupports(_each_once(reply.verdicts, len(given.claims), "claim"))


SUPPORT: Task[SupportInput, ClaimSupports] = task("judge support", ClaimSupports, 4000, keep=_keep_support)
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


def _keep_citations(reply: ClaimSupports, given: CitationsInput) -> ClaimSupports:
    return ClaimSupports(_each_once(reply.verdicts, len(given.cited), "sentence"))


def _render_citations(given: CitationsInput) -> Mapping[str, object]:
    letters = {id: f"P{n}" for n, id in enumerate(given.passages, start=1)}
    passages = "\n\n".join(f"{letters[id]}: {text}" for id, text in given.passages.items())
    sentences = [
        f"{n}. {' '.join(one.sentence.split())}\n   cites {', '.join(letters[id] for id in one.passages)}"
        for n, one in enumerate(given.cited, start=1)
    ]
    return {"question": given.question, "passages": passages, "cited": "\n\n".join(sentences)}


CITATIONS: Task[CitationsInput, ClaimSupports] = task(
    "judge citations", ClaimSupports, 4000, keep=_keep_citations, render=_render_citations
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


def _keep_match(reply: ClaimMatches, given: MatchInput) -> ClaimMatches:
    known = range(1, len(given.gold) + 1)
    kept = [(match, tuple(n for n in match.gold if n in known)) for match in reply.matches]
    matches = [replace(match, gold=gold) for match, gold in kept if gold or not match.gold]
    return ClaimMatches(_each_once(matches, len(given.claims), "claim"))


MATCH: Task[MatchInput, ClaimMatches] = task("judge match", ClaimMatches, 4000, keep=_keep_match)
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

    noncommittal: bool = False
    questions: tuple[str, ...] = ()


def _keep_questions(reply: AnsweredQuestions, _: QuestionsInput) -> AnsweredQuestions:
    if not reply.questions and not reply.noncommittal:
        raise ValueError(f"there is no question, and there must be {QUESTION_COUNT}")
    return replace(reply, questions=reply.questions[:QUESTION_COUNT])


def _render_questions(given: QuestionsInput) -> Mapping[str, object]:
    return {"answer": given.answer, "count": QUESTION_COUNT}


QUESTIONS: Task[QuestionsInput, AnsweredQuestions] = task(
    "judge questions", AnsweredQuestions, 500, keep=_keep_questions, render=_render_questions
)
"""Write the questions that an answer answers, without having seen the one that was asked."""
