"""A set is the same for the same seed, says where it comes from, and is read back as it was written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.core.errors import UsageError
from ragways.evaluation.datasets.reading import plain_questions, plain_row
from ragways.evaluation.question import Gold, Question
from ragways.evaluation.questions.generate import KINDS, about_file, write
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.models.tokens import Price, Prices
from tests.evaluation.questions.fakes import REPLIES, ModelByTask, made

SCRIPT = """
import asyncio, sys
from pathlib import Path
from ragways.index.open import Index
from tests.evaluation.questions.fakes import made
from ragways.evaluation.questions.generate import write
write(made(Index.open(Path(sys.argv[1])), count=3, seed=7), Path(sys.argv[2]))
"""


def test_the_same_seed_gives_the_same_files_in_any_process(demo: Index, tmp_path: Path):
    """With other hashes of texts, no order of a set or a dict may show."""
    files = [tmp_path / f"{seed}.jsonl" for seed in ("1", "2")]
    for file in files:
        environment = {**os.environ, "PYTHONHASHSEED": file.stem, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", SCRIPT, str(demo.folder), str(file)], check=True, env=environment)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert about_file(files[0]).read_bytes() == about_file(files[1]).read_bytes()
    assert len(files[0].read_text().splitlines()) == 3 * len(
        [kind for kind in KINDS.values() if not kind.documentation]
    )


def test_a_set_says_where_it_comes_from_and_is_read_back(demo: Index, tmp_path: Path):
    found = made(demo, kinds=["factual", "reasoning-3", "moved"], count=3, seed=11)
    file = tmp_path / "sets" / "mine.jsonl"
    write(found, file)
    assert tuple(plain_questions(file)) == found.questions
    about = json.loads(about_file(file).read_text())
    assert about_file(file).name == "mine.about.json"
    assert about["seed"] == 11
    assert about["kinds"] == ["factual", "reasoning-3", "moved"]
    assert about["made_by"].startswith("ragways ")
    assert about["index"]["generation"] == demo.generation
    assert about["index"]["documents"] == len(demo.documents())
    assert about["counts"] == found.counts
    assert about["questions"] == len(found.questions)
    assert about["not_checked"]
    first = json.loads(file.read_text().splitlines()[0])
    assert first["provenance"]["seed"] == 11
    assert set(first["evidence"][0]) == {"title", "key", "quote", "id"}
    with pytest.raises(UsageError, match="cannot write"):
        write(found, file / "below a file.jsonl")


words = st.text(max_size=20)
golds = st.builds(Gold, words, words, words, words, words)
accepted = st.lists(words.filter(str.strip), unique=True).map(tuple)  # an empty answer is none, and one twice is one


@settings(max_examples=30)
@given(st.lists(st.builds(Question, words, words, accepted, words, st.lists(golds).map(tuple),
                          st.dictionaries(words, words)), max_size=5))  # fmt: skip
def test_nothing_is_lost_in_the_plain_layout(tmp_path_factory: pytest.TempPathFactory, asked: list[Question]):
    file = tmp_path_factory.mktemp("plain") / "set.jsonl"
    file.write_bytes("".join(json.dumps(plain_row(question)) + "\n" for question in asked).encode())
    assert plain_questions(file) == asked


def test_unverified_questions_are_as_the_model_wrote_them(demo: Index):
    """The model knows every answer without the text, which no verified question may be."""
    replies = {**REPLIES, "question_closed": "the same"}
    checked, free = ModelByTask(replies), ModelByTask(replies)
    assert made(demo, checked, kinds=["edge"], count=1).questions == ()
    found = made(demo, free, kinds=["edge"], count=1, verified=False)
    assert len(found.questions) == 1
    assert {call.schema_name for call in free.calls} == {"question_structure"}, "nothing but the writing was asked"
    assert found.not_checked == ("all of it: the questions are as the model wrote them",)


def test_a_spent_budget_keeps_what_there_is(demo: Index):
    import asyncio

    from ragways.evaluation.questions.generate import generate
    from tests.evaluation.questions.fakes import resources

    model = ModelByTask(REPLIES)
    use = resources(demo, model, prices=Prices({"by-task": Price(1e6, 1e6)}))
    assert isinstance(use.model, ModelClient)
    found = asyncio.run(generate(use, kinds=["factual"], count=3, budget=0.5))
    assert found.questions == ()
    assert "$0.5" in found.stopped
    assert model.calls == []
    assert asyncio.run(generate(use, kinds=["factual"], count=3, budget=0.5, without_model=True)).questions
