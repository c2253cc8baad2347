"""What another system answered, read from whatever file it left: JSON, JSON lines or CSV, also compressed.

A row is `{"id" or "question", "answer", "explanation", "evidence": [text, or {"title", "text"}], "usage", "seconds",
"abstained", "repeat", "error"}`; other usual names of these fields are known. A file may also be one object, from
questions (or their ids) to answers. Where the gold evidence stands in what the system says it found needs no index.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError
from ragways.core.types import title_name
from ragways.evaluation.datasets.reading import Row, read_json, words
from ragways.evaluation.question import Gold, plain_words

IDS = ("id", "_id", "qid", "question_id", "query_id", "ex_num")
QUESTIONS = ("question", "query", "question_text", "input")
ANSWERS = (
    "answer", "response", "prediction", "predicted_answer", "pred", "rag_answer", "generated_answer", "final_answer",
    "llm_response", "output", "result",
)  # fmt: skip
EXPLANATIONS = ("explanation", "reasoning", "rationale")
EVIDENCE = (
    "evidence", "contexts", "context", "retrieved", "retrieved_contexts", "retrieved_chunks", "retrieved_docs",
    "chunks", "passages", "documents", "source_sentences",
)  # fmt: skip
USAGES = ("usage", "token_usage", "tokens", "total_tokens")
SECONDS = ("seconds", "latency", "elapsed", "duration")
TOKENS = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "calls": ("calls", "requests"),
    "usd": ("usd", "cost"),
    "tokens": ("tokens", "total", "total_tokens"),
}
MAX_TITLE = 200
"""Characters of a title at most."""


@dataclass(frozen=True, slots=True)
class ImportedPassage:
    """A piece of evidence as it was given. A text that stands alone may be a title, and is compared as both."""

    text: str = ""
    title: str = ""
    id: str = ""
    score: float | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One answer. `answer` None: the file gives none; `evidence` None: it does not tell what was found."""

    id: str
    question: str
    answer: str | None
    evidence: tuple[ImportedPassage, ...] | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    abstained: bool | None = None
    repeat: int | None = None
    error: str = ""
    explanation: str = ""


def read_answers(file: Path) -> list[ImportedAnswer]:
    """All answers of a file, at least one, or an error that says what does not fit."""
    rows = _rows(read_json(file))
    if not rows:
        raise UsageError(f"{file} holds no answers", "give rows with id or question, and answer")
    given = []
    for number, row in enumerate(rows, start=1):
        try:
            given.append(_answer(row))
        except (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError) as error:
            raise UsageError(
                f"answer {number} of {file} cannot be read ({error})", "rows need id or question, and answer"
            ) from error
    return given


def _rows(found: object) -> list[Row]:
    if isinstance(found, dict):
        inner = next(
            (found[name] for name in ("results", "answers", "data") if isinstance(found.get(name), list)), None
        )
        found = inner if inner is not None else [_keyed(key, value) for key, value in found.items()]
    return found if isinstance(found, list) and all(isinstance(row, dict) for row in found) else []


def _keyed(key: str, value: object) -> Row:
    """`{question or id: answer}`: the key is compared as both."""
    row = value if isinstance(value, dict) else {"answer": value}
    return {"id": key, "question": key, **row}


def _answer(row: Row) -> ImportedAnswer:
    id, question = words(_first(row, IDS)), words(_first(row, QUESTIONS))
    if not (id or question):
        raise ValueError("neither id nor question")
    answer, abstained, evidence = _first(row, ANSWERS), row.get("abstained"), _first(row, EVIDENCE)
    return ImportedAnswer(
        id,
        question,
        None if answer is None else "; ".join(map(words, answer)) if isinstance(answer, list) else words(answer),
        None if evidence is None else tuple(_passages(evidence)),
        _usage(row),
        _seconds(row),
        None if abstained in (None, "") else _true(abstained),
        None if row.get("repeat") in (None, "") else int(row["repeat"]),
        words(row.get("error")),
        words(_first(row, EXPLANATIONS)),
    )


