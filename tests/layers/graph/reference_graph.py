"""The graph of a corpus made in the plainest way: a second opinion, for fold and make share what names mean to them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ragways.core.types import document_number
from ragways.layers.graph.csr import KINDS
from ragways.layers.graph.names import coarse, fold, hash_of, plain_name, split_title
from tests.layers.graph.made_documents import MadeDocument, Mention

Key = tuple[str, str]
"""A folded name, and a kind where things of several kinds have the name."""
_STEPS = 8
"""Names that lead on to one another, at most: a circle must end."""


def id_of(key: Key) -> str:
    return f"entity:{hash_of(key[0]) % 2**64 & ~15 | KINDS.index(key[1]):016x}"


@dataclass
class PlainGraph:
    """Of each entity, by id, its chunks with how often it is named there, and how it is called; of each relation its
    chunks with their weights.
    """

    mentions: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    relations: dict[tuple[str, str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def neighbours(self, id: str) -> dict[str, float]:
        found: Counter[str] = Counter()
        for (subject, _, object), chunks in self.relations.items():
            if id in (subject, object):
                found[object if id == subject else subject] += sum(chunks.values())
        return {other: weight / 1e6 for other, weight in found.items()}


def make_graph(documents: Mapping[str, MadeDocument], apart: Collection[tuple[str, str]] = ()) -> PlainGraph:
    """`apart`: pairs of names that are never merged."""
    names = _Names(documents, {(fold(a), fold(b)) for pair in apart for a, b in (pair, pair[::-1])})
    kinds: dict[str, set[str]] = defaultdict(set)
    for key, document in documents.items():
        for mention in mentions_of(document):
            kinds[names.final(key, fold(mention.name))] |= {mention.kind} - {""}

    def entity(key: str, name: str, kind: str) -> str:
        final = names.final(key, name)
        return id_of((final, kind if len(kinds[final]) > 1 else ""))

    graph = PlainGraph()
    for key, document in documents.items():
        number = document_number(key)
        for mention in mentions_of(document):
            id, chunk = entity(key, fold(mention.name), mention.kind), f"article:{number}:s0:p0:c{mention.chunk}"
            graph.mentions[id][chunk] += mention.count
            graph.spellings[id][mention.spelling] += mention.count
        for place, one, kind, predicate, other, its, weight, *_ in document.facts()["relations"]:
            chunk = f"article:{number}:s0:p0:c{place}"
            ends = entity(key, str(one), str(kind)), entity(key, str(other), str(its))
            if ends[0] != ends[1] and all(chunk in graph.mentions[end] for end in ends):
                graph.relations[ends[0], str(predicate), ends[1]][chunk] += weight  # type: ignore[operator]
    return graph


def mentions_of(document: MadeDocument) -> list[Mention]:
    return [each for each in document.mentions if each.chunk < document.chunks and not document.redirect]


class _Names:
    """What a name means: by redirects and acronyms to everybody, by an article's kind to some documents."""

    def __init__(self, documents: Mapping[str, MadeDocument], apart: Collection[tuple[str, str]]) -> None:
        made = [documents[key] for key in sorted(documents, key=document_number)]
        titles = {fold(document.title) for document in made}
        articles = {fold(document.title) for document in made if not fold(document.redirect)}
        to: dict[str, str] = {}
        for document in made:
            if (name := fold(document.title)) not in articles and name:
                to.setdefault(name, fold(document.redirect))
        acronyms: dict[str, set[str]] = defaultdict(set)
        for document in made:
            for name, short in document.acronyms if not document.redirect else ():
                acronyms[fold(short)].add(fold(name))
        to |= {short: min(full) for short, full in acronyms.items() if len(full) == 1 and short not in titles}
        self.to = {name: into for name, into in to.items() if (name, into) not in apart}
        bases: dict[str, dict[str, str]] = defaultdict(dict)
        for document in made:
            base = fold(plain_name(document.title))
            if base and not base.isdecimal() and base not in titles and not document.redirect:
                bases[base].setdefault(fold(document.title), document.title)
        only = {base: min(full.values()) for base, full in bases.items() if len(full) == 1}
        self.only = {base: title for base, title in only.items() if (base, fold(title)) not in apart}
        self.meant = {(key, base) for key, document in documents.items() for base in self._meant(document)}

    def _meant(self, document: MadeDocument) -> set[str]:
        """Bases of titles by which a document means the article: it tells that kind of thing, or names the ending."""
        spelled = {fold(mention.spelling) for mention in mentions_of(document)}
        found = set[str]()
        for mention in mentions_of(document):
            base = fold(mention.name)
            if base in self.only and fold(mention.spelling) == base:
                ending = split_title(self.only[base])[1]
                kind = coarse(ending)
                alike = mention.meant == kind if mention.meant and kind else bool(kind) and " " in base
                if alike or (fold(ending) and fold(ending) in spelled):
                    found.add(base)
        return found

    def final(self, key: str, name: str) -> str:
        if (key, name) in self.meant:
            name = fold(self.only[name])
        for _ in range(_STEPS):
            name = self.to.get(name, name)
        return name
