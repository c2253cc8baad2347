"""Where the retrievers of other libraries have their passages from: an index folder, or a collection of a server.

`PassageSource(index="my-index")` opens the folder when it is first asked and keeps it open. `PassageSource(url=…,
collection=…, key=…)` asks `ragways serve`. Both find by any paradigm, under a filter, and give the same passages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ragways.core.errors import RagwaysError, UsageError
from ragways.core.types import Hits

if TYPE_CHECKING:
    from ragways.library import Corpus

SECONDS = 120.0
"""How long a server is waited for."""
_KEPT = ("id", "document", "title", "date", "start", "end", "tokens", "kind")


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage, its score within its list, and where it is from; plain values, so that they can be kept as JSON."""

    id: str
    text: str
    score: float
    metadata: Mapping[str, str | int | float]


class PassageSource:
    """Passages for a question, best first. Give the folder of an index, or a server's URL and a collection of it."""

    def __init__(
        self, *, index: str | None = None, url: str | None = None, collection: str | None = None, key: str = ""
    ) -> None:
        if (index is None) == (url is None):
            raise UsageError(
                "a retriever reads an index or asks a server", "give index=FOLDER, or url= and collection="
            )
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not collection):
            raise UsageError("a server needs its http(s) URL and a collection", 'url="https://…", collection="docs"')
        self._index, self._key = index, key
        self._place = f"{(url or '').rstrip('/')}/api/v1/collections/{quote(collection or '', safe='')}/retrieve"
        self._corpus: Corpus | None = None

    def find(
        self, question: str, paradigm: str, where: str | None, settings: Mapping[str, Any]
    ) -> list[RetrievedPassage]:
        """What a paradigm finds; `where` and `settings` are as in `Corpus.retrieve`."""
        if self._index is not None:
            return passages(self._opened(self._index).retrieve(question, paradigm, where=where, **settings))
        import httpx2

        with httpx2.Client(timeout=SECONDS) as client:
            return _received(
                client.post(self._place, json=_body(question, paradigm, where, settings), headers=self._headers)
            )

    async def afind(
        self, question: str, paradigm: str, where: str | None, settings: Mapping[str, Any]
    ) -> list[RetrievedPassage]:
        """The async twin of `find`."""
        if self._index is not None:
            import asyncio

            return await asyncio.to_thread(self.find, question, paradigm, where, settings)
        import httpx2

        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            body = _body(question, paradigm, where, settings)
            return _received(await client.post(self._place, json=body, headers=self._headers))

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _opened(self, index: str) -> Corpus:
        if self._corpus is None:
            from ragways.library import open

            self._corpus = open(index)
        return self._corpus


def passages(hits: Hits) -> list[RetrievedPassage]:
    """What was found in an index, as plain values."""
    sources = hits.sources or (None,) * len(hits.items)
    return [
        _passage(
            {**{name: getattr(hit.piece, name) for name in _KEPT}, "text": hit.piece.text, "score": hit.score}, source
        )
        for hit, source in zip(hits, sources, strict=True)
    ]


def _passage(row: Mapping[str, Any], source: object) -> RetrievedPassage:
    metadata = {name: row[name] for name in _KEPT if row.get(name) not in (None, "")}
    return RetrievedPassage(
        str(row["id"]),
        str(row["text"]),
        float(row["score"]),
        {**metadata, **({"source": str(source)} if source else {})},
    )


def _body(question: str, paradigm: str, where: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"question": question, "paradigm": paradigm, "where": where, "settings": dict(settings)}


def _received(response: Any) -> list[RetrievedPassage]:  # noqa: ANN401 - httpx2.Response, which is not loaded yet
    data = response.json() if "json" in response.headers.get("content-type", "") else {}
    if response.status_code != 200:
        said = data.get("error", {})
        raise RagwaysError(
            f"the server answered {response.status_code}: {said.get('message', 'no reason given')}",
            said.get("cure", ""),
        )
    return [_passage(row, (row.get("source") or {}).get("text")) for row in data["hits"]]
