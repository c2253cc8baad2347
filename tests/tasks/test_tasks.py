"""The tasks as a whole: what keeps replies valid."""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil

import pytest

import ragways.tasks
from ragways.models.call import restored
from ragways.models.reply import schema_of
from ragways.models.task import Task
from ragways.tasks.answers import NATIVE

SCHEMAS = {
    "agent answer": "7c3fc309ec6e",
    "choose arm": "bacdbfd4f7dd",
    "duel answer": "616e304f55a3",
    "duel difference": "eda92259d1cf",
    "duel forced": "d14e3667219e",
    "duel differential": "eb696d7120c9",
    "duel score": "eb696d7120c9",
    "facts": "135eada85cb3",
    "facts more": "135eada85cb3",
    "follow-up": "c2c6670c51d9",
    "judge answer": "973228fd829f",
    "judge citations": "ead2e6272bbf",
    "judge claims": "9c0669fbe3dc",
    "judge correct": "a0d6b2ba42e8",
    "judge match": "2b5cc3087467",
    "judge questions": "39f9b9223001",
    "judge support": "ead2e6272bbf",
    "judge useful": "610d1667fe05",
    "keywords": "b51eab271166",
    "points": "18395e6badc1",
    "question context": "918fbb42a0ed",
    "question entities": "a284e50432d7",
    "question evolved": "918fbb42a0ed",
    "question factual": "ebd06fe4feb4",
    "question reasoning": "ebd06fe4feb4",
    "question same": "f8317eb662e8",
    "question structure": "918fbb42a0ed",
    "question summary": "3f12a991f397",
    "question unanswerable": "ee28e0e0b34b",
    "report": "660c441ec49b",
    "subquestions": "59b59cb7dfa8",
    "themes": "28ee1001c5c7",
}


def tasks() -> list[Task]:  # type: ignore[type-arg]
    names = [part.name for part in pkgutil.iter_modules(ragways.tasks.__path__)]
    values = [value for name in names for value in vars(importlib.import_module(f"ragways.tasks.{name}")).values()]
    return [*(value for value in values if isinstance(value, Task)), *NATIVE.values()]


def test_schemas_stay_as_they_were_or_every_reply_that_is_kept_must_be_asked_for_again():
    """A schema holds the fields, docstrings and titles of the reply's types. Change a hash here only on purpose."""
    found = {
        task.name: hashlib.sha256(json.dumps(schema_of(task.reply), sort_keys=True).encode()).hexdigest()[:12]
        for task in tasks()
        if not task.in_words
    }
    assert found == SCHEMAS


def test_each_role_has_its_tasks():
    """Facts and themes, reports of communities, and small tasks of questions may have models of their own."""
    roles: dict[str, set[str]] = {}
    for task in tasks():
        roles.setdefault(task.role, set()).add(task.name)
    del roles[""]
    assert roles == {
        "extract": {"facts", "facts more", "themes"},
        "report": {"report"},
        "small": {"follow-up", "subquestions", "keywords", "question entities"},
    }


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.text.name)
def test_every_prompt_is_there_and_task_names_are_its_own(task):
    assert task.text.user
    assert sum(other.name == task.name for other in {id(t): t for t in tasks()}.values()) == {
        "answer": 2 + len(NATIVE), "recall": 2
    }.get(task.name, 1)  # fmt: skip


MARKS = [
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|endoftext|>", "<|assistant|>", "[INST]",
    "[/INST]", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "<s>", "</s>", "<bos>", "<think>", "</think>",
    "<tool_call>", "[TOOL_CALLS]", "<｜User｜>", "<｜end▁of▁sentence｜>",
]  # fmt: skip


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.text.name)
def test_no_task_shows_a_model_a_whole_mark_of_a_chat_template(task):
    text = " ".join(MARKS) + f" {''.join(MARKS)} a < b, f <| x, xs[0] [ 1 ] <b>"
    messages = task.text.fill(dict.fromkeys(task.text.variables, text))
    assert not [mark for mark in MARKS for message in messages if mark in message.content]
    assert any(text in restored(message.content) for message in messages) or not task.text.variables
