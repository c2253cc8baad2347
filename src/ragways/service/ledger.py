"""What keys have spent, and what they may still spend.

Money is held before a call is sent and settled when its cost is known, in one transaction each. So requests side by
side cannot pass a budget together, and a restart forgets nothing: a hold that nobody settled counts as spent. A job
holds its budget. A request holds what its calls may cost at most, more with each call, up to its budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragways.core.errors import BudgetHeld, NoModel, StoreError, ToolError, UsageError
from ragways.service.errors import Full, OverBudget
from ragways.service.state import State

_NANO = 1_000_000_000
"""Sums are whole billionths of a dollar: they add up exactly, however many there are."""
_TABLES = """
CREATE TABLE IF NOT EXISTS spending(key TEXT PRIMARY KEY, nano INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS holds(id INTEGER PRIMARY KEY, key TEXT NOT NULL, nano INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS holds_of_key ON holds(key)
"""


@dataclass(frozen=True, slots=True)
class Account:
    """USD of one key: its budget (None: without limit), what it has spent, and what open requests hold."""

    usd: float | None
    spent: float
    held: float

    @property
    def left(self) -> float | None:
        return None if self.usd is None else max(0.0, self.usd - self.spent - self.held)


@dataclass
class Held:
    """Money held for one request. `usd` is what it may spend at most; None: without limit. `actual` is what it cost,
    once that is known. `close` ends the hold with it, or with all that was held; `kept_open` leaves that to whoever
    sets it, because the request has left something behind that may still spend. `grow` holds so much in all, or what it
    may; it gives what is held.
    """

    usd: float | None
    actual: float | None = None
    close: Callable[[], None] | None = None
    grow: Callable[[float], float] | None = None
    kept_open: bool = False

    def settle(self, actual: float) -> None:
        """Set what it cost; the rest is free again when the request ends."""
        self.actual = max(0.0, actual)


class Ledger:
    """The spending of all keys of a server; `each` is held for a request that names no budget of its own."""

    def __init__(self, state: State, each: float = 0.10) -> None:
        self._state = state
        self._each = each
        state.tables(_TABLES)

    def recover(self) -> None:
        """At the start of a server: what was held when the last one ended may have been spent, so it was."""
        with self._state.transaction() as db:
            for key, nano in db.execute("SELECT key, sum(nano) FROM holds GROUP BY key").fetchall():
                self._spend(key, nano)
            db.execute("DELETE FROM holds")

    def account(self, key: str) -> Account:
        """The balance of a key."""
        budget, spent, held = self._sums(key)
        return Account(None if budget is None else budget / _NANO, spent / _NANO, held / _NANO)

    @contextmanager
    def hold(self, key: str, usd: float | None = None, *, growing: bool = False) -> Iterator[Held]:
        """Hold what a request may cost, at most `usd`; less where less is left of the key's budget. `growing`: hold
        nothing yet, for `grow` to hold what each call may cost.

        Inside, `settle` sets what it did cost. Unless it was called, an error that came before any work costs nothing,
        one with an attribute `usd` costs that, and anything else costs all that was held.
        """
        id, held = self._open(key, usd, growing)
        held.close = lambda: self._close(key, id, held)
        held.grow = lambda needed: self._grow(key, id, held, needed)
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

    def _open(self, key: str, usd: float | None, growing: bool) -> tuple[int | None, Held]:
        if usd is not None and not 0 <= usd < 1e9:
            raise UsageError("a budget is a number of USD", "write it like 0.05")
        with self._state.transaction() as db:
            budget, spent, held = self._sums(key)
            if budget is None and usd is None:
                return None, Held(None)
            nano = int((self._each if usd is None else usd) * _NANO)
            if budget is not None:
                if spent >= budget:
                    raise OverBudget("the budget of this key is spent", "ask whoever runs the server for more")
                if spent + held >= budget:
                    raise _held()
                nano = min(nano, budget - spent - (0 if growing else held))
            row = (key, 0 if growing else nano)
            id = db.execute("INSERT INTO holds(key, nano) VALUES (?, ?)", row).lastrowid
            return id, Held(nano / _NANO)

    def _grow(self, key: str, id: int | None, held: Held, needed: float) -> float:
        if held.usd is None:
            return needed
        with self._state.transaction() as db:
            own: int = db.execute("SELECT coalesce(sum(nano), 0) FROM holds WHERE id = ?", (id,)).fetchone()[0]
            wanted: int = max(own, min(math.ceil(needed * _NANO), int(held.usd * _NANO)))
            budget, spent, all_held = self._sums(key)
            if budget is not None and spent + all_held - own + wanted > budget:
                if spent + wanted <= budget:
                    raise _held()
                wanted = max(own, budget - spent - all_held + own)
            db.execute("UPDATE holds SET nano = ? WHERE id = ?", (wanted, id))
            return wanted / _NANO

    def _close(self, key: str, id: int | None, held: Held) -> None:
        with self._state.transaction() as db:
            row = db.execute("DELETE FROM holds WHERE id = ? RETURNING nano", (id,)).fetchone()
            all_of_it = row[0] if row else 0
            self._spend(key, all_of_it if held.actual is None else math.ceil(held.actual * _NANO))

    def _sums(self, key: str) -> tuple[int | None, int, int]:
        budget, spent, held = self._state.db.execute(
            "SELECT (SELECT budget FROM keys WHERE id = :key),"
            " (SELECT nano FROM spending WHERE key = :key), (SELECT sum(nano) FROM holds WHERE key = :key)",
            {"key": key},
        ).fetchone()
        return None if budget is None else int(budget * _NANO), spent or 0, held or 0

    def _spend(self, key: str, nano: int) -> None:
        if nano:
            self._state.db.execute(
                "INSERT INTO spending VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET nano = nano + excluded.nano",
                (key, nano),
            )


def _held() -> BudgetHeld:
    return BudgetHeld(
        "what is left of this key's budget is held for requests under way", "try again when one has ended"
    )
