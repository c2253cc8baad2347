"""Pages of web sites as files: what `--url` names is fetched into a folder, and read from there by the loaders.

An address is a page whose links below its own folder are followed to a depth, or a sitemap. Pages are kept with what
the server said of their version, so that the next run asks only whether they changed. Nothing here runs unless a user
names an address. Which addresses may be connected to is decided in `public_http.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from html import unescape
from itertools import islice
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from ragways.core.errors import LoadError, UsageError
from ragways.corpus.load import loader_of
from ragways.corpus.public_http import Fetched, PublicClient, check_url, unpacked
from ragways.corpus.source import Skipped, SourceFile, WebSource

_LINK = re.compile(
    r"<a\s[^<>]{0,2000}?\bhref\s{0,9}=\s{0,9}(\"[^\"<>]{1,2000}\"|'[^'<>]{1,2000}'|[^\s\"'<>]{1,2000})", re.I
)
_MAX_SITEMAPS = 100
_MAX_DELAY = 10.0
_ROBOT = "ragways"
"""What robots.txt may call us."""
_LINKS = 5_000
_GONE = (404, 410)
_SUFFIXES = {
    "text/html": ".html", "application/xhtml+xml": ".html", "text/markdown": ".md", "text/x-markdown": ".md",
    "application/pdf": ".pdf", "text/plain": ".txt",
}  # fmt: skip
_BY_NAME = ("text/plain", "application/octet-stream", "binary/octet-stream", "")
"""Types that say less than the end of the address does."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is known of a page that is kept: how to ask whether it changed, and what it was."""

    url: str
    root: str
    file: str
    etag: str = ""
    modified: str = ""
    digest: str = ""


@dataclass
class FetchedPages:
    """The pages of a run as files, each with the address that led to it; what was left out and why."""

    files: list[tuple[str, SourceFile]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Skipped] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    """The addresses that were named."""
    unchanged: int = 0
    """Pages of which the server said that they are what is kept."""


def fetch_pages(
    source: WebSource,
    folder: Path,
    client: PublicClient | None = None,
    told: Callable[[int, str], None] = lambda *_: None,
) -> FetchedPages:
    """Bring the pages of all addresses into the folder. A page that cannot be read now stays as it was."""
    pages = FetchedPages()
    made = client or PublicClient(allowed=source.allow_private, timeout=source.timeout)
    with closing(made):
        for url in list(map(_named, source.urls)):
            pages.roots.append(url)
            _Site(source, url, made, _PageFolder(folder), pages, told).read()
    return pages


def _named(url: str) -> str:
    """An address that the user named, checked before any is asked for."""
    try:
        return check_url(url)
    except LoadError as error:
        raise UsageError(error.message, error.cure) from error


class _PageFolder:
    """Pages on the disk: a file each, and beside it what is known of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self, url: str) -> _Kept | None:
        """What is known of a page, if its file is still what was written."""
        with suppress(OSError, ValueError, TypeError):
            kept = _Kept(**json.loads(self._note(url).read_text(encoding="utf-8")))
            if kept.url == url and _digest(self.path(kept).read_bytes()) == kept.digest:
                return kept
        return None

    def all_of(self, root: str) -> Iterator[_Kept]:
        for note in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError, TypeError):
                kept = _Kept(**json.loads(note.read_text(encoding="utf-8")))
                if kept.root == root and self.kept(kept.url) is not None:
                    yield kept

    def path(self, kept: _Kept) -> Path:
        return self._folder / Path(kept.file).name

    def put(self, kept: _Kept, data: bytes | None) -> None:
        """Write the page, unless it is what is there, and the note after it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if data is not None:
            _write(self.path(kept), data)
        _write(self._note(kept.url), json.dumps(asdict(kept)).encode())

    def _note(self, url: str) -> Path:
        return self._folder / f"{_name(url)}.json"


def forget_pages(folder: Path, wanted: Collection[str]) -> None:
    """Delete the pages that are not among these keys."""
    names = {_name(key) for key in wanted if "://" in key}
    for path in folder.glob("*") if folder.is_dir() and not folder.is_symlink() else ():
        stem = path.name.partition(".")[0]
        if len(stem) == 32 and stem not in names and path.is_file():
            path.unlink()


