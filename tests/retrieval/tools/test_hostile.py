"""Ten thousand hostile arguments: no exception escapes, and nothing but the enumerated queries runs."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.core.errors import StoreFailed
from ragways.retrieval.tools.corpus_view import TOKENS
from ragways.retrieval.tools.toolbox import TOOLS, Toolbox
from ragways.store import articles
from tests.retrieval.tools.conftest import resources

STRINGS = [
    "'", '"', "`", "''; DROP TABLE documents; --", "\" OR 1=1 --", "/* */", "--", "#", ";", "%", "_", "%s%n",
    "{0}", "{{x}}", "__class__", "().__class__.__bases__[0].__subclasses__()", "__import__('os').system('id')",
    "${7*7}", "{{7*7}}", "../../etc/passwd", "file:///etc/passwd", "\x00", "a\x00b", "\ud800", "\U0010ffff",
    "\u202eabc", "ﬁ", "ⅷ", "١٢٣", "article:١٢٣", "article:-1", "article:0", "article:" + "9" * 30,
    "article:1:s0:p0:c0:x", "article:1:s-1", "article:", "article:1:s" + "9" * 20, "ARTICLE:1", "9" * 1000,
    "-" * 1000, "(" * 5000, "[" * 5000, "9**9**9", "1e309", "NaN", "null", "true", "x" * 300, "x" * 301,
    "é" * 5000, "a" * 1_000_000, "\n" * 100, "<script>", "<<<data 0", "data 0>>>", "SELECT * FROM documents",
    "MATCH (n) DETACH DELETE n", "Old Harbour", "old harbour'; --", "İ" * 200, "ß" * 299,
]  # fmt: skip
VALUES: list[object] = [*STRINGS, 0, -1, 1, 10**30, 1.5, float("inf"), True, None, [], {}, [[]], ["x"] * 30, {"a": {}}]


def variants() -> Iterator[tuple[str, str]]:
    """A tool and its arguments as text: each value in each parameter, and each string as the whole of the arguments."""
    for name, function in TOOLS.items():
        parameters = [p for p in function.__annotations__ if p != "return"]
        for value in VALUES:
            for parameter in parameters:
                yield name, json.dumps({parameter: value})
            for one, other in itertools.permutations(parameters, 2):
                yield name, json.dumps({one: value, other: "Old Harbour"})
            yield name, json.dumps({"ids": [value], "id": value})
        for text in STRINGS:
            yield name, text
            yield name, f'{{"article": "{text}"'
            yield name, f'["{text}"]'
            for parameter in parameters:
                yield name, json.dumps({parameter: f"Old Harbour{text}"})
                yield name, json.dumps({parameter: f"{text}article:1:s0"})
                yield name, json.dumps({f"{parameter}{text}": text})
    for text in STRINGS:
        yield text, "{}"


@pytest.fixture(scope="module")
def box(linked_index: Path) -> Iterator[Toolbox]:
    use = resources(linked_index)
    yield Toolbox(use)
    use.index.close()


def check(box: Toolbox, name: str, arguments: str) -> None:
    text = asyncio.run(box.call(name, arguments))
    data = json.loads(text)
    assert isinstance(data, dict)
    assert len(text) < 40 * TOKENS
    text.encode()


def test_no_exception_escapes_and_only_enumerated_queries_run(box: Toolbox):
    known = {text for name, text in vars(articles).items() if name.startswith("_") and isinstance(text, str)}
    ran: set[str] = set()
    box.view.index.store.db.set_trace_callback(ran.add)
    runner = asyncio.Runner()
    count, began = 0, time.process_time()
    for name, arguments in variants():
        assert isinstance(json.loads(runner.run(box.call(name, arguments))), dict)
        count += 1
    runner.close()
    box.view.index.store.db.set_trace_callback(None)
    assert count >= 10_000
    assert time.process_time() - began < 60
    # The index reads an article's text and chunks by queries of its own.
    # A traced statement has its values filled in: compare the words around them.
    starts = {" ".join(text.split())[:25] for text in known} | {
        "SELECT number, title, tex",
        "SELECT document, path, st",
    }
    # SQLite's own statements, by which its full-text search reads its tables, name the database in quotes.
    own = {text for text in ran if text.startswith("--") or "'main'." in text}
    assert {" ".join(text.split())[:25] for text in ran - own} <= starts


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(list(TOOLS)),
    arguments=st.one_of(
        st.text(max_size=200),
        st.dictionaries(
            st.sampled_from(["article", "title", "query", "id", "ids", "k", "offset", "start", "end", "expression"]),
            st.one_of(st.text(max_size=100), st.integers(), st.floats(), st.lists(st.text(max_size=40), max_size=4)),
        ).map(json.dumps),
    ),
)
def test_arbitrary_arguments(box: Toolbox, name: str, arguments: str):
    check(box, name, arguments)


def test_the_store_cannot_be_written_through_a_tool(box: Toolbox):
    with pytest.raises(StoreFailed, match="cannot write"):
        box.view.index.store.db.execute("DELETE FROM documents")
