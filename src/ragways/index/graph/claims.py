"""What documents claim of names, counted over the corpus, and what follows from it for a name.

A claim is made by a document with its names (`heard`), with what it takes for a short form or an acronym (`taken`), and
with the kinds of things that its names lead to (`kinds`). Answers are asked in this order, so there is no circle.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from ragways.index.graph.corpus_names import WORD, key_of
from ragways.index.graph.names import fold
from ragways.index.graph.resolve import veto_hash

T = TypeVar("T")

TABLE = """
-- `claim`: s a spelling of a name, u a name of one word is used, a it stands alone, i it is short for another name,
-- y it is an acronym of one, k a kind of thing that has the name.
CREATE TABLE IF NOT EXISTS graph_claims (
    claim TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (claim, name, value)
) WITHOUT ROWID;
"""
SPELLING, USED, ALONE, SHORT, ACRONYM, KIND = "suaiyk"
NAMED = "N"
"""What the keys of names begin with."""

Claim = tuple[str, str, str]
Into = tuple[str, str]
"""A name that another is taken for, and the reason."""
_HELD = 300_000
"""Answers that are remembered, and claims that are counted in memory, at most."""


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
        self._known: dict[tuple[str, str], object] = {}
        self._words: dict[str, bool] = {}

    def forget(self) -> None:
        """Claims have changed: ask the tables again."""
        self._known.clear()

    def _answer(self, what: str, name: str, ask: Callable[[str], T]) -> T:
        self.asked.add(key_of(NAMED, name))
        if len(self._known) > _HELD:
            self._known.clear()
        if (what, name) not in self._known:
            self._known[what, name] = ask(name)
        return self._known[what, name]  # type: ignore[return-value]

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
        return self._answer("title", name, self._titled)

    def _titled(self, name: str) -> str:
        row = self._db.execute("SELECT title FROM graph_ends WHERE folded = ?", (name,)).fetchone()
        return row[0] if row else ""

    def only(self, base: str) -> str:
        """The title of the one article that has this name and an ending, where none has the name itself."""
        return "" if self.titled(base) else self._answer("only", base, self._only)

    def _only(self, base: str) -> str:
        rows = self._db.execute(
            "SELECT DISTINCT title FROM graph_ends WHERE base = ? AND base != '' LIMIT 2", (base,)
        ).fetchall()
        return rows[0][0] if len(rows) == 1 else ""

    def alone(self, word: str) -> bool:
        """Whether a word is something by itself."""
        return bool(self.titled(word)) or self._answer("alone", word, lambda w: ALONE in self._counts(w))

    def usual(self, name: str) -> bool:
        """Whether most documents that use a word use it as the short form of a name."""
        return self._answer("usual", name, self._usual)

    def _usual(self, name: str) -> bool:
        counts = self._counts(name)
        return 2 * counts.get(SHORT, 0) >= counts.get(USED, 0)

    def acronym(self, short: str) -> str:
        """The one name that this is an acronym of in the whole corpus; nothing where there are several or none."""
        return self._answer("acronym", short, self._acronym)

    def _acronym(self, short: str) -> str:
        names = self._values(ACRONYM, short)
        return next(iter(names)) if len(names) == 1 and len(short) > 1 else ""

    def shown(self, name: str) -> str:
        """How a name is shown: as the article writes it, else as most of the corpus does; nothing where none does."""
        return self._answer("shown", name, self._shown)

    def _shown(self, name: str) -> str:
        title = self._titled(name)
        if title and fold(title) == name:
            return title
        found = self._values(SPELLING, name)
        return min(found, key=lambda spelling: (-found[spelling], spelling), default="")

    def kinds(self, name: str) -> frozenset[str]:
        """Kinds of things that have the name, where they are several."""
        return self._answer("kinds", name, self._kinds)

    def _kinds(self, name: str) -> frozenset[str]:
        kinds = self._values(KIND, name)
        return frozenset(kinds) if len(kinds) > 1 else frozenset()

    def everywhere(self, name: str) -> Into | None:
        """What a name is taken for in any document."""
        return self._answer("everywhere", name, self._everywhere)

    def _everywhere(self, name: str) -> Into | None:
        said = ((fold(self._titled(name)), "redirect"), (self._acronym(name), "acronym"))
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

    def _counts(self, name: str) -> dict[str, int]:
        query = "SELECT claim, count FROM graph_claims WHERE claim IN ('u', 'a', 'i') AND name = ? AND value = ''"
        return dict(self._db.execute(query, (name,)).fetchall())

    def _values(self, claim: str, name: str) -> dict[str, int]:
        query = "SELECT value, count FROM graph_claims WHERE claim = ? AND name = ?"
        return dict(self._db.execute(query, (claim, name)).fetchall())

    # Changes

    def change(self, claims: Counter[Claim]) -> set[str]:
        """Add to the claims, or take from them; the names of which the corpus tells something else by it."""
        more = {claim: count for claim, count in claims.items() if count}
        told = {(claim, name) for claim, name, _ in more}
        before = {(claim, name): self._told(claim, name) for claim, name in told}
        add_claims(self._db, more)
        self._db.executemany("DELETE FROM graph_claims WHERE claim = ? AND name = ? AND value = ? AND count = 0", more)
        self.forget()
        return {name for (claim, name), was in before.items() if self._told(claim, name) != was}

    def _told(self, claim: str, name: str) -> object:
        """What follows from claims of a kind."""
        if claim == SPELLING:
            return self._shown(name)
        if claim == ACRONYM:
            return self._acronym(name)
        if claim == KIND:
            return self._kinds(name)
        return self._usual(name), ALONE in self._counts(name)


def add_claims(db: sqlite3.Connection, claims: Mapping[Claim, int]) -> None:
    """Add so many of each claim."""
    db.executemany(
        "INSERT INTO graph_claims VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        (((*claim, claims[claim])) for claim in sorted(claims)),
    )


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
