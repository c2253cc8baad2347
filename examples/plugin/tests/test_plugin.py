"""Each part passes the checks that ragways' own parts must pass."""

from __future__ import annotations

from pathlib import Path

from ragways_example.dataset import PAIRS
from ragways_example.layer import LENGTHS
from ragways_example.loader import INI
from ragways_example.metric import BREVITY
from ragways_example.models import LETTERS, PARROT
from ragways_example.paradigm import LONGEST

from ragways.testing import (
    check_dataset,
    check_embedder,
    check_layer,
    check_loader,
    check_metric,
    check_model,
    check_paradigm,
)


def test_paradigm():
    check_paradigm(LONGEST)


def test_layer():
    check_layer(LENGTHS, answers=dict)


def test_loader(tmp_path: Path):
    file = tmp_path / "light.ini"
    file.write_text("[light]\nbuilt by = Anna Brack\nyear = 1801\n\n[rock]\nname = Pell Rock\n")
    (document,) = check_loader(INI, file)
    assert "built by: Anna Brack" in document.text
    assert [document.text[part.start : part.end] for part in document.headings] == ["light", "rock"]


def test_metric():
    check_metric(BREVITY)


def test_dataset(tmp_path: Path):
    file = tmp_path / "pairs.tsv"
    file.write_text("Who built it?\tAnna Brack\nWhen?\t1801\n")
    check_dataset(PAIRS, file)


def test_embedder():
    check_embedder(LETTERS)


def test_model():
    check_model(PARROT)
