"""The one table of paradigms. The command's list, the settings and the docs are made from it."""

from __future__ import annotations

from ragways.core.errors import UsageError
from ragways.core.suggest import did_you_mean
from ragways.paradigms import hybrid_words, llm_only, naive, words
from ragways.paradigms.paradigm import Paradigm, Strategy

PARADIGMS: dict[str, Paradigm] = {
    module.PARADIGM.name: module.PARADIGM for module in (llm_only, naive, words, hybrid_words)
}


def find_paradigm(name: str) -> Paradigm:
    if name not in PARADIGMS:
        raise UsageError(f"there is no paradigm {name!r}", did_you_mean(name, PARADIGMS))
    return PARADIGMS[name]


__all__ = ["PARADIGMS", "Paradigm", "Strategy", "find_paradigm"]
