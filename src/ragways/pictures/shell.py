"""What every page has around it: one file that needs nothing else, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from ragways.core.errors import UsageError

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def shell(
    title: str,
    body: str,
    *,
    style: str,
    script: str = "",
    data: Mapping[str, Any] | None = None,
    images: bool = False,
    sends: bool = False,
) -> str:
    """The page. `title` is text, `body` is HTML; `data` stands in script tags of these ids, where `script` reads it.

    With `images`, pictures that stand in the page itself are shown; nothing is ever fetched. With
    `sends`, the script may send to the server that the page came from, and to no other.
    """
    style = page_file("theme.css") + style
    policy = f"default-src 'none'; style-src '{page_hash(style)}'; "
    if images:
        policy += "img-src data:; "
    if sends:
        policy += "connect-src 'self'; "
    if script:
        # Only this very style and script may run, even if text got out of the data after all.
        policy += f"script-src '{page_hash(script)}'; "
    tags = [
        f'<script type="application/json" id="{id}">{script_json(value)}</script>' for id, value in (data or {}).items()
    ]
    tags += [f"<script>{script}</script>"] if script else []
    parts = {
        "title": escape(title),
        "policy": escape(policy + "base-uri 'none'; form-action 'none'", quote=False),
        "style": style,
        "body": "\n".join((body, *tags)),
    }
    return filled(page_file("shell.html"), parts)


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A template with its places filled: in one pass, so that no part is searched for the places of others."""
    return _PLACE.sub(lambda match: parts[match[1]], template)


def script_json(value: Any) -> str:  # noqa: ANN401
    """JSON that cannot end the script tag it stands in, nor open anything else."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone half of a pair cannot be written as UTF-8, but can as JSON.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def page_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page_file(name: str) -> str:
    """A file that pages are made of: a template, a style or a script."""
    return (resources.files("ragways.pictures") / "assets" / name).read_text(encoding="utf-8")


# What a module of `parts` finds under these names where all stand in one script.
_LIBRARIES = """const preact = {preact}, hooks = {hooks}, htm = {htm};
const {{ h, render }} = preact, {{ useEffect, useLayoutEffect, useRef, useState }} = hooks, html = htm.bind(h);"""
_EXPORTS = re.compile(r"export\s*\{([^}]*)\}|export default function")
_IMPORT = re.compile(r'^import .* from "[^"]+";\n', re.MULTILINE)


def parts_script(*names: str) -> str:
    """Modules of the folder `parts`, which the page of a server imports, as plain script: their libraries before them,
    their imports left out. They come in the order in which they need each other.
    """
    libraries = _LIBRARIES.format(
        preact=_library("preact.mjs"), hooks=_library("preact-hooks.mjs", preact="options"), htm=_library("htm.mjs")
    )
    modules = (_IMPORT.sub("", page_file(f"parts/{name}.js")) for name in names)
    return "\n".join((libraries, *(re.sub(r"^export ", "", text, flags=re.MULTILINE) for text in modules)))


def _library(name: str, **given: str) -> str:
    """A module of others as an expression whose value has what it exports."""
    text = page_file(f"vendor/{name}").partition("//# sourceMappingURL")[0].rstrip()
    for source, taken in given.items():
        text = re.sub(rf'import\{{{taken} as (\w+)\}}from"{source}";', rf"const \1={source}.{taken};", text)
    body = _EXPORTS.sub(_returned, text)
    return f"(() => {{{body}}})()"


def _returned(found: re.Match[str]) -> str:
    if found[1] is None:
        return "return function"
    pairs = (re.split(r"\s+as\s+", part.strip()) for part in found[1].split(","))
    return f"return {{{','.join(f'{pair[-1]}:{pair[0]}' for pair in pairs)}}}"


def framed(page: str, *, title: str, height: int = 560) -> str:
    """A page as it may stand in a notebook: in a frame of its own, which shares nothing with what is around it."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" title="{escape(title)}" '
        f'style="width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"></iframe>'
    )


def write_page(path: Path, text: str) -> None:
    """In one go: never half a page, and never a traceback about a place that is none."""
    from ragways.index.export import replacing

    if not path.name:
        raise UsageError(f"cannot write {path}: it is a folder", "name a file")
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="replace")
