"""API keys: whose they are, what they allow, with which collections, and what it may cost.

A key is `rgw_<id>_<secret>`. The id names it in lists and logs; the secret is 32 random bytes, of which only a SHA-256
is kept: a slow hash protects words that people choose, and nobody can go through 2**256 secrets. The database is read
with each request, so what `ragways key` changes in another process holds from the next request on.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from ragways.core.errors import UsageError
from ragways.service.errors import SECRET
from ragways.service.state import State

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Each may do what those before it may."""
MAIN = "main"
"""The tenant of a server without keys, and of folders that are named by `--index`."""
COLLECTION_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_LONGEST = 200
_NOBODY = hashlib.sha256(b"nobody").digest()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request. `collections` are the names that the key is limited to; none: all of the tenant."""

    key: str
    tenant: str
    scopes: frozenset[Scope]
    collections: tuple[str, ...] = ()
    local: bool = False

    def sees(self, tenant: str, collection: str) -> bool:
        """Whether this caller may know of a collection."""
        return tenant == self.tenant and (not self.collections or collection in self.collections)


LOCAL = Caller("", MAIN, frozenset(SCOPES), local=True)
"""Everyone, at a server that has no key and so listens on loopback only."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret. Times are seconds since 1970; None: no end."""

    id: str
    name: str
    tenant: str
    scope: Scope
    collections: tuple[str, ...]
    budget: float | None
    created: float
    expires: float | None = None
    revoked: float | None = None


