"""Answers as trees of blocks, for a program that makes elements of them: whole, while they are written, and stored.

What a tree is, `core/markdown.py` says. An answer by a rule consists of sentences of documents: it is no Markdown.
"""

from __future__ import annotations

from typing import Any

from ragways.core.markdown import Node, plain_tree, tree
from ragways.core.outgoing import finished

_STEP = 16
"""A block is parsed again when it has grown by one part in so many."""


def by_model(way: str) -> bool:
    """Whether an answer that was made in this way is Markdown; of an unknown way it is not."""
    return bool(way) and not way.startswith("rule")


def with_blocks(data: dict[str, Any]) -> dict[str, Any]:
    """A result with its texts as trees: `blocks`, `explanation_blocks`, and `nearest_blocks` of passages."""
    shown, markdown = len(data["evidence"]), by_model(data["way"])
    marked = bool(shown) and not data["abstained"]
    made = {
        "blocks": tree(data["answer"], shown, mark_uncited=marked) if markdown else plain_tree(data["answer"], shown),
        "explanation_blocks": (tree if markdown else plain_tree)(data["explanation"], shown),
    }
    evidence = [
        {**one, "nearest_blocks": tree(one["nearest"], 0)} if "nearest" in one else one for one in data["evidence"]
    ]
    return {**data, **made, "evidence": evidence}


def stored_blocks(answer: str, way: str) -> list[Node]:
    """An answer whose evidence is not stored with it, so that its citations name nothing: they are left out."""
    nodes = tree(answer) if by_model(way) else plain_tree(answer)
    _leave_out_citations(nodes)
    return nodes


def _leave_out_citations(nodes: list[Any]) -> None:
    for at in reversed(range(len(nodes))):
        node = nodes[at]
        if not isinstance(node, list):
            continue
        if node[0] != "cite":
            _leave_out_citations(node)
            continue
        del nodes[at]
        if at and isinstance(nodes[at - 1], str):
            nodes[at - 1] = nodes[at - 1].rstrip()


class GrowingBlocks:
    """The blocks of a text that is being written, as changes of those that were sent.

    A block that another one follows stays as it is and is not parsed again. One that grows long is parsed again when it
    has grown by a sixteenth. So work and changes grow with the text, not with its square. Links by reference to an
    earlier block are text until the whole answer is there.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._text = ""  # from the block on that may still change
        self._parsed = 0
        self._closed = 0
        self._nodes: list[Node] = []

    def change(self, text: str, *, restart: bool = False) -> list[Any] | None:
        """Take a piece: `[first, nodes]` where the blocks from number `first` on are now these, None where none differ
        or the piece waits for more.
        """
        if restart:
            self._begin()
        self._text += text.replace("\r\n", "\n").replace("\r", "\n")
        if self._parsed and len(self._text) * _STEP < self._parsed * (_STEP + 1):
            return None
        nodes, before = tree(self._text), self._nodes
        same = 0
        while same < min(len(nodes), len(before)) and nodes[same] == before[same]:
            same += 1
        changed = [self._closed + same, nodes[same:]] if restart or same < max(len(nodes), len(before)) else None
        self._nodes, self._parsed = nodes, len(self._text)
        if len(nodes) > 1 and (end := finished(self._text)):  # what is before it is final
            closed = len(tree(self._text[:end]))
            self._text = self._text[end:]
            self._closed += closed
            self._nodes = nodes[closed:]
            self._parsed = len(self._text)
        return changed
