"""The tables of `index.sqlite`."""

from __future__ import annotations

VERSION = 3

TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A file as it was read: equal size and time mean that it need not be read again.
CREATE TABLE IF NOT EXISTS sources (
    key TEXT PRIMARY KEY, root TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    format TEXT NOT NULL, metadata TEXT NOT NULL, redirect TEXT, hash BLOB NOT NULL, places TEXT NOT NULL,
    sentences BLOB NOT NULL, -- written and read by `sentences.py`
    text TEXT NOT NULL -- last, so that nothing has to be read past a long one
);

CREATE TABLE IF NOT EXISTS sections (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS paragraphs (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, tokens INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

-- `target` is a title, `name` the same title as it is compared: it may lead to no article of the corpus.
CREATE TABLE IF NOT EXISTS links (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    target TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS infoboxes (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    kind TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
"""
INDEXES = """
CREATE INDEX IF NOT EXISTS documents_by_source ON documents (source);
CREATE INDEX IF NOT EXISTS documents_by_name ON documents (name);
CREATE INDEX IF NOT EXISTS chunks_by_hash ON chunks (hash);
CREATE INDEX IF NOT EXISTS links_by_name ON links (name);
"""

PARTS = ("sections", "paragraphs", "chunks", "links", "infoboxes")
"""Tables whose rows belong to a document and go with it."""
