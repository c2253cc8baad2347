"""Whether passages state a claim about one thing: yes, no because another value stands in its place, or nothing.

A claim is the words that a question for yes or no leaves ("the tower located in Denmark"). It holds where one sentence
about the thing has all its words; it fails where the thing's country, date, number or kind is another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragways.core.text import lazy_regex
from ragways.reading import facts
from ragways.reading.facts import singular
from ragways.reading.pages import MOST_CHARACTERS, FoundValue, Page, name_key
from ragways.reading.pages import about as about_thing
from ragways.reading.questions import attribute_of
from ragways.reading.values import Period, amounts, countries, periods

_EMPTY: Final = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been by did do does for from had has have in is it its of on or that the their there
        this to was were what who whose which with both one located situated based also ever described considered known
        called classified s""",
    )
)
"""Words that a sentence may state a claim without."""
_NOT = lazy_regex(
    r"\b(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had) not\b|\w[’']t\b|\bcannot\b|\bnever\b",
    re.IGNORECASE,
)
_UNSURE = lazy_regex(
    r"\bnot\b|\b(?:only|always|necessarily|if|unless|whether|except|no longer|rather than|instead of|although|unlike|"
    r"without|neither|nor|alleged\w*|rumou?r\w*|planned|unclear|unknown|failed|hardly|rarely|until|but|however)\b",
    re.IGNORECASE,
)
"""What keeps a sentence from stating a claim, or its opposite; "not" where it does not belong to the verb."""
_OWN = lazy_regex(r"(?:he|she|it|they|his|her|its|their|the|this|these)\b", re.IGNORECASE)
_ALIKE: Final = {
    "author": "writer novelist poet playwright essayist journalist",
    "writer": "author novelist poet playwright essayist journalist screenwriter",
    "musician": "singer guitarist pianist drummer bassist songwriter rapper composer violinist saxophonist band",
    "singer": "vocalist rapper",
    "director": "filmmaker",
    "actor": "actress",
    "actress": "actor",
    "film": "movie filmmaker",
    "movie": "film",
    "athlete": "player runner swimmer footballer cyclist",
}
"""What a text may say in place of a kind."""


def fits(claim: str, pages: Sequence[Page], *, kind: bool) -> tuple[bool, FoundValue] | None:
    """Whether passages about a thing say that it is what a claim says: its nation, its kind ("American actors") where
    the claim is one of `kind`, a date, or else a sentence that states or denies the claim.
    """
    page = next(iter(pages), None)
    if page is None or _OPINION.search(claim):
        return None
    attribute, dated = attribute_of(claim), periods(claim)
    if dated and attribute in facts.RULES:
        return _by_date(attribute, dated[0], page) if _only_dated(claim) else None
    wanted = _words(_without_countries(claim))
    if not kind and wanted:
        found = _stated(claim, wanted, pages, frozenset(page.key.split()))
        return (found[0] == "yes", found[1]) if found else None
    claimed = {country.name for country in countries(claim)}
    nation = facts.nations(page) if claimed else None
    if claimed and (nation is None or not wanted or not claimed & nation.names):
        return (bool(claimed & nation.names), nation) if nation else None
    return _by_kind(wanted, pages) if wanted else None


_OPINION = lazy_regex(r"\b(?:better|best|worse|worst|good|bad)\b", re.IGNORECASE)


def _by_kind(kinds: frozenset[str], pages: Sequence[Page]) -> tuple[bool, FoundValue] | None:
    """By what the beginning of a text says that its subject is; not so where no text about it says so anywhere."""
    page = pages[0]
    lead = _words(" ".join(page.sentences[:3])[:800])
    missing = {kind for kind in kinds if not _mentions(kind, lead)}
    first_sentence = FoundValue(page.number, 0, page.sentences[0][:200])
    if not missing:
        return True, first_sentence
    everything = _words(" ".join(one.text for one in pages))
    defined = re.search(r"\b(?:is|was|are|were) (?:an?|the)\b", page.lead)
    return (False, first_sentence) if defined and not any(_mentions(kind, everything) for kind in missing) else None


