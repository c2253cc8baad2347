"""What may be a name in a text, in the forms that names are looked up by."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.index.graph.names import folded
from ragways.index.graph.rules.words import STOP

_LONGEST = 12  # words of a name in a question
_ARTICLES = frozenset({"the", "a", "an"})


def name_spans(words: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    """What may be a name among words: first word, word behind it, and the forms it may have; the longest first from
    each word. None begins or ends with a small stop word: `the country` is no name even where `Country` is one.
    """
    compared = [folded(word) for word in words]
    return [
        (i, j, _forms(compared[i:j]))
        for i, word in enumerate(words)
        if word not in STOP
        for j in range(min(len(words), i + _LONGEST), i, -1)
        if words[j - 1] not in STOP
    ]


def _forms(words: list[str]) -> list[str]:
    """Words as names are compared (`fold`, of words that are folded already), and their singular."""
    form = " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)
    return [form, form[:-1]] if len(form) > 4 and form.endswith("s") else [form]
