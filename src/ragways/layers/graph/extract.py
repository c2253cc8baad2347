"""Facts of one document as rows: names resolved within the document, and the kinds of things they are.

Pure, given the lexicon of an epoch: which entity of the corpus a name means is for the view to resolve. So where a run
has many documents, several processes extract them side by side (`Processes`), each of which runs this file.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ragways.core.children import Children, serve
from ragways.layers.graph.names import (
    coarse,
    decided,
    exclusive_kind,
    fold,
    hash_of,
    kind_of_name,
    letters_of,
    split_title,
    tokens,
    veto_hash,
)
from ragways.layers.graph.rules import (
    LONGEST_TEXT,
    Entity,
    PassageFacts,
    Relation,
    about,
    structure_facts,
    text_facts,
)
from ragways.layers.known_names import KnownNames
from ragways.store.database import connect
from ragways.store.source import Source, SourcePassage, Span
from ragways.store.store import Facts

RULES = "rules"
"""The way of facts that rules find; a model's and a file's are `model` and `import`."""
_STEPS = 8
"""Other names that lead on from one another, at most: a circle must end."""
_MILLION = 1_000_000

FactsOfChunk = list[tuple[str, PassageFacts]]
"""What was found in a chunk, and in which way."""
Into = tuple[str, str]
"""A name that another is taken for, and the reason."""


@dataclass(frozen=True)
class NamesApart:
    """Names that a person keeps apart."""

    hashes: frozenset[str] = frozenset()
    """Of pairs of names."""
    spellings: frozenset[str] = frozenset()
    """Of two spellings of one name, the later one in the order of letters: it is a name of its own."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> NamesApart:
        found = {(min(pair), max(pair)) for pair in pairs}
        alike = {pair for pair in found if fold(pair[0]) == fold(pair[1])}
        hashes = frozenset(veto_hash(*pair) for pair in found - alike)
        return cls(hashes, frozenset(other for one, other in alike if one != other))

    def allows(self, name: str, into: str) -> bool:
        """Whether a name may be taken for another; both as names are compared."""
        if not name or not into or name == into:
            return False
        return not self.hashes or veto_hash(name, into) not in self.hashes


NONE_APART = NamesApart()


# Names of a document


@dataclass(slots=True)
class NameUse:
    """How a document uses a name: as what, and under which spellings."""

    types: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, int] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    guesses: dict[str, int] = field(default_factory=dict)

    def add(self, entity: Entity) -> None:
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


