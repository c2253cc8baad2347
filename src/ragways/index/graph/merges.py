"""Which names are proposed to mean the same, each with its reason. Each can be vetoed: nothing is lost for good."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ragways.core.types import content_hash
from ragways.index.graph.kinds import coarse
from ragways.index.graph.names import fold, letters_of, split_title
from ragways.index.graph.spoken import Spoken, Use

EVERYWHERE = -1
"""In place of a document's number: the merge holds in the whole corpus."""

_BEFORE_PLACES = """
new north south east west northern southern eastern western central greater great upper lower old inner outer saint st
san santa los las el la le fort mount mt lake port river cape gulf bay isle nazi imperial british french soviet
university college republic kingdom united american royal national international
"""
_NO_SURNAME = frozenset(_BEFORE_PLACES.split())
_PARTICLES = frozenset({"of", "the", "and", "for", "in", "at", "on", "de", "del"})


@dataclass(frozen=True, slots=True, order=True)
class Merge:
    """`name` means `into`, in one document or everywhere. Both as they are compared."""

    document: int
    name: str
    into: str
    reason: str


def veto_hash(name: str, other: str) -> str:
    """The name under which a veto of this merge is kept, whichever way round it is written."""
    one, two = fold(name), fold(other)
    if one == two:
        one, two = name.strip(), other.strip()
    return content_hash(*sorted((one, two)))


def proposals(spoken: Mapping[int, Spoken], titles: Mapping[str, str], common: Callable[[str], bool]) -> list[Merge]:
    """Every merge that the names suggest.

    `titles`: articles and redirects, folded, with the title they lead to. `common`: whether a word is an everyday one.
    """
    found = {*_redirects(titles), *_bases(titles), *_aliases(spoken, titles), *_short_forms(spoken, titles, common)}
    return sorted(merge for merge in found if merge.name != merge.into and merge.name and merge.into)


def _redirects(titles: Mapping[str, str]) -> Iterator[Merge]:
    for name, title in titles.items():
        if fold(title) != name:
            yield Merge(EVERYWHERE, name, fold(title), "redirect")


def _bases(titles: Mapping[str, str]) -> Iterator[Merge]:
    """`Grey Petrel` is `Grey Petrel (ship)`, where no other article has that name."""
    articles: dict[str, set[str]] = defaultdict(set)
    for title in set(titles.values()):
        base, ending = split_title(title)
        if ending:
            articles[fold(base)].add(fold(title))
    for base, full in articles.items():
        if base not in titles and len(full) == 1:
            yield Merge(EVERYWHERE, base, next(iter(full)), "the only article of this name")


def _aliases(spoken: Mapping[int, Spoken], titles: Mapping[str, str]) -> Iterator[Merge]:
    """Other names that a document gives; an acronym holds everywhere, where no document means something else by it."""
    acronyms: dict[str, set[str]] = defaultdict(set)
    for number, document in spoken.items():
        for name, use in document.names.items():
            for alias in use.aliases:
                short = fold(alias)
                if short in titles and short != fold(split_title(document.title)[0]):
                    continue
                acronym = any(alias.rstrip("s").replace(".", "") == letters_of(s) for s in use.spellings)
                yield Merge(number, short, name, "acronym" if acronym else "alias")
                if acronym:
                    acronyms[short].add(name)
    for short, names in acronyms.items():
        if len(names) == 1 and len(short) > 1:
            yield Merge(EVERYWHERE, short, next(iter(names)), "acronym")


def _short_forms(
    spoken: Mapping[int, Spoken], titles: Mapping[str, str], common: Callable[[str], bool]
) -> Iterator[Merge]:
    """`Tamsett` is `Oriel Tamsett` in a document where nobody else is called so.

    A word that stands alone in most documents (`Germany`, beside one `Nazi Germany`) is a name of its own.
    """
    inside: dict[str, dict[int, str]] = defaultdict(dict)
    uses: Counter[str] = Counter()
    for number, document in spoken.items():
        long = _by_last_word(document)
        for name in document.names:
            if " " in name or len(name) < 3 or name in titles or name.isdecimal() or common(name):
                continue
            uses[name] += 1
            into = long.get(name, set())
            if len(into) > 1 and (title := fold(split_title(document.title)[0])) in into:
                into = {title}
            if len(into) == 1:
                inside[name][number] = next(iter(into))
    own = {number: fold(split_title(document.title)[0]) for number, document in spoken.items()}
    for name, places in inside.items():
        usual = 2 * len(places) >= uses[name]
        for number, full in places.items():
            if full == own[number]:
                yield Merge(number, name, fold(spoken[number].title), "short form")
            elif usual:
                yield Merge(number, name, full, "short form")
        if usual and len(set(places.values())) == 1:
            yield Merge(EVERYWHERE, name, next(iter(places.values())), "short form")


def _by_last_word(document: Spoken) -> dict[str, set[str]]:
    """Full names of a document by their last word; the article's own person by the first word too."""
    found: dict[str, set[str]] = defaultdict(set)
    own = fold(split_title(document.title)[0])
    for name, use in [*document.names.items(), (own, document.names.get(fold(document.title), Use()))]:
        words = name.split()
        if not 2 <= len(words) <= 5 or words[0] in _NO_SURNAME or _PARTICLES & set(words) or not words[-1].isalpha():
            continue
        if any(coarse(type) not in ("", "person") for type in use.types):
            continue
        found[words[-1]].add(name)
        if name == own and any(coarse(type) == "person" for type in use.types):
            found[words[0]].add(name)
    return found
