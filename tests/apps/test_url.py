"""`ragways index --url`: pages of a site in an index, kept with it, and gone with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ragways as library
from ragways.settings import Settings
from tests.apps.conftest import Run, one_line
from tests.corpus.test_web import Site


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    made.put(
        "/docs/", "<title>Docs</title><main><h1>Docs</h1><p>Start.</p><a href='light.html'>Light</a></main>", ETag="1"
    )
    other = "<link rel='canonical' href='https://elsewhere.example/'>"
    made.put(
        "/docs/light.html", f"<title>Light</title>{other}<p>The light was built by Anna Brack in 1801.</p>", ETag="2"
    )
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_pages_are_indexed_by_their_address_and_followed(ragways: Run, home: Path, site: Site):
    command = ("index", "--url", f"{site.url}/docs/", "--allow-private", "127.0.0.1", "--with", "words")
    planned = ragways(*command, "--plan", "--json")
    assert planned.data["new"] == 2
    assert not (home / ".ragways").exists()
    assert ragways(*command, "--json").data["added"] == 2
    asked = ragways("ask", "Who built the light?", "-p", "words", "--json").data
    assert "Anna Brack" in asked["answer"]
    assert "elsewhere.example" not in str(asked), "a page cannot say that it is from somewhere else"
    assert f"{site.url}/docs/light.html" in str(asked)
    listed = ragways("status", "--documents", "--json").data["documents"]
    assert {document["key"] for document in listed} == {f"{site.url}/docs/", f"{site.url}/docs/light.html"}
    again = ragways(*command, "--json").data
    assert (again["unchanged"], again["added"], again["changed"]) == (2, 0, 0)
    assert ragways(*command, "--rebuild", "--json").data["added"] == 2
    assert [site.headers[-1].get("if-none-match"), site.headers[-2].get("if-none-match")] == ["2", "1"]
    del site.pages["/docs/light.html"]
    assert ragways(*command, "--json").data["removed"] == 1
    assert len(list((home / ".ragways" / "pages").iterdir())) == 2, "the page and its note; those of the other are gone"
    ragways("remove", f"{site.url}/docs/")
    assert not list((home / ".ragways" / "pages").iterdir())


def test_what_fails_is_said_and_what_was_read_stays(ragways: Run, home: Path, site: Site):
    command = ("index", "--url", f"{site.url}/docs/", "--with", "words")
    refused = ragways(*command)
    assert refused.code == 6
    assert "127.0.0.1 is no public address" in " ".join(refused.err.split())
    assert not site.asked
    allowed = (*command, "--allow-private", "127.0.0.1")
    assert "2 added" in ragways(*allowed).out
    site.put("/docs/", "", status=500)
    failing = ragways(*allowed)
    assert failing.code == 6
    assert "0 removed" in failing.out
    assert "answers with status 500" in failing.err
    assert "nothing to index is named" in ragways("index").err
    one_line(ragways("index", "--url", "file:///etc/passwd"), 2, "no http or https address")


def test_from_python(home: Path, site: Site):
    web = library.WebSource(
        (f"{site.url}/docs/light.html",), depth=0, delay=0.0, allow_private=frozenset(("127.0.0.1",))
    )
    summary = library.build((), settings=Settings(index=home / "other"), layers=["words"], web=web)
    assert summary.added == 1
