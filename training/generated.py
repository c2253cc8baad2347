"""Questions over two passages, made from what encyclopedia articles say of their subject in their first sentences.

A fact is (subject, relation, object, where it stands); a chain joins two where the object of one is the subject of
another. Passages that a question kept for the figures rests on are left out by the caller.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ragways.models.reader import Passage
from training.data import Row

_NAME = r"((?:(?:[A-Z][\w'’.-]*|de|von|van|of|the|al|bin|ibn) ){0,6}[A-Z][\w'’-]+)"
_DATE = r"(\d{1,2} [A-Z]\w+ \d{4}|[A-Z]\w+ \d{1,2}, ?\d{4})"
_PATTERNS: Sequence[tuple[str, str]] = (
    ("director", rf"\bfilms?\b[^.]{{0,120}}?\bdirected by {_NAME}"),
    ("composer", rf"\b(?:music|score)(?: was)?(?: is)? (?:composed )?by {_NAME}"),
    (
        "performer",
        rf"\b(?:song|single|album)\b[^.]{{0,80}}?\bby (?:American |English |British )?(?:\w+ ){{0,3}}?{_NAME}",
    ),
    ("father", rf"\b(?:son|daughter|child) of (?:King |Prince |Duke |Sir |Count |Emperor )?{_NAME}"),
    ("mother", rf"\b(?:son|daughter|child) of [^.,;]{{3,40}}? and (?:his wife |Queen |Princess )?{_NAME}"),
    (
        "spouse",
        rf"\b(?:married(?: to)?|wife of|husband of|spouse of) (?:King |Prince |actor |actress |singer )?{_NAME}",
    ),
    ("birth date", rf"\( ?(?:born )?{_DATE}"),
    ("death date", rf"\([^)]{{0,60}}?\d{{4}}\s?[–-] ?{_DATE} ?\)"),
    ("birth place", r"\b(?:was )?born (?:on [^.]{0,24} )?(?:in|at) ([A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"),
    ("death place", r"\bdied (?:on [^.]{0,24} )?(?:in|at) ([A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"),
    ("year", r"\bis an? (?:upcoming )?(\d{4}) [^.]{0,60}?\bfilm\b"),
)
_OF = {
    "director": ("the director of film {}", "film {}'s director", "the man who directed {}"),
    "composer": ("the composer of film {}", "the person who wrote the music of {}"),
    "performer": ("the performer of song {}", "the artist who recorded {}"),
    "father": ("{}'s father", "the father of {}"),
    "mother": ("{}'s mother", "the mother of {}"),
    "spouse": ("{}'s spouse", "the spouse of {}", "the husband or wife of {}"),
}
_ASK = {
    "birth date": ("When was {} born?", "What is the date of birth of {}?", "What is {}'s birthday?"),
    "death date": ("When did {} die?", "What is the date of death of {}?"),
    "birth place": ("Where was {} born?", "What is the place of birth of {}?", "In which place was {} born?"),
    "death place": ("Where did {} die?", "What is the place of death of {}?"),
    "father": ("Who is the father of {}?", "Who is {}'s father?"),
    "mother": ("Who is the mother of {}?", "Who is {}'s mother?"),
    "spouse": ("Who is the spouse of {}?", "Who is {} married to?"),
    "director": ("Who directed {}?", "Who is the director of film {}?"),
}
_FIRST = {
    "year": ("Which film came out first, {} or {}?", "Which film was released earlier, {} or {}?"),
    "birth date": ("Who was born first, {} or {}?", "Who is older, {} or {}?"),
    "death date": ("Who died first, {} or {}?", "Who died earlier, {} or {}?"),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """What the passage at a place says of its subject; the object is `start:end` of what is shown of the passage."""

    passage: int
    subject: str
    relation: str
    object: str
    start: int
    end: int


def facts_of(corpus: Sequence[Passage], skip: frozenset[int]) -> list[Fact]:
    """Facts that the patterns find, each relation once in a passage; passages at the places in `skip` are not read."""
    found = []
    for at, passage in enumerate(corpus):
        if at in skip:
            continue
        subject = re.sub(r"\s*\(.*?\)$", "", passage.title)
        text = passage.shown
        for relation, pattern in _PATTERNS:
            match = re.search(pattern, text[len(passage.title) :])
            if match:
                start, said = match.start(1) + len(passage.title), match.group(1).rstrip(" .")
                found.append(Fact(at, subject, relation, said, start, start + len(said)))
    return found


def generated_rows(
    corpus: Sequence[Passage], skip: frozenset[int], dice: random.Random, *, most: int = 9000
) -> list[Row]:
    """Rows over pairs and single passages, and the same with a wrong passage, which have no answer."""
    facts = facts_of(corpus, skip)
    by_subject: dict[str, list[Fact]] = defaultdict(list)
    by_relation: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_subject[fact.subject.lower()].append(fact)
        by_relation[fact.relation].append(fact)
    rows: list[Row] = []
    for first in facts:
        for second in by_subject.get(first.object.lower(), ()) if first.relation in _OF else ():
            if second.passage != first.passage and second.relation in _ASK:
                rows += _chain(corpus, first, second, facts, dice)
        if first.relation in _ASK:
            asked = dice.choice(_ASK[first.relation]).format(first.subject)
            wrong = corpus[dice.choice(facts).passage]
            rows.append(_row(asked, [(corpus[first.passage], 1.0)], first, dice))
            rows.append(_row(asked, [(wrong, 0.0)], None, dice))
            rows.append(_row(asked, [(corpus[first.passage], 1.0), (wrong, 0.0)], first, dice))
    for relation, questions in _FIRST.items():
        for one in by_relation[relation]:
            other = dice.choice(by_relation[relation])
            rows += _compared(corpus, one, other, dice.choice(questions))
    dice.shuffle(rows)
    return rows[:most]


def _row(asked: str, passages: list[tuple[Passage, float]], fact: Fact | None, dice: random.Random) -> Row:
    """The passages in any order; the answer is the fact's, which is of the first of them, or nowhere."""
    order = list(range(len(passages)))
    dice.shuffle(order)
    shown = tuple(passages[at][0] for at in order)
    evidence = tuple(passages[at][1] for at in order)
    if fact is None:
        return Row(asked, shown, -1, evidence=evidence, source="generated")
    return Row(asked, shown, order.index(0), fact.start, fact.end, evidence, source="generated")


