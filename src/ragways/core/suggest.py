"""What was meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean naive?`, or the names there are."""
    names = sorted(known)
    near = get_close_matches(name[:80], names, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}"
