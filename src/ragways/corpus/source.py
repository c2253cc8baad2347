"""What is read: a file with the key it gets, or the reason why it is left out, and how far reading may go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024
NO_TEXT = "holds no text"
"""Why an empty file, page or record is left out; unlike other reasons, nothing went wrong with it."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. `key` is its POSIX path below the folder that the user named."""

    path: Path
    key: str

    @property
    def stem(self) -> str:
        """The name without its suffixes, underscores as spaces: the title of a file that names none."""
        return title_guess(self.path.name)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out, and why."""

    key: str
    reason: str


def _ignore(_: Skipped) -> None:
    """Nobody asked to hear of skipped records."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of a record's fields, best first. The first one that the record has wins."""

    id: tuple[str, ...] = ("id", "_id", "idx", "chunk_id", "doc_id", "docid", "passage_id", "uid")
    title: tuple[str, ...] = ("title", "name", "headline", "source_title", "heading")
    text: tuple[str, ...] = (
        "text", "content", "body", "passage", "contents", "context", "document", "article", "abstract",
        "sentences", "paragraph_text",
    )  # fmt: skip
    date: tuple[str, ...] = ("published_at", "date", "published", "publication_date", "timestamp", "created_at", "year")
    url: tuple[str, ...] = ("url", "link", "uri")
    author: tuple[str, ...] = ("author", "authors", "byline", "creator")
    source: tuple[str, ...] = ("source", "publisher", "outlet", "site")
    category: tuple[str, ...] = ("category", "categories", "section", "tags", "topic")


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How far reading may go, so that no file can use up the machine. Sizes are bytes unless named otherwise."""

    max_bytes: int = 256 * MIB
    """A file, and what a compressed one unpacks to. Dumps are streamed and may be larger."""
    max_text: int = 20_000_000
    """Characters of one document."""
    max_stream: int = 256 * 1024 * MIB
    """What a streamed file (dump, JSON lines) may unpack to in all."""
    max_record: int = 32 * MIB
    """One line of JSON lines, or one revision of a dump."""
    max_page: int = 4_000_000
    """Characters of one wikitext page that are parsed; MediaWiki itself stops at 2 MiB."""
    max_pdf_pages: int = 5_000
    fields: Fields = Fields()
    notice: Callable[[Skipped], None] = _ignore
    """Told of every page or record inside a file that was left out."""


_SUFFIXES = (
    ".gz", ".bz2", ".txt", ".text", ".rst", ".md", ".markdown", ".html", ".htm", ".pdf", ".docx",
    ".json", ".jsonl", ".ndjson", ".wiki", ".wikitext", ".mediawiki", ".xml",
)  # fmt: skip


def title_guess(name: str) -> str:
    """`Tidal_range.md` → `Tidal range`. Only known suffixes go: `Dr._No` stays whole."""
    for _ in range(2):
        for suffix in _SUFFIXES:
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                name = name[: -len(suffix)]
                break
    return " ".join(name.replace("_", " ").split())
