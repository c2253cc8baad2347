"""Whatever is repeated, twice the text takes about twice the time to read, to split and to find names in."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragways.core.errors import LoadError
from ragways.core.types import Document
from ragways.corpus.load import load
from ragways.corpus.source import SourceFile
from ragways.corpus.structure import JOINED, MANY, PRESETS, sentence_spans, structure
from ragways.index.graph.facts import LONGEST_TEXT, PassageFacts, Source, SourcePassage
from ragways.index.graph.kept_facts import corpus_of
from ragways.index.graph.rules import structure_facts, text_facts
from ragways.index.windows.edges import Space, nearest_elsewhere, nearest_within

SIZE = 20_000
UNNOTICED = 0.3
"""CPU seconds of the longer text that say nothing: 7 for a megabyte."""
PARTS = (
    "!?", '."', "A", "a", "Ab", ". ", "! ", " ", "(", ")", "ABC", "1", "1,", "4 May 1990", '"', "-", "'", "\n",
    "\n\n", "# ", "|", "[a](b)", "*", "`", "<p>", "<td>", "<a href=b>", "</a>", "[[A]]", "{{", "\u4e2d", "\u0301",
)  # fmt: skip
UNITS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join)


def rules_of(document: Document) -> list[PassageFacts]:
    parts = structure(document, PRESETS["section"])
    text, title = document.text, document.title
    passages = [SourcePassage(p.id, p.start, p.end, title, text[p.start : p.end]) for p in parts.chunks]
    source = Source(
        1,
        title,
        text,
        tuple(passages),
        tuple((sentence.start, sentence.end) for sentence in parts.sentences),
        tuple((link.start, link.end, link.target) for link in document.links),
        tuple((box.start, box.end, box.kind, box.fields) for box in document.infoboxes),
    )
    corpus = corpus_of([source])
    return [one + other for one, other in zip(structure_facts(source, corpus), text_facts(source, corpus), strict=True)]


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
@given(unit=UNITS)
def test_any_repetition_is_linear(tmp_path_factory: pytest.TempPathFactory, suffix: str, unit: str):
    assert is_linear(tmp_path_factory.mktemp("hostile") / f"a{suffix}", unit)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("a.txt", "A."), ("a.txt", "Ab. "), ("a.txt", "4 May 1990 "), ("a.wiki", "[[A]] "), ("a.md", "|A|B|\n")],
)
def test_named_repetitions_are_linear(tmp_path: Path, name: str, unit: str):
    assert is_linear(tmp_path / name, unit, "|a|b|\n|-|-|\n" if "|" in unit else "")


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


def test_what_is_said_of_a_relation_is_bounded():
    text = "Abel Corran met Oriel Tamsett and " + "went on and " * 10_000 + "on."
    facts = rules_of(Document(key="k", title="Abel Corran", text=text, format="text"))
    relations = [relation for passage in facts for relation in passage.relations]
    assert relations
    assert max(len(relation.description) for relation in relations) <= LONGEST_TEXT


def test_many_windows_of_one_text_are_compared_with_the_first_of_them():
    draw = np.random.default_rng(1)
    few = draw.standard_normal((5, 8)).astype(np.float32)
    few /= np.linalg.norm(few, axis=1, keepdims=True)
    texts = draw.integers(0, 5, 60)
    same = np.array([np.flatnonzero(texts == text)[0] for text in texts], np.int32)
    space = Space(few[texts], np.zeros(60, np.int64), same.astype(np.uint64))
    found = nearest_within(space, 4)
    for row in range(60):
        sims = [(-np.float32(few[texts[row]].astype(float) @ few[texts[other]].astype(float)), other)
                for other in range(60) if other != row]  # fmt: skip
        assert found.to[row].tolist() == [other for _, other in sorted(sims)[:4]]
    equal = Space(np.full((5000, 8), 8**-0.5, np.float32), np.zeros(5000, np.int64), np.zeros(5000, np.uint64))
    assert nearest_within(equal, 4).to[-1].tolist() == [0, 1, 2, 3]


def test_many_documents_of_one_text_are_compared_with_the_first_of_them():
    draw = np.random.default_rng(2)
    few = draw.standard_normal((4, 8)).astype(np.float32)
    few /= np.linalg.norm(few, axis=1, keepdims=True)
    texts, groups = draw.integers(0, 4, 80), np.sort(draw.integers(0, 6, 80)).astype(np.int32)
    same = np.array([np.flatnonzero(texts == text)[0] for text in texts], np.int32)
    found = nearest_elsewhere(Space(few[texts], groups.astype(np.int64), same.astype(np.uint64)), 5)
    for row in range(80):
        sims = [(-np.float32(few[texts[row]].astype(float) @ few[texts[other]].astype(float)), other)
                for other in range(80) if groups[other] != groups[row]]  # fmt: skip
        assert found.to[row].tolist() == [other for _, other in sorted(sims)[:5]]
    one = Space(np.full((5000, 8), 8**-0.5, np.float32), np.arange(5000), np.zeros(5000, np.uint64))
    assert nearest_elsewhere(one, 3).to[-1].tolist() == [0, 1, 2]
