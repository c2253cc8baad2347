"""The contract of every loader in the table, on a real file of each suffix."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.corpus.builder import TextBuilder
from ragways.corpus.load import LOADERS, load, loader_of
from ragways.corpus.source import SourceFile, title_guess
from tests.corpus.layout import anchors, read, survives
from tests.corpus.samples import SAMPLES, write

SUFFIXES = [suffix for loader in LOADERS.values() for suffix in loader.suffixes]


def test_every_suffix_has_a_sample():
    assert set(SUFFIXES) == set(SAMPLES)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_real_file_is_read(tmp_path: Path, suffix: str):
    path = write(tmp_path, suffix)
    loader = loader_of(path.name)
    assert loader is not None
    documents = read(path)
    assert documents
    assert len({document.key for document in documents}) == len(documents)
    first = documents[0]
    assert first.title == (path.name if loader.name == "code" else "Old Harbour")
    assert first.format == loader.name
    assert first.key.startswith(path.name)
    assert "\n\n" in first.text or suffix in (".text", ".csv", ".tsv", ".tab", ".srt", ".vtt")
    assert documents == read(path)


@pytest.mark.parametrize("suffix", [".md", ".rst", ".html", ".docx", ".wiki", ".xml"])
def test_structure_is_read(tmp_path: Path, suffix: str):
    document = read(write(tmp_path, suffix))[0]
    assert ("History", 2) in [(heading.title, heading.level) for heading in document.headings]
    assert ("spring tides", "Tidal range") in anchors(document)
    assert all("example.org" not in target for _, target in anchors(document))
    assert "First quay\nSecond quay" in document.text
    assert "Place | Depth\nEast quay | 5 m" in document.text
    assert "Old Harbour\n\n" not in document.text


@pytest.mark.parametrize(
    "suffix", [".md", ".rst", ".html", ".docx", ".pdf", ".json", ".pptx", ".xlsx", ".epub", ".eml", ".mbox"]
)
def test_metadata(tmp_path: Path, suffix: str):
    metadata = read(write(tmp_path, suffix))[0].metadata
    assert metadata["author"].startswith("Ada Quay")
    assert metadata["date"].startswith("1970-01-02")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\xff" * 100, b"  \n \t \n"], ids=["empty", "binary", "blank"])
def test_a_file_without_text_is_an_error(tmp_path: Path, suffix: str, content: bytes):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"^notes/a has|^notes/a "):
        list(load(SourceFile(path, "notes/a")))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_half_a_file_never_escapes(tmp_path: Path, suffix: str):
    data = SAMPLES[suffix]()
    path = tmp_path / f"a{suffix}"
    for size in (len(data) // 2, len(data) - 5):
        path.write_bytes(data[:size])
        survives(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_link_to_a_file_leads_to_its_title(suffix: str):
    assert title_guess(f"Old_Harbour{suffix}") == "Old Harbour"


def test_suffixes_are_matched_by_the_longest():
    names = ("a.JSON", "b.x.json.gz", "c.xml.bz2", "d.gz", "md")
    found = [loader and loader.name for loader in map(loader_of, names)]
    assert found == ["json", "json", "mediawiki", None, None]


def test_a_fault_in_a_parser_is_a_load_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.txt"
    path.write_text("hello")
    monkeypatch.setattr(TextBuilder, "plain_text", lambda *_, **__: 1 / 0)
    with pytest.raises(LoadError, match="ZeroDivisionError"):
        list(load(SourceFile(path, "a")))
    monkeypatch.setattr(TextBuilder, "plain_text", lambda *_, **__: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        list(load(SourceFile(path, "a")))
