"""The questions of source W (semantic windows): a table that an evaluation platform wrote, a question a row.

Columns `id`, `input`, `expectedOutput`, `context` (a JSON list of windows of a few sentences) and `additionalMetadata`
(JSON: how the question was evolved). The windows do not follow the bounds of any chunk, so the gold evidence is their
sentences. The articles are a file of records of their own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question, plain_words

FEWEST_WORDS = 4
"""A shorter piece is the rest of an abbreviation (`U. S.`) and would be found anywhere."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(row.get("id")) or str(number),
            words(row["input"]),
            answers(row.get("expectedOutput")),
            _type(row),
            tuple(Gold(quote=sentence) for sentence in dict.fromkeys(_sentences(row))),
        )
        for number, row in enumerate(rows(file))
    ]


def _sentences(row: Row) -> list[str]:
    windows = _parsed(row.get("context")) or []
    pieces = [piece for window in windows for piece in _SENTENCE_END.split(words(window))]
    return [piece for piece in pieces if len(plain_words(piece).split()) >= FEWEST_WORDS]


def _type(row: Row) -> str:
    evolutions = (_parsed(row.get("additionalMetadata")) or {}).get("evolutions") or [""]
    return words(evolutions[0]).casefold()


def _parsed(value: object) -> Any:  # noqa: ANN401 - a list or an object
    """A cell holds JSON as text; in a file of JSON it may stand as it is."""
    return json.loads(value) if isinstance(value, str) and value.strip() else value