def only_fit(claim: str, pages: Sequence[Sequence[Page]]) -> tuple[int, list[FoundValue]] | None:
    """Which of several things a claim fits, each with its passages: the one with a sentence that has all words of it,
    where no sentence about another has even half of them.
    """
    wanted = _words(claim)
    best: list[tuple[int, FoundValue]] = []
    for own in pages:
        sentences = [(page, at, one) for page in own for at, one in enumerate(page.sentences)]
        shared = [(len(wanted & _words(one)), FoundValue(page.number, at, one[:300])) for page, at, one in sentences]
        best.append(max(shared, key=lambda each: each[0], default=(-1, FoundValue(0, 0, ""))))
    right = [at for at, (count, _) in enumerate(best) if count == len(wanted)]
    others = [count for at, (count, _) in enumerate(best) if at not in right]
    if len(wanted) < 2 or len(right) != 1 or any(not 0 <= 2 * count < len(wanted) for count in others):
        return None
    return right[0], [value for _, value in best]


def _mentions(kind: str, words: frozenset[str]) -> bool:
    return kind in words or not words.isdisjoint(_ALIKE.get(kind, "").split())


def stated(claim: str, pages: Sequence[Page]) -> tuple[str, FoundValue, str] | None:
    """`yes` or `no`, the value that decides, and what it is about: by a sentence that states the claim or denies it,
    else by another value of what is claimed. Without a title that the claim names, all of it must be in the sentence.
    """
    subject, rest = _subject(claim, pages)
    about = about_thing(subject, pages)[:3] if subject else []
    wanted = _words(_without_countries(rest))
    if _verdict(claim) != "yes" or not (wanted or countries(rest)) or (not about and len(wanted) < _ENOUGH):
        return None
    stated = _stated(rest, wanted, about or pages, frozenset(subject.split()))
    return stated or (_another(rest, wanted, about[0]) if about else None)


def _stated(
    claim: str, wanted: frozenset[str], pages: Sequence[Page], own: frozenset[str]
) -> tuple[str, FoundValue, str] | None:
    """The first sentence that states the claim, or denies it."""
    for page in pages:
        for number, sentence in enumerate(page.sentences):
            verdict = _verdict(sentence)
            if verdict and _states(sentence, claim, wanted, own):
                return verdict, FoundValue(page.number, number, sentence[:300]), page.title
    return None


_ENOUGH: Final = 3
"""Words of a claim that must stand together where no title says what a sentence is about."""


def _verdict(sentence: str) -> str | None:
    """`yes` for a sentence that asserts, `no` for one that denies, None for one that does neither plainly."""
    denied = len(_NOT.findall(sentence))
    return None if denied > 1 or _UNSURE.search(_NOT.sub(" ", sentence)) else "no" if denied else "yes"


def _states(sentence: str, claim: str, wanted: frozenset[str], own: frozenset[str]) -> bool:
    """Whether a sentence about the subject has every word and every country of the claim, and who does what to whom is
    not turned round by a passive.
    """
    claimed = {country.name for country in countries(claim)}
    turned = bool(re.search(r"\bby\b", sentence)) != bool(re.search(r"\bby\b", claim))
    return (
        {word[:6] for word in wanted} <= {word[:6] for word in _words(sentence)}
        and (not own or bool(_OWN.match(sentence)) or bool(own & set(name_key(sentence).split())))
        and claimed <= {country.name for country in countries(sentence)}
        and (not turned or bool(claimed) or not re.search(r"[A-Z]", claim))
    )


def _another(claim: str, wanted: frozenset[str], page: Page) -> tuple[str, FoundValue, str] | None:
    """Yes or no by the value of the one attribute that a claim is about; nothing where it says more than that."""
    attribute, dated, counted = attribute_of(claim), periods(claim), amounts(claim)
    claimed = {country.name for country in countries(claim)}
    found: tuple[bool, FoundValue] | None = None
    if dated and attribute in facts.RULES and _only_dated(claim):
        found = _by_date(attribute, dated[0], page)
    elif claimed and attribute in ("birth", "death"):
        found = _by_place(attribute, claimed, page)
    elif claimed and not attribute and not dated and wanted <= _words(page.lead):
        nation = facts.nations(page)
        found = (bool(claimed & nation.names), nation) if nation else None
    elif (
        len(counted) == 1
        and not dated
        and len(wanted) <= 2
        and (noun := re.match(r"[ -]?([a-z]+)", claim[counted[0].end :]))
    ):
        same = [value for _, value in facts.measured(page, noun[1])]
        if len({value.low for value in same}) == 1:
            found = (same[0].low == counted[0].value, same[0])
    return ("yes" if found[0] else "no", found[1], page.title) if found else None


_OF_TIME = lazy_regex(
    r"\b(?:born|died?|released?|published|premiered?|founded|formed|established|opened|built|created|launched|started|"
    r"completed|first|came|come|out|on|in|year)\b"
)


