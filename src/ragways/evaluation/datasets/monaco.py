"""MoNaCo: natural questions whose answers are put together from dozens of Wikipedia pages.

The release is a line a question, `{"ex_num", "question", "decomposition": [step, …], "validated_answer": [value,
…]}`; an older form is one object with the questions as its keys. Beside it lies a folder `execution_traces` with a
file `dataset_ex_NUMBER.json` for each question, `{question: {"provenance": {step: [{"source_url": [address, …]}]}}}`:
the pages named there are the gold evidence. The data itself was not at hand; this is what the code of those who use
it reads.

An answer is often a list. All of it is the answer, not any part, so the values are joined into one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from ragways.core.errors import UsageError
from ragways.evaluation.datasets.reading import Row, answers, read_json, words
from ragways.evaluation.question import Gold, Question

TRACES = "execution_traces"
_PAGE = re.compile(r"/wiki/([^#?\s]+)")


def questions(file: Path) -> list[Question]:
    return [_question(file, row, number) for number, row in enumerate(_rows(file))]


def _rows(file: Path) -> list[Row]:
    found = read_json(file)
    if isinstance(found, dict):
        found = [{"question": text, **row} for text, row in found.items() if text != "canary"]
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise UsageError(f"{file} does not hold a list of questions", "check --format")
    return found


def _question(file: Path, row: Row, number: int) -> Question:
    id = words(row.get("ex_num", number))
    said = row.get("validated_answer", row.get("answer"))
    values = said if isinstance(said, list) else [said]
    joined = "; ".join(text for value in values if (text := _value(value)))
    return Question(id, words(row["question"]), answers(joined), _type(values), tuple(_gold(file, row, id)))


def _value(value: object) -> str:
    """A pair or a longer row of values is one value."""
    return ", ".join(map(_value, value)) if isinstance(value, list) else words(value)


def _type(values: list[object]) -> str:
    """The set names no types; these follow from the form of the answer."""
    if len(values) != 1:
        return "list" if values else ""
    value = values[0]
    if isinstance(value, bool):
        return "yes-no"
    return "number" if isinstance(value, int | float) else "" if value is None else "single"


def _gold(file: Path, row: Row, id: str) -> list[Gold]:
    provenance = row.get("provenance")
    if provenance is None and id.isdecimal():
        provenance = _traced(file.parent / TRACES / f"dataset_ex_{id}.json")
    return [Gold(title=title) for title in dict.fromkeys(_pages(provenance or {}))]


def _traced(file: Path) -> Row:
    if not file.is_file():
        return {}
    trace: Row = read_json(file)
    return next((body.get("provenance") or {} for name, body in trace.items() if name != "canary"), {})


def _pages(provenance: Row) -> Iterator[str]:
    """Titles from addresses; one text may hold several, run together."""
    for entries in provenance.values():
        for entry in entries if isinstance(entries, list) else []:
            for address in entry.get("source_url") or []:
                for part in re.split(r"(?=https?://)", words(address)):
                    if page := _PAGE.search(part):
                        yield unquote(page[1]).replace("_", " ").rstrip(",;:!. ")
