"""Conversations: questions with their answers, kept so that the next question may lean on them.

A conversation belongs to a collection and to the key that began it: nobody else sees it, not even of the same tenant.
Where too many are kept, those not used for longest go; so do the oldest turns of a very long one. A turn remembers
which documents its answer rests on, and goes when one of them is removed from the collection.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ragways.service.errors import NotFound
from ragways.service.state import State
from ragways.tasks.follow_up import TURNS, Turn

if TYPE_CHECKING:  # a job, which has no use for a web framework, reads this too
    from ragways.service.auth import Access

CONVERSATIONS: Final = 200
"""Kept for one key in one collection."""
LONGEST: Final = 100
"""Turns kept of one conversation."""
_ANSWER: Final = 20_000
"""Characters kept of an answer."""
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


@dataclass(frozen=True, slots=True)
class Conversation:
    """`title` is its first question, empty as long as none was asked."""

    id: str
    title: str
    created: str
    turns: int


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question as it was asked and as it was understood (`whole`, by which `way`), and its answer, by which
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
    empty where nothing was before it, so that it was not looked at.
    """

    question: str
    way: str
    usd: float = 0.0
    tokens: tuple[int, int] = (0, 0)

    def shown(self) -> dict[str, str]:
        return {"question": self.question, "way": self.way}