def _chain(
    corpus: Sequence[Passage], first: Fact, second: Fact, facts: Sequence[Fact], dice: random.Random
) -> list[Row]:
    asked = dice.choice(_ASK[second.relation]).format(dice.choice(_OF[first.relation]).format(first.subject))
    one, two = corpus[first.passage], corpus[second.passage]
    wrong, worse = (corpus[dice.choice(facts).passage] for _ in range(2))
    return [
        _row(asked, [(two, 1.0), (one, 1.0)], second, dice),
        _row(asked, [(two, 1.0), (one, 1.0), (wrong, 0.0), (worse, 0.0)], second, dice),
        _row(asked, [(two, 1.0)], second, dice),
        _row(asked, [(one, 1.0), (wrong, 0.0)], None, dice),
        _row(asked, [(one, 1.0)], None, dice),
    ]


def _compared(corpus: Sequence[Passage], one: Fact, other: Fact, question: str) -> list[Row]:
    years = [int(found.group()) for found in (re.search(r"\d{4}", fact.object) for fact in (one, other)) if found]
    if one.passage == other.passage or len(years) < 2 or years[0] == years[1]:
        return []
    chosen = 0 if years[0] < years[1] else 1
    subject = (one, other)[chosen].subject
    passages = (corpus[one.passage], corpus[other.passage])
    asked = question.format(one.subject, other.subject)
    return [Row(asked, passages, chosen, 0, len(subject), (1.0, 1.0), source="generated")]
