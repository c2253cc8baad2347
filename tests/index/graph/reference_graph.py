"""The graph of a corpus made in the plainest way, all of it in memory and at once: what the tables must equal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ragways.core.types import content_hash
from ragways.index.graph.data import DocumentFacts, EntityRow, entity_id
from ragways.index.graph.facts import PassageFacts, Relation
from ragways.index.graph.kinds import decided, kind_of_name
from ragways.index.graph.names import coarse, fold, letters_of, plain_name, split_title
from ragways.index.graph.resolve import (
    EVERYWHERE,
    DocumentNames,
    Key,
    Merge,
    exclusive_kind,
    is_called,
    people_by_word,
    veto_hash,
)
from tests.index.graph.graph_data import GraphData, MentionRow, MergeRow, RelationRow

_DESCRIPTIONS = 3
_ALIASES = 50


def relation_id(subject: str, predicate: str, object: str) -> str:
    """The id of a relation by the ids of its ends."""
    mixed = _mixed(
        _mixed(_mixed(int(subject[-16:], 16)) + int(content_hash(predicate)[:16], 16)) + int(object[-16:], 16)
    )
    return f"relation:{mixed:016x}"


def _mixed(number: int) -> int:
    number %= 2**64
    number = (number ^ (number // 2**30)) * 13787848793156543929 % 2**64
    number = (number ^ (number // 2**27)) * 10723151780598845931 % 2**64
    return number ^ (number // 2**31)


@dataclass
class _Gathered:
    names: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    guesses: dict[str, int] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    ways: set[str] = field(default_factory=set)
    count: int = 0


def make_graph(
    chapters: Iterable[DocumentFacts],
    titles: dict[str, str],
    common: Callable[[str], bool],
    forbidden: Collection[str] = (),
) -> GraphData:
    """Resolve the names of all chapters and gather what is said of each entity.

    `titles`: folded titles, redirects too, with the title of the article they lead to. `common`: everyday words.
    `forbidden`: hashes of merges that must not be.
    """
    chapters = sorted(chapters, key=lambda chapter: chapter.number)
    documents = {chapter.number: _heard(chapter) for chapter in chapters}
    merges = proposals(documents, titles, common)
    shown = spellings(documents, titles)
    return _Builder(Resolver(documents, shown, merges, forbidden), common).build(chapters)


def _heard(chapter: DocumentFacts) -> DocumentNames:
    document = DocumentNames(chapter.title)
    for _, said in chapter.chunks:
        for _, facts in said:
            document.hear(facts.entities, [end for each in facts.relations for end in (each.subject, each.object)])
    return document


class _Builder:
    def __init__(self, resolver: Resolver, common: Callable[[str], bool]) -> None:
        self.resolver = resolver
        self.common = common
        self.nodes: dict[Key, _Gathered] = defaultdict(_Gathered)
        self.mentions: dict[tuple[Key, str], int] = {}
        self.about: set[tuple[Key, str]] = set()
        self.edges: dict[tuple[Key, str, Key], list[tuple[Relation, str, str]]] = defaultdict(list)

    def build(self, chapters: Sequence[DocumentFacts]) -> GraphData:
        for chapter in chapters:
            own = self.resolver.key(chapter.number, chapter.title) if fold(chapter.title) else None
            for chunk, said in chapter.chunks:
                for way, facts in said:
                    self.add(chapter.number, chunk, way, facts)
                if own is not None and (own, chunk) in self.mentions:
                    self.about.add((own, chunk))
        ids = {key: entity_id(key) for key in self.nodes}
        return GraphData(
            tuple(self.node(key, ids[key]) for key in sorted(self.nodes, key=ids.__getitem__)),
            tuple(sorted((self.edge(key, said, ids) for key, said in self.edges.items()), key=attrgetter("id"))),
            tuple(
                MentionRow(*row)
                for row in sorted(
                    (ids[key], chunk, count, (key, chunk) in self.about)
                    for (key, chunk), count in self.mentions.items()
                )
            ),
            tuple(
                MergeRow(id, name, into, reason, documents)
                for id, name, reason, into, documents in sorted(
                    (ids[r.key], r.name, r.reason, r.into, r.documents) for r in self.resolver.records() if r.key in ids
                )
            ),
            tuple(chunk for chapter in chapters for chunk, _ in chapter.chunks),
            frozenset(
                word
                for node in self.nodes.values()
                for name in node.names
                if " " not in (word := fold(name)) and self.common(word)
            ),
        )

    def add(self, document: int, chunk: str, way: str, facts: PassageFacts) -> None:
        keys: dict[str, Key] = {}
        counted: dict[Key, int] = {}
        for entity in facts.entities:
            key = self.resolver.key(document, entity.name, entity.type)
            keys.setdefault(entity.name, key)
            counted[key] = counted.get(key, 0) + entity.count
            node = self.nodes[key]
            if entity.type:
                node.types[entity.type] = node.types.get(entity.type, 0) + entity.count
            if entity.guess:
                node.guesses[entity.guess] = node.guesses.get(entity.guess, 0) + entity.count
            if entity.description:
                node.descriptions.setdefault(entity.description)
            self.name(document, key, entity.name, way, entity.count)
        for relation in facts.relations:
            ends = []
            for name in (relation.subject, relation.object):
                if name not in keys:
                    keys[name] = key = self.resolver.key(document, name)
                    counted[key] = counted.get(key, 0) + 1
                    self.name(document, key, name, way, 1)
                ends.append(keys[name])
            if ends[0] != ends[1]:
                made = f"{way}:{relation.by}" if relation.by else way
                self.edges[ends[0], relation.predicate, ends[1]].append((relation, chunk, made))
        for key, count in counted.items():
            self.mentions[key, chunk] = self.mentions.get((key, chunk), 0) + count

    def name(self, document: int, key: Key, name: str, way: str, count: int) -> None:
        node = self.nodes[key]
        node.names[name] = node.names.get(name, 0) + count
        node.count += count
        node.ways.add(way)
        self.resolver.record(document, name, key)

    def node(self, key: Key, id: str) -> EntityRow:
        found = self.nodes[key]
        main = min(found.names.items(), key=lambda item: (-item[1], item[0]))[0]
        name = self.resolver.spelling.get(key[0], main) if "\x1f" not in key[0] else main
        aliases = sorted((other for other in found.names if other != name), key=lambda a: (-found.names[a], a))
        type = min(found.types.items(), key=lambda item: (-item[1], item[0]))[0] if found.types else ""
        if not type and "rules" in found.ways:
            guesses = dict(found.guesses)
            for kind in filter(None, map(kind_of_name, found.names)):
                guesses[kind] = guesses.get(kind, 0) + 1
            type = decided(guesses)
        said = " ".join(list(found.descriptions)[:_DESCRIPTIONS])
        return EntityRow(id, name, type, said, tuple(aliases[:_ALIASES]), found.count, "+".join(sorted(found.ways)))

    def edge(
        self, key: tuple[Key, str, Key], said: list[tuple[Relation, str, str]], ids: dict[Key, str]
    ) -> RelationRow:
        subject, predicate, object = ids[key[0]], key[1], ids[key[2]]
        id = relation_id(subject, predicate, object)
        if len(said) == 1:  # as most are
            ((only, chunk, way),) = said
            weight = round(only.weight, 6)
            return RelationRow(id, subject, predicate, object, only.description, weight, only.date, way, (chunk,))
        descriptions = dict.fromkeys(relation.description for relation, _, _ in said if relation.description)
        return RelationRow(
            id,
            subject,
            predicate,
            object,
            " ".join(list(descriptions)[:_DESCRIPTIONS]),
            sum(round(relation.weight * 1e6) for relation, _, _ in said) / 1e6,
            next((relation.date for relation, _, _ in said if relation.date), ""),
            "+".join(sorted({way for _, _, way in said})),
            tuple(dict.fromkeys(chunk for _, chunk, _ in said)),
        )


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


_STEPS = 8
"""Merges that lead on from one another, at most: a circle must end."""


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
