"""What is read: a file with the key it gets, how far reading may go, and how its bytes become text."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from ragways.core.errors import LoadError

MIB = 1024 * 1024
NO_TEXT = "holds no text"
"""Why an empty file, page or record is left out; unlike other reasons, nothing went wrong with it."""
ODD_NAME = "its name is not UTF-8; rename it"
"""Why a file or folder is not read whose name no database and no JSON can hold."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. `key` is its POSIX path below the folder that the user named."""

    path: Path
    key: str

    @property
    def stem(self) -> str:
        """The name without its suffixes, underscores as spaces: the title of a file that names none."""
        if "://" in self.key:  # a page, whose file has a name of ours
            return title_guess(unquote(self.key.rstrip("/").rpartition("/")[2]), self.path.suffix)
        return title_guess(self.path.name, self.path.suffix)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out, and why."""

    key: str
    reason: str


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


@dataclass(eq=False, slots=True)
class KnownRecords:
    """Records of a file of lines, each by a hash of its line and place, with the number of its document. Of those that
    are `known` no document is made again; a loader reports which were `unchanged`, and which are `new`.
    """

    known: Mapping[bytes, int] = field(default_factory=dict)
    unchanged: dict[bytes, int] = field(default_factory=dict)
    new: dict[bytes, int] = field(default_factory=dict)


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
    max_memory: int = 1024 * MIB
    """Of the child process that reads formats whose loaders are isolated."""
    max_cpu: int = 120
    """CPU seconds in it for one file."""
    max_wall: float = 600
    """Seconds by the clock for one file in it."""
    fields: Fields = Fields()
    notice: Callable[[Skipped], None] = lambda _: None
    """Called with every page or record inside a file that was left out."""
    records: KnownRecords | None = None
    """Of a file that was read before."""


@dataclass(frozen=True, slots=True)
class WebSource:
    """Addresses to read, and how far to go from them."""

    urls: tuple[str, ...] = ()
    depth: int = 3
    """Links to follow from the address that was named; 0 is that page alone."""
    max_pages: int = 500
    delay: float = 0.2
    """Seconds between two requests; a site's own `Crawl-delay` counts if it is more."""
    allow_private: frozenset[str] = frozenset()
    """Hosts that may be addresses of this machine or its network."""
    max_bytes: int = 32 * MIB
    timeout: float = 30.0
    """Seconds for a page."""
    max_seconds: float = 3600.0
    """For all pages of one address."""


CODE_SUFFIXES = (
    ".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".java", ".go", ".rs", ".c", ".h",
    ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".cs", ".rb", ".php", ".sh", ".bash",
)  # fmt: skip
_SUFFIXES = (
    ".gz", ".bz2", ".txt", ".text", ".rst", ".rest", ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".pdf",
    ".docx", ".json", ".jsonl", ".ndjson", ".wiki", ".wikitext", ".mediawiki", ".xml", ".ipynb", ".csv", ".tsv", ".tab",
    ".xlsx", ".pptx", ".epub", ".eml", ".mbox", ".yaml", ".yml", ".toml", ".srt", ".vtt", *CODE_SUFFIXES,
)  # fmt: skip


def title_guess(name: str, own: str = "") -> str:
    """`Tidal_range.md` → `Tidal range`. Only known suffixes go, and a file's own: `Dr._No` stays whole."""
    suffixes = (*_SUFFIXES, own.lower()) if own else _SUFFIXES
    for _ in range(2):
        for suffix in suffixes:
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                name = name[: -len(suffix)]
                break
    return " ".join(name.replace("_", " ").split())


# Bytes and text

_BLOCK = 1 << 20
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@contextmanager
def opened(file: SourceFile) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked where its name ends in .gz or .bz2. Never waits on a pipe or a device."""
    descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(descriptor, "rb") as raw:
        if not stat.S_ISREG(os.fstat(raw.fileno()).st_mode):
            raise LoadError("is not a regular file")
        name = file.path.name.lower()
        if name.endswith(".gz"):
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked  # type: ignore[misc]
        elif name.endswith(".bz2"):
            with bz2.BZ2File(raw) as unpacked_bz2:
                yield unpacked_bz2
        else:
            yield raw


class Bounded(io.RawIOBase):
    """A stream that refuses to go on past a limit. `reset` starts the counting of one record anew."""

    def __init__(self, stream: IO[bytes], total: int, record: int) -> None:
        self._stream = stream
        self._total = total
        self._record = record
        self._all = self._one = 0

    def reset(self) -> None:
        self._one = 0

    def read(self, size: int | None = -1) -> bytes:
        block = self._stream.read(_BLOCK if size is None or size < 0 else min(size, _BLOCK))
        self._all += len(block)
        self._one += len(block)
        if self._one > self._record:
            raise LoadError(f"holds one record of more than {self._record:,} bytes", "raise max_record if it is meant")
        if self._all > self._total:
            raise LoadError(f"unpacks to more than {self._total:,} bytes", "raise max_stream if it is meant")
        return block


def read_all(file: SourceFile, limit: int) -> bytes:
    """All bytes, read in blocks, and an error as soon as there are more than the limit."""
    blocks: list[bytes] = []
    size = 0
    with opened(file) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise LoadError(f"is larger than {limit:,} bytes", "raise max_bytes if it is meant")
            blocks.append(block)
    return b"".join(blocks)


def read_text(file: SourceFile, limit: int) -> tuple[str, dict[str, str]]:
    """The text of a file, and in the metadata the encoding where it was a guess."""
    return decode(read_all(file, limit))


def decode(data: bytes) -> tuple[str, dict[str, str]]:
    """By byte order mark, else strict UTF-8, else Windows-1252, which the metadata then reports."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _checked(_strictly(data, name)), {}
    if b"\0" in data:
        raise _binary()
    try:
        return _checked(data.decode("utf-8")), {}
    except UnicodeDecodeError:
        pass
    damaged = data.decode("utf-8", "replace")
    wrong = damaged.count("\ufffd")
    # A few bad bytes among many good sequences: damaged UTF-8 rather than another encoding.
    if sum(character > "\x7f" for character in damaged[:200_000]) > 11 * wrong:
        return _checked(damaged), {"encoding": "utf-8, damaged"}
    return _checked(_strictly(data, "cp1252")), {"encoding": "cp1252"}


def _strictly(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise LoadError("is not text in an encoding that is known here", "save it as UTF-8") from error


def _checked(text: str) -> str:
    sample = text[:_BLOCK]
    if "\0" in text or len(_CONTROL.findall(sample)) * 10 > len(sample):
        raise _binary()
    return text


def _binary() -> LoadError:
    return LoadError("holds binary data, not text", "give it the suffix of its real format")


# References between files

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|//")
_ASSET = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|zip|gz|mp[34]|ogg|webm|avi|mov|woff2?|exe|csv|php)$", re.I
)


def article_of(reference: str) -> str:
    """`../wiki/Tidal_range.md#spring` → `Tidal range`. Nothing for the web, for assets and for places in this page."""
    reference = reference.strip()[:2000]
    if _SCHEME.match(reference):
        return ""
    path = unquote(reference.split("#", 1)[0].split("?", 1)[0]).rstrip("/")
    name = path.replace("\\", "/").rpartition("/")[2]
    if not name.strip(". ") or _ASSET.search(name):
        return ""
    return title_guess(name)[:255]
