"""Which tools an agent may use, as a setting says it: `all`, `title_search,calculator`, `-backlinks`."""

from __future__ import annotations

from collections.abc import Sequence

from ragways.core.errors import UsageError, did_you_mean


def chosen_tools(text: str, among: Sequence[str]) -> tuple[str, ...]:
    """Names joined by commas; a name with a minus before it is left out of all the others."""
    given = [name.strip() for name in text.split(",") if name.strip()]
    without = {name.removeprefix("-").strip() for name in given if name.startswith("-")}
    named = {name for name in given if not name.startswith("-") and name != "all"}
    for name in sorted(without | named):
        if name not in among:
            raise UsageError(f"setting tools: there is no tool {name[:80]!r} here", did_you_mean(name, among))
    wanted = named if named and "all" not in given else set(among)
    return tuple(name for name in among if name in wanted - without)
