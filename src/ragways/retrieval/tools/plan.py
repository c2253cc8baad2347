"""What an agent does where there is no model: a fixed plan over the same tools, for what the question names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice, zip_longest
from typing import ParamSpec, TypeVar

from ragways.core.errors import ToolError
from ragways.core.step import Step
from ragways.core.trace import current_span, span
from ragways.core.types import Found, Hit, Hits, Piece, Query, ranked
from ragways.layers.graph.names import split_title, tokens
from ragways.layers.words import terms
from ragways.retrieval.tools.catalogue import Catalogue
from ragways.retrieval.tools.reading import QUOTES
from ragways.retrieval.tools.results import Excerpt
from ragways.retrieval.tools.toolbox import Toolbox
from ragways.store.store import number_of

MOST = 6
_CAPITALS = re.compile(r"[^\W\d_a-z][\w'’.-]*(?:\s+(?:(?:of|the|and|de|la|von|van|du|di)\s+)?[^\W\d_a-z][\w'’.-]*)+")


def names_in(catalogue: Catalogue, question: str) -> list[str]:
    """Names in a question, in its order: the longest titles that stand in it, then other runs of capital words."""
    spans = [(start, end) for start, end, _ in islice(catalogue.titles_in(question), MOST)]
    for match in _CAPITALS.finditer(question):
        if not any(a < match.end() and match.start() < b for a, b in spans):
            spans.append(match.span())
    return [question[a:b] for a, b in sorted(spans)[:MOST]]


def fits(name: str, title: str) -> bool:
    """Whether a title can be what a name means: the same words, apart from what stands in brackets."""
    words, base = set(tokens(name)), set(tokens(split_title(title)[0])) - {"the", "a", "an"}
    return bool(base) and base <= words and len(words - set(tokens(title)) - {"the", "a", "an"}) <= len(words) // 2


T = TypeVar("T")
P = ParamSpec("P")
_ARTICLES = 4  # that a question names
_SECTIONS = 4  # read of each
_NEIGHBOURS = 4  # read of each named article, those whose link stands nearest words of the question
_NEAR = 160  # characters before a link in which such words are looked for
_SEARCHED = 10
_SHOWN = 100


def graph_plan(toolbox: Toolbox) -> Step[Query, Hits]:
    """Title search; section titles and infoboxes; sections that cover the question; what links to or joins them."""

    async def run(query: Query) -> Hits:
        return await _Plan(toolbox, query).by_links()

    return Step("plan", run, tools=list(toolbox.names))


def vector_plan(toolbox: Toolbox) -> Step[Query, Hits]:
    """Chunk search, once."""

    async def run(query: Query) -> Hits:
        return await _Plan(toolbox, query).by_search()

    return Step("plan", run, tools=list(toolbox.names))


class _Plan:
    def __init__(self, toolbox: Toolbox, query: Query) -> None:
        self._box = toolbox
        self._query = query
        self._wanted = _stems(query.text)
        self._found: dict[str, tuple[Excerpt, str]] = {}
        self._calls: Counter[str] = Counter()

    async def by_links(self) -> Hits:
        articles = await self._named()
        neighbours = [await self._neighbours(article) for article in articles]
        for article in articles:
            self._keep("named", await self._covering(article))
        for one in [id for row in zip_longest(*neighbours) for id in row if id is not None]:
            if one not in articles:
                self._keep("linked", await self._lead(one))
        self._keep("joined", await self._joining(articles))
        self._keep("searched", await self._searched())
        return self._hits()

    async def by_search(self) -> Hits:
        self._keep("searched", await self._searched())
        return self._hits()

    async def _use(self, tool: Callable[P, Awaitable[T]], *args: P.args, **settings: P.kwargs) -> T | None:
        """The result of a tool; None where it may not be used, or fails."""
        name = tool.__name__
        if name not in self._box.names:
            return None
        self._calls[name] += 1
        with span(f"tool {name}", arguments=[str(given)[:_SHOWN] for given in args]) as here:
            try:
                return await tool(*args, **settings)
            except ToolError as error:
                here.details["error"] = str(error)
            return None

    async def _named(self) -> list[str]:
        """The articles that the question names, in its order."""
        chosen: list[str] = []
        for name in names_in(self._box.view.catalogue, self._query.text):
            found = await self._use(self._box.title_search, name, k=10)
            # A name in a question is written: titles that share its letters go first.
            for item in sorted(found.articles if found else (), key=lambda item: item.way == "by meaning"):
                if fits(name, item.title) and item.id not in chosen:
                    chosen.append(item.id)
                    break
        return chosen[:_ARTICLES]

    async def _covering(self, article: str) -> list[Excerpt]:
        """Infoboxes, the lead, and the sections whose titles or texts hold words of the question."""
        outline = await self._use(self._box.section_titles_and_infoboxes, article)
        if outline is None:
            return self._best(await self._read(article, []))
        boxes = [box.source for box in outline.infoboxes if box.source is not None]
        lead, *rest = outline.sections
        rest.sort(key=lambda section: -len(self._wanted & _stems(section.title)))
        ids = [lead.id, *(section.id for section in rest[: _SECTIONS - 1])]
        return [*boxes, *self._best(await self._read(article, ids))]

    async def _read(self, article: str, sections: list[str]) -> Sequence[Excerpt]:
        """These sections, or the beginning of the article where none are known or sections may not be read."""
        read = await self._use(self._box.sections, sections) if sections else None
        if read is None:
            read = await self._use(self._box.article_text, article)
        return read.paragraphs if read is not None else ()

    def _best(self, quotes: Sequence[Excerpt]) -> list[Excerpt]:
        """The first, which says what the article is about, and those that hold words of the question, best first."""
        rest = [quote for quote in quotes[1:] if self._wanted & _stems(quote.text)]
        return [*quotes[:1], *sorted(rest, key=lambda q: -len(self._wanted & _stems(q.text)))[: _SECTIONS - 1]]

    async def _neighbours(self, article: str) -> list[str]:
        """Articles it links to: first those whose link follows words of the question, as `directed by` does."""
        found = await self._use(self._box.article_neighbourhood, article, direction="out", k=100)
        view, number = self._box.view, number_of(article)
        # The article's own name stands everywhere in it and distinguishes nothing.
        wanted, links = self._wanted - _stems(view.catalogue.title(number) or ""), view.links()

        def nearness(other: str) -> tuple[int, int]:
            """The best of the links to another article: words of the question before it, then its place."""
            return min(
                (-len(wanted & _stems(view.index.text(article, max(0, place - _NEAR), place))), place)
                for _, place in links.between(number, number_of(other)) or [(0, 0)]
            )

        scored = [(nearness(item.id), item.id) for item in (found.articles if found else ())]
        return [id for _, id in sorted(scored)[:_NEIGHBOURS]]

    async def _lead(self, article: str) -> list[Excerpt]:
        return self._best(await self._read(article, [f"{article}:s0"]))[:2]

    async def _joining(self, articles: Sequence[str]) -> list[Excerpt]:
        """The path between two named articles; of one, the paragraphs that link to it."""
        if len(articles) > 1:
            path = await self._use(self._box.shortest_path, articles[0], articles[1], limit=4, direction="both")
            return [hop.paragraph for hop in path.hops if hop.paragraph is not None] if path else []
        if not articles:
            return []
        found = await self._use(self._box.backlinks, articles[0], k=20)
        return self._best(found.paragraphs if found else ())[:_SECTIONS]

    async def _searched(self) -> list[Excerpt]:
        unquoted = self._query.text[:2000].translate(dict.fromkeys(map(ord, QUOTES), " "))
        found = await self._use(self._box.chunk_search, unquoted, k=_SEARCHED)
        return list(found.paragraphs) if found else []

    def _keep(self, why: str, quotes: Iterable[Excerpt]) -> None:
        for quote in quotes:
            self._found.setdefault(quote.id, (quote, why))

    def _hits(self) -> Hits:
        here = current_span()
        here.way = "rule"
        here.details.update(calls=dict(sorted(self._calls.items())), found=len(self._found))
        return ranked_in_order(self._query, [(quote.piece, why) for quote, why in self._found.values()])


def ranked_in_order(query: Query, pieces: Iterable[tuple[Piece, str]]) -> Hits:
    """Pieces in the order they are given, as a ranked list."""
    return ranked(
        query,
        (Hit(piece, 1 / n, (Found(why, n, 1 / n),)) for n, (piece, why) in enumerate(pieces, start=1)),
    )


def _stems(text: str) -> set[str]:
    """Words by their beginnings, so that `director` meets `directed`."""
    return {word[:5] for word in terms(text)}
