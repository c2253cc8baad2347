"""An answer as Markdown: what is a citation, what is cited, and the tree that programs show."""

from __future__ import annotations

from typing import Any

import pytest

from ragways.core.markdown import Claim, claims, html, plain_tree, tree, uncited, unmarked

CODE = 'import requests\nrequests.get("https://api.example.com/v1?a=1&b=2", timeout=5)  # items[0] [2]\nx: List<Item>'
ANSWER = f"""Set `timeout` on the call [1].

```python
{CODE}
```

- The default is **none** [2]
- A pair sets both limits [1][3]

| limit | source |
|---|---|
| connect | seconds to reach the host [2] |
| read | [3] |

See [the guide](https://docs.example.com/guide).
"""


def found(nodes: list[Any], name: str) -> list[Any]:
    """All nodes of this name, in order."""
    inside = [node for node in nodes if isinstance(node, list)]
    return [each for node in inside for each in ([node] if node[0] == name else []) + found(node[2:], name)]


def test_a_tree_has_each_thing_that_the_model_wrote():
    nodes = tree(ANSWER, 3)
    assert found(nodes, "pre") == [["pre", {"language": "python"}, CODE]]
    assert found(nodes, "code") == [["code", {}, "timeout"]]
    assert [node[2] for node in found(nodes, "li")] == ["The default is ", "A pair sets both limits "]
    assert [node[1]["n"] for node in found(nodes, "cite")] == [1, 2, 1, 3, 2, 3]
    assert found(nodes, "a") == [["a", {"href": "https://docs.example.com/guide"}, "the guide"]]
    assert len(found(nodes, "td")) == 4


def test_citations_are_those_of_lists_and_tables_and_never_of_code():
    assert claims(ANSWER, 3) == [
        Claim("Set timeout on the call.", (1,)),
        Claim("The default is none", (2,)),
        Claim("A pair sets both limits", (1, 3)),
        Claim("seconds to reach the host", (2,)),
        Claim("read", (3,)),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ness built it. [1]", [Claim("Ness built it.", (1,))]),
        ("Ness built it [1].", [Claim("Ness built it.", (1,))]),
        ("Ness built it [1][3]. It burnt [2, 3].", [Claim("Ness built it.", (1, 3)), Claim("It burnt.", (2, 3))]),
        ("It is old. Ness built it [1]. So.", [Claim("Ness built it.", (1,))]),
        ("Ness 建造了它。[1] 它烧毁了。[2]", [Claim("Ness 建造了它。", (1,)), Claim("它烧毁了。", (2,))]),
        ("As [1] says, Ness built it.", [Claim("As says, Ness built it.", (1,))]),
        ("[1] says x. [2] says y.", [Claim("says x.", (1,)), Claim("says y.", (2,))]),
        ("One [1] with a mark inside. [2] Two. [3]", [Claim("One with a mark inside.", (1, 2)), Claim("Two.", (3,))]),
        ("[Install guide [1]](https://a.example)", []),
        ("[2] Ness built it.", [Claim("Ness built it.", (2,))]),
        ("Ness built it [1-3].", [Claim("Ness built it.", (1, 2, 3))]),
        ("Ness built it [1–2, 3].", [Claim("Ness built it.", (1, 2, 3))]),
        ("Ness built it【2】, it is said【1, 3】.", [Claim("Ness built it, it is said.", (2, 1, 3))]),
        (
            "Ness built it [passage 3]. It burnt [Passages 1, 2].",
            [Claim("Ness built it.", (3,)), Claim("It burnt.", (1, 2))],
        ),
        ("Ness (1) built it (2). So [3-1], [2-9],【9】and【note】.", []),
        ("`a【1】` and `b[1-3]`", []),
        ("`items[1]` and ``a[2]``", []),
        ("items[0], [9] and [1](https://a.example)", []),
        ("    items[1]", []),
    ],
)
def test_a_claim_is_the_sentence_before_its_marks(text: str, wanted: list[Claim]):
    assert claims(text, 3) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Built in 1801 [2][5].", "Built in 1801  ."),
        ("Built【2】in [1-3] 1801 [passage 5] (1).", "Built in 1801 (1)."),
        ("`a[1]【2】` 【3】【1–2】", "`a[1]【2】`"),
        ("`a[1]` [2]", "`a[1]`  "),
        ("```\na[1]\n```\nso [1]", "```\na[1]\n```\nso  "),
        ("> - it [1]\n> - `b[2]` is [2, 3]", "> - it  \n> - `b[2]` is  "),
        ("| a \\| `x[1]` [1] |\n|---|\n| [2] |", "| a \\| `x[1]`   |\n|---|\n|   |"),
    ],
)
def test_marks_go_and_code_stays(text: str, wanted: str):
    assert " ".join(unmarked(text).split(" ")).split() == wanted.split()


