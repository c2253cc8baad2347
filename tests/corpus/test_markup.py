"""What a text was before it was made plain: kept by every loader of written documents, and shown again as Markdown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragways.core.types import Document, Markup
from ragways.corpus.files.markdown import load_markdown, load_notebook, markdown_document
from ragways.corpus.files.text import load_rst
from ragways.corpus.markup import markdown, packed_markup, unpacked_markup
from ragways.corpus.source import LoadOptions, SourceFile
from ragways.corpus.structure import PRESETS, structure
from ragways.corpus.web.html import html_document

CODE = "def row(n):\n    if n:\n\n        return n\n    return 0"
MARKDOWN = f"""# Guide

Set `timeout` as the [manual](https://example.org/manual) says, and see [others](others.md).

- one
- two
  1. inner

```python
{CODE}
```

| Name | Value |
| --- | --- |
| retries | `3` |
|  | 4 |

## Next

The end.
"""
RST = f"""Guide
=====

Set ``timeout`` as the `manual <https://example.org/manual>`_ says, and see others.

* one
* two

  1. inner

.. code-block:: python

{chr(10).join("    " + line if line else "" for line in CODE.splitlines())}

======= =====
Name    Value
======= =====
retries ``3``
======= =====

Next
----

The end.
"""
HTML = f"""<html><head><title>Guide</title></head><body><main>
<p>Set <code>timeout</code> as the <a href="https://example.org/manual">manual</a> says, and see others.</p>
<ul><li>one</li><li>two<ol><li>inner</li></ol></li></ul>
<pre><code class="language-python">{CODE}</code></pre>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>retries</td><td><code>3</code></td></tr></table>
<h2>Next</h2><p>The end.</p></main></body></html>"""


def written(document: Document) -> str:
    return markdown(document.text, 0, document.markup)


def source(folder: Path, name: str, text: str) -> SourceFile:
    (folder / name).write_text(text, encoding="utf-8")
    return SourceFile(folder / name, name)


def loaded(folder: Path, form: str) -> Document:
    if form == "html":
        return html_document(HTML.encode(), SourceFile(Path("guide.html"), "guide.html"), LoadOptions())
    load, text = {"md": (load_markdown, MARKDOWN), "rst": (load_rst, RST)}[form]
    return next(load(source(folder, f"guide.{form}", text), LoadOptions()))


@pytest.mark.parametrize("form", ["md", "rst", "html"])
def test_code_lists_tables_and_links_are_shown_as_they_were_written(tmp_path: Path, form: str):
    document = loaded(tmp_path, form)
    shown = written(document)
    assert f"```python\n{CODE}\n```" in shown, "blank lines and indents included"
    assert "Set `timeout` as the [manual](https://example.org/manual) says, and see" in shown
    assert "- one\n- two\n  1. inner" in shown
    assert "| Name | Value |\n| --- | --- |\n| retries | `3` |" in shown
    assert "## Next\n\nThe end." in shown
    assert not set("`#[") & set(document.text), "what is searched stays plain"


def test_a_notebook_and_a_table_that_begins_elsewhere(tmp_path: Path):
    cells = [
        {"cell_type": "markdown", "source": "# Guide\n\nUse `row`."},
        {"cell_type": "code", "source": CODE, "outputs": [{"text": "0\n"}]},
    ]
    book = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}}
    document = next(load_notebook(source(tmp_path, "guide.ipynb", json.dumps(book)), LoadOptions()))
    assert f"Use `row`.\n\n```python\n{CODE}\n```\n\n```\nOutput:\n0\n```" in written(document)

    document = loaded(tmp_path, "md")
    start = document.text.index("retries")
    part = markdown(document.text[start : start + 11], start, document.markup, lambda table: "Name | Value")
    assert part == "| Name | Value |\n| --- | --- |\n| retries | `3` |"


def test_the_caption_of_a_table_stands_above_it():
    text = "Eruptions\nYear | Days\n1891 | 17"
    table = Markup(0, len(text), "table")
    assert markdown(text, 0, [table]) == "Eruptions\n\n| Year | Days |\n| --- | --- |\n| 1891 | 17 |"


def test_a_bar_in_a_cell_is_no_border(tmp_path: Path):
    table = "| Flag | Meaning |\n| --- | --- |\n| `a\\|b` | one \\|\\| other |\n| | x |"
    document = next(load_markdown(source(tmp_path, "x.md", f"# Flags\n\n{table}\n"), LoadOptions()))
    assert table in written(document)


def test_a_fence_is_longer_than_any_in_the_code_and_plain_signs_are_escaped_on_request(tmp_path: Path):
    file = source(tmp_path, "x.md", "Call \\`it\\` *now* <b>\n\n````\n```\nx\n```\n````\n\nA `` ` `` tick.\n")
    document = next(load_markdown(file, LoadOptions()))
    assert "````\n```\nx\n```\n````" in written(document)
    assert "A `` ` `` tick." in written(document)
    assert "Call \\`it\\` now" in markdown(document.text, 0, document.markup, escape=True)


def test_links_by_reference_in_items_and_directives_in_fences(tmp_path: Path):
    text = "- [Guide]\n- See [the manual][m].\n\n```{toctree}\n:hidden:\n\nother\n```\n\n"
    text += "```{note} Mind\n:class: x\nthe gap\n```\n\n```{code-block} go\nx := 1\n```\n\n"
    text += "[Guide]: https://example.org/guide\n[m]: https://example.org/m\n"
    document = next(load_markdown(source(tmp_path, "x.md", text), LoadOptions()))
    assert written(document) == (
        "- [Guide](https://example.org/guide)\n- See [the manual](https://example.org/m).\n\nMind\n\nthe gap\n\n"
        "```go\nx := 1\n```"
    )


LINES = st.lists(st.sampled_from(["    x = 1", "y = 2", "", "# note", "- z"]), min_size=1, max_size=60)
BLOCKS = st.lists(
    st.one_of(LINES.map(lambda lines: "\n".join(["```", *lines, "```"])), st.text("ab. \n", max_size=900)), max_size=12
)


@given(BLOCKS)
def test_no_chunk_begins_inside_a_block_of_code_that_fits_into_one(blocks: list[str]):
    file = SourceFile(Path("x.md"), "x.md")
    document = markdown_document("\n\n".join(blocks), file, LoadOptions(), {})
    chunking = PRESETS["section"]
    chunks = structure(document, chunking).chunks
    code = [one for one in document.markup if one.kind == "code" and one.end - one.start <= chunking.size]
    assert not [(chunk.start, one) for one in code for chunk in chunks if one.start < chunk.start < one.end]
    assert all(chunk.end - chunk.start <= chunking.size for chunk in chunks)
    words = "".join("".join(document.text[chunk.start : chunk.end].split()) for chunk in chunks)
    assert words == "".join(document.text.split()), "every character is in one chunk"
    assert unpacked_markup(packed_markup(document.markup)) == document.markup


@given(BLOCKS, st.integers(0, 400), st.integers(0, 400))
@example(["```\ny = 2\nx = 1\n```"], 3, 0)
def test_any_stretch_keeps_its_words_and_opens_and_closes_its_fences(blocks: list[str], start: int, size: int):
    document = markdown_document("\n\n".join(blocks), SourceFile(Path("x.md"), "x.md"), LoadOptions(), {})
    part = document.text[start : start + size]
    shown = markdown(part, start, document.markup)
    fences = [line for line in shown.split("\n") if line.startswith("```")]
    assert len(fences) % 2 == 0 or "`" in part
    stripped = shown.replace("```", "").replace("`", "").split()
    assert [word for word in stripped if word not in ("-", "#", "##")] == [
        word for word in part.split() if word not in ("-", "#", "##")
    ]


def test_markup_of_a_stretch_is_what_touches_it():
    markup = (Markup(0, 5, "inline"), Markup(9, 9, "item", "-"), Markup(20, 30, "code", "go"))
    stored = packed_markup(markup)
    assert unpacked_markup(stored) == markup
    assert unpacked_markup(stored, 6, 19) == markup[1:2]
    assert (packed_markup(()), unpacked_markup("")) == ("", ())


def test_a_line_that_leads_to_what_follows_stands_with_it():
    filler = "\n\n".join(f"Sentence number {n} of a section that is nearly full." for n in range(17))
    text = f"{filler}\n\nThere are two types of checks:\n\n- {'structure, in detail, ' * 4}\n"
    document = markdown_document(text, SourceFile(Path("x.md"), "x.md"), LoadOptions(), {})
    chunks = [document.text[part.start : part.end] for part in structure(document, PRESETS["section"]).chunks]
    assert [chunk.splitlines()[0] for chunk in chunks] == [filler.splitlines()[0], "There are two types of checks:"]


def test_a_last_line_of_code_leads_to_nothing():
    filler = "\n\n".join(f"Sentence number {n} of a section that is nearly full." for n in range(16))
    text = f"{filler}\n\n```yaml\nport:\n  name:\n```\n\n{'What follows is long. ' * 20}\n"
    document = markdown_document(text, SourceFile(Path("x.md"), "x.md"), LoadOptions(), {})
    first, second = structure(document, PRESETS["section"]).chunks
    assert document.text[first.start : first.end].endswith("port:\n  name:")
    assert document.text[second.start :].startswith("What follows")
