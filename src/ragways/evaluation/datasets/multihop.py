"""Questions over many documents, with the evidence they need: the layouts of MuSiQue, MultiHop-RAG and the like."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ragways.core.errors import UsageError
from ragways.evaluation.datasets.reading import DatasetDocument, Row, answers, read_json, rows, words
from ragways.evaluation.question import Gold, Question, plain_words

CORPUS = "Corpus.json"
_TYPES = {
    "single": "factual",
    "factual": "factual",
    "multi": "reasoning",
    "reasoning": "reasoning",
    "summar": "summary",
}
TRACES = "execution_traces"
_PAGE = re.compile(r"/wiki/([^#?\s]+)")
FEWEST_WORDS = 4
"""A shorter piece is the rest of an abbreviation (`U. S.`) and would be found anywhere."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def hipporag_questions(file: Path) -> list[Question]:
    """MuSiQue, HotpotQA and 2WikiMultihopQA as HippoRAG lays them out, and questions that name gold chunks by id.

    `{"id" or "_id", "question", "answer", "answer_aliases"}` with the gold evidence as `paragraphs` of which some have
    `is_supporting` (MuSiQue), as `supporting_facts: [[title, sentence], …]` (HotpotQA, 2Wiki) or as
    `gold_support_chunk_ids`.
    """
    return [_hipporag_question(row, number) for number, row in enumerate(rows(file))]


def _hipporag_question(row: Row, number: int) -> Question:
    accepted = answers(row.get("answer"), row.get("answer_aliases") or [])
    id = words(row.get("id") or row.get("_id") or number)
    kind = words(row.get("type") or row.get("hop_type")) or _hipporag_hops(id)
    return Question(id, words(row["question"]), accepted, kind, tuple(_hipporag_gold(row)))


def _hipporag_hops(id: str) -> str:
    """MuSiQue says in a question's id how many hops it takes: `3hop1__…`."""
    found = re.match(r"[2-9]hop(?=\d?__)", id)
    return found[0] if found else ""


def _hipporag_gold(row: Row) -> list[Gold]:
    if "gold_support_chunk_ids" in row:
        return [Gold(key=words(id)) for id in row["gold_support_chunk_ids"]]
    if any("is_supporting" in paragraph for paragraph in row.get("paragraphs", [])):
        return [
            Gold(
                title=words(paragraph["title"]),
                text=words(paragraph.get("paragraph_text", paragraph.get("text"))),
            )
            for paragraph in row["paragraphs"]
            if paragraph.get("is_supporting")
        ]
    titles = dict.fromkeys(words(title) for title, _ in row.get("supporting_facts", []))
    return [Gold(title=title) for title in titles]


def multihop_rag_questions(file: Path) -> list[Question]:
    """MultiHop-RAG: questions over news articles, with the articles that hold the evidence.

    `{"query", "answer", "question_type": "inference_query", "evidence_list": [{"title", "url", "fact", …}]}`. An
    article is one piece of gold evidence, found or not as a whole; the facts, what it says of the question, are its
    text.
    """
    return [
        Question(
            words(row.get("id", number)),
            words(row["query"]),
            answers(row.get("answer")),
            words(row.get("question_type")).removesuffix("_query"),
            tuple(_multihop_rag_gold(row.get("evidence_list") or [])),
        )
        for number, row in enumerate(rows(file))
    ]


def _multihop_rag_gold(evidence: list[Row]) -> Iterator[Gold]:
    facts: dict[str, list[str]] = {}
    for one in evidence:
        facts.setdefault(words(one["title"]), []).append(words(one.get("fact")).strip())
    for title, sentences in facts.items():
        yield Gold(title=title, text="\n".join(dict.fromkeys(filter(None, sentences))))


