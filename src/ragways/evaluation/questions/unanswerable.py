"""Questions that the corpus does not answer, and that look as if it did.

An entity is swapped for another of its type, of which no such thing is said; a fact is asked for that stands nowhere,
of somebody who is only described; a date is moved to one at which it did not happen. Each is kept only if no document
that holds the name also holds a word with which the answer could be said.
"""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from ragways.evaluation.questions.corpus import CorpusText, Subject
from ragways.evaluation.questions.draft import Absent, NothingToAsk, QuestionDraft, null
from ragways.evaluation.questions.facts import Fact, written_forms
from ragways.evaluation.questions.source import QuestionSource, grouped
from ragways.evaluation.questions.templates import describe, stated, which
from ragways.evaluation.questions.wordings import LOOSE, TABLE, Wording, date_of

_TRIES = 30
_YEAR = re.compile(r"\d{3,4}")
_BESIDE = 250
"""Characters after a name in which a year is taken to be said of it."""
_FAR, _FARTHEST = 3, 60
"""Years by which a date is moved."""


def swapped(source: QuestionSource, random: Random) -> QuestionDraft:
    """A fact asked of another subject of the same type, of which nothing of the sort is said."""
    fact = _any(source, random)
    subjects = source.subjects.all
    groups = source.once("groups", lambda: grouped((subjects[id] for id in sorted(subjects)), _group))
    same = [one for one in groups[_group(fact.subject)] if one.id != fact.subject.id]
    for _ in range(_TRIES if same else 0):
        subject = random.choice(same)
        called = _called(subject.bare)
        if _silent(source, subject.id, called, fact.wording):
            text = fact.wording.ask.format(x=subject.name)
            absent = tuple((name, fact.wording.cues) for name in called)
            return null(text, names=(subject.bare,), path=(fact.id, subject.id), absent=absent, note="entity swapped")
    raise NothingToAsk


def _group(subject: Subject) -> tuple[str, str]:
    return subject.group, subject.kind


def removed(source: QuestionSource, random: Random) -> QuestionDraft:
    """A chain whose last fact is missing: the bridge is in the corpus, what is asked of it is not."""
    facts = source.once("bridges", lambda: _bridges(source))
    for _ in range(_TRIES if facts else 0):
        fact = random.choice(facts)
        wordings = _asked_of(source, fact)
        wording = random.choice(wordings) if wordings else None
        led = source.subjects.all.get(fact.leads_to)
        called = _called(fact.value, *([led.bare] if led is not None else []))
        if wording is not None and _silent(source, fact.leads_to, called, wording):
            text = wording.ask.format(x=describe(source, fact, fact.subject.name))
            absent = tuple((name, wording.cues) for name in called)
            path = (fact.id, wording.name)
            return null(text, names=(fact.subject.bare,), path=path, absent=absent, note="fact removed")
    raise NothingToAsk


def moved(source: QuestionSource, random: Random) -> QuestionDraft:
    """A true statement with another date, at which nothing of the sort happened."""
    dated = source.once("dated", lambda: grouped(_dated(source), lambda fact: fact.wording.name))
    for _ in range(_TRIES if dated else 0):
        facts = dated[random.choice(sorted(dated))]
        fact = random.choice(facts)
        other = _other_date(fact.date or fact.value, random, facts)
        if other is None:
            continue
        if fact.date:
            on = "on" if _day(other) else "in"
            text = f"{fact.wording.ask.format(x=fact.subject.name)[:-1]} {on} {other}?"
            absent: Absent = tuple((fact.subject.bare, (form,)) for form in written_forms(other))
        else:
            asked = which(fact.subject.type, fact.subject.kind)
            if asked is None or (fact.subject.kind == "person" and not _day(other)):
                continue  # of a year alone nobody could tell who is meant
            text = f"{asked} {stated(source, replace(fact, value=other))}?"
            # Of a day, no document may speak at all: it may stand in brackets, without a word for what happened.
            any_mention = _day(other) or fact.wording.name in ("birth date", "death date")
            absent = tuple((form, ("",) if any_mention else fact.wording.cues) for form in written_forms(other))
        return null(text, names=(fact.subject.bare,), path=(fact.id, other), absent=absent, note="date moved")
    raise NothingToAsk


