"""The tasks of a search: what a question names, what is still missing, whether an answer suffices, where to go next,
and which way to answer at all.

Each can be done without a model, from the words that stand together in the question and the passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragways.models.task import Task
from ragways.tasks.extract import ASKING, Terms
from ragways.tasks.refusal import refuses

SUBQUESTION_LIMIT = 3
"""Sub-questions of one round."""

Names = Callable[[str], list[str]]
"""The names in a text that the graph knows."""

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van|la) )*[A-Z][\w'’-]+)*")
_CALENDAR = re.compile(
    r"(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences(passages: Iterable[str]) -> list[str]:
    """A plain cut at sentence ends, good enough to tell which words stand together."""
    return [sentence for passage in passages for sentence in _SENTENCE.split(passage) if sentence.strip()]


def content(question: str, terms: Terms) -> list[str]:
    """The terms of a question that say what it is about, without the words of asking."""
    return terms(ASKING.sub(" ", question))


def uncovered(question: str, passages: Iterable[str], terms: Terms) -> list[str]:
    """The question's words that the passages do not speak of, as the question writes them.

    A word counts as spoken of where a sentence holds it beside another word of the question: alone, a common word
    stands somewhere in any pile of text, and says nothing about the question.
    """
    wanted = dict.fromkeys(content(question, terms))
    covered: set[str] = set()
    for sentence in sentences(passages):
        shared = wanted.keys() & set(terms(sentence))
        if len(shared) > 1 or len(wanted) == 1:
            covered |= shared
    return [word for word in re.findall(r"[\w'’-]+", question) if set(terms(word)) & (wanted.keys() - covered)]


def bridges(question: str, passages: Iterable[str], terms: Terms) -> list[str]:
    """Names beside the question's words in the passages that the question itself does not know: where to look next."""
    wanted = set(content(question, terms))
    near: dict[str, int] = {}
    for sentence in sentences(passages):
        near_terms = wanted & set(terms(sentence))
        for match in _NAME.finditer(sentence) if near_terms else ():
            name, own = match[0], set(terms(match[0]))
            # The first word of a sentence has a capital anyway.
            if own and not own & wanted and (match.start() or " " in name) and not _CALENDAR.fullmatch(name):
                near[name] = max(near.get(name, 0), len(near_terms))
    return sorted(near, key=lambda name: (-near[name], -len(name.split()), name))


@dataclass(frozen=True)
class SubquestionsInput:
    """`passages` are those found so far, `asked` the questions searched for so far."""

    question: str
    passages: Sequence[str]
    asked: Sequence[str]
    terms: Terms


@dataclass(frozen=True, slots=True)
class Subquestions:
    """Two or three as a rule; none when nothing is missing."""

    questions: tuple[str, ...]


async def _ask_for_the_missing(given: SubquestionsInput) -> Subquestions:
    """What the passages do not speak of yet, as questions about the names beside what they do."""
    missing = " ".join(uncovered(given.question, given.passages, given.terms))
    if not missing:
        return Subquestions(())
    names = bridges(given.question, given.passages, given.terms)
    questions = [f"{name} {missing}" for name in names] or [missing]
    return Subquestions(tuple(question for question in questions if question not in given.asked)[:SUBQUESTION_LIMIT])


def _render_subquestions(given: SubquestionsInput) -> Mapping[str, object]:
    passages, asked = "\n\n".join(given.passages), "\n".join(given.asked)
    return {"question": given.question, "passages": passages, "asked": asked}


SUBQUESTIONS = Task(
    "subquestions",
    prompt="subquestions",
    reply=Subquestions,
    without=_ask_for_the_missing,
    render=_render_subquestions,
    max_output=512,
    role="small",
)


@dataclass(frozen=True)
class JudgeAnswerInput:
    """An answer, the passages it was made from, and the questions searched for so far."""

    question: str
    answer: str
    passages: Sequence[str]
    asked: Sequence[str]
    terms: Terms


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """`subquestion` is empty when the answer suffices, or when no search could help."""

    suffices: bool
    subquestion: str


async def _judge_by_words(given: JudgeAnswerInput) -> AnswerVerdict:
    """Suffices where it is an answer and the passages speak of all that the question names."""
    missing = uncovered(given.question, given.passages, given.terms)
    if not refuses(given.answer) and not missing:
        return AnswerVerdict(True, "")
    if not given.passages:
        return AnswerVerdict(False, given.question)
    rest = " ".join(missing)
    names = bridges(given.question, given.passages, given.terms) if rest else []
    choices = [*(f"{name} {rest}" for name in names), *([rest] if rest else [])]
    return AnswerVerdict(False, next((choice for choice in choices if choice not in given.asked), ""))


def _render_judge_answer(given: JudgeAnswerInput) -> Mapping[str, object]:
    passages, asked = "\n\n".join(given.passages), "\n".join(given.asked)
    return {"question": given.question, "answer": given.answer, "passages": passages, "asked": asked}


JUDGE_ANSWER = Task(
    "judge answer",
    prompt="judge-answer",
    reply=AnswerVerdict,
    without=_judge_by_words,
    render=_render_judge_answer,
    temperature=0.1,
    max_output=256,
)


@dataclass(frozen=True)
class QuestionEntitiesInput:
    """`names` gives the names in a text that the graph knows."""

    question: str
    names: Names


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """Names as the question writes them, the most important first."""

    entities: tuple[str, ...]


async def _known_names(given: QuestionEntitiesInput) -> QuestionEntities:
    """The names in the question that the graph knows."""
    return QuestionEntities(tuple(given.names(given.question)))


def _render_question(given: QuestionEntitiesInput | KeywordsInput) -> Mapping[str, object]:
    return {"question": given.question}


