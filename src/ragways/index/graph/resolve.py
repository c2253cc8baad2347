"""Which names mean the same, each with its reason, and which entity a name means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ragways.core.types import content_hash
from ragways.index.graph.facts import Entity, PassageFacts
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import coarse, fold, letters_of, plain_name, split_title
from ragways.index.layer import BuildContext


@dataclass
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

    def hear(self, facts: PassageFacts) -> None:
        for entity in facts.entities:
            self._use(entity.name).add(entity)
        for relation in facts.relations:
            for name in (relation.subject, relation.object):
                if fold(name) not in self.names:
                    self._use(name).add(Entity(name))

    def _use(self, name: str) -> NameUse:
        key = fold(name)
        if key not in self.names:
            self.names[key] = NameUse()
        return self.names[key]


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


def proposals(
    documents: Mapping[int, DocumentNames], titles: Mapping[str, str], common: Callable[[str], bool]
) -> list[Merge]:
    """Every merge that the names suggest.

    `titles`: articles and redirects, folded, with the title they lead to. `common`: whether a word is an everyday one.
    """
    found = {
        *(Merge(EVERYWHERE, name, fold(title), "redirect") for name, title in titles.items()),
        *_bases(documents, titles),
        *_aliases(documents, titles),
        *_short_forms(documents, titles, common),
    }
    useful = (merge for merge in found if merge.name != merge.into and merge.name and merge.into)
    return sorted(useful, key=lambda merge: (merge.document, merge.name, merge.into, merge.reason))


def _bases(documents: Mapping[int, DocumentNames], titles: Mapping[str, str]) -> Iterator[Merge]:
    """`Grey Petrel` is `Grey Petrel (ship)`, where no other article has that name and the document means that kind of
    thing; `Rainy River` is `Rainy River (Michigan)` in documents that name Michigan.
    """
    articles: dict[str, set[str]] = defaultdict(set)
    for title in set(titles.values()):
        base = fold(plain_name(title))
        if base and base not in titles and not base.isdecimal():
            articles[base].add(title)
    only = {base: next(iter(full)) for base, full in articles.items() if len(full) == 1}
    for number, document in documents.items():
        for base in document.names.keys() & only.keys():
            ending = split_title(only[base])[1]
            kind, meant = coarse(ending), document.names[base].kind
            told = meant == kind if meant and kind else bool(kind) and " " in base
            if told or fold(ending) in document.names:
                yield Merge(number, base, fold(only[base]), "the only article of this name")


def _aliases(documents: Mapping[int, DocumentNames], titles: Mapping[str, str]) -> Iterator[Merge]:
    """Other names that a document gives; an acronym holds everywhere, where no document means something else by it."""
    acronyms: dict[str, set[str]] = defaultdict(set)
    for number, document in documents.items():
        for name, use in document.names.items():
            for alias in use.aliases:
                short = fold(alias)
                if short in titles and short != fold(split_title(document.title)[0]):
                    continue
                acronym = any(alias.rstrip("s").replace(".", "") == letters_of(s) for s in use.spellings)
                yield Merge(number, short, name, "acronym" if acronym else "alias")
                if acronym:
                    acronyms[short].add(name)
    for short, names in acronyms.items():
        if len(names) == 1 and len(short) > 1:
            yield Merge(EVERYWHERE, short, next(iter(names)), "acronym")


def _short_forms(
    documents: Mapping[int, DocumentNames], titles: Mapping[str, str], common: Callable[[str], bool]
) -> Iterator[Merge]:
    """`Tamsett` is `Oriel Tamsett` in a document that says both, and calls nobody else so.

    A word that stands alone in most documents (`Germany`, beside one `Nazi Germany`) is a name of its own.
    """
    inside: dict[str, dict[int, str]] = defaultdict(dict)
    uses: Counter[str] = Counter()
    # `Python Memcached` is no person: elsewhere Python is something by itself.
    alone = set(titles)
    for document in documents.values():
        firsts = {name.partition(" ")[0] for name in document.names if " " in name}
        alone |= {name for name in document.names if " " not in name} - firsts
    for number, document in documents.items():
        long = people_by_word(document, lambda word: word in alone or common(word))
        for name, use in document.names.items():
            if " " in name or len(name) < 3 or name in titles or not name.isalpha() or common(name):
                continue
            uses[name] += 1
            into = long.get(name, set())
            if len(into) > 1 and (title := fold(split_title(document.title)[0])) in into:
                into = {title}
            if len(into) == 1 and use.kind in ("", "person") and any(map(is_called, use.spellings)):
                inside[name][number] = next(iter(into))
    own = {number: fold(split_title(document.title)[0]) for number, document in documents.items()}
    for name, places in inside.items():
        usual = 2 * len(places) >= uses[name]
        for number, full in places.items():
            if full == own[number]:
                yield Merge(number, name, fold(documents[number].title), "short form")
            elif usual:
                yield Merge(number, name, full, "short form")


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
        if not _is_person(words, use, common):
            continue
        found[words[-1]].add(name)
        if name == own and use.kind == "person":
            found[words[0]].add(name)
    return found


def _is_person(words: list[str], use: NameUse, common: Callable[[str], bool]) -> bool:
    """Whether a name is a person's: it is known, or nothing speaks against it and all of its words are names."""
    if use.kind:
        return use.kind == "person"
    if any("," in spelling or "(" in spelling or any(c.isdigit() for c in spelling) for spelling in use.spellings):
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


