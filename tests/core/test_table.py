"""A table as a value: rows by position or by name, cells looked up, parts, and one renderer of each kind."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.table import Cell, Column, Table

CELLS = st.one_of(st.none(), st.booleans(), st.integers(-999, 999), st.text(max_size=8))
FIGURES = Table.of(
    ["metric", "paradigm", Column("mean", ".2f", key="value")],
    [("f1", "naive", 0.5), ("f1", "words", None), {"metric": "em", "value": 1}],
    title="Figures",
    name="figures",
    by="metric",
)


def test_rows_may_name_their_cells():
    assert FIGURES.rows[2] == ("em", None, 1)
    assert FIGURES.to_plain()[2] == {"metric": "em", "paradigm": None, "value": 1}
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table.of(["a", "b"], [(1,)])


def test_cells_are_looked_up_by_the_values_of_others():
    assert FIGURES.cell("value", metric="f1", paradigm="naive") == 0.5
    assert FIGURES.cell("value", metric="f1", paradigm="words") is None
    assert FIGURES.cell("value", metric="f1") == 0.5, "the first row"
    assert FIGURES.cell("value", metric="recall") is None
    assert FIGURES.column("paradigm") == ["naive", "words", None]
    assert FIGURES.where(metric="f1").only("value", "paradigm").rows == ((0.5, "naive"), (None, "words"))
    with pytest.raises(ValueError, match="not in list"):
        FIGURES.cell("median")


def test_parts_are_tables_under_the_values_of_a_column():
    one, other = FIGURES.parts()
    assert (one.title, [column.name for column in one.columns], len(one)) == ("f1", ["paradigm", "value"], 2)
    assert (other.title, other.rows) == ("em", ((None, 1),))
    assert one.parts() == [one]


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_csv_has_every_value_and_latex_every_row(rows: list[tuple[Cell, Cell]]):
    table = Table.of(["a", Column("B_%", key="b")], rows)
    read = list(csv.reader(io.StringIO(table.csv(), newline="")))
    assert read == [["a", "b"], *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
    lines = table.latex().split("\n")
    assert lines[2] == r"a & B\_\% \\"
    assert len([line for line in lines if line.endswith(r"\\")]) == 1 + len(rows)