_LOOSE_TYPES = frozenset({"series", "record", "single", "show", "map", "sequence"})
"""Of these there are things of other kinds: a series of storms has no illustrator."""
_OF_PEOPLE = ("birth date", "birth place", "death date", "death place", "spouse", "father", "mother")


def _any(source: QuestionSource, random: Random) -> Fact:
    """A fact, the same chance for every relation."""
    telling = source.facts.telling
    facts = {name: facts for name, facts in source.facts.saying.items() if name in telling and facts[0].subject.kind}
    fact = random.choice(facts[random.choice(sorted(facts))]) if facts else None
    if fact is None or not fact.subject.kind or fact.subject.type in _LOOSE_TYPES:
        raise NothingToAsk
    return fact


def _called(*names: str) -> tuple[str, ...]:
    """What texts may call it: `Gallow Quay, Morvane` is Gallow Quay, too."""
    return tuple(dict.fromkeys(form for name in names for form in (name, name.split(",")[0])))


def _silent(source: QuestionSource, id: str, names: tuple[str, ...], wording: Wording) -> bool:
    """Whether nothing is said of it under any of its names, as far as words and dates can tell."""
    return source.once(f"silent {id} {wording.name} {names}", lambda: _says_nothing(source, id, names, wording))


def _says_nothing(source: QuestionSource, id: str, names: tuple[str, ...], wording: Wording) -> bool:
    if (id, wording.name) in source.facts.known:
        return False
    if any(source.texts.speaking(name, wording.cues) for name in names):
        return False
    # A date may stand without a word for it: `Ada Holm (1770 – 1841) was`, `a 1941 film`.
    bare_date = wording.sort == "date" or wording.name in ("birth place", "death place")
    return not bare_date or not any(
        _dates(text, name, text.id == id) for name in names for text in source.texts.holding(name)
    )


def _dates(text: CorpusText, name: str, about: bool) -> bool:
    """Whether a year stands beside a name, or in the opening of the document about it."""
    whole = text.document.text
    places = [0] if about else []
    places += [match.start() for match in re.finditer(re.escape(name), whole)]
    return any(_YEAR.search(whole, at, at + _BESIDE) for at in places)


def _bridges(source: QuestionSource) -> list[Fact]:
    """Facts that lead to a name of at least two words, which a text cannot mean otherwise."""
    return [
        fact
        for fact in source.facts.every
        if fact.wording.describe and " " in fact.value and fact.id in source.facts.sure
    ]


def _dated(source: QuestionSource) -> list[Fact]:
    """Facts that are dates, or have one."""
    return [f for f in source.facts.every if f.date or (f.wording.sort == "date" and f.wording.state)]


def _asked_of(source: QuestionSource, fact: Fact) -> list[Wording]:
    """What is said of others like the one that a fact leads to; where no document is about it, what is of people."""
    led = source.subjects.all.get(fact.leads_to)
    if led is None:
        person = fact.wording.sort == "person" and fact.wording.name in TABLE.keys() - LOOSE
        return [TABLE[name] for name in _OF_PEOPLE] if person else []
    group = led.group
    return source.once(
        f"asked of {group}",
        lambda: [
            facts[0].wording
            for name, facts in sorted(source.facts.saying.items())
            if name in source.facts.telling and any(one.subject.group == group for one in facts)
        ],
    )


def _other_date(date: str, random: Random, others: list[Fact]) -> str | None:
    """The same date some years earlier or later, not beyond what is said of others."""
    known = date_of(date)
    if known is None:
        return None
    years = [at.year for fact in others if (at := date_of(fact.date or fact.value)) is not None]
    low, high = min((*years, known.year - _FARTHEST // 2)), max((*years, known.year))
    year = known.year + random.choice((-1, 1)) * random.randint(_FAR, _FARTHEST)
    return date.replace(str(known.year), str(year)) if 0 < low <= year <= high else None


def _day(value: str) -> int:
    """The day of a date, 0 where it is not known."""
    date = date_of(value)
    return date.day if date is not None else 0
