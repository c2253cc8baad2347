"""What a document means by its names: which entity each of them leads to.

It depends on the document's own names and on what the corpus tells of them (`claims`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property

from ragways.index.graph.claim_rows import ACRONYM, ALONE, KIND, SHORT, SPELLING, USED, Claim
from ragways.index.graph.claims import Into, NameAnswers
from ragways.index.graph.data import DocumentFacts, DocumentGraph, document_graph
from ragways.index.graph.names import coarse, fold, letters_of, split_title
from ragways.index.graph.resolve import DocumentNames, Key, exclusive_kind, is_called, people_by_word

_STEPS = 8
"""Merges that lead on from one another, at most: a circle must end."""


class DocumentMeaning:
    """Asks for no more of the corpus than each of its parts needs, so that claims of one kind can rest on others.
    `asked` are the keys of what it asked.
    """

    def __init__(self, names: DocumentNames, answers: NameAnswers) -> None:
        self._heard, self._answers = names, answers
        self.asked: set[int] = set()
        self._title, self._names = names.title, names.names
        self._own = fold(split_title(names.title)[0])
        self._taken: dict[str, Into | None] = {}

    def thought(self) -> bytes:
        """What was found out until now, for one that has the same names to go on with (`going_on`)."""
        aliases, short_forms, known = map(self.__dict__.get, ("_aliases", "_short_forms", "_known"))
        kinds = None if known is None else {name: [*some] for name, some in known.items()}
        return json.dumps([[*self.asked], self._taken, aliases, short_forms, kinds]).encode()

    @classmethod
    def going_on(cls, names: bytes, thought: bytes | None, answers: NameAnswers) -> DocumentMeaning:
        """By packed names, and what another has found out, if any has."""
        made = cls(DocumentNames.unpacked(names), answers)
        if thought is not None:
            asked, taken, aliases, short_forms, kinds = json.loads(thought)
            made.asked.update(asked)
            made._taken = {name: into and (into[0], into[1]) for name, into in taken.items()}
            if aliases is not None:
                made._aliases = {short: [(name, why) for name, why in into] for short, into in aliases.items()}
            if short_forms is not None:
                made._short_forms = short_forms
            if kinds is not None:
                made._known = {name: {*some} for name, some in kinds.items()}
        return made

    def heard(self) -> Iterator[tuple[Claim, int]]:
        """What it claims whatever the corpus tells: spellings, and names of one word."""
        firsts = {name.partition(" ")[0] for name in self._names if " " in name}
        for name, use in self._names.items():
            for spelling, count in use.spellings.items():
                yield (SPELLING, name, spelling), count
            if " " not in name:
                yield (USED, name, ""), 1
                if name not in firsts:
                    yield (ALONE, name, ""), 1

    def taken(self) -> Iterator[tuple[Claim, int]]:
        """What it takes for short forms and acronyms."""
        self._answers.asked = self.asked
        for name in self._short_forms:
            yield (SHORT, name, ""), 1
        for short, into in self._aliases.items():
            for name in {name for name, reason in into if reason == "acronym"}:
                yield (ACRONYM, short, name), 1

    def kinds(self) -> Iterator[tuple[Claim, int]]:
        """Of which kinds the things are that its names lead to."""
        self._answers.asked = self.asked
        for final, kinds in self._known.items():
            for kind in kinds:
                yield (KIND, final, kind), 1

    @cached_property
    def _aliases(self) -> dict[str, list[Into]]:
        """Other names that it gives, and what they are names of."""
        found: dict[str, list[Into]] = {}
        for name, use in self._names.items():
            for alias in use.aliases:
                short = fold(alias)
                if self._answers.titled(short) and short != self._own:
                    continue
                acronym = any(alias.rstrip("s").replace(".", "") == letters_of(s) for s in use.spellings)
                found.setdefault(short, []).append((name, "acronym" if acronym else "alias"))
        return found

    @cached_property
    def _short_forms(self) -> dict[str, str]:
        """`Tamsett` is `Oriel Tamsett` in a document that says both, and calls nobody else so."""
        answers, found = self._answers, {}
        # `Python Memcached` is no person: elsewhere Python is something by itself.
        people = people_by_word(self._heard, lambda word: answers.alone(word) or answers.common(word))
        for name, use in self._names.items():
            if " " in name or len(name) < 3 or not name.isalpha():
                continue
            if not (into := people.get(name, set())):
                continue
            if answers.titled(name) or answers.common(name):
                continue
            if len(into) > 1 and self._own in into:
                into = {self._own}
            if len(into) == 1 and use.kind in ("", "person") and any(map(is_called, use.spellings)):
                found[name] = next(iter(into))
        return found

    def _merge(self, name: str) -> Into | None:
        """What a name is taken for: in this document, else anywhere."""
        if name not in self._taken:
            allowed = [into for into in self._merges(name) if self._answers.allowed(name, into[0])]
            self._taken[name] = min(allowed, default=None)
        return self._taken[name] or self._answers.everywhere(name)

    def _merges(self, name: str) -> Iterator[Into]:
        """What a name may be taken for in this document."""
        if name in self._names and (title := self._answers.only(name)):
            ending = split_title(title)[1]
            kind, meant = coarse(ending), self._names[name].kind
            told = meant == kind if meant and kind else bool(kind) and " " in name
            if told or fold(ending) in self._names:
                yield fold(title), "the only article of this name"
        yield from self._aliases.get(name, ())
        full = self._short_forms.get(name)
        if full is not None and full == self._own:
            yield fold(self._title), "short form"
        elif full is not None and self._answers.usual(name):  # `Germany`, beside one `Nazi Germany`, is a name itself
            yield full, "short form"

    def _final(self, name: str) -> str:
        here = fold(name)
        if self._answers.apart(name, here):
            here = f"{here}\x1f{name}"
        for _ in range(_STEPS):
            merge = self._merge(here)
            if merge is None:
                break
            here = merge[0]
        return here

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for use in self._names.values():
            if kinds := {exclusive_kind(type) for type in use.types} - {""}:
                found.setdefault(self._final(next(iter(use.spellings))), set()).update(kinds)
        return found

    def graph(
        self, facts: DocumentFacts
    ) -> tuple[DocumentGraph, dict[tuple[str, str], Key], dict[tuple[str, Key], Into]]:
        """What it adds to the graph by its facts; the entities that its names, with their types, lead to where that
        is not the name itself; and what names are taken for.
        """
        self._answers.asked = self.asked
        keys: dict[tuple[str, str], Key] = {}
        merges: dict[tuple[str, Key], Into | None] = {}

        def key(name: str, type: str) -> Key:
            if (name, type) not in keys:
                keys[name, type] = self._key(name, type)
            return keys[name, type]

        def merged(name: str, key: Key) -> Into | None:
            if (name, key) not in merges:
                merges[name, key] = self._merged(name, key)
            return merges[name, key]

        made = document_graph(facts, key, merged)
        return (
            made,
            {asked: key for asked, key in keys.items() if key != (fold(asked[0]), "")},
            {taken: into for taken, into in merges.items() if into is not None},
        )

    def _key(self, name: str, type: str) -> Key:
        """The entity that is meant by a name, with a type where it has one."""
        final = self._final(name)
        kinds = self._answers.kinds(final)
        if not kinds:
            return final, ""
        kind = exclusive_kind(type)
        if kind in kinds:
            return final, kind
        here = self._known.get(final, set())
        return final, next(iter(here)) if len(here) == 1 else ""

    def _merged(self, name: str, key: Key) -> Into | None:
        """What a name was taken for, and why, for a person to see and undo."""
        main = self._answers.shown(key[0]) or name
        if name in (main, ""):
            return None
        merge = self._merge(fold(name))
        if merge is not None:
            return self._answers.shown(merge[0]) or main, merge[1]
        return (main, "same name") if name.casefold() != main.casefold() else None
