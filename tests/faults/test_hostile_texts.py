"""Whatever is repeated, twice the text takes about twice the time to read, to split and to find names in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.load import load
from ragways.corpus.source import SourceFile
from ragways.corpus.structure import JOINED, MANY, PRESETS, sentence_spans, structure
from ragways.layers.graph.extract import extract
from ragways.layers.lexicon import Lexicon
from ragways.store.source import Source
from ragways.store.store import Facts

SIZE = 20_000
UNNOTICED = 0.3
"""CPU seconds of the longer text that say nothing: 7 for a megabyte."""
PARTS = (
    "!?", '."', "A", "a", "Ab", ". ", "! ", " ", "(", ")", "ABC", "1", "1,", "4 May 1990", '"', "-", "'", "\n",
    "\n\n", "# ", "|", "[a](b)", "*", "`", "<p>", "<td>", "<a href=b>", "</a>", "[[A]]", "{{", "\u4e2d", "\u0301",
)  # fmt: skip
UNITS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join)


def rules_of(document: Document) -> Facts:
    source = Source.of(structure(document, PRESETS["section"]), with_title=True)
    return extract(source, Lexicon.of([source]))


def cpu(path: Path, source: str) -> float:
    path.write_text(source, encoding="utf-8")
    started = time.process_time()
    try:
        for document in load(SourceFile(path, path.name)):
            rules_of(document)
    except LoadError:
        pass
    return time.process_time() - started


def is_linear(path: Path, unit: str, before: str = "") -> bool:
    """Whether twice the text takes at most three times as long. A busy machine may need a second look."""
    for _ in range(3):
        once, twice = (cpu(path, before + unit * (n * SIZE // len(unit))) for n in (1, 2))
        if twice <= max(3 * once, UNNOTICED):
            return True
    return False


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html", ".wiki"])
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@example(unit="!?")
@example(unit="(ABCDEFGHIJ) ")
@example(unit="# A\nb\n")
@example(unit="4 May 1990 ")
@given(unit=UNITS)
def test_any_repetition_is_linear(tmp_path_factory: pytest.TempPathFactory, suffix: str, unit: str):
    assert is_linear(tmp_path_factory.mktemp("hostile") / f"a{suffix}", unit)


@pytest.mark.parametrize("tag", ["<p {}>", '<p a=">" {}>', "<p ' {}>", "<p {}"])
def test_a_tag_with_80000_attributes_is_refused(tmp_path: Path, tag: str):
    path = tmp_path / "a.html"
    path.write_text(tag.format(" ".join(f"a{n}=1" for n in range(80_000))) + "text</p>")
    started = time.process_time()
    with pytest.raises(LoadError, match="more than 250 attributes"):
        list(load(SourceFile(path, "a.html")))
    assert time.process_time() - started < 15
    path.write_text("<p " + " ".join(f"a{n}='>'" for n in range(200)) + ">text</p>" + "<b class=c>x</b> " * 300)
    assert next(load(SourceFile(path, "a.html"))).text.startswith("text")


def test_a_document_of_crumbs_has_few_parts():
    text = "\n\n".join(["Ab."] * 20_000)
    parts = structure(Document(key="k", title="t", text=text, format="text"), PRESETS["section"])
    assert len(parts.sentences) <= len(parts.paragraphs) <= len(text) / JOINED + 1
    assert "".join(text[p.start : p.end] for p in parts.paragraphs).count("Ab.") == 20_000
    few = structure(Document(key="k", title="t", text=text[: 5 * MANY], format="text"), PRESETS["section"])
    assert len(few.paragraphs) == MANY, "as many as are never too many stay as they are"


def test_ordinary_sentences_are_those_of_the_splitter():
    from nupunkt import sent_spans

    text = "Dr. Abel left at 5 p.m. on Monday. Why?! He had read https://example.org/" + "a.b/" * 20 + " before! " * 3
    long = " ".join(f"{text} Number {n}." for n in range(MANY // 20))
    for each in (text, "No sign at all", "One at the end.", "A.", long):
        assert sentence_spans(each) == [(s, s + len(each[s:e].strip())) for s, e in sent_spans(each)]
