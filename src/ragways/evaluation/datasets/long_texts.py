"""Questions on long texts that come with them: QuALITY, SQuALITY and UltraDomain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragways.core.types import content_hash
from ragways.evaluation.datasets.reading import DatasetDocument, Row, answers, rows, words
from ragways.evaluation.question import Gold, Question


def quality_questions(file: Path) -> list[Question]:
    """QuALITY (v1.0.1, the files `htmlstripped`): long articles, questions with four options each.

    A line is what one writer asked about one article, so that an article stands on two lines: `{"article_id",
    "set_unique_id", "title", "article", …, "questions": [{"question", "question_unique_id", "options", "gold_label"
    (from 1), "writer_label", "difficult" (0 or 1)}]}`. The test part has no labels. The answer is the text of the gold
    option; the question is asked without its options, which is how it is asked of a corpus.
    """
    return [
        Question(
            words(asked.get("question_unique_id")) or f"{line['article_id']}-{number}",
            words(asked["question"]),
            answers(_quality_gold_option(asked)),
            _quality_type(asked),
            (Gold(title=words(line.get("title")), key=words(line["article_id"])),),
        )
        for line in rows(file)
        for number, asked in enumerate(line["questions"], start=1)
    ]


def quality_corpus(file: Path) -> Iterator[DatasetDocument]:
    """Every article once."""
    seen: set[str] = set()
    for line in rows(file):
        id = words(line["article_id"])
        if id not in seen:
            seen.add(id)
            facts = {name: words(line.get(name)) for name in ("author", "url", "source", "topic")}
            yield DatasetDocument(id, words(line.get("title")), words(line["article"]), facts)


def _quality_gold_option(asked: Row) -> str:
    if asked.get("gold_label") is None:
        return ""
    options, label = asked["options"], int(asked["gold_label"])
    if not 1 <= label <= len(options):
        raise ValueError(f"gold_label {label} of {len(options)} options")
    return words(options[label - 1])


def _quality_type(asked: Row) -> str:
    """`hard`: most readers in a hurry were wrong."""
    return "" if asked.get("difficult") is None else "hard" if int(asked["difficult"]) else "easy"


def squality_questions(file: Path) -> list[Question]:
    """SQuALITY (v1.3): short stories, five questions each, four summaries written by people as answers.

    A line is a story: `{"metadata": {"passage_id", …}, "document", "questions": [{"question_text", "question_number",
    "responses": [{"response_text"}]}]}`. Every story is asked for its plot in the same words, which says nothing once
    the stories are one corpus; so the story's title, which is the first line of its text, is added to each question.
    """
    return [
        Question(
            f"{line['metadata']['passage_id']}-{asked['question_number']}",
            f"{words(asked['question_text']).strip()} (in “{_squality_title(line)}”)",
            answers([words(response["response_text"]).strip() for response in asked.get("responses") or []]),
            "plot" if int(asked["question_number"]) == 1 else "detail",
            (Gold(title=_squality_title(line), key=words(line["metadata"]["passage_id"])),),
        )
        for line in rows(file)
        for asked in line["questions"]
    ]


def squality_corpus(file: Path) -> Iterator[DatasetDocument]:
    """Every story once."""
    seen: set[str] = set()
    for line in rows(file):
        id = words(line["metadata"]["passage_id"])
        if id not in seen:
            seen.add(id)
            yield DatasetDocument(id, _squality_title(line), words(line["document"]))


def _squality_title(line: Row) -> str:
    return next((text.strip() for text in words(line["document"]).split("\n") if text.strip()), "")


def ultradomain_questions(file: Path) -> list[Question]:
    """UltraDomain: college textbooks and other long texts by domain, a question and its whole context on each line.

    `{"input", "answers", "context", "length", "context_id", "_id", "label", "meta": {"title", …}}`, a file a domain
    (`agriculture.jsonl`, `cs.jsonl`, `legal.jsonl`, `mix.jsonl`). The data itself was not at hand: `input` and
    `context` are as the code of those who use it reads them, the other fields are taken where they are there. Contexts
    that are equal are one document, named by a hash of the text.
    """
    return [
        Question(
            words(row.get("_id") or row.get("id") or number),
            words(row["input"]),
            answers(row.get("answers", row.get("answer"))),
            words(row.get("label") or row.get("dataset")),
            (Gold(title=_ultradomain_title(row), key=_ultradomain_id(row)),),
        )
        for number, row in enumerate(rows(file))
    ]


def ultradomain_corpus(file: Path) -> Iterator[DatasetDocument]:
    """Every context once."""
    seen: set[str] = set()
    for row in rows(file):
        if (id := _ultradomain_id(row)) not in seen:
            seen.add(id)
            category = {"category": words(row.get("label"))}
            yield DatasetDocument(id, _ultradomain_title(row), words(row["context"]), category)


def _ultradomain_id(row: Row) -> str:
    return content_hash(words(row["context"]))[:16]


def _ultradomain_title(row: Row) -> str:
    meta = row.get("meta")
    return (words(meta.get("title")) if isinstance(meta, dict) else "") or _ultradomain_id(row)
