"""Facts that a sentence about a known subject states, by patterns strict enough to be right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragways.evaluation.questions.lives import Said, life, person
from ragways.evaluation.questions.names import date_at, only_name_at, place_at
from ragways.evaluation.questions.relations import TABLE
from ragways.evaluation.questions.vocabulary import BY_WORK
from ragways.evaluation.questions.wordings import agent, when, where

_BRACKET = re.compile(r"\s*\(([^()]{0,200})\)")
_ASIDE = re.compile(r"\s*,[^,.;]{0,120},(?=\s+(?:is|was|are|were)\b)")
_BE = re.compile(r"\s*\b(is|was|are|were)\s+")
_ADVERB = re.compile(r"(first|originally|officially|formally)\s+")
_HEAD = re.compile(r"(?:an?|the)\s+((?:[\w'’.\-]+\s+){0,6}?[\w'’\-]+)(?=\s|,|\.|$)")
_NOT_IN_HEAD_WORDS = "of in on by about based that which who for from to with whose"
_NOT_IN_HEAD = frozenset(_NOT_IN_HEAD_WORDS.split())
_PARTICIPLE = re.compile(r"\s*(?:,\s*)?(?:and\s+)?((?:\w+(?:,| and|, and) ){0,2}\w+)\s+(by|in|on|at)\s+")
_DEFINED = re.compile(
    r"\s*(is|was|are|were)\s+(an?|the|one of the)\s+"
    r"((?:[^.;:()\n]|(?:(?<=\b[A-Z])|(?<=\b[A-Z][rst]))\.(?= )){4,200})(?=[.;:(\n]|$)"
)


def said_of(rest: str, kind: str, lead: bool) -> Iterator[Said]:
    """What a sentence says after its subject; `kind` is the coarse type of the subject, "" where it is not known."""
    bracket = _BRACKET.match(rest)
    if bracket is not None:
        if lead:
            yield from life(bracket[1], kind)
        rest = rest[bracket.end() :]
    aside = _ASIDE.match(rest)
    rest = rest[aside.end() :] if aside is not None else rest
    if kind in ("person", ""):
        yield from person(rest)
    be = _BE.match(rest)
    if be is None:
        return
    adverb = _ADVERB.match(rest, be.end())
    at = adverb.end() if adverb else be.end()
    if (head := _HEAD.match(rest, at)) is not None:
        yield from _of_head(rest, head, be[1], kind)
    else:
        yield from _done(rest, at, be[1], adverb[1] if adverb else "", kind)


def definition(rest: str) -> tuple[str, str] | None:
    """`is a lawyer and politician.` → `is`, `lawyer and politician`: what the subject is, up to the first stop."""
    while (skipped := _BRACKET.match(rest) or _ASIDE.match(rest)) is not None:
        rest = rest[skipped.end() :]
    match = _DEFINED.match(rest)
    if match is None:
        return None
    said = re.split(r",? (?:who|which|that|whose)\b", match[3])[0]
    # `the strait that separates A from B`: without what follows it would say nothing.
    said = said if len(said.split()) > 2 else match[3]
    return match[1], f"{match[2]} {said}".strip(" ,")


def _of_head(rest: str, head: re.Match[str], be: str, kind: str) -> Iterator[Said]:
    """`is a 1954 drama film directed by A and written by B`, `is a town in C`, `is a song by D`."""
    # Word by word, until a participle or a preposition follows.
    for match in re.finditer(r"[\w'’.\-]+", rest[head.start(1) : head.start(1) + 90]):
        at = head.start(1) + match.end()
        if match.group().casefold() in _NOT_IN_HEAD:
            return
        noun = match.group().casefold()
        if rest[at : at + 4] == " by " and noun in BY_WORK:
            name = only_name_at(rest, at + 4)
            if name is not None:
                yield Said(TABLE[BY_WORK[noun]], name[0])
            return
        if rest[at : at + 4] == " in " and kind == "place":
            place = place_at(rest, at + 4)
            if place is not None:
                yield Said(TABLE["location"], place[0])
            return
        participle = _PARTICIPLE.match(rest, at)
        if participle is not None and _known(participle):
            yield from _done(rest, at, be, "", kind)
            return
        if rest[at : at + 1] not in (" ", "-", ""):
            return


def _known(match: re.Match[str]) -> bool:
    participle = re.split(r",? and |, ", match[1])[-1].casefold()
    return (agent(participle) if match[2] == "by" else when(participle) or where(participle)) is not None


def _done(rest: str, at: int, be: str, adverb: str, kind: str) -> Iterator[Said]:
    """`designed by A and opened in 1875`: participles in a row, each with who, when or where."""
    past = "is" if be == "is" else "are" if be == "are" else "was"
    for _ in range(4):
        match = _PARTICIPLE.match(rest, at)
        if match is None:
            return
        participles = [p.casefold() for p in re.split(r",? and |, ", match[1])]
        found = None
        if match[2] == "by":
            found = only_name_at(rest, match.end())
            dated = re.compile(r"\s+(?:in|on)\s+").match(rest, found[1]) if found is not None else None
            date = date_at(rest, dated.end()) if dated is not None else None
            for participle in participles:
                wording = agent(participle)
                if found is not None and wording is not None:
                    yield Said(wording, found[0], date[0] if date and len(participles) == 1 else "")
            if (
                date is not None
                and len(participles) == 1
                and (timed := when(participles[0], adverb, "was")) is not None
            ):
                yield Said(timed, date[0])
                found = date
        elif (found := date_at(rest, match.end())) is not None:
            if (timed := when(participles[-1], adverb, "was")) is not None:
                yield Said(timed, found[0])
        elif match[2] != "on" and (found := place_at(rest, match.end())) is not None:
            # Of works, `set in` and `released in` are many; of what stands or happens somewhere, there is one place.
            placed = where(participles[-1], past)
            if placed is not None and kind != "work":
                yield Said(placed, found[0])
        if found is None:
            return
        at, adverb = found[1], ""
