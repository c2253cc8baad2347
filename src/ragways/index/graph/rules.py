"""What a document says, chunk by chunk, by rules alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ragways.core import dates
from ragways.index.graph.corpus_names import CorpusNames
from ragways.index.graph.facts import (
    LONGEST_TEXT,
    NAMED_WITH,
    Entity,
    PassageFacts,
    Relation,
    Source,
    Span,
    predicate_of,
)
from ragways.index.graph.fields import box_facts, row_facts
from ragways.index.graph.kinds import decided, kind_around, type_of_box
from ragways.index.graph.names import (
    Lexicon,
    coarse,
    fold,
    letters_of,
    plain_name,
    split_title,
    tokens,
    type_of_sentence,
)
from ragways.index.graph.rule_names import (
    acronyms,
    capital_names,
    is_crowded,
    quantities,
    quoted_names,
)
from ragways.index.graph.spans import Apart, InOrder
from ragways.index.graph.statements import Topic, statements

NAMES_IN_SENTENCE = 24
"""Names looked at in one sentence: a list of hundreds says little about any two of them."""
LONGEST_SENTENCE = 5000
"""Characters of a sentence in which names are looked for; what is longer is no sentence."""


class NameMention(NamedTuple):
    """A name at a place. `inside` marks a title within a longer name, `Ghent` in `Ghent University`."""

    start: int
    end: int
    name: str
    type: str = ""
    inside: bool = False


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


def type_of(source: Source) -> str:
    """What an article is about: the word in its title's brackets, what its first sentence says, else its box."""
    _, ending = split_title(source.title)
    last = ending.split()[-1].casefold() if ending else ""
    kinds = [kind for _, _, kind, _ in source.boxes if kind]
    return (last if coarse(last) else "") or type_of_sentence(_lead(source)) or type_of_box(kinds, source.boxes)


def _lead(source: Source) -> str:
    """The first sentence that stands in no box."""
    boxes = sorted((box[:2] for box in source.boxes), reverse=True)
    reached = 0
    for start, end in source.sentences:
        while boxes and boxes[-1][0] <= start:
            reached = max(reached, boxes.pop()[1])
        if start >= reached:
            return _said(source, (start, end))
    return ""


def about(source: Source, corpus: CorpusNames) -> Entity:
    """The entity that an article is about."""
    base = plain_name(source.title)
    return Entity(source.title, corpus.type(source.title), _lead(source)[:400], (base,) if base else ())


def structure_facts(source: Source, corpus: CorpusNames) -> list[PassageFacts]:
    """What links, boxes and tables say, a chunk each: facts that need neither names nor a model."""
    found = []
    own = about(source, corpus)
    links, boxes = InOrder(source.links), InOrder(source.boxes)
    sentences = InOrder(source.sentences)
    header: Sequence[str] = ()
    for passage in source.passages:
        facts = PassageFacts((own,))
        here = links.within(passage.start, passage.end)
        anchors = {source.text[start:end] for start, end, _ in here}
        facts += _link_facts(source, here, sentences, corpus)
        for _, _, _, fields in boxes.within(passage.start, passage.end):
            facts += box_facts(source.title, fields, anchors)
        rows, header = row_facts(source.title, passage.text, anchors, header)
        found.append(facts + rows)
    return found


def _link_facts(
    source: Source, links: Sequence[tuple[int, int, str]], sentences: InOrder[Span], corpus: CorpusNames
) -> PassageFacts:
    entities, relations = [], []
    for start, end, target in links:
        article, anchor = corpus.article(target), source.text[start:end]
        aliases = (anchor,) if _is_alias(anchor, article) else ()
        entities.append(Entity(article, corpus.type(article), aliases=aliases))
        around = sentences.at(start)
        said = _said(source, around) if around else ""
        relations.append(Relation(source.title, "links_to", article, said, by="link"))
    return PassageFacts(tuple(entities), tuple(relations))


def _is_alias(anchor: str, article: str) -> bool:
    """Whether a link's words are another name of the article: one word in common, or its letters. `French` leads to
    France and is not called so.
    """
    if not anchor[:1].isupper() or fold(anchor) == fold(article):
        return False
    shared = set(tokens(anchor)) & {word for word in tokens(article) if len(word) > 2}
    return bool(shared) or anchor.replace(".", "") == letters_of(article)


