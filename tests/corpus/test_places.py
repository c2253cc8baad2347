"""Where in its file each stretch of a text stood."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pypdfium2

from ragways.core.types import Document, Place
from ragways.corpus.builder import TextBuilder
from ragways.corpus.isolated import IsolatedReader
from ragways.corpus.source import LoadOptions, SourceFile
from tests.corpus import samples
from tests.corpus.layout import read, read_text

MARKDOWN = """---
date: 1970-01-02
---
# Old Harbour

The tide comes
in twice.

## Signals

- red
- green
  at night

| flag | means |
|------|-------|
| blue | wait |

```
x = 1

y = 2
```
"""


def lines(document: Document) -> dict[str, int]:
    """Each stretch with its line."""
    ends = [*(place.start for place in document.places[1:]), len(document.text)]
    return {
        document.text[place.start : end].strip(): place.line for place, end in zip(document.places, ends, strict=True)
    }


def test_places_in_markdown_are_lines_of_the_file(tmp_path: Path):
    found = lines(read_text(tmp_path, "a.md", MARKDOWN))
    assert found == {
        "The tide comes": 6, "in twice.": 7, "Signals": 9, "red": 11, "green": 12, "at night": 13,
        "flag | means": 15, "blue | wait": 17, "x = 1": 20, "y = 2": 22,
    }  # fmt: skip
    for stretch, line in found.items():
        assert stretch.split(" ")[0] in MARKDOWN.split("\n")[line - 1]


def test_a_record_of_a_line_has_its_number(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n\n' + json.dumps({"text": "two\n\nthree"}))
    assert [document.places for document in read(path)] == [(Place(0, line=1),), (Place(0, line=3),)]
    assert read_text(tmp_path, "a.json", '[\n{"text": "one"}]').places == ()


def test_places_in_a_pdf_are_pages_also_from_the_child_process(tmp_path: Path):
    whole = pypdfium2.PdfDocument.new()
    for lines in (("First page.",), (), ("Third page.",)):
        whole.import_pages(pypdfium2.PdfDocument(samples.pdf(lines)))
    data = io.BytesIO()
    whole.save(data)
    document = read_text(tmp_path, "a.pdf", data.getvalue())
    assert document.text == "First page.\n\nThird page."
    assert document.places == (Place(0, page=1), Place(13, page=3))
    reader = IsolatedReader()
    try:
        (other,) = reader.load(SourceFile(tmp_path / "a.pdf", "a.pdf"), LoadOptions())
    finally:
        reader.close()
    assert other == document


def test_a_place_begins_with_its_run_and_only_changes_are_stored():
    builder = TextBuilder(1000)
    builder.at(line=1)
    builder.at(line=2)
    builder.text("e")
    builder.at(line=2)
    builder.text("\u0301 e")  # melts into the run before it: what follows moves by one
    builder.at(page=3)
    builder.line()
    builder.label("key: ")
    builder.text("value")
    builder.at()
    builder.text(" nowhere")
    document = builder.document("k", "t", "text", {})
    assert document.text == "é e\nkey: value nowhere"
    assert document.places == (Place(0, line=2), Place(4, page=3), Place(14))