def _first(row: Row, names: Sequence[str]) -> Any:  # noqa: ANN401 - whatever stands there
    """The first of the fields that is there. Cells of a table that hold JSON are unpacked."""
    for name in names:
        value = row.get(name)
        if value is not None:
            return _unpacked(value) if names is EVIDENCE or names is USAGES else value
    return None


def _unpacked(value: object) -> object:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _passages(value: object) -> list[ImportedPassage]:
    items = value if isinstance(value, list) else [value]
    return [_passage(item) for item in items if item not in (None, "")]


def _passage(item: object) -> ImportedPassage:
    if not isinstance(item, dict):
        return ImportedPassage(words(item), alone=True)
    text = _first(item, ("text", "content", "passage", "chunk", "paragraph_text", "snippet", "page_content"))
    title = _first(item, ("title", "name", "doc_title", "section_path", "source"))
    id, score = _first(item, ("id", "doc_id", "document_id", "chunk_id")), item.get("score")
    return ImportedPassage(words(text), words(title), words(id), _number(score) if score is not None else None)


def _usage(row: Row) -> dict[str, float]:
    """What is known: a figure that the file does not give is left out, not 0."""
    found = _first(row, USAGES)
    if not isinstance(found, dict):  # beside the answer, `input` and `output` are texts
        found = {**{name: value for name, value in row.items() if name not in ("input", "output")}, "tokens": found}
    figures = {}
    for name, names in TOKENS.items():
        value = next((found[other] for other in names if found.get(other) not in (None, "")), None)
        if isinstance(value, int | float | str):
            figures[name] = _number(value)
    return figures


def _seconds(row: Row) -> float | None:
    for scale, names in ((1.0, SECONDS), (0.001, tuple(f"{name}_ms" for name in SECONDS))):
        value = _first(row, names)
        if value not in (None, ""):
            return _number(value) * scale
    return None


def _number(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a number")
    return number


def _true(value: object) -> bool:
    return value.strip().casefold() in ("true", "yes", "1") if isinstance(value, str) else bool(value)


# Where gold evidence stands in what was given


def are_titles(passages: Iterable[ImportedPassage]) -> bool:
    """Texts that stand alone are titles where all of them are short lines."""
    alone = [passage.text for passage in passages if passage.alone]
    return bool(alone) and all(len(text) <= MAX_TITLE and "\n" not in text for text in alone)


def titled(passage: ImportedPassage) -> ImportedPassage:
    return replace(passage, title=passage.text, text="") if passage.alone else passage


def ranks(wanted: Sequence[Gold], found: Sequence[ImportedPassage]) -> tuple[int | None, ...]:
    """For each piece of gold, the rank at which it was found: among documents, or among pieces for a quote."""
    order: dict[str, int] = {}
    for passage in found:
        order.setdefault(_document(passage), len(order) + 1)
    texts = [plain_words(passage.text) for passage in found]
    return tuple(_rank(gold, found, texts, order) for gold in wanted)


def _rank(gold: Gold, found: Sequence[ImportedPassage], texts: Sequence[str], order: dict[str, int]) -> int | None:
    if gold.quote:
        quote = plain_words(gold.quote)
        numbered = enumerate(zip(found, texts, strict=True), start=1)
        return next((number for number, (one, text) in numbered if quote in text and _may_be(gold, one)), None)
    whole = plain_words(gold.text)[:2000]
    at = (
        order[_document(passage)]
        for passage, text in zip(found, texts, strict=True)
        if _is(gold, passage) or (whole and (whole in text or (len(text) > MAX_TITLE and text in whole)))
    )
    return min(at, default=None)


def _document(passage: ImportedPassage) -> str:
    return title_name(passage.title or passage.text) or passage.id


def _may_be(gold: Gold, passage: ImportedPassage) -> bool:
    """A passage without a title may come from any document."""
    return not gold.title or not passage.title or title_name(gold.title) == title_name(passage.title)


def _is(gold: Gold, passage: ImportedPassage) -> bool:
    if gold.key and passage.id and gold.key in (passage.id, passage.id.rpartition("#")[2]):
        return True
    name = passage.title or (passage.text if passage.alone else "")
    return bool(gold.title) and title_name(gold.title) == title_name(name)
