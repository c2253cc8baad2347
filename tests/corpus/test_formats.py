"""What each format does of its own, beyond the contract of all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragways.core.dates import iso_date
from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.load import load
from ragways.corpus.source import Fields, LoadOptions, Skipped, SourceFile
from tests.corpus import samples
from tests.corpus.layout import anchors, read, read_text


def test_text_joins_wrapped_lines_and_keeps_short_ones(tmp_path: Path):
    wrapped = (
        "The tide comes in twice a day at the old quay\nand leaves again while nobody looks at the sea\nfor hours."
    )
    document = read_text(tmp_path, "a.txt", f"{wrapped}\n\nRoses\nare\nred\n\n\n\n{'x' * 210}\nnext")
    joined = wrapped.replace("\n", " ")
    assert document.text == f"{joined}\n\nRoses\nare\nred\n\n{'x' * 210}\n\nnext"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("\ufeffcafé".encode(), "café", None),
        ("café".encode("utf-16"), "café", None),
        ("café".encode("utf-32"), "café", None),
        ("café “x”".encode("cp1252"), "café “x”", "cp1252"),
        ("é".encode() * 50 + b"\xff", "é" * 50 + "\ufffd", "utf-8, damaged"),
        ("cafe\u0301 \x0bA\u00adb\u200bc".encode(), "café Abc", None),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str, encoding: str | None):
    document = read_text(tmp_path, "a.txt", data)
    assert document.text == text
    assert document.metadata.get("encoding") == encoding


def test_markdown_details(tmp_path: Path):
    document = read_text(
        tmp_path, "My_note.md",
        "Intro ![alt](x.png) [a **b**](My%20page.md) [c](#x) [d](./Dr._No) [e](img.png) <b>f</b>&copy;\n\n"
        "<div>block <i>html</i><!-- c --></div>\n\nhard  \nbreak `code`\n\n"
        "> quote\n\n1. one\n   - two\n2. three\n\nx\n\n    pre\n\n"
        "# First\n\n# Second\n",
    )  # fmt: skip
    assert document.title == "My note"
    assert anchors(document) == [("a b", "My page"), ("d", "Dr. No")]
    assert document.text == (
        "Intro alt a b c d e f©\n\nblock html\n\nhard\nbreak code\n\n"
        "quote\n\none\ntwo\nthree\n\nx\n\npre\n\nFirst\n\nSecond"
    )
    assert [heading.level for heading in document.headings] == [1, 1]


def test_markdown_front_matter(tmp_path: Path):
    document = read_text(
        tmp_path, "a.md", "---\ntitle: 'T: x'\nauthors:\n  - A\n  - B\nLang: en\n# no\n---\n# Other\n\ntext"
    )
    assert document.title == "T: x"
    assert dict(document.metadata) == {"author": "A; B", "language": "en"}
    assert document.text == "Other\n\ntext"
    assert read_text(tmp_path, "b.md", "---\nno: end\n\ntext").metadata == {}
    code = read_text(tmp_path, "c.md", samples.MARKDOWN)
    assert "def tide():\n    return 5" in code.text
    assert code.metadata["category"] == "harbour; tide"


def test_markdown_beyond_its_limits_is_taken_as_it_stands(tmp_path: Path):
    paragraph = "[a](b.md) " * 11_000
    document = read_text(tmp_path, "a.md", f"# T\n\n{paragraph}\n\n[c](d.md)")
    assert document.text.startswith("[a](b.md) [a](b.md)")
    assert anchors(document) == [("c", "d")]
    document = read_text(tmp_path, "b.md", "# T\n\n" + f"{'some words ' * 60}\n\n" * 3_500)
    assert document.text.startswith("# T\n\nsome words")


def test_html_details(tmp_path: Path):
    document = read_text(
        tmp_path, "a.html",
        '<title>Site</title><meta charset="latin-1"><h1>Head</h1><p>a<br>b</p><pre>x\n\n  y</pre>'
        "<table><tr><td><h2>Layout</h2><p>cell</p></td></tr></table><a href='B.html'><div>one</div><div>two</div></a>"
        "<template>no</template><noscript>no</noscript><dl><dt>t<dd>d</dl>\xe9".encode("latin-1"),
    )  # fmt: skip
    assert document.title == "Site"
    assert document.text == "Head\n\na\nb\n\nx\n  y\n\nLayout\n\ncell\n\none\n\ntwo\n\nt\nd\n\né"
    assert anchors(document) == [("one", "B")]
    assert document.metadata["encoding"] == "latin-1"


def test_pdf_without_text_and_with_a_password(tmp_path: Path):
    with pytest.raises(LoadError, match=r"a\.pdf has no text layer"):
        read_text(tmp_path, "a.pdf", samples.pdf(()))
    lock = f"<</Filter/Standard/V 1/R 2/Length 40/P -4/O<{'ab' * 32}>/U<{'cd' * 32}>>>"
    locked = samples.pdf(trailer="/Encrypt 7 0 R/ID[<00><00>]", extra=lock)
    with pytest.raises(LoadError, match="is encrypted") as caught:
        read_text(tmp_path, "b.pdf", locked)
    assert caught.value.cure
    with pytest.raises(LoadError, match="more than 0 pages"):
        read_text(tmp_path, "c.pdf", samples.pdf(), LoadOptions(max_pdf_pages=0))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([{"title": "A", "text": "x"}, {"title": "A", "text": "y"}], {"A": "x", "A#2": "y"}),
        ({"A": "x y", "B": ["one.", " two."]}, {"A": "x y", "B": "one. two."}),
        ({"docs": [{"_id": 3, "passage": "x"}]}, {"3": "x"}),
        ({"metadata": {"a": 1}, "articles": {"A": {"content": "x"}}}, {"A": "x"}),
        ({"corpus_name": "M", "context": "x"}, {"1": "x"}),
        (["x", "y", 3, None], {"1": "x", "2": "y"}),
        ({"A": "x", "B": None, "C": ""}, {"A": "x"}),
        ({"A": {"text": "x"}, "B": {"note": 1}}, {"A": "x"}),
        (
            {
                "harbour": "Dornhaven",
                "depth_m": 12,
                "open": True,
                "berths": [1, 2],
                "ships": [{"name": "Ida"}],
                "no": None,
            },
            {"1": "harbour: Dornhaven\ndepth_m: 12\nopen: true\nberths: 1, 2\nships[1].name: Ida"},
        ),
        ({"name": "tide", "scripts": {"test": "run"}}, {"1": "name: tide\nscripts.test: run"}),
        ([{"text": "x\ud800"}], {"1": "x\ufffd"}),
    ],
)
def test_shapes_of_records(tmp_path: Path, value: object, found: dict[str, str]):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(value))
    assert {document.key.removeprefix("r.json#"): document.text for document in read(path)} == found


def test_a_broken_line_costs_itself(tmp_path: Path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"text": "one"}\nbroken\n\n{"text": "two"}\n{"text"\n{"text": "three"}\n')
    with pytest.raises(LoadError, match=r"no valid JSON in line 2 .* and in 1 more; its other records were read"):
        read(path)
    assert [document.text for document in until_error(path)] == ["one", "two", "three"]
    path.write_text('{"text": "one"}\n' + "broken\n" * 500 + '{"text": "two"}\n')
    assert [document.text for document in until_error(path)] == ["one"], "no file of records"


def until_error(path: Path) -> list[Document]:
    """The documents of a file, as far as it can be read."""
    documents = load(SourceFile(path, path.name), LoadOptions())
    found = []
    while True:
        try:
            found.append(next(documents))
        except LoadError:
            return found


def test_records_without_text_are_named(tmp_path: Path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"question": "x", "answer": 1}\n')
    with pytest.raises(LoadError, match="its fields: question, answer"):
        read(path)
    skipped: list[Skipped] = []
    fields = Fields(text=("question",))
    assert read(path, LoadOptions(fields=fields, notice=skipped.append))[0].text == "x"
    path.write_text('{"question": "x"}\n\n{"a": 1}\n[]\n')
    assert len(read(path, LoadOptions(fields=fields, notice=skipped.append))) == 1
    assert [skip.key for skip in skipped] == ["r.jsonl#2", "r.jsonl#3"]
    path.write_text('{"text": "x"}\n{"te')
    with pytest.raises(LoadError, match="line 2"):
        read(path)


def test_dump(tmp_path: Path):
    path = tmp_path / "d.xml"
    pages = (
        samples.dump_page("Ünter", "[[Bildchen:x.png|no]] text [[Schublade:C]]"),
        samples.dump_page("R", "leads", redirect="Ünter"),
        samples.dump_page("Empty", ""),
    )
    path.write_text(samples.dump(*pages))
    skipped: list[Skipped] = []
    first, forward = read(path, LoadOptions(notice=skipped.append))
    assert first.key == "d.xml#Ünter"
    assert dict(first.metadata) == {
        "language": "en", "source": "Tidepedia", "page": "12", "date": "1970-01-02T10:00:00+00:00", "category": "C",
        "url": "https://tide.example/wiki/%C3%9Cnter",
    }  # fmt: skip
    assert first.text == "text"
    assert (forward.text, forward.redirect) == ("", "Ünter")
    assert skipped == [Skipped("d.xml#Empty", "holds no text")]
    path.write_text("<html><body>x</body></html>")
    with pytest.raises(LoadError, match="no MediaWiki export"):
        read(path)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2023-11-27T08:45:59Z", "2023-11-27T08:45:59+00:00"),
        ("2023-11-27", "2023-11-27"),
        ("2023", "2023"),
        ("27 November 2023", "2023-11-27"),
        ("Nov. 27th, 2023", "2023-11-27"),
        ("Mon, 27 Nov 2023 08:45:59 +0000", "2023-11-27T08:45:59+00:00"),
        ("1701074759", "2023-11-27T08:45:59+00:00"),
        ("D:20231127084559Z", "2023-11-27"),
        ("last week", "last week"),
        ("99 Foo 2023", "99 Foo 2023"),
        ("", ""),
    ],
)
def test_dates(text: str, iso: str):
    assert iso_date(text) == iso
