"""The tools as a conversation with a model uses them: numbers 1, 2, 3 stand for ids, and results are short texts that
show passages as answers do, and none twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragways.core.errors import RagwaysError
from ragways.core.types import title_name
from ragways.models.call import Tool, restored
from ragways.retrieval.tools.results import (
    Articles,
    Calculation,
    Excerpt,
    InfoboxFacts,
    LinkPath,
    Listed,
    Outline,
    Paragraphs,
    SectionWindow,
    StubLink,
    ToolOutcome,
    ToolResult,
    quotes,
)
from ragways.retrieval.tools.toolbox import LONGEST, Toolbox

_IDS = frozenset({"article", "id", "ids", "start", "end"})
"""Parameters that take ids."""
_UNSAID = ("k", "limit")
"""Parameters whose defaults do: a model may give them, and need not read of them in every round."""
_ID = re.compile(r"article:[0-9]+(?::\w+)*", re.ASCII)
_NUMBER = re.compile(r"\W*([0-9]{1,6})\W*", re.ASCII)
_LONG = 2000
"""Characters of a section from which on its length is said."""
_LOW = 0.5
"""The share of the best title's score below which another title is not shown."""
SEEN = "seen above:"


class NumberedTools:
    """A toolbox for one conversation, with a table from numbers to ids."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools, self._index = tools, tools.view.index
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, list[tuple[int, int]]] = {}

    def tools(self) -> tuple[Tool, ...]:
        """The tools that have data here, with schemas that say no more than a model needs."""
        offered = self._tools.with_data
        return tuple(
            Tool(t.name, t.description, _brief(t.parameters)) for t in self._tools.tools() if t.name in offered
        )

    async def run(self, name: str, arguments: str) -> ToolResult | RagwaysError:
        """The result of a call, or why there is none. Numbers in its arguments are taken for the ids they stand for."""
        try:
            return await self._tools.result(name, self._with_ids(arguments))
        except RagwaysError as error:
            return error

    def outcome(self, result: ToolResult | RagwaysError) -> ToolOutcome:
        """The text of a result for the model, and the pieces that it quotes. Results are to come in their order."""
        if isinstance(result, RagwaysError):
            near = "; ".join(self._numbered(each) for each in getattr(result, "nearest", ()))
            parts = (f"error: {self._numbered(result.message)}", f"nearest: {near}" if near else "", result.cure)
            return ToolOutcome("\n".join(filter(None, parts)), failed=True)
        lines = [line for line in self._lines(result) if line]
        return ToolOutcome("\n".join(lines) or "nothing found", tuple(quote.piece for quote in quotes(result)))

    def id(self, given: object) -> object:
        """The id that a number stands for; what is no number of an item, as it is."""
        match = _NUMBER.fullmatch(str(given)) if isinstance(given, str | int) else None
        number = int(match[1]) if match else 0
        return [*self._numbers][number - 1] if 0 < number <= len(self._numbers) else given

    def reference(self, text: str) -> str:
        """The id that a reference means: by number, as an id, or by the title of an article, also with a heading."""
        found = str(self.id(text))
        if _ID.fullmatch(found):
            return found
        catalogue = self._tools.view.catalogue
        for title in (text, text.partition(" › ")[0]):
            if (number := catalogue.by_name(title_name(title))) is not None:
                return f"article:{number}"
        return text

    def _with_ids(self, arguments: str) -> str | Mapping[str, object]:
        try:
            given = json.loads(restored(arguments[: LONGEST + 1]) or "{}")
        except (ValueError, RecursionError):
            return arguments
        if not isinstance(given, dict):
            return arguments
        for name in _IDS & given.keys():
            value = given[name]
            given[name] = [self.id(each) for each in value] if isinstance(value, list) else self.id(value)
            if name == "ids" and not isinstance(value, list):
                given[name] = [given[name]]
        return given

    def _number(self, id: str) -> str:
        return f"[{self._numbers.setdefault(id, len(self._numbers) + 1)}]"

    def _numbered(self, text: str) -> str:
        """A message of a tool with numbers in place of ids."""
        return _ID.sub(lambda match: self._number(match[0]), text)

    # Results as lines

    def _lines(self, result: ToolResult) -> Iterator[str]:
        if isinstance(result, Calculation):
            yield result.value
            return
        if isinstance(result, Articles):
            articles = result.articles
            best = {way: max((e.score or 0.0) for e in articles if e.way == way) for way in {e.way for e in articles}}
            near = [each for each in articles if each.score is None or each.score >= _LOW * best[each.way]]
            yield from map(self._article, near)
            if len(near) < len(articles):
                result = replace(result, next_offset=None)  # what follows is less like it still
        elif isinstance(result, Paragraphs):
            yield from self._excerpts(result.paragraphs)
        elif isinstance(result, SectionWindow):
            for part in result.sections:
                yield f"{self._number(part.id)} {part.title} ({part.distance:+d}, {part.paragraphs} paragraphs)"
                yield from self._excerpts([part.first] if part.first else [])
        elif isinstance(result, Outline):
            yield f"{self._number(result.article.id)} {result.article.title}" if result.article.id else ""
            yield from map(self._infobox, result.infoboxes)
            for section in result.sections:
                if section.characters:
                    size = f" ({section.characters:,} characters)" if section.characters >= _LONG else ""
                    yield f"{'  ' * max(0, section.level - 2)}{self._number(section.id)} {section.title}{size}"
        elif isinstance(result, LinkPath):
            yield " → ".join(f"{self._number(each.id)} {each.title}" for each in result.articles)
            yield from self._excerpts([hop.paragraph for hop in result.hops if hop.paragraph])
        yield from self._linking(getattr(result, "linked_from", None) or ())
        following = getattr(result, "next_offset", None)
        yield f"more with offset={following}" if following is not None else ""
        yield self._numbered(result.note)

    def _article(self, article: Listed) -> str:
        way = f", {article.way}" if article.way else ""
        away = f" ({article.distance} away{way})" if article.distance else ""
        return f"{self._number(article.id)} {article.title}{away}"

    def _excerpts(self, excerpts: Iterable[Excerpt]) -> Iterator[str]:
        """Passages under their headings; one that goes on under the same headings does without. Those that were seen
        stand at the end.
        """
        before, seen = "", list[str]()
        for each in excerpts:
            piece = each.piece
            heading = self._index.origins([(piece.document, piece.start, piece.end)])[0].heading(each.title)
            above = f"{heading} ({each.date})" if each.date else heading
            known, number = each.id in self._numbers, self._number(each.id)
            if self._was_seen(each):
                seen.append(number if known else f"{number} {above}")
                continue
            yield f"{number} {above}" if above != before else number
            yield self._index.shown(piece)
            before = above
        if seen:
            yield f"{SEEN} {' '.join(seen)}"

    def _was_seen(self, quote: Excerpt) -> bool:
        """Whether a passage was shown before, alone or in others; from now on it was."""
        seen = self._seen.setdefault(quote.article, [])
        if any(start <= quote.start and quote.end <= end for start, end in seen):
            return True
        merged: list[tuple[int, int]] = []
        for start, end in sorted([*seen, (quote.start, quote.end)]):
            last = merged[-1] if merged else (start, start)
            if self._index.text(quote.article, last[1], start).strip():
                merged.append((start, end))
            else:
                merged[-1:] = [(last[0], max(last[1], end))]
        self._seen[quote.article] = merged
        return False

    def _infobox(self, box: InfoboxFacts) -> str:
        facts = "; ".join(f"{key}: {value}" for key, value in box.fields.items())
        number = f"{self._number(box.source.id)} " if box.source else ""
        return f"{number}Infobox {box.kind}: {facts}"

    def _linking(self, links: Iterable[StubLink]) -> Iterator[str]:
        for link in links:
            yield f"{self._number(link.id)} {link.title}, which calls it {', '.join(link.named)}"


def _brief(schema: Mapping[str, Any]) -> dict[str, object]:
    """A schema of a tool with names and types alone."""
    properties = {
        name: {key: _types(value) for key, value in part.items() if key in ("type", "enum", "items")}
        for name, part in schema["properties"].items()
        if name not in _UNSAID
    }
    return {"type": "object", "properties": properties, "required": list(schema.get("required", ()))}


def _types(value: object) -> object:
    return {"type": value["type"]} if isinstance(value, dict) else value
