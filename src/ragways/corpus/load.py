"""Files that a user names: which can be read, by which loader, and why the rest was left out."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import cast

from ragways.core.errors import LoadError, NoText, PluginClash, UsageError
from ragways.core.registry import Registry
from ragways.core.text import is_utf8, printable_name
from ragways.core.types import Document
from ragways.corpus.patterns import Filter, Selection
from ragways.corpus.source import CODE_SUFFIXES, NO_TEXT, ODD_NAME, LoadOptions, Skipped, SourceFile

LoadFunction = Callable[[SourceFile, LoadOptions], Iterator[Document]]
"""Reads one file within the bounds of the options and gives its documents; what is wrong with it is a LoadError."""


@dataclass(frozen=True, slots=True)
class Loader:
    """A file format: its name, its suffixes in lower case with their dot, and the function that reads such a file.

    A streamed one may be larger than `max_bytes`. An isolated one is read in a child process with limits of memory and
    time (`isolated.py`): its parser may crash, or use far more than the file's size. A package brings one by an
    entry point in `ragways.loaders`.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    load: LoadFunction
    streamed: bool = False
    isolated: bool = False

    def __post_init__(self) -> None:
        for suffix in self.suffixes:
            if not suffix.startswith(".") or suffix != suffix.lower():
                raise ValueError(f"the suffix {suffix!r} is not a dot and lower-case letters")


