"""Pages of a web site as documents, from a server on this machine; and that only public addresses get requests."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.corpus.source import WebSource
from ragways.corpus.web.fetch import FetchedPages, fetch_pages, forget_pages
from ragways.corpus.web.http import PublicClient, check_url, is_public, unpacked

HERE = frozenset(("127.0.0.1",))


class Site:
    """A server whose pages tests set: path → status, headers, body. It records the requests."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, headers, body = site.pages.get(self.path, (404, {}, b"no"))
                tag = headers.get("ETag")
                if tag and self.headers.get("If-None-Match") == tag:
                    status, body = 304, b""
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", **headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def put(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, data)


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


def fetch(site: Site, folder: Path, *paths: str, **how: object) -> FetchedPages:
    urls = tuple(site.url + path for path in paths)
    return fetch_pages(WebSource(urls, delay=0.0, allow_private=HERE, **how), folder)  # type: ignore[arg-type]


def keys(site: Site, pages: FetchedPages) -> list[str]:
    return [file.key.removeprefix(site.url) for _, file in pages.files]


def test_links_below_the_address_are_followed_to_a_depth(site: Site, tmp_path: Path):
    links = "<a href='a.html#x'>A</a><A class=b href=/docs/b.html>B</a><a href='/blog/'>no</a>"
    no = "<a href='https://elsewhere.example/docs/'>no</a><a href='a.html?q=1'>no</a><a href='mailto:x@y'>no</a>"
    site.put("/docs/", links + no)
    site.put("/docs/a.html", "<a href='deep/c.html'>C</a>", ETag='"1"')
    site.put("/docs/b.html", "<a href='a.html'>A</a>")
    site.put("/docs/deep/c.html", "<a href='d.html'>D</a>")
    site.put("/docs/deep/d.html", "D")
    found = fetch(site, tmp_path, "/docs/", depth=2)
    assert keys(site, found) == ["/docs/", "/docs/a.html", "/docs/b.html", "/docs/deep/c.html"]
    assert found.files[1][1].path.read_text() == "<a href='deep/c.html'>C</a>"
    assert not found.failed
    assert not found.skipped
    assert all("ragways" in headers["user-agent"] for headers in site.headers)
    few = fetch(site, tmp_path / "other", "/docs/", max_pages=2)
    assert len(few.files) == 2
    assert "after the first 2" in few.skipped[0].reason


def test_a_second_run_asks_whether_pages_changed(site: Site, tmp_path: Path):
    site.put("/", "<a href='a.html'>A</a>", ETag='"1"')
    site.put("/a.html", "old", ETag='"2"')
    before = {file.key: file.path.stat().st_mtime_ns for _, file in fetch(site, tmp_path, "/").files}
    site.put("/a.html", "new", ETag='"3"')
    found = fetch(site, tmp_path, "/")
    assert keys(site, found) == ["/", "/a.html"]
    assert found.unchanged == 1
    assert site.headers[-1]["if-none-match"] == '"2"'
    (_, first), (_, second) = found.files
    assert first.path.stat().st_mtime_ns == before[first.key]
    assert second.path.read_text() == "new"
    second.path.write_text("damaged")
    assert fetch(site, tmp_path, "/").files[1][1].path.read_text() == "new", (
        "what is not what was written is read again"
    )


def test_a_page_that_fails_takes_nothing_away_and_one_that_is_gone_does(site: Site, tmp_path: Path):
    site.put("/", "<a href='a.html'>A</a><a href='b.html'>B</a>")
    site.put("/a.html", "A")
    site.put("/b.html", "B")
    fetch(site, tmp_path, "/")
    del site.pages["/a.html"]
    found = fetch(site, tmp_path, "/")
    assert keys(site, found) == ["/", "/b.html"]
    assert not found.failed
    site.put("/", "down", status=503)
    found = fetch(site, tmp_path, "/")
    assert "/b.html" in keys(site, found)
    assert [entry.reason for entry in found.failed] == ["answers with status 503"]


def test_sitemaps(site: Site, tmp_path: Path):
    def listing(kind: str, *places: str) -> str:
        entries = "".join(f"<{kind}><loc>{place}</loc></{kind}>" for place in places)
        return f'<x xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</x>'

    site.put("/sitemap.xml", listing("sitemap", f"{site.url}/one.xml.gz", "https://elsewhere.example/two.xml"))
    site.put(
        "/one.xml.gz", gzip.compress(listing("url", f"{site.url}/a", f"{site.url}/b.md", "https://x.example/").encode())
    )
    site.put("/a", "<a href='/c'>not followed</a>")
    site.put("/b.md", "# B", Content_Type="text/plain")
    site.put("/c", "C")
    found = fetch(site, tmp_path, "/sitemap.xml")
    assert keys(site, found) == ["/a", "/b.md"]
    assert [file.path.suffix for _, file in found.files] == [".html", ".md"]
    site.put("/sitemap.xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>")
    assert fetch(site, tmp_path / "o", "/sitemap.xml").failed[0].reason == "is no sitemap"


def test_robots_and_types(site: Site, tmp_path: Path):
    site.put("/robots.txt", "User-agent: *\nDisallow: /secret\n")
    site.put("/", "<a href='/secret/x.html'>S</a><a href='/p.png'>P</a>")
    site.put("/secret/x.html", "secret")
    site.put("/p.png", b"x", Content_Type="image/png")
    found = fetch(site, tmp_path, "/")
    assert keys(site, found) == ["/"]
    assert "/secret/x.html" not in site.asked
    assert sorted(entry.reason for entry in found.skipped) == [
        "no loader for image/png",
        "robots.txt does not allow it",
    ]
    site.put("/robots.txt", "", status=503)
    assert not fetch(site, tmp_path, "/").files


