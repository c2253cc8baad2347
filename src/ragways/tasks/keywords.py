"""Draw keywords from a question: the things it names, and the themes it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.question_entities import Names
from ragways.tasks.subquestions import Terms, content


@dataclass(frozen=True, slots=True)
class Keywords:
    """`low` are entities, `high` are themes and relations."""

    low: tuple[str, ...]
    high: tuple[str, ...]


async def _without(question: str, names: Names, terms: Terms) -> Keywords:
    """The names that the graph knows are low; the words that carry meaning besides them are high."""
    low = names(question)
    about = set(content(question, terms)) - {term for name in low for term in terms(name)}
    words = dict.fromkeys(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", question))
    return Keywords(tuple(low), tuple(word for word in words if set(terms(word)) & about))


def _render(question: str, names: Names, terms: Terms) -> Mapping[str, object]:  # noqa: ARG001
    return {"question": question}


KEYWORDS = Task("keywords", prompt="keywords", reply=Keywords, without=_without, render=_render, max_output=256)
