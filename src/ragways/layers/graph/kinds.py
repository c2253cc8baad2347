"""What kind of thing a name means, by the words in it and around it: one table of cues a kind.

A cue is a guess. Guesses about a name are gathered over the corpus (`decided`), and where they differ there is none:
a wrong type is worse than no type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ragways.layers.graph.names import COARSE, coarse

_LAST_WORDS = {
    "organization": "inc inc. ltd ltd. llc corp corp. co. gmbh plc corporation company university college institute "
    "school academy bank party records recordings association society council committee ministry department agency "
    "foundation orchestra army navy airlines airways studios pictures entertainment press productions league "
    "federation union club f.c. fc a.f.c. cf police bureau commission congress parliament senate assembly court "
    "group holdings industries motors laboratories times news magazine partners ventures technologies systems "
    "organization organisation authority trust guild brigade regiment battalion squadron hospital museum",
    "place": "river county lake mountain mountains island islands bay city valley street road avenue bridge airport "
    "station park province district falls ocean sea peninsula square highway township village town hill hills "
    "desert forest canyon creek beach harbor harbour gulf strait region prefecture oblast boulevard coast plateau "
    "stadium arena cathedral castle palace cemetery",
    "event": "war olympics championship championships cup festival revolution earthquake election tournament "
    "massacre uprising rebellion invasion siege grand-prix marathon hurricane",
    "work": "ep soundtrack trilogy symphony",
}
_FIRST_WORDS = {
    "person": "mr. mrs. ms. dr. prof. rev. sir lady king queen prince princess president emperor empress pope captain "
    "capt. senator sen. governor gov. general gen. colonel col. lieutenant lt. sergeant sgt. judge justice bishop "
    "archbishop cardinal mayor professor saint",
    "place": "lake mount mt. fort cape port gulf isle river county",
    "event": "battle siege treaty operation hurricane",
    "organization": "university ministry department bank institute church",
}
_GIVEN = """
aaron adam alan albert alexander alfred alice amanda amy andrea andrew angela ann anna anne anthony antonio arthur
barbara benjamin bernard betty bill bob brandon brian bruce carl carlos carol caroline catherine charles chris
christian christina christine christopher claire claude daniel david deborah dennis diana donald dorothy douglas
edgar edward eleanor elizabeth ellen emily emma eric ernest eugene eva evelyn fernando francis francisco frank fred
frederick gary geoffrey george gerald giovanni giuseppe gordon gregory hannah hans harold harry heather heinrich helen
henri henry herbert howard hugh ian isaac jack jacob jacques james jane janet jason jean jeff jeffrey jennifer jeremy
jerry jesse jessica jim joan joe john jonathan jose joseph joshua josé juan judith julia julie karen karl katherine
kathleen keith kelly kenneth kevin kim larry laura lawrence leonard linda lisa louis louise lucy luis manuel marc
margaret maria marie mario mark martha martin mary matthew max melissa michael michelle miguel mike mohammed muhammad
nancy nathan nicholas nicole oliver oscar patricia patrick paul pedro peter philip philippe pierre rachel ralph
raymond rebecca richard robert roger ronald rose roy russell ruth ryan sam samuel sandra sarah scott sean sharon
simon sophie stephen steve steven stuart susan thomas tim timothy tom tony victor vincent vladimir walter warren
wayne wilhelm william
"""
_GIVEN_NAMES = frozenset(_GIVEN.split())
_BY_LAST = {word: kind for kind, words in _LAST_WORDS.items() for word in words.split()}
_BY_FIRST = {word: kind for kind, words in _FIRST_WORDS.items() for word in words.split()}
_INITIALS = re.compile(r"(?![NSEW]\. \w+$)(?:[^\W\d_]+ )?(?:[^\W\d_]\. ?)+[^\W\d_][\w'’-]+$")

_PEOPLE = r"wife|husband|son|daughter|father|mother|brother|sister|widow|uncle|aunt|nephew|niece|cousin"
_WORKS = "film movie album song single novel sitcom miniseries musical opera"
_BEFORE = (
    ("person", re.compile(rf"\b(?:married|(?:{_PEOPLE})(?:,| of)?|starring|(?:directed|written|composed) by) $")),
    ("place", re.compile(r"\b(?:born|died|lives|lived|located|situated|headquartered|buried|raised) (?:in|at|near) $")),
    ("place", re.compile(r"\b(?:city|town|village|state|county|province|district|island|capital|region|port) of $")),
    ("work", re.compile(rf"\b(?:{_WORKS.replace(' ', '|')})s?,? [\"“'`]*$")),
    ("organization", re.compile(r"\b(?:company|band|airline|newspaper|subsidiary of|acquired by|employed by) $")),
)
_LAST_OF_CUES = frozenset(
    f"{_PEOPLE.replace('|', ' ')} married starring of by in at near company band airline newspaper {_WORKS} "
    f"{_WORKS.replace(' ', 's ')}s".split()
)
"""What cues before a name end with: to look for one of these words first takes less time than to look for all cues."""
_SIGNS = re.compile(r"\W")
_AFTER = (
    ("person", re.compile(rf"(?: \((?:born|b\.)|, born| was born|['’]s (?:{_PEOPLE})\b| died (?:in|on|at)\b)")),
    ("person", re.compile(r" \((?:[^()]{0,40}; ?)?\d{1,2} [A-Z][a-z]+ \d{4} ?[-–]|(?: (?:himself|herself)\b)")),
    ("place", re.compile(r", (?:Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Florida|Georgia|"
                         r"Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maryland|Massachusetts|Michigan|Minnesota|"
                         r"Missouri|Montana|Nebraska|Nevada|New (?:Jersey|Mexico|York)|(?:North|South) [CD]a\w+|Ohio|"
                         r"Oklahoma|Oregon|Pennsylvania|Tennessee|Texas|Utah|Virginia|Washington|Wisconsin)\b")),
)  # fmt: skip
_WHO = re.compile(
    r"(?:, (?:an?|the) | (?:is|was|are|were) (?:an?|the) )((?:[\w'’-]+ ){0,5}?)([a-z-]+)"
    r"(?=[,.;)]| (?:of|in|on|at|by|from|who|which|that|for|with|and|born|based|located|known|directed|released)\b)"
)
_FIRST_OF_CUES = (", ", "'s", "’s", " (", " is ", " was ", " are ", " were ", " died ", " himself", " herself")
"""What cues behind a name begin with, likewise."""
_OF_BOX = (
    ("person", frozenset({"born", "birth_date", "birth_place", "death_date", "spouse", "occupation", "alma_mater"})),
    ("work", frozenset({"director", "starring", "author", "isbn", "screenplay", "cinematography", "producer"})),
    ("place", frozenset({"population", "population_total", "elevation", "area_km2", "coordinates", "country"})),
    ("organization", frozenset({"founded", "headquarters", "founder", "industry", "num_employees", "revenue"})),
)
"""Fields that only one kind of thing has."""


def type_of_box(kinds: Sequence[str], boxes: Iterable[tuple[int, int, str, tuple[tuple[str, str], ...]]]) -> str:
    """What a box says it describes, or its fields do."""
    for kind in kinds:
        word = kind.split()[-1].casefold()
        if coarse(word):
            return word
    keys = {key.casefold().replace(" ", "_") for *_, fields in boxes for key, _ in fields}
    return next((kind for kind, fields in _OF_BOX if len(keys & fields) > 1), "")


_FIELDS = {
    "person": "director producer writer screenplay starring author composer spouse founder mayor president leader "
    "editor presenter creator designer architect coach manager parents children father mother successor predecessor",
    "place": "birth_place death_place location country city state headquarters capital county region hometown origin",
    "organization": "label publisher distributor employer network studio team club party parent_company alma_mater",
}
_BY_FIELD = {field: kind for kind, fields in _FIELDS.items() for field in fields.split()}


def kind_of_field(field: str) -> str:
    """What the value of a box's field is: a `director` is a person, a `birth_place` a place."""
    return _BY_FIELD.get(field, "")


