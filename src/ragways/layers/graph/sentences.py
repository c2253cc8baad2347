"""What a sentence holds, by rules: the names in it, and what it states of them.

There is no parser here. Names are known by capitals, quotation marks, brackets and units. What is stated is read from
name to name: a name in front of a verb is its subject, one behind the verb or behind a preposition is an object, and
`and` goes on with the statement before. Where the words between do not fit, nothing is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ragways.layers.graph.names import STOP, WordCounts, is_given

_UPPER = re.escape("".join(c for c in map(chr, range(128, 0x2C00)) if c.isupper()))
_U = rf"[A-Z{_UPPER}]"
_W = r"[^\W_]"
_CAPITAL = rf"(?:[Aa]l-|[Ee]l-|[dl]['’])?{_U}{_W}*(?:['’\-–]{_W}+)*"
_SHORT = rf"(?:St|Dr|Mr|Mrs|Ms|Jr|Sr|Mt|Ft|Lt|Col|Gen|Capt|Sgt|Prof|Rev|Hon|Bros|Co|Inc|Ltd|{_U}(?:\.{_U})*)\."
_PARTICLE = (
    r"(?:of the|of|de la|de los|de las|de|del|della|der|den|des|di|da|do|dos|du|la|le|les|von der|von dem|von|van der|"
    r"van den|van de|van|zu|zur|ten|ter|bin|ibn|al|el|af|upon|sur)"
)
_NAME = re.compile(
    rf"(?=[aedlA-Z{_UPPER}])"  # with what a name begins: other places are passed over at once
    rf"(?:{_SHORT}|\b{_CAPITAL})(?:(?: {_PARTICLE} | - | & | |-)(?:{_SHORT}|{_CAPITAL}))*"
    rf"(?: \d{{1,3}}(?![\d%-]|[.,]\d| {_U}| \d))?"
)
_QUOTED = re.compile(r"(?:[\"“]|``)([^\"“”`\n]{2,100}?)(?:[\"”]|'')")
_STARTED = "the new old great north south east west central upper lower san santa saint little big black white red"
_STARTERS = frozenset(_STARTED.split())
"""Everyday words that begin names: at the start of a sentence, before another capital, they count as part of it."""
_OWNED = re.compile(r"([\w ]+)['’]s ([^\W\d_]+) ")
_CROWD = 12
"""Words from which on a run of capitals is no sentence."""
_WORDS = re.compile(r"[^\W_]+")
_BORDER = re.compile(r"(?:[.!?:]\s|[\n\"'“‘(\[{=|])[^\w]*$")
_OF = re.compile(r" (?:of|de|du|del|von|van|&) ")
_ROLE = re.compile(r" (?:CEO|CTO|CFO|COO) (?=\w)")
_HYPHENED = re.compile(r"([^\W\d_]+)(?:[-–][a-z]+)+$")
_CONTRACTED = re.compile(r"['’]\w+$")
_SPELT = 4
"""Letters from which on a common word in capitals is shouted, not an acronym."""
_LOOK_BACK = 12
"""Characters before a name in which a sentence or a line may begin: a list's signs are longer than a space."""
_CODE = re.compile(r"[{}<>=\\/_]")
_MARK = re.compile(r"[\"“`]")
_POSSESSIVE = re.compile(r"['’]s?$")
_LONG_THEN_SHORT = re.compile(rf"\(\s*(?:the |or |abbreviated |abbreviated as )?({_U}[{_UPPER}A-Z&.]{{1,9}}s?)\s*[);,]")


def capital_names(text: str, start: int, end: int, lexicon: WordCounts) -> Iterator[tuple[int, int]]:
    """Places of names in one sentence. Its first word has a capital anyway, so it counts only if it is not common.

    A heading in common words is no name. Fields of a box that run on without a full stop are cut at common words.
    """
    crowded = is_crowded(text[start:end])
    for low, high in _capitals(text, start, end):
        opening = _opens(text, start, low)
        if crowded:
            yield from _between_common(text, low, high, lexicon)
            continue
        place = _trimmed(text, low, high, opening, lexicon)
        if place is not None and not (opening and _heading(text, place, end, lexicon)):
            yield place


