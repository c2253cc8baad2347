"""The templates of questions that are written without a model: how each relation is asked for, and each entry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragways.core import dates
from ragways.layers.graph.names import STOP

Sort = Literal["person", "place", "date", "value"]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a relation of `{x}` is asked for.

    `describe` names the value without saying it, for questions over several hops. `state` is what is true of `{x}`,
    with `{v}` for the value. `phrases` stand between both in a sentence. `cues` are beginnings of words:
    a text with none of them does not state the relation. Where one is empty, nothing that needs it is written.
    """

    name: str
    ask: str
    sort: Sort
    describe: str = ""
    state: str = ""
    phrases: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()


def _agent(name: str, past: str, *cues: str, done: str = "", also: tuple[str, ...] = ()) -> Wording:
    done = done or past
    phrases = tuple(f"{word} by" for word in (done, *also))
    return Wording(name, f"Who {past} {{x}}?", "person", f"the {name} of {{x}}", f"was {done} by {{v}}", phrases, cues)


def _relative(name: str, *cues: str) -> Wording:
    phrases = ("married to", "the husband of", "the wife of") if name == "spouse" else ()
    return Wording(name, f"Who was the {name} of {{x}}?", "person", f"the {name} of {{x}}", "", phrases, cues)


_DEATH = ("died", "death", "dead", "kill", "murder", "execut", "assassin", "drown", "fell")
_CHILD = ("son", "daughter", "born", "parent", "child")
_DONE = """
founded established opened built completed published released launched signed dissolved incorporated abolished automated
chartered commissioned created formed introduced discovered invented demolished
"""
_DATED = [form for word in _DONE.split() for form in (word, f"first {word}")] + ["first lit", "first performed"]
_RELATIONS = (
    _agent("director", "directed", "direct", "filmmak", "film by", "movie by"),
    _agent("author", "wrote", "wr", "author", "novel by", "book by", done="written", also=("novel", "book", "poem")),
    _agent("composer", "composed", "compos", "music", "score", also=("opera",)),
    _agent("producer", "produced", "produc"),
    _agent("performer", "performed", also=("song", "single", "album")),
    _agent("designer", "designed", "design", "architect", "built by"),
    _agent("builder", "built", also=("constructed",)),
    _agent("founder", "founded", "found", "establish", "creat", "start", "set up", also=("established",)),
    _agent("creator", "created", "creat", "invent", "develop", "found", "establish", "set up", "series by"),
    _agent("developer", "developed", "develop"),
    _agent("publisher", "published"),
    _agent("painter", "painted", "paint", also=("painting",)),
    _agent("discoverer", "discovered", "discover"),
    _agent("inventor", "invented", "invent"),
    _agent("editor", "edited", "edit"),
    _agent("owner", "owned"),
    _agent("operator", "operated"),
    _relative("father", "father", *_CHILD),
    _relative("mother", "mother", *_CHILD),
    _relative("spouse", "marri", "wife", "husband", "spous", "widow", "wed", "consort", "partner"),
    Wording("birth date", "When was {x} born?", "date", "", "was born {v}", ("born", "born in", "born on"),
             ("born", "birth")),
    Wording("birth place", "Where was {x} born?", "place", "the place where {x} was born", "was born in {v}",
             ("born in", "born at"), ("born", "birth", "native", "from")),
    Wording("death date", "When did {x} die?", "date", "", "died {v}", ("died in", "died on"), _DEATH),
    Wording("death place", "Where did {x} die?", "place", "the place where {x} died", "died in {v}",
             ("died in", "died at"), _DEATH),
    Wording("location", "Where is {x}?", "place", "the place where {x} is", "", ("located in", "situated in")),
    Wording("event place", "Where did {x} take place?", "place", "the place where {x} took place"),
    Wording("headquarters", "Where are the headquarters of {x}?", "place", "", "", ("based in", "headquartered in")),
    Wording("date", "When did {x} take place?", "date"),
    Wording("occupation", "What was the occupation of {x}?", "value"),
    *(Wording(f"{done} date", f"When was {{x}} {done}?", "date", "", f"was {done} {{v}}", (f"{done} in", f"{done} on"),
               (done.split()[-1][:5],)) for done in _DATED),
)  # fmt: skip
RELATIONS = {relation.name: relation for relation in _RELATIONS}
_FIELDS = {
    "born": "birth date", "date of birth": "birth date", "birthplace": "birth place", "place of birth": "birth place",
    "died": "death date", "date of death": "death date", "place of death": "death place", "wife": "spouse",
    "husband": "spouse", "married to": "spouse", "artist": "performer", "writer": "author", "architect": "designer",
    "music": "composer", "place": "event place", **{done: f"{done} date" for done in _DATED},
}  # fmt: skip
"""Other names of relations in boxes, tables and graphs."""
_HOLDERS = re.compile(r"(?:(island|river|lake)|city|town|village|country|county|district|region|province|state)")
_NUMBER = re.compile(r"([a-z ]{3,30}?)(?: (km2|km²|km|m|kg|tonnes))?(?: (\d{4}))?")
_SKIPPED_WORDS = "name type status image caption website logo map coordinates signature title term years ordo regnum"
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_OTHERWISE = frozenset(("nickname", "motto", "fate", "region", "genre"))
"""Fields that texts state without the word."""
SUMMARIES = ("What is known about {x}?", "Give an overview of {x}.", "Summarise what is known about {x}.")
LINKS = ("How are {a} and {b} connected?", "What does {a} have to do with {b}?")
ENTRIES = {
    "is": "What is {x}?", "described": "How is {x} described?", "default": "What is the default value of {x}?",
    "type": "Of what type is {x}?", "added": "In which version was {x} added?",
    "deprecated": "In which version was {x} deprecated?", "removed": "In which version was {x} removed?",
    "about": "What does “{page}” say about “{x}”?", "letters": "What does {x} stand for?",
}  # fmt: skip


