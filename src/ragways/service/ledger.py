"""What keys have spent, and what they may still spend. Money is held before a call is sent and settled when its cost is
known, in one transaction each; so requests side by side cannot pass a budget together, nor can a restart forget any.

A hold that nobody settled (the server was killed) stays, and counts as spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragways.core.errors import NoModel, StoreError, ToolError, UsageError
from ragways.service.errors import Full, OverBudget
from ragways.service.keys import Caller
from ragways.service.state import State

_NANO = 1_000_000_000
"""Sums are kept in whole billionths of a dollar: they add up exactly, however many there are."""


@dataclass(frozen=True, slots=True)
class Account:
    """USD of one key: its budget (None: without limit), what it has spent, and what open requests hold."""

    usd: float | None
    spent: float
    held: float

    @property
    def left(self) -> float | None:
        return None if self.usd is None else max(0.0, self.usd - self.spent - self.held)


class Held:
    """Money held for one request. `usd` is what it may spend at most; None: without limit."""

    def __init__(self, usd: float | None) -> None:
        self.usd = usd
        self.actual: float | None = None
        self.close: Callable[[], None] | None = None
        """Ends the hold with what was settled, or with all of it."""
        self.kept_open = False
        """Somebody else will call `close`: what the request left behind goes on, and may still spend."""

    def settle(self, actual: float) -> None:
        """Say what it cost; the rest is free again when the request ends."""
        self.actual = max(0.0, actual)


class Ledger:
    """The spending of all keys of a server; `each` is held for a request that names no budget of its own."""

    def __init__(self, state: State, each: float = 0.10) -> None:
        self._state = state
        self._each = each
        state.tables("""
            CREATE TABLE IF NOT EXISTS spending(key TEXT PRIMARY KEY, nano INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS holds(id INTEGER PRIMARY KEY, key TEXT NOT NULL, nano INTEGER NOT NULL);
            CREATE INDEX IF NOT EXISTS holds_of_key ON holds(key)
        """)

    def recover(self) -> None:
        """At the start of a server: what was held when the last one ended may have been spent, so it was."""
        with self._state.transaction() as db:
            for key, nano in db.execute("SELECT key, sum(nano) FROM holds GROUP BY key").fetchall():
                self._spend(key, nano)
            db.execute("DELETE FROM holds")

    def account(self, key: str) -> Account:
        """How a key stands."""
        budget, spent, held = self._sums(key)
        return Account(None if budget is None else budget / _NANO, spent / _NANO, held / _NANO)

    @contextmanager
    def hold(self, caller: Caller, usd: float | None = None) -> Iterator[Held]:
        """Hold what a request may cost, at most `usd`; less where less is left of the key's budget.

        Inside, `settle` says what it did cost. Unless it was called, an error that came before any work costs nothing,
        one with an attribute `usd` costs that, and anything else costs all that was held. What is `kept_open` is closed
        later, by whoever keeps it.
        """
        id, held = self._open(caller.key, usd)
        held.close = lambda: self._close(caller.key, id, held)
        try:
            yield held
        except BaseException as error:
            if held.actual is None and not held.kept_open:
                free = isinstance(error, UsageError | StoreError | NoModel | Full) and not isinstance(error, ToolError)
                known = getattr(error, "usd", 0.0 if free else None)
                held.actual = known if isinstance(known, float | int) else None
            raise
        finally:
            if not held.kept_open:
                held.close()

    def _open(self, key: str, usd: float | None) -> tuple[int | None, Held]:
        if usd is not None and not 0 <= usd < 1e9:
            raise UsageError("a budget is a number of USD", "write it like 0.05")
        with self._state.transaction() as db:
            budget, spent, held = self._sums(key)
            if budget is None and usd is None:
                return None, Held(None)
            nano = int((self._each if usd is None else usd) * _NANO)
            if budget is not None:
                left = budget - spent - held
                if left <= 0:
                    raise OverBudget("the budget of this key is spent", "ask whoever runs the server for more")
                nano = min(nano, left)
            id = db.execute("INSERT INTO holds(key, nano) VALUES (?, ?)", (key, nano)).lastrowid
            return id, Held(nano / _NANO)

    def _close(self, key: str, id: int | None, held: Held) -> None:
        with self._state.transaction() as db:
            nano = None if held.actual is None else -int(-held.actual * _NANO // 1)
            if id is not None:
                kept = db.execute("SELECT nano FROM holds WHERE id = ?", (id,)).fetchone()
                db.execute("DELETE FROM holds WHERE id = ?", (id,))
                nano = (kept[0] if kept else 0) if nano is None else nano
            if nano:
                self._spend(key, nano)

    def _sums(self, key: str) -> tuple[int | None, int, int]:
        budget, spent, held = self._state.db.execute(
            "SELECT (SELECT budget FROM keys WHERE id = :key),"
            " (SELECT nano FROM spending WHERE key = :key), (SELECT sum(nano) FROM holds WHERE key = :key)",
            {"key": key},
        ).fetchone()
        return None if budget is None else int(budget * _NANO), spent or 0, held or 0

    def _spend(self, key: str, nano: int) -> None:
        self._state.db.execute(
            "INSERT INTO spending VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET nano = nano + excluded.nano", (key, nano)
        )
