"""Pages of web sites as files: what `--url` names is fetched into a folder, and read from there by the loaders.

An address is a page whose links below its own folder are followed to a depth, or a sitemap. Pages are stored with the
version that the server reported (`ETag`, `Last-Modified`), so that the next run fetches only pages that changed.
Nothing here runs unless a user names an address. `http.py` decides which addresses may be connected to.
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
from ragways.corpus.source import Skipped, SourceFile, WebSource
from ragways.corpus.web.http import Fetched, PublicClient, check_url, unpacked

_LINK = re.compile(
    r"<a\s[^<>]{0,2000}?\bhref\s{0,9}=\s{0,9}(\"[^\"<>]{1,2000}\"|'[^'<>]{1,2000}'|[^\s\"'<>]{1,2000})", re.I
)
_MAX_SITEMAPS = 100
_MAX_DELAY = 10.0
_ROBOT = "ragways"
"""The name of this program in robots.txt."""
_LINKS = 5_000
_GONE = (404, 410)
_SUFFIXES = {
    "text/html": ".html", "application/xhtml+xml": ".html", "text/markdown": ".md", "text/x-markdown": ".md",
    "application/pdf": ".pdf", "text/plain": ".txt",
}  # fmt: skip
_BY_NAME = ("text/plain", "application/octet-stream", "binary/octet-stream", "")
"""Types that are less specific than the end of the address."""


@dataclass(frozen=True, slots=True)
class _StoredPage:
    """A fetched page: its address and file, the version that the server reported, and a hash of its bytes."""

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
    """Stored pages that have not changed on the server."""


def fetch_pages(
    source: WebSource,
    folder: Path,
    client: PublicClient | None = None,
    on_page: Callable[[int, str], None] = lambda *_: None,
) -> FetchedPages:
    """Fetch the pages of all addresses into the folder. A page that cannot be read now stays as it was.

    `on_page` is called before each page, with the number of pages so far and its address.
    """
    pages = FetchedPages()
    opened = client or PublicClient(allowed=source.allow_private, timeout=source.timeout)
    with closing(opened):
        for url in list(map(_named, source.urls)):
            pages.roots.append(url)
            _Site(source, url, opened, _PageFolder(folder), pages, on_page).read()
    return pages


def _named(url: str) -> str:
    """An address that the user named, checked before the first request."""
    try:
        return check_url(url)
    except LoadError as error:
        raise UsageError(error.message, error.cure) from error


class _PageFolder:
    """Pages on the disk: a file each, and a JSON note beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stored(self, url: str) -> _StoredPage | None:
        """The stored page of this address; None if there is none or its file was changed."""
        with suppress(OSError, ValueError, TypeError):
            stored = _StoredPage(**json.loads(self._note(url).read_text(encoding="utf-8")))
            if stored.url == url and _digest(self.path(stored).read_bytes()) == stored.digest:
                return stored
        return None

    def all_of(self, root: str) -> Iterator[_StoredPage]:
        for note in sorted(self._folder.glob("*.json")):
            with suppress(OSError, ValueError, TypeError):
                stored = _StoredPage(**json.loads(note.read_text(encoding="utf-8")))
                if stored.root == root and self.stored(stored.url) is not None:
                    yield stored

    def path(self, stored: _StoredPage) -> Path:
        return self._folder / Path(stored.file).name

    def put(self, stored: _StoredPage, data: bytes | None) -> None:
        """Write the page's bytes, where they differ from those on the disk, and then its note."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if data is not None:
            _write(self.path(stored), data)
        _write(self._note(stored.url), json.dumps(asdict(stored)).encode())

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
    """One address that the user named: the pages that it leads to, fetched one by one."""

    def __init__(
        self,
        source: WebSource,
        root: str,
        client: PublicClient,
        folder: _PageFolder,
        pages: FetchedPages,
        on_page: Callable[[int, str], None],
    ) -> None:
        self._source, self._root, self._client, self._folder, self._pages = source, root, client, folder, pages
        self._on_page = on_page
        self._robots = RobotFileParser()
        self._delay = source.delay
        self._last_request = 0.0
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
            self._add_unseen()

    def _page(self, url: str) -> list[str]:
        """Fetch one page and return the links on it."""
        if not self._robots.can_fetch(_ROBOT, url):
            self._pages.skipped.append(Skipped(url, "robots.txt does not allow it"))
            return []
        stored = self._folder.stored(url)
        conditions = {"if-none-match": stored.etag, "if-modified-since": stored.modified} if stored else {}
        self._on_page(self._count, url)
        try:
            response = self._get(url, {name: value for name, value in conditions.items() if value})
            if response.status in _GONE:
                if url == self._root:
                    raise LoadError(f"is not there (status {response.status})", "check the address")
                return []
            if response.status == 304 and stored is not None:
                data = self._folder.path(stored).read_bytes()
                self._pages.unchanged += 1
            elif response.status == 200 and not self._robots.can_fetch(_ROBOT, response.url):
                self._pages.skipped.append(Skipped(url, f"robots.txt does not allow {response.url}, where it leads"))
                return []
            elif response.status == 200:
                stored, data = self._store(response), response.data
            else:
                raise LoadError(f"answers with status {response.status}")
        except LoadError as error:
            self._fail(url, ": ".join(filter(None, (error.message, error.cure))))
            return []
        if stored is None:
            return []
        self._count += 1
        if stored.url not in self._keys:
            self._keys.add(stored.url)
            self._pages.files.append((self._root, SourceFile(self._folder.path(stored), stored.url)))
        return self._links(stored.url, data) if stored.file.endswith(".html") else []

    def _store(self, response: Fetched) -> _StoredPage | None:
        suffix = _suffix(response)
        if not suffix:
            self._pages.skipped.append(
                Skipped(response.url, f"no loader for {response.headers.get('content-type', '')[:60]}")
            )
            return None
        before, digest = self._folder.stored(response.url), _digest(response.data)
        etag, modified = (_sendable(response.headers.get(name, "")) for name in ("etag", "last-modified"))
        stored = _StoredPage(response.url, self._root, _name(response.url) + suffix, etag, modified, digest)
        same = before is not None and (before.digest, before.file) == (digest, stored.file)
        self._folder.put(stored, None if same else response.data)
        return stored

    def _add_unseen(self) -> None:
        """After a failure, stored pages that this run did not reach stay in the corpus."""
        for stored in self._folder.all_of(self._root):
            if stored.url not in self._keys and stored.url not in self._seen:
                self._keys.add(stored.url)
                self._pages.files.append((self._root, SourceFile(self._folder.path(stored), stored.url)))

    def _fail(self, url: str, why: str) -> None:
        self._whole = False
        self._pages.failed.append(Skipped(url, why))

    def _get(self, url: str, headers: dict[str, str] | None = None) -> Fetched:
        """One request, after waiting for its turn."""
        wait = self._last_request + self._delay - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self._last_request = time.monotonic()
        return self._client.get(url, self._source.max_bytes, headers)

    def _read_robots(self) -> None:
        try:
            response = self._get(urljoin(self._root, "/robots.txt"))
        except LoadError:
            response = Fetched(self._root, 404, {}, b"")  # its pages report that the site cannot be reached
        rules = response.data[: 500 * 1024].decode("utf-8", "replace").splitlines() if response.status == 200 else []
        if response.status >= 500 or response.status in (401, 403):
            rules = ["User-agent: *", "Disallow: /"]
        self._robots.parse(filter(_is_rule, rules))
        self._delay = max(self._delay, min(int(_MAX_DELAY), int(self._robots.crawl_delay(_ROBOT) or 0)))

    def _links(self, url: str, data: bytes) -> list[str]:
        """Addresses on a page that lie below the folder of the address that was named.

        They are matched by a pattern: a parser of web pages runs only in the child process that reads them.
        """
        links: dict[str, None] = {}
        for match in islice(_LINK.finditer(data.decode("utf-8", "replace")), _LINKS):
            with suppress(LoadError, ValueError):
                link = check_url(urljoin(url, unescape(match[1].strip("\"'")).strip()))
                if self._is_below(link):
                    links[link] = None
        return list(links)

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
                response = self._get(url)
                if response.status != 200:
                    raise LoadError(f"answers with status {response.status}")
                nested, listed = _sitemap(response, self._source.max_bytes)
            except LoadError as error:
                self._fail(url, error.message)
                continue
            here = urlsplit(self._root).netloc
            pending.extend(link for link in nested if urlsplit(link).netloc == here)
            pages.update((link, None) for link in listed if urlsplit(link).netloc == here)
        return list(pages)


def _sitemap(response: Fetched, limit: int) -> tuple[list[str], list[str]]:
    """Addresses of further sitemaps, and of pages."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    data = unpacked(response.data, limit) if response.data[:2] == b"\x1f\x8b" else response.data
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
    """A header of the server that may be sent back to it; empty where it is too long or not plain ASCII."""
    return header if len(header) <= 300 and header.isascii() and header.isprintable() else ""


def _is_sitemap(url: str) -> bool:
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))


def _suffix(response: Fetched) -> str:
    """The suffix of the stored file, which chooses its loader; empty where no loader reads such a page."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    named = os.path.splitext(urlsplit(response.url).path)[1].lower()
    if kind in _BY_NAME and named and loader_of(f"page{named}") is not None:
        return named
    return _SUFFIXES.get(kind, "")


def _name(url: str) -> str:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Write to a draft first, so that a killed run leaves no half page."""
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(data)
    draft.replace(path)