def _from(place: str) -> LoadFunction:
    """The function at `module:name`. Parsers are heavy: one is imported when a file needs it."""

    def read(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
        module, _, name = place.partition(":")
        return cast(LoadFunction, getattr(import_module(f"ragways.corpus.{module}"), name))(file, options)

    return read


_RECORDS = _from("files.records:load_records")

LOADERS: Registry[Loader] = Registry(
    "ragways.loaders",
    "loader",
    Loader,
    (
        Loader("text", (".txt", ".text"), "Plain text; reStructuredText is seen.", _from("files.text:load_text")),
        Loader("rst", (".rst", ".rest"), "reStructuredText, with Sphinx's roles.", _from("files.text:load_rst")),
        Loader(
            "markdown",
            (".md", ".markdown", ".mdx"),
            "Markdown, with front matter.",
            _from("files.markdown:load_markdown"),
        ),
        Loader("html", (".html", ".htm"), "Web pages.", _from("web.html:load_html"), isolated=True),
        Loader("pdf", (".pdf",), "PDF with a text layer.", _from("files.pdf:load_pdf"), isolated=True),
        Loader("docx", (".docx",), "Word documents.", _from("files.office:load_docx"), isolated=True),
        Loader(
            "json",
            (".json", ".json.gz"),
            "A list of records, titles with their texts, or one thing with its fields.",
            _RECORDS,
        ),
        Loader("jsonl", (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"), "A record a line.", _RECORDS, streamed=True),
        Loader(
            "code",
            CODE_SUFFIXES,
            "Source code, by classes and functions.",
            _from("files.code:load_code"),
            isolated=True,
        ),
        Loader("notebook", (".ipynb",), "Jupyter notebooks.", _from("files.markdown:load_notebook")),
        Loader(
            "csv", (".csv", ".tsv", ".tab"), "Tables; a row with its headers.", _from("files.sheets:load_separated")
        ),
        Loader("xlsx", (".xlsx",), "Spreadsheets.", _from("files.sheets:load_workbook"), isolated=True),
        Loader("pptx", (".pptx",), "Slides with their notes.", _from("files.office:load_slides"), isolated=True),
        Loader("epub", (".epub",), "E-books.", _from("files.office:load_book"), isolated=True),
        Loader("email", (".eml",), "A message.", _from("files.mail:load_message"), isolated=True),
        Loader("mailbox", (".mbox",), "Messages of a mailbox.", _from("files.mail:load_mailbox"), isolated=True),
        Loader("yaml", (".yaml", ".yml"), "Settings, a line a value.", _from("files.keyed:load_yaml"), isolated=True),
        Loader("toml", (".toml",), "Settings, a line a value.", _from("files.keyed:load_toml"), isolated=True),
        Loader("subtitles", (".srt", ".vtt"), "Subtitles with times.", _from("files.keyed:load_subtitles")),
        Loader(
            "wikitext",
            (".wiki", ".wikitext", ".mediawiki"),
            "One page of MediaWiki markup.",
            _from("wiki.pages:load_page"),
        ),
        Loader(
            "mediawiki",
            (".xml", ".xml.gz", ".xml.bz2"),
            "MediaWiki export dumps.",
            _from("wiki.pages:load_dump"),
            streamed=True,
        ),
    ),
)


def loader_of(name: str) -> Loader | None:
    """The loader for a file name: the longest suffix wins, case does not matter. None where no loader reads it.

    Raises PluginClash where two loaders claim the same suffix.
    """
    lower = name.lower()
    best: tuple[str, Loader] | None = None
    for loader in LOADERS.values():
        for suffix in filter(lower.endswith, loader.suffixes):
            if best is None or len(suffix) > len(best[0]):
                best = suffix, loader
            elif suffix == best[0]:
                raise _clash(suffix, best[1], loader)
    return best[1] if best else None


_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+):/+(.*)", re.DOTALL)


def _clash(suffix: str, one: Loader, other: Loader) -> PluginClash:
    packages = [LOADERS.package_of(loader.name) for loader in (one, other)]
    return PluginClash(
        f"files ending in {suffix} are read by the loader {one.name!r} of {packages[0]} and by {other.name!r} of "
        f"{packages[1]}",
        "uninstall one of them, or ask its author for another suffix",
    )


def load(file: SourceFile, options: LoadOptions | None = None) -> Iterator[Document]:
    """The documents of a file. Whatever is wrong with it becomes a LoadError that names its key."""
    found, empty = False, list[Skipped]()
    options = options or LoadOptions()
    loader = loader_of(file.path.name)
    if loader is None:
        raise LoadError(f"{file.key} has no loader", "see the list of formats")
    try:
        if file.path.is_file() and not file.path.stat().st_size:
            raise NoText(NO_TEXT)
        for document in loader.load(file, options):
            if document.text or document.redirect:
                found = True
                # A page that was fetched is from where it was fetched, whatever address it names as its own.
                fetched = {"url": file.key} if "://" in file.key else {}
                yield replace(document, format=loader.name, metadata={**document.metadata, **fetched})
            else:
                empty.append(Skipped(document.key, NO_TEXT))
        if not found and not (options.records and options.records.unchanged):
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


# Files below folders


def walk(
    paths: Iterable[Path | str], options: LoadOptions | None = None, *, selection: Selection | None = None
) -> FileWalk:
    """Every file below the paths that is not left out, in one fixed order, whatever order they were named in."""
    roots = sorted({Path(path) for path in paths})
    for root in roots:
        if not root.exists():
            raise _not_there(root)
    return FileWalk(roots, options or LoadOptions(), selection or Selection())


def _not_there(root: Path) -> UsageError:
    """What to say of a path that leads to nothing. Of a URL it has lost one of the slashes."""
    url = _URL.fullmatch(root.as_posix())
    if url is None:
        return UsageError(f"{root} does not exist", "name a file or folder that is there")
    if url[1].lower() in ("http", "https"):
        return UsageError(f"{url[1]}://{url[2]} is a URL, not a file", f"read it with: --url {url[1]}://{url[2]}")
    cure = "copy its files into a folder and name that; only an index may be at such a URL (--index)"
    return UsageError(f"{url[1]}://{url[2]} is a URL, and files are read from folders", cure)


class FileWalk:
    """The files below some paths: iterate over it. Afterwards `hidden` counts hidden files and folders that were passed
    over, and `left_out` others by reason: `excluded` by patterns of the user, `ignored` by `.gitignore`, `junk`.
    """

    def __init__(self, roots: list[Path], options: LoadOptions, selection: Selection) -> None:
        self._roots = roots
        self._options = options
        self._selection = selection
        self.left_out: Counter[str] = Counter()
        self._keys: set[str] = set()
        self._seen: dict[str, str] = {}
        self.hidden = 0

    def __iter__(self) -> Iterator[SourceFile | Skipped]:
        self._keys, self._seen, self.hidden = set(), {}, 0
        self.left_out.clear()
        for root in self._roots:
            if root.is_dir():
                yield from self._folder(root)
            else:
                yield self._file(root, root.name, root.resolve().parent)

    def _folder(self, root: Path) -> Iterator[SourceFile | Skipped]:
        """Links come last, so that a file is read under its own name where it has one in the folder."""
        links: list[tuple[Path, str]] = []
        pending = [(root, "", Filter(self._selection))]
        while pending:
            folder, prefix, above = pending.pop()
            if folder != root and (folder / "pyvenv.cfg").is_file():
                self.left_out["junk"] += 1
                continue
            if folder != root and (folder / "index.sqlite").is_file():
                self.hidden += 1  # an index of ours is no corpus
                continue
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                yield Skipped(printable_name(prefix or root.name), f"cannot be read: {_reason(error)}")
                continue
            below = []
            inside = above.below(folder, prefix.split("/")[:-1])
            for entry in entries:
                key = prefix + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name.startswith("."):
                    self.hidden += 1
                elif why := inside.left_out(key.split("/"), folder=is_folder):
                    self.left_out[why] += 1
                elif entry.is_symlink():
                    links.append((Path(entry.path), key))
                elif is_folder and not is_utf8(entry.name):
                    yield Skipped(printable_name(key), ODD_NAME)
                elif is_folder:
                    below.append((Path(entry.path), key + "/", inside))
                else:
                    yield self._file(Path(entry.path), key, root)
            pending.extend(reversed(below))
        for path, key in links:
            yield self._link(path, key, root)

    def _link(self, path: Path, key: str, root: Path) -> SourceFile | Skipped:
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return Skipped(printable_name(key), "link leads nowhere")
        if not target.is_relative_to(root.resolve()):
            return Skipped(printable_name(key), "link leads outside the folder")
        if target.is_dir():
            return Skipped(printable_name(key), "link to a folder that is read under its own name")
        return self._file(path, key, root)

    def _file(self, path: Path, key: str, root: Path) -> SourceFile | Skipped:
        printable = printable_name(key)
        try:
            status = path.stat()
        except OSError as error:
            return Skipped(printable, f"cannot be read: {_reason(error)}")
        if why := self._why_not(path, key, status):
            return Skipped(printable, why)
        real = os.path.realpath(path)
        if real in self._seen:
            return Skipped(printable, f"already read as {self._seen[real]}")
        self._seen[real] = self._unique(printable, root)
        return SourceFile(path, self._seen[real])

    def _why_not(self, path: Path, key: str, status: os.stat_result) -> str:
        """Why a file that is there is not read; empty where it is."""
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        loader = loader_of(path.name)
        if loader is None:
            return f"no loader for {printable_name(path.suffix) or 'files without a suffix'}"
        if not is_utf8(key):
            return ODD_NAME
        if status.st_size > self._options.max_bytes and not loader.streamed:
            return f"larger than {self._options.max_bytes:,} bytes (max_bytes)"
        return ""

    def _unique(self, key: str, root: Path) -> str:
        """A key that another root has taken gets the root's name before it, then a number."""
        unique, number = key, 1
        while unique in self._keys:
            name = printable_name(root.resolve().name)
            unique = f"{name}/{key}" if number == 1 else f"{name}~{number}/{key}"
            number += 1
        self._keys.add(unique)
        return unique


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