class Conversations:
    """All conversations of a server."""

    def __init__(self, state: State) -> None:
        self._state = state
        state.tables(_TABLES)
        with state.transaction() as db:
            if "answer_way" not in {row[1] for row in db.execute("PRAGMA table_info(turns)")}:  # of an earlier version
                db.execute("ALTER TABLE turns ADD COLUMN answer_way TEXT NOT NULL DEFAULT ''")

    def start(self, access: Access) -> Conversation:
        """A new one, without turns. The one that was not used for longest goes where there are too many."""
        id, created = secrets.token_urlsafe(12), _now()
        with self._state.transaction() as db:
            used = db.execute("SELECT coalesce(max(used), 0) + 1 FROM conversations").fetchone()[0]
            row = (id, *_owner(access), "", created, used)
            db.execute(
                "INSERT INTO conversations(id, tenant, key, collection, title, created, used) VALUES (?,?,?,?,?,?,?)",
                row,
            )
            old = db.execute(
                "SELECT id FROM conversations WHERE tenant = ? AND key = ? AND collection = ?"
                " ORDER BY used DESC LIMIT -1 OFFSET ?",
                (*_owner(access), CONVERSATIONS),
            ).fetchall()
            self._delete([each[0] for each in old])
        return Conversation(id, "", created, 0)

    def of(self, access: Access) -> list[Conversation]:
        """The caller's conversations with a collection, the one used last first."""
        rows = self._state.db.execute(
            "SELECT id, title, created, (SELECT count(*) FROM turns WHERE conversation = id) FROM conversations"
            " WHERE tenant = ? AND key = ? AND collection = ? ORDER BY used DESC",
            _owner(access),
        )
        return [Conversation(*row) for row in rows]

    def find(self, access: Access, id: str) -> Conversation:
        """One of the caller's; `NotFound` where it is not there, or another's."""
        row = self._state.db.execute(
            "SELECT id, title, created, (SELECT count(*) FROM turns WHERE conversation = id) FROM conversations"
            " WHERE tenant = ? AND key = ? AND collection = ? AND id = ?",
            (*_owner(access), id[:64]),
        ).fetchone()
        if row is None:
            raise NotFound("conversation")
        return Conversation(*row)

    def turns(self, access: Access, id: str, last: int = LONGEST) -> list[KeptTurn]:
        """The last turns of a conversation, the oldest first."""
        found = self.find(access, id)
        rows = self._state.db.execute(
            "SELECT question, whole, way, answer, paradigm, asked, answer_way FROM turns WHERE conversation = ?"
            " ORDER BY number DESC LIMIT ?",
            (found.id, last),
        ).fetchall()
        return [KeptTurn(*row) for row in reversed(rows)]

    def add(self, access: Access, id: str, question: str, rewritten: RewrittenQuestion, result: dict[str, Any]) -> None:
        """Keep a question and its answer. Where the conversation was deleted meanwhile, nothing is kept."""
        documents = sorted({str(piece["document"]) for piece in result.get("evidence", ())})
        answer, paradigm = str(result.get("answer", ""))[:_ANSWER], str(result.get("paradigm", ""))
        with self._state.transaction() as db:
            try:
                found = self.find(access, id)
            except NotFound:
                return
            db.execute(
                "INSERT INTO turns(conversation, question, whole, way, answer, paradigm, documents, asked, answer_way)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    found.id,
                    question,
                    rewritten.question,
                    rewritten.way,
                    answer,
                    paradigm,
                    json.dumps(documents),
                    _now(),
                    str(result.get("way", "")),
                ),
            )
            db.execute(
                "DELETE FROM turns WHERE conversation = ? AND number <= (SELECT number FROM turns"
                " WHERE conversation = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (found.id, found.id, LONGEST),
            )
            db.execute(
                "UPDATE conversations SET used = (SELECT max(used) + 1 FROM conversations),"
                " title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
                (question[:_TITLE], found.id),
            )

    def delete(self, access: Access, id: str) -> None:
        """Delete a conversation with its turns."""
        with self._state.transaction():
            self._delete([self.find(access, id).id])

    def forget(self, collection: str) -> None:
        """Delete the conversations with a collection, by its id."""
        with self._state.transaction() as db:
            rows = db.execute("SELECT id FROM conversations WHERE collection = ?", (collection,)).fetchall()
            self._delete([id for (id,) in rows])

    def forget_documents(self, collection: str, documents: Set[str], quoted: Callable[[str], bool]) -> None:
        """Delete turns that rest on some documents of a collection, or quote them, and titles that quote them."""
        with self._state.transaction() as db:
            turns = db.execute(
                "SELECT number, documents, question, whole, answer FROM turns"
                " WHERE conversation IN (SELECT id FROM conversations WHERE collection = ?)",
                (collection,),
            ).fetchall()
            gone = [
                (number,)
                for number, rests, *texts in turns
                if documents & set(json.loads(rests)) or any(map(quoted, texts))
            ]
            db.executemany("DELETE FROM turns WHERE number = ?", gone)
            titles = db.execute("SELECT id, title FROM conversations WHERE collection = ?", (collection,)).fetchall()
            quoting = [(id,) for id, title in titles if quoted(title)]
            db.executemany("UPDATE conversations SET title = '' WHERE id = ?", quoting)

    def _delete(self, ids: Sequence[str]) -> None:
        for id in ids:
            self._state.db.execute("DELETE FROM turns WHERE conversation = ?", (id,))
            self._state.db.execute("DELETE FROM conversations WHERE id = ?", (id,))


async def whole_question(access: Access, id: str, question: str, budget: float | None = None) -> RewrittenQuestion:
    """A question as the turns of a conversation make it whole. `budget` is what that may cost, in USD."""
    kept = access.service.conversations.turns(access, id, TURNS)
    return await made_whole(access, [Turn(each.whole, each.answer) for each in kept], question, budget)


async def made_whole(
    access: Access, turns: Sequence[Turn], question: str, budget: float | None = None
) -> RewrittenQuestion:
    """The same of turns that are given. A worker does it: by the model where there is one, else by the rule."""
    if not turns:
        return RewrittenQuestion(question, "")
    service, who = access.service, access.caller
    arguments = {"question": question, "turns": [[turn.question, turn.answer] for turn in turns[-TURNS:]]}
    with service.ledger.hold(who, budget) as held:
        found = await service.workers.call("rewrite", access.collection, arguments, tenant=who.tenant, held=held)
    usage = found["usage"]
    return RewrittenQuestion(found["question"], found["way"], held.actual or 0.0, (usage["input"], usage["output"]))


def _owner(access: Access) -> tuple[str, str, str]:
    return access.caller.tenant, access.caller.key, access.collection.id


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
