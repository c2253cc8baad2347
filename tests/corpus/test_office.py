"""Tables, slides, books, messages, settings, subtitles and notebooks: what each keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.files import sheets
from ragways.corpus.source import LoadOptions, Skipped
from tests.corpus.layout import anchors, read, read_text
from tests.corpus.samples import write


def headings(document: Document) -> list[tuple[str, int]]:
    return [(heading.title, heading.level) for heading in document.headings]


def place_of(document: Document, words: str) -> tuple[int, int]:
    place = [each for each in document.places if each.start <= document.text.index(words)][-1]
    return place.page, place.line


def test_rows_have_their_headers(tmp_path: Path):
    (document,) = read(write(tmp_path, ".csv"))
    assert document.text == "Place: East quay; Depth: 5 m; Opened: 1815\nPlace: West, quay; Depth: 6 m; Opened: 1816"
    assert place_of(document, "West") == (0, 3)
    assert read_text(tmp_path, "b.csv", "a;b\n1,5;2\n").text == "a: 1,5; b: 2"
    assert read_text(tmp_path, "c.csv", "1,2\n3,4\n").text == "1; 2\n3; 4"
    two = read_text(tmp_path, "d.csv", 'Name,Note\nAda,"two\nlines"\nBé,x\n')
    assert two.text == "Name: Ada; Note: two lines\nName: Bé; Note: x"
    assert place_of(two, "Bé") == (0, 4)


def test_tables_are_bounded_and_grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sheets, "_MAX_ROWS", 50)
    monkeypatch.setattr(sheets, "_MAX_COLUMNS", 3)
    skipped: list[Skipped] = []
    path = tmp_path / "a.csv"
    path.write_text("One,Two,Three,Four\n" + "".join(f"row {n},b,c,d\n" for n in range(100)))
    (document,) = read(path, LoadOptions(notice=skipped.append))
    assert "Four" not in document.text
    assert "row 50" in document.text
    assert "row 51" not in document.text
    assert [each.reason for each in skipped] == ["columns after 3 are left out", "rows after 50 are left out"]
    paragraphs = document.text.split("\n\n")
    assert len(paragraphs) == 2
    assert all(len(paragraph) <= 1100 and paragraph.startswith("One: row") for paragraph in paragraphs)


def test_cut_cells_and_open_quotes_are_reported(tmp_path: Path):
    skipped: list[Skipped] = []
    path = tmp_path / "a.csv"
    path.write_text(f"Name,Note\nAda,{'long ' * 1000}\nBé,x\n")
    read(path, LoadOptions(notice=skipped.append))
    assert [each.reason.partition(":")[0] for each in skipped] == ["in 1 rows cells are cut after 2,000 characters"]
    path.write_text('Name,Note\nAda,x\nBé,"unclosed\n' + "x,y\n" * 40_000)
    with pytest.raises(LoadError, match=r"cannot be read from line 3 on .*: is a quotation mark not closed there"):
        read(path)


def test_spreadsheet(tmp_path: Path):
    (document,) = read(write(tmp_path, ".xlsx"))
    assert document.text == (
        "Quays\n\nPlace: East quay; Opened: 1970-01-02 12:00; Wet: yes\nPlace: West; Depth: 0.1; Opened: 5\n\n"
        "Numbers\n\n1\n2"
    )
    assert headings(document) == [("Quays", 2), ("Numbers", 2)]
    assert place_of(document, "West") == (0, 4)


def test_slides(tmp_path: Path):
    (document,) = read(write(tmp_path, ".pptx"))
    assert document.text == (
        "History\n\nFirst quay\nSecond quay\n\nNotes: Speak slowly.\n\nSlide 2\n\nLast words\n\nEast | 5 m"
    )
    assert headings(document) == [("History", 2), ("Slide 2", 2)]
    assert (place_of(document, "Notes"), place_of(document, "Last")) == ((1, 0), (2, 0))


def test_book(tmp_path: Path):
    (document,) = read(write(tmp_path, ".epub"))
    assert document.text == "History\n\nA quiet place near spring tides.\n\nQuays\n\nFirst.\n\nNo title here."
    assert headings(document) == [("History", 2), ("Quays", 3)]
    assert anchors(document) == [("spring tides", "Tidal range")]


def test_message(tmp_path: Path):
    (document,) = read(write(tmp_path, ".eml"))
    assert document.text == "A quiet place é.\n\nYes.\n\nFrom here on.\n\nAttachments: tide.png"
    assert document.metadata["to"] == "Bé <b@example.org>"
    assert document.metadata["attachments"] == "tide.png"
    page = b"From: a@b.c\nSubject: =?utf-8?q?Caf=C3=A9?=\nContent-Type: text/html\n\n<h2>Tide</h2><p>It rises.</p>"
    only = read_text(tmp_path, "b.eml", page)
    assert (only.title, only.text) == ("Café", "Tide\n\nIt rises.")
    quoted = read_text(tmp_path, "c.eml", b"From: a@b.c\n\n> Only this.\n")
    assert quoted.text == "> Only this."
    with pytest.raises(LoadError, match="no e-mail"):
        read_text(tmp_path, "d.eml", "just words")


def test_mailbox(tmp_path: Path):
    path = write(tmp_path, ".mbox")
    documents = read(path)
    assert [(each.key, each.title) for each in documents] == [
        ("Old_Harbour.mbox#1", "Old Harbour"), ("Old_Harbour.mbox#2", "Second"),
    ]  # fmt: skip
    assert documents[1].text.endswith("From here on.")


@pytest.mark.parametrize("header", ["From: ", "Content-Type: text/plain; ", "Content-Disposition: "])
def test_a_header_that_cannot_be_read_costs_no_other_message(tmp_path: Path, header: str):
    path = tmp_path / "a.mbox"
    path.write_text(
        f"From x\nSubject: a\n\nhello\n\nFrom y\nSubject: b\n{header}{'(' * 20_000}\n\nb\n\nFrom z\nSubject: c\n\nbye\n"
    )
    titles = [document.title for document in read(path)]
    assert (titles[0], titles[-1]) == ("a", "c")


def test_settings(tmp_path: Path):
    (document,) = read(write(tmp_path, ".yaml"))
    assert document.text == (
        "name: Old Harbour\n\nquay\n\nquay.depth: 5\nquay.places: East\nquay.places: West\nquay.boats[1].name: Ada\n"
        "quay.boats[1].size: 3\n\nother: *quay"
    )
    assert headings(document) == [("quay", 2)]
    assert place_of(document, "quay.boats[1].size") == (0, 8)
    (document,) = read(write(tmp_path, ".toml"))
    assert document.text == "name: Old Harbour\n\nquay\n\nquay.depth: 5\nquay.open: true\nquay.boats[1].name: Ada"


def test_subtitles(tmp_path: Path):
    (document,) = read(write(tmp_path, ".srt"))
    assert document.text == "[00:01:05] A quiet place. Is it?"
    assert read(write(tmp_path, ".vtt"))[0].text == "[01:05] A quiet place."
    cues = "".join(f"{n}\n00:{n:02}:00,000 --> 00:{n:02}:02,000\n{'word ' * 30}{n}\n\n" for n in range(1, 9))
    long = read_text(tmp_path, "b.srt", cues)
    assert [paragraph[:10] for paragraph in long.text.split("\n\n")] == ["[00:01:00]", "[00:04:00]", "[00:07:00]"]
    assert place_of(long, "[00:04:00]") == (0, 14)


def test_notebook(tmp_path: Path):
    (document,) = read(write(tmp_path, ".ipynb"))
    assert document.title == "Old Harbour"
    paragraphs = document.text.split("\n\n")
    assert paragraphs == [
        "A quiet place, see quay.", "x = 5\nprint(x)", "\n".join(["Output:", *"5" * 10, "…"]),
        "Second", "History", "More.",
    ]  # fmt: skip
    assert headings(document) == [("Second", 1), ("History", 2)]
    assert anchors(document) == [("quay", "quay")]
    assert (place_of(document, "x = 5")[0], place_of(document, "More")[0]) == (2, 3)
