"""PDF: titles, running heads, sections, pages and scans, on files made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragways.core.errors import LoadError
from ragways.corpus.source import LoadOptions, Skipped
from tests.corpus.layout import read, read_text
from tests.corpus.samples import pdf_file

PICTURE = "q 400 0 0 400 72 72 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"
Line = tuple[int, str]


def book(pages: list[list[Line] | str], title: str = "", outline: list[tuple[int, str]] | None = None) -> bytes:
    """A PDF of pages, each its lines with the size of their type, or what is drawn on it."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    marks = [f"{6 + 2 * count + i} 0 R" for i in range(len(outline or []))]
    outlines = f"/Outlines {5 + 2 * count} 0 R" if marks else ""
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{outlines}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, page in enumerate(pages):
        moves = page if isinstance(page, str) else "".join(f"/F1 {s} Tf 0 -{s + 2} Td ({t}) Tj\n" for s, t in page)
        content = page if isinstance(page, str) else f"BT 72 760 Td\n{moves}ET"
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {5 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    info = len(objects) + 1
    objects.append(f"<</Title({title})>>")
    if marks:
        objects.append(f"<</Type/Outlines/First {marks[0]}/Last {marks[-1]}/Count {len(marks)}>>")
        for i, (page_number, name) in enumerate(outline or []):
            after = f"/Next {marks[i + 1]}" if i + 1 < len(marks) else ""
            objects.append(f"<</Title({name})/Parent {info + 1} 0 R{after}/Dest[{4 + 2 * page_number} 0 R/Fit]>>")
    return pdf_file(objects, f"/Info {info} 0 R")


BODY: list[list[Line]] = [
    [(10, "Harbour Review, Vol. 7"), (24, "The Old Quay"), (24, "of Pell"), (10, "Ada Quay"), (10, "It is of stone.")],
    [(10, "Harbour Review, Vol. 7"), (14, "1 Stone"), (10, "The stone came by ship and was"), (10, "2")],
    [(10, "Harbour Review, Vol. 7"), (10, "laid by forty men in one dry"), (10, "summer."), (14, "2 Light"),
     (10, "The light was lit in 1801."), (10, "3")],
    [(10, "Harbour Review, Vol. 7"), (10, "It was seen from Pell Rock."), (10, "4")],
]  # fmt: skip


def test_running_heads_go_and_pages_run_into_each_other(tmp_path: Path):
    document = read_text(tmp_path, "scan_07.pdf", book([*BODY]))
    assert document.title == "The Old Quay of Pell"
    assert "Harbour Review" not in document.text
    assert "came by ship and was laid by forty men in one dry summer.\n\n" in document.text
    assert document.text.endswith("It was seen from Pell Rock.")
    assert [(heading.level, heading.title) for heading in document.headings] == [(2, "1 Stone"), (2, "2 Light")]
    for words, page in (("It is of stone", 1), ("came by ship", 2), ("laid by", 3), ("seen from", 4)):
        start = document.text.index(words)
        assert [place.page for place in document.places if place.start <= start][-1] == page


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("A Real Title", "A Real Title"),
        ("Microsoft Word - quay.doc", "The Old Quay of Pell"),
        ("untitled", "The Old Quay of Pell"),
        ("quay-final.dvi", "The Old Quay of Pell"),
        ("12-34/56", "The Old Quay of Pell"),
    ],
)
def test_a_title_that_is_none_is_not_taken(tmp_path: Path, given: str, found: str):
    assert read_text(tmp_path, "a.pdf", book([*BODY], title=given)).title == found


def test_without_any_larger_type_the_file_gives_the_title(tmp_path: Path):
    assert read_text(tmp_path, "Old_quay.pdf", book([[(10, "Only one size."), (10, "Of type.")]])).title == "Old quay"


def test_sections_come_from_the_outline(tmp_path: Path):
    outline = [(1, "Stone"), (2, "Light"), (3, "Not on this page")]
    document = read_text(tmp_path, "a.pdf", book([*BODY], outline=outline))
    assert [(heading.level, heading.title) for heading in document.headings] == [(2, "1 Stone"), (2, "2 Light")]


def test_scans_are_named_as_such(tmp_path: Path):
    with pytest.raises(LoadError, match=r"a\.pdf is scanned: no text on 2 of 2 pages") as caught:
        read_text(tmp_path, "a.pdf", book([PICTURE, PICTURE]))
    assert "ocrmypdf" in caught.value.cure
    noticed: list[Skipped] = []
    path = tmp_path / "b.pdf"
    path.write_bytes(book([PICTURE, [(10, "Some text.")], ""]))
    (document,) = read(path, LoadOptions(notice=noticed.append))
    assert document.text == "Some text."
    (note,) = noticed
    assert note.reason.startswith("partly scanned: no text on 1 of 3 pages")
