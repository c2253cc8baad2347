"""Markdown: the same figures, and no text of a document that becomes markup, by an independent renderer."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragways.core.table import Table, markdown_text
from tests.evaluation.report.made import EVIL, as_markdown, figures, made_report, made_run

RENDER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PARTS = (*"ab1. \n\t\\`*_[]()<>#|~$!&;-+=:/@{}\"'\u202e\x1b", "www.", "http://a.b", "&lt;", "<b>")
SIGNS = st.lists(st.sampled_from(PARTS)).map("".join)


@given(SIGNS)
@example("# head")
@example("1. one")
@example("1)")
@example("- - -")
@example("===")
@example("| a |\n|---|")
@example("[a](http://b) ![c](d) <http://e> &amp; &copy;")
@example("```\ncode")
@example(EVIL)
def test_any_text_is_shown_as_it_is(text: str):
    flat = " ".join(text.split())
    expected = CONTROLS.sub("\ufffd", flat)
    tokens = RENDER.parse(markdown_text(text))
    if not expected:
        assert tokens == []
        return
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    inside = tokens[1].children or []
    assert {token.type for token in inside} <= {"text", "text_special"}
    assert "".join(token.content for token in inside) == expected


@given(SIGNS)
def test_any_text_is_one_cell_of_a_table(text: str):
    tokens = RENDER.parse(Table.of(["a", "b"], [[text, "1"]]).markdown())
    cells = [after for before, after in pairwise(tokens) if before.type == "td_open"]
    assert len(cells) == 2
    shown = "".join(token.content for token in cells[0].children or [])
    assert shown.strip() == CONTROLS.sub("\ufffd", " ".join(text.split())).strip()


@pytest.mark.parametrize("hostile", [False, True])
def test_the_whole_report(tmp_path: Path, hostile: bool):
    folder = made_run(tmp_path / "run", questions=12, repeats=2, duels=not hostile, hostile=hostile)
    data, text = made_report([folder]), as_markdown([folder])
    tokens = RENDER.parse(text)
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or []}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "fence", "code_block", "code_inline"}
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 30_000
    for question in data["questions"]:
        assert f"### {question['id']} ({question['type']})" in text
    assert text.count("\n- **") == 12 * 5 * 2
    for row in figures(data, "accuracy").values():
        assert f"{row['mean']:.3f}" in text
    assert "the reply could not be read" in text
    for head in ("Runs", "Figures", "Comparisons", "Quality against cost", "What an answer takes", "Tools"):
        assert f"## {head}\n" in text
    assert ("no duel was run: ragways eval duel RUN" in text) == hostile
    assert ("## Tests of the judges of duels" in text) != hostile


def test_the_summary_has_no_answers(tmp_path: Path):
    folder = made_run(tmp_path / "run", questions=5, paradigms=["naive", "words"])
    text = " ".join(as_markdown([folder], whole=False).split())
    assert "## Questions" not in text
    assert "What of thing" not in text
    assert "## Figures" in text
    assert "over the pairs of each metric, not over metrics" in text
    assert "The fronts are of means alone" in text
    assert "Unscored answers, by paradigm and reason" in text
    assert "could not have been shown" not in text


def test_long_tables_are_cut(tmp_path: Path):
    names = [f"p{n}" for n in range(12)]
    text = as_markdown([made_run(tmp_path / "run", questions=3, paradigms=names, judged=False)], whole=False)
    assert "26 more rows: ragways eval report RUN --csv FOLDER" in text
