"""A retriever for LangChain (extra `langchain`): what a paradigm finds, as LangChain's documents.

from ragways.integrations.langchain import LangChainRetriever

retriever = LangChainRetriever(index="my-index", paradigm="fused", settings={"k": 8})
retriever = LangChainRetriever(url="https://docs.example.org", collection="docs", key="…")
retriever.invoke("Who built the lighthouse?")
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr, SecretStr

from ragways.integrations.passages import PassageSource, RetrievedPassage


class LangChainRetriever(BaseRetriever):
    """Passages of an index folder, or of a collection of `ragways serve`, best first.

    `paradigm`, `where` (a filter) and `settings` of the paradigm are as in `Corpus.retrieve`. A document's metadata
    tell its id, title, place and score.
    """

    index: str | None = None
    url: str | None = None
    collection: str | None = None
    key: SecretStr = SecretStr("")
    paradigm: str = "auto"
    where: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    _source: PassageSource = PrivateAttr()

    def model_post_init(self, _: Any, /) -> None:  # noqa: ANN401 - as pydantic has it
        key = self.key.get_secret_value()
        self._source = PassageSource(index=self.index, url=self.url, collection=self.collection, key=key)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[LangChainDocument]:
        return list(map(_document, self._source.find(query, self.paradigm, self.where, self.settings)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[LangChainDocument]:
        return list(map(_document, await self._source.afind(query, self.paradigm, self.where, self.settings)))


def _document(passage: RetrievedPassage) -> LangChainDocument:
    metadata = {**passage.metadata, "score": passage.score}
    return LangChainDocument(page_content=passage.text, metadata=metadata, id=passage.id)