def lacking(text: str, shown: int = 3) -> list[str]:
    return [text[start:end] for start, end in uncited(text, shown)]


def test_blocks_without_a_citation_are_named_where_they_stand():
    assert lacking(ANSWER) == ["See [the guide](https://docs.example.com/guide)."]
    assert lacking("One [1].\n\nTwo.\n\n- three\n- four [2]\n") == ["Two.", "- three"]
    assert lacking("# Head\n\nOne [1].") == []
    assert lacking("One.", 0) == [], "where no passage was shown, nothing can be cited"
    assert lacking("One [7].") == ["One [7]."], "a passage that was not shown is no source"
    assert lacking("It is 4.\n\n[1][2]") == [], "marks in a line of their own"
    assert lacking("1. **Install**\n   - Run x [1]\n2. **Configure**\n   - Set y [2]\n   - Or z\n") == [
        "2. **Configure**\n   - Set y [2]\n   - Or z", "- Or z",
    ]  # fmt: skip
    assert lacking("- a [1]\n-\n\n<br>\n\n</details>") == [], "what says nothing needs no source"
    assert lacking("a [1]\r- x\r- y\r") == ["- x", "- y"]


def test_what_a_colon_leads_to_is_cited_with_it_and_code_by_its_neighbours():
    assert lacking("Do this [1]:\n\n- a\n- b\n") == []
    assert lacking("Do this:\n\n- a [1]\n- b\n") == ["- b"]
    assert lacking("Do this:\n\n```\nx\n```\n\nSo it says [1].") == []
    assert lacking("Do this:\n\n```\nx\n```\n\nSo it says.") == ["Do this:", "```\nx\n```", "So it says."]


def test_html_is_text_and_everything_is_escaped():
    shown = html(
        tree('<img src=x onerror="a()"> <b>x</b> List<Item> [y](javascript:alert(1)) ![p](https://e.example/p)', 0)
    )
    assert "<img" not in shown
    assert "<b>" not in shown
    assert "List&lt;Item&gt;" in shown
    assert "href" not in shown
    assert html(tree("[a](https://a.example/x)", 0)) == (
        '<p><a href="https://a.example/x" rel="noreferrer noopener" target="_blank">a</a>'
        " <small>(https://a.example/x)</small></p>"
    )


def test_plain_text_keeps_its_signs():
    assert plain_tree("a * b * c [1] [x](y)\n\n<b> [9]", 1) == [
        ["p", {}, "a * b * c ", ["cite", {"n": 1}], " [x](y)"], ["p", {}, "<b> ", "[9]"],
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["[" * 100_000, ">" * 5_000 + "a", "a" * 200_000, "`" * 50_000, "![" * 50_000])
def test_no_text_takes_long(text: str):
    assert tree(text)
    assert isinstance(claims(text), list)


def test_formulas_stand_as_they_are():
    text = r"So \(y^2\) and \[ a_{[1]} \] and $x_1$ cost $5 [1] or $6."
    assert tree(text, 3) == [
        ["p", {}, r"So \(y^2\) and \[ a_{[1]} \] and $x_1$ cost $5 ", ["cite", {"n": 1}], " or $6."]
    ]


def test_every_form_of_citation_is_shown_as_its_numbers():
    text = "Built 【2】 and burnt [1-3] [passage 1] (2)."
    for nodes in (tree(text, 3), plain_tree(text, 3)):
        assert [node[1]["n"] for node in found(nodes, "cite")] == [2, 1, 2, 3, 1]
        assert "(2)" in html(nodes)