class _Site:
    """One address that was named: which pages it leads to, asked for one by one."""

    def __init__(
        self,
        source: WebSource,
        root: str,
        client: PublicClient,
        folder: _PageFolder,
        pages: FetchedPages,
        told: Callable[[int, str], None],
    ) -> None:
        self._source, self._root, self._client, self._folder, self._pages = source, root, client, folder, pages
        self._told = told
        self._robots = RobotFileParser()
        self._delay = source.delay
        self._asked = 0.0
        self._ends = time.monotonic() + source.max_seconds
        self._seen: set[str] = set()
        self._keys: set[str] = {file.key for _, file in pages.files}
        self._count = 0
        self._whole = True

    def read(self) -> None:
        self._read_robots()
        pending = deque([(self._root, 0)])
        if _is_sitemap(self._root):
            pending = deque((url, self._source.depth) for url in self._sitemap_pages())
        while pending:
            url, depth = pending.popleft()
            if url in self._seen:
                continue
            self._seen.add(url)
            if self._count >= self._source.max_pages or time.monotonic() > self._ends:
                more = f"its pages after the first {self._count:,} (see --max-pages, --depth)"
                self._pages.skipped.append(Skipped(f"{self._root}…", more))
                self._whole = False
                break
            links = self._page(url)
            if depth < self._source.depth:
                pending.extend((link, depth + 1) for link in links if link not in self._seen)
        if not self._whole:
            self._keep_unseen()

    def _page(self, url: str) -> list[str]:
        """Bring one page, and give the links on it."""
        if not self._robots.can_fetch(_ROBOT, url):
            self._pages.skipped.append(Skipped(url, "robots.txt does not allow it"))
            return []
        kept = self._folder.kept(url)
        asking = {"if-none-match": kept.etag, "if-modified-since": kept.modified} if kept else {}
        self._told(self._count, url)
        try:
            found = self._ask(url, {name: value for name, value in asking.items() if value})
            if found.status in _GONE:
                if url == self._root:
                    raise LoadError(f"is not there (status {found.status})", "check the address")
                return []
            if found.status == 304 and kept is not None:
                data = self._folder.path(kept).read_bytes()
                self._pages.unchanged += 1
            elif found.status == 200 and not self._robots.can_fetch(_ROBOT, found.url):
                self._pages.skipped.append(Skipped(url, f"robots.txt does not allow {found.url}, where it leads"))
                return []
            elif found.status == 200:
                kept, data = self._keep(found), found.data
            else:
                raise LoadError(f"answers with status {found.status}")
        except LoadError as error:
            self._fail(url, ": ".join(filter(None, (error.message, error.cure))))
            return []
        if kept is None:
            return []
        self._count += 1
        if kept.url not in self._keys:
            self._keys.add(kept.url)
            self._pages.files.append((self._root, SourceFile(self._folder.path(kept), kept.url)))
        return self._links(kept.url, data) if kept.file.endswith(".html") else []

    def _keep(self, found: Fetched) -> _Kept | None:
        suffix = _suffix(found)
        if not suffix:
            self._pages.skipped.append(
                Skipped(found.url, f"no loader for {found.headers.get('content-type', '')[:60]}")
            )
            return None
        before, digest = self._folder.kept(found.url), _digest(found.data)
        etag, modified = (_sendable(found.headers.get(name, "")) for name in ("etag", "last-modified"))
        kept = _Kept(found.url, self._root, _name(found.url) + suffix, etag, modified, digest)
        same = before is not None and (before.digest, before.file) == (digest, kept.file)
        self._folder.put(kept, None if same else found.data)
        return kept

    def _keep_unseen(self) -> None:
        """Where something failed, pages that were not reached are no less there than before."""
        for kept in self._folder.all_of(self._root):
            if kept.url not in self._keys and kept.url not in self._seen:
                self._keys.add(kept.url)
                self._pages.files.append((self._root, SourceFile(self._folder.path(kept), kept.url)))

    def _fail(self, url: str, why: str) -> None:
        self._whole = False
        self._pages.failed.append(Skipped(url, why))

    def _ask(self, url: str, headers: dict[str, str] | None = None) -> Fetched:
        """One request, after waiting for its turn."""
        wait = self._asked + self._delay - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self._asked = time.monotonic()
        return self._client.get(url, self._source.max_bytes, headers)

    def _read_robots(self) -> None:
        try:
            found = self._ask(urljoin(self._root, "/robots.txt"))
        except LoadError:
            found = Fetched(self._root, 404, {}, b"")  # whoever cannot be reached is told so by its pages
        rules = found.data[: 500 * 1024].decode("utf-8", "replace").splitlines() if found.status == 200 else []
        if found.status >= 500 or found.status in (401, 403):
            rules = ["User-agent: *", "Disallow: /"]
        self._robots.parse(filter(_is_rule, rules))
        self._delay = max(self._delay, min(int(_MAX_DELAY), int(self._robots.crawl_delay(_ROBOT) or 0)))

    def _links(self, url: str, data: bytes) -> list[str]:
        """Addresses on a page that lie below the folder of the address that was named.

        Found by a pattern: a parser of web pages runs only in the child process that reads them.
        """
        found: dict[str, None] = {}
        for match in islice(_LINK.finditer(data.decode("utf-8", "replace")), _LINKS):
            with suppress(LoadError, ValueError):
                link = check_url(urljoin(url, unescape(match[1].strip("\"'")).strip()))
                if self._is_below(link):
                    found[link] = None
        return list(found)

    def _is_below(self, link: str) -> bool:
        there, here = urlsplit(link), urlsplit(self._root)
        folder = here.path.rpartition("/")[0] + "/"
        return (
            (there.scheme, there.netloc) == (here.scheme, here.netloc)
            and there.path.startswith(folder)
            and not there.query
        )

    def _sitemap_pages(self) -> list[str]:
        """Pages that a sitemap lists on its own site, and those of the sitemaps that it lists."""
        pages: dict[str, None] = {}
        pending, read = deque([self._root]), 0
        while pending and read < _MAX_SITEMAPS:
            url = pending.popleft()
            read += 1
            try:
                found = self._ask(url)
                if found.status != 200:
                    raise LoadError(f"answers with status {found.status}")
                nested, listed = _sitemap(found, self._source.max_bytes)
            except LoadError as error:
                self._fail(url, error.message)
                continue
            here = urlsplit(self._root).netloc
            pending.extend(link for link in nested if urlsplit(link).netloc == here)
            pages.update((link, None) for link in listed if urlsplit(link).netloc == here)
        return list(pages)