class DocumentNames:
    """The names of one document by the form in which they are compared. `title` is the article's own."""

    def __init__(self, title: str, facts: Iterable[PassageFacts]) -> None:
        self.title = title
        self.own = fold(split_title(title)[0])
        self.names: dict[str, NameUse] = {}
        for each in facts:
            for entity in each.entities:
                self._use(fold(entity.name)).add(entity)
            for name in each.ends:
                if (folded := fold(name)) not in self.names:
                    self._use(folded).add(Entity(name))

    def _use(self, name: str) -> NameUse:
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = NameUse()
        return found

    @property
    def single(self) -> set[str]:
        """Names of one word."""
        return {name for name in self.names if " " not in name}

    @property
    def alone(self) -> set[str]:
        """Names of one word that are not the first word of another."""
        return self.single - {name.partition(" ")[0] for name in self.names if " " in name}

    def narrowed(self) -> DocumentNames:
        """Those of the names alone on which its short forms depend."""
        several = [name.split() for name in self.names if " " in name]
        short = self.single & {*(words[-1] for words in several), *self.own.split()}
        made = DocumentNames(self.title, ())
        made.names = {
            name: use
            for name, use in self.names.items()
            if name in short or name.rpartition(" ")[2] in short or name in (self.own, fold(self.title))
        }
        return made

    def resolved(self, known: KnownNames, apart: NamesApart = NONE_APART) -> dict[str, Into]:
        """What names of the document are taken for within it, and why: its own other names, and short forms."""
        found: dict[str, set[Into]] = defaultdict(set)
        for name, use in self.names.items():
            for alias in use.aliases:
                short = fold(alias)
                if apart.allows(short, name) and (short == self.own or not known.titled(short)):
                    acronym = any(alias.rstrip("s").replace(".", "") == letters_of(s) for s in use.spellings)
                    found[short].add((name, "acronym" if acronym else "alias"))
        for name, full in self.short_forms(known).items():
            # `Germany`, beside one `Nazi Germany`, is a name itself: it is not usual as a short form.
            into = fold(self.title) if full == self.own else full if known.usual(name) else ""
            if apart.allows(name, into):
                found[name].add((into, "short form"))
        return {name: min(into) for name, into in found.items()}

    def short_forms(self, known: KnownNames) -> dict[str, str]:
        """`Tamsett` is `Oriel Tamsett` in a document that has both, and calls nobody else so."""
        # `Python Memcached` is no person: elsewhere Python is something by itself.
        people = self._people_by_word(lambda word: known.alone(word) or known.common(word))
        found = {}
        for name, use in self.names.items():
            into = people.get(name, set()) if " " not in name and len(name) > 2 and name.isalpha() else set()
            if not into or known.titled(name) or known.common(name):
                continue
            if len(into) > 1 and self.own in into:
                into = {self.own}
            if len(into) == 1 and use.kind in ("", "person") and any(map(_is_called, use.spellings)):
                found[name] = next(iter(into))
        return found

    def _people_by_word(self, common: Callable[[str], bool]) -> dict[str, set[str]]:
        """Names of people by their last word; the article's own person by the first word too."""
        found: dict[str, set[str]] = defaultdict(set)
        own_use = self.names.get(fold(self.title), NameUse())
        for name, use in [*self.names.items(), (self.own, own_use)]:
            words = name.split()
            if not 2 <= len(words) <= 5 or not _NO_PERSON.isdisjoint(words) or not words[-1].isalpha():
                continue
            kind = use.kind
            if kind != "person" and (kind or not _may_be_person(words, use, common)):
                continue
            found[words[-1]].add(name)
            if name == self.own and kind == "person":
                found[words[0]].add(name)
        return found


_BEFORE_PLACES = """
new north south east west northern southern eastern western central greater great upper lower old inner outer saint st
san santa los las el la le fort mount mt lake port river cape gulf bay isle nazi imperial british french soviet
university college republic kingdom united american royal national international
"""
_PARTICLES = frozenset({"of", "the", "and", "for", "in", "at", "on", "de", "del"})
_NO_PERSON = frozenset(_BEFORE_PLACES.split()) | _PARTICLES


def _is_called(spelling: str) -> bool:
    """Whether a person is called so: `The Liang` are many, and `AVA` is an acronym."""
    return not spelling.startswith("The ") and not spelling.isupper()


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


# Rows


class _Mention(NamedTuple):
    chunk: int
    name: str
    kind: str
    meant: str
    spelling: str
    type: str
    way: str


def rule_facts(source: Source, known: KnownNames, *, text: bool = True) -> list[FactsOfChunk]:
    """What rules find, a chunk each; without `text`, in links, boxes and tables alone."""
    own = about(source)
    ways = [structure_facts(source, known, own), *([text_facts(source, known, own)] if text else [])]
    return [[(RULES, facts) for facts in each] for each in zip(*ways, strict=True)]


def extract(
    source: Source,
    lexicon: KnownNames,
    facts: Sequence[FactsOfChunk] | None = None,
    apart: NamesApart = NONE_APART,
    kind_of: Callable[[str], str] = exclusive_kind,
) -> Facts:
    """The rows of a document, by their table: of these facts, a list a chunk, or of what rules find. `kind_of` says
    what kind of thing a type means: things of one name and of two kinds are two.
    """
    if source.redirect:
        return {}
    facts = rule_facts(source, lexicon) if facts is None else facts
    return _Rows(source, lexicon, facts, apart, kind_of).tables()