class Keys:
    """All keys of a server."""

    def __init__(self, state: State, now: Callable[[], float] = time.time) -> None:
        self._state = state
        self._now = now
        self._some = False
        state.tables("""
            CREATE TABLE IF NOT EXISTS keys(id TEXT PRIMARY KEY, name TEXT NOT NULL, tenant TEXT NOT NULL, scope TEXT
              NOT NULL, collections TEXT NOT NULL, budget REAL, created REAL NOT NULL, expires REAL, revoked REAL);
            CREATE UNIQUE INDEX IF NOT EXISTS key_names ON keys(name) WHERE revoked IS NULL;
            CREATE TABLE IF NOT EXISTS key_secrets(key TEXT NOT NULL, hash BLOB NOT NULL, until REAL);
            CREATE INDEX IF NOT EXISTS secrets_of_key ON key_secrets(key)
        """)

    def some(self) -> bool:
        """Whether a key was ever made. Revoked ones count: taking the last key away must not open a server to all."""
        if not self._some:
            self._some = self._state.db.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None
        return self._some

    def add(
        self,
        name: str,
        *,
        scope: Scope = "read",
        tenant: str = MAIN,
        collections: Sequence[str] = (),
        budget: float | None = None,
        seconds: float | None = None,
    ) -> tuple[Key, str]:
        """A new key and its text, which is never seen again. It dies after `seconds`."""
        _check(name, tenant, scope, collections, budget, seconds)
        now = self._now()
        key = Key(
            secrets.token_hex(8), name, tenant, scope, tuple(collections), budget, now,
            None if seconds is None else now + seconds,
        )  # fmt: skip
        row = (key.id, name, tenant, scope, json.dumps(key.collections), budget, now, key.expires)
        try:
            with self._state.transaction() as db:
                db.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)
                text = self._new_secret(db, key.id)
        except sqlite3.IntegrityError:
            raise UsageError(f"there is a key {name} already", "choose another name, or: ragways key rotate") from None
        return key, text

    def all(self) -> list[Key]:
        """Every key, oldest first, revoked ones too."""
        return [_key(row) for row in self._state.db.execute("SELECT * FROM keys ORDER BY created, id")]

    def find(self, name: str) -> Key:
        """The key of this name or id; of several with one name the one that is not revoked."""
        row = self._state.db.execute(
            "SELECT * FROM keys WHERE id = ? OR name = ? ORDER BY revoked IS NOT NULL, created DESC LIMIT 1",
            (name, name),
        ).fetchone()
        if row is None:
            raise UsageError("there is no such key", "see: ragways key list")
        return _key(row)

    def revoke(self, name: str) -> Key:
        """From now on it opens nothing."""
        key = self.find(name)
        with self._state.transaction() as db:
            db.execute("UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (self._now(), key.id))
            db.execute("DELETE FROM key_secrets WHERE key = ?", (key.id,))
        return self.find(key.id)

    def rotate(self, name: str, grace: float = 0.0) -> tuple[Key, str]:
        """A new text for a key, with its id and what it has spent. The old text is good for `grace` more seconds."""
        if not 0 <= grace < float("inf"):
            raise UsageError("grace must be a number of seconds", "write it like --grace 1h")
        key = self.find(name)
        if key.revoked is not None:
            raise UsageError(f"the key {key.name} is revoked", "make a new one with: ragways key add")
        until = self._now() + grace
        with self._state.transaction() as db:
            if grace:
                db.execute(
                    "UPDATE key_secrets SET until = ? WHERE key = ? AND (until IS NULL OR until > ?)",
                    (until, key.id, until),
                )
                db.execute("DELETE FROM key_secrets WHERE key = ? AND until <= ?", (key.id, self._now()))
            else:
                db.execute("DELETE FROM key_secrets WHERE key = ?", (key.id,))
            return key, self._new_secret(db, key.id)

    def caller(self, text: str) -> Caller | None:
        """Who has this key; None when nobody has. Takes the same steps for a wrong secret as for an unknown id."""
        shaped = SECRET.fullmatch(text) if len(text) <= _LONGEST else None
        id = shaped[1] if shaped else ""
        found = _hash(text[:_LONGEST])
        now = self._now()
        rows = self._state.db.execute(
            "SELECT hash, until, tenant, scope, collections, expires, revoked"
            " FROM key_secrets JOIN keys ON id = key WHERE key = ?",
            (id,),
        ).fetchall()
        who = None
        for hash, until, tenant, scope, collections, expires, revoked in rows or [(_NOBODY, 0, "", "", "", 0, 0)]:
            same = hmac.compare_digest(hash, found)
            alive = revoked is None and (until is None or now < until) and (expires is None or now < expires)
            if same and alive:
                who = Caller(id, tenant, _with_lesser(scope), tuple(json.loads(collections)))
        return who

    def alive(self, id: str) -> bool:
        """Whether the key of this id opens anything now: it is neither revoked nor has it expired."""
        query = "SELECT 1 FROM keys WHERE id = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)"
        return self._state.db.execute(query, (id, self._now())).fetchone() is not None

    def _new_secret(self, db: sqlite3.Connection, id: str) -> str:
        text = f"rgw_{id}_{secrets.token_urlsafe(32)}"
        db.execute("INSERT INTO key_secrets VALUES (?, ?, NULL)", (id, _hash(text)))
        return text


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _with_lesser(scope: str) -> frozenset[Scope]:
    return frozenset(SCOPES[: SCOPES.index(cast(Scope, scope)) + 1])


def _key(row: tuple[Any, ...]) -> Key:
    id, name, tenant, scope, collections, *rest = row
    return Key(id, name, tenant, scope, tuple(json.loads(collections)), *rest)


def _check(
    name: str, tenant: str, scope: str, collections: Sequence[str], budget: float | None, seconds: float | None
) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError("that is no name for a key", "use up to 64 letters, digits and . _ @ -")
    if not COLLECTION_NAME.fullmatch(tenant):
        raise UsageError("that is no name for a tenant", "use up to 64 small letters, digits and . _ -")
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope[:20]!r}", f"choose from {', '.join(SCOPES)}")
    if not all(COLLECTION_NAME.fullmatch(collection) for collection in collections):
        raise UsageError("that is no name of a collection", "use up to 64 small letters, digits and . _ -")
    if budget is not None and not 0 <= budget < 1e9:
        raise UsageError("a budget is a number of USD", "write it like --budget 5")
    if seconds is not None and not 0 < seconds < 1e10:
        raise UsageError("a key must live for some time", "write it like --expires 30d")
