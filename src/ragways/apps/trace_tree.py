"""The trace of an answer as a tree of text: what went into each step, what came out, what it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ragways.apps.terminal import console, write_line
from ragways.core.text import counted, printable
from ragways.core.trace import Span
from ragways.index.filtered import only
from ragways.index.open import Index
from ragways.pictures.shell import write_page
from ragways.pictures.walk_page import cost, facts, pictures, walk_page
from ragways.retrieval.ask import Result
from ragways.retrieval.knowledge_graph import EntityScores
from ragways.retrieval.traversals import WindowPath

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.text import Text

_HOPS, _ENTITIES = 20, 8


def show_walks(
    folder: Path,
    results: Sequence[Result],
    *,
    html: Path | None,
    as_text: bool,
    question: NDArray[np.floating] | None = None,
) -> None:
    """The traces as text, the pictures into a file, or both. `question`: its vector, for the map of windows."""
    with closing(Index.open(folder)) as whole:
        where = next((result.where for result in results if result.where), "")
        index = only(whole, where) if where else whole
        if as_text:
            names = entity_names(index, (result.trace for result in results))
            for result in results:
                show_trace(result.trace, names)
        if html is None:
            return
        text = walk_page([(result, pictures(index, result, question)) for result in results])
    write_page(html, text)
    write_line(f"wrote {html}", error=True)


def show_trace(span: Span, names: Mapping[str, str]) -> None:
    """Print the steps as a tree. `names` are those of the entities that steps name by id (see `entity_names`)."""
    from rich.tree import Tree

    def grow(branch: Tree, here: Span) -> None:
        before = here.input
        for child in here.children:
            grow(branch.add(_step(child, before, names)), child)
            before = child.output or before

    tree = Tree(_step(span, "", names), guide_style="dim")
    grow(tree, span)
    console().print(tree)


def entity_names(index: Index, traces: Iterable[Span]) -> dict[str, str]:
    """The names of the entities that traces speak of, by id; none where the index has no graph."""
    if "graph" not in index.layers:
        return {}
    ids: set[str] = set()
    for trace in traces:
        for span in trace.walk():
            for each in span.attachments:
                ids |= {id for id, _ in each.scores} if isinstance(each, EntityScores) else set()
            for value in span.details.values():
                ids |= {id for id in value if isinstance(id, str)} if isinstance(value, list | tuple) else set()
    known = index.graph.entities({id for id in ids if id.startswith("entity:")}, described=False)
    return {id: entity.name for id, entity in known.items()}


def _step(span: Span, before: str, names: Mapping[str, str]) -> Text:
    from rich.text import Text

    line = Text.assemble((span.name, "bold"), "  ", (cost(span), "cyan"))
    if span.way:
        line.append(f"  {printable(span.way)}", style="italic")
    if details := facts(span, names):
        line.append(f"\n{printable(details)}", style="dim")
    # What a step is given is as a rule what the one before it gave.
    for sign, text in (("in ", span.input if span.input != before else ""), ("out", span.output)):
        if text:
            line.append(f"\n{sign}  ", style="green")
            line.append(printable(text))
    for each in _attached(span, names):
        line.append(f"\n     {printable(each)}")
    if span.error:
        line.append(f"\n{printable(span.error)}", style="red")
    return line


def _attached(span: Span, names: Mapping[str, str]) -> Iterator[str]:
    """The way of a walk: windows hop by hop, or seeds and the entities that most of the mass went to."""
    for each in span.attachments:
        if isinstance(each, WindowPath):
            for number, visited in enumerate(each.windows[:_HOPS], start=1):
                note = f"{visited.why}; {counted(len(visited.sentences), 'sentence')}"
                yield f"{number:>2}  {visited.similarity:.3f}  {visited.window}  {note}"
            if len(each.windows) > _HOPS:
                yield f"    and {len(each.windows) - _HOPS} hops more"
            yield f"stopped: {each.stopped}"
        elif isinstance(each, EntityScores) and each.scores:
            scored = (f"{names.get(id, id)} {score:.3f}" for id, score in each.scores[:_ENTITIES])
            yield f"{each.label}: {', '.join(scored)}"
