"""Which names mean the same, each with its reason, and which entity a name means."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ragways.core.types import content_hash
from ragways.index.graph.facts import Entity
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import coarse, fold, split_title
from ragways.index.layer import BuildContext


@dataclass(slots=True)
class NameUse:
    """How a document, or the corpus, uses a name: how often, as what, and under which spellings."""

    count: int = 0
    types: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, int] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    guesses: dict[str, int] = field(default_factory=dict)

    def add(self, entity: Entity) -> None:
        self.count += entity.count
        self.spellings[entity.name] = self.spellings.get(entity.name, 0) + entity.count
        if entity.type:
            self.types[entity.type] = self.types.get(entity.type, 0) + entity.count
        if entity.guess:
            self.guesses[entity.guess] = self.guesses.get(entity.guess, 0) + entity.count
        self.aliases.update(entity.aliases)

    @property
    def kind(self) -> str:
        """What kind of thing it is, as far as its types, its own words or the words around it tell."""
        if self.types:
            return coarse(max(self.types, key=lambda type: (self.types[type], type)))
        return decided(self.guesses) or kind_of_name(max(self.spellings, key=len, default=""))


@dataclass
class DocumentNames:
    """The names of one document by the form in which they are compared. `title` is the article's own."""

    title: str
    names: dict[str, NameUse] = field(default_factory=dict)

    def hear(self, entities: Iterable[Entity], ends: Iterable[str]) -> None:
        """Take up the entities of a chunk, and the names at the ends of its relations."""
        for entity in entities:
            self._use(entity.name).add(entity)
        for name in ends:
            if fold(name) not in self.names:
                self._use(name).add(Entity(name))

    def packed(self) -> bytes:
        """For `unpacked`."""
        names = {
            name: (use.count, use.types, use.spellings, [*use.aliases], use.guesses) for name, use in self.names.items()
        }
        return json.dumps([self.title, names]).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> DocumentNames:
        title, names = json.loads(packed)
        uses = {
            name: NameUse(count, types, spellings, {*aliases}, guesses)
            for name, (count, types, spellings, aliases, guesses) in names.items()
        }
        return cls(title, uses)

    def _use(self, name: str) -> NameUse:
        key = fold(name)
        found = self.names.get(key)
        if found is None:
            found = self.names[key] = NameUse()
        return found


EVERYWHERE = -1
"""In place of a document's number: the merge holds in the whole corpus."""

_BEFORE_PLACES = """
new north south east west northern southern eastern western central greater great upper lower old inner outer saint st
san santa los las el la le fort mount mt lake port river cape gulf bay isle nazi imperial british french soviet
university college republic kingdom united american royal national international
"""
_NO_SURNAME = frozenset(_BEFORE_PLACES.split())
_PARTICLES = frozenset({"of", "the", "and", "for", "in", "at", "on", "de", "del"})
_NO_PERSON = _NO_SURNAME | _PARTICLES


@dataclass(frozen=True, slots=True, order=True)
class Merge:
    """`name` means `into`, in one document or everywhere. Both as they are compared."""

    document: int
    name: str
    into: str
    reason: str


def veto_hash(name: str, other: str) -> str:
    """The name under which a veto of this merge is kept, whichever way round it is written."""
    one, two = fold(name), fold(other)
    if one == two:
        one, two = name.strip(), other.strip()
    return content_hash(*sorted((one, two)))


def is_called(spelling: str) -> bool:
    """Whether a person is called so: `The Liang` are many, and `AVA` is an acronym."""
    return not spelling.startswith("The ") and not spelling.isupper()


def people_by_word(document: DocumentNames, common: Callable[[str], bool]) -> dict[str, set[str]]:
    """Names of a document's people by their last word; the article's own person by the first word too."""
    found: dict[str, set[str]] = defaultdict(set)
    own = fold(split_title(document.title)[0])
    for name, use in [*document.names.items(), (own, document.names.get(fold(document.title), NameUse()))]:
        words = name.split()
        if not 2 <= len(words) <= 5 or not _NO_PERSON.isdisjoint(words) or not words[-1].isalpha():
            continue
        kind = use.kind
        if kind != "person" and (kind or not _may_be_person(words, use, common)):
            continue
        found[words[-1]].add(name)
        if name == own and kind == "person":
            found[words[0]].add(name)
    return found


def _may_be_person(words: list[str], use: NameUse, common: Callable[[str], bool]) -> bool:
    """Whether nothing speaks against a name being a person's, and all of its words are names."""
    if any("," in spelling or "(" in spelling or any(map(str.isdigit, spelling)) for spelling in use.spellings):
        return False
    written = max(use.spellings, key=len, default="").split()
    return (
        len(words) <= 3
        and not any(word.isupper() and len(word) > 1 for word in written)
        and not any(map(common, words[:-1]))
    )


_CROWD = 30
"""Names that share a word are compared with each other only where the word is rarer than this."""


def alike(counts: Mapping[str, int], titles: Collection[str], minimum: float) -> list[tuple[str, str, float]]:
    """Pairs of names that share a rare word and most of their letters: the less used one first, then its like."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        for word in set(name.split()):
            if len(word) > 3:
                sharing[word].append(name)
    pairs: dict[tuple[str, str], float] = {}
    for names in sharing.values():
        if len(names) <= _CROWD:
            for at, one in enumerate(names):
                for other in names[at + 1 :]:
                    if (one, other) not in pairs and _comparable(one, other, titles):
                        pairs[one, other] = SequenceMatcher(None, one, other, autojunk=False).ratio()
    ordered = (sorted(pair, key=lambda name: (name in titles, counts[name], name)) for pair in sorted(pairs))
    found = [(few, many, pairs[min(few, many), max(few, many)]) for few, many in ordered]
    return [(few, many, ratio) for few, many, ratio in found if ratio >= minimum]


def _comparable(one: str, other: str, titles: Collection[str]) -> bool:
    """Two articles are two things, and so are names that differ in a number."""
    if one in titles and other in titles:
        return False
    return abs(len(one) - len(other)) <= 4 and _digits(one) == _digits(other)


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())


def near_merges(
    context: BuildContext,
    counts: Mapping[str, int],
    titles: Collection[str],
    minimum: float,
    cosine: float,
    asked: set[str],
) -> Iterator[Merge]:
    """Merges of pairs that both measures call near. `asked` takes up the names whose vectors are looked at."""
    from ragways.index.packed import unpack

    pairs = alike(counts, titles, minimum)
    asked |= {name for few, many, _ in pairs for name in (few, many)}
    hashes = near_hashes(asked)
    known = context.work_cache.vectors(context.store.meta().get("embedder", ""), list(hashes))
    vectors = {hashes[hash]: unpack(data) for hash, data in known.items()}
    for few, many, ratio in pairs:
        if few in vectors and many in vectors:
            meaning = float(vectors[few] @ vectors[many])
            if meaning >= cosine:
                yield Merge(EVERYWHERE, few, many, f"near name ({ratio:.2f} by letters, {meaning:.2f} by meaning)")


def near_hashes(names: Iterable[str]) -> dict[str, str]:
    """Names by the hash under which their vector is kept."""
    return {content_hash(name): name for name in names}


Key = tuple[str, str]
"""A name as it is compared, and its kind where two kinds of thing have that name."""


def exclusive_kind(type: str) -> str:
    """Kinds that exclude each other. Places and organisations do not (a museum is both), and terms exclude nothing."""
    kind = coarse(type)
    return {"organization": "place", "term": ""}.get(kind, kind)
