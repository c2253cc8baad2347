"""The table of formats, and the one way to read a file. A loader's module is imported when its format appears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import cast

from ragways.core.errors import LoadError, NoText
from ragways.core.types import Document
from ragways.corpus.source import NO_TEXT, LoadOptions, Skipped, SourceFile

__all__ = ["LOADERS", "LoadOptions", "Loader", "Skipped", "SourceFile", "load", "loader_of"]

Load = Callable[[SourceFile, LoadOptions], Iterator[Document]]


@dataclass(frozen=True, slots=True)
class Loader:
    """A format: its suffixes and how it is read. A streamed one may be larger than `max_bytes`."""

    name: str
    suffixes: tuple[str, ...]
    summary: str
    load: Load
    streamed: bool = False


def _from(module: str) -> Load:
    """Parsers are heavy: import one only when a file needs it."""

    def read(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
        return cast(Load, import_module(f"ragways.corpus.{module}").load)(file, options)

    return read


LOADERS: tuple[Loader, ...] = (
    Loader("text", (".txt", ".text", ".rst"), "Plain text.", _from("text")),
    Loader("markdown", (".md", ".markdown"), "Markdown, with front matter.", _from("markdown")),
    Loader("html", (".html", ".htm"), "Web pages.", _from("html")),
    Loader("pdf", (".pdf",), "PDF with a text layer.", _from("pdf")),
    Loader("docx", (".docx",), "Word documents.", _from("docx")),
    Loader("json", (".json", ".json.gz"), "A list of records, or titles with their texts.", _from("records")),
    Loader(
        "jsonl",
        (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
        "A record a line.",
        _from("records"),
        streamed=True,
    ),
    Loader("wikitext", (".wiki", ".wikitext", ".mediawiki"), "One page of MediaWiki markup.", _from("wikitext")),
    Loader(
        "mediawiki",
        (".xml", ".xml.gz", ".xml.bz2"),
        "MediaWiki export dumps.",
        _from("mediawiki"),
        streamed=True,
    ),
)

_BY_SUFFIX = {suffix: loader for loader in LOADERS for suffix in loader.suffixes}


def loader_of(name: str) -> Loader | None:
    """The loader for a file name: the longest suffix wins, case does not matter."""
    parts = name.lower().split(".")
    for count in (2, 1):
        suffix = "." + ".".join(parts[-count:])
        if len(parts) > count and suffix in _BY_SUFFIX:
            return _BY_SUFFIX[suffix]
    return None


def load(file: SourceFile, options: LoadOptions | None = None) -> Iterator[Document]:
    """The documents of a file. Whatever is wrong with it becomes a LoadError that names its key."""
    options = options or LoadOptions()
    loader = loader_of(file.path.name)
    if loader is None:
        raise LoadError(f"{file.key} has no loader", "see the list of formats")
    found, empty = False, []
    try:
        if not file.path.stat().st_size:
            raise NoText(NO_TEXT)
        for document in loader.load(file, options):
            if document.text or document.redirect:
                found = True
                yield replace(document, format=loader.name)
            else:
                empty.append(Skipped(document.key, NO_TEXT))
        if not found:
            raise NoText(NO_TEXT)
        for skipped in empty:
            options.notice(skipped)
    except LoadError as error:
        raise type(error)(f"{file.key} {error.message}", error.cure) from error
    except MemoryError:
        raise
    except RecursionError as error:
        raise LoadError(f"{file.key} is nested too deep") from error
    except OSError as error:
        raise LoadError(f"{file.key} cannot be read ({_first_line(error.strerror or error)})") from error
    except Exception as error:
        raise LoadError(f"{file.key} is damaged ({type(error).__name__}: {_first_line(error)})") from error


def _first_line(error: object) -> str:
    return str(error).split("\n", 1)[0][:200]
