"""Whatever the markup, a loader gives documents that keep the layout rule, or a LoadError."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.corpus.builder import TextBuilder
from tests.corpus import samples
from tests.corpus.layout import check, survives

MARKS = (
    "[[", "]]", "]]]", "{{", "}}", "{|", "|}", "|-", "|+", "|", "||", "!", "!!", "=", "==", "\n", "\n\n", "*", "#",
    ":", ";", "''", "'''", "<ref>", "</ref>", "<ref/>", "<!--", "-->", "<nowiki>", "</nowiki>", "<math>", "</math>",
    "<br>", "&amp;", "&#x301;", "&#0;", "&#55296;", "\u0301", "e", "Infobox x", "convert", "nowrap", "birth date",
    "quote", "File:", "Category:", "fr:", "http://x.org", "[http://y ", "]", "[", "(", ")", "](a.md)", "![", "`",
    "```\n", "> ", "- ", "1. ", "---\n", "# ", "<div>", "</div>", "<table>", "<tr>", "<td>", "</td>",
    "<a href='b.html'>", "</a>", "<h1>", "</h1>", "<h2>", "<ul>", "<li>", "<p>", "<pre>", "</pre>", "<title>", "word",
    " ", "  ", "\t", "\r", "\x00", "\x02", "0\x03", "\x85", "\u2028", "\u200b", "\xa0", "\u1100", "\u1161",
    "\U0001f600", "#REDIRECT ", "a: b", ".. note:: ", ".. a:: b\n", ".. _a:", "::\n\n ", ":ref:`", "``", "\n====\n",
    "== ==\n", "\n+--+--+\n", "\n  ", "a_ ", "|a|", "\\",
)  # fmt: skip
MARKUP = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=4)), max_size=60).map("".join)
MANY = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


def written(suffix: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(data)
        survives(path)


@pytest.mark.parametrize(
    "suffix", [".wiki", ".md", ".html", ".txt", ".rst", ".py", ".csv", ".yaml", ".toml", ".srt", ".eml"]
)
@MANY
@given(source=MARKUP)
def test_any_markup(suffix: str, source: str):
    written(suffix, source.encode("utf-8", "surrogatepass"))


@MANY
@given(source=MARKUP)
def test_any_markup_in_a_dump_and_a_record(source: str):
    written(".json", json.dumps([{"title": source[:20], "text": source, "date": source}]).encode())
    plain = "".join(character for character in source if character.isprintable() or character == "\n")
    written(".xml", samples.dump(samples.dump_page("A", plain)).encode("utf-8", "replace"))


@pytest.mark.parametrize(
    "suffix", [".pdf", ".docx", ".xml.gz", ".json.gz", ".xml", ".xlsx", ".pptx", ".epub", ".ipynb", ".mbox"]
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_damage(suffix: str, data: st.DataObject):
    whole = bytearray(samples.SAMPLES[suffix]())
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    written(suffix, bytes(whole))


STEPS = st.one_of(
    st.sampled_from(["space", "comma", "line", "paragraph", "cell"]),
    st.tuples(st.sampled_from(["text", "preformatted", "label"]), st.text(max_size=8)),
)


@MANY
@given(steps=st.lists(STEPS, max_size=40), marks=st.lists(st.integers(0, 40), max_size=6))
def test_builder_keeps_the_layout(steps: list[str | tuple[str, str]], marks: list[int]):
    builder = TextBuilder(100_000)
    opened = []
    for number, step in enumerate(steps):
        if number in marks:
            opened.append(builder.mark())
            builder.at(line=number + 1)
        if isinstance(step, str):
            getattr(builder, step)()
        elif step[0] != "label":
            getattr(builder, step[0])(step[1])
        else:
            builder.label("key: ")
    for mark in opened:
        builder.link(mark, "Target")
    heading = builder.block()
    builder.text("Head")
    builder.heading(heading, 2)
    check(builder.document("k", "t", "text", {}))
