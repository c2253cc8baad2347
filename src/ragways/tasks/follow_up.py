"""A question of a conversation made whole, so that it can be searched for without the turns before it.

Without a model, a rule for English looks at how a question leans on the turn before: by a pronoun ("Where was he
born?"), by pointing ("Who owned that ship?"), by a part of something ("Who wrote the libretto?"), or by leaving out all
but what is new ("And in 1834?"). What it leans on is the name in the question before, or in its answer where that
question wants a name. A question that names what it is about stays as it is, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragways.core.markdown import MARKS
from ragways.models.task import Task
from ragways.tasks.refusal import refuses

TURNS: Final = 6
"""Turns before a question that are looked at."""
SHOWN: Final = 1000
"""Characters of a question and of an answer before it that are looked at."""
FEW: Final = 3
"""Words with a meaning of its own that a question has at most which asks for a part of what was spoken of."""
SHORT: Final = 6
"""Words of an answer that is nothing but a name."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FollowUpInput:
    """The next question, and the turns before it, the oldest first."""

    question: str
    turns: Sequence[Turn]


@dataclass(frozen=True, slots=True)
class WholeQuestion:
    """The question as it can be understood alone."""

    question: str


_OPENERS = (
    r"who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|"
    r"in|on|at|of|for|by|from|to|with|since|under|during|after|before|and|or|but|so|if|the|a|an|"
    r"give|tell|describe|list|explain|summari[sz]e|name|he|she|it|they|his|her|its|their|this|that|there|for"
)
_OPENER = re.compile(rf"(?:{_OPENERS})\b", re.IGNORECASE)
_NAME = re.compile(
    r"`[^`]{1,80}`|\b\w+(?:[._]\w+)+(?:\(\))?|"  # as code is written
    r"\b[A-Z][\w'’-]*(?: (?:(?:of|the|on|de|von|van|la|and the) )*[A-Z][\w'’-]*)*(?: of (?:1\d|20)\d\d)?"
)
_CITED = re.compile(rf"\s*{MARKS}")
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_PRONOUN = re.compile(
    r"\b(?P<person>he|him|she)\b|\b(?P<thing>it|they|them)\b|\b(?P<owner>his|its|their|her)(?= [a-z])|"
    r"\b(?P<object>her|hers|his|theirs)\b|\b(?P<place>there)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"it(?:['’]s)?(?: \w+)? (?:true|possible|likely|necessary|safe|best|better|enough|rain\w*|(?:that|to)\b)|"
    r"there (?:is|are|was|were|any|an?|been|be|more)\b",
    re.IGNORECASE,
)
_THERE_IS = re.compile(r"\b(?:is|are|was|were|been|be|does|did|has|have) $", re.IGNORECASE)
_POINTING = re.compile(
    r"(?P<before>^|\b(?:of|in|at|on|is|was|were|are|did|does|has|for|by|from|about|to|with|who|when|where|why) )"
    r"(?:that|this)(?: same)? (?P<noun>(?!the |is |was |one |way )[a-z]+)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"\bthe (?P<noun>[a-z][\w-]+)", re.IGNORECASE)
_INSTEAD = re.compile(
    r"(?:(?:and|or|but|so)\s+)?(?:(?:what|how)\s+about\s+)(?P<about>.+?)\s*\?*$|(?:and|or|but)\s+(?P<new>[^,]+?)\s*\?*$",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)
_WHO_IS = re.compile(r"\s*(?i:who|what|where) (?i:is|was|are|were)(?: (?:[A-Z`]\S*|of|the))+$")
_FOR_A_NAME = re.compile(
    r"\s*(?:(?:in|at|on|by|from|to|of|for) )?(?:"
    r"(?:which|what) (?!(?:did|do|does|is|was|are|were|has|have|had|can|will)\b)[a-z]|"
    r"what (?:is|was|are|were) the [a-z]|who\b|whom\b|whose\b)",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\s*what (?:is|are|was|were) (?P<topic>(?:an? |the )?[a-z][\w-]*(?: [\w-]+){0,2})\s*\?", re.IGNORECASE
)
"""What a question without a name is about, where it asks what that is."""
_FOR_A_PERSON = re.compile(r"\s*(?:by |from |to |of |for )?(?:who|whom|whose)\b", re.IGNORECASE)
_FOR_A_PLACE = re.compile(r"\s*(?:from )?where\b", re.IGNORECASE)
_SMALL = re.compile(
    rf"(?:{_OPENERS}|not|no|be|been|it|we|you|i|my|our|your|there|then|than|as|one|ones|many|much|long|old|first|last)",
    re.IGNORECASE,
)


def whole_by_rule(question: str, turns: Sequence[Turn]) -> str:
    """The question with what it takes from the turns before; as it is where it takes nothing."""
    known: list[Turn] = []
    for turn in turns[-TURNS:]:
        known.append(Turn(_whole(turn.question[:SHOWN], known), _CITED.sub("", turn.answer[:SHOWN])))
    return _whole(question, known)


def _whole(question: str, turns: Sequence[Turn]) -> str:
    if not turns:
        return question
    before, instead = turns[-1].question, _INSTEAD.fullmatch(question.strip())
    if instead and not _ASKS.search(new := instead["about"] or instead["new"]) and not _PRONOUN.fullmatch(new):
        return _swapped(before, new, question)
    if not _meaning(question):
        return f"{before} {question}"
    own = [match.start() for match in _names(question)]
    if (match := _leaning(question, own)) is not None:
        return _replaced(question, match, turns)
    return question if own else _pointing(question, turns)


def _pointing(question: str, turns: Sequence[Turn]) -> str:
    """A question without a name, with that of the thing it points to or asks for a part of."""
    if (match := _POINTING.search(question)) and (name := _subject(turns, "pointed")):
        return f"{question[: match.start()]}{match['before']}the {match['noun']} {name}{question[match.end() :]}"
    if (match := _PART.search(question)) and len(_meaning(question)) <= FEW and (name := _subject(turns, "part")):
        if match["noun"].casefold() in name.casefold().split():
            return f"{question[: match.start()]}{name}{question[match.end() :]}"
        return re.sub(r"\s*(\??)\s*$", lambda end: f" ({name}){end[1]}", question, count=1)
    return question


def _leaning(question: str, own: Sequence[int]) -> re.Match[str] | None:
    """The first pronoun for something that the question does not name before it."""
    for match in _PRONOUN.finditer(question):
        if own and own[0] < match.start():
            return None
        if match["place"] is None and match["person"] is None and _PART.search(question, 0, match.start()):
            return None
        there = match["place"] is not None and _THERE_IS.search(question[: match.start()])
        if not there and not _EXPLETIVE.match(question, match.start()):
            return match
    return None


def _replaced(question: str, match: re.Match[str], turns: Sequence[Turn]) -> str:
    """The question with a name in the place of its pronoun."""
    word, kind = match[0].casefold(), match.lastgroup or ""
    if kind == "place" or word in ("he", "him", "she", "her", "hers", "his"):
        name = _subject(turns, "place" if kind == "place" else "person")
    else:
        name = _subject(turns, "thing")
    if not name:
        return question
    if kind == "owner":
        name += "'" if name.endswith("s") else "'s"
    elif kind == "place":
        name = f"in {name}"
    return f"{question[: match.start()]}{name}{question[match.end() :]}"


def _subject(turns: Sequence[Turn], wanted: str) -> str:
    """The name that a question leans on: from an answer where its question wants a name, else from the question."""
    for turn in reversed(turns):
        names = [_with_article(turn.question, match) for match in _names(turn.question)]
        if _from_answer(turn.question, wanted) and (name := _answered(turn.answer)):
            return name
        if names:
            return names[0]
        if topic := _TOPIC.match(turn.question):
            return topic["topic"]
    return ""


def _from_answer(question: str, wanted: str) -> bool:
    if _WHO_IS.match(question) or wanted == "part":
        return False
    if wanted == "person":
        return bool(_FOR_A_NAME.match(question))
    if wanted == "thing":
        return bool(_FOR_A_NAME.match(question)) and not _FOR_A_PERSON.match(question)
    return bool(_FOR_A_PLACE.match(question) or _FOR_A_NAME.match(question))


def _answered(answer: str) -> str:
    """The name that an answer gives: the whole of a short one, else the first in it."""
    if refuses(answer):
        return ""
    short = re.sub(r"^(?:in|at|on|by|from|of|to|it (?:is|was))\s+", "", answer.strip().rstrip("."), flags=re.I)
    if len(short.split()) <= SHORT and re.match(r"(?:the )?[A-Z]", short) and not re.search(r"[.,;:]", short):
        name = " ".join(re.split(r"\b(?:is|was|are|were|wrote|made|built|did)\b", short)[0].split())
        return re.sub(r"^The (?=[A-Z])", "the ", name)
    return next((_with_article(answer, match) for match in _names(answer)), "")


def _names(text: str) -> list[re.Match[str]]:
    """Names in a text, without the word that only stands at its beginning."""
    found = []
    for match in _NAME.finditer(text):
        first = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".?!:"
        opener = _OPENER.match(match[0]) if first else None
        name = _NAME.match(text, match.start() + opener.end() + 1, match.end()) if opener else match
        if name and name[0] != "I":
            found.append(name)
    return found


def _with_article(text: str, match: re.Match[str]) -> str:
    """A name as it can stand in another sentence: with the article before it, without an owner's 's."""
    article = "the " if re.search(r"\bthe $", text[: match.start()], re.IGNORECASE) else ""
    return article + re.sub(r"['’]s?$", "", match[0].strip("`"))


def _swapped(before: str, new: str, question: str) -> str:
    """The question before, about something else."""
    years, names = _YEAR.search(new), _names(f"about {new}")
    if years and not names and (old := _YEAR.search(before)):
        return f"{before[: old.start()]}{years[0]}{before[old.end() :]}"
    if names and (spoken := _names(before)):
        name = re.search(re.escape(names[0][0]) + r".*", new, re.DOTALL)
        return f"{before[: spoken[-1].start()]}{name[0] if name else new}{before[spoken[-1].end() :]}"
    return f"{before} {question}"


def _meaning(question: str) -> list[str]:
    """The words of a question that say what it is about."""
    words = re.findall(r"[\w'’-]+", question)
    return [word for word in words if not _SMALL.fullmatch(word)]


async def _rule(given: FollowUpInput) -> WholeQuestion:
    return WholeQuestion(whole_by_rule(given.question, given.turns))


def _render(given: FollowUpInput) -> Mapping[str, object]:
    shown = [f"Question: {turn.question[:SHOWN]}\nAnswer: {turn.answer[:SHOWN]}" for turn in given.turns[-TURNS:]]
    return {"turns": "\n\n".join(shown), "question": given.question}


def _check(reply: WholeQuestion, given: FollowUpInput) -> str | None:
    if not reply.question.strip():
        return "the question is empty"
    if len(reply.question) > 2 * len(given.question) + SHOWN:
        return "the question is far longer than the one that was asked: do not answer it, and add names alone"
    return None


FOLLOW_UP = Task(
    "follow-up",
    prompt="follow-up",
    reply=WholeQuestion,
    without=_rule,
    render=_render,
    check=_check,
    max_output=512,
    role="small",
)
