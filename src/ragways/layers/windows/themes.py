"""Five themes for each document: by a model, or the keywords of its opening."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.layers.layer import Use
from ragways.layers.units import packs, work_through
from ragways.layers.windows.sliding import WindowedDocument
from ragways.layers.words import terms
from ragways.models.limits import count_call
from ragways.models.tokens import count_each
from ragways.store.cache import WorkCache
from ragways.store.store import Store
from ragways.tasks.themes import THEMES, ThemesInput, keywords, opening, themes_of

KIND = "themes"
"""Under which replies of a model are cached."""
MODEL, RULE = "model", "rule"
DOCUMENTS_IN_PACK = 10
_PACK_TOKENS = 4000
_REPLY_TOKENS = 40  # of five themes in JSON
_word_terms = lru_cache(100_000)(terms)

_Pack = tuple[tuple[str, WindowedDocument], ...]
"""Documents that are named together, each with its hash."""


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

    async def ask(pack: _Pack) -> Sequence[_Pack]:
        nonlocal done
        lacking = await _ask(use, pack)
        done += len(pack) - len(lacking)
        use.progress(Progress("themes", done))
        return lacking

    try:
        await work_through(list(_packs(waiting)), ask)
    except BudgetExceeded as error:
        use.fail(error.message, len(waiting) - done)


def _packs(documents: Sequence[tuple[str, WindowedDocument]]) -> Iterator[_Pack]:
    costs = count_each([opening(document.text) for _, document in documents])
    return packs(documents, costs, tokens=_PACK_TOKENS, most=DOCUMENTS_IN_PACK)


async def _ask(use: Use, pack: _Pack) -> Sequence[_Pack]:
    """Have a model name the themes of some documents; it is asked again for each alone of which it named none."""
    given, error, reply = _input(pack), "the reply has no themes of this document", ""
    named: dict[int, tuple[str, ...]] = {}
    with use.cache.costing(KIND) as cost:
        try:
            named = themes_of((await use.model.do(THEMES, given)).value, given)
        except ModelRefused:
            raise
        except ModelError as failure:
            error = failure.message
            reply = failure.reply if isinstance(failure, UnusableReply) else ""
        stored = {pack[at][0]: json.dumps(themes, ensure_ascii=False) for at, themes in named.items()}
        use.cache.keep_results(KIND, stored, cost)
        lacking = [item for at, item in enumerate(pack) if at not in named]
        if len(pack) > 1:
            return [(item,) for item in lacking]
        for hash, _ in lacking:
            use.fail(error)
            use.cache.keep_failure(KIND, hash, error, reply, cost)
    return ()


def _input(pack: _Pack) -> ThemesInput:
    return ThemesInput([(document.title, opening(document.text)) for _, document in pack], _word_terms)


class ThemesToCome:
    """What a model would be asked: its prompts are counted on the first documents that it has named no themes of."""

    _SAMPLE = 60

    def __init__(self, cache: WorkCache) -> None:
        self._cache = cache
        self._some: list[tuple[str, WindowedDocument]] = []
        self.documents = 0

    def add(self, documents: Sequence[WindowedDocument]) -> None:
        wanted = {themes_hash(document): document for document in documents}
        known = self._cache.results(KIND, wanted)
        new = [item for item in wanted.items() if item[0] not in known]
        self.documents += len(new)
        self._some += new[: max(0, self._SAMPLE - len(self._some))]

    @property
    def usage(self) -> Usage:
        prompts = [count_call(THEMES.call(_input(pack))) for pack in _packs(self._some)]
        times = self.documents / max(1, len(self._some))
        calls = math.ceil(len(prompts) * times)
        return Usage(calls=calls, input=round(sum(prompts) * times), output=self.documents * _REPLY_TOKENS)
