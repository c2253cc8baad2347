"""The trace of an answer as a tree of text: what went into each step, what came out, what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragways.core.text import printable
from ragways.core.trace import Span

if TYPE_CHECKING:
    from rich.text import Text

_HOPS, _ENTITIES = 20, 8
_APART = ("input", "output", "path", "gathered", "seeds", "best", "reached", "prompt", "stopped")
"""Details that have a line of their own, or none."""


def show_trace(span: Span, names: Mapping[str, str]) -> None:
    """The steps as a tree. `names` are those of the entities that steps name by id."""
    from rich.tree import Tree

    from ragways.apps.terminal import console

    def grow(branch: Any, here: Span) -> None:  # noqa: ANN401
        before = str(here.details.get("input", ""))
        for child in here.children:
            grow(branch.add(_step(child, before, names)), child)
            before = str(child.details.get("output", before))

    tree = Tree(_step(span, "", names), guide_style="dim")
    grow(tree, span)
    console().print(tree)


def cost(span: Span) -> str:
    """Time, and what was asked of a model: `12.3 ms`, `1.2 s, 2 calls, 1,204 tokens`."""
    time = f"{span.seconds:.2f} s" if span.seconds >= 1 else f"{span.seconds * 1000:.1f} ms"
    used = span.total
    return f"{time}, {used.calls:,} calls, {used.tokens:,} tokens" if used.calls else time


def facts(span: Span, names: Mapping[str, str]) -> str:
    """Settings of a step and what it counted: `k 10 · found 7`."""
    shown = [(key, value) for key, value in span.details.items() if key not in _APART]
    return " · ".join(f"{key} {said}" for key, value in shown if (said := _plain(value, names)))


def _step(span: Span, before: str, names: Mapping[str, str]) -> Text:
    from rich.text import Text

    line = Text.assemble((span.name, "bold"), "  ", (cost(span), "cyan"))
    if span.way:
        line.append(f"  {printable(span.way)}", style="italic")
    if said := facts(span, names):
        line.append(f"\n{printable(said)}", style="dim")
    # What a step is given is as a rule what the one before it gave.
    given = str(span.details.get("input", ""))
    for sign, text in (("in ", given if given != before else ""), ("out", str(span.details.get("output", "")))):
        if text:
            line.append(f"\n{sign}  ", style="green")
            line.append(printable(text))
    for each in _drawn(span, names):
        line.append(f"\n     {printable(each)}")
    if span.error:
        line.append(f"\n{printable(span.error)}", style="red")
    return line


def _drawn(span: Span, names: Mapping[str, str]) -> list[str]:
    """The way of a walk: windows hop by hop, or seeds and the entities that most of the mass went to."""
    lines = []
    path, gathered = pairs(span, "path"), pairs(span, "gathered")
    for number, ((window, similar, why), got) in enumerate(zip(path, gathered, strict=False), start=1):
        lines.append(f"{number:>2}  {similar:.3f}  {window}  {why}; {len(got)} sentences")
    lines = lines[:_HOPS] + ([f"    and {len(lines) - _HOPS} hops more"] if len(lines) > _HOPS else [])
    if span.details.get("stopped"):
        lines.append(f"stopped: {span.details['stopped']}")
    for key, word in (("seeds", "seeds"), ("best", "strongest")):
        scored = pairs(span, key)[:_ENTITIES]
        if scored:
            lines.append(f"{word}: " + ", ".join(f"{names.get(id, id)} {score:.3f}" for id, score in scored))
    return lines


def pairs(span: Span, key: str) -> Sequence[Any]:
    """Rows that a step left in its details, or none."""
    value = span.details.get(key)
    if isinstance(value, Mapping):
        return list(value.items())
    return value if isinstance(value, list | tuple) else ()


def _plain(value: object, names: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value if len(value) <= 80 else value[:79] + "…"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        shown = [names.get(each, each) for each in value if isinstance(each, str)][:4]
        return ", ".join(shown) + (" …" if len(value) > len(shown) else "") if shown else ""
    return str(value) if isinstance(value, int) else ""
