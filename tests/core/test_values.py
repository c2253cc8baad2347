"""Plain data and back, typed logs, and tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from ragways.core.plain import from_plain, to_plain
from ragways.core.table import Column, Table
from ragways.core.text import counted


@dataclass(frozen=True)
class Inner:
    value: float | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    many: tuple[Inner, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)


WHOLE = Outer("a", Inner(0.5, ("x",)), (Inner(None), Inner(1.0)), {"n": 3})


def test_a_dataclass_goes_to_json_and_back():
    data = json.loads(json.dumps(to_plain(WHOLE)))
    assert data["many"] == [{"value": None, "tags": []}, {"value": 1.0, "tags": []}]
    assert from_plain(Outer, data) == WHOLE


def test_what_json_has_no_word_for():
    assert to_plain({"a": float("nan"), "b": np.float32(0.5), "c": Path("x/y"), "d": {"z", "y"}}) == {
        "a": None,
        "b": 0.5,
        "c": "x/y",
        "d": ["y", "z"],
    }
    with pytest.raises(TypeError, match="object"):
        to_plain(object())


def test_data_that_does_not_fit_is_an_error_with_its_place():
    with pytest.raises(ValueError, match=r"inner\.value"):
        from_plain(Outer, {"name": "a", "inner": {"value": "lots"}})


TABLE = Table.of(
    ["name", Column("mean", ".2f"), Column("n", key="count")],
    [("a|b", 0.5, 1200), ("<i>", None, 3)],
    title="Figures",
    notes=["a note"],
)


def test_a_table_as_text_markdown_html_and_data():
    assert str(TABLE).splitlines() == [
        "Figures",
        "name  mean  n",
        "----  ----  -----",
        "a|b   0.50  1,200",
        "<i>      –      3",
        "a note",
    ]
    assert TABLE.markdown().splitlines()[2:6] == [
        "| name      | mean |     n |",
        "|-----------|-----:|------:|",
        "| a\\|b      | 0.50 | 1,200 |",
        "| &lt;i&gt; |    – |     3 |",
    ]
    html = TABLE.html()
    assert "&lt;i&gt;" in html
    assert "<i>" not in html
    assert TABLE.to_plain() == [
        {"name": "a|b", "mean": 0.5, "count": 1200},
        {"name": "<i>", "mean": None, "count": 3},
    ]


def test_a_number_stands_with_what_it_counts():
    assert [counted(number, "chunk") for number in (0, 1, 2, 1200)] == [
        "0 chunks",
        "1 chunk",
        "2 chunks",
        "1,200 chunks",
    ]
    assert [counted(number, "corpus", "corpora") for number in (1, 2)] == ["1 corpus", "2 corpora"]
    assert counted(1, "question is", "questions are") == "1 question is"
    assert counted(4, "seed", things=["a", "b", "c", "d"]) == "4 seeds: a, b, c …"
