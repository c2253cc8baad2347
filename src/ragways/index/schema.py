"""The tables. `index.sqlite` holds what is true of the corpus; `work_cache.sqlite` holds what was worked or paid for
and is found again by content: vectors and model replies. Whatever else lies there is derived and can be rebuilt.
"""

VERSION = 1

INDEX = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A file as it was read: equal size and time mean that it need not be read again.
CREATE TABLE sources (
    key TEXT PRIMARY KEY, root TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    format TEXT NOT NULL, text TEXT NOT NULL, metadata TEXT NOT NULL, redirect TEXT, hash TEXT NOT NULL
);
CREATE INDEX documents_by_source ON documents (source);
CREATE INDEX documents_by_name ON documents (name);

CREATE TABLE sections (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE paragraphs (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE chunks (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, tokens INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE TABLE sentences (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

-- `target` is a title, `name` the same title as it is compared: it may lead to no article of the corpus.
CREATE TABLE links (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    target TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE INDEX links_by_name ON links (name);
CREATE TABLE infoboxes (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    kind TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
"""

PARTS = ("sections", "paragraphs", "chunks", "sentences", "links", "infoboxes")
"""Tables whose rows belong to a document and go with it."""

WORK_CACHE = """
CREATE TABLE IF NOT EXISTS vectors (
    embedder TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, hash)
);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL);
-- Results of a kind of work (facts of a chunk, a report of a community) by the hash of what they were made from.
CREATE TABLE IF NOT EXISTS results (
    kind TEXT NOT NULL, hash TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
-- Work that was tried and could not be done, to be tried again: what was said, and how often.
CREATE TABLE IF NOT EXISTS failures (
    kind TEXT NOT NULL, hash TEXT NOT NULL, tries INTEGER NOT NULL, error TEXT NOT NULL, reply TEXT NOT NULL,
    PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
-- What each kind of work has cost so far, failures included. Numbers alone: nothing of a text that may have to go.
CREATE TABLE IF NOT EXISTS spent (
    kind TEXT PRIMARY KEY, calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, usd REAL NOT NULL,
    seconds REAL NOT NULL
) WITHOUT ROWID;
"""