def graphrag_bench_questions(file: Path) -> list[Question]:
    """GraphRAG-Bench: one long text, and questions of four kinds.

    `{"id", "source", "question", "answer", "question_type", "evidence": [statement, …]}`; a single statement may stand
    without a list. The statements are in a model's words: of 5,923 about the medical text 29 stand in it as they are.
    They are looked for by their words, and some three in ten are then found nowhere, so recall on this set stays below
    .7 and serves to compare paradigms with each other alone.
    """
    return [
        Question(
            words(row.get("id", number)),
            words(row["question"]),
            answers(row.get("answer")),
            words(row.get("question_type")),
            tuple(Gold(statement=text) for text in answers(row.get("evidence"))),
        )
        for number, row in enumerate(rows(file))
    ]


def two_wiki_questions(file: Path) -> list[Question]:
    """Questions over 2Wiki passages with gold titles, as files of systems' results hold them.

    `{"question", "answer", "evidence": [title found, …], "ground_truth": [gold title, …]}`. What the system found is
    read by `ragways eval import`.

    `answer` is what the system said, not the right one: these files do not hold that.
    """
    return [
        Question(
            words(row.get("id", number)),
            words(row["question"]),
            gold=tuple(Gold(title=title) for title in dict.fromkeys(map(words, row["ground_truth"]))),
        )
        for number, row in enumerate(rows(file))
    ]


def ragrouter_questions(file: Path) -> list[Question]:
    """RAGRouter-Bench: factual, reasoning and summary questions over four corpora.

    A folder a corpus with `Question.json` and `Corpus.json`. Questions: `{"id", "question", "answer", "type",
    "supporting_facts": [{"doc_id", "text"}]}`, where the types are `single_hop`, `multi_hop` and `summary`; documents:
    `{"id", "title", "context"}`. Both may be lines of JSON although they are called `.json`. The data itself was not at
    hand; this is what the benchmark's own code writes and reads. Types are given the names of the paper.
    """
    found = rows(file)
    for row in found:
        if "question" not in row and "query" not in row:
            there = ", ".join(row) or "none"
            raise UsageError(
                f"a question of {file} has no field 'question' (its fields: {there})",
                f"name the fields of {file.name} id, question, answer, type and supporting_facts",
            )
    return [
        Question(
            words(row.get("id", number)),
            words(row.get("question") or row["query"]),
            answers(row.get("answer"), row.get("answers")),
            _ragrouter_type(words(row.get("type") or row.get("query_type") or row.get("question_type"))),
            tuple(dict.fromkeys(map(_ragrouter_gold, row.get("supporting_facts") or []))),
        )
        for number, row in enumerate(found)
    ]


def ragrouter_corpus(file: Path) -> Iterator[DatasetDocument]:
    """The documents in `Corpus.json`, which lies beside the questions."""
    beside = next((path for name in (CORPUS, f"{CORPUS}.gz") if (path := file.parent / name).is_file()), None)
    if beside is None:
        raise UsageError(f"there is no {CORPUS} beside {file}", "put it there, or name the corpus with --corpus")
    for row in rows(beside):
        missing = [name for name in ("id", "context") if name not in row]
        if missing:
            there = ", ".join(row) or "none"
            raise UsageError(
                f"a document of {beside} has no field {' and no '.join(map(repr, missing))} (its fields: {there})",
                f"name the fields of {beside.name} id, title and context",
            )
        yield DatasetDocument(words(row["id"]), words(row.get("title")), words(row["context"]))


def _ragrouter_type(name: str) -> str:
    low = name.casefold()
    return next((type for start, type in _TYPES.items() if low.startswith(start)), low)


def _ragrouter_gold(fact: object) -> Gold:
    """The sets it is built from name a title and a sentence instead of a document's number."""
    if isinstance(fact, dict):
        return Gold(title=words(fact.get("title")), text=words(fact.get("text")), key=words(fact.get("doc_id")))
    return Gold(title=words(fact[0] if isinstance(fact, list) else fact))


def monaco_questions(file: Path) -> list[Question]:
    """MoNaCo: natural questions whose answers are put together from dozens of Wikipedia pages.

    The release is a line a question, `{"ex_num", "question", "decomposition": [step, …], "validated_answer": [value,
    …]}`; an older form is one object with the questions as its keys. Beside it lies a folder `execution_traces` with a
    file `dataset_ex_NUMBER.json` for each question, `{question: {"provenance": {step: [{"source_url": [address,
    …]}]}}}`: the pages named there are the gold evidence. The data itself was not at hand; this is what the code of
    those who use it reads.

    An answer is often a list. All of it is the answer, not any part, so the values are joined into one text.
    """
    return [_monaco_question(file, row, number) for number, row in enumerate(_monaco_rows(file))]


