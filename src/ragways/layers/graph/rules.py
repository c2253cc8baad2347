"""Facts of passages: what they are, and those that rules read in sentences, links, boxes and tables of a document."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from ragways.core import dates
from ragways.layers.graph.names import (
    coarse,
    decided,
    fold,
    kind_around,
    kind_of_field,
    letters_of,
    plain_name,
    split_title,
    tokens,
    type_of_box,
    type_of_sentence,
)
from ragways.layers.graph.sentences import (
    NameMention,
    Topic,
    acronyms,
    capital_names,
    is_crowded,
    quantities,
    quoted_names,
    statements,
)
from ragways.layers.known_names import KnownNames
from ragways.store.source import Source, Span

# Facts of a passage: by rules, a model or a file

NAMED_WITH = "named_with"
"""The predicate of two names that stand together, where the text states no more of them."""
FACT_LIMIT = 400
"""Entities, and relations, that are read of one chunk: a reply that runs wild must not swamp the graph."""
LONGEST_NAME = 200
LONGEST_TEXT = 1000
ALIAS_LIMIT = 20


@dataclass(slots=True)
class Entity:
    """Something that has a name. `aliases` are other names the chunk has for it, `count` how often it is named, `guess`
    what kind of thing the words around it suggest, where its type is not known.
    """

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    count: int = 1
    guess: str = ""


class Relation(NamedTuple):
    """`subject predicate object`, both named as entities are. `by` is the rule that made it, where a rule did; `start`
    is where its description begins in the document's text, where that is known.
    """

    subject: str
    predicate: str
    object: str
    description: str = ""
    weight: float = 1.0
    date: str = ""
    by: str = ""
    start: int = -1


@dataclass(frozen=True, slots=True)
class PassageFacts:
    """Entities and relations of one chunk. A relation may name an entity that is not listed."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    @property
    def ends(self) -> Iterator[str]:
        """The names at the ends of its relations."""
        return (end for relation in self.relations for end in (relation.subject, relation.object))

    def __add__(self, other: PassageFacts) -> PassageFacts:
        return PassageFacts(self.entities + other.entities, self.relations + other.relations)

    def to_json(self) -> str:
        """Text for the cache: lists rather than objects, whose field names would be most of it."""
        entities = [[e.name, e.type, e.description, list(e.aliases), e.count] for e in self.entities]
        relations = [[r.subject, r.predicate, r.object, r.description, r.weight, r.date, r.by] for r in self.relations]
        return json.dumps({"entities": entities, "relations": relations}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> PassageFacts:
        """Read what `to_json` wrote, cut to bounds; ValueError when it is something else."""
        data = json.loads(text)
        try:
            entities = [
                Entity(str(name), str(type), str(text), tuple(map(str, aliases)), int(count))
                for name, type, text, aliases, count in data["entities"]
            ]
            relations = [
                Relation(str(s), str(p), str(o), str(text), float(weight), str(date), str(by))
                for s, p, o, text, weight, date, by in data["relations"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not stored facts: {error}") from None
        return bounded(PassageFacts(tuple(entities), tuple(relations)))


def bounded(facts: PassageFacts) -> PassageFacts:
    """The same facts without empty names, and none longer or more than anybody needs."""
    entities = (_entity(entity) for entity in facts.entities[:FACT_LIMIT])
    relations = (_relation(relation) for relation in facts.relations[:FACT_LIMIT])
    return PassageFacts(
        tuple(entity for entity in entities if entity.name),
        tuple(relation for relation in relations if relation.subject and relation.object),
    )


def _entity(entity: Entity) -> Entity:
    aliases = (_line(alias, LONGEST_NAME) for alias in entity.aliases[:ALIAS_LIMIT])
    return Entity(
        _line(entity.name, LONGEST_NAME),
        _line(entity.type, 60).casefold(),
        _line(entity.description, LONGEST_TEXT),
        tuple(alias for alias in aliases if alias),
        max(1, entity.count),
    )


def _relation(relation: Relation) -> Relation:
    weight = relation.weight if math.isfinite(relation.weight) else 1.0
    return Relation(
        _line(relation.subject, LONGEST_NAME),
        predicate_of(relation.predicate),
        _line(relation.object, LONGEST_NAME),
        _line(relation.description, LONGEST_TEXT),
        min(max(weight, 0.0), 100.0),
        _line(relation.date, 40),
        _line(relation.by, 40),
    )


def predicate_of(text: str) -> str:
    """`Was born in` → `was_born_in`; nothing → `related_to`."""
    words = "".join(c if c.isalnum() else " " for c in text[:200].casefold()).split()
    return "_".join(words[:8]) or "related_to"


def _line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit].strip()


# Facts by rules

NAMES_IN_SENTENCE = 24
"""Names looked at in one sentence: a list of hundreds says little about any two of them."""
LONGEST_SENTENCE = 5000
"""Characters of a sentence in which names are looked for; what is longer is no sentence."""
Link = tuple[int, int, str]


def small_title(source: Source) -> str:
    """The title, folded, if it is one word that its own article writes small rather than large."""
    title = source.title
    if not title.isalpha() or source.redirect:
        return ""
    if title.lower() not in source.text:
        return ""
    small = len(re.findall(rf"\b{title.lower()}\b", source.text))
    large = len(re.findall(rf"[^.!?\n]\s{title}\b", source.text))
    return fold(title) if small > large else ""


def _lead(source: Source) -> str:
    """The first sentence that stands in no box."""
    boxes = sorted((box[:2] for box in source.boxes), reverse=True)
    reached = 0
    for start, end in source.sentences:
        while boxes and boxes[-1][0] <= start:
            reached = max(reached, boxes.pop()[1])
        if start >= reached:
            return _description(source, (start, end))
    return ""


def document_type(source: Source) -> str:
    """What a document is about, as others know it: the word in its title's brackets, what its first sentence says, else
    its box; a term where it writes its title small. Nothing for a redirect.
    """
    if source.redirect:
        return ""
    _, ending = split_title(source.title)
    last = ending.split()[-1].casefold() if ending else ""
    kinds = [kind for _, _, kind, _ in source.boxes if kind]
    found = (last if coarse(last) else "") or type_of_sentence(_lead(source)) or type_of_box(kinds, source.boxes)
    return found or ("term" if small_title(source) else "")


def about(source: Source) -> Entity:
    """The entity that an article is about."""
    base = plain_name(source.title)
    return Entity(source.title, document_type(source), _lead(source)[:400], (base,) if base else ())


def structure_facts(source: Source, known: KnownNames, own: Entity) -> list[PassageFacts]:
    """What links, boxes and tables say, a chunk each: facts that need neither names nor a model. `own`: as `about` has
    it.
    """
    found = []
    links, boxes = InOrder(source.links), InOrder(source.boxes)
    sentences = InOrder(source.sentences)
    header: Sequence[str] = ()
    for passage in source.passages:
        facts = PassageFacts((own,))
        here = links.within(passage.start, passage.end)
        anchors = {source.text[start:end] for start, end, _ in here}
        facts += _link_facts(source, here, sentences, own.type, known)
        for _, _, _, fields in boxes.within(passage.start, passage.end):
            facts += box_facts(source.title, fields, anchors)
        rows, header = row_facts(source.title, passage.text, anchors, header)
        found.append(facts + rows)
    return found


def _link_facts(
    source: Source, links: Sequence[Link], sentences: InOrder[Span], own_type: str, known: KnownNames
) -> PassageFacts:
    entities, relations = [], []
    for start, end, target in links:
        article, anchor = _article(target), source.text[start:end]
        aliases = (anchor,) if _is_alias(anchor, article) else ()
        type = own_type if article == source.title else known.type(article)
        entities.append(Entity(article, type, aliases=aliases))
        around = sentences.at(start)
        description, place = (_description(source, around), around[0]) if around else ("", -1)
        relations.append(Relation(source.title, "links_to", article, description, by="link", start=place))
    return PassageFacts(tuple(entities), tuple(relations))


def _article(target: str) -> str:
    """A link's target as a title; where redirects lead is for the view to resolve."""
    return target.replace("_", " ").strip()


def _is_alias(anchor: str, article: str) -> bool:
    """Whether a link's words are another name of the article: one word in common, or its letters. `French` leads to
    France and is not called so.
    """
    if not anchor[:1].isupper() or fold(anchor) == fold(article):
        return False
    shared = set(tokens(anchor)) & {word for word in tokens(article) if len(word) > 2}
    return bool(shared) or anchor.replace(".", "") == letters_of(article)


def _description(source: Source, sentence: Span) -> str:
    """A sentence as the description of what it states."""
    start, end = sentence
    return source.text[start : min(end, start + LONGEST_TEXT)]


def text_facts(source: Source, known: KnownNames, own: Entity) -> list[PassageFacts]:
    """What the sentences state, a chunk each."""
    linked = {fold(source.text[start:end]): _article(target) for start, end, target in reversed(source.links)}
    links = InOrder(source.links)
    sentences = InOrder([(*span, _mentions(source, span, links, linked, known)) for span in source.sentences])
    topic = Topic(source.title, coarse(own.type), own.type)
    return [_facts(source, sentences.within(passage.start, passage.end), topic) for passage in source.passages]


def _mentions(
    source: Source, span: Span, links: InOrder[Link], linked: Mapping[str, str], known: KnownNames
) -> list[NameMention]:
    """Names of a sentence, in order; where two overlap, the longer one and, inside it, titles."""
    text, (start, end) = source.text, span
    end = min(end, start + LONGEST_SENTENCE)
    span = start, end
    found = [NameMention(low, high, _article(target)) for low, high, target in links.within(start, end)]
    for low, high, titles in known.titles.find(text, start, end):
        meant = linked.get(fold(text[low:high])) or _meant(titles, source, span, known)
        found.append(NameMention(low, high, meant or text[low:high]))
    titled = {(mention.start, mention.end) for mention in found}
    capitals = islice(capital_names(text, start, end, known.words), 2 * NAMES_IN_SENTENCE)
    for low, high in (*capitals, *quoted_names(text, start, end)):
        found.append(NameMention(low, high, linked.get(fold(text[low:high]), text[low:high])))
    found += (NameMention(low, high, name) for low, high, name in known.phrases.find(text, start, end))
    found += (NameMention(low, high, date.iso, "date") for low, high, date in dates.find(text, start, end))
    found += (NameMention(low, high, name, "quantity") for low, high, name in quantities(text, start, end))
    return _apart(found, titled)


def _apart(found: list[NameMention], titled: Collection[Span]) -> list[NameMention]:
    """Longest first; what came first (links, then titles) wins among equals. Links and titles (at the places
    `titled`) stay inside a name, marked.
    """
    # Of several at one place the first wins; and where no two touch, there is nothing to choose.
    at = {(mention.start, mention.end): mention for mention in reversed(found)}
    in_order = [at[place] for place in sorted(at)]
    if all(one.end <= other.start for one, other in pairwise(in_order)):
        return in_order[:NAMES_IN_SENTENCE]
    outer, inner = Apart(), Apart()
    firsts = (mention for mention in found if at[mention.start, mention.end] is mention)
    for mention in sorted(firsts, key=lambda m: m.start - m.end):
        around = outer.touching(mention.start, mention.end)
        if not around:
            outer.put(mention)
        elif (mention.start, mention.end) not in titled:
            continue
        elif len(around) == 1 and _within(mention, around[0]) and not inner.touching(mention.start, mention.end):
            inner.put(mention._replace(inside=True))
    return sorted((*outer, *inner), key=lambda m: (m.start, m.inside, m.end))[:NAMES_IN_SENTENCE]


def _within(mention: NameMention, outer: NameMention) -> bool:
    inside = outer.start <= mention.start and mention.end <= outer.end
    return inside and mention.type == outer.type == "" and mention.end - mention.start < outer.end - outer.start


def _meant(titles: tuple[str, ...], source: Source, span: Span, known: KnownNames) -> str:
    """Which of the articles of one name is meant: this one, the one whose type the sentence names, else the plain one.
    Nothing where the sentence does not decide: then the view does.
    """
    if len(titles) == 1:
        return ""
    if source.title in titles:
        return source.title
    sentence = source.text[slice(*span)].casefold()
    cued = [title for title in titles if (kind := known.type(title)) and kind in sentence]
    if len(cued) == 1:
        return cued[0]
    plain = [title for title in titles if not split_title(title)[1]]
    return plain[0] if len(plain) == 1 else ""


def _facts(source: Source, sentences: Sequence[tuple[int, int, list[NameMention]]], topic: Topic) -> PassageFacts:
    counts: Counter[tuple[str, str]] = Counter()
    relations: list[Relation] = []
    aliases: dict[str, set[str]] = {}
    guesses: dict[str, Counter[str]] = {}
    for start, end, mentions in sentences:
        span = start, end
        for mention in mentions:
            counts[mention.name, mention.type] += 1
            if not mention.type and (kind := kind_around(source.text, mention.start, mention.end)):
                guesses.setdefault(mention.name, Counter())[kind] += 1
        for short, long in acronyms(source.text, span, ((m.start, m.end) for m in mentions)):
            aliases.setdefault(long, set()).add(short)
        relations += _relations(source, span, mentions, topic)
    return PassageFacts(
        tuple(
            Entity(name, type, "", tuple(sorted(aliases.get(name, ()))), count, decided(guesses.get(name, {})))
            for (name, type), count in counts.items()
        ),
        tuple(relations),
    )


def _relations(source: Source, span: Span, mentions: list[NameMention], topic: Topic) -> Iterator[Relation]:
    """What the sentence states; else that neighbours in it, and the article and each name in it, are named together."""
    sentence, start = _description(source, span), span[0]
    date = next((mention.name for mention in mentions if mention.type == "date"), "")
    own = fold(source.title)
    outer = [mention for mention in mentions if not mention.inside]
    stated: set[tuple[str, str]] = set()
    end = min(span[1], start + LONGEST_SENTENCE)
    found = () if is_crowded(source.text[start:end]) else statements(source.text, start, end, outer, topic)
    for subject, predicate, object in found:
        ends = fold(subject), fold(object)
        if ends[0] != ends[1]:
            stated |= {ends, ends[::-1]}
            yield Relation(subject, predicate_of(predicate), object, sentence, 1.0, date, "sentence", start)
    named = [(mention, fold(mention.name)) for mention in outer]
    for (one, name), (other, next_name) in pairwise(named):
        if name != next_name and (name, next_name) not in stated and not one.type:
            yield Relation(one.name, NAMED_WITH, other.name, sentence, 1.0, date, "sentence", start)
    for mention, name in named:
        if not mention.type and name != own and (own, name) not in stated:
            yield Relation(source.title, NAMED_WITH, mention.name, sentence, 0.5, date, "title", start)
    for mention in mentions:
        if mention.inside:
            around = next(m for m in outer if m.start <= mention.start and mention.end <= m.end)
            if fold(around.name) != fold(mention.name):
                yield Relation(around.name, NAMED_WITH, mention.name, sentence, 0.5, date, "name", start)


# Boxes and tables

_SPLIT = re.compile(r"\s*(?:\n|;|•|<br ?/?>|, (?=[^\W\d_]))\s*")
_SKIPPED = frozenset({"image", "caption", "logo", "map", "width", "size", "alt", "coordinates", "signature", "website"})
_BAR = " | "
_SHORTEST_FIELD = 3
"""Letters of a column's head that may say something."""
_LONGEST_VALUE = 80
"""Characters of a value or a cell that may be a name."""


def box_facts(title: str, fields: tuple[tuple[str, str], ...], anchors: Collection[str] = ()) -> PassageFacts:
    """A fact a value: the key is the predicate, and the value an entity where it is short enough to be a name."""
    entities, relations = [], []
    for key, value in fields:
        predicate = predicate_of(key)
        if predicate in _SKIPPED:
            continue
        parts = (name for part in _SPLIT.split(value)[:10] for name in _apart_by_links(part.strip(" ,.|"), anchors))
        for name in parts:
            if _is_value(name, anchors):
                entities.append(_value(name, predicate))
                relations.append(Relation(title, predicate, name, f"{key}: {value[:LONGEST_TEXT]}", by="infobox"))
    return PassageFacts(tuple(entities), tuple(relations))


def _value(name: str, field: str) -> Entity:
    """The value of a field or a cell: a date, a quantity where it has no letters, else something with a name."""
    if not any(map(str.isalpha, name)):
        return Entity(name, "date" if _date(name) else "quantity")
    return Entity(name, guess=kind_of_field(field))


def _date(cell: str) -> str:
    """A cell that is a date, as dates are written; a bare number only where it is a year of four digits."""
    date = dates.parse(cell)
    return date.iso if date is not None and (date.month or len(cell) == len("1868")) else ""


def _is_value(text: str, anchors: Collection[str]) -> bool:
    """Whether a value has a name or is a number: `solid` and `see below` are neither."""
    named = not text[:1].islower() and any(map(str.isalnum, text))
    return len(text) <= _LONGEST_VALUE and (named or text in anchors)


def _apart_by_links(value: str, anchors: Collection[str]) -> list[str]:
    """`Paul Sylbert Edwin O'Donovan`, where both are links: lines of a cell that ran together are taken apart."""
    words = value.split(" ") if len(value) <= _LONGEST_VALUE else []
    found, begin = [], 0
    while begin < len(words):
        ends = range(len(words), begin, -1)
        end = next((end for end in ends if " ".join(words[begin:end]).strip(",") in anchors), 0)
        if not end:
            return [value]
        found.append(" ".join(words[begin:end]).strip(","))
        begin = end
    return found or [value]


def row_facts(
    title: str, text: str, anchors: Collection[str] = (), header: Sequence[str] = ()
) -> tuple[PassageFacts, Sequence[str]]:
    """Rows of a table: the first cell with a name is what the row is about, the header's cells are the predicates.

    `header` is that of a table that goes on from the passage before; that of the last table comes back.
    """
    entities, relations = [], []
    for line in text.strip().split("\n"):
        cells = [cell.strip() for cell in line.split(_BAR)] if _BAR in line else []
        if len(cells) < 2 or not header:
            header = cells if len(cells) > 1 else ()
            continue
        # A number in front of a name is its place in a list; a date alone dates what the row states of the article.
        at = next((i for i, cell in enumerate(cells[:2]) if any(map(str.isalpha, cell))), 0)
        head, date = cells[at], ""
        if not head or len(head) > _LONGEST_VALUE:
            continue
        if any(map(str.isalpha, head)):
            entities.append(_value(head, ""))
            relations.append(Relation(title, "has_row", head, line, 0.5, by="table"))
        else:
            head, date = title, _date(head)
        for key, value in zip(header[at + 1 :], cells[at + 1 :], strict=False):
            predicate = predicate_of(key)
            if len(predicate) < _SHORTEST_FIELD or predicate[0].isdigit():
                continue
            for name in (part for part in _apart_by_links(value, anchors) if _is_value(part, anchors)):
                entities.append(_value(name, predicate))
                relations.append(Relation(head, predicate, name, line, 1.0, date, by="table"))
    return PassageFacts(tuple(entities), tuple(relations)), header


# Places in a text, found by halving: a long document has thousands of sentences, links and names to look among.

Placed = TypeVar("Placed", bound=tuple[Any, ...])


class InOrder(Generic[Placed]):
    """Tuples that begin with their start and end, by start."""

    def __init__(self, items: Sequence[Placed]) -> None:
        self._items = sorted(items, key=lambda item: item[0])
        self._starts: list[int] = [item[0] for item in self._items]

    def within(self, start: int, end: int) -> Sequence[Placed]:
        """Those that begin in this stretch."""
        return self._items[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def at(self, place: int) -> Placed | None:
        """The last one that begins at this place or before it, if it reaches beyond it."""
        number = bisect_right(self._starts, place) - 1
        return self._items[number] if number >= 0 and place < self._items[number][1] else None


class Apart:
    """Names of which no two touch the same character, by place."""

    def __init__(self) -> None:
        self._items: list[NameMention] = []

    def __iter__(self) -> Iterator[NameMention]:
        return iter(self._items)

    def touching(self, start: int, end: int) -> Sequence[NameMention]:
        """Those that share a character with this stretch."""
        first = bisect_right(self._items, start, key=lambda item: item.end)
        return self._items[first : bisect_left(self._items, end, first, key=lambda item: item.start)]

    def put(self, item: NameMention) -> None:
        """Add a name that touches none of those here."""
        self._items.insert(bisect_left(self._items, item.start, key=lambda other: other.start), item)
