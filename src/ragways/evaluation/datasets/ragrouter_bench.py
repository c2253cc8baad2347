"""RAGRouter-Bench: factual, reasoning and summary questions over four corpora.

A folder a corpus with `Question.json` and `Corpus.json`. Questions: `{"id", "question", "answer", "type",
"supporting_facts": [{"doc_id", "text"}]}`, where the types are `single_hop`, `multi_hop` and `summary`; documents:
`{"id", "title", "context"}`. Both may be lines of JSON although they are called `.json`. The data itself was not at
hand; this is what the benchmark's own code writes and reads. Types are given the names of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragways.core.errors import UsageError
from ragways.evaluation.datasets.reading import Row, answers, rows, words
from ragways.evaluation.question import Gold, Question

CORPUS = "Corpus.json"
_TYPES = {
    "single": "factual",
    "factual": "factual",
    "multi": "reasoning",
    "reasoning": "reasoning",
    "summar": "summary",
}


def questions(file: Path) -> list[Question]:
    return [
        Question(
            words(row.get("id", number)),
            words(row.get("question") or row["query"]),
            answers(row.get("answer"), row.get("answers")),
            _type(words(row.get("type") or row.get("query_type") or row.get("question_type"))),
            tuple(dict.fromkeys(map(_gold, row.get("supporting_facts") or []))),
        )
        for number, row in enumerate(rows(file))
    ]


def corpus(file: Path) -> Iterator[Row]:
    """The documents in `Corpus.json`, which lies beside the questions."""
    beside = next((path for name in (CORPUS, f"{CORPUS}.gz") if (path := file.parent / name).is_file()), None)
    if beside is None:
        raise UsageError(f"there is no {CORPUS} beside {file}", "put it there, or name the corpus with --corpus")
    for row in rows(beside):
        yield {"id": words(row["id"]), "title": words(row.get("title")), "text": words(row["context"])}


def _type(name: str) -> str:
    low = name.casefold()
    return next((type for start, type in _TYPES.items() if low.startswith(start)), low)


def _gold(fact: object) -> Gold:
    """The sets it is built from name a title and a sentence instead of a document's number."""
    if isinstance(fact, dict):
        return Gold(title=words(fact.get("title")), text=words(fact.get("text")), key=words(fact.get("doc_id")))
    return Gold(title=words(fact[0] if isinstance(fact, list) else fact))
