"""What a sentence says of a life: birth and death, spouse and parents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragways.evaluation.questions.names import date_at, name_at, only_name_at, place_at
from ragways.evaluation.questions.relations import TABLE, Wording

_BORN = re.compile(r"\bborn\b")
_DASH = re.compile(r"\s*[–—-]\s*")
_PARENTS = re.compile(r"\b(?:son|daughter|child) of\s+")
_WIFE = re.compile(r",?\s+(?:and(?:\s+of)?|by)\s+his\s+(?:\w+\s+)?wife,?\s+")
_SPOUSE = re.compile(r"^\s*(?:is|was)\s+(?:the\s+|a\s+)?(?:\w+\s+)?(?:wife|husband|widow|consort)\s+of\s+")
_HE = re.compile(
    r"(?:King|Prince|Duke|Emperor|Count|Sultan|Sir|Lord|Baron|Archduke|Grand Duke|Tsar|Sheikh)\b|, (?:\d+\w\w )?"
    r"(?:Duke|Count|Earl|Landgrave|Margrave|Elector|Prince|King|Marquess|Viscount|Baron) "
)
_MARRIED = re.compile(r"^\s*(?:was\s+)?married\s+(?:to\s+)?")
_DIED = re.compile(r"^\s*died\s+")


@dataclass(frozen=True, slots=True)
class Said:
    """A relation and its value; `date` is when it was so, where the sentence says it beside the one who did it."""

    wording: Wording
    value: str
    date: str = ""


def life(inside: str, kind: str) -> Iterator[Said]:
    """`(born 3 December 1983 in Walvis Bay)`, `(12 April 1801 – 14 November 1842)`."""
    born = _BORN.search(inside)
    if born is not None:
        yield from _born(inside, born.end())
        return
    first = date_at(inside, 0)
    dash = _DASH.match(inside, first[1]) if first is not None else None
    last = date_at(inside, dash.end()) if dash is not None else None
    if first is None or last is None or inside[last[1] :].strip() or kind != "person":
        return
    yield Said(TABLE["birth date"], first[0])
    yield Said(TABLE["death date"], last[0])


def _born(text: str, at: int) -> Iterator[Said]:
    """Date and place in either order."""
    for _ in range(2):
        word = re.compile(r"\s*,?\s*(in|on|at)?\s*").match(text, at)
        at = word.end() if word else at
        found = date_at(text, at)
        if found is not None:
            yield Said(TABLE["birth date"], found[0])
        elif word is not None and word[1] in ("in", "at"):
            found = place_at(text, at)
            if found is not None:
                yield Said(TABLE["birth place"], found[0])
        if found is None:
            return
        at = found[1]


def person(rest: str) -> Iterator[Said]:
    if (born := re.match(r"\s*was\s+born\b", rest)) is not None:
        yield from _born(rest, born.end())
    if (died := _DIED.match(rest)) is not None:
        at = died.end()
        for _ in range(2):
            word = re.compile(r"\s*,?\s*(in|on|at)\s+").match(rest, at)
            found = date_at(rest, word.end()) if word else None
            if found is not None:
                yield Said(TABLE["death date"], found[0])
            elif word is not None and (found := place_at(rest, word.end())) is not None:
                yield Said(TABLE["death place"], found[0])
            if found is None:
                break
            at = found[1]
    if (spouse_of := _SPOUSE.match(rest)) is not None and (other := _parent(rest, spouse_of.end())) is not None:
        yield Said(TABLE["spouse"], other[0])
    if (married := _MARRIED.match(rest)) is not None and (spouse := only_name_at(rest, married.end())) is not None:
        yield Said(TABLE["spouse"], spouse[0])
    if (parents := _PARENTS.search(rest[:160])) is not None and (father := _parent(rest, parents.end())) is not None:
        wife = _WIFE.match(rest, father[1])
        mother = name_at(rest, wife.end()) if wife else None
        if mother is not None:
            yield Said(TABLE["father"], father[0])
            yield Said(TABLE["mother"], mother[0])
        elif wife is None and _HE.search(father[0]) and not re.match(r",?\s+and\b", rest[father[1] :]):
            yield Said(TABLE["father"], father[0])


def _parent(rest: str, at: int) -> tuple[str, int] | None:
    """`Henry II, Landgrave of Hesse,`: a name that a rank may follow."""
    found = name_at(rest, at)
    if found is None:
        return None
    comma = re.compile(r",\s*").match(rest, found[1])
    rank = name_at(rest, comma.end()) if comma else None
    return (rest[found[1] - len(found[0]) : rank[1]], rank[1]) if rank is not None else found
