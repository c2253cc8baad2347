"""The relations that questions ask for, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sort = Literal["person", "place", "date", "thing", "value"]


@dataclass(frozen=True, slots=True)
class Wording:
    """`ask` and `describe` hold `{x}`; without `describe` the relation leads to nothing that could be asked about.

    `cues` are beginnings of words without which no text could state it: where none stands, nothing says it.
    """

    name: str
    ask: str
    sort: Sort
    describe: str = ""
    cues: tuple[str, ...] = ()
    state: str = ""
    """What is true of `{x}`, with `{v}` for the value and its preposition before it: "was born {in} {v}"."""

    @property
    def happened(self) -> str:
        """Of a date, what happened then: "was born"."""
        return self.state.partition(" {in}")[0]

    @property
    def parts(self) -> tuple[str, str]:
        """What is said, and how its value is joined to it: "was published", "by {v}"."""
        verb, _, rest = self.state.replace("{in} {v}", "{in}_{v}").rpartition(" ")
        if rest == "{v}":
            verb, _, preposition = verb.rpartition(" ")
            return verb, f"{preposition} {{v}}"
        return verb, rest.replace("_", " ")

    @property
    def first(self) -> str:
        """`was born first`; of what is said to be the first of its kind, `was first lit earlier`."""
        return f"{self.happened} {'earlier' if 'first' in self.happened else 'first'}"


def _agent(name: str, verb: str, noun: str, *cues: str) -> Wording:
    done = {"wrote": "written"}.get(verb, verb)
    return Wording(name, f"Who {verb} {{x}}?", "person", f"the {noun} of {{x}}", cues, f"was {done} by {{v}}")


_TABLE = (
    _agent("director", "directed", "director", "direct", "filmmak", "film by", "movie by"),
    _agent("writer", "wrote", "writer", "wr", "author", "screenplay", "script", "story by", "play by"),
    _agent("author", "wrote", "author", "wr", "author", "novel by", "book by", "story by", "play by", "poem by"),
    _agent("composer", "composed", "composer", "compos", "music", "score"),
    _agent("producer", "produced", "producer", "produc"),
    _agent("performer", "performed", "performer", "perform", "record", "sing", "sang", "by"),
    _agent("designer", "designed", "designer", "design", "architect", "built by"),
    _agent("architect", "designed", "architect", "design", "architect", "built by"),
    _agent("builder", "built", "builder", "buil", "construct", "yard"),
    _agent("founder", "founded", "founder", "found", "establish", "creat", "start", "set up"),
    _agent("creator", "created", "creator", "creat", "invent", "develop", "found", "establish", "set up", "series by"),
    _agent("developer", "developed", "developer", "develop"),
    _agent("publisher", "published", "publisher", "publish", "press", "print"),
    _agent("painter", "painted", "painter", "paint"),
    _agent("discoverer", "discovered", "discoverer", "discover"),
    _agent("inventor", "invented", "inventor", "invent"),
    _agent("editor", "edited", "editor", "edit"),
    _agent("owner", "owned", "owner", "own", "belong"),
    _agent("operator", "operated", "operator", "operat", "run"),
    _agent("illustrator", "illustrated", "illustrator", "illustrat"),
    Wording(
        "spouse",
        "Who was the spouse of {x}?",
        "person",
        "the spouse of {x}",
        ("marri", "wife", "husband", "spous", "widow", "wed", "consort", "partner"),
        "was married to {v}",
    ),
    Wording(
        "father",
        "Who was the father of {x}?",
        "person",
        "the father of {x}",
        ("father", "son", "daughter", "born", "parent", "child"),
    ),
    Wording(
        "mother",
        "Who was the mother of {x}?",
        "person",
        "the mother of {x}",
        ("mother", "son", "daughter", "born", "parent", "child"),
    ),
    Wording("birth date", "When was {x} born?", "date", "", ("born", "birth"), "was born {in} {v}"),
    Wording(
        "birth place",
        "Where was {x} born?",
        "place",
        "the place where {x} was born",
        ("born", "birth", "native", "from"),
        "was born in {v}",
    ),
    Wording(
        "death date",
        "When did {x} die?",
        "date",
        "",
        ("died", "death", "dead", "kill", "murder", "execut", "assassin", "drown", "fell"),
        "died {in} {v}",
    ),
    Wording(
        "death place",
        "Where did {x} die?",
        "place",
        "the place where {x} died",
        ("died", "death", "dead", "kill", "murder", "execut", "assassin", "drown", "fell"),
        "died in {v}",
    ),
    Wording(
        "location",
        "Where is {x}?",
        "place",
        "the place where {x} is",
        ("in", "on", "at", "near", "locat", "situat"),
        "is in {v}",
    ),
    Wording(
        "event place",
        "Where did {x} take place?",
        "place",
        "the place where {x} took place",
        ("place", "held", "happen"),
        "took place in {v}",
    ),
    Wording(
        "headquarters",
        "Where are the headquarters of {x}?",
        "place",
        "",
        ("headquarter", "based", "office", "seat", "hub"),
    ),
    Wording("date", "When did {x} take place?", "date", "", (), "took place {in} {v}"),
    Wording("occupation", "What was the occupation of {x}?", "value"),
    Wording("island", "On which island is {x}?", "place", "the island on which {x} lies", ("island",), "lies on {v}"),
    Wording("river", "On which river is {x}?", "place", "the river on which {x} lies", ("river",)),
    Wording("city", "In which city is {x}?", "place", "the city in which {x} is", ("city", "town", "in"), "is in {v}"),
    Wording("country", "In which country is {x}?", "place", "the country in which {x} is", ("country", "in")),
    Wording("known for", "What was {x} known for?", "value", "", ("known", "best")),
    Wording("other name", "By what other name is {x} known?", "value", "", ("known", "call")),
    Wording("fate", "What was the fate of {x}?", "value", "", ("fate",)),
    Wording("carries", "What does {x} carry?", "value", "", ("carr",)),
    Wording("crosses", "What does {x} cross?", "value", "", ("cross",)),
    Wording("termini", "What are the termini of {x}?", "value", "", ("termin",)),
    Wording("participants", "How many people took part in {x}?", "value", "", ("particip", "took part")),
    Wording("deaths", "How many deaths did {x} cause?", "value", "", ("death", "dead", "kill")),
)
TABLE = {wording.name: wording for wording in _TABLE}
