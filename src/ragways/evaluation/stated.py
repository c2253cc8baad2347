"""Whether an answer states something, or only has the words for it: "Not Paris but Lyon" has Paris and states Lyon.

A rule over words, for English: it looks at the clause in which an accepted answer stands. What is denied there, or
offered as one of several, is not stated. A yes or no is stated where the answer begins with it or a clause is nothing
else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragways.core.markdown import unmarked
from ragways.evaluation.question import compared, composed, normal

POLAR = frozenset({"yes", "no", "true", "false"})
_NO_BUT = frozenset({"doubt", "question", "one", "matter", "wonder", "longer"})
"""Words after which a leading "no" is no answer: "no doubt it was"."""
_BORDER = frozenset({"but", "and", "while", "whereas", "although", "though", "because", "since"})
_DENIAL = frozenset({"not", "t", "never", "neither", "nor", "no", "without", "unlike", "except", "cannot", "hardly"})
"""A "t" is what is left of "isn't"."""
_AUXILIARY = frozenset({"is", "are", "was", "were", "did", "does", "do", "has", "have", "had", "can", "could", "would"})
_OFFER = frozenset({"or", "either", "maybe", "perhaps", "possibly"})
_RATHER = re.compile(r"\b(?:rather than|instead of|as opposed to|other than)\b", re.IGNORECASE)
_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely)\b", re.IGNORECASE)
_INSIDE = frozenset("-–'’\"“”")
"""Signs that end no clause."""
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def states(answer: str, gold: str) -> bool:
    """Whether the answer states this accepted answer; marks of citations do not count."""
    wanted = normal(gold).split()
    if not wanted:
        said, sign = compared(answer, gold)
        return f" {sign} " in f" {said} "
    clauses = list(_clauses(answer))
    if len(wanted) == 1 and wanted[0] in POLAR:
        return _polar(clauses, wanted[0])
    words = [(word, place) for place, clause in enumerate(clauses) for word in clause]
    starts = (
        at for at in range(len(words) - len(wanted) + 1) if [w for w, _ in words[at : at + len(wanted)]] == wanted
    )
    return any(not _undone(words, at, at + len(wanted)) for at in starts)


def _clauses(answer: str) -> Iterator[list[str]]:
    """The words of each clause in turn, as answers are compared. A sign ends one, or a word that begins another."""
    text = _RATHER.sub(". not ", _NOT_ONLY.sub(" ", " ".join(unmarked(composed(answer)).split())))
    clause: list[str] = []
    for token in _TOKEN.findall(text):
        words = normal(token)
        if words in _BORDER or (not words and not token.isalnum() and token not in _INSIDE):
            yield clause
            clause = []
        clause += words.split()
    yield clause


def _polar(clauses: Sequence[Sequence[str]], wanted: str) -> bool:
    first = next(filter(None, clauses), ())
    leads = list(first[:1]) == [wanted] and not (wanted == "no" and set(first[1:2]) & _NO_BUT)
    return leads or any(list(clause) == [wanted] for clause in clauses)


def _undone(words: Sequence[tuple[str, int]], start: int, end: int) -> bool:
    """Whether the clause denies what stands from start to end, or offers something else beside it."""
    before = [word for word, place in words[:start] if place == words[start][1]]
    after = [word for word, place in words[end:] if place == words[end - 1][1]]
    denied = _DENIAL.intersection(before) or after[:1] == ["nor"]
    denied_after = any(other in _DENIAL and (one in _AUXILIARY or other == "t") for one, other in pairwise(after[:2]))
    return bool(denied or denied_after or _OFFER.intersection(before) or "or" in after)
