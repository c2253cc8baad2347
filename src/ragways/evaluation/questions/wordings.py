"""How a relation is asked for, and how what it leads to is described: the grammar of questions made without a model.

Relations come from the predicates of the graph and from fields of infoboxes. Four sorts are known: those of the table,
participles (`opened in`, "When was X opened?"), places that hold others (`county`, "In which county is X?") and fields
that are none of these, which are asked for by their own name ("What is the motto of X?").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ragways.core import dates

Sort = Literal["person", "place", "date", "value"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for a relation.

    `ask` and `describe` hold `{x}`; without `describe` the relation leads to nothing that could be asked about. `cues`
    are beginnings of words with which texts state it. `state` is what is true of `{x}`, with `{v}` for the value and
    `{in}` for the preposition of a date: "was born {in} {v}".
    """

    name: str
    ask: str
    sort: Sort
    describe: str = ""
    cues: tuple[str, ...] = ()
    state: str = ""

    @property
    def happened(self) -> str:
        """Of a date, what happened then: "was born"."""
        return self.state.partition(" {in}")[0]

    @property
    def parts(self) -> tuple[str, str]:
        """The verb, and how its value is joined to it: "was published", "by {v}"."""
        verb, _, rest = self.state.replace("{in} {v}", "{in}_{v}").rpartition(" ")
        if rest == "{v}":
            verb, _, preposition = verb.rpartition(" ")
            return verb, f"{preposition} {{v}}"
        return verb, rest.replace("_", " ")

    @property
    def first(self) -> str:
        """`was born first`; of what is said to be the first of its kind, `was first lit earlier`."""
        return f"{self.happened} {'earlier' if 'first' in self.happened else 'first'}"


def _agent(name: str, verb: str, *cues: str, done: str = "") -> Wording:
    """Who did it; `done` is the participle where it differs from the past tense."""
    return Wording(name, f"Who {verb} {{x}}?", "person", f"the {name} of {{x}}", cues, f"was {done or verb} by {{v}}")


def _relative(name: str, *cues: str, state: str = "") -> Wording:
    return Wording(name, f"Who was the {name} of {{x}}?", "person", f"the {name} of {{x}}", cues, state)


_DEATH = ("died", "death", "dead", "kill", "murder", "execut", "assassin", "drown", "fell")
_CHILD = ("son", "daughter", "born", "parent", "child")
_TABLE = (
    _agent("director", "directed", "direct", "filmmak", "film by", "movie by"),
    _agent("writer", "wrote", "wr", "author", "screenplay", "script", "story by", "play by", done="written"),
    _agent("author", "wrote", "wr", "author", "novel by", "book by", "story by", "play by", "poem by", done="written"),
    _agent("composer", "composed", "compos", "music", "score"),
    _agent("producer", "produced", "produc"),
    _agent("performer", "performed", "perform", "record", "sing", "sang", "by"),
    _agent("designer", "designed", "design", "architect", "built by"),
    _agent("architect", "designed", "design", "architect", "built by"),
    _agent("builder", "built", "buil", "construct", "yard"),
    _agent("founder", "founded", "found", "establish", "creat", "start", "set up"),
    _agent("creator", "created", "creat", "invent", "develop", "found", "establish", "set up", "series by"),
    _agent("developer", "developed", "develop"),
    _agent("publisher", "published", "publish", "press", "print"),
    _agent("painter", "painted", "paint"),
    _agent("discoverer", "discovered", "discover"),
    _agent("inventor", "invented", "invent"),
    _agent("editor", "edited", "edit"),
    _agent("owner", "owned", "own", "belong"),
    _agent("operator", "operated", "operat", "run"),
    _agent("illustrator", "illustrated", "illustrat"),
    _relative("spouse", "marri", "wife", "husband", "spous", "widow", "wed", "consort", "partner",
              state="was married to {v}"),
    _relative("father", "father", *_CHILD),
    _relative("mother", "mother", *_CHILD),
    Wording("birth date", "When was {x} born?", "date", "", ("born", "birth"), "was born {in} {v}"),
    Wording("birth place", "Where was {x} born?", "place", "the place where {x} was born",
            ("born", "birth", "native", "from"), "was born in {v}"),
    Wording("death date", "When did {x} die?", "date", "", _DEATH, "died {in} {v}"),
    Wording("death place", "Where did {x} die?", "place", "the place where {x} died", _DEATH, "died in {v}"),
    Wording("location", "Where is {x}?", "place", "the place where {x} is",
            ("in", "on", "at", "near", "locat", "situat"), "is in {v}"),
    Wording("event place", "Where did {x} take place?", "place", "the place where {x} took place",
            ("place", "held", "happen"), "took place in {v}"),
    Wording("headquarters", "Where are the headquarters of {x}?", "place", "",
            ("headquarter", "based", "office", "seat", "hub")),
    Wording("date", "When did {x} take place?", "date", "", (), "took place {in} {v}"),
    Wording("occupation", "What was the occupation of {x}?", "value"),
    Wording("known for", "What was {x} known for?", "value", "", ("known", "best")),
)  # fmt: skip
TABLE = {wording.name: wording for wording in _TABLE}
LOOSE = frozenset({"performer", "builder", "publisher", "owner", "operator", "location", "event place", "date"})
"""Relations of the table that texts state in other words than their cues, too: an owner may be told by `of`."""

