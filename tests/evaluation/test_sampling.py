"""A sample is fair to the types, the same for the same seed, and its evidence comes with it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragways.apps.evaluation.questions import datasets as datasets_command
from ragways.apps.evaluation.questions import sample as sample_command
from ragways.core.errors import UsageError
from ragways.core.types import Document
from ragways.evaluation.datasets import DATASETS, load_questions
from ragways.evaluation.question import Gold, Question
from ragways.evaluation.sampling import documents, kept_documents, sample, write_documents, write_questions

TYPES = st.lists(st.sampled_from(["inference", "null", "temporal", ""]), max_size=40)


def asked(types: list[str]) -> list[Question]:
    return [Question(str(n), f"question {n}?", ("a",), type) for n, type in enumerate(types)]


@given(TYPES, st.integers(1, 12), st.integers(-5, 5))
def test_each_type_gives_as_many_or_all_it_has(types: list[str], per_type: int, seed: int):
    drawn = sample(asked(types), per_type=per_type, seed=seed)
    had = Counter(types)
    assert drawn.counts == {type: min(count, per_type) for type, count in had.items()}
    assert drawn.short == {type: count for type, count in had.items() if count < per_type}
    assert len(set(drawn.questions)) == len(drawn.questions)
    assert drawn.of == len(types)


@given(TYPES, st.integers(1, 50), st.integers(0, 5))
def test_so_many_in_all_differ_by_one_at_most_unless_a_type_runs_out(types: list[str], count: int, seed: int):
    drawn = sample(asked(types), count=count, seed=seed)
    assert len(drawn.questions) == min(count, len(types))
    had = Counter(types)
    open_ended = [number for type, number in drawn.counts.items() if number < had[type]]
    assert not open_ended or max(drawn.counts.values()) - min(open_ended) <= 1
    for type in drawn.short:
        assert drawn.counts[type] == had[type], "a short type gives all it has"


@given(TYPES, st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_order_of_the_file_does_not_matter(types: list[str], shuffled: random.Random, seed: int):
    """Not even where ids are the numbers of rows."""
    questions = asked(types)
    other = list(questions)
    shuffled.shuffle(other)
    renamed = [Question(str(n), one.text, one.answers, one.type) for n, one in enumerate(other)]
    texts = [one.text for one in sample(questions, per_type=3, seed=seed).questions]
    assert texts == [one.text for one in sample(renamed, per_type=3, seed=seed).questions]


@pytest.mark.parametrize("how", [{}, {"per_type": 1, "count": 1}, {"per_type": 0}, {"count": 0}, {"count": -1}])
def test_the_size_of_a_sample_is_given_once(how: dict[str, int]):
    with pytest.raises(UsageError):
        sample(asked(["a"]), **how)


# The corpus


def corpus(count: int = 12) -> list[Document]:
    return [Document(f"c.json#d{n}", f"Title {n}", f"Text number {n} is here.", "json") for n in range(count)]


@given(st.lists(st.integers(0, 11), max_size=6), st.integers(1, 20), st.integers(0, 5))
def test_evidence_is_kept_and_the_rest_drawn(gold: list[int], count: int, seed: int):
    ways = (lambda n: Gold(key=f"d{n}"), lambda n: Gold(title=f"title_{n}"), lambda n: Gold(quote=f"number {n} is"))
    questions = [Question(str(n), "?", gold=(ways[n % 3](n),)) for n in gold]
    kept = kept_documents(questions, corpus(), count=count, seed=seed)
    wanted = {f"c.json#d{n}" for n in gold}
    assert wanted <= kept.keys
    assert kept.evidence == len(wanted)
    assert len(kept.keys) == max(len(wanted), min(count, 12))
    assert kept.filled == len(kept.keys) - kept.evidence
    assert not kept.missing
    backwards = kept_documents(questions, reversed(corpus()), count=count, seed=seed)
    assert backwards.keys == kept.keys, "the order of the corpus does not matter"


def test_of_several_documents_with_a_title_those_with_the_text_are_drawn():
    same = [Document(f"c#{n}", "Mercury", text, "json") for n, text in enumerate(("A planet.", "A metal.", "A god."))]
    kept = kept_documents([Question("1", "?", gold=(Gold(title="mercury", text="a metal"),))], same)
    assert kept.keys == {"c#1"}
    alone = kept_documents([Question("1", "?", gold=(Gold(title="mercury", text="in other words"),))], same[:1])
    assert alone.keys == {"c#0"}, "one alone needs not say it word for word"


def test_what_is_written_is_what_was_kept(tmp_path: Path):
    file = tmp_path / "all.jsonl"
    rows = [
        {"id": n, "title": f"T{n}", "text": f"One {n}.\n\nTwo.", "date": "2023-05-04", "url": "u"} for n in range(5)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    question = Question("1", "?", ("a",), "t", (Gold(title="T3", quote="Two"),))
    kept = kept_documents([question], documents(file), count=2)
    written = write_documents(documents(file), kept.keys, tmp_path / "out" / "corpus.jsonl")
    found = {one.key.partition("#")[2]: one for one in documents(written)}
    whole = {one.key.partition("#")[2]: one for one in documents(file)}
    assert set(found) == {key.partition("#")[2] for key in kept.keys}
    for name, one in found.items():
        assert (one.title, one.text, one.metadata) == (whole[name].title, whole[name].text, whole[name].metadata)
    other = Question("2", "??", (), "", (Gold(key="3"), Gold(title="T", text="whole")))
    assert load_questions("plain", write_questions([question, other], tmp_path / "q.jsonl")) == [question, other]


def test_a_corpus_that_cannot_be_read_is_an_error(tmp_path: Path):
    (tmp_path / "bad.json").write_text("{")
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError) as error:
            list(documents(place))
        assert error.value.cure


# The commands

app = typer.Typer()
app.command("sample")(sample_command)
app.command("datasets")(datasets_command)


def test_the_command_writes_questions_and_corpus(tmp_path: Path):
    rows = [{"input": f"Q{n}?", "answers": ["a"], "context": f"Text {n}.", "_id": f"u{n}", "label": "ab"[n % 2],
             "meta": {"title": f"T{n}"}} for n in range(9)]  # fmt: skip
    file = tmp_path / "mix.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    common = ["sample", "--questions", str(file), "--format", "ultradomain", "--seed", "3"]
    said = CliRunner().invoke(
        app, [*common, "--per-type", "2", "--documents", "6", "--out", str(tmp_path / "o"), "--json"]
    )
    data = json.loads(said.output)
    assert data["types"] == {"a": 2, "b": 2}
    assert data["corpus"] == {"documents": 6, "of": 9, "evidence": 4, "filled": 2, "gold_not_in_corpus": 0}
    assert len(list(documents(tmp_path / "o" / "corpus.jsonl"))) == 6
    assert len(load_questions("plain", tmp_path / "o" / "questions.jsonl")) == 4
    said = CliRunner().invoke(app, [*common, "--per-type", "5", "--out", str(tmp_path / "p")])
    assert "only 4 questions are b" in said.output
    assert "Apache-2.0; Qian et al. 2024" in said.output


def test_the_command_lists_every_layout_with_licence_and_citation():
    rows = json.loads(CliRunner().invoke(app, ["datasets", "--json"]).output)
    assert [row["format"] for row in rows] == list(DATASETS)
    assert all(row["licence"] and row["citation"] for row in rows if row["format"] != "plain")
    shown = CliRunner().invoke(app, ["datasets"], env={"COLUMNS": "250"}).output
    assert all(name in shown for name in DATASETS)
