"""Every part of a document lies where it says, in order, under its parent; every preset keeps its promise."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.core.types import Document, Heading
from ragways.corpus.load import load, walk
from ragways.corpus.source import SourceFile
from ragways.corpus.structure import PRESETS, Chunking, cut, structure
from ragways.models.tokens import count_tokens, token_ends

TEXT = "Lead one. Dr. Brack came in 1801.\n\nLead two.\n\nHistory\n\nIt began. It went on.\n\nname: Tern\nbuilt: 1871"
START = TEXT.index("History")
DOCUMENT = Document("k", "Tern", TEXT, "text", headings=(Heading(START, START + 7, 2, "History"),))


def texts(document: Document, parts) -> dict[str, str]:
    return {part.id.split(":", 2)[2]: document.text[part.start : part.end].strip() for part in parts}


def test_ids_and_places_by_hand():
    parts = structure(DOCUMENT, PRESETS["agentic"])
    assert parts.sections[1].title == "History"
    assert texts(DOCUMENT, parts.paragraphs) == {
        "s0:p0": "Lead one. Dr. Brack came in 1801.",
        "s0:p1": "Lead two.",
        "s1:p0": "It began. It went on.",
        "s1:p1": "name: Tern\nbuilt: 1871",
    }
    assert texts(DOCUMENT, parts.sentences) == {
        "s0:p0:t0": "Lead one.",
        "s0:p0:t1": "Dr. Brack came in 1801.",
        "s0:p1:t0": "Lead two.",
        "s1:p0:t0": "It began.",
        "s1:p0:t1": "It went on.",
        "s1:p1:t0": "name: Tern",
        "s1:p1:t1": "built: 1871",
    }
    assert texts(DOCUMENT, structure(DOCUMENT, PRESETS["section"]).chunks) == {
        "s0:p0:c0": "Lead one. Dr. Brack came in 1801.\n\nLead two.",
        "s1:p0:c0": "It began. It went on.\n\nname: Tern\nbuilt: 1871",
    }
    assert parts.chunks[0].id.startswith(f"{DOCUMENT.id}:s0:p0:c")


CHINESE = "应用启动时加载模型。关闭时释放内存！然后呢？他说：“好。”完"


def test_sentences_and_chunks_end_at_the_signs_of_their_script():
    document = Document("k", "应用", f"{CHINESE}\n\nIt began. 它开始了。", "text")
    assert list(texts(document, structure(document, PRESETS["section"]).sentences).values()) == [
        "应用启动时加载模型。", "关闭时释放内存！", "然后呢？", "他说：“好。”", "完", "It began.", "它开始了。",
    ]  # fmt: skip
    long = Document("k", "应用", "应用启动时加载模型，关闭时释放内存。" * 4000, "text")
    chunks = texts(long, structure(long, PRESETS["section"]).chunks).values()
    assert len(chunks) > 70
    assert all(chunk.endswith("。") and not chunk.startswith("。") for chunk in chunks)


WORDS = st.sampled_from(
    ["tower", "light.", "storm", "In 1801,", "Dr.", "ship!", "\n", "\n\n", "日本。", "🌊", "x" * 300, "a | b"]
)


@st.composite
def documents(draw) -> Document:
    blocks, headings, here = [], [], 0
    for number in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            title = f"Heading {number}"
            headings.append(Heading(here, here + len(title), 2, title))
            blocks.append(title)
            here += len(title) + 2
        block = " ".join(draw(st.lists(WORDS, min_size=1, max_size=60))).strip() or "empty"
        blocks.append(block)
        here += len(block) + 2
    return Document("k", "T", "\n\n".join(blocks), "text", headings=tuple(headings))


@pytest.mark.parametrize("preset", list(PRESETS))
@settings(max_examples=40, deadline=None)
@given(document=documents())
def test_parts_hold_together(preset: str, document: Document):
    chunking = PRESETS[preset]
    parts = structure(document, chunking)
    for kind in (parts.sections, parts.paragraphs, parts.chunks, parts.sentences):
        assert len({part.id for part in kind}) == len(kind)
        assert all(0 <= part.start <= part.end <= len(document.text) for part in kind)
        assert [part.start for part in kind] == sorted(part.start for part in kind)
    sections = {part.id: part for part in parts.sections}
    paragraphs = {part.id: part for part in parts.paragraphs}
    for paragraph in parts.paragraphs:
        owner = sections[paragraph.id.rpartition(":")[0]]
        assert owner.start <= paragraph.start <= paragraph.end <= owner.end
        assert document.text[paragraph.start : paragraph.end].strip() == document.text[paragraph.start : paragraph.end]
    for sentence in parts.sentences:
        owner = paragraphs[sentence.id.rpartition(":")[0]]
        assert owner.start <= sentence.start < sentence.end <= owner.end
    for chunk in parts.chunks:
        text = document.text[chunk.start : chunk.end]
        assert text == text.strip() != ""
        assert (len(text) if chunking.unit == "characters" else count_tokens(text)) <= chunking.size
        assert chunk.id.rpartition(":")[0] in paragraphs
    # No word of a paragraph is lost between chunks.
    covered: set[int] = set()
    for chunk in parts.chunks:
        covered.update(range(chunk.start, chunk.end))
    for paragraph in parts.paragraphs:
        lost = set(range(paragraph.start, paragraph.end)) - covered
        assert not "".join(document.text[at] for at in sorted(lost)).strip()


@given(st.text(max_size=200))
def test_tokens_end_in_their_order_and_at_the_end_of_the_text(text: str):
    ends = token_ends(text)
    assert len(ends) == count_tokens(text)
    assert ends == sorted(ends)
    assert ends[-1:] == ([len(text)] if text else [])


def test_fixed_windows_have_exactly_their_size_whatever_borders_lie_in_them():
    text = "".join(f"Row {n}: a lamp in 18{n % 100:02}.\n\n" for n in range(100))
    windows = cut(text, 0, len(text), Chunking(40, 10, unit="tokens", fixed=True))
    assert len(windows) == -(-count_tokens(text) // 30)
    assert {count_tokens(text[start:end]) for start, end in windows[:-2]} <= {38, 39, 40}, "white space at ends goes"
    assert all(after[0] < before[1] for before, after in pairwise(windows[:-1])), "each begins in the one before"
    letters = Chunking(10, 2, fixed=True)
    assert cut("abcdefghijklmnopqrst", 0, 20, letters) == [(0, 10), (8, 18), (16, 20)]
    assert "fixed" not in Chunking(10, 2).name, "other indexes keep the name of their chunks"
    assert "fixed=True" in letters.name


def test_a_text_without_borders_is_cut_in_time_that_grows_with_its_length():
    import time

    document = Document("k", "T", "x" * 600_000, "text")
    started = time.process_time()
    parts = structure(document, PRESETS["thesis"])
    assert time.process_time() - started < 20  # it took minutes when cut as a whole
    assert sum(part.end - part.start for part in parts.chunks) >= 600_000


def test_an_overlap_as_long_as_the_chunk_is_refused():
    with pytest.raises(UsageError, match="overlap"):
        Chunking(100, 100)


def test_every_gold_quote_of_the_bundled_questions_stands_in_its_article(demo_corpus: Path):
    """The corpus, the loaders and the questions agree."""
    import json

    said: dict[str, str] = {}
    for file in walk([demo_corpus / "corpus"]):
        assert isinstance(file, SourceFile), file
        for document in load(file):
            said[document.title] = " ".join(document.text.split())
    assert len(said) == 68
    questions = [json.loads(line) for line in (demo_corpus / "questions.jsonl").read_text().splitlines()]
    assert len(questions) == 80
    for question in questions:
        assert bool(question["evidence"]) == (question["type"] != "null")
        for evidence in question["evidence"]:
            assert " ".join(evidence["quote"].split()) in said[evidence["title"]], (question["id"], evidence)