def _sitemap(found: Fetched, limit: int) -> tuple[list[str], list[str]]:
    """Addresses of further sitemaps, and of pages."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    data = unpacked(found.data, limit) if found.data[:2] == b"\x1f\x8b" else found.data
    try:
        tree = fromstring(data)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise LoadError("is no sitemap") from error
    links: dict[str, list[str]] = {"sitemap": [], "url": []}
    for entry in tree:
        kind = entry.tag.rpartition("}")[2]
        place = next((part.text for part in entry if part.tag.rpartition("}")[2] == "loc"), None)
        if kind in links and place:
            with suppress(LoadError, ValueError):
                links[kind].append(check_url(place.strip()))
    return links["sitemap"], links["url"]


def _is_rule(line: str) -> bool:
    """Whether a line of robots.txt can be read: Python's parser stumbles over numbers and addresses that are none."""
    try:
        RobotFileParser().parse(("User-agent: *", line))
    except ValueError:
        return False
    return True


def _sendable(header: str) -> str:
    """A header of the server that may be sent back to it; what is too long or not plain is not kept."""
    return header if len(header) <= 300 and header.isascii() and header.isprintable() else ""


def _is_sitemap(url: str) -> bool:
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))


def _suffix(found: Fetched) -> str:
    """The end of the file's name, by which its loader is chosen; nothing where none reads such a page."""
    kind = found.headers.get("content-type", "").partition(";")[0].strip().lower()
    named = os.path.splitext(urlsplit(found.url).path)[1].lower()
    if kind in _BY_NAME and named and loader_of(f"page{named}") is not None:
        return named
    return _SUFFIXES.get(kind, "")


def _name(url: str) -> str:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Under a name of its own first: a killed run leaves no half page."""
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(data)
    draft.replace(path)
