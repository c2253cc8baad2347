"""Answers of other systems as records, so that they are scored in the same table.

They are read from the file that the system wrote: JSON, JSON lines or CSV, also compressed. A row is `{"id" or
"question", "answer", "explanation", "evidence": [text, or {"title", "text"}], "usage", "seconds", "abstained",
"repeat", "error"}`; other usual names of these fields are known. A file may also be one object, from questions (or
their ids) to answers.

An answer belongs to the question whose id it names, or whose words it repeats; answers that belong to none are counted
and named, and so is every question without an answer. Several answers to a question are its repeats. The ranks of gold
evidence follow from the titles, ids and texts of the evidence: no index is needed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragways.core import log as jsonl
from ragways.core.errors import UsageError
from ragways.core.types import title_name
from ragways.evaluation.datasets.reading import Row, read_json, words
from ragways.evaluation.question import Gold, Question, plain_words
from ragways.evaluation.record import FILE, AnswerOrigin, AnswerUsage, EvidenceItem, Record, Records, locked
from ragways.retrieval.ask import PARADIGMS
from ragways.tasks.refusal import refuses

_NAME = re.compile(r"\w[\w.+-]{0,59}")
_NAMES = {
    "id": ("id", "_id", "qid", "question_id", "query_id", "ex_num"),
    "question": ("question", "query", "question_text", "input"),
    "answer": ("answer", "response", "prediction", "predicted_answer", "pred", "rag_answer", "generated_answer",
               "final_answer", "llm_response", "output", "result"),
    "explanation": ("explanation", "reasoning", "rationale"),
    "evidence": ("evidence", "contexts", "context", "retrieved", "retrieved_contexts", "retrieved_chunks",
                 "retrieved_docs", "chunks", "passages", "documents", "source_sentences"),
    "usage": ("usage", "token_usage", "tokens", "total_tokens"),
    "seconds": ("seconds", "latency", "elapsed", "duration"),
    "milliseconds": ("seconds_ms", "latency_ms", "elapsed_ms", "duration_ms"),
}  # fmt: skip
"""The names that other systems give the fields of a row; the first that is there is taken."""
_PASSAGE = {
    "text": ("text", "content", "passage", "chunk", "paragraph_text", "snippet", "page_content"),
    "title": ("title", "name", "doc_title", "section_path", "source"),
    "id": ("id", "doc_id", "document_id", "chunk_id"),
}
_USAGE = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "calls": ("calls", "requests"),
    "usd": ("usd", "cost"),
    "tokens": ("tokens", "total", "total_tokens"),
}
MAX_TITLE = 200
"""Characters of a title at most."""


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One answer. `answer` is None where the file gives none, `evidence` where the row has none."""

    id: str
    question: str
    answer: str | None
    evidence: tuple[EvidenceItem, ...] | None = None
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
        lists = [found[name] for name in ("results", "answers", "data") if isinstance(found.get(name), list)]
        # `{question or id: answer}`: the key is compared as both.
        pairs = ((key, one if isinstance(one, dict) else {"answer": one}) for key, one in found.items())
        found = lists[0] if lists else [{"id": key, "question": key, **row} for key, row in pairs]
    return found if isinstance(found, list) and all(isinstance(row, dict) for row in found) else []


def _answer(row: Row) -> ImportedAnswer:
    found = {field: _first(row, names) for field, names in _NAMES.items()}
    id, question, answer = words(found["id"]), words(found["question"]), found["answer"]
    if not (id or question):
        raise ValueError("neither id nor question")
    evidence, seconds, later = _unpacked(found["evidence"]), found["seconds"], found["milliseconds"]
    abstained, repeat = row.get("abstained"), row.get("repeat")
    if isinstance(abstained, str):
        abstained = abstained.strip().casefold() in ("true", "yes", "1") if abstained else None
    return ImportedAnswer(
        id,
        question,
        None if answer is None else "; ".join(map(words, answer)) if isinstance(answer, list) else words(answer),
        None if evidence is None else tuple(_passages(evidence)),
        _usage(row, _unpacked(found["usage"])),
        _number(seconds) if seconds not in (None, "") else _number(later) / 1000 if later not in (None, "") else None,
        None if abstained is None else bool(abstained),
        None if repeat in (None, "") else int(repeat),
        words(row.get("error")),
        words(found["explanation"]),
    )


def _first(row: Row, names: Sequence[str]) -> Any:  # noqa: ANN401 - whatever stands there
    return next((row[name] for name in names if row.get(name) is not None), None)


