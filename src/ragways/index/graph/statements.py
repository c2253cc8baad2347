"""What a sentence says of the names in it: subject, predicate and object, by the words between the names.

There is no parser here. A sentence is read from name to name: a name in front of a verb is its subject, one behind the
verb or behind a preposition is an object, and `and` goes on with what was said before. Where the words between do not
fit, nothing is stated: that two names stand in one sentence is said elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

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
"""Words and signs with which another clause begins, or that turn what is said into its opposite."""
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
_WORDS = 5
"""Words of a predicate."""


class NameAt(Protocol):
    """A name at a place, with its type where that is known."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


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
        """Begin anew: what was said before has no part in what follows."""
        self.subjects, self.verb, self.predicate, self.free = [], (), "", free


def statements(text: str, start: int, end: int, names: Sequence[NameAt], topic: Topic) -> Iterator[Statement]:
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
            said = tokens is not None and bool(tokens) and _is_verb(tokens[-1], "")
            if acting[at] and (said or (tokens == [","] and not acting[at - 1])):
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


def _nouns(text: str, names: Sequence[NameAt], end: int) -> list[NameAt]:
    """Names that stand for something, without those that only describe the noun behind: `a 1954 French film`."""
    found: list[NameAt] = []
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


def _first(tokens: list[str] | None, name: NameAt, topic: Topic, state: _State, owner: bool) -> Iterator[Statement]:
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
    said = 2 if tokens[0] == "the" and len(tokens) > 1 and topic.type == tokens[1] else 0
    said = 1 if tokens[0] in _PRONOUNS and _fits(_PRONOUNS[tokens[0]], topic) else said
    if said and not _BREAKS_ALL & set(tokens[said:]):
        state.subjects = [topic.title]
        yield from _said(tokens[said:], name, state, owner)
        return
    words = [word for word in tokens if word.isalpha()]
    state.free = not any(word in _PREPOSITIONS or word in _BREAKS_ALL for word in words[-3:])


def _fits(kind: str, topic: Topic) -> bool:
    """Whether a pronoun may mean the article: `he` only a person, `it` anything else that is known."""
    return topic.kind == "person" if kind else topic.kind not in ("", "person")


def _next(tokens: list[str] | None, before: NameAt, name: NameAt, state: _State, owner: bool) -> Iterator[Statement]:
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


def _clause(tokens: list[str], before: NameAt, name: NameAt, state: _State, owner: bool) -> Iterator[Statement]:
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
        yield from _said(tokens, name, _State([before.name]), owner)
    else:
        joined = tokens[0] in _LEADING
        if state.free and not (joined and state.subjects) and before.name not in state.subjects:
            state.subjects = [before.name]
        elif not (joined or state.free or relative):
            state.subjects = []
        yield from _said(tokens, name, state, owner)


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


def _said(tokens: Sequence[str], name: NameAt, state: _State, owner: bool) -> Iterator[Statement]:
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
    """The words of a predicate, nothing where they say none that can be trusted."""
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
        return "_".join(words) if len(words) <= _WORDS and "to" not in words[:-1] else ""
    if verb in _BEFORE_VERBS:
        return ""
    return "_".join((verb, *words)) if len(words) < _WORDS else ""


def _no_verb(tokens: list[str], before: NameAt, name: NameAt, state: _State, owner: bool) -> Iterator[Statement]:
    """A preposition goes on with the verb before it, or joins two names; a noun between commas says what one is."""
    words = [word for word in tokens[tokens[0] == "," :] if word not in _ARTICLES and not _is_adverb(word)]
    preposition = words[0] if words and words[0] in _PREPOSITIONS else ""
    last = max((i for i, word in enumerate(words) if word in _PREPOSITIONS), default=-1)
    trailing = len(words) - 1 - last
    plain = all(word.isalpha() for word in words) and trailing <= 3 and len(words) <= _WORDS and not before.type
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


def _listed(tokens: Sequence[str], before: NameAt, name: NameAt, state: _State, owner: bool) -> Iterator[Statement]:
    """`X and Y`: what was said of one holds for the other. A list of names before the verb are its subjects."""
    if state.predicate and not owner and not name.type and not before.type:
        yield from ((subject, state.predicate, name.name) for subject in state.subjects if subject != name.name)
        state.free = False
    elif state.predicate or before.type:
        # `in 1954, X …`: a new subject after what was told of the time.
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


def _in_brackets(tokens: list[str], before: NameAt, name: NameAt, state: _State) -> Iterator[Statement]:
    """`X (born 4 May 1990)`. What else stands in brackets is an aside."""
    words = [word for word in tokens if word not in ("(", ",", "on", "in")]
    if name.type == "date" and words in (["born"], ["died"], ["b", "."], ["d", "."]) and state.free:
        yield before.name, "born" if words[0].startswith("b") else "died", name.name
    if state.free and not state.verb:
        state.subjects = [before.name]
    state.predicate, state.free = "", False
