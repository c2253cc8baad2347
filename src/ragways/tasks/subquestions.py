"""Ask for what the passages found so far do not say about a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.extract import ASKING

MOST = 3
"""Sub-questions of one round."""

Terms = Callable[[str], list[str]]

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:(?:of|the|de|von|van|la) )*[A-Z][\w'’-]+)*")
_CALENDAR = re.compile(
    r"(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Subquestions:
    """Two or three as a rule; none when nothing is missing."""

    questions: tuple[str, ...]


def sentences(passages: Iterable[str]) -> list[str]:
    """A plain cut at sentence ends, good enough to tell which words stand together."""
    return [sentence for passage in passages for sentence in _SENTENCE.split(passage) if sentence.strip()]


def content(question: str, terms: Terms) -> list[str]:
    """The terms of a question that say what it is about, without the words of asking."""
    return terms(ASKING.sub(" ", question))


def uncovered(question: str, passages: Iterable[str], terms: Terms) -> list[str]:
    """The question's words that the passages do not speak of, as the question writes them.

    A word counts as spoken of where a sentence holds it beside another word of the question: alone, a common word
    stands somewhere in any pile of text, and says nothing about what was asked.
    """
    wanted = dict.fromkeys(content(question, terms))
    covered: set[str] = set()
    for sentence in sentences(passages):
        held = wanted.keys() & set(terms(sentence))
        if len(held) > 1 or len(wanted) == 1:
            covered |= held
    return [word for word in re.findall(r"[\w'’-]+", question) if set(terms(word)) & (wanted.keys() - covered)]


def bridges(question: str, passages: Iterable[str], terms: Terms) -> list[str]:
    """Names beside the question's words in the passages that the question itself does not know: where to look next."""
    wanted = set(content(question, terms))
    near: dict[str, int] = {}
    for sentence in sentences(passages):
        held = wanted & set(terms(sentence))
        for match in _NAME.finditer(sentence) if held else ():
            name, own = match[0], set(terms(match[0]))
            # The first word of a sentence has a capital anyway.
            if own and not own & wanted and (match.start() or " " in name) and not _CALENDAR.fullmatch(name):
                near[name] = max(near.get(name, 0), len(held))
    return sorted(near, key=lambda name: (-near[name], -len(name.split()), name))


async def _without(question: str, passages: Sequence[str], asked: Sequence[str], terms: Terms) -> Subquestions:
    """What is not spoken of yet, asked of the names that stand beside what is."""
    missing = " ".join(uncovered(question, passages, terms))
    if not missing:
        return Subquestions(())
    questions = [f"{name} {missing}" for name in bridges(question, passages, terms)] or [missing]
    return Subquestions(tuple(question for question in questions if question not in asked)[:MOST])


def _render(question: str, passages: Sequence[str], asked: Sequence[str], terms: Terms) -> Mapping[str, object]:  # noqa: ARG001
    return {"question": question, "passages": "\n\n".join(passages), "asked": "\n".join(asked)}


SUBQUESTIONS = Task(
    "subquestions", prompt="subquestions", reply=Subquestions, without=_without, render=_render, max_output=512
)