QUESTION_ENTITIES: Task[QuestionEntitiesInput, QuestionEntities] = Task(
    "question entities",
    prompt="question-entities",
    reply=QuestionEntities,
    without=_known_names,
    render=_render_question,
    max_output=256,
    role="small",
)


@dataclass(frozen=True)
class KeywordsInput:
    """`names` gives the names in a text that the graph knows."""

    question: str
    names: Names
    terms: Terms


@dataclass(frozen=True, slots=True)
class Keywords:
    """`low` are entities, `high` are themes and relations."""

    low: tuple[str, ...]
    high: tuple[str, ...]


async def _names_and_words(given: KeywordsInput) -> Keywords:
    """The names that the graph knows are low; the words that carry meaning besides them are high."""
    low = given.names(given.question)
    about = set(content(given.question, given.terms)) - {term for name in low for term in given.terms(name)}
    words = dict.fromkeys(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", given.question))
    return Keywords(tuple(low), tuple(word for word in words if set(given.terms(word)) & about))


KEYWORDS: Task[KeywordsInput, Keywords] = Task(
    "keywords",
    prompt="keywords",
    reply=Keywords,
    without=_names_and_words,
    render=_render_question,
    max_output=256,
    role="small",
)


@dataclass(frozen=True, slots=True)
class HopPreview:
    """A window that the walk can go to: the title of its document and the beginning of its text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ChooseHopInput:
    """Some of the `total` sentences gathered so far, and the windows ahead; `enough` is what similarity says, for the
    rule.
    """

    question: str
    gathered: Sequence[str]
    total: int
    previews: Sequence[HopPreview]
    enough: bool


@dataclass(frozen=True, slots=True)
class HopChoice:
    """What to do next: go to passage `number`, jump to where a search for `words` leads, or stop. A reply that says
    none of these is unusable. `reason` is the rule's.
    """

    act: Literal["go", "jump", "stop", "unusable"]
    number: int = 0
    words: str = ""
    reason: str = ""


def _render_hop(given: ChooseHopInput) -> Mapping[str, object]:
    previews = enumerate(given.previews, start=1)
    return {
        "question": given.question,
        "gathered": "\n".join(given.gathered),
        "shown": len(given.gathered),
        "total": given.total,
        "passages": "\n\n".join(f"[{number}] {preview.title}: {preview.text}" for number, preview in previews),
    }


_LEADING = (
    r"i|we|ll|let|us|me|would|will|should|choose|pick|select|go|jump|search|to|for|passage|number|option|choice|next|hop|"
    r"answer|reply|the|is|my|now|json"
)
_HOP = re.compile(
    rf"\W*(?:(?:{_LEADING})\b\W*)*(?:(?P<stop>(?:stop\w*|done|enough)\b)|(?P<number>\d{{1,3}})\b\W*(?P<words>.*))",
    re.IGNORECASE | re.DOTALL,
)
_CHOSEN = re.compile(r"""["']?choice["']?\s*:\s*([^,}]*)""", re.IGNORECASE)
_SEARCHED = 300
"""Characters of the words of a jump."""


def _read_hop(text: str, given: ChooseHopInput) -> HopChoice:
    """The choice that a reply makes, in one of the three forms; a few words or JSON around it do no harm."""
    chosen = _CHOSEN.search(text)
    match = _HOP.match(chosen[1] if chosen else text)
    if match is None or int(match["number"] or 0) > len(given.previews):
        return HopChoice("unusable")
    if match["stop"]:
        return HopChoice("stop")
    number, words = int(match["number"]), match["words"].strip(" \n`'\"*_.")[:_SEARCHED]
    return HopChoice("go", number) if number else HopChoice("jump", words=words)


async def _most_similar(given: ChooseHopInput) -> HopChoice:
    """The first preview, which is the most similar to the question, unless similarity says that it is enough."""
    if given.enough:
        return HopChoice("stop", reason="the best sentence beats the next window")
    return HopChoice("go", 1)


CHOOSE_HOP = Task(
    "choose hop",
    prompt="choose-hop",
    reply=HopChoice,
    without=_most_similar,
    render=_render_hop,
    from_text=_read_hop,
    max_output=256,
)


@dataclass(frozen=True, slots=True)
class ArmCard:
    """A way to answer as it is shown to a model: what it gave on average, and what it cost, in words."""

    name: str
    quality: float
    cost: str


@dataclass(frozen=True, slots=True)
class ChooseArmInput:
    """`fixed` is the arm that is best on average, for the rule."""

    question: str
    arms: Sequence[ArmCard]
    fixed: str


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """The name of one of the ways that were listed."""

    arm: str


def _render_arms(given: ChooseArmInput) -> Mapping[str, object]:
    shown = [f"- {arm.name}: good on {arm.quality:.0%} of earlier questions, {arm.cost}" for arm in given.arms]
    return {"question": given.question, "arms": "\n".join(shown)}


def _keep_arm(reply: ArmChoice, given: ChooseArmInput) -> ArmChoice:
    """The way as it is listed, in whatever case and quotes it was written."""
    written = reply.arm.strip(" `'\"*.").casefold()
    return ArmChoice(next((arm.name for arm in given.arms if arm.name.casefold() == written), reply.arm))


def _check_arm(reply: ArmChoice, given: ChooseArmInput) -> str | None:
    names = [arm.name for arm in given.arms]
    return None if reply.arm in names else f"there is no way {reply.arm[:80]!r}; choose from {', '.join(names)}"


async def _best_on_average(given: ChooseArmInput) -> ArmChoice:
    return ArmChoice(given.fixed)


CHOOSE_ARM = Task(
    "choose arm",
    prompt="choose-arm",
    reply=ArmChoice,
    without=_best_on_average,
    render=_render_arms,
    keep=_keep_arm,
    check=_check_arm,
    max_output=128,
)
