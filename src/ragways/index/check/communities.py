"""Communities: their members, parents and findings are there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from ragways.index.check.finding import Finding, Place, found
from ragways.index.check.graph import FILE as GRAPH
from ragways.index.database import connect

FILE = "communities.sqlite"

DANGLING = (
    (
        "communities whose parent is not there",
        "SELECT id FROM communities WHERE parent != '' AND parent NOT IN (SELECT id FROM communities)",
    ),
    (
        "members of communities that are not there",
        "SELECT entity FROM members WHERE community NOT IN (SELECT id FROM communities)",
    ),
    (
        "findings of communities that are not there",
        "SELECT community FROM findings WHERE community NOT IN (SELECT id FROM communities)",
    ),
)


def members(place: Place) -> Iterator[Finding]:
    """Members of communities."""
    if not place.has("communities"):
        return
    with closing(connect(place.derived / GRAPH, write=False)) as db:
        known = {row[0] for row in db.execute("SELECT id FROM entities")}
    with closing(connect(place.derived / FILE, write=False)) as db:
        for name, query in DANGLING:
            yield from found(name, "error", (row[0] for row in db.execute(query)), place.derive)
        strange = (f"{of}: {id}" for of, id in _named(db) if id not in known)
        yield from found("communities of entities that are not there", "error", strange, place.derive)
        yield from _reports(place, {row[0] for row in db.execute("SELECT id FROM communities")})


def _named(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Every entity that a community names, as a member or as what a finding rests on."""
    yield from db.execute("SELECT community, entity FROM members")
    for community, entities in db.execute("SELECT community, entities FROM findings"):
        yield from ((community, id) for id in json.loads(entities))


def _reports(place: Place, known: set[str]) -> Iterator[Finding]:
    from ragways.index.vectors import Vectors

    if (place.derived / "reports.ids").is_file():
        strange = (id for id in Vectors.load(place.derived, "reports").ids if id not in known)
        yield from found("vectors of communities that are not there", "error", strange, place.derive)
