"""Evidence as another system tells of it, and where the gold evidence stands in it. No index is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragways.core.types import title_name
from ragways.evaluation.question import Gold, plain_words

MOST_TITLE = 200
"""Characters of a title at most."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of evidence as it was given. A text that stands alone may be a title, and is compared as both."""

    text: str = ""
    title: str = ""
    id: str = ""
    score: float | None = None
    alone: bool = False

    def as_data(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "alone" and value not in ("", None)}


def are_titles(passages: Iterable[Passage]) -> bool:
    """Texts that stand alone are titles where all of them are short lines."""
    alone = [passage.text for passage in passages if passage.alone]
    return bool(alone) and all(len(text) <= MOST_TITLE and "\n" not in text for text in alone)


def titled(passage: Passage) -> Passage:
    return replace(passage, title=passage.text, text="") if passage.alone else passage


def ranks(wanted: Sequence[Gold], found: Sequence[Passage]) -> tuple[int | None, ...]:
    """For each piece of gold, the rank at which it was found: among documents, or among pieces for a quote."""
    order: dict[str, int] = {}
    for passage in found:
        order.setdefault(_document(passage), len(order) + 1)
    texts = [plain_words(passage.text) for passage in found]
    return tuple(_rank(gold, found, texts, order) for gold in wanted)


def _rank(gold: Gold, found: Sequence[Passage], texts: Sequence[str], order: dict[str, int]) -> int | None:
    if gold.quote:
        quote = plain_words(gold.quote)
        traced = enumerate(zip(found, texts, strict=True), start=1)
        return next((number for number, (one, text) in traced if quote in text and _may_be(gold, one)), None)
    whole = plain_words(gold.text)[:2000]
    at = (
        order[_document(passage)]
        for passage, text in zip(found, texts, strict=True)
        if _is(gold, passage) or (whole and (whole in text or (len(text) > MOST_TITLE and text in whole)))
    )
    return min(at, default=None)


def _document(passage: Passage) -> str:
    return title_name(passage.title or passage.text) or passage.id


def _may_be(gold: Gold, passage: Passage) -> bool:
    """A passage without a title may come from any document."""
    return not gold.title or not passage.title or title_name(gold.title) == title_name(passage.title)


def _is(gold: Gold, passage: Passage) -> bool:
    if gold.key and passage.id and gold.key in (passage.id, passage.id.rpartition("#")[2]):
        return True
    name = passage.title or (passage.text if passage.alone else "")
    return bool(gold.title) and title_name(gold.title) == title_name(name)
