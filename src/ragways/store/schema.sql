-- The rows of an index. A row belongs to one document and is deleted with it; the few tables that do not are at the end.
-- Everything that joins documents (entities, edges, communities) is a view made of these rows, and is not stored here.

-- A file as it was read: equal size and time mean that it need not be read again.
CREATE TABLE IF NOT EXISTS sources (
    key TEXT PRIMARY KEY, root TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL
) WITHOUT ROWID;
-- A record of a file of many (a line of JSONL): one with an equal hash need not be parsed again.
CREATE TABLE IF NOT EXISTS records (
    source TEXT NOT NULL, record BLOB NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (source, record)
) WITHOUT ROWID;

-- `number` is made of the key, so it is the same in every history. `name` is the title as titles are compared.
-- `redirect` is the title that a redirect leads to, `leads` the same as titles are compared.
-- `hash` is that of all that is stored of the document, `crc` the CRC-32 of its text.
CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    format TEXT NOT NULL, metadata TEXT NOT NULL, redirect TEXT, leads TEXT, hash BLOB NOT NULL, crc INTEGER NOT NULL,
    places TEXT NOT NULL, -- pages and lines, packed (`origin.py`)
    markup TEXT NOT NULL, -- code, lists, tables and links, packed (`corpus/markup.py`)
    sentences BLOB NOT NULL, -- packed (`sentences.py`)
    text TEXT NOT NULL -- stored last, so SQLite skips long text
);
CREATE INDEX IF NOT EXISTS documents_by_source ON documents (source);
CREATE INDEX IF NOT EXISTS documents_by_name ON documents (name);
CREATE INDEX IF NOT EXISTS redirects_by_target ON documents (leads) WHERE leads IS NOT NULL;
-- Titles by runs of three letters (`titles.py`); `rowid` is the document.
CREATE VIRTUAL TABLE IF NOT EXISTS titles USING fts5 (letters, tokenize = 'trigram');

-- Parts of a document, in reading order. `path` is the end of the part's id: `s1`, `s1:p0`, `s1:p0:c0`.
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
    end INTEGER NOT NULL, tokens INTEGER NOT NULL, hash BLOB NOT NULL, -- of the text that is searched
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
-- `target` is a title, `name` the same title as titles are compared: it may lead to no document.
CREATE TABLE IF NOT EXISTS links (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    target TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_name ON links (name);
CREATE TABLE IF NOT EXISTS infoboxes (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    kind TEXT NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

-- Facts: what a layer extracted from one document alone (given the lexicon). `chunk` is the ordinal of a chunk.
-- `name` is resolved within the document; `hash` is that of the name (`layers/graph/names.py`), for finding documents.
-- `kind` excludes other kinds; `meant` is a guess that excludes nothing; `way` is who found it (rules, model, import),
-- and of a relation by rules the rule, too (`rules:link`).
CREATE TABLE IF NOT EXISTS mentions (
    document INTEGER NOT NULL, chunk INTEGER NOT NULL, name TEXT NOT NULL, hash INTEGER NOT NULL, kind TEXT NOT NULL,
    meant TEXT NOT NULL, spelling TEXT NOT NULL, type TEXT NOT NULL, count INTEGER NOT NULL, way TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS mentions_of_document ON mentions (document, chunk);
CREATE INDEX IF NOT EXISTS mentions_of_name ON mentions (hash);
-- `weight` is in millionths. A description is `length` characters of the document's text at `start`, or else given.
CREATE TABLE IF NOT EXISTS relations (
    document INTEGER NOT NULL, chunk INTEGER NOT NULL, subject TEXT NOT NULL, subject_kind TEXT NOT NULL,
    predicate TEXT NOT NULL, object TEXT NOT NULL, object_kind TEXT NOT NULL, weight INTEGER NOT NULL,
    date TEXT NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, description TEXT NOT NULL, way TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS relations_of_document ON relations (document, chunk);
-- `other` is another name of `name` in this document; `reason` is acronym, alias or short form.
CREATE TABLE IF NOT EXISTS other_names (
    document INTEGER NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS other_names_of_document ON other_names (document);
-- What a document says of a name: a model or a file, and of its own title its first sentence.
CREATE TABLE IF NOT EXISTS descriptions (
    document INTEGER NOT NULL, chunk INTEGER NOT NULL, name TEXT NOT NULL, hash INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS descriptions_of_document ON descriptions (document);
CREATE INDEX IF NOT EXISTS descriptions_of_name ON descriptions (hash);
-- Themes of a document, best first, and who named them.
CREATE TABLE IF NOT EXISTS themes (
    document INTEGER NOT NULL, ordinal INTEGER NOT NULL, theme TEXT NOT NULL, way TEXT NOT NULL,
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

-- Which layers have extracted a document, and with what: a hash of their settings, and of the lexicon's epoch.
CREATE TABLE IF NOT EXISTS extracted (
    layer TEXT NOT NULL, document INTEGER NOT NULL, made TEXT NOT NULL, PRIMARY KEY (document, layer)
) WITHOUT ROWID;

-- Tables that belong to no document.

-- Settings of the index, by name: generation, layers, embedder, chunking, settings of layers, …
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- What came ('+') and went ('-') at each generation; of one layer alone, or with an empty name of the document itself.
CREATE TABLE IF NOT EXISTS changes (
    generation INTEGER NOT NULL, document INTEGER NOT NULL, layer TEXT NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS changes_by_generation ON changes (generation);