def _unpacked(value: object) -> object:
    """A cell of a table may hold JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _passages(value: object) -> Iterator[EvidenceItem]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            score = item.get("score")
            text, title, id = (words(_first(item, names)) for names in _PASSAGE.values())
            yield EvidenceItem(id, title=title, text=text, score=None if score is None else _number(score))
        elif item not in (None, ""):
            yield EvidenceItem(text=words(item))


def _usage(row: Row, found: object) -> dict[str, float]:
    """What is known: a figure that the file does not give is left out, not 0."""
    if not isinstance(found, dict):  # beside the answer, `input` and `output` are texts
        found = {**{name: value for name, value in row.items() if name not in ("input", "output")}, "tokens": found}
    figures = {}
    for name, names in _USAGE.items():
        value = next((found[other] for other in names if found.get(other) not in (None, "")), None)
        if isinstance(value, int | float | str):
            figures[name] = _number(value)
    return figures


def _number(value: Any) -> float:  # noqa: ANN401 - whatever stands there
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a number")
    return number


# The ranks of gold evidence


def ranks(wanted: Sequence[Gold], found: Sequence[EvidenceItem]) -> tuple[int | None, ...]:
    """For each piece of gold, its rank: among documents, or among pieces for a quote."""
    order: dict[str, int] = {}
    for item in found:
        order.setdefault(_document(item), len(order) + 1)
    texts = [plain_words(item.text) for item in found]
    return tuple(_rank(gold, found, texts, order) for gold in wanted)


def _rank(gold: Gold, found: Sequence[EvidenceItem], texts: Sequence[str], order: dict[str, int]) -> int | None:
    pairs, title = list(zip(found, texts, strict=True)), title_name(gold.title)
    if gold.quote:
        quote = plain_words(gold.quote)
        places = (
            number
            for number, (item, text) in enumerate(pairs, start=1)
            # An item without a title may come from any document.
            if quote in text and (not title or not item.title or title_name(item.title) == title)
        )
        return next(places, None)
    whole = plain_words(gold.text)[:2000]
    at = (
        order[_document(item)]
        for item, text in pairs
        if (gold.key and item.id and gold.key in (item.id, item.id.rpartition("#")[2]))
        or (title and title_name(item.title or item.text) == title)
        or (whole and (whole in text or (len(text) > MAX_TITLE and text in whole)))
    )
    return min(at, default=None)


def _document(item: EvidenceItem) -> str:
    return title_name(item.title or item.text) or item.id


# Records


@dataclass(frozen=True)
class ImportResult:
    """`unmatched`: answers that belong to no question; `unanswered`: questions without an answer; `retrieval_only`: the
    file has evidence and no answers, so that its records hold no gold answer to be scored by; `evidence`: none, titles
    or texts.
    """

    records: tuple[Record, ...]
    unmatched: tuple[ImportedAnswer, ...]
    unanswered: tuple[Question, ...]
    retrieval_only: bool
    evidence: str

    def counts(self) -> dict[str, Any]:
        """What became of every answer and every question, as plain data; those left over are named."""
        repeats = Counter(record.question for record in self.records)
        return {
            "answers": len(self.records) + len(self.unmatched),
            "matched": len(self.records),
            "questions": len(repeats),
            "repeats": max(repeats.values(), default=0),
            "failed": sum(bool(record.error) for record in self.records),
            "abstained": sum(record.abstained for record in self.records),
            "evidence": self.evidence,
            "retrieval_only": self.retrieval_only,
            "unmatched": [one.question or one.id for one in self.unmatched],
            "unanswered": [question.id for question in self.unanswered],
        }


def to_records(
    given: Sequence[ImportedAnswer],
    questions: Sequence[Question],
    name: str,
    *,
    made: AnswerOrigin = AnswerOrigin(),  # noqa: B008 - frozen
) -> ImportResult:
    """A record for every answer that belongs to a question, in the questions' order."""
    by_id = {question.id: question for question in questions}
    by_text: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_text[plain_words(question.text)].append(question)
    answered: dict[str, list[ImportedAnswer]] = defaultdict(list)
    unmatched: list[ImportedAnswer] = []
    for one in given:
        match = _question_of(one, by_id, by_text)
        (unmatched if match is None else answered[match.id]).append(one)
    retrieval_only = not any(one.answer or one.abstained or one.error for one in given)
    evidence = "none" if all(one.evidence is None for one in given) else "texts"
    alone = [item.text for one in given for item in one.evidence or () if not (item.title or item.id)]
    if alone and all(len(text) <= MAX_TITLE and "\n" not in text for text in alone):
        evidence = "titles"  # texts that stand alone, all of them short lines
    records = [
        _record(question, one, replace(made, imported=name), repeat, evidence == "titles", retrieval_only)
        for question in questions
        for repeat, one in _numbered(answered[question.id])
    ]
    unanswered = tuple(question for question in questions if not answered[question.id])
    return ImportResult(tuple(records), tuple(unmatched), unanswered, retrieval_only, evidence)