_OTHER_NAMES = {
    "born": "birth date", "date of birth": "birth date", "birthdate": "birth date", "birthplace": "birth place",
    "place of birth": "birth place", "died": "death date", "date of death": "death date", "deathplace": "death place",
    "place of death": "death place", "wife": "spouse", "husband": "spouse", "married": "spouse",
    "married to": "spouse", "artist": "performer", "screenwriter": "writer", "music": "composer",
    "located": "location", "located in": "location", "place": "event place",
}  # fmt: skip
_AGENTS = {
    "directed": "director", "written": "writer", "composed": "composer", "produced": "producer", "built": "builder",
    "performed": "performer", "recorded": "performer", "designed": "designer", "constructed": "builder",
    "founded": "founder", "established": "founder", "created": "creator", "developed": "developer",
    "published": "publisher", "painted": "painter", "discovered": "discoverer", "invented": "inventor",
    "edited": "editor", "owned": "owner", "operated": "operator", "illustrated": "illustrator", "sung": "performer",
    # Nouns before `by`: `is a song by`.
    "song": "performer", "single": "performer", "album": "performer", "novel": "author", "book": "author",
    "poem": "author", "play": "author", "painting": "painter", "opera": "composer", "film": "director",
}  # fmt: skip
_PLACED = {
    "based": ("headquarter", "hub", "home", "office", "from", "in"), "headquartered": ("based", "office", "in"),
    "buried": ("interr", "cemetery", "grave", "tomb"), "interred": ("bur", "cemetery", "grave", "tomb"),
    "educated": ("stud", "graduat", "attend", "school", "universit", "college", "degree"),
    "raised": ("grew", "brought up"), "held": (), "filmed": (), "founded": (), "built": (), "baptised": (),
    "crowned": (), "signed": (), "fought": (), "killed": (), "premiered": (), "launched": (), "established": (),
}  # fmt: skip
"""Participles that say where, each with other words for the same."""
_PARTICIPLE = re.compile(r"[a-z]{2,}ed|built|written|lit|sunk|held|sung|shot|won|sold|begun|drawn")
_ACTIVE = frozenset({"retired", "resigned", "died", "returned", "joined", "graduated", "married", "moved", "arrived"})
"""What somebody does: `When was X retired?` would not be asked."""
_BE = frozenset({"is", "was", "are", "were"})
_ADVERBS = frozenset({"first", "last", "originally", "officially", "formally"})
HOLDERS = {
    **dict.fromkeys(("island", "river", "lake", "street", "road"), "on"),
    **dict.fromkeys(("city", "town", "village", "country", "county", "district", "region", "province", "state",
                     "municipality", "parish", "borough", "continent"), "in"),
}  # fmt: skip
"""Places that hold others, with their preposition."""
_PREPOSITIONS = frozenset({"of", "in", "on", "by", "about", "that", "which", "who", "for", "from", "to", "with", "at"})
_SKIPPED_WORDS = "name type status image caption website logo map coordinates signature title term years"
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_CODES = frozenset({"years", "orig", "dst", "isbn", "regnum", "ordo", "familia", "phylum", "classis"})
"""Words of templates that nobody asks by."""
_PARTIES = frozenset({"patron", "sponsor", "employer", "manufacturer", "distributor", "successor", "predecessor"})
"""Roles of people and of bodies."""
_AGENT_NOUN = re.compile(r"[a-z ]*[a-z](?:er|or|ist|ian|man|woman)")
_NAME = re.compile(r"[^\W\d_a-z][\w'’.-]*(?: (?:of|the|de|von|van|&|[^\W\d_a-z][\w'’.-]*))+")
_UNITS = "km2|km²|m|km|mm|kg|tonnes"


def date_of(value: str) -> dates.PartialDate | None:
    """A value that is a date; a bare number only where it is a year of the last thousand."""
    date = dates.parse(value)
    return date if date is not None and (date.month or 1000 <= date.year < 2100) else None


def when(participle: str, adverb: str = "") -> Wording | None:
    """When it was done: `opened`, "When was X opened?"."""
    if participle == "born":
        return TABLE["birth date"]
    if not _PARTICIPLE.fullmatch(participle) or participle in _ACTIVE:
        return None
    done = f"{adverb} {participle}".strip()
    state = f"was {done} {{in}} {{v}}"
    return Wording(f"{done} date", f"When was {{x}} {done}?", "date", "", (stem(participle),), state)