def _said(source: Source, sentence: Span) -> str:
    """A sentence as the description of what it says."""
    start, end = sentence
    return source.text[start : min(end, start + LONGEST_TEXT)]


def text_facts(source: Source, corpus: CorpusNames) -> list[PassageFacts]:
    """What the sentences say, a chunk each."""
    mentions = dict(zip(source.sentences, names_in(source, source.sentences, corpus), strict=True))
    sentences = InOrder(source.sentences)
    type = corpus.type(source.title)
    topic = Topic(source.title, coarse(type), type)
    return [
        _facts(source, [(span, mentions[span]) for span in sentences.within(passage.start, passage.end)], topic)
        for passage in source.passages
    ]


def names_in(source: Source, spans: Iterable[Span], corpus: CorpusNames) -> list[list[NameMention]]:
    """The names of some sentences, in order."""
    linked, links = _linked(source, corpus), InOrder(source.links)
    return [_mentions(source, span, links, linked, corpus) for span in spans]


def capitals_in(source: Source, span: Span, lexicon: Lexicon) -> list[Span]:
    """Where names stand that a sentence writes with capitals: all that depends on which words are common."""
    start, end = span
    found = capital_names(source.text, start, min(end, start + LONGEST_SENTENCE), lexicon)
    return list(islice(found, 2 * NAMES_IN_SENTENCE))


def titles_in(
    source: Source, spans: Iterable[Span], firsts: Collection[str], corpus: CorpusNames
) -> list[list[NameMention]]:
    """The titles with these first words that stand in some sentences, and what is meant by them."""
    linked = _linked(source, corpus)
    return [list(_titles(source, span, linked, corpus, firsts)) for span in spans]


def _linked(source: Source, corpus: CorpusNames) -> dict[str, str]:
    """The articles that a document's links lead to, by the links' words."""
    return {fold(source.text[start:end]): corpus.article(target) for start, end, target in reversed(source.links)}


def _titles(
    source: Source,
    span: Span,
    linked: Mapping[str, str],
    corpus: CorpusNames,
    firsts: Collection[str] | None = None,
) -> Iterator[NameMention]:
    text, (start, end) = source.text, span
    span = start, min(end, start + LONGEST_SENTENCE)
    for low, high, titles in corpus.tree.find(text, *span, firsts):
        meant = _meant(titles, source, span, corpus)
        yield NameMention(low, high, linked.get(fold(text[low:high])) or meant or text[low:high])


def _mentions(
    source: Source,
    span: Span,
    links: InOrder[tuple[int, int, str]],
    linked: Mapping[str, str],
    corpus: CorpusNames,
) -> list[NameMention]:
    """Names of a sentence, in order; where two overlap, the longer one and, inside it, titles."""
    text, (start, end) = source.text, span
    end = min(end, start + LONGEST_SENTENCE)
    span = start, end
    found = [NameMention(low, high, corpus.article(target)) for low, high, target in links.within(start, end)]
    untitled = {(mention.start, mention.end) for mention in found}
    found += _titles(source, span, linked, corpus)
    titled = {(mention.start, mention.end) for mention in found}
    for low, high in (*capitals_in(source, span, corpus.lexicon), *quoted_names(text, start, end)):
        name = text[low:high]
        if name := linked.get(fold(name), name):
            untitled.add((low, high))
        found.append(NameMention(low, high, name))
    found += (NameMention(low, high, name) for low, high, name in corpus.phrases.find(text, start, end))
    found += (NameMention(low, high, date.iso, "date") for low, high, date in dates.find(text, start, end))
    found += (NameMention(low, high, name, "quantity") for low, high, name in quantities(text, start, end))
    apart = _apart(found, titled)
    corpus.tree.stand(untitled & {(mention.start, mention.end) for mention in apart if not mention.inside})
    return apart