def _opens(text: str, start: int, low: int) -> bool:
    """Whether a sentence that begins at `start`, or a line or a part of it, begins with what stands at `low`."""
    if low - start > 1 and text[low - 1] == " " and text[low - 2].isalnum():
        return False  # as most: one space behind a word
    if low - start <= _LOOK_BACK and not any(map(str.isalnum, text[start:low])):
        return True
    return _BORDER.search(text, max(start, low - _LOOK_BACK), low) is not None


def _capitals(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of words with capitals. `Lanner Ltd. CEO Oriel Tamsett` and `Egypt's George Smith` are two,
    `Euclid's Elements` is one, and a part of `COMP_WORDS` is none.
    """
    for match in _NAME.finditer(text, start, end):
        low, high = match.span()
        if text[high : high + 1] == "_" or text[max(0, low - 1) : low] == "_":
            continue
        name = match.group()
        while " C" in name and (role := _ROLE.search(text, low, high)) is not None:
            yield low, role.start()
            low = role.end()
        owned = _OWNED.match(text, low, high) if "'" in name or "’" in name else None
        if owned is not None and is_given(owned[2]):
            yield low, owned.end(1)
            low = owned.start(2)
        yield low, high


@lru_cache(maxsize=4096)  # names and statements both need it
def is_crowded(sentence: str) -> bool:
    """Whether a sentence is a run of fields: many words, most of them with capitals or digits."""
    words = sentence.split()
    return len(words) >= _CROWD and sum(not word[0].islower() for word in words) > 0.7 * len(words)


def _between_common(text: str, low: int, high: int, lexicon: WordCounts) -> Iterator[tuple[int, int]]:
    """The parts of a name that common words divide, those of one word aside."""
    begin = last = -1
    for match in re.finditer(r"\S+", text[low:high] + " \n."):
        word = match.group()
        if word == "." or lexicon.common(word.strip(".")) or word[0].isdigit():
            if begin >= 0 and " " in text[low + begin : low + last]:
                yield low + begin, low + last
            begin = -1
        else:
            begin = match.start() if begin < 0 else begin
            last = match.end()


def _heading(text: str, place: tuple[int, int], end: int, lexicon: WordCounts) -> bool:
    """Whether a name in common words alone is all that its line says."""
    low, high = place
    rest = text[high:end]
    return not any(c.isalnum() or c in ".!?" for c in rest) and all(map(lexicon.opener, _WORDS.findall(text[low:high])))


def _trimmed(text: str, low: int, high: int, opening: bool, lexicon: WordCounts) -> tuple[int, int] | None:
    """The name without the words that open the sentence and are none (`In Paris`, `However Tamsett`, `Add Arabic`).

    Inside a sentence a capital is meant: there `New` and `The` belong to the name. A single word that the corpus
    writes small more often is none even there, nor is a number or a day (`May 4`).
    """
    name = text[low:high]
    while " " in name:
        head, _, rest = name.partition(" ")
        if not (opening and (bare := _bare(head).casefold()) not in _STARTERS and lexicon.opener(bare)) and not (
            _hyphened(head) and lexicon.common(head.rpartition("-")[2])  # `Virginia-based Lanner`
        ):
            break
        low += len(head) + 1
        name, opening = rest, not rest[:1].isupper()
    bare = _ended(_bare(name), text[low + len(name) : low + len(name) + 2])
    words = bare.split()
    if len(bare) < 2 or (not bare[:2].isalnum() and sum(map(str.isalnum, bare)) < 2):
        return None
    if _is_no_name(words[0]) and _is_no_name(words[-1]):
        return None
    return (low, low + len(bare)) if _is_name(words, opening, lexicon) else None


# An expression is tried only where its signs are: most names have none of them.


def _bare(name: str) -> str:
    """A name without the ending of an owner."""
    return _POSSESSIVE.sub("", name) if "'" in name or "’" in name else name


def _hyphened(word: str) -> re.Match[str] | None:
    """`Virginia-based`, with its first part."""
    return _HYPHENED.match(word) if "-" in word or "–" in word else None


def _is_no_name(word: str) -> bool:
    return word.isdigit() or word.casefold() in STOP


def _ended(name: str, after: str) -> str:
    """The name up to where a sentence ended unseen: `World War I. A …`, `PCR A polymerase`."""
    words = name.split() if "." in name else []
    for at in range(1, len(words)):
        if words[at - 1].endswith(".") and words[at].casefold() in STOP:
            return " ".join(words[:at]).rstrip(".")
    return name.removesuffix(" A") if after[:1] == " " and after[1:].islower() else name


def _is_name(words: list[str], opening: bool, lexicon: WordCounts) -> bool:
    """Whether words with capitals are a name rather than common words that begin a line or run on."""
    letters = [word for word in words if not word.isdigit()]
    known = lexicon.opener if opening else lexicon.common
    if len(letters) > 1:
        return lexicon.is_name(letters) or bool(_OF.search(" ".join(words)))
    word = letters[0]
    if (_CONTRACTED.sub("", word) if "'" in word or "’" in word else word).casefold() in STOP:
        return False
    hyphened = _hyphened(word)
    if hyphened and (lexicon.opener(hyphened[1]) or hyphened[1].casefold() in STOP):
        return False
    return (word.isupper() and len(word) < _SPELT) or not known(word)


def quoted_names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Works in quotation marks that are written as names are: a capital at the start, eight words at most."""
    if not _MARK.search(text, start, end):
        return
    for match in _QUOTED.finditer(text, start, end):
        inner = match[1].strip(" ,.;")
        words = inner.split() if not _CODE.search(inner) else []
        if inner[:1].isupper() and 1 <= len(words) <= 8 and sum(w[0].isupper() for w in words) * 2 >= len(words):
            low = match.start(1) + match[1].index(inner)
            yield low, low + len(inner)


def acronyms(text: str, span: tuple[int, int], names: Iterable[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """Short forms in brackets after the long form whose letters they are: `World Health Organization (WHO)`."""
    if text.find("(", *span) < 0:
        return
    ends = {high: low for low, high in names}
    for match in _LONG_THEN_SHORT.finditer(text, *span):
        before = match.start()
        while before > 0 and text[before - 1] == " ":
            before -= 1
        low = ends.get(before)
        if low is not None and _spells(match[1], text[low:before]):
            yield match[1], text[low:before]


def _spells(short: str, long: str) -> bool:
    letters = [c for c in short if c.isupper()]
    initials = [word[0] for word in re.findall(r"[^\W_]+", long) if word[0].isupper()]
    every = [word[0].upper() for word in re.findall(r"[^\W_]+", long)]
    words = (initials, every, initials[1:] if long.startswith("The ") else [])
    return len(letters) >= 2 and letters in words


def uncased(text: str) -> bool:
    """Whether most letters of a text, by a sample from its start, belong to a script without capitals."""
    letters = [c for c in text[:400:4] if c.isalpha()]
    return bool(letters) and sum(c.lower() != c.upper() for c in letters) * 2 < len(letters)


_DIGIT = re.compile(r"\d")
_UNITS = (
    "%|percent|per cent|km²|km2|km|kilomet(?:er|re)s?|metres?|meters?|m|cm|mm|miles?|feet|ft|inches|inch|acres?|"
    "hectares?|kg|kilograms?|grams?|tonn?es?|tons?|pounds?|lbs?|litres?|liters?|mph|km/h|knots?|°C|°F|degrees|"
    "million|billion|trillion|people|inhabitants|residents|passengers|seats|years?|days?|hours?|minutes?|seconds?|"
    "dollars|euros|watts?|MW|GW|kW|Hz|MHz|kHz|GHz"
)
_QUANTITY = re.compile(
    r"(?=[$€£¥\d])"  # as above
    rf"(?:(?<![\w.,])[$€£¥]?\d[\d,]*(?:\.\d+)?(?:\s?-?\s?(?:{_UNITS}))(?!\w)|[$€£¥]\d[\d,]*(?:\.\d+)?)"
)


_SIGNS = {"%": " percent", "$": " dollars", "€": " euros", "£": " pounds sterling", "¥": " yen"}


def quantities(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Places of numbers with a unit, and how they are called: in words, so that `4%` is compared with no other 4."""
    if not _DIGIT.search(text, start, end):
        return
    for match in _QUANTITY.finditer(text, start, end):
        name = match.group()
        sign = next((unit for sign, unit in _SIGNS.items() if sign in name), "")
        yield *match.span(), "".join(c for c in name if c not in _SIGNS).strip() + sign


# What is stated

Statement = tuple[str, str, str]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_VERBS = _set(
    """
    born began became came won led left made met wrote written took taken gave given held kept known named sent sold
    built bought brought fought found founded grew grown ran sang sung set shot shown spent spoke stood taught told
    wore lost lay lies drew drawn drove flew fell hit sank sought struck swam went put read rose saw seen sat beat bore
    broke broken chose chosen cut dealt done hung laid lent paid rode shut slept stole stolen swore threw thrown
    is are was were has have had stars features includes contains borders serves plays works lives hosts owns runs
    operates uses provides supports returns requires follows covers belongs consists comprises produces represents
    stands flows forms leads remains becomes specifies inherits extends implements calls accepts raises depends
    defines causes treats inhibits affects involves
    starring featuring becoming serving defeating replacing succeeding containing comprising joining
    """
)
_NO_VERBS = _set("red bed need speed indeed seed hundred naked sacred wicked united aged so-called feed based-on")
_COPULAS = _set("is are was were be been being became becomes remains")
_PASSIVE = _set("is are was were be been being")
_BEFORE_VERBS = _set("has have had will would be been to is are was were")
_ADVERBS = _set("also later then first now still once again soon best")
_ARTICLES = _set("a an the his her its their another one this")
_PREPOSITIONS = _set(
    "of in on at by from near between before after under over during within to with for as into against through since "
    "until around across along throughout towards via off onto without despite including unlike among amid behind "
    "beyond above below toward upon outside inside instead"
)
_PLACING = _set("of in from at near by")
_TIMING = _set("in on since until during")
_LINKS = _set(", and or & / ; plus")
_LEADING = _LINKS | _BEFORE_VERBS | {"but"}
_RELATIVE = _set("who which that")
_BREAKS_ALL = _RELATIVE | _set(
    "whose where when while whom because if although though he she it they him them we i you not never no cannot nor "
    "n't what how unless rather than whether such like except there unlikely expected likely ; : ? ! – —"
)
"""Words and signs with which another clause begins, or that turn the meaning into its opposite."""
_FUNCTION = (
    _PREPOSITIONS
    | _ARTICLES
    | _BREAKS_ALL
    | _ADVERBS
    | _COPULAS
    | _BEFORE_VERBS
    | _set("and or but may can could should might must did does do both all itself himself herself alone together")
)
_NO_NOUNS = _set("new own last late former original old next previous main")
_PRONOUNS = {"he": "person", "she": "person", "it": "", "they": ""}
_OWN = {"his": "person", "her": "person", "its": ""}
_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
_LONGEST = 160
"""Characters between two names that are still read."""
_PREDICATE_WORDS = 5
"""Words of a predicate at most."""


class NameMention(NamedTuple):
    """A name at a place. `inside` marks a title within a longer name, `Ghent` in `Ghent University`."""

    start: int
    end: int
    name: str
    type: str = ""
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """What an article is about: its title, its kind (`person`) and the word for it (`film`), empty if not known."""

    title: str
    kind: str = ""
    type: str = ""


@dataclass
class _State:
    """Who does what, as far as the sentence has been read."""

    subjects: list[str] = field(default_factory=list)
    verb: tuple[str, ...] = ()
    predicate: str = ""
    """What joined the last name to the subjects: `and` goes on with it."""
    free: bool = True
    """Whether the last name may be the subject of a verb that follows it."""

    def clear(self, free: bool) -> None:
        """Begin anew: the clause before has no part in what follows."""
        self.subjects, self.verb, self.predicate, self.free = [], (), "", free


def statements(text: str, start: int, end: int, names: Sequence[NameMention], topic: Topic) -> Iterator[Statement]:
    """What the sentence from `start` to `end` states of the names in it, which come in order."""
    names = _nouns(text, [name for name in names if name.type != "quantity"], end)
    acting = [_acts(text, name.end, end) for name in names]
    state = _State()
    for at, name in enumerate(names):
        owner = text[name.end : name.end + 2] in ("'s", "’s") and _TOKEN.match(text, name.end, end) is not None
        if at == 0:
            tokens = _tokens(text, start, name.start)
            yield from _first(tokens, name, topic, state, owner)
        else:
            before = names[at - 1]
            tokens = _tokens(text, before.end, name.start)
            reported = tokens is not None and bool(tokens) and _is_verb(tokens[-1], "")
            if acting[at] and (reported or (tokens == [","] and not acting[at - 1])):
                state.clear(free=True)  # `in X, Y did …` and `X said Y did …`: a new subject
                continue
            yield from _next(tokens, before, name, state, owner)
        if owner:
            state.predicate, state.free = "", True
        state.free = state.free and not name.type


def _tokens(text: str, start: int, end: int) -> list[str] | None:
    """The words and signs between two names; None where they are too many to be read."""
    return _TOKEN.findall(text[start:end].casefold()) if end - start <= _LONGEST else None


def _acts(text: str, place: int, end: int) -> bool:
    """Whether a verb follows here."""
    following = _TOKEN.match(text, place + 1, end) if text.startswith(" ", place) else None
    return following is not None and _is_verb(following.group(), "")


def _nouns(text: str, names: Sequence[NameMention], end: int) -> list[NameMention]:
    """Names that stand for something, without those that only describe the noun behind: `a 1954 French film`."""
    found: list[NameMention] = []
    described = -1  # where a name begins that only describes
    for name in reversed(names):
        following = _TOKEN.match(text, name.end + 1, end) if text.startswith(" ", name.end) else None
        word = following.group() if following is not None else ""
        if name.end + 1 == described or (word.isalpha() and word.islower() and len(word) > 2 and not _is_known(word)):
            described = name.start
        else:
            found.append(name)
    return found[::-1]


def _is_known(word: str) -> bool:
    return word in _FUNCTION or word.endswith("ly") or _is_verb(word, "")


def _is_verb(word: str, before: str) -> bool:
    if word in _VERBS:
        return before not in _ARTICLES
    if word in _NO_VERBS or word in _FUNCTION or not word.isalpha():
        return False
    return word.endswith("ed") and len(word) > 4 and before not in _ARTICLES


def _first(
    tokens: list[str] | None, name: NameMention, topic: Topic, state: _State, owner: bool
) -> Iterator[Statement]:
    """What stands before the first name. A pronoun or `the film` means the article; a preposition has no subject."""
    if not tokens:
        state.free = tokens is not None
        return
    kind = _OWN.get(tokens[0])
    if kind is not None and _fits(kind, topic) and not owner:
        noun = [word for word in tokens[1:] if word not in (",", "was", "is", "were")]
        if len(noun) == 1 and noun[0].isalpha() and not _is_known(noun[0]):
            yield name.name, f"{noun[0]}_of", topic.title
            return
    subject = 2 if tokens[0] == "the" and len(tokens) > 1 and topic.type == tokens[1] else 0
    subject = 1 if tokens[0] in _PRONOUNS and _fits(_PRONOUNS[tokens[0]], topic) else subject
    if subject and not _BREAKS_ALL & set(tokens[subject:]):
        state.subjects = [topic.title]
        yield from _verbal(tokens[subject:], name, state, owner)
        return
    words = [word for word in tokens if word.isalpha()]
    state.free = not any(word in _PREPOSITIONS or word in _BREAKS_ALL for word in words[-3:])


def _fits(kind: str, topic: Topic) -> bool:
    """Whether a pronoun may mean the article: `he` only a person, `it` anything else that is known."""
    return topic.kind == "person" if kind else topic.kind not in ("", "person")


def _next(
    tokens: list[str] | None, before: NameMention, name: NameMention, state: _State, owner: bool
) -> Iterator[Statement]:
    """What stands between a name and the next one."""
    if tokens is None:
        state.clear(free=True)
    elif tokens and tokens[0] in ("'s", "’s"):
        yield from _possessive(tokens[1:], before.name, name.name, owner)
        state.clear(free=not set(tokens) & _PREPOSITIONS)
    elif tokens[:1] == ["("] or tokens[:2] == [",", "born"]:
        yield from _in_brackets(tokens, before, name, state)
    else:
        if ")" in tokens:
            tokens = [",", *tokens[tokens.index(")") + 1 :]]  # what stood in brackets was an aside
        if set(tokens) <= _LINKS:
            yield from _listed(tokens, before, name, state, owner)
        else:
            yield from _clause(tokens, before, name, state, owner)


def _clause(
    tokens: list[str], before: NameMention, name: NameMention, state: _State, owner: bool
) -> Iterator[Statement]:
    """Words between two names: a verb and what belongs to it, or a preposition that goes on with the verb before."""
    relative = 1 + (tokens[0] == ",") if _RELATIVE & set(tokens[: 1 + (tokens[0] == ",")]) else 0
    if relative:
        state.clear(free=False)
        state.subjects, tokens = [before.name] if not before.type else [], tokens[relative:]
    found, verb = _verb_at(tokens)
    if not tokens or _BREAKS_ALL & set(tokens) or {".", "(", '"'} & set(tokens):
        # A clause of its own: whoever stands before its verb is its subject.
        state.clear(free=bool(tokens) and tokens[-1] not in _PREPOSITIONS and not verb)
    elif not verb:
        yield from _no_verb(tokens, before, name, state, owner)
    elif any(word not in _LEADING and not _is_adverb(word) for word in tokens[:found]):
        state.clear(free=False)
    elif _is_reduced(tokens, found, state) and not relative and not before.type:
        state.predicate = ""
        yield from _verbal(tokens, name, _State([before.name]), owner)
    else:
        joined = tokens[0] in _LEADING
        if state.free and not (joined and state.subjects) and before.name not in state.subjects:
            state.subjects = [before.name]
        elif not (joined or state.free or relative):
            state.subjects = []
        yield from _verbal(tokens, name, state, owner)


def _is_reduced(tokens: list[str], found: int, state: _State) -> bool:
    """`the novel X, written by Y`: a participle without `was` belongs to the name before it, not to the subject."""
    bare = not set(tokens[: found + 1]) & _BEFORE_VERBS and tokens[-1] in ("by", "in", "at", "on")
    return bare and not state.free and tokens[0] not in ("and", "or", "but") and "and" not in tokens


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or word.endswith("ly")


def _verb_at(tokens: Sequence[str]) -> tuple[int, str]:
    """The first verb of the words, auxiliaries counted, and its place."""
    for at, word in enumerate(tokens):
        if _is_verb(word, tokens[at - 1] if at else ""):
            return at, word
    return -1, ""


def _verbal(tokens: Sequence[str], name: NameMention, state: _State, owner: bool) -> Iterator[Statement]:
    """`was directed by`, `moved to`, `is the capital of`: what the words from a verb to a name say of the subjects."""
    at = max((i for i, w in enumerate(tokens) if _is_verb(w, tokens[i - 1] if i else "")), default=-1)
    if at < 0:
        state.verb, state.predicate, state.free = (), "", False
        return
    verb = tokens[at]
    found = _verb_at(tokens)[0]
    if tokens[found] not in _PASSIVE and not all(w in _LEADING or _is_adverb(w) for w in tokens[found + 1 : at]):
        # `has a unit called X`: the second verb has another subject.
        state.verb, state.predicate, state.free = (), "", False
        return
    passive = verb not in _COPULAS and not verb.endswith("ing") and bool(_PASSIVE & set(tokens[:at]))
    tail = [word for word in tokens[at + 1 :] if word not in _ARTICLES and not _is_adverb(word)]
    predicate = _predicate(verb, passive, tail)
    if name.type and predicate.rpartition("_")[2] not in _TIMING:
        predicate = ""
    state.verb = (verb,) if verb not in _COPULAS and verb not in _BEFORE_VERBS else ()
    state.predicate, state.free = "" if owner else predicate, False
    if predicate and not owner:
        yield from ((subject, predicate, name.name) for subject in state.subjects if subject != name.name)


def _predicate(verb: str, passive: bool, tail: list[str]) -> str:
    """The words of a predicate; nothing where they give none that can be trusted."""
    last = max((i for i, word in enumerate(tail) if word in _PREPOSITIONS), default=-1)
    noun = tail[last + 1 :]
    aimed = noun and last >= 0 and tail[last] == "to"  # `set to release`: what was not done yet
    plain = all((word.isalnum() or "-" in word) and word not in ("and", "or") for word in tail)
    if len(noun) > 3 or aimed or not plain:
        return ""
    if last < 0:
        if verb in _COPULAS:
            return "is" if not noun else ""
        return f"was_{verb}" if passive else verb
    words = tail[: last + 1]
    if verb in _COPULAS or (passive and words[0] not in _PREPOSITIONS):
        # `is the capital of`, `was a member of`: what it is, and the preposition.
        first = next(i for i, word in enumerate(words) if word in _PREPOSITIONS)
        words = words[max(0, first - 1) :] if first else ["is", *words]
        return "_".join(words) if len(words) <= _PREDICATE_WORDS and "to" not in words[:-1] else ""
    if verb in _BEFORE_VERBS:
        return ""
    return "_".join((verb, *words)) if len(words) < _PREDICATE_WORDS else ""


def _no_verb(
    tokens: list[str], before: NameMention, name: NameMention, state: _State, owner: bool
) -> Iterator[Statement]:
    """A preposition goes on with the verb before it, or joins two names; a noun between commas says what one is."""
    words = [word for word in tokens[tokens[0] == "," :] if word not in _ARTICLES and not _is_adverb(word)]
    preposition = words[0] if words and words[0] in _PREPOSITIONS else ""
    last = max((i for i, word in enumerate(words) if word in _PREPOSITIONS), default=-1)
    trailing = len(words) - 1 - last
    plain = (
        all(word.isalpha() for word in words) and trailing <= 3 and len(words) <= _PREDICATE_WORDS and not before.type
    )
    plain = plain and not (preposition == "to" and trailing)
    state.predicate, apposed = "", tokens[0] == ","
    if owner or not plain or last < 0:
        state.free = apposed and last < 0 and not state.verb
    elif not preposition and last > 0 and apposed and not any(w in ("and", "or") or w.endswith("ing") for w in words):
        yield before.name, "_".join(words[max(0, last - 1) : last + 1]), name.name
        if state.free and not state.subjects:
            state.subjects = [before.name]
        state.free = False
    elif preposition == "of" or (not state.verb and words[: last + 1] == [preposition] and preposition in _PLACING):
        if not name.type and len(words) == 1 and (preposition != "by" or state.free):
            yield before.name, preposition, name.name
        state.free = False if apposed else state.free
    elif preposition and state.verb and state.subjects and last == 0:
        if not name.type or preposition in _TIMING:
            state.predicate = "_".join((*state.verb, preposition))
            yield from ((subject, state.predicate, name.name) for subject in state.subjects if subject != name.name)
        state.free = False
    else:
        state.free = False


def _listed(
    tokens: Sequence[str], before: NameMention, name: NameMention, state: _State, owner: bool
) -> Iterator[Statement]:
    """`X and Y`: what is stated of one holds for the other. A list of names before the verb are its subjects."""
    if state.predicate and not owner and not name.type and not before.type:
        yield from ((subject, state.predicate, name.name) for subject in state.subjects if subject != name.name)
        state.free = False
    elif state.predicate or before.type:
        # `in 1954, X …`: a new subject behind a date.
        state.predicate, state.free = "", not state.subjects or not state.verb
    elif state.free and "and" in tokens:
        state.subjects = [*(state.subjects or [before.name]), name.name]
    elif not tokens:
        state.free = False


def _possessive(tokens: list[str], owner: str, name: str, owning: bool) -> Iterator[Statement]:
    """`Corran's daughter Ilsabet`, `Corran's capital is Saltrey`: what stands behind is the owner's."""
    words = [word for word in tokens if word not in (",", "is", "was") and not _is_adverb(word)]
    if owning or len(words) > 3 or any(word in _FUNCTION or not word.isalpha() for word in words):
        return
    if words and not _is_verb(words[-1], "") and words[-1] not in _NO_NOUNS:
        yield name, f"{words[-1]}_of", owner
    elif not tokens:
        yield name, "of", owner


def _in_brackets(tokens: list[str], before: NameMention, name: NameMention, state: _State) -> Iterator[Statement]:
    """`X (born 4 May 1990)`. What else stands in brackets is an aside."""
    words = [word for word in tokens if word not in ("(", ",", "on", "in")]
    if name.type == "date" and words in (["born"], ["died"], ["b", "."], ["d", "."]) and state.free:
        yield before.name, "born" if words[0].startswith("b") else "died", name.name
    if state.free and not state.verb:
        state.subjects = [before.name]
    state.predicate, state.free = "", False
