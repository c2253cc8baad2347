"""Answers of other systems as records, so that they are scored in the same table.

They are read from whatever file the system left: JSON, JSON lines or CSV, also compressed. A row is `{"id" or
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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ragways.core import log as jsonl
from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.core.types import title_name
from ragways.evaluation.datasets.reading import Row, read_json, words
from ragways.evaluation.question import Gold, Question, plain_words
from ragways.evaluation.record import FILE, AnswerOrigin, AnswerUsage, EvidenceItem, Record, Records, locked
from ragways.tasks.refusal import refuses

NOWHERE = AnswerOrigin()
_NAME = re.compile(r"\w[\w.+-]{0,59}")
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
    """One answer. `answer` is None where the file gives none, `evidence` where it has none of any answer."""

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


# Records


@dataclass(frozen=True)
class ImportResult:
    """`unmatched`: answers that belong to no question; `unanswered`: questions without an answer; `retrieval_only`: the
    file has evidence and no answers, so that its records hold no gold answer to be scored by.
    """

    records: tuple[Record, ...]
    unmatched: tuple[ImportedAnswer, ...]
    unanswered: tuple[Question, ...]
    retrieval_only: bool
    evidence: Literal["none", "titles", "texts"]

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
    given: Sequence[ImportedAnswer], questions: Sequence[Question], name: str, *, made: AnswerOrigin = NOWHERE
) -> ImportResult:
    """A record for every answer that belongs to a question, in the questions' order."""
    answered, unmatched = _matched(given, questions)
    retrieval_only = not any(one.answer or one.abstained or one.error for one in given)
    titles = are_titles(passage for one in given for passage in one.evidence or ())
    records = [
        _record(question, one, name, repeat, titles, retrieval_only, made)
        for question in questions
        for repeat, one in _numbered(answered.get(question.id, []))
    ]
    has_evidence = any(one.evidence is not None for one in given)
    unanswered = tuple(question for question in questions if question.id not in answered)
    evidence: Literal["none", "titles", "texts"] = "none" if not has_evidence else "titles" if titles else "texts"
    return ImportResult(tuple(records), tuple(unmatched), unanswered, retrieval_only, evidence)


def _matched(
    given: Sequence[ImportedAnswer], questions: Sequence[Question]
) -> tuple[dict[str, list[ImportedAnswer]], list[ImportedAnswer]]:
    by_id = {question.id: question for question in questions}
    by_text: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_text[plain_words(question.text)].append(question)
    answered: dict[str, list[ImportedAnswer]] = defaultdict(list)
    unmatched = []
    for one in given:
        found = _question_of(one, by_id, by_text)
        if found is None:
            unmatched.append(one)
        else:
            answered[found.id].append(one)
    return answered, unmatched


def _question_of(
    one: ImportedAnswer, by_id: dict[str, Question], by_text: dict[str, list[Question]]
) -> Question | None:
    """By id, if the words do not speak against it: an id may be no more than a row's number in another file. Else by
    words, if only one question has them.
    """
    named, said = by_id.get(one.id), plain_words(one.question)
    if named is not None and (not said or one.question == one.id or _akin(said, plain_words(named.text))):
        return named
    same = by_text.get(said, []) if said else []
    return same[0] if len(same) == 1 else None


def _akin(one: str, other: str) -> bool:
    """The same words, or one with something added."""
    return one in other or other in one


def _numbered(some: Sequence[ImportedAnswer]) -> Iterable[tuple[int, ImportedAnswer]]:
    """Repeats as the file numbers them, the others in its order."""
    taken = {one.repeat for one in some if one.repeat is not None}
    free = (number for number in range(len(some) + len(taken)) if number not in taken)
    seen: set[int] = set()
    for one in some:
        number = one.repeat if one.repeat is not None and one.repeat not in seen else next(free)
        seen.add(number)
        yield number, one


def _record(
    question: Question,
    one: ImportedAnswer,
    name: str,
    repeat: int,
    titles: bool,
    retrieval_only: bool,
    made: AnswerOrigin,
) -> Record:
    passages = [titled(passage) if titles else passage for passage in one.evidence or ()]
    missing = one.answer is None and not one.abstained and not retrieval_only
    error = one.error or ("the file gives no answer" if missing else "")
    abstained = one.abstained if one.abstained is not None else not retrieval_only and refuses(one.answer or "")
    return Record(
        question.id,
        question.text,
        question.type,
        () if retrieval_only else question.answers,
        name,
        repeat,
        answer=one.answer or "",
        explanation=one.explanation,
        abstained=abstained and not error,
        way="imported",
        wanted=question.gold,
        ranks=() if one.evidence is None else ranks(question.gold, one.evidence),
        evidence=tuple(EvidenceItem(one.id, "", one.title, one.text, score=one.score) for one in passages),
        usage=AnswerUsage(**one.usage),
        seconds=one.seconds or 0.0,
        error=error,
        made=replace(made, imported=name),
    )


# The run


def check_name(name: str) -> None:
    """A name that stands in tables and cannot be taken for one of our own."""
    from ragways.retrieval.ask import PARADIGMS

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
        return _add(folder, records, name, replace=replace)


def _add(folder: Path, records: Sequence[Record], name: str, *, replace: bool) -> int:
    here = list(Records(folder)) if (folder / FILE).is_file() else []
    new = {record.key: record for record in records}
    _same_questions(folder, here, records)
    there = {record.key: record for record in here if record.paradigm == name and not replace}
    if any(_content(record) != _content(new.get(key)) for key, record in there.items()):
        cure = "choose another --name, or give --replace"
        raise UsageError(f"{folder} holds {len(there)} other answers of {name}", cure)
    if replace and (folder / FILE).is_file():
        jsonl.replace(folder / FILE, [row for row in jsonl.read(folder / FILE) if row.get("paradigm") != name])
    run, writing = Records(folder), [record for key, record in new.items() if key not in there]
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


def _content(record: Record | None) -> object:
    """What makes two imports the same, as it is once written to JSON and read back."""
    if record is None:
        return None
    return to_plain(replace(record, made=NOWHERE))
