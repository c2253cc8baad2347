"""Answers of other systems as records, so that they are scored in the same table.

An answer belongs to the question whose id it names, or whose words it repeats; what belongs to none is counted and
named, and so is every question without an answer. Where a file gives several answers to a question they are its
repeats. The ranks of gold evidence follow from the titles, ids and texts that the system says it found: no index is
needed.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ragways.core import log as jsonl
from ragways.core.errors import UsageError
from ragways.core.plain import to_plain
from ragways.evaluation.imported_answers import ImportedAnswer, are_titles, ranks, titled
from ragways.evaluation.question import Question, plain_words
from ragways.evaluation.record import FILE, AnswerOrigin, AnswerUsage, EvidenceItem, Record, Records, locked
from ragways.tasks.refusal import refuses

NOWHERE = AnswerOrigin()
_NAME = re.compile(r"\w[\w.+-]{0,59}")


@dataclass(frozen=True)
class ImportResult:
    """`unmatched`: answers that belong to no question; `unanswered`: questions without an answer; `retrieval_only`: the
    file tells what was found and answers nothing, so that its records hold no gold answer to be scored by.
    """

    records: tuple[Record, ...]
    unmatched: tuple[ImportedAnswer, ...]
    unanswered: tuple[Question, ...]
    retrieval_only: bool
    evidence: Literal["none", "titles", "texts"]


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
    _mend(folder / FILE, without=name if replace else None)
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


def _mend(file: Path, *, without: str | None) -> None:
    """Leave out a line that a kill cut short, so that the next does not join it, and the records of `without`."""
    if file.is_file() and (without is not None or not _ends_whole(file)):
        jsonl.replace(file, [row for row in jsonl.read(file) if without is None or row.get("paradigm") != without])


def _ends_whole(file: Path) -> bool:
    with file.open("rb") as stream:
        if not stream.seek(0, os.SEEK_END):
            return True
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


@dataclass(frozen=True)
class ImportCounts:
    """What became of every answer and every question; `unmatched` and `unanswered` name those left over."""

    answers: int
    matched: int
    questions: int
    repeats: int
    failed: int
    abstained: int
    evidence: Literal["none", "titles", "texts"]
    retrieval_only: bool
    unmatched: tuple[str, ...]
    unanswered: tuple[str, ...]


def counted(imported: ImportResult, given: Sequence[ImportedAnswer]) -> ImportCounts:
    """What became of every answer and every question."""
    repeats = Counter(record.question for record in imported.records)
    return ImportCounts(
        answers=len(given),
        matched=len(imported.records),
        questions=len(repeats),
        repeats=max(repeats.values(), default=0),
        failed=sum(bool(record.error) for record in imported.records),
        abstained=sum(record.abstained for record in imported.records),
        evidence=imported.evidence,
        retrieval_only=imported.retrieval_only,
        unmatched=tuple(one.question or one.id for one in imported.unmatched),
        unanswered=tuple(question.id for question in imported.unanswered),
    )
