"""What a program that renders Markdown would load or follow, by a parser that knows nothing of ragways' rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt

_LOADS = re.compile(
    r"<(?:img|script|iframe|object|embed|svg|link|style|form)\b|<\w[^>]*\s(?:on\w+|src|href|style)\s*=", re.I
)


def dangers(text: str, evidence: Sequence[str] = ()) -> list[str]:
    """Images, active HTML, and links whose address does not stand in the evidence; with and without HTML allowed."""
    return sorted({each for with_html in (False, True) for each in dangers_in(text, "\n".join(evidence), with_html)})


def dangers_in(text: str, shown: str, with_html: bool) -> Iterator[str]:
    parser = MarkdownIt("commonmark", {"html": with_html}).enable(["table", "strikethrough"])
    parser.validateLink = lambda _: True  # type: ignore[method-assign, assignment]
    for token in parser.parse(text):
        if token.type == "html_block" and _LOADS.search(token.content):
            yield token.content
        for child in token.children or []:
            address = str(child.attrs.get("href", ""))
            if child.type == "image":
                yield f"image {child.attrs['src']}"
            elif re.match(r"[a-z][a-z0-9+.-]*:|[/\\]{2}", address, re.I) and address.rstrip("/") not in shown:
                yield f"link {address}"
            elif child.type == "html_inline" and _LOADS.search(child.content):
                yield child.content
