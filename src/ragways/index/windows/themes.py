"""Five themes for each document: by a model, or the keywords of its opening. Both are kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ragways.core.errors import ModelError, ModelRefused, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.layer import BuildContext
from ragways.index.units import work_through
from ragways.index.windows.sliding import WindowedDocument
from ragways.index.words import terms
from ragways.models.limits import count_call
from ragways.tasks.themes import THEMES, ThemesInput, keywords, opening

KIND = "themes"
RULE = "theme words"
_RULE_VERSION = "1"  # to be raised when the rule changes, so that words kept from the older one are not used
_SAMPLE = 64  # prompts that are counted to plan for all of them
_REPLY_TOKENS = 40  # of five themes in JSON
_DOCUMENTS_AT_ONCE = 1000
_word_terms = lru_cache(100_000)(terms)


@dataclass(frozen=True, slots=True)
class DocumentThemes:
    """`way` says who named the themes: "model" or "rule"."""

    themes: tuple[str, ...]
    way: str

    @property
    def text(self) -> str:
        """What is embedded: all themes as one text."""
        return ", ".join(self.themes)

    def as_json(self) -> str:
        return json.dumps([self.way, *self.themes], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> DocumentThemes:
        way, *themes = json.loads(text)
        return cls(tuple(themes), way)


def themes_hash(slid: WindowedDocument) -> str:
    """What a model's themes are kept under: all that it was shown."""
    return content_hash(KIND, THEMES.text.hash, slid.title, opening(slid.text))


def words_hash(slid: WindowedDocument) -> str:
    """What the keywords are kept under."""
    return content_hash(RULE, _RULE_VERSION, slid.title, opening(slid.text))


async def ask_themes(context: BuildContext, documents: Iterable[WindowedDocument]) -> None:
    """Let the model, if there is one, name the themes of documents that have none from a model yet."""
    if context.model.model is None:
        return
    done = 0

    async def ask(item: tuple[str, WindowedDocument]) -> tuple[()]:
        nonlocal done
        await _ask(context, *item)
        done += 1
        context.progress(Progress("themes", done))
        return ()

    for some in _batches(documents):
        wanted = {themes_hash(slid): slid for slid in some}
        known = context.work_cache.results(KIND, wanted)
        await work_through(sorted((item for item in wanted.items() if item[0] not in known), key=_hash), ask)


def _hash(item: tuple[str, WindowedDocument]) -> str:
    return item[0]


def themes_to_come(context: BuildContext, documents: Iterable[WindowedDocument]) -> tuple[int, Usage]:
    """Documents without themes, and what it would take to ask for them: counted on the prompts of some."""
    by_model = context.model.model is not None
    missing, seen, tokens = 0, 0, 0
    for some in _batches(documents):
        wanted = {themes_hash(slid) if by_model else words_hash(slid): slid for slid in some}
        known = context.work_cache.results(KIND if by_model else RULE, wanted)
        new = [slid for hash, slid in wanted.items() if hash not in known]
        missing += len(new)
        for slid in new[: max(0, _SAMPLE - seen)] if by_model else ():
            given = ThemesInput(slid.title, opening(slid.text), _word_terms)
            tokens, seen = tokens + count_call(THEMES.call(given)), seen + 1
    if not seen:
        return missing, Usage()
    return missing, Usage(calls=missing, input=round(missing * tokens / seen), output=missing * _REPLY_TOKENS)


async def _ask(context: BuildContext, hash: str, slid: WindowedDocument) -> None:
    with context.work_cache.costing(KIND) as cost:
        try:
            outcome = await context.model.do(THEMES, ThemesInput(slid.title, opening(slid.text), _word_terms))
        except ModelRefused:
            raise
        except ModelError as error:
            context.fail(error.message)
            said = error.reply if isinstance(error, UnusableReply) else ""
            context.work_cache.keep_failure(KIND, hash, error.message, said, cost)
        else:
            kept = [theme.strip() for theme in outcome.value.themes]
            context.work_cache.keep_results(KIND, {hash: json.dumps(kept, ensure_ascii=False)}, cost)


def themes_of(context: BuildContext, documents: Iterable[WindowedDocument]) -> dict[str, DocumentThemes]:
    """Themes by document: the model's where it has named them, else by the rule."""
    found: dict[str, DocumentThemes] = {}
    for some in _batches(documents):
        asked = {slid.id: themes_hash(slid) for slid in some}
        ruled = {slid.id: words_hash(slid) for slid in some}
        by_model = context.work_cache.results(KIND, asked.values())
        by_rule = context.work_cache.results(RULE, ruled.values())
        new = {
            ruled[slid.id]: json.dumps(keywords(slid.title, opening(slid.text), _word_terms), ensure_ascii=False)
            for slid in some
            if asked[slid.id] not in by_model and ruled[slid.id] not in by_rule
        }
        if new:
            context.work_cache.keep_results(RULE, new)
        by_rule |= new
        for slid in some:
            kept = by_model.get(asked[slid.id])
            themes = json.loads(kept if kept is not None else by_rule[ruled[slid.id]])
            found[slid.id] = DocumentThemes(tuple(themes), "rule" if kept is None else "model")
    return found


def _batches(documents: Iterable[WindowedDocument]) -> Iterator[list[WindowedDocument]]:
    """A thousand at a time: no more texts than that are held at once."""
    rest = iter(documents)
    while some := list(islice(rest, _DOCUMENTS_AT_ONCE)):
        yield some
