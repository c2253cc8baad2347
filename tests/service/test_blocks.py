"""Trees of blocks: of whole answers, of growing ones as changes, and of stored ones without their citations."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from ragways.core.markdown import tree
from ragways.service.work.blocks import GrowingBlocks, stored_blocks, with_blocks
from tests.service.conftest import RunningServer

QUESTION = "Who designed the Pell Rock Lighthouse?"
ANSWER = """# Title

Para with **bold** and [a link](https://example.org/a) [1].
#hashtag of the same paragraph
***bold*** and *** x

- one [2]
- two
  1. inner

- loose after all

> quote
that goes on

| a | b |
|---|--:|
| 1 [1] | 2 |

```python
x = items[0] [2]

# no heading
```

Underlined
===
a paragraph, and a table at once
| c |
|---|
| 3 |

    indented code

2. begins with two
"""


def result(answer: str, way: str = "model loopback", **more: Any) -> dict[str, Any]:
    return {"answer": answer, "explanation": "", "way": way, "abstained": False, "evidence": [{}, {}], **more}


def names(nodes: list[Any]) -> set[str]:
    lists = [node for node in nodes if isinstance(node, list)]
    return {node[0] for node in lists}.union(*(names(node[2:]) for node in lists))


@pytest.mark.parametrize("ended", ["\n", "\r\n"])
def test_changes_of_a_growing_answer_make_up_its_tree(ended: str):
    chosen = random.Random(1)
    text = ANSWER.replace("\n", ended)
    for _ in range(40):
        growing, blocks, at, restart = GrowingBlocks(), [["p", {}, "of another answer"]], 0, True
        while at < len(text):
            size = chosen.choice([1, 2, 3, 5, 16, 40])
            piece = text[at : at + size] + ("\n" if ended == "\r\n" and text[at + size - 1 : at + size] == "\r" else "")
            at += size + (len(piece) > size)
            if (change := growing.change(piece, restart=restart)) is not None:
                blocks[change[0] :] = change[1]
            restart = False
        missing = growing.change(" " * 99)  # what waited for more
        if missing is not None:
            blocks[missing[0] :] = missing[1]
        assert blocks == tree(ANSWER)


@pytest.mark.parametrize(
    "text", ["word " * 2_000, "```\n" + "a line of code\n" * 800, "- an item\n" * 1_000, ANSWER * 30]
)
def test_changes_grow_with_the_answer_and_not_with_its_square(text: str):
    growing, sent = GrowingBlocks(), 0
    began = time.process_time()
    for at in range(0, len(text), 8):
        sent += len(json.dumps(growing.change(text[at : at + 8], restart=not at)))
    assert sent < 60 * len(text)
    assert time.process_time() - began < 20


def test_an_answer_by_a_model_is_markdown_and_one_by_a_rule_is_not():
    text = "- *Built* in 1801. [1]\n- No passage\n\n`[2]`"
    by_model = with_blocks(result(text))["blocks"]
    assert names(by_model) == {"ul", "li", "em", "cite", "p", "code"}
    assert [node[1] for node in by_model[0][2:]] == [{}, {"uncited": True}]
    by_rule = with_blocks(result(text, "rule: read", explanation="*So* it is. [2]"))
    assert names(by_rule["blocks"]) == {"p", "cite"}
    assert by_rule["explanation_blocks"] == [["p", {}, "*So* it is. ", ["cite", {"n": 2}]]]
    for silent in (result(text, abstained=True), result(text, evidence=[])):
        assert "uncited" not in json.dumps(with_blocks(silent))
    assert "cite" not in names(with_blocks(result(text, evidence=[]))["blocks"])


def test_a_stored_answer_has_no_citations_and_its_code_is_untouched():
    text = "Built [1][2]. **So [2]**, in `items[0] [2]`.\n\n```\nx [1]\n```\n\n- one [1]\n\n| a [1] |\n|-|\n| b |"
    assert stored_blocks(text, "model loopback") == [
        ["p", {}, "Built", ". ", ["strong", {}, "So"], ", in ", ["code", {}, "items[0] [2]"], "."],
        ["pre", {}, "x [1]"],
        ["ul", {}, ["li", {}, "one"]],
        ["table", {}, ["thead", {}, ["tr", {}, ["th", {}, "a"]]], ["tbody", {}, ["tr", {}, ["td", {}, "b"]]]],
    ]
    for way in ("rule", ""):  # an earlier version stored no way, and no Markdown
        assert stored_blocks("*Built* in 1801. [1]\nSo.", way) == [["p", {}, "*Built* in 1801.", "\nSo."]]


def test_only_who_asks_for_blocks_gets_them(demo_server: RunningServer, demo_name: str):
    client, here = demo_server.client, f"/api/v1/collections/{demo_name}"
    id = client.post(f"{here}/conversations").json()["id"]
    body = {"question": QUESTION, "paradigm": "naive", "conversation": id}
    plain = client.post(f"{here}/ask", json=body).json()
    assert not {"blocks", "explanation_blocks"} & plain.keys()
    rendered = client.post(f"{here}/ask", json={**body, "rendered": True}).json()
    assert rendered["blocks"][0][:2] == ["p", {}]
    assert rendered["answer"] == plain["answer"]
    events = list(demo_server.events(f"{here}/ask", {**body, "stream": True, "rendered": True}))
    changes = [data["blocks"] for name, data in events if name == "text" and "blocks" in data]
    assert changes[0][0] == 0
    assert events[-1][1]["blocks"] == rendered["blocks"]
    quiet = list(demo_server.events(f"{here}/ask", {**body, "stream": True}))
    assert not any("blocks" in data for name, data in quiet if name in ("text", "result"))
    ways = {"question": QUESTION, "paradigms": ["naive", "words"]}
    for asked in (False, True):
        answers = client.post(f"{here}/compare", json={**ways, "rendered": asked}).json()["answers"]
        assert [("blocks" in answer) for answer in answers] == [asked, asked]
    shown = client.get(f"{here}/conversations/{id}").json()["turns"]
    assert all("blocks" not in turn and turn["answer_way"].startswith("rule") for turn in shown)
    shown = client.get(f"{here}/conversations/{id}?rendered=true").json()["turns"]
    assert names(shown[0]["blocks"]) == {"p"}
    assert client.get(f"{here}/conversations/{id}?rendered=perhaps").status_code == 422
    client.delete(f"{here}/conversations/{id}")