def _only_dated(claim: str) -> bool:
    for period in reversed(periods(claim)):
        claim = claim[: period.start] + claim[period.end :]
    return not _words(_OF_TIME.sub(" ", claim))


def _by_date(attribute: str, claimed: Period, page: Page) -> tuple[bool, FoundValue] | None:
    value = next((found for rule in facts.RULES[attribute] if (found := rule(page))), None)
    low, high = facts.day(claimed.first), facts.day(claimed.last)
    if value is None or not (value.high < low or high < value.low or low <= value.low <= value.high <= high):
        return None
    return low <= value.low <= high, value


def _by_place(attribute: str, claimed: set[str], page: Page) -> tuple[bool, FoundValue] | None:
    """By the country behind "born" or "died" in a sentence of the text."""
    word = re.compile(r"\bborn\b" if attribute == "birth" else r"\bdied\b")
    for number, sentence in enumerate(page.sentences[:20]):
        place = word.search(sentence)
        named = countries(sentence[place.end() : place.end() + 100]) if place else []
        if lands := {country.name for country in named if not country.people}:
            return bool(claimed & lands), FoundValue(page.number, number, sentence[:300])
    return None


def _subject(claim: str, pages: Sequence[Page]) -> tuple[str, str]:
    """The title that a claim begins with or else holds, and the rest of the claim."""
    words = claim.split(" ")
    keys = [name_key(word, whole=True) for word in words]
    best = (0, 0)
    titles = {page.key for page in pages if page.key}
    for first in range(min(len(words), 40)):
        for last in range(first + 1, min(len(words), first + 12) + 1):
            key = name_key(" ".join(key for key in keys[first:last] if key), whole=True)
            if key in titles and last - first > best[1] - best[0]:
                best = (first, last)
    first, last = best
    return name_key(" ".join(words[first:last]), whole=True), " ".join(words[:first] + words[last:])


_COUNTED = lazy_regex(
    r"(?:[a-z-]+ ){0,3}?[a-z-]+(?= (?:are|is|were|was|did|do|does|have|has|had|in|of|on|that|can|belong|make)\b|$)"
)
_LISTED = lazy_regex(r"(?:[^,;:.()]{2,60}, ){1,20}[^,;:.()]{2,60},? and [^,;:.()]{2,60}")


def listed_count(claim: str, pages: Sequence[Page]) -> tuple[str, FoundValue, str] | None:
    """How many: the number before what is counted, in a sentence about the subject that has the claim's other words;
    else the length of a list that such a sentence gives behind a colon or "are".
    """
    subject, rest = _subject(claim, pages)
    about = about_thing(subject, pages)[:3] if subject else []
    noun = re.match(
        r"(?:[a-z-]+ )?[a-z-]+?(?= (?:are|is|were|was|did|do|does|have|has|had|in|of|on|that|can|belong|make)\b|$)",
        claim,
    )
    if not about or noun is None:
        return None
    counted = singular(noun.group().rsplit(" ", 1)[-1])
    wanted = _words(rest) - {counted}
    best: list[tuple[int, str, FoundValue, str]] = []
    for page in about:
        for _, value in facts.measured(page, counted):
            shared = len(wanted & _words(page.sentences[value.sentence]))
            best.append((shared, f"{value.low:g}" if value.low < 1e6 else f"{value.low:,.0f}", value, page.title))
        if best:
            continue
        for number, sentence in enumerate(page.sentences):
            begin = re.search(
                rf"\b{re.escape(counted)}\w{{0,3}}(?: of [^:.]{{0,60}})?(?: are| were| include|:)[: ]", sentence
            )
            if begin and (found := _LISTED.match(sentence[begin.end() :].strip())):
                length = len(re.split(r",? and |, ", found.group()))
                best.append((0, str(length), FoundValue(page.number, number, found.group()[:300]), page.title))
    best.sort(key=lambda one: -one[0])
    if not best or any(one[0] == best[0][0] and one[1] != best[0][1] for one in best):
        return None
    return best[0][1:]


def _without_countries(text: str) -> str:
    for country in reversed(countries(text)):
        text = text[: country.start] + text[country.end :]
    return text


def _words(text: str) -> frozenset[str]:
    """Words that say something, in one form each."""
    words = re.findall(r"\w+", text[:MOST_CHARACTERS].casefold())
    return frozenset(singular(word) for word in words if word not in _EMPTY)
