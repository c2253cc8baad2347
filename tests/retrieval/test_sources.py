"""Every piece of evidence says where it is from, whatever the format of its file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import ragways
from ragways.core.types import Document, Evidence, Hits, Origin
from ragways.corpus.load import LOADERS, load
from ragways.corpus.source import SourceFile
from ragways.index.lookup import TextView, look_up
from ragways.index.open import Index
from ragways.settings import read_settings
from ragways.store.origin import OriginFinder
from tests.corpus import samples
from tests.test_library import Letters

LINES = {"text", "rst", "markdown", "jsonl", "code"}
PAGES = {"pdf"}
"""Formats whose files have them, and whose loaders tell them."""


@pytest.mark.parametrize("name", LOADERS)
def test_evidence_of_every_format_says_where_it_is_from(name: str, tmp_path: Path, cache_folder: Path):
    suffix = LOADERS[name].suffixes[0]
    (tmp_path / "docs").mkdir()
    path = samples.write(tmp_path / "docs", suffix)
    settings = read_settings(environment={}, cache=cache_folder, index=tmp_path / "index")
    ragways.build(tmp_path / "docs", settings=settings, embedder=Letters())
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        evidence = corpus.ask("Which place is quiet?", "naive", k=50).answer.evidence
        hits = corpus.retrieve("Which place is quiet?", "naive", k=50)
    with closing(Index.open(tmp_path / "index")) as index:
        shown = look_up(index, evidence.items[0].piece.id)
    documents = {document.id: document for document in load(SourceFile(path, f"docs/{path.name}"))}
    assert evidence.items
    assert len(evidence.sources) == len(evidence.items)
    for hit, source, _ in evidence.described():
        check(name, documents[hit.piece.document], hit.piece.start, source)
        assert str(source).startswith(source.url or source.key)
    assert_shown(evidence)
    assert_shown(hits)
    by_piece = {hit.piece.id: source for hit, source, _ in evidence.described()}
    assert [by_piece.get(hit.piece.id, source) for hit, source in zip(hits, hits.sources, strict=True)] == [
        *hits.sources
    ]
    assert isinstance(shown, TextView)
    assert shown.source == evidence.sources[0]


def check(name: str, document: Document, start: int, source: Origin) -> None:
    assert source.key == document.key
    assert source.key.startswith("docs/Old_Harbour.")
    assert source.url == document.metadata.get("url", "")
    above = [heading for heading in document.headings if heading.start <= start]
    assert (source.section[-1:] or ("",))[0] == (above[-1].title if above else "")
    if name in LINES or any(place.line for place in document.places):
        assert 0 < source.line <= source.last_line
    if name in PAGES or any(place.page for place in document.places):
        assert 0 < source.page <= source.last_page


def assert_shown(evidence: Evidence | Hits) -> None:
    from html import escape

    first = str(evidence.sources[0])
    assert escape(first) in evidence._repr_html_()
    assert first[:40] in repr(evidence)


def test_pages_lines_and_headings_of_a_stretch():
    stored = "[[10,10,10,10],[1,0,1,-2],[5,1,1,-7]]"
    sections = [(10, "Title", 1), (18, "A", 2), (30, "B", 3), (60, "C", 2)]
    finder = OriginFinder.of_rows("k", "", stored, sections)
    assert finder.find(0, 15) == Origin("k")
    assert finder.find(12, 20) == Origin("k", "", ("A",), 1, 1, 5, 5)
    assert finder.find(20, 31) == Origin("k", "", ("A", "B"), 1, 2, 6, 7)
    assert finder.find(35, 50) == Origin("k", "", ("C",), 2, 2, 7, 7)
    assert finder.find(40, 50) == Origin("k", "", ("C",))
    assert OriginFinder.of_rows("k", "u", "", []).find(3, 9) == Origin("k", "u")


def test_in_short():
    assert str(Origin("docs/api.md", "", ("Errors",), line=120, last_line=134)) == "docs/api.md › Errors, lines 120–134"
    assert str(Origin("paper.pdf", page=7, last_page=7)) == "paper.pdf, p. 7"
    assert str(Origin("paper.pdf", page=7, last_page=9)) == "paper.pdf, pp. 7–9"
    assert str(Origin("a.json#1", "https://example.org/1", line=3, last_line=3)) == "https://example.org/1, line 3"
    assert str(Origin()) == ""


def test_what_stands_in_no_document_is_from_nowhere(tmp_path: Path, cache_folder: Path):
    (tmp_path / "docs").mkdir()
    samples.write(tmp_path / "docs", ".md")
    settings = read_settings(environment={}, cache=cache_folder, index=tmp_path / "index")
    ragways.build(tmp_path / "docs", settings=settings, embedder=Letters())
    with ragways.open(settings=settings, embedder=Letters()) as corpus:
        answer = corpus.ask("Which place is quiet?", "words").answer
        with corpus._corpus.snapshot() as use:
            assert use.index.origins([("community:1", 0, 5), ("article:1", 0, 5), ("", 0, 0)]) == [Origin()] * 3
    for citation in answer.citations:
        assert citation.source.key == "docs/Old_Harbour.md"
