"""What a program that renders Markdown would load or follow, by parsers that know nothing of ragways' rule: cmark-gfm,
mistune, marko and markdown-it with linkify-it, with and without tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from html import unescape
from urllib.parse import unquote

import cmarkgfm
import marko
import mistune
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

_LEAVES = re.compile(r"[\x00-\x20]*(?:(?!data:image/)[a-z][a-z0-9+.-]*:|[/\\][\x00-\x20]*[/\\])", re.I)
_LOADING = {
    "img", "script", "iframe", "object", "embed", "svg", "link", "style", "form", "video", "audio", "source", "base",
    "meta",
}  # fmt: skip
_ENDS = ".,;:!?*_~'\")]}|>/\\"


def dangers(text: str, evidence: Sequence[str] = ()) -> list[str]:
    """Images, active HTML, and links whose address does not stand in the evidence, for any of the parsers."""
    shown = "\n".join(evidence)
    return sorted(
        {each for name, render in _renderers().items() for each in _dangers_in(str(render(text)), shown, name)}
    )


def _cmark(text: str, *, extensions: Sequence[str], options: int = Options.CMARK_OPT_UNSAFE) -> str:
    return str(cmarkgfm.markdown_to_html_with_extensions(text, options, ["autolink", "strikethrough", *extensions]))


def _markdown_it(tables: Sequence[str], *, html: bool) -> Callable[[str], str]:
    made = MarkdownIt("commonmark", {"html": html, "linkify": True}).enable(["linkify", "strikethrough", *tables])
    made.validateLink = lambda _: True  # type: ignore[method-assign, assignment]
    assert made.linkify is not None
    made.linkify.set({"fuzzy_link": False})  # which takes `evil.example` for an address
    return made.render


@cache
def _renderers() -> dict[str, Callable[[str], object]]:
    made: dict[str, Callable[[str], object]] = {"marko": marko.Markdown(extensions=["gfm"]).convert}
    with_notes = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    made["cmark with footnotes"] = partial(_cmark, extensions=["table"], options=with_notes)
    for name, tables in (("with tables", ["table"]), ("without tables", [])):
        made[f"cmark {name}"] = partial(_cmark, extensions=tables)
        made[f"mistune {name}"] = mistune.create_markdown(escape=False, plugins=["url", "strikethrough", *tables])
        made[f"markdown-it {name}"] = _markdown_it(tables, html=False)
        made[f"markdown-it {name} and HTML"] = _markdown_it(tables, html=True)
    return made


def _dangers_in(html: str, shown: str, name: str) -> Iterator[str]:
    body = LexborHTMLParser(html).body
    for node in body.css("*") if body else []:
        tag, values = node.tag or "", {key: value or "" for key, value in node.attributes.items()}
        if tag in _LOADING and (tag != "img" or _LEAVES.match(values.get("src", ""))):
            yield f"{name}: {tag} {values.get('src', '')}"
        for key, value in values.items():
            if key.startswith("on") or key in ("style", "background"):
                yield f"{name}: {key}={value}"
            elif (
                key in ("href", "src") and tag not in _LOADING and _LEAVES.match(value) and not _stands_in(value, shown)
            ):
                yield f"{name}: link {value}"


def _stands_in(address: str, shown: str) -> bool:
    forms = (address, unescape(unquote(address)), address.removeprefix("http://"), address.removeprefix("mailto:"))
    return any(form.rstrip(_ENDS) in shown for form in forms if form.rstrip(_ENDS))
