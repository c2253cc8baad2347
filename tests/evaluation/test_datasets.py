"""Each layout is read as it lies; a corpus inside it can be indexed; a wrong file is an error that helps."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.core.types import content_hash
from ragways.corpus.load import load
from ragways.corpus.source import SourceFile
from ragways.evaluation.datasets import DATASETS, find_data, load_questions, write_corpus
from ragways.evaluation.datasets.reading import answers, read_json
from ragways.evaluation.question import Gold

SQUALITY: dict[str, object] = {
    "metadata": {"passage_id": "63833", "uid": "u", "license": "…"},
    "document": "\n The Lamp\n\nBy A. BRACK\n\nIt went out.",
    "questions": [
        {"question_text": "What is the plot of the story?", "question_number": 1,
         "responses": [{"worker_id": "4", "response_text": "A lamp goes out."}, {"response_text": " It is dark.\n"}]},
        {"question_text": "Who is Brack?", "question_number": 2, "responses": []},
    ],
}  # fmt: skip
QUALITY: dict[str, object] = {
    "article_id": "52845", "set_unique_id": "52845_A", "title": "The Lamp", "author": "Brack",
    "article": "It went out.",
    "questions": [
        {"question": "Why?", "question_unique_id": "52845_A_1", "options": ["wind", "rain", "oil", "sleep"],
         "gold_label": 3, "writer_label": 3, "difficult": 1},
        {"question": "When?", "question_unique_id": "52845_A_2", "options": ["a", "b", "c", "d"]},
    ],
}  # fmt: skip

ROWS: dict[str, list[dict[str, object]]] = {
    "hipporag": [
        {"id": "2hop__1_2", "question": "Who?", "answer": "Brack", "answer_aliases": ["A. Brack"], "paragraphs": [
            {"title": "A", "paragraph_text": "yes", "is_supporting": True},
            {"title": "B", "paragraph_text": "no", "is_supporting": False}]},
        {"_id": "h1", "question": "Where?", "answer": "Here", "type": "bridge",
         "supporting_facts": [["A", 0], ["A", 2], ["C", 1]]},
        {"id": "d1", "question": "When?", "answer": "1801", "hop_type": "bridge", "gold_support_chunk_ids": ["c1"]},
    ],
    "multihop-rag": [{"query": "Which?", "answer": "yes", "question_type": "comparison_query",
                      "evidence_list": [{"title": "A", "fact": "x"}, {"title": "B"}, {"title": "A", "fact": "y"}]}],
    "graphrag-bench": [{"id": "g1", "question": "What?", "answer": "This", "question_type": "Fact Retrieval",
                        "evidence": ["A statement."]}],
    "2wiki-results": [{"question": "When?", "answer": "said", "evidence": ["A"], "ground_truth": ["A", "B"]}],
    "quality": [QUALITY, {**QUALITY, "set_unique_id": "52845_B", "questions": []}],
    "squality": [SQUALITY],
    "monaco": [
        {"ex_num": 7, "question": "Which?", "decomposition": ["…"], "validated_answer": ["Oslo", ["Rome", 3]],
         "provenance": {"1": [{"source_url": ["https://en.wikipedia.org/wiki/Old_Harbour#Top"], "answers": ["x"]}]}},
        {"ex_num": 8, "question": "Is it?", "validated_answer": [True]},
        {"ex_num": 9, "question": "How many?", "validated_answer": [12.5]},
    ],
    "ultradomain": [
        {"input": "Why bees?", "answers": ["Honey"], "context": "Bees make honey.", "length": 3, "_id": "u1",
         "label": "agriculture", "meta": {"title": "Bees"}},
        {"input": "How?", "answers": [], "context": "Bees make honey.", "_id": "u2", "label": "agriculture"},
    ],
    "ragrouter-bench": [
        {"id": "multi_hop_0001", "question": "Who?", "answer": "Brack", "type": "multi_hop",
         "supporting_facts": [{"doc_id": 4, "text": "Brack built it."}]},
        {"id": 3, "question": "Sum up.", "answer": "All", "type": "summary", "supporting_facts": [["A", 0]]},
    ],
    "windows": [{"id": "w1", "input": "How?", "expectedOutput": "So.",
                 "context": '["The U. S. built it in 1801. It stood for years. Yes."]',
                 "additionalMetadata": '{"evolutions": ["Comparative"]}'}],
    "plain": [{"id": "q1", "question": "Who?", "answers": ["Brack"], "type": "factual",
               "evidence": [{"title": "A", "quote": "built by Brack"}]}],
}  # fmt: skip

BEES = content_hash("Bees make honey.")[:16]

READ: dict[str, list[tuple[str, tuple[str, ...], str, tuple[Gold, ...]]]] = {
    "hipporag": [
        ("2hop__1_2", ("Brack", "A. Brack"), "2hop", (Gold(title="A", text="yes"),)),
        ("h1", ("Here",), "bridge", (Gold(title="A"), Gold(title="C"))),
        ("d1", ("1801",), "bridge", (Gold(key="c1"),)),
    ],
    "multihop-rag": [("0", ("yes",), "comparison", (Gold(title="A", text="x\ny"), Gold(title="B")))],
    "graphrag-bench": [("g1", ("This",), "Fact Retrieval", (Gold(statement="A statement."),))],
    "2wiki-results": [("0", (), "", (Gold(title="A"), Gold(title="B")))],
    "quality": [
        ("52845_A_1", ("oil",), "hard", (Gold(title="The Lamp", key="52845"),)),
        ("52845_A_2", (), "", (Gold(title="The Lamp", key="52845"),)),
    ],
    "squality": [
        ("63833-1", ("A lamp goes out.", "It is dark."), "plot", (Gold(title="The Lamp", key="63833"),)),
        ("63833-2", (), "detail", (Gold(title="The Lamp", key="63833"),)),
    ],
    "monaco": [
        ("7", ("Oslo; Rome, 3",), "list", (Gold(title="Old Harbour"),)),
        ("8", ("yes",), "yes-no", ()),
        ("9", ("12.5",), "number", ()),
    ],
    "ultradomain": [
        ("u1", ("Honey",), "agriculture", (Gold(title="Bees", key=BEES),)),
        ("u2", (), "agriculture", (Gold(title=BEES, key=BEES),)),
    ],
    "ragrouter-bench": [
        ("multi_hop_0001", ("Brack",), "reasoning", (Gold(text="Brack built it.", key="4"),)),
        ("3", ("All",), "summary", (Gold(title="A"),)),
    ],
    "windows": [
        ("w1", ("So.",), "comparative", (Gold(quote="built it in 1801."), Gold(quote="It stood for years."))),
    ],
    "plain": [("q1", ("Brack",), "factual", (Gold(title="A", quote="built by Brack"),))],
}  # fmt: skip


def as_text(rows: list[dict[str, object]], suffix: str) -> str:
    if ".csv" in suffix:
        table = io.StringIO(newline="")
        writer = csv.DictWriter(table, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
        return table.getvalue()
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
    return lines if ".jsonl" in suffix else json.dumps(rows)


def put(file: Path, rows: list[dict[str, object]]) -> Path:
    data = as_text(rows, "".join(file.suffixes)).encode()
    packed: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress}
    file.write_bytes(packed[file.suffix](data) if file.suffix in packed else data)
    return file


def test_every_layout_has_a_sample_here():
    assert set(ROWS) == set(READ) == set(DATASETS)


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".jsonl", ".jsonl.bz2"])
@pytest.mark.parametrize("name", list(DATASETS))
def test_every_layout_is_read(tmp_path: Path, name: str, suffix: str):
    questions = load_questions(name, put(tmp_path / f"questions{suffix}", ROWS[name]))
    assert [(one.id, one.answers, one.type, one.gold) for one in questions] == READ[name]
    assert all(question.text for question in questions)


@pytest.mark.parametrize("table", ["id,question\nq1,Who?\n", 'id,question\nq1,"Who?\n'])
def test_a_table_of_questions_leaves_the_longest_cell_of_other_tables_as_it_was(tmp_path: Path, table: str):
    file, before = tmp_path / "a.csv", csv.field_size_limit()
    file.write_text(table)
    try:
        read_json(file)
    except UsageError:
        assert table.count('"') == 1
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("name", list(DATASETS))
@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[1, 2]", b"[{}]", b"[]", b"null", b'"x"', b"\xff\xfe", b"[{'a': 1}]", b"[" * 100_000,
     b'[{"question": " ", "query": " ", "input": " ", "ground_truth": [], "context": "x"}]',
     b'[{"question": {}, "query": {}, "input": {}, "questions": 1, "metadata": 2, "context": "x"}]'],
)  # fmt: skip
def test_a_wrong_file_is_an_error_that_helps(tmp_path: Path, name: str, content: bytes):
    file = tmp_path / "questions.json"
    file.write_bytes(content)
    with pytest.raises(UsageError) as error:
        load_questions(name, file)
    assert error.value.cure
    with pytest.raises(UsageError, match="cannot read"):
        load_questions(name, tmp_path / "nowhere.json")


def test_a_repeated_id_gets_a_number(tmp_path: Path):
    rows: list[dict[str, object]] = [
        {"id": id, "question": f"{n}?"} for n, id in enumerate(("a", "a", "b", "a#2", "a"))
    ]
    ids = [question.id for question in load_questions("plain", put(tmp_path / "q.jsonl", rows))]
    assert (ids[0], ids[3]) == ("a", "a#2")
    assert len(set(ids)) == 5


def test_lines_of_json_may_be_called_json_and_hold_any_character(tmp_path: Path):
    file = tmp_path / "Question.json"
    file.write_text('{"id": 1, "question": "Wo\u2028ist Zürich \u0085 \U0001f5ff?"}\n{"id": 2, "question": "x"}\n')
    assert [one.text for one in load_questions("ragrouter-bench", file)] == ["Wo\u2028ist Zürich \x85 \U0001f5ff?", "x"]
    assert load_questions("monaco", put(tmp_path / "m.json", [{"question": "half \ud83d"}]))[0].text == "half ?"
    broken = tmp_path / "broken.json"
    broken.write_text('[{"id": 1,\n"question"')
    with pytest.raises(UsageError, match="not valid JSON"):
        read_json(broken)


# Single layouts


def test_monaco_is_also_one_object_and_finds_its_traces(tmp_path: Path):
    (tmp_path / "execution_traces").mkdir()
    urls = ["https://en.wikipedia.org/wiki/A_(b)https://en.wikipedia.org/wiki/Caf%C3%A9,", "https://example.org/x"]
    trace = {"canary": "c", "Which?": {"provenance": {"1": [{"source_url": urls}, {"source_url": None}], "2": "x"}}}
    (tmp_path / "execution_traces" / "dataset_ex_3.json").write_text(json.dumps(trace))
    file = tmp_path / "release.json"
    file.write_text(json.dumps({"canary": "c", "Which?": {"ex_num": 3, "validated_answer": ["Oslo"]}}))
    (question,) = load_questions("monaco", file)
    assert (question.id, question.text, question.type) == ("3", "Which?", "single")
    assert question.gold == (Gold(title="A (b)"), Gold(title="Café"))
    (tmp_path / "execution_traces" / "dataset_ex_").mkdir()
    (tmp_path / "execution_traces" / "x.json").write_text(json.dumps(trace))
    file.write_text(json.dumps({"Which?": {"ex_num": "/../x", "validated_answer": None}}))
    assert load_questions("monaco", file)[0].gold == ()


# Corpora


def documents(name: str, file: Path, folder: Path) -> dict[str, tuple[str, str]]:
    written = write_corpus(DATASETS[name], file, folder)
    found = load(SourceFile(written, written.name))
    return {document.key.rpartition("#")[2]: (document.title, document.text) for document in found}


@pytest.mark.parametrize("name", [name for name, dataset in DATASETS.items() if dataset.corpus])
def test_a_corpus_that_comes_with_the_questions_holds_their_gold(tmp_path: Path, name: str):
    file = put(tmp_path / "questions.jsonl", ROWS[name])
    put(tmp_path / "Corpus.json", [{"id": 4, "title": "A", "context": "Brack built it."}])
    found = documents(name, file, tmp_path / "cache")
    gold = [gold for question in load_questions(name, file) for gold in question.gold]
    assert all(one.key in found or one.title in {title for title, _ in found.values()} for one in gold)
    assert len(found) == 1, "equal documents are one"
    assert documents(name, put(tmp_path / "same.jsonl", ROWS[name]), tmp_path / "cache") == found
    assert len(list((tmp_path / "cache").iterdir())) == 1, "named after its content"


def test_no_corpus_is_an_error_that_helps(tmp_path: Path):
    file = put(tmp_path / "questions.jsonl", ROWS["ragrouter-bench"])
    with pytest.raises(UsageError, match=r"Corpus\.json"):
        write_corpus(DATASETS["ragrouter-bench"], file, tmp_path)
    with pytest.raises(UsageError, match="--corpus"):
        write_corpus(DATASETS["hipporag"], file, tmp_path)
    with pytest.raises(UsageError, match="not laid out"):
        write_corpus(DATASETS["quality"], file, tmp_path)
    with pytest.raises(UsageError, match="no text"):
        write_corpus(DATASETS["quality"], put(tmp_path / "q.jsonl", [{**QUALITY, "article": " "}]), tmp_path)
    (tmp_path / "a file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write_corpus(DATASETS["quality"], put(tmp_path / "q.jsonl", [QUALITY]), tmp_path / "a file" / "below")


# Values


VALUES: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda below: st.lists(below), max_leaves=8
)


@given(VALUES)
def test_answers_are_never_empty_nor_twice(value: object):
    try:
        said = answers(value)
    except TypeError:
        return
    assert all(one.strip() for one in said)
    assert len(set(said)) == len(said)
    assert all(one.encode() for one in said)


def test_a_data_set_is_found_by_its_name(tmp_path: Path):
    with pytest.raises(UsageError, match="--data"):
        find_data("musique", None)
    with pytest.raises(UsageError, match="did you mean musique"):
        find_data("musik", tmp_path)
    with pytest.raises(UsageError, match="holds no musique"):
        find_data("musique", tmp_path)
    (tmp_path / "musique").mkdir()
    (tmp_path / "musique" / "questions.json.gz").touch()
    with pytest.raises(UsageError, match="corpus"):
        find_data("musique", tmp_path)
    (tmp_path / "musique" / "corpus.json.gz").touch()
    for place in (tmp_path, tmp_path / "musique"):
        found = find_data("musique", place)
        assert (found.format, found.questions.name) == ("hipporag", "questions.json.gz")
        assert found.corpus == tmp_path / "musique" / "corpus.json.gz"