class _Rows:
    """The facts of a document while they become rows."""

    def __init__(
        self,
        source: Source,
        lexicon: KnownNames,
        facts: Sequence[FactsOfChunk],
        apart: NamesApart,
        kind_of: Callable[[str], str],
    ) -> None:
        self._source, self._facts, self._apart, self._kind_of = source, facts, apart, kind_of
        names = DocumentNames(source.title, (found for chunk in facts for _, found in chunk))
        self._into = names.resolved(lexicon, apart)
        self._meant = {name: use.kind for name, use in names.names.items()}
        spellings = {spelling for use in names.names.values() for spelling in use.spellings}
        spellings.update(name for chunk in facts for _, found in chunk for name in found.ends)
        self._finals = {spelling: self._resolve(spelling) for spelling in spellings}
        self._kinds: dict[str, Counter[str]] = defaultdict(Counter)
        for use in names.names.values():
            for spelling in use.spellings:
                known = self._kinds[self._finals[spelling]]
                for type, count in use.types.items():
                    if kind := kind_of(type):
                        known[kind] += count

    def _resolve(self, spelling: str) -> str:
        """The name that a spelling means in this document."""
        here = fold(spelling)
        if spelling in self._apart.spellings:
            return f"{here}\x1f{spelling}"
        for _ in range(_STEPS):
            if here not in self._into:
                break
            here = self._into[here][0]
        return here

    def _kind(self, spelling: str, type: str) -> str:
        known = self._kinds[self._finals[spelling]]
        if (kind := self._kind_of(type)) or not known or (len(known) > 1 and self._kind_of is exclusive_kind):
            return kind
        return max(
            known, key=lambda kind: (known[kind], kind)
        )  # a model is sure of its types: the more frequent is meant

    def _mention(self, chunk: int, spelling: str, type: str, way: str) -> _Mention:
        name, meant = self._finals[spelling], self._meant[fold(spelling)]
        return _Mention(chunk, name, self._kind(spelling, type), meant, spelling, type, way)

    def tables(self) -> Facts:
        mentions: Counter[_Mention] = Counter()
        relations: list[tuple[object, ...]] = []
        descriptions: dict[tuple[str, str], int] = {}
        for chunk, found in enumerate(self._facts):
            for way, facts in found:
                types: dict[str, str] = {}
                for entity in facts.entities:
                    types.setdefault(entity.name, entity.type)
                    mentions[self._mention(chunk, entity.name, entity.type, way)] += entity.count
                    if entity.description:
                        descriptions.setdefault((self._finals[entity.name], entity.description), chunk)
                for name in facts.ends:
                    if name not in types:
                        types[name] = ""
                        mentions[self._mention(chunk, name, "", way)] += 1
                relations += self._relations(chunk, way, facts.relations, types)
        return {
            "mentions": [
                (m.chunk, m.name, hash_of(m.name), m.kind, m.meant, m.spelling, m.type, count, m.way)
                for m, count in mentions.items()
                if m.name
            ],
            "relations": relations,
            "other_names": sorted((name, other, reason) for other, (name, reason) in self._into.items()),
            "descriptions": [
                (chunk, name, hash_of(name), text) for (name, text), chunk in descriptions.items() if name
            ],
        }

    def _relations(
        self, chunk: int, way: str, relations: Iterable[Relation], types: Mapping[str, str]
    ) -> Iterator[tuple[object, ...]]:
        for relation in relations:
            subject, object = (
                (self._finals[name], self._kind(name, types[name])) for name in (relation.subject, relation.object)
            )
            if subject != object and subject[0] and object[0]:
                made = f"{way}:{relation.by}" if relation.by else way
                weight = round(relation.weight * _MILLION)
                yield (chunk, *subject, relation.predicate, *object, weight, relation.date,
                       *self._place(chunk, relation, way), made)  # fmt: skip

    def _place(self, chunk: int, relation: Relation, way: str) -> tuple[int, int, str]:
        """Where a description begins in the text, and its length; or the description itself. Where a model or a file
        has none, it is the sentence that states the relation.
        """
        text, start = relation.description, relation.start
        passage = self._source.passages[chunk]
        if start < 0 and text:
            start = self._source.text.find(text, passage.start, passage.end)
        elif not text and way != RULES and (span := _stating(self._source, passage, relation)):
            return span[0], span[1] - span[0], ""
        return (start, len(text), "") if text and start >= 0 else (-1, 0, text)


