"""A layout of question files: a line each, question and answer with a tab between them."""

from __future__ import annotations

from pathlib import Path

from ragways import Question
from ragways.evaluation.datasets import Dataset


def questions(file: Path) -> list[Question]:
    """The questions of such a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line.strip()]
    return [Question(f"pair-{number}", question, (answer,)) for number, (question, answer) in enumerate(pairs)]


PAIRS = Dataset("pairs", "question and answer, with a tab between them", "none", "none", questions)
