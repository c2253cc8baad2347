"""A retriever for LlamaIndex (extra `llamaindex`): what a paradigm finds, as LlamaIndex's nodes with scores.

from ragways.integrations.llamaindex import LlamaIndexRetriever

retriever = LlamaIndexRetriever(index="my-index", paradigm="fused", settings={"k": 8})
retriever = LlamaIndexRetriever(url="https://docs.example.org", collection="docs", key="…")
retriever.retrieve("Who built the lighthouse?")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from ragways.integrations.passages import PassageSource, RetrievedPassage


class LlamaIndexRetriever(BaseRetriever):
    """Passages of an index folder, or of a collection of `ragways serve`, best first.

    `paradigm`, `where` (a filter) and `settings` of the paradigm are as in `Corpus.retrieve`. A node's metadata
    tell its title and place.
    """

    def __init__(
        self,
        *,
        index: str | None = None,
        url: str | None = None,
        collection: str | None = None,
        key: str = "",
        paradigm: str = "auto",
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._source = PassageSource(index=index, url=url, collection=collection, key=key)
        self._how = (paradigm, where, dict(settings or {}))
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_node, self._source.find(query_bundle.query_str, *self._how)))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_node, await self._source.afind(query_bundle.query_str, *self._how)))


def _node(passage: RetrievedPassage) -> NodeWithScore:
    node = TextNode(id_=passage.id, text=passage.text, metadata=dict(passage.metadata))
    return NodeWithScore(node=node, score=passage.score)