def kind_of_name(name: str) -> str:
    """What a name itself tells: `Dr.`, `J. R. R.`, `River`, `Inc.`; nothing where it tells nothing."""
    words = name.split()
    if len(words) < 2:
        return ""
    first, last = words[0].casefold(), words[-1].casefold()
    if "," in name:
        return ""
    found = _BY_LAST.get(last, "")
    if "of" in words or "the" in words:
        return found or _BY_FIRST.get(first, "").replace("person", "")
    if found or first in _BY_FIRST:
        return found or _BY_FIRST[first]
    if len(words) > 4 or not words[-1][:1].isupper():
        return ""
    inside = {word.casefold() for word in words[1:-1]} & _BY_LAST.keys()
    return "person" if is_given(first) or (_INITIALS.match(name) and not inside) else ""


def is_given(word: str) -> bool:
    """Whether a word is a usual given name."""
    return word.casefold() in _GIVEN_NAMES


def kind_around(text: str, start: int, end: int) -> str:
    """What the words beside a name tell: `born in X`, `the film X`, `X, an American actor`."""
    before, after = text[max(0, start - 40) : start], text[end : end + 90]
    if after.startswith(_FIRST_OF_CUES):
        who = _WHO.match(after)
        if who is not None and (kind := COARSE.get(who[2], "")):
            return kind
        for kind, cue in _AFTER:
            if cue.match(after):
                return kind
    word = before.rstrip(" \"“'`,").rpartition(" ")[2]
    if (word if word.isalnum() else _SIGNS.split(word)[-1]) in _LAST_OF_CUES:
        for kind, cue in _BEFORE:
            if cue.search(before):
                return kind
    # `director John Smith` and `the film X`; a name of one word behind such a noun may be part of a longer one.
    if not before.endswith(" ") or " " not in text[start:end]:
        return ""
    word = before.rstrip(" \"“'`").rpartition(" ")[2].casefold()
    return COARSE.get(word, "") if word in _TITLED else ""


_TITLED = frozenset(
    [
        "actor",
        "actress",
        "singer",
        "writer",
        "author",
        "poet",
        "novelist",
        "politician",
        "director",
        "producer",
        "screenwriter",
        "composer",
        "musician",
        "songwriter",
        "rapper",
        "guitarist",
        "drummer",
        "physicist",
        "chemist",
        "mathematician",
        "philosopher",
        "historian",
        "journalist",
        "economist",
        "architect",
        "footballer",
        "coach",
        "comedian",
        "painter",
        "king",
        "queen",
        "president",
        "senator",
        "governor",
        "mayor",
        "bishop",
    ]
)


def decided(guesses: Mapping[str, int]) -> str:
    """The kind that nearly all guesses name; nothing where they differ or there are none."""
    if len(guesses) < 2:
        return next(iter(guesses), "")
    best = max(guesses, key=lambda kind: (guesses[kind], kind))
    return best if guesses[best] >= 0.75 * sum(guesses.values()) else ""


def exclusive_kind(type: str) -> str:
    """Kinds that exclude each other. Places and organisations do not (a museum is both), and terms exclude nothing."""
    kind = coarse(type)
    return {"organization": "place", "term": ""}.get(kind, kind)