_STEPS = 8
"""Merges that lead on from one another, at most: a circle must end."""

Key = tuple[str, str]
"""A name as it is compared, and its kind where two kinds of thing have that name."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A merge as a person reads it: `name` was taken for `into`."""

    key: Key
    name: str
    into: str
    reason: str
    documents: int


class Resolver:
    """`key(document, name, type)` is the entity that a document means by a name."""

    def __init__(
        self,
        documents: Mapping[int, DocumentNames],
        spelling: Mapping[str, str],
        merges: Iterable[Merge],
        forbidden: Collection[str],
    ) -> None:
        self._merges: dict[tuple[int, str], Merge] = {}
        for merge in merges:
            if not forbidden or veto_hash(merge.name, merge.into) not in forbidden:
                self._merges.setdefault((merge.document, merge.name), merge)
        self._own: set[str] = set()
        self.spelling = spelling
        if forbidden:
            self._split_spellings(documents, forbidden)
        self._kinds: dict[str, set[str]] = defaultdict(set)
        self._known: dict[tuple[int, str], set[str]] = defaultdict(set)
        self.recorded: dict[tuple[Key, str, str], Counter[str]] = defaultdict(Counter)
        self._see_kinds(documents)

    def _split_spellings(self, documents: Mapping[int, DocumentNames], forbidden: Collection[str]) -> None:
        """Spellings that fold to one name and still were told apart."""
        for document in documents.values():
            for name, use in document.names.items():
                for spelling in use.spellings:
                    main = self.spelling[name]
                    if spelling != main and veto_hash(spelling, main) in forbidden:
                        self._own.add(spelling)

    def _see_kinds(self, documents: Mapping[int, DocumentNames]) -> None:
        for number, document in documents.items():
            for use in document.names.values():
                if not use.types:
                    continue
                kinds = {exclusive_kind(type) for type in use.types} - {""}
                if kinds:
                    final = self._final(number, next(iter(use.spellings)))
                    self._kinds[final] |= kinds
                    self._known[number, final] |= kinds

    def key(self, document: int, name: str, type: str = "") -> Key:
        final = self._final(document, name)
        kinds = self._kinds.get(final, set())
        if len(kinds) < 2:
            return final, ""
        kind = exclusive_kind(type)
        if kind in kinds:
            return final, kind
        here = self._known.get((document, final), set())
        return final, next(iter(here)) if len(here) == 1 else ""

    def _final(self, document: int, name: str) -> str:
        here = fold(name) if name not in self._own else f"{fold(name)}\x1f{name}"
        for _ in range(_STEPS):
            merge = self._merges.get((document, here)) or self._merges.get((EVERYWHERE, here))
            if merge is None:
                break
            here = merge.into
        return here

    def record(self, document: int, name: str, key: Key) -> None:
        """Note the merges that led from a name to its entity, for a person to see and undo."""
        main = self.spelling.get(key[0], name)
        if name in (main, ""):
            return
        here = fold(name)
        merge = self._merges.get((document, here)) or self._merges.get((EVERYWHERE, here))
        if merge is not None:
            self.recorded[key, name, self.spelling.get(merge.into, main)][merge.reason] += 1
        elif name.casefold() != main.casefold():
            self.recorded[key, name, main]["same name"] += 1

    def records(self) -> list[Recorded]:
        return sorted(
            (
                Recorded(key, name, into, reason, count)
                for (key, name, into), reasons in self.recorded.items()
                for reason, count in reasons.items()
            ),
            key=lambda r: (r.key, r.name, r.reason),
        )


def spellings(documents: Mapping[int, DocumentNames], titles: Mapping[str, str]) -> dict[str, str]:
    """How each name is shown: as the article writes it, else as most of the corpus does."""
    counted: dict[str, dict[str, int]] = {}
    for document in documents.values():
        for name, use in document.names.items():
            known = counted.setdefault(name, {})
            for spelling, count in use.spellings.items():
                known[spelling] = known.get(spelling, 0) + count
    shown = {name: min(found.items(), key=lambda item: (-item[1], item[0]))[0] for name, found in counted.items()}
    return shown | {name: title for name, title in titles.items() if fold(title) == name}


def exclusive_kind(type: str) -> str:
    """Kinds that exclude each other. Places and organisations do not (a museum is both), and terms exclude nothing."""
    kind = coarse(type)
    return {"organization": "place", "term": ""}.get(kind, kind)