def _question_of(
    one: ImportedAnswer, by_id: Mapping[str, Question], by_text: Mapping[str, list[Question]]
) -> Question | None:
    """By id, unless the words are those of another question: an id may be a row's number in another file. Else by
    words, if only one question has them.
    """
    named, text = by_id.get(one.id), plain_words(one.question)
    if named is not None:
        own = plain_words(named.text)
        # The same words, or one with something added.
        if not text or one.question == one.id or text in own or own in text:
            return named
    same = by_text.get(text, []) if text else []
    return same[0] if len(same) == 1 else None


def _numbered(some: Sequence[ImportedAnswer]) -> Iterator[tuple[int, ImportedAnswer]]:
    """Repeats as the file numbers them, the others in its order."""
    taken = {one.repeat for one in some if one.repeat is not None}
    free = (number for number in range(len(some) + len(taken)) if number not in taken)
    seen: set[int] = set()
    for one in some:
        number = one.repeat if one.repeat is not None and one.repeat not in seen else next(free)
        seen.add(number)
        yield number, one


def _record(
    question: Question, one: ImportedAnswer, made: AnswerOrigin, repeat: int, titles: bool, retrieval_only: bool
) -> Record:
    missing = one.answer is None and not one.abstained and not retrieval_only
    error = one.error or ("the file gives no answer" if missing else "")
    abstained = one.abstained if one.abstained is not None else not retrieval_only and refuses(one.answer or "")
    return Record(
        question.id,
        question.text,
        question.type,
        () if retrieval_only else question.answers,
        made.imported,
        repeat,
        answer=one.answer or "",
        explanation=one.explanation,
        abstained=abstained and not error,
        way="imported",
        wanted=question.gold,
        ranks=() if one.evidence is None else ranks(question.gold, one.evidence),
        evidence=tuple(
            replace(item, title=item.text, text="") if titles and not (item.title or item.id) else item
            for item in one.evidence or ()
        ),
        usage=AnswerUsage(**one.usage),
        seconds=one.seconds or 0.0,
        error=error,
        made=made,
    )


# The run


def check_name(name: str) -> None:
    """A name that stands in tables and cannot be taken for one of our own."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name", "letters, digits and .+-_ please, at most 60")
    if name in PARADIGMS:
        raise UsageError(f"{name} is a paradigm of ragways itself", f"name it otherwise, e.g. other-{name}")


def add(folder: Path, records: Sequence[Record], name: str, *, replace: bool = False) -> int:
    """Append to a run what it does not hold yet; returns how many. The same answers again change nothing, so an
    import that was cut off goes on; other answers under a name that is taken are an error, unless they are to replace
    it.
    """
    with locked(folder):
        run, new = Records(folder), {record.key: record for record in records}
        here = run.here()
        _same_questions(folder, here, records)
        there = {record.key: record for record in here if record.paradigm == name and not replace}
        if any(key not in new or not _same(record, new[key]) for key, record in there.items()):
            cure = "choose another --name, or give --replace"
            raise UsageError(f"{folder} holds {len(there)} other answers of {name}", cure)
        if replace and here:
            jsonl.replace(folder / FILE, [row for row in jsonl.read(folder / FILE) if row.get("paradigm") != name])
        writing = [record for key, record in new.items() if key not in there]
        for record in writing:
            run.append(record)
        return len(writing)


def _same_questions(folder: Path, here: Iterable[Record], records: Iterable[Record]) -> None:
    """An id must mean the same question as in the run's other records: else unlike things are compared."""
    texts = {record.question: record.text for record in here}
    for record in records:
        if texts.get(record.question, record.text) != record.text:
            raise UsageError(
                f"question {record.question[:80]!r} of {folder} reads otherwise",
                "give the --questions and --format that the run was made with",
            )


def _same(one: Record, other: Record) -> bool:
    """Whether two imports gave the same, whatever the files were called. Features come from the run."""
    return replace(one, made=other.made, features=other.features) == other
