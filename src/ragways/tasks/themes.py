"""Name the five themes of documents from their openings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragways.models.task import Task
from ragways.tasks.extract import Terms

THEME_COUNT = 5
OPENING_WORDS = 500
"""Words of a document that its themes are taken from."""

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_LONGEST = 3
_EMPTY_WORDS = (
    "about above after again all also although always among another any became because become been before began "
    "being best better between both came can could did different does doing done down during each early either even "
    "every few first for found from further gave get give given had has have having her here hers him his how "
    "however include included includes including its itself just kind known large last later least led less like "
    "made main mainly make makes making many may means might more most much must near never new next not now off "
    "often old one only other others our out over own part per rather same second see seen several she should since "
    "small some still such take taken than that the their them then there these they thing third this those three "
    "through thus time together too took two type under until upon use used uses using usually various very was way "
    "well went were what when where whether which while who whom whose why will with within without would year "
    "years yet you your"
)
"""Words that name no theme, beside the stop words of the index."""

_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True)
class ThemesInput:
    """Titles and openings of documents; the first has number 1. `terms` gives the stem of a word, for the rule."""

    documents: Sequence[tuple[str, str]]
    terms: Terms


@dataclass(frozen=True, slots=True)
class NamedThemes:
    """The themes of document number `document`."""

    document: int
    themes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Themes:
    documents: tuple[NamedThemes, ...]


def opening(text: str) -> str:
    """The first words of a text, as they stand."""
    found = list(zip(range(OPENING_WORDS), re.finditer(r"\S+", text), strict=False))
    return text[: found[-1][1].end()] if found else ""


def keywords(title: str, text: str, terms: Terms, limit: int = THEME_COUNT) -> tuple[str, ...]:
    """Phrases of one to three words that a text says often; a phrase counts by its length, and twice in the title.

    The rule looks at this text alone, not at how common a word is in the corpus: so a document keeps its themes, and
    their vector, when others come and go. `terms` gives a word's stem, or nothing for a stop word.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    shown: dict[tuple[str, ...], str] = {}
    for stems, phrase in _phrases(f"{title}\n{text}", terms):
        counts[stems] += 1
        shown.setdefault(stems, phrase)
    titled = {stem for word in _WORD.findall(title) for stem in terms(word)}

    def weight(stems: tuple[str, ...]) -> float:
        named = sum(stem in titled for stem in stems) / len(stems)
        return counts[stems] * len(stems) * (1 + named)

    order = sorted(shown, key=lambda stems: -weight(stems))  # equal weights stay in the order of the text
    chosen: list[tuple[str, ...]] = []
    for stems in order:
        if len(chosen) < limit and not any(set(stems) & set(other) for other in chosen):
            chosen.append(stems)
    return tuple(shown[stems] for stems in chosen) or ((title,) if title.strip() else ())


def _phrases(text: str, terms: Terms) -> Iterator[tuple[tuple[str, ...], str]]:
    """Runs of words that follow one another with nothing but a space between, no stop word among them."""
    run: list[tuple[str, re.Match[str]]] = []
    end = -1
    for word in _WORD.finditer(text):
        stem = terms(word[0]) if len(word[0]) > 2 and word[0].lower() not in _EMPTY else []
        if not stem or text[end : word.start()] != " ":
            run = []
        if stem:
            run.append((stem[0], word))
        for length in range(1, min(_LONGEST, len(run)) + 1):
            part = run[-length:]
            yield tuple(s for s, _ in part), text[part[0][1].start() : word.end()]
        end = word.end()


def _render(given: ThemesInput) -> Mapping[str, object]:
    numbered = (f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(given.documents, start=1))
    return {"documents": "\n\n".join(numbered)}


def themes_of(reply: Themes, given: ThemesInput) -> dict[int, tuple[str, ...]]:
    """The different themes of each document, by its place, with those of the rule where there are fewer than five. One
    of which the reply names no theme is left out.
    """
    found = {}
    for each in reply.documents:
        named = [theme.strip() for theme in each.themes if theme.strip()]
        if named and 1 <= each.document <= len(given.documents):
            by_rule = keywords(*given.documents[each.document - 1], given.terms) if len(named) < THEME_COUNT else ()
            different = {theme.casefold(): theme for theme in reversed((*named, *by_rule))}
            found[each.document - 1] = tuple(reversed(different.values()))[:THEME_COUNT]
    return found


def _check(reply: Themes, given: ThemesInput) -> str | None:
    if themes_of(reply, given):
        return None
    return f"it has no themes of any document; documents are numbered 1 to {len(given.documents)}"


async def _without(given: ThemesInput) -> Themes:
    named = (NamedThemes(n, keywords(*each, given.terms)) for n, each in enumerate(given.documents, start=1))
    return Themes(tuple(named))


THEMES = Task(
    "themes",
    prompt="themes",
    reply=Themes,
    without=_without,
    render=_render,
    check=_check,
    max_output=1024,
    role="extract",
)
