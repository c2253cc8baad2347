"""Five themes for each document: by a model, or the keywords of its opening."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.layers.layer import Use
from ragways.layers.units import work_through
from ragways.layers.windows.sliding import WindowedDocument
from ragways.layers.words import terms
from ragways.models.limits import count_call
from ragways.store.cache import WorkCache
from ragways.store.store import Store
from ragways.tasks.themes import THEMES, ThemesInput, keywords, opening

KIND = "themes"
"""Under which replies of a model are cached."""
MODEL, RULE = "model", "rule"
_REPLY_TOKENS = 40  # of five themes in JSON
_word_terms = lru_cache(100_000)(terms)


@dataclass(frozen=True, slots=True)
class DocumentThemes:
    """`way` is who named the themes: "model" or "rule"."""

    themes: tuple[str, ...]
    way: str

    @property
    def text(self) -> str:
        """What is embedded: all themes as one text."""
        return ", ".join(self.themes)


def themes_in(store: Store, numbers: Iterable[int]) -> dict[int, DocumentThemes]:
    """The stored themes of documents."""
    found = {}
    for number in numbers:
        rows = sorted(store.facts("themes", "ordinal, theme, way", [number]))
        found[number] = DocumentThemes(tuple(theme for _, theme, _ in rows), rows[0][2] if rows else RULE)
    return found


def themes_hash(document: WindowedDocument) -> str:
    """What a model's themes are cached under: all that it was shown."""
    return content_hash(KIND, THEMES.text.hash, document.title, opening(document.text))


async def name_themes(use: Use, documents: Sequence[WindowedDocument]) -> list[DocumentThemes]:
    """Themes of documents: the model's, where there is one or it named them before, else by the rule."""
    wanted = {themes_hash(document): document for document in documents}
    if use.model.of(THEMES.role).model is not None and use.pays:
        known = use.cache.results(KIND, wanted)
        await _ask_all(use, sorted((item for item in wanted.items() if item[0] not in known), key=lambda item: item[0]))
    named = use.cache.results(KIND, wanted)
    return [
        by_rule(document) if (reply := named.get(themes_hash(document))) is None
        else DocumentThemes(tuple(json.loads(reply)), MODEL)
        for document in documents
    ]  # fmt: skip


def by_rule(document: WindowedDocument) -> DocumentThemes:
    return DocumentThemes(keywords(document.title, opening(document.text), _word_terms), RULE)


async def _ask_all(use: Use, waiting: Sequence[tuple[str, WindowedDocument]]) -> None:
    """Have a model name themes as far as the budget goes. What is left is named by the rule, until a later run."""
    done = 0

    async def ask(item: tuple[str, WindowedDocument]) -> tuple[()]:
        nonlocal done
        await _ask(use, *item)
        done += 1
        use.progress(Progress("themes", done))
        return ()

    try:
        await work_through(waiting, ask)
    except BudgetExceeded as error:
        use.fail(error.message, len(waiting) - done)


async def _ask(use: Use, hash: str, document: WindowedDocument) -> None:
    with use.cache.costing(KIND) as cost:
        try:
            outcome = await use.model.do(THEMES, _input(document))
        except ModelRefused:
            raise
        except ModelError as error:
            use.fail(error.message)
            reply = error.reply if isinstance(error, UnusableReply) else ""
            use.cache.keep_failure(KIND, hash, error.message, reply, cost)
            return
        use.cache.keep_results(KIND, {hash: json.dumps(outcome.value.themes, ensure_ascii=False)}, cost)


def _input(document: WindowedDocument) -> ThemesInput:
    return ThemesInput(document.title, opening(document.text), _word_terms)


class ThemesToCome:
    """What a model would be asked: its prompts are counted on the first documents that it has named no themes of."""

    _SAMPLE = 64

    def __init__(self, cache: WorkCache) -> None:
        self._cache = cache
        self._tokens = self._counted = 0
        self.documents = 0

    def add(self, documents: Sequence[WindowedDocument]) -> None:
        wanted = {themes_hash(document): document for document in documents}
        known = self._cache.results(KIND, wanted)
        new = [document for hash, document in wanted.items() if hash not in known]
        self.documents += len(new)
        for document in new[: max(0, self._SAMPLE - self._counted)]:
            self._tokens += count_call(THEMES.call(_input(document)))
            self._counted += 1

    @property
    def usage(self) -> Usage:
        each = self._tokens / max(1, self._counted)
        return Usage(calls=self.documents, input=round(self.documents * each), output=self.documents * _REPLY_TOKENS)
