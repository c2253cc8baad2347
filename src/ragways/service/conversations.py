"""Conversations: questions with their answers, stored so that the next question may refer to them.

A conversation belongs to a collection and to the key that began it: no other key sees it, not even of the same tenant.
Where there are too many, those not used for longest go; so do the oldest turns of a very long one. A turn remembers
which documents its answer rests on, and goes when one of them is removed from the collection.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ragways.service.errors import NotFound
from ragways.service.keys import Caller
from ragways.service.state import State

CONVERSATIONS: Final = 200
"""Stored for one key in one collection."""
LONGEST: Final = 100
"""Turns stored of one conversation."""
_ANSWER: Final = 20_000
"""Characters stored of an answer."""
_TITLE: Final = 120
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, key TEXT NOT NULL, collection TEXT NOT NULL, title TEXT NOT NULL,
    created TEXT NOT NULL, used INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS conversations_of_key ON conversations(collection, tenant, key, used);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY, conversation TEXT NOT NULL, question TEXT NOT NULL, whole TEXT NOT NULL,
    way TEXT NOT NULL, answer TEXT NOT NULL, paradigm TEXT NOT NULL, documents TEXT NOT NULL, asked TEXT NOT NULL,
    answer_way TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS turns_of_conversation ON turns(conversation, number);
"""
_OWN = (
    "SELECT id, title, created, (SELECT count(*) FROM turns WHERE conversation = id) FROM conversations"
    " WHERE tenant = ? AND key = ? AND collection = ?"
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """`title` is its first question, empty as long as there is none."""

    id: str
    title: str
    created: str
    turns: int


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A question as it was sent and as it was understood (`whole`, by which `way`), and its answer, by which
    `answer_way`; empty where an earlier version stored it.
    """

    question: str
    whole: str
    way: str
    answer: str
    paradigm: str
    asked: str
    answer_way: str


@dataclass(frozen=True, slots=True)
class RewrittenQuestion:
    """A question as it can be understood alone, by which way, and what that cost (USD, tokens in and out). `way` is
    empty where nothing was before it.
    """

    question: str
    way: str
    usd: float = 0.0
    tokens: tuple[int, int] = (0, 0)

    def shown(self) -> dict[str, str]:
        return {"question": self.question, "way": self.way}


class Conversations:
    """All conversations of a server. `who` is whose they are, `collection` the id of a collection."""

    def __init__(self, state: State) -> None:
        self._state = state
        state.tables(_TABLES)

    def start(self, who: Caller, collection: str) -> Conversation:
        """A new one, without turns. The one that was not used for longest goes where there are too many."""
        id, created, owner = secrets.token_urlsafe(12), _now(), (who.tenant, who.key, collection)
        with self._state.transaction() as db:
            db.execute(
                "INSERT INTO conversations(id, tenant, key, collection, title, created, used)"
                " VALUES (?, ?, ?, ?, '', ?, (SELECT coalesce(max(used), 0) + 1 FROM conversations))",
                (id, *owner, created),
            )
            self._delete(db.execute(f"{_OWN} ORDER BY used DESC LIMIT -1 OFFSET ?", (*owner, CONVERSATIONS)).fetchall())
        return Conversation(id, "", created, 0)

    def of(self, who: Caller, collection: str) -> list[Conversation]:
        """Those of a caller with a collection, the one used last first."""
        rows = self._state.db.execute(f"{_OWN} ORDER BY used DESC", (who.tenant, who.key, collection))
        return [Conversation(*row) for row in rows]

    def find(self, who: Caller, collection: str, id: str) -> Conversation:
        """One of the caller's; `NotFound` where it is not there, or another's."""
        owner = (who.tenant, who.key, collection)
        row = self._state.db.execute(f"{_OWN} AND id = ?", (*owner, id[:64])).fetchone()
        if row is None:
            raise NotFound("conversation")
        return Conversation(*row)

    def turns(self, id: str, last: int = LONGEST) -> list[StoredTurn]:
        """The last turns of a conversation, the oldest first."""
        rows = self._state.db.execute(
            "SELECT question, whole, way, answer, paradigm, asked, answer_way FROM turns WHERE conversation = ?"
            " ORDER BY number DESC LIMIT ?",
            (id, last),
        ).fetchall()
        return [StoredTurn(*row) for row in reversed(rows)]

    def add(self, id: str, question: str, rewritten: RewrittenQuestion, result: dict[str, Any]) -> None:
        """Store a question and its answer. Where the conversation was deleted meanwhile, nothing is stored."""
        documents = sorted({str(piece["document"]) for piece in result.get("evidence", ())})
        answer, paradigm = str(result.get("answer", ""))[:_ANSWER], str(result.get("paradigm", ""))
        way = str(result.get("way", ""))
        with self._state.transaction() as db:
            used = db.execute(
                "UPDATE conversations SET used = (SELECT max(used) + 1 FROM conversations),"
                " title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
                (question[:_TITLE], id),
            )
            if not used.rowcount:
                return
            db.execute(
                "INSERT INTO turns(conversation, question, whole, way, answer, paradigm, documents, asked, answer_way)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(id, question, rewritten.question, rewritten.way, answer, paradigm),
                    *(json.dumps(documents), _now(), way),
                ),
            )
            db.execute(
                "DELETE FROM turns WHERE conversation = ?1 AND number <= (SELECT number FROM turns"
                " WHERE conversation = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
                (id, LONGEST),
            )

    def delete(self, who: Caller, collection: str, id: str) -> None:
        """Delete a conversation with its turns."""
        with self._state.transaction():
            self._delete([(self.find(who, collection, id).id,)])

    def forget(self, collection: str) -> None:
        """Delete the conversations with a collection."""
        with self._state.transaction() as db:
            self._delete(db.execute("SELECT id FROM conversations WHERE collection = ?", (collection,)).fetchall())

    def forget_documents(self, collection: str, present: Set[str], quoted: Callable[[str], bool]) -> None:
        """Delete turns that rest on documents that are not present in a collection any more, or quote them; and titles
        whose turn is gone.
        """
        with self._state.transaction() as db:
            turns = db.execute(
                "SELECT number, documents, question, whole, answer FROM turns"
                " WHERE conversation IN (SELECT id FROM conversations WHERE collection = ?)",
                (collection,),
            ).fetchall()
            gone = [
                (number,)
                for number, rests, *texts in turns
                if set(json.loads(rests)) - present or any(map(quoted, texts))
            ]
            db.executemany("DELETE FROM turns WHERE number = ?", gone)
            db.execute(
                "UPDATE conversations SET title = '' WHERE collection = ? AND NOT EXISTS"
                " (SELECT 1 FROM turns WHERE conversation = id AND substr(question, 1, ?) = title)",
                (collection, _TITLE),
            )

    def count(self, collection: str) -> tuple[int, int]:
        """How many titles and turns there are of the conversations with a collection."""
        query = (
            "SELECT (SELECT count(*) FROM conversations WHERE collection = ?1 AND title <> ''), (SELECT count(*)"
            " FROM turns WHERE conversation IN (SELECT id FROM conversations WHERE collection = ?1))"
        )
        titles, turns = self._state.db.execute(query, (collection,)).fetchone()
        return titles, turns

    def _delete(self, rows: Sequence[tuple[str, ...]]) -> None:
        for id, *_ in rows:
            self._state.db.execute("DELETE FROM turns WHERE conversation = ?", (id,))
            self._state.db.execute("DELETE FROM conversations WHERE id = ?", (id,))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
