"""Which entities of the graph can be asked about, and which sentences say something of them on their own.

A model is shown every entity that is one. Templates are stricter: a question by rule needs a name that means one thing,
a proper name or a concept (`radiation therapy`), and a sentence that is about it and can be understood alone.
"""

from __future__ import annotations

import re

from ragways.core import dates
from ragways.evaluation.question import plain_words
from ragways.evaluation.questions.corpus import Subject
from ragways.evaluation.questions.source import QuestionSource
from ragways.layers.graph.names import STOP, WordCounts, fold, split_title
from ragways.layers.protocols import GraphEntity

_NOT_ASKED = frozenset({"date", "quantity"})
LONGEST, MOST_WORDS = 60, 8
"""Characters and words of a name."""
_CONCEPT_WORDS, _CONCEPT_LETTERS = 5, 6
"""Words of a concept at most, and letters of one that is a single word."""
_DATED = re.compile(rf"\b(?:{'|'.join(dates.MONTHS)})\b|\d{{4}}$|^\d")
"""A name that is a date, or little more."""
_SIGNS = re.compile(r"[\n|<>{}@©=\\_]| [-–—] |https?:|www\.")
_OPENERS_WORDS = """
and but or nor if when while however although because since then thus there here this that these those what which who
how why where he she it they we you i my his her their our your its not no yes as at by for from in on of to with is are
was were do does did has have had can could will would should may might must also another any each every some such let
see read click please
"""
_OPENERS = frozenset(_OPENERS_WORDS.split())
"""Words that begin a sentence or a heading, not a name."""
_CLOSERS_WORDS = "the a an and or but of in on at by for from to with as is are was were be that which"
_CLOSERS = frozenset(_CLOSERS_WORDS.split())
_ASIDE = r"(?: ?\([^()]*\))*(?:, [^,]{3,80},)? (?:(?:also|often|still|now|[a-z]{3,}ly) )?"
_VERBS = (
    "is|are|was|were|has|have|had|can|could|may|might|will|would|must|does|did|became|began|[a-z]{2,}ed|includes?|"
    "involves?|uses?|refers?|means|occurs?|helps?|causes?|starts?|begins?|consists?|contains?|works|affects?|treats|shows|"
    "removes?|allows?|provides?|requires?|spreads?|grows?|forms|measures|describes?|combines?|integrates|draws|aims"
)
_VERBS_OF_NAMES = (
    r"[a-z]{2,}s(?! (?:is|are|was|were|has|have|had|can|could|may|might|will|would|must|who|that)\b)|built|wrote|won|"
    "made|led|took|held|ran|met|fought|sold|grew|drew|lost|left|came|went|gave|found|set|stood|rose|fell|bought|brought"
)
"""After a proper name a word in -s is a verb; a concept may go on with one (`deep learning models`)."""
_AFTER_CONCEPT = re.compile(rf"{_ASIDE}(?:{_VERBS})\b")
_AFTER_NAME = re.compile(rf"{_ASIDE}(?:{_VERBS}|{_VERBS_OF_NAMES})\b")
_SPOKEN = re.compile(
    r"[\"“”?]|\b(?:I|we|you|me|us|my|our|your|this|these|those|here|above|below|following|however|"
    r"also(?! known| called)|therefore|moreover|furthermore|instead|meanwhile|on the other hand|for example|"
    r"for instance|as a result)\b",
    re.IGNORECASE,
)
"""Speech, and words that point to what stands before: such a sentence does not tell who or what is meant."""
_SENTENCE = re.compile(r"(?=.{30,320}$)(?!.* \| |.*: |.*[a-z)]\. [A-Z])[^\W\d_a-z].*[^\W_)][)]?\.")
"""A sentence, rather than a line of a box, a row of a table, a heading or a point of a list."""
_COMMAS = 5


def no_name(name: str) -> bool:
    """Junk that was taken for an entity: dates, bits of sentences, headings, addresses."""
    words = re.findall(r"[\w'’.&-]+", name)
    letters = sum(letter.isalpha() for letter in name)
    if letters < 2 or len(name) > LONGEST or len(words) > MOST_WORDS or _SIGNS.search(name) or _DATED.search(name):
        return True
    if sum(letter.isdigit() for letter in name) >= letters or all(word.casefold() in STOP for word in words):
        return True
    shouted = len(words) > 1 and letters > 8 and name.isupper()
    repeated = len({word.casefold() for word in words}) < len(words) and len(words) > 2
    clipped = words[0].casefold() in _OPENERS or words[-1].casefold() in _CLOSERS or words[-1].endswith(("'s", "’s"))
    return shouted or repeated or clipped or re.search(r"['’](?:ll|re|ve|d|m|t)\b", name) is not None


def real(source: QuestionSource, entity: GraphEntity) -> bool:
    """What a model may be asked to write about: everything but dates, amounts and junk. A title is no junk."""
    if entity.type in _NOT_ASKED:
        return False
    return source.subjects.named(entity.name) is not None or not no_name(split_title(entity.name)[0])