def _stating(source: Source, passage: SourcePassage, relation: Relation) -> Span | None:
    """The sentence of a passage that names most of a relation's ends, then of its other words: the subject is often a
    pronoun there. None where no sentence names an end.
    """
    ends = [set(tokens(name)) for name in (relation.subject, relation.object)]
    told = set(tokens(f"{relation.predicate.replace('_', ' ')} {relation.date}"))
    best, most = None, (0, 0, 0)
    for start, end in source.sentences:
        if passage.start <= start and end <= passage.end and end - start <= LONGEST_TEXT:
            words = set(tokens(source.text[start:end]))
            named = sum(bool(name) and name <= words for name in ends)
            worth = named, len(words & told), len(words & ends[1])
            if (best is None or worth > most) and words & (ends[0] | ends[1]):
                best, most = (start, end), worth
    return best


# In several processes

_MODULE = "ragways.layers.graph.extract"
_AT_ONCE, _CHARACTERS = 64, 200_000
"""Documents of a piece of work, and characters of their texts, at most."""


class Processes:
    """So many processes that extract documents by rules, with the lexicon in a file."""

    def __init__(self, lexicon: Path, epoch: str, apart: NamesApart, count: int) -> None:
        self.epoch = epoch
        self._given = [str(lexicon), sorted(apart.hashes), sorted(apart.spellings)]
        self._children = Children(_MODULE, count, _extracted)

    def extract(self, documents: Sequence[Source]) -> list[Facts]:
        work = ([*self._given, [*map(_as_json, each)]] for each in pieces(documents))
        found = (facts for piece in self._children.map(work) for facts in piece)
        return [{table: [tuple(row) for row in rows] for table, rows in facts.items()} for facts in found]

    def close(self) -> None:
        self._children.close()


def pieces(documents: Iterable[Source]) -> Iterator[list[Source]]:
    """Documents that are worth one call of another process."""
    some: list[Source] = []
    room = _CHARACTERS
    for document in documents:
        some.append(document)
        room -= len(document.text)
        if room <= 0 or len(some) == _AT_ONCE:
            yield some
            some, room = [], _CHARACTERS
    if some:
        yield some


def _as_json(source: Source) -> list[Any]:
    passages = [(passage.id, passage.start, passage.end) for passage in source.passages]
    return [source.number, source.key, source.title, source.text, passages, source.sentences, source.links,
            source.boxes, source.redirect]  # fmt: skip


def _source(piece: list[Any]) -> Source:
    number, key, title, text, passages, sentences, links, boxes, redirect = piece
    return Source(
        number,
        key,
        title,
        text,
        tuple(
            SourcePassage(id, at, start, end, title, text[start:end], "")
            for at, (id, start, end) in enumerate(passages)
        ),
        tuple((start, end) for start, end in sentences),
        tuple((start, end, target) for start, end, target in links),
        tuple((start, end, kind, tuple((name, value) for name, value in fields)) for start, end, kind, fields in boxes),
        redirect,
    )


def extract_all(lexicon: Path, apart: NamesApart, documents: Iterable[Source]) -> list[Facts]:
    """The rows of documents by rules, where there is nothing but a lexicon."""
    known = _known(lexicon, lexicon.stat().st_mtime_ns)
    return [extract(each, known, apart=apart) for each in documents]


@lru_cache(maxsize=1)
def _known(lexicon: Path, _modified: int) -> KnownNames:
    return KnownNames(connect(lexicon, write=False))


def _extracted(piece: list[Any]) -> list[Facts]:
    """What another process does with a piece of work."""
    lexicon, hashes, spellings, documents = piece
    return extract_all(Path(lexicon), NamesApart(frozenset(hashes), frozenset(spellings)), map(_source, documents))


if __name__ == "__main__":
    gc.disable()  # millions of small objects, none of them garbage
    serve(_extracted)