def where(participle: str, be: str = "was") -> Wording | None:
    """Where it was done, of participles that say so."""
    if participle in ("born", "died"):
        return TABLE["birth place" if participle == "born" else "death place"]
    if participle in ("located", "situated"):
        return TABLE["location"]
    if participle not in _PLACED:
        return None
    be = be if be in ("is", "are") else "was"
    ask, described = f"Where {be} {{x}} {participle}?", f"the place where {{x}} {be} {participle}"
    cues = (stem(participle), *_PLACED[participle])
    return Wording(f"{participle} place", ask, "place", described, cues, f"{be} {participle} in {{v}}")


def of_predicate(predicate: str, value_is_date: bool) -> tuple[Wording, bool] | None:
    """The words for a predicate of the graph, and whether its object is what it is about: `founder_of` is."""
    words = predicate.replace("_", " ").casefold().split()
    be = words.pop(0) if words[:1] and words[0] in _BE else ""
    if words[-1:] == ["of"]:
        role = " ".join(words[:-1])
        wording = TABLE.get(_OTHER_NAMES.get(role, role))
        return (wording, True) if wording is not None and wording.sort == "person" else None
    wording = _of_verb(words, be, value_is_date)
    if wording is None:
        name = " ".join(words)
        wording = TABLE.get(_OTHER_NAMES.get(name, name))
    return (wording, False) if wording is not None and (wording.sort == "date") == value_is_date else None


def _of_verb(words: list[str], be: str, value_is_date: bool) -> Wording | None:
    """`was first published in`, `is lighthouse designed by`; without `was`, only what cannot be something active."""
    if len(words) < 2 or words[-1] not in ("by", "in", "on", "at") or _PREPOSITIONS & set(words[:-1]):
        return None
    *before, verb, way = words
    if way == "by":
        return TABLE.get(_AGENTS.get(verb, "")) if be or not before else None
    if not value_is_date:
        return where(verb, be) if not before or be else None
    if verb == "died":
        return TABLE["death date"] if not before else None
    if not be and verb != "born":
        return None
    return when(verb, before[-1] if before and before[-1] in _ADVERBS else "")


def of_field(key: str, value: str, kind: str = "") -> Wording | None:
    """The words for a field of an infobox or a column of a table; `kind` is the coarse type of its value, if known."""
    name = " ".join(key.replace("_", " ").casefold().split())
    if re.search(r"[a-z][A-Z]", key) or _CODES & set(name.split()):
        return None
    date = date_of(value)
    known = TABLE.get(_OTHER_NAMES.get(name, name))
    if known is not None:
        return known if (known.sort == "date") == (date is not None) else None
    if date is not None:
        *adverb, last = name.split() or [""]
        return when(last, *adverb) if not adverb or (len(adverb) == 1 and adverb[0] in _ADVERBS) else None
    if name in _SKIPPED or name.endswith(("ed", "ing")) or len(name) > 40:
        return None
    if value[:1].isdigit() or value.startswith("about "):
        return _measured(name, value)
    return _named(name, value, kind)


def _measured(name: str, value: str) -> Wording | None:
    """`population 1981`, `area km2`, `pages`, `max depth`: what a number is asked for by."""
    name = re.sub(r"^(\w+) (min|max)$", r"\2 \1", name)
    name = re.sub(r"^max ", "maximum ", re.sub(r"^min ", "minimum ", name))
    match = re.fullmatch(rf"([a-z ]+?)(?: ({_UNITS}))?(?: in)?(?: (\d{{4}}))?", name)
    if match is None:
        return None
    what, unit, year = match.groups()
    if re.fullmatch(r"(?:about )?[\d,]+", value) and what.endswith("s"):
        asked = f"how many {what} {'did' if year else 'does'} {{x}} have?"
    else:
        within = f" in {unit.replace('2', '²')}" if unit else ""
        asked = f"what {'was' if year else 'is'} the {what} of {{x}}{within}?"
    # The year comes first: at the end it would be read with whatever `x` is described by.
    text = f"In {year}, {asked}" if year else asked[0].upper() + asked[1:]
    return Wording(name, text, "value", "", (stem(what.split()[-1]),))


def _named(name: str, value: str, kind: str) -> Wording | None:
    if not re.fullmatch(r"[a-z][a-z ]{2,30}", name) or re.search(r"(?<![su])s$|i$", name):
        return None
    cues, described = (stem(name.rsplit(maxsplit=1)[-1]),), f"the {name} of {{x}}"
    if name in HOLDERS:
        holds = HOLDERS[name]
        ask = f"{holds.capitalize()} which {name} is {{x}}?"
        return Wording(name, ask, "place", f"the {name} {holds} which {{x}} is", (name,), f"is {holds} {{v}}")
    if name in _PARTIES or (kind in ("person", "") and _NAME.fullmatch(value) and _AGENT_NOUN.fullmatch(name)):
        who = "Who or what" if name in _PARTIES else "Who"
        return Wording(name, f"{who} was the {name} of {{x}}?", "person", described, cues)
    return Wording(name, f"What is the {name} of {{x}}?", "value", described, cues)


def stem(word: str) -> str:
    """The beginning that forms of a word share, as far as it can be told without a dictionary."""
    return word[: max(3, len(word) - 3)] if len(word) > 4 else word
