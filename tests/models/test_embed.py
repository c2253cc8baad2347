"""The seam itself: what both embedders share."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragways.models.embed import Vectors, maxsim, unit

rows = arrays(np.float32, st.tuples(st.integers(1, 5), st.just(4)), elements=st.floats(-8, 8, width=16))


def slow_maxsim(query: Vectors, document: Vectors) -> float:
    return sum(max(float(np.dot(q, d)) for d in document) for q in query) / len(query)


@given(rows, rows)
def test_maxsim_is_the_mean_of_each_query_tokens_best(query: Vectors, document: Vectors) -> None:
    assert maxsim(query, document) == pytest.approx(slow_maxsim(query, document), abs=1e-4)


@given(rows, rows)
def test_maxsim_of_unit_rows_stays_within_one(query: Vectors, document: Vectors) -> None:
    assert -1.0001 <= maxsim(unit(query), unit(document)) <= 1.0001


def test_maxsim_does_not_depend_on_the_order_of_tokens() -> None:
    generator = np.random.default_rng(1)
    query, document = (unit(generator.normal(size=(n, 8)).astype(np.float32)) for n in (3, 7))
    assert maxsim(query, document) == pytest.approx(maxsim(query[::-1], document[::-1]))


def test_maxsim_of_nothing_is_zero() -> None:
    nothing, something = np.zeros((0, 4), np.float32), np.ones((2, 4), np.float32)
    assert maxsim(nothing, something) == maxsim(something, nothing) == maxsim(nothing, nothing) == 0.0


@given(rows)
def test_unit_rows_have_length_one_and_zero_rows_stay_zero(given_rows: Vectors) -> None:
    lengths = np.linalg.norm(unit(given_rows), axis=1)
    expected = (np.linalg.norm(given_rows, axis=1) > 0).astype(float)
    assert lengths == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("module", ["ragways.models.embed", "ragways.models.minilm"])
def test_importing_stays_light(module: str) -> None:
    heavy = "{'onnx', 'onnxruntime', 'tokenizers'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
