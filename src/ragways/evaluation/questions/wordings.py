"""How a relation is asked for, and how what it leads to is described: the grammar of questions made without a model.

Three sorts of relations are known: those of the table, roles (`designer`, "Who was the designer of X?") and participles
(`opened in`, "When was X opened?"). Fields of infoboxes that are none of these are asked for by their own name.
"""

from __future__ import annotations

import re

from ragways.evaluation.questions.relations import TABLE, Wording
from ragways.evaluation.questions.vocabulary import (
    AGENTS,
    DATED,
    OTHER_CUES,
    OTHER_NAMES,
    PARTIES,
    PEOPLE,
    PLACED,
    SKIPPED,
)

_PREDICATE = re.compile(r"(?:(?:is|was|were|are|been|first|originally|officially) )*(\w+) (by|in|on|at)")


def agent(participle: str) -> Wording | None:
    """Who did it: `directed`, as in "directed by"."""
    return TABLE.get(AGENTS.get(participle, ""))


def when(participle: str, adverb: str = "", be: str = "was") -> Wording | None:
    if participle == "born":
        return TABLE["birth date"]
    if participle not in DATED:
        return None
    done = f"{adverb} {participle}".strip()
    state = f"{be} {done} {{in}} {{v}}"
    return Wording(f"{done} date", f"When {be} {{x}} {done}?", "date", "", (stem(participle),), state)


def where(participle: str, be: str = "was") -> Wording | None:
    if participle == "born":
        return TABLE["birth place"]
    if participle in ("located", "situated"):
        return TABLE["location"]
    if participle not in PLACED:
        return None
    described = f"the place where {{x}} {be} {participle}"
    ask, state = f"Where {be} {{x}} {participle}?", f"{be} {participle} in {{v}}"
    cues = (stem(participle), *OTHER_CUES.get(participle, ()))
    return Wording(f"{participle} place", ask, "place", described, cues, state)


def field(key: str, value: str, value_is_date: bool) -> Wording | None:
    """A field of an infobox, or a column of a table."""
    name = " ".join(key.replace("_", " ").casefold().split())
    known = TABLE.get(OTHER_NAMES.get(name, name))
    if known is not None:
        return known if (known.sort == "date") == value_is_date else None
    if value_is_date:
        *adverb, last = name.split() or [""]
        return when(last, *adverb) if not adverb or adverb in (["first"], ["last"]) else None
    if name in SKIPPED or name.endswith(("ed", "ing")) or len(name) > 40:
        return None
    if name in PEOPLE or name in PARTIES:
        who = "Who" if name in PEOPLE else "Who or what"
        cues = (stem(name), *OTHER_CUES.get(name, ()))
        return Wording(name, f"{who} was the {name} of {{x}}?", "person", f"the {name} of {{x}}", cues)
    return _measured(name, value) if value[:1].isdigit() or value.startswith("about ") else _named(name)


def _measured(name: str, value: str) -> Wording | None:
    """`population 1981`, `area km2`, `pages`, `max depth`: what a number is asked for by."""
    name = re.sub(r"^(\w+) (min|max)$", r"\2 \1", name)
    name = re.sub(r"^max ", "maximum ", re.sub(r"^min ", "minimum ", name))
    match = re.fullmatch(r"([a-z ]+?)(?: (km2|km²|m|km|mm|tonnes))?(?: in)?(?: (\d{4}))?", name)
    if match is None:
        return None
    what, unit, year = match.groups()
    cues = (stem(what.split()[-1]),)
    if re.fullmatch(r"(?:about )?[\d,]+", value) and (what.endswith("s") or what == "staff"):
        many = f"how many {'members of staff' if what == 'staff' else what} {'did' if year else 'does'} {{x}} have?"
    else:
        asked = f" in {unit.replace('2', '²')}" if unit else ""
        many = f"what {'was' if year else 'is'} the {what} of {{x}}{asked}?"
    # The year comes first: at the end it would be read with whatever `x` is described by.
    return Wording(name, f"In {year}, {many}" if year else many[0].upper() + many[1:], "value", "", cues)


def _named(name: str) -> Wording | None:
    if not re.fullmatch(r"[a-z][a-z ]{2,30}", name) or (name.endswith("s") and not name.endswith(("ss", "us"))):
        return None
    cues = (stem(name.rsplit(maxsplit=1)[-1]), *OTHER_CUES.get(name, ()))
    return Wording(name, f"What is the {name} of {{x}}?", "value", f"the {name} of {{x}}", cues)


def predicate(words: str, value_is_date: bool) -> tuple[Wording, bool] | None:
    """A predicate of a graph, and whether its object is what it is about: `founder_of` says who founded the object."""
    said = " ".join(words.replace("_", " ").casefold().split())
    if said.endswith(" of"):
        role = said.removeprefix("is ").removeprefix("was ").removesuffix(" of")
        wording = TABLE.get(OTHER_NAMES.get(role, role))
        return (wording, True) if wording is not None and wording.sort == "person" else None
    match = _PREDICATE.fullmatch(said)
    if match is not None:
        participle, way = match.groups()
        found = agent(participle) if way == "by" else when(participle) if value_is_date else where(participle)
    else:
        found = TABLE.get(OTHER_NAMES.get(said, said))
        found = found if found is not None and (found.sort == "date") == value_is_date else None
    return None if found is None else (found, False)


def stem(word: str) -> str:
    """The beginning that forms of a word share, as far as it can be told without a dictionary."""
    return word[: max(3, len(word) - 3)] if len(word) > 4 else word