def _monaco_rows(file: Path) -> list[Row]:
    found = read_json(file)
    if isinstance(found, dict):
        found = [{"question": text, **row} for text, row in found.items() if text != "canary"]
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise UsageError(f"{file} does not hold a list of questions", "check --format")
    return found


def _monaco_question(file: Path, row: Row, number: int) -> Question:
    id = words(row.get("ex_num", number))
    given = row.get("validated_answer", row.get("answer"))
    values = given if isinstance(given, list) else [given]
    joined = "; ".join(text for value in values if (text := _monaco_value(value)))
    return Question(
        id, words(row["question"]), answers(joined), _monaco_type(values), tuple(_monaco_gold(file, row, id))
    )


def _monaco_value(value: object) -> str:
    """A pair or a longer row of values is one value."""
    return ", ".join(map(_monaco_value, value)) if isinstance(value, list) else words(value)


def _monaco_type(values: list[object]) -> str:
    """The set names no types; these follow from the form of the answer."""
    if len(values) != 1:
        return "list" if values else ""
    value = values[0]
    if isinstance(value, bool):
        return "yes-no"
    return "number" if isinstance(value, int | float) else "" if value is None else "single"


def _monaco_gold(file: Path, row: Row, id: str) -> list[Gold]:
    provenance = row.get("provenance")
    if provenance is None and id.isdecimal():
        provenance = _monaco_traced(file.parent / TRACES / f"dataset_ex_{id}.json")
    return [Gold(title=title) for title in dict.fromkeys(_monaco_pages(provenance or {}))]


def _monaco_traced(file: Path) -> Row:
    if not file.is_file():
        return {}
    trace: Row = read_json(file)
    return next((body.get("provenance") or {} for name, body in trace.items() if name != "canary"), {})


def _monaco_pages(provenance: Row) -> Iterator[str]:
    """Titles from addresses; one text may hold several, run together."""
    for entries in provenance.values():
        for entry in entries if isinstance(entries, list) else []:
            for address in entry.get("source_url") or []:
                for part in re.split(r"(?=https?://)", words(address)):
                    if page := _PAGE.search(part):
                        yield unquote(page[1]).replace("_", " ").rstrip(",;:!. ")


def windows_questions(file: Path) -> list[Question]:
    """The questions of source W (semantic windows): a table that an evaluation platform wrote, a question a row.

    Columns `id`, `input`, `expectedOutput`, `context` (a JSON list of windows of a few sentences) and
    `additionalMetadata` (JSON: how the question was evolved). The windows do not follow the bounds of any chunk, so the
    gold evidence is their sentences. The articles are a file of records of their own.
    """
    return [
        Question(
            words(row.get("id")) or str(number),
            words(row["input"]),
            answers(row.get("expectedOutput")),
            _windows_type(row),
            tuple(Gold(quote=sentence) for sentence in dict.fromkeys(_windows_sentences(row))),
        )
        for number, row in enumerate(rows(file))
    ]


def _windows_sentences(row: Row) -> list[str]:
    windows = _windows_parsed(row.get("context")) or []
    pieces = [piece for window in windows for piece in _SENTENCE_END.split(words(window))]
    return [piece for piece in pieces if len(plain_words(piece).split()) >= FEWEST_WORDS]


def _windows_type(row: Row) -> str:
    evolutions = (_windows_parsed(row.get("additionalMetadata")) or {}).get("evolutions") or [""]
    return words(evolutions[0]).casefold()


def _windows_parsed(value: object) -> Any:  # noqa: ANN401 - a list or an object
    """A cell holds JSON as text; in a file of JSON it may stand as it is."""
    return json.loads(value) if isinstance(value, str) and value.strip() else value
