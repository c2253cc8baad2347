"""Retrievers for LangChain and LlamaIndex, with the real libraries, over a folder of an index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragways
from ragways.core.errors import UsageError
from ragways.integrations.passages import PassageSource, passages
from tests.integrations.environment import run_in

QUESTION = "Who built the lighthouse?"
LANGCHAIN = """
import asyncio
from langchain_core.runnables import RunnableLambda
from ragways.integrations.langchain import LangChainRetriever

retriever = LangChainRetriever(**given["how"], paradigm="hybrid-words", settings={"k": 2}, where=given["where"])
found = retriever.invoke(given["question"])
chained = (retriever | RunnableLambda(lambda documents: [each.id for each in documents])).invoke(given["question"])
later = asyncio.run(retriever.ainvoke(given["question"]))
assert found == later and chained == [each.id for each in found]
assert "secret-key" not in repr(retriever)
print(json.dumps([[each.id, each.page_content, each.metadata] for each in found]))
"""
LLAMAINDEX = """
import asyncio
from llama_index.core import QueryBundle
from ragways.integrations.llamaindex import LlamaIndexRetriever

retriever = LlamaIndexRetriever(**given["how"], paradigm="hybrid-words", settings={"k": 2}, where=given["where"])
found = retriever.retrieve(given["question"])
assert found == retriever.retrieve(QueryBundle(given["question"]))
assert found == asyncio.run(retriever.aretrieve(given["question"]))
print(json.dumps([[each.node_id, each.text, {**each.metadata, "score": each.score}] for each in found]))
"""
PROGRAMS = {"langchain": LANGCHAIN, "llamaindex": LLAMAINDEX}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("retrievers")
    (home / "light.md").write_text("# The light\n\nAnna Holm built the lighthouse of Sandy Point in 1887.\n")
    (home / "bread.md").write_text("# Bread\n\nBread is made of flour, water and salt.\n")
    ragways.build([home], home / "index", layers=("vectors", "words"))
    return home / "index"


@pytest.mark.parametrize("library", PROGRAMS)
def test_the_real_library_gets_what_python_gets(library: str, index: Path):
    found = run_in(
        library, PROGRAMS[library], index.parent, how={"index": str(index)}, question=QUESTION, where='path~"light"'
    )
    with ragways.open(index) as corpus:
        own = passages(corpus.retrieve(QUESTION, "hybrid-words", where='path~"light"', k=2))
    assert found == [[each.id, each.text, {**each.metadata, "score": each.score}] for each in own]
    assert [row[2]["title"] for row in found] == ["The light"]
    assert "Anna Holm" in found[0][1]
    assert found[0][2]["source"]


def test_a_source_is_a_folder_or_a_server(index: Path):
    assert json.dumps(
        [dict(each.metadata) for each in PassageSource(index=str(index)).find(QUESTION, "words", None, {})]
    )
    for wrong in ({}, {"index": "i", "url": "http://x"}, {"url": "http://x"}, {"url": "ftp://x", "collection": "docs"}):
        with pytest.raises(UsageError):
            PassageSource(**wrong)