@pytest.mark.parametrize(
    "line", ["Crawl-delay: ²", "Crawl-delay: " + "9" * 5_000, "Request-rate: 1/²", "Disallow: //["]
)
def test_a_line_of_robots_that_cannot_be_read_costs_itself_alone(site: Site, tmp_path: Path, line: str):
    site.put("/robots.txt", f"User-agent: *\n{line}\nDisallow: /secret\n")
    site.put("/", "<a href='/secret/x.html'>S</a><a href='/moved.html'>M</a><a href='/a.html'>A</a>")
    site.put("/a.html", "A")
    site.put("/moved.html", "", status=302, Location="/secret/y.html")
    site.put("/secret/y.html", "secret")
    found = fetch(site, tmp_path, "/")
    assert keys(site, found) == ["/", "/a.html"]
    assert [entry.reason.partition(" http")[0] for entry in found.skipped] == [
        "robots.txt does not allow it",
        "robots.txt does not allow",
    ]


def test_bounds_of_a_page(site: Site, tmp_path: Path):
    site.put("/", b"x" * 5_000)
    assert "is larger than 1,000 bytes" in fetch(site, tmp_path, "/", max_bytes=1_000).failed[0].reason
    site.put("/", gzip.compress(b"x" * 5_000), Content_Encoding="gzip")
    assert "unpacks to more than 1,000 bytes" in fetch(site, tmp_path, "/", max_bytes=1_000).failed[0].reason
    assert unpacked(gzip.compress(b"abc"), 3) == b"abc"
    site.put("/", "", status=302, Location="/")
    assert "redirects more than 5 times" in fetch(site, tmp_path, "/").failed[0].reason


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
     "255.255.255.255", "192.0.0.192", "168.63.129.16", "fec0::1", "::ffff:192.0.0.8"],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str):
    assert not is_public(address)


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://x.example/", "https://", "http://user:key@x.example/", "x", "http://[::1",
     "http://x.example:0/", "http://x.example:99999/", "http://x.example/\x1b[2J", "http://x.example/\r\nHost: y"],
)  # fmt: skip
def test_addresses_that_are_refused(url: str):
    with pytest.raises(LoadError):
        check_url(url)


def test_a_private_address_is_refused_unless_it_is_named(site: Site, tmp_path: Path):
    (refused,) = fetch_pages(WebSource((site.url,), delay=0.0), tmp_path).failed
    assert "127.0.0.1 is no public address" in refused.reason
    assert "--allow-private 127.0.0.1" in refused.reason
    assert not site.asked


def test_a_name_is_connected_to_at_the_address_that_was_checked(site: Site):
    """A second look-up could give another address: there is none, and all of the first must be public."""
    port = site.server.server_port
    looked_up: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        looked_up.append(host)
        return {"here.example": ["::1", "127.0.0.1"], "both.example": ["93.184.216.34", "127.0.0.1"]}[host]

    client = PublicClient(allowed=frozenset(("here.example",)), resolve=resolve)
    site.put("/", "yes")
    assert client.get(f"http://here.example:{port}/", 100).data == b"yes"
    assert looked_up == ["here.example"], "no name but the resolver's answer reached the network"
    assert site.headers[-1]["host"] == f"here.example:{port}"
    with pytest.raises(LoadError, match=r"both\.example leads to 127\.0\.0\.1"):
        client.get(f"http://both.example:{port}/", 100)
    client.close()


def test_every_redirect_is_checked(site: Site):
    port = site.server.server_port
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    client = PublicClient(resolve=lambda *_: next(answers), allowed=frozenset(("www.here.example",)))
    site.put("/", "", status=302, Location=f"http://here.example:{port}/inside")
    with pytest.raises(LoadError, match=r"here\.example leads to 169\.254\.169\.254"):
        client.get(f"http://www.here.example:{port}/", 100)
    client.close()
    local = PublicClient(allowed=HERE)
    other_port = f"http://127.0.0.1:{port % 60_000 + 1}/"
    for target in ("http://elsewhere.example/", "file:///etc/passwd", "http://user@127.0.0.1/", "//[", other_port):
        site.put("/", "", status=302, Location=target)
        with pytest.raises(LoadError, match=r"redirects to|address"):
            local.get(site.url, 100)
    local.close()


def test_neither_proxies_nor_passwords_of_the_environment_are_used(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    site.put("/", "yes")
    client = PublicClient(allowed=HERE)
    site.put("/moved", "", status=302, Location="/", Set_Cookie="other=2; Path=/")
    site.put("/", "yes", Set_Cookie="visitor=1; Path=/")
    for path in ("/", "/", "/moved"):
        assert client.get(site.url + path, 100).data == b"yes"
        assert not site.headers[-1].keys() & {"authorization", "cookie"}
    client.close()


def test_pages_that_are_no_longer_wanted_are_deleted(site: Site, tmp_path: Path):
    site.put("/", "<a href='a.html'>A</a>")
    site.put("/a.html", "A")
    folder = tmp_path / "pages"
    fetch(site, folder, "/")
    forget_pages(folder, [f"{site.url}/", "docs/a.md"])
    assert len(list(folder.iterdir())) == 2
    forget_pages(folder, [])
    assert not list(folder.iterdir())