def _apart(found: list[NameMention], titled: Collection[Span]) -> list[NameMention]:
    """Longest first; what came first (links, then titles) wins among equals. Links and titles (at the places
    `titled`) stay inside a name, marked.
    """
    # Of several at one place the first wins; and where no two touch, there is nothing to choose.
    at = {(mention.start, mention.end): mention for mention in reversed(found)}
    in_order = [at[place] for place in sorted(at)]
    if all(one.end <= other.start for one, other in pairwise(in_order)):
        return in_order[:NAMES_IN_SENTENCE]
    outer, inner = Apart[NameMention](), Apart[NameMention]()
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
    held = outer.start <= mention.start and mention.end <= outer.end
    return held and mention.type == outer.type == "" and mention.end - mention.start < outer.end - outer.start


def _meant(titles: tuple[str, ...], source: Source, span: Span, corpus: CorpusNames) -> str:
    """Which of the articles of one name is meant: this one, the one whose type the sentence names, else the plain one.

    Nothing, where that cannot be told or the name alone tells it: then the name's resolution decides.
    """
    if len(titles) == 1:
        return ""
    if source.title in titles:
        return source.title
    sentence = source.text[slice(*span)].casefold()
    cued = [title for title in titles if (kind := corpus.type_of_called(title)) and kind in sentence]
    if len(cued) == 1:
        return cued[0]
    plain = [title for title in titles if not split_title(title)[1]]
    return plain[0] if len(plain) == 1 else ""


def _facts(source: Source, sentences: list[tuple[Span, list[NameMention]]], topic: Topic) -> PassageFacts:
    counts: Counter[tuple[str, str]] = Counter()
    relations: list[Relation] = []
    aliases: dict[str, set[str]] = {}
    guesses: dict[str, Counter[str]] = {}
    for span, mentions in sentences:
        for mention in mentions:
            counts[mention.name, mention.type] += 1
            if not mention.type and (kind := kind_around(source.text, mention.start, mention.end)):
                guesses.setdefault(mention.name, Counter())[kind] += 1
        for short, long in acronyms(source.text, span, ((m.start, m.end) for m in mentions)):
            aliases.setdefault(long, set()).add(short)
        relations += _relations(source, span, mentions, topic)
    return PassageFacts(
        tuple(
            Entity(name, type, "", tuple(sorted(aliases.get(name, ()))), count, _guess(guesses, name))
            for (name, type), count in counts.items()
        ),
        tuple(relations),
    )


def _guess(guesses: Mapping[str, Counter[str]], name: str) -> str:
    return decided(guesses[name]) if name in guesses else ""


def _relations(source: Source, span: Span, mentions: list[NameMention], topic: Topic) -> Iterator[Relation]:
    """What the sentence states; else that neighbours in it, and the article and each name in it, are named together."""
    sentence = _said(source, span)
    date = next((mention.name for mention in mentions if mention.type == "date"), "")
    own = fold(source.title)
    outer = [mention for mention in mentions if not mention.inside]
    stated: set[tuple[str, str]] = set()
    start, end = span
    end = min(end, start + LONGEST_SENTENCE)
    said = () if is_crowded(source.text[start:end]) else statements(source.text, start, end, outer, topic)
    for subject, predicate, object in said:
        ends = fold(subject), fold(object)
        if ends[0] != ends[1]:
            stated |= {ends, ends[::-1]}
            yield Relation(subject, predicate_of(predicate), object, sentence, 1.0, date, "sentence")
    named = [(mention, fold(mention.name)) for mention in outer]
    for (one, name), (other, next_name) in pairwise(named):
        if name != next_name and (name, next_name) not in stated and not one.type:
            yield Relation(one.name, NAMED_WITH, other.name, sentence, 1.0, date, "sentence")
    for mention, name in named:
        if not mention.type and name != own and (own, name) not in stated:
            yield Relation(source.title, NAMED_WITH, mention.name, sentence, 0.5, date, "title")
    for mention in mentions:
        if mention.inside:
            around = next(m for m in outer if m.start <= mention.start and mention.end <= m.end)
            if fold(around.name) != fold(mention.name):
                yield Relation(around.name, NAMED_WITH, mention.name, sentence, 0.5, date, "name")