def date_of(value: str) -> dates.PartialDate | None:
    """A value that is a date; a bare number only where it is a year of the last thousand."""
    date = dates.parse(value)
    return date if date is not None and (date.month or 1000 <= date.year < 2100) else None


def of_field(key: str, value: str, kind: str = "") -> Wording | None:
    """The relation that a field of a box, a column of a table or a predicate states.

    `kind` is the kind of the document about its value, if there is one.
    """
    name = " ".join(key.replace("_", " ").casefold().split())
    name = re.sub(r"\b(max|min)\b", r"\1imum", re.sub(r"^(\w+) (max|min)$", r"\2 \1", name))
    known = RELATIONS.get(_FIELDS.get(name, name))
    dated = date_of(value) is not None
    if known is not None or dated:
        return known if known is not None and (known.sort == "date") == dated else None
    holder = _HOLDERS.fullmatch(name)
    if holder is not None:
        on = "on" if holder[1] else "in"
        return Wording(name, f"{on.capitalize()} which {name} is {{x}}?", "place", f"the {name} {on} which {{x}} is")
    if len(value) < 2 and not value.isdigit():
        return None
    if value[:1].isdigit():
        return _measured(name)
    if not re.fullmatch(r"[a-z][a-z ]{2,30}(?<![^su]s)(?<!i)(?<!ed)", name) or set(name.split()) & (_SKIPPED | STOP):
        return None
    who = "Who" if kind == "person" else "What"
    sort: Sort = "person" if kind == "person" else "value"
    ask = f"{who} {'was' if kind == 'person' else 'is'} the {name} of {{x}}?"
    cues = (name.rpartition(" ")[2][:5],) if name not in _OTHERWISE else ()
    return Wording(name, ask, sort, f"the {name} of {{x}}" if kind else "", cues=cues)


def _measured(name: str) -> Wording | None:
    """`population 1981`, `area km2`, `pages`: what a number is asked for by."""
    match = _NUMBER.fullmatch(name)
    if match is None or match[1].endswith("ed") or set(match[1].split()) & _SKIPPED:
        return None
    what, unit, year = match.groups()
    if what.endswith("s"):
        ask = f"what number of {what} is given for {{x}}?"
    else:
        ask = f"what {'was' if year else 'is'} the {what} of {{x}}?"
    within = " and ".join(f"in {part}" for part in (year, unit and unit.replace("2", "²")) if part)
    # At the end they would be read with whatever `x` is described by.
    return Wording(name, f"{within}, {ask}"[0].upper() + f"{within}, {ask}"[1:] if within else f"W{ask[1:]}", "value")
