"""What can be known of a question before it is answered, as named numbers: what a router decides by.

Three groups: of the question itself and what of it the index knows, of the corpus, and of a first look. No model is
asked. A feature that is not known here (the index has no such layer, the question no name) is left out, never 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Final, get_args

from ragways.core.dates import find as find_dates
from ragways.core.language import folded_words
from ragways.core.types import Hit, Query, title_name
from ragways.index.diagnosis import Diagnosis, known_diagnosis
from ragways.index.open import Index
from ragways.layers.protocols import sureness
from ragways.reading.question_type import TYPES, question_type
from ragways.reading.questions import Form, parse_question
from ragways.reading.sufficiency import names_in, structure
from ragways.reading.windows import content_stems
from ragways.retrieval.resources import Resources
from ragways.retrieval.routing.look import Look
from ragways.retrieval.routing.look import look as take_look

if TYPE_CHECKING:
    from ragways.layers.protocols import Graph

Features = dict[str, float]
CUTS: Final = (3, 5, 10, 20, 30, 60)
"""Numbers of passages that an arm may show."""
FIRST: Final = 10
"""Passages of a list that are compared with those of another."""
SURE: Final = 0.999
"""The most that a chance counts for: its complement is taken the log of."""
LONGEST: Final = 2000
"""Characters of a question that are looked at."""
_FORMS: Final[tuple[Form, ...]] = get_args(Form)
_LISTS: Final = ("dense", "words", "linked")

FEATURES: Final[Mapping[str, str]] = {
    **{f"question.type.{kind}": f"Chance, by the question's words, that its type is: {kind}." for kind in TYPES},
    **{f"question.form.{form}": f"Whether the question's words ask for: {form}." for form in _FORMS},
    "question.words": "Words of the question.",
    "question.content": "Words of the question that mean something.",
    "question.nested": "Steps in which it comes to what it asks for (`the father of the actor who …`).",
    "question.degrees": "Words that compare or put in order (`more`, `earlier`, `same`, `than`).",
    "question.compared": "Things that it names to be compared.",
    "question.names": "Names and numbers in it.",
    "question.entities": "Names in it that the graph knows.",
    "question.unknown": "Share of its names and numbers that the graph does not know.",
    "question.homonyms": "Entities that a name in it may mean, on average.",
    "question.sureness": "How specific its entities are: 1 where one passage names one, less for hubs.",
    "question.dates": "Dates in it.",
    "question.dates_known": "Share of its dates of which a document is.",
    "question.titles": "Titles of documents that stand in it.",
    "question.sources": "Sources and authors of documents that it names.",
    "look.fused": "Whether the look is that of `fused`, whose scores are chances.",
    "look.found": "Candidates that were found, as a logarithm.",
    "look.top": "The first candidate's chance of being evidence.",
    "look.margin": "The first candidate's chance less the second's.",
    "look.entropy": "How evenly the scores are spread over the candidates: 0 all on one, 1 all the same.",
    **{f"look.sum@{k}": f"Evidence to be expected among the first {k}: the sum of their chances." for k in CUTS},
    **{f"look.left@{k}": f"Log of the chance that nothing behind the first {k} is evidence." for k in CUTS},
    **{f"look.tokens@{k}": f"Tokens of the first {k}." for k in CUTS},
    "look.overlap.dense-words": "Share of the first 10 by meaning that are of the first 10 by words.",
    "look.overlap.dense-linked": "Share of the first 10 by meaning that are of the first 10 by the walk.",
    "look.overlap.words-linked": "Share of the first 10 by words that are of the first 10 by the walk.",
    "look.agreed": "How many of the three lists have the first candidate.",
    "look.documents": "Documents of the first 10.",
    "look.names@3": "Share of the question's names and numbers that stand in the first 3.",
    "look.names@10": "Share of the question's names and numbers that stand in the first 10.",
    "look.words@3": "Share of the question's words that stand in the first 3.",
    "look.words@10": "Share of the question's words that stand in the first 10.",
    "look.hops": "Relations between the entities that the question names, on average over pairs; at most 3.",
    "look.linked": "How near the candidates are to being articles that name each other.",
    "look.bridged": "Share of the first 10 that a bridge leads to.",
    "look.nearness": "The best cosine of the question and a passage.",
    "look.read": "The best logit of being evidence by the reader.",
    "corpus.documents": "Documents, as a logarithm.",
    "corpus.passages": "Passages of a document, as a logarithm.",
    "corpus.tokens": "Mean tokens of a passage, as a logarithm.",
    "corpus.dated": "Share of documents with a date.",
    "corpus.linked": "Share of documents that others link to or name.",
    "corpus.copies": "Share of passages that are copies of others.",
    "corpus.entities": "Entities of the graph, as a logarithm.",
    "corpus.relations": "Relations of an entity, as a logarithm.",
    "corpus.relation_types": "Types of relations to a relation, as a logarithm.",
    "corpus.density": "Density of the graph, as a logarithm.",
    "corpus.degree": "Mean degree of the graph, as a logarithm.",
    "corpus.hub": "Largest share of the other entities that one is joined to.",
    "corpus.components": "Components of the graph to an entity, as a logarithm.",
    "corpus.largest": "Share of the entities in the largest component.",
    "corpus.clustering": "Mean clustering coefficient.",
    "corpus.dimension": "Intrinsic dimension of the vectors (TwoNN).",
    "corpus.hubness": "Hubness of the vectors.",
    "corpus.distance": "Mean cosine distance of a passage to the centroid.",
    "corpus.spread": "Deviation of that distance.",
    "corpus.doubles": "Share of vectors in the very place of another.",
}
"""Every feature by name, and what it is."""


async def all_features(use: Resources, question: str, look: Look | None = None) -> Features:
    """All features of a question; the look is taken where none is given. Those that are not known here are left out."""
    if look is None and use.index.layers & {"vectors", "words"}:
        look = await take_look(use)(Query(question))
    seen = look_features(look, question, use) if look is not None else {}
    return {**question_features(use, question), **seen, **corpus_features(use.index)}


def _known(values: Mapping[str, float | None]) -> Features:
    return {name: float(value) for name, value in values.items() if value is not None and math.isfinite(value)}


# Of the question

_DEGREE = re.compile(
    r"\b(?:more|most|less|least|fewer|fewest|first|last|before|after|same|both|than|different|between|"
    r"(?:earl|lat|old|young|eld|new|larg|bigg|small|long|short|high|low|tall|heav|great|near|clos|rich)(?:i?er|i?est))\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s+(?:and|in|for)\s+(?:the\s+)?")
_AROUND: Final = " .,;:?!()[]\"'“”‘’«»"
_TITLE_WORDS: Final = 12
_LOOKED_UP: Final = 240
_SOURCES: Final = 500
"""Sources and authors that are looked for in a question; a corpus with more of them has none to speak of."""
_DATES: Final = 100_000


def question_features(use: Resources, question: str) -> Features:
    """Of the question's own words, and of what in it the index knows."""
    text, index = question[:LONGEST], use.index
    form, names = parse_question(text), list(_names(text))
    content, nested = structure(text)
    dates = [date.iso for _, _, date in find_dates(text)]
    known = index.once(_dates) if dates else frozenset()
    row = f" {' '.join(folded_words(text))} "
    types = question_type(text)
    found: dict[str, float | None] = {
        # The same chance for all: nothing is known of a question in another language.
        **{f"question.type.{kind}": chance for kind, chance in types.items() if len(set(types.values())) > 1},
        **{f"question.form.{each}": float(form.form == each) for each in _FORMS},
        "question.words": row.count(" ") - 1 if row.strip() else 0,
        "question.content": content,
        "question.nested": nested,
        "question.degrees": len(_DEGREE.findall(text)),
        "question.compared": form.compared,
        "question.names": len(names),
        "question.dates": len(dates),
        "question.dates_known": sum(date in known for date in dates) / len(dates) if known else None,
        "question.titles": len(index.titled(_stretches(text))),
        "question.sources": sum(source in row for source in index.once(_sources)),
    }
    if "graph" in index.layers:
        found |= _of_graph(index.graph, text, names)
    return _known(found)


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Where the question has names and numbers, those that are joined by `and` or `in` apart."""
    for start, end in names_in(text):
        joints = [joint.span() for joint in _JOINT.finditer(text, start, end)]
        yield from zip([start, *(after for _, after in joints)], [*(before for before, _ in joints), end], strict=True)


def _of_graph(graph: Graph, text: str, names: Sequence[tuple[int, int]]) -> dict[str, float | None]:
    entities = graph.question_names(text)
    unknown = sum(not any(one.start < end and start < one.end for one in entities) for start, end in names)
    return {
        "question.entities": len(entities),
        "question.unknown": unknown / len(names) if names else None,
        "question.homonyms": sum(len(one.entities) for one in entities) / len(entities) if entities else None,
        "question.sureness": sureness(graph.question_seeds(text)),
    }


def _stretches(text: str) -> Iterator[str]:
    """Stretches of a question that may be a title, as titles are compared: they begin with a capital or a number."""
    words = [word.strip(_AROUND) for word in text.split()]
    folded = title_name(" ".join(words)).split(" ")
    if len(folded) != len(words):  # a sign by itself, or one that spaces stand in
        words = folded = title_name(text).split(" ")
    starts = [n for n, word in enumerate(words) if word[:1].isupper() or word[:1].isdigit()]
    for start in starts[: _LOOKED_UP // _TITLE_WORDS]:
        for end in range(start + 1, min(start + _TITLE_WORDS, len(words)) + 1):
            yield " ".join(folded[start:end])


def _dates(index: Index) -> frozenset[str]:
    """The dates of documents, as years, months and days."""
    dates = index.metadata_values("date", _DATES)
    return frozenset(date[:length] for date in dates for length in (4, 7, 10))


def _sources(index: Index) -> tuple[str, ...]:
    """Sources and authors as they would stand in a question, each between spaces."""
    named = {value for field in ("source", "author") for value in index.metadata_values(field, _SOURCES + 1)}
    found = {f" {' '.join(folded_words(value))} " for value in named}
    return tuple(sorted(found - {"  "})) if len(found) <= _SOURCES else ()


# Of a look

_POSSESSIVE = re.compile(r"['’]s?$")
_SHORT: Final = 4
"""Letters below which a word must begin a word of a passage: `war` is not in `award`."""


def look_features(look: Look, question: str, use: Resources) -> Features:
    """Of what a look found."""
    hits, text = look.hits.items, question[:LONGEST]
    first = hits[:FIRST]
    cosines = [found.score for hit in hits for found in hit.found if found.by == "dense"]
    found: dict[str, float | None] = {
        "look.fused": float(look.by == "fused"),
        "look.found": math.log1p(len(hits)),
        "look.entropy": _entropy([hit.score for hit in hits]),
        "look.documents": len({hit.piece.document for hit in first}),
        **{f"look.tokens@{k}": sum(hit.piece.tokens for hit in hits[:k]) for k in CUTS},
        "look.linked": look.linked,
        "look.nearness": max(cosines, default=None),
        "look.read": look.read,
        "look.hops": _hops(use.index.graph, text) if "graph" in use.index.layers else None,
    }
    if hits:
        found["look.agreed"] = len({each.by for each in hits[0].found} & set(_LISTS))
        found["look.bridged"] = sum(any(each.by == "bridge" for each in hit.found) for hit in first) / len(first)
        found |= _covered(text, first)
    if look.by == "fused" and hits:
        found |= _chances([min(hit.score, SURE) for hit in hits])
    return _known(found | _overlaps(hits))


def _chances(chances: Sequence[float]) -> dict[str, float | None]:
    sums = [0.0, *accumulate(chances)]
    # From behind, so that what is behind the first k is a sum of its own and no difference of two large ones.
    left = [0.0, *accumulate(math.log1p(-chance) for chance in reversed(chances))]
    return {
        "look.top": chances[0],
        "look.margin": chances[0] - chances[1] if len(chances) > 1 else None,
        **{f"look.sum@{k}": sums[min(k, len(chances))] for k in CUTS},
        **{f"look.left@{k}": left[max(0, len(chances) - k)] for k in CUTS},
    }


def _covered(text: str, first: Sequence[Hit]) -> dict[str, float | None]:
    """Which names and which words of the question stand in the first passages, by their letters: `reading.coverage`
    is stricter, and takes as long as all other features.
    """
    texts = [f" {hit.piece.title} {hit.piece.text}".casefold() for hit in first]
    three, rest = "\n".join(texts[:3]), "\n".join(texts[3:])
    names = list(dict.fromkeys(_POSSESSIVE.sub("", text[start:end].casefold()) for start, end in _names(text)))
    words = [stem if len(stem) >= _SHORT else f" {stem}" for stem in content_stems(text)]
    found: dict[str, float | None] = {}
    for kind, wanted in (("names", names), ("words", words)):
        missing = [each for each in wanted if each not in three]
        absent = [each for each in missing if each not in rest]
        found[f"look.{kind}@3"] = 1 - len(missing) / len(wanted) if wanted else None
        found[f"look.{kind}@10"] = 1 - len(absent) / len(wanted) if wanted else None
    return found


def _overlaps(hits: Sequence[Hit]) -> dict[str, float | None]:
    """Of each two lists that found anything, the share of the shorter's first that are among the other's first."""
    firsts: dict[str, set[str]] = {by: set() for by in _LISTS}
    for hit in hits:
        for each in hit.found:
            if each.rank <= FIRST and each.by in firsts:
                firsts[each.by].add(hit.piece.id)
    return {
        f"look.overlap.{one}-{other}": len(firsts[one] & firsts[other]) / min(len(firsts[one]), len(firsts[other]))
        for one, other in combinations(_LISTS, 2)
        if firsts[one] and firsts[other]
    }


_TOGETHER: Final = 4
"""Names between which hops are counted, each with so many entities."""
_MEANT: Final = 3


def _hops(graph: Graph, text: str) -> float | None:
    """The mean over pairs of names of the least number of relations between what they may mean."""
    names = graph.question_names(text)
    if len(names) < 2:
        return None
    found = graph.hops([one.entities[:_MEANT] for one in names[:_TOGETHER]])
    return sum(found) / len(found)


def _entropy(scores: Sequence[float]) -> float | None:
    """Of the scores as shares of their sum, by the most that so many could have."""
    positive = [score for score in scores if score > 0]
    if len(scores) < 2 or not positive:
        return None
    total = math.fsum(positive)
    return -math.fsum(score / total * math.log(score / total) for score in positive) / math.log(len(scores))


# Of the corpus


def corpus_features(index: Index) -> Features:
    """Of the corpus; measured once, or taken from `ragways diagnose` where that is of this generation of the index."""
    return dict(index.once(_corpus))


def _corpus(index: Index) -> Features:
    return _known(_of_diagnosis(known_diagnosis(index)))


def _of_diagnosis(diagnosis: Diagnosis) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    if (texts := diagnosis.texts) is not None:
        found |= {
            "corpus.documents": _log(texts.documents),
            "corpus.passages": _log(texts.passages_per_document),
            "corpus.tokens": _log(texts.mean_tokens),
            "corpus.dated": texts.dated_share,
            "corpus.linked": texts.linked_share,
            "corpus.copies": texts.duplicate_share,
        }
    if (graph := diagnosis.structure) is not None and graph.nodes:
        found |= {
            "corpus.entities": _log(graph.nodes),
            "corpus.relations": _log(graph.relations / graph.nodes),
            "corpus.relation_types": _log(graph.relation_types / graph.relations) if graph.relations else None,
            "corpus.density": _log(graph.density),
            "corpus.degree": _log(graph.mean_degree),
            "corpus.hub": graph.largest_degree_centrality,
            "corpus.components": _log(graph.components / graph.nodes),
            "corpus.largest": graph.largest_component_share,
            "corpus.clustering": graph.mean_clustering,
        }
    if (meaning := diagnosis.quick_meaning or diagnosis.meaning) is not None:
        far = meaning.centroid_distance
        found |= {
            "corpus.dimension": meaning.intrinsic_dimension,
            "corpus.hubness": meaning.hubness,
            "corpus.distance": far.mean if far else None,
            "corpus.spread": far.deviation if far else None,
            "corpus.doubles": meaning.duplicates / meaning.neighbours_of.size if meaning.neighbours_of.size else None,
        }
    return found


def _log(value: float | None) -> float | None:
    """None of what has no logarithm."""
    return math.log(value) if value else None
