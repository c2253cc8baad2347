"""Entities and relations of numbered passages, and a second look for those that were missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task


@dataclass(frozen=True, slots=True)
class SaidEntity:
    """An entity that passage number `passage` names."""

    passage: int
    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class SaidRelation:
    """A relation that passage number `passage` states; `date` is empty where the text has none."""

    passage: int
    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    date: str = ""


@dataclass(frozen=True, slots=True)
class SaidFacts:
    entities: tuple[SaidEntity, ...] = ()
    relations: tuple[SaidRelation, ...] = ()


Numbered = Sequence[tuple[str, str]]
"""Titles and texts of passages; the first has number 1."""


def _render(passages: Numbered) -> Mapping[str, object]:
    return {"passages": "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(passages, start=1))}


def _render_more(passages: Numbered, known: str) -> Mapping[str, object]:
    return {**_render(passages), "known": known}


def _check(reply: SaidFacts, variables: Mapping[str, object]) -> str | None:
    """Every fact must belong to a passage that was shown."""
    passages = variables["passages"]
    shown = len(passages) if isinstance(passages, Sequence) else 0
    said = [*(e.passage for e in reply.entities), *(r.passage for r in reply.relations)]
    wrong = next((number for number in said if not 1 <= number <= shown), None)
    return None if wrong is None else f"there is no passage {wrong}; passages are numbered 1 to {shown}"


# Without a model, facts come from rules over the whole corpus, which is not a thing of one call.
FACTS = Task("facts", prompt="facts", reply=SaidFacts, max_output=6000, check=_check, render=_render)
FACTS_MORE = Task(
    "facts more", prompt="facts-more", reply=SaidFacts, max_output=6000, check=_check, render=_render_more
)
