"""What documents claim of names, counted over the corpus, and what follows from it for a name.

A claim is made by a document with its names (`heard`), with what it takes for a short form or an acronym (`taken`), and
with the kinds of things that its names lead to (`kinds`). Answers are asked in this order, so there is no circle.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ragways.index.graph.claim_rows import (
    ACRONYM,
    ALONE,
    KIND,
    SHORT,
    SPELLING,
    USED,
    Claim,
    Said,
    add_claims,
    claims_of_name,
    claims_of_names,
)
from ragways.index.graph.corpus_names import WORD, End, end_title, key_of, only_title, titled
from ragways.index.graph.names import fold
from ragways.index.graph.resolve import veto_hash

T = TypeVar("T")

NAMED, TITLED, ITSELF, SHORTENED = "NTAU"
"""What the keys of names begin with: what is asked of every name (where it leads, how it is shown, its kinds), and what
few ask: for its article, whether it is something by itself, and whether it mostly is a short form.
"""

Into = tuple[str, str]
"""A name that another is taken for, and the reason."""
_HELD = 300_000
"""Answers that are remembered, and claims that are counted in memory, at most."""
_HELD_NAMES = 50_000
"""Names whose claims, and the answers to one question, are remembered at most: several things are asked of a name one
after the other.
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What the corpus tells otherwise than before: keys of what may have been asked, and names that are shown anew."""

    keys: set[int]
    renamed: set[str]


class NameAnswers:
    """What the corpus tells of a name. `asked` takes up the keys of what is asked; whoever asks puts a set there."""

    def __init__(
        self,
        db: sqlite3.Connection,
        common: Callable[[str], bool],
        forbidden: Collection[str] = (),
        near: Mapping[str, Into] | None = None,
    ) -> None:
        self._db, self._is_common, self.forbidden, self.near = db, common, forbidden, near or {}
        self.asked: set[int] = set()
        self._known: dict[str, dict[str, object]] = defaultdict(dict)
        """What was answered, by question and name."""
        self._claims: dict[str, Said] = {}
        self._titles: dict[str, str] = {}
        self._words: dict[str, bool] = {}
        self._ends: Mapping[str, End] = {}
        """Where names led, while it is asked what was told before."""

    def forget(self) -> None:
        """Claims have changed: ask the tables again."""
        self._known.clear()
        self._claims.clear()

    def _answer(self, what: str, name: str, ask: Callable[[str], T], kind: str = NAMED) -> T:
        self.asked.add(key_of(kind, name))
        known = self._known[what]
        if name not in known:
            if len(known) > _HELD_NAMES:
                known.clear()
            known[name] = ask(name)
        return known[name]  # type: ignore[return-value]

    def common(self, word: str) -> bool:
        """Whether a word is an everyday one."""
        self.asked.add(key_of(WORD, word.casefold()))
        found = self._words.get(word)
        if found is None:
            if len(self._words) > _HELD:
                self._words.clear()
            found = self._words[word] = self._is_common(word)
        return found

    def titled(self, name: str) -> str:
        """The title of the article that a name leads to; nothing where there is none."""
        return self._answer("title", name, self._titled, TITLED)

    def _titled(self, name: str) -> str:
        if name in self._ends:
            return self._ends[name][0]
        found = self._titles.get(name)
        if found is None:
            if len(self._titles) > _HELD:
                self._titles.clear()
            found = self._titles[name] = titled(self._db, name)
        return found

    def only(self, base: str) -> str:
        """The title of the one article that has this name and an ending, where none has the name itself."""
        return self._answer("only", base, self._only)

    def _only(self, base: str) -> str:
        if self._titled(base):
            return ""
        return self._ends[base][1] if base in self._ends else only_title(self._db, base)

    def alone(self, word: str) -> bool:
        """Whether a word is something by itself."""
        return self._answer("alone", word, self._alone, ITSELF)

    def _alone(self, word: str) -> bool:
        return bool(self._titled(word)) or ALONE in self._said(word)

    def usual(self, name: str) -> bool:
        """Whether most documents that use a word use it as the short form of a name."""
        return self._answer("usual", name, self._usual, SHORTENED)

    def _usual(self, name: str) -> bool:
        said = self._said(name)
        short, used = (sum(said.get(claim, {}).values()) for claim in (SHORT, USED))
        return 2 * short >= used

    def _acronym(self, short: str) -> str:
        """The one name that this is an acronym of in the whole corpus; nothing where there are several or none."""
        names = self._said(short).get(ACRONYM, {})
        return next(iter(names)) if len(names) == 1 and len(short) > 1 else ""

    def shown(self, name: str) -> str:
        """How a name is shown: as the article writes it, else as most of the corpus does; nothing where none does."""
        return self._answer("shown", name, self._shown)

    def _shown(self, name: str) -> str:
        title = self._titled(name)
        if title and fold(title) == name:
            return title
        found = self._said(name).get(SPELLING, {})
        return min(found, key=lambda spelling: (-found[spelling], spelling), default="")

    def kinds(self, name: str) -> frozenset[str]:
        """Kinds of things that have the name, where they are several."""
        return self._answer("kinds", name, self._kinds)

    def _kinds(self, name: str) -> frozenset[str]:
        kinds = self._said(name).get(KIND, {})
        return frozenset(kinds) if len(kinds) > 1 else frozenset()

    def everywhere(self, name: str) -> Into | None:
        """What a name is taken for in any document."""
        return self._answer("everywhere", name, self._everywhere)

    def _everywhere(self, name: str) -> Into | None:
        said = [(fold(title), "redirect")] if (title := self._titled(name)) else []
        said += [(long, "acronym")] if (long := self._acronym(name)) else []
        allowed = [into for into in said if self.allowed(name, into[0])]
        return min(allowed, default=None) or self.near.get(name)

    def allowed(self, name: str, into: str) -> bool:
        """Whether a name may be taken for another."""
        if not name or not into or name == into:
            return False
        return not self.forbidden or veto_hash(name, into) not in self.forbidden

    def apart(self, spelling: str, name: str) -> bool:
        """Whether a spelling of a name is kept apart from how the name is shown."""
        if not self.forbidden:
            return False
        shown = self.shown(name)
        return spelling != shown and veto_hash(spelling, shown) in self.forbidden

    def _said(self, name: str) -> Said:
        """What is claimed of a name."""
        found = self._claims.get(name)
        if found is None:
            if len(self._claims) > _HELD_NAMES:
                self._claims.clear()
            found = self._claims[name] = claims_of_name(self._db, name)
        return found

    # Changes

    def change(self, claims: Counter[Claim], ends: Mapping[str, End] | None = None) -> Told:
        """Add to the claims, or take from them; what the corpus tells otherwise by it. `ends`: where names led before
        that lead elsewhere now.
        """
        more = {claim: count for claim, count in claims.items() if count}
        self._ends = ends or {}
        asked = {(claim, name) for claim, name, _ in more} | {(_END, name) for name in self._ends}
        self._read_ahead({name for _, name in asked})
        before = {each: self._told(*each) for each in asked}
        self._ends = {}
        add_claims(self._db, more)
        self.forget()
        self._read_ahead({name for _, name in asked})
        told = Told(set(), set())
        for (claim, name), was in before.items():
            now = self._told(claim, name)
            told.keys.update(key_of(kind, name) for kind in now if now[kind] != was[kind])
            if claim in (SPELLING, _END) and now[NAMED] != was[NAMED]:
                told.renamed.add(name)
        return told

    def _read_ahead(self, names: Collection[str]) -> None:
        """Read at once what is asked of many names."""
        asked = (json.dumps(sorted(names)),)
        self._titles |= dict.fromkeys(names, "")
        query = "SELECT folded, title FROM graph_ends WHERE folded IN (SELECT value FROM json_each(?))"
        self._titles |= {folded: end_title(folded, title) for folded, title in self._db.execute(query, asked)}
        self._claims |= dict.fromkeys(names, _NOTHING) | claims_of_names(self._db, names)

    def _told(self, claim: str, name: str) -> dict[str, object]:
        """What follows from claims of a kind, or from where a name leads, by the kind of key that is left for it."""
        if claim == SPELLING:
            return {NAMED: self._shown(name)}
        if claim == ACRONYM:
            return {NAMED: self._everywhere(name)}
        if claim == KIND:
            return {NAMED: self._kinds(name)}
        if claim != _END:
            return {SHORTENED: self._usual(name), ITSELF: self._alone(name)}
        leads = self._shown(name), self._everywhere(name), self._only(name)
        return {NAMED: leads, TITLED: self._titled(name), ITSELF: self._alone(name)}


_NOTHING: Said = {}
_END = ""
"""In place of a claim: where a name leads."""


def fill_claims(db: sqlite3.Connection, each: Iterable[Iterable[tuple[Claim, int]]]) -> None:
    """Add the claims of many documents."""
    held: Counter[Claim] = Counter()
    for claims in each:
        for claim, count in claims:
            held[claim] += count
        if len(held) > _HELD:
            add_claims(db, held)
            held = Counter()
    add_claims(db, held)