def nameable(source: QuestionSource, entity: GraphEntity) -> bool:
    """A name that stands for one thing in a question: that of a document, a proper name of several words, a concept."""
    if not real(source, entity):
        return False
    subject = source.subjects.named(entity.name)
    if subject is not None:
        return means_one(subject)
    name = split_title(entity.name)[0]
    if concept(source, name):
        # Rules take names by their capitals: one of small words is a heading.
        words = name.split()
        long = len(words) > 1 or (len(name) >= _CONCEPT_LETTERS and not common(source, entity))
        return not entity.way.startswith("rules") and len(words) <= _CONCEPT_WORDS and long
    capitals = all(word[:1].isupper() for word in re.findall(r"[^\W\d_][\w'’]{3,}", name))
    return capitals and " " in name and name[0].isupper() and not name.startswith(("The ", "A ")) and (
        not name[-1].isdigit() and not re.search(r"['’]s\b", name)
    )  # fmt: skip


def means_one(subject: Subject) -> bool:
    """Whether the name of a document is enough. What is called by one common word, or by a first name, is hardly ever
    meant by it.
    """
    known = subject.kind in ("place", "person", "organization") and not split_title(subject.text.title)[1]
    return " " in subject.bare or known


def concept(source: QuestionSource, name: str) -> bool:
    """Whether a name is made of words that the corpus writes small: `Radiation Therapy` as much as `wound`."""
    words = source.once("words", lambda: WordCounts(text.document.text for text in source.texts.all))
    return name.islower() or all(words.common(word) for word in re.findall(r"[^\W\d_]+", name))


def common(source: QuestionSource, entity: GraphEntity) -> bool:
    """Whether it is named all over the corpus, and no document is about it: what it is joined to says little."""
    return source.subjects.named(entity.name) is None and entity.chunks > max(10, len(source.chunks) // 20)


def central(source: QuestionSource, entity: GraphEntity) -> bool:
    """A name that much may be asked about: where documents are about things, one of those."""
    return nameable(source, entity) and (not titled(source) or source.subjects.named(entity.name) is not None)


def titled(source: QuestionSource) -> bool:
    """Whether most documents are about the thing their title names; of headlines and chapters that cannot be said."""
    return 2 * len(source.subjects.all) >= len(source.texts.all)


def alike(one: str, other: str) -> bool:
    """Whether one name holds the other: nothing is to be asked between `Ghent` and `Ghent University`."""
    first, second = f" {fold(one)} ", f" {fold(other)} "
    return first in second or second in first or first.split()[:1] == second.split()[:1]


def shown(source: QuestionSource, name: str, quote: str = "") -> str:
    """A name as questions write it: small where the corpus writes it so, and with its article."""
    subject = source.subjects.named(name)
    bare = subject.name if subject is not None else split_title(name)[0]
    if subject is not None:
        small = " " in bare and not subject.kind and bare[1:] == bare[1:].casefold()
    else:
        small = concept(source, bare) and not any(word.isupper() and len(word) > 1 for word in bare.split())
    bare = bare.casefold() if small else bare
    if bare.startswith(("the ", "The ")) or (subject is not None and not small):
        return bare
    articles = "the|an?" if small else "the"
    article = re.search(rf"\b({articles}) {re.escape(bare)}(?={_NO_MORE})", quote, re.IGNORECASE)
    return f"{article[1].lower()} {bare}" if article else bare


_NO_MORE = r"[,.;)]|$| (?:\(|(?:of|in|on|at|by|for|from|to|with|and|or|is|was|are|were|has|have|had|can|may|will)\b)"
"""What may follow a name for it to end there: `the Epic Games app` is another thing."""


# Sentences


def tells(sentence: str, name: str, *others: str) -> bool:
    """Whether a sentence is about a name, holds the others too, and is understood without what stands around it."""
    begin = next((len(article) for article in ("The ", "An ", "A ") if sentence.startswith(article)), 0)
    begin = 0 if sentence.casefold().startswith(name.casefold()) else begin
    written = sentence[begin : begin + len(name)]
    if written.casefold() != name.casefold():
        return False
    goes_on = _AFTER_CONCEPT if written[1:] == written[1:].casefold() else _AFTER_NAME
    if not goes_on.match(sentence, begin + len(name)) or not _SENTENCE.fullmatch(sentence):
        return False
    if _SPOKEN.search(sentence) or sentence.count(",") > _COMMAS:
        return False
    # What stands in brackets is another name of something rather than another thing.
    words = f" {plain_words(re.sub(r'[(][^()]*[)]', '', sentence))} "
    return all(f" {plain_words(other)} " in words for other in others)


def states(sentence: str, name: str) -> bool:
    """Whether a sentence says what something is or was, rather than what it did on a day."""
    after = rf"(?:The |An? )?(?i:{re.escape(name)})(?: ?\([^()]*\))*(?:, [^,]{{3,80}},)? (?:is|was|are|were|became) "
    return re.match(after, sentence) is not None


def told_by_story(source: QuestionSource, entity: GraphEntity) -> bool:
    """Whether all that is known of an entity is that prose names it: no document is about it, and no model found it."""
    return entity.way.startswith("rules") and source.subjects.named(entity.name) is None


def telling(source: QuestionSource, chunk: str, *names: str) -> str:
    """The first sentence of a chunk that is about one of these names and holds all of them."""
    for sentence in source.sentences(chunk):
        for name in names:
            if tells(sentence, name, *(other for other in names if other != name)):
                return sentence
    return ""
