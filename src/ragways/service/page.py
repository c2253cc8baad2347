"""The page: its files by a fixed list, under addresses that change with their content, and a strict policy for it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from fastapi import APIRouter, Request, Response

from ragways.pictures.shell import filled, page_file
from ragways.service.errors import NotFound

TYPES: Final = {
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
# Names that modules import the vendored libraries by.
LIBRARIES: Final = {
    "preact": "vendor/preact.mjs",
    "preact/hooks": "vendor/preact-hooks.mjs",
    "htm": "vendor/htm.mjs",
}
# What the first view needs, fetched at once instead of one import after the other.
FIRST: Final = (
    "start.js",
    "parts/html.js",
    "parts/api.js",
    "parts/document.js",
    "parts/home.js",
    "parts/router.js",
    "parts/ui.js",
    "parts/figures.js",
)
POLICY: Final = (
    "default-src 'none'; script-src 'self' '{imports}'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
FOREVER: Final = "public, max-age=31536000, immutable"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is sent, and the mark by which a browser knows that it has it."""

    body: bytes
    type: str
    tag: str


@dataclass(frozen=True, slots=True)
class ServedPage:
    """The page with all of its files. `version` is made of what is in them, and a part of their addresses."""

    html: PageFile
    files: dict[str, PageFile]
    version: str
    policy: str


@cache
def page() -> ServedPage:
    """Read once. A name that is not in it is not served, whatever lies on the disk."""
    listed = [each for folder, above in ((_folder(), ""), *_shared()) for each in _walk(folder, above)]
    found = {name: _file(item.read_bytes(), TYPES[suffix]) for name, suffix, item in listed}
    found["theme.css"] = _file(page_file("theme.css").encode(), TYPES["css"])
    version = hashlib.sha256("".join(f"{name} {found[name].tag}\n" for name in sorted(found)).encode()).hexdigest()[:16]
    assets = f"/assets/{version}"
    imports = json.dumps({"imports": {name: f"{assets}/{path}" for name, path in LIBRARIES.items()}})
    preloads = "\n".join(
        f'<link rel="modulepreload" href="{escape(f"{assets}/{name}")}">' for name in (*LIBRARIES.values(), *FIRST)
    )
    template = (_folder() / "index.html").read_text(encoding="utf-8")
    html = filled(template, {"assets": assets, "imports": imports, "preloads": preloads})
    digest = base64.b64encode(hashlib.sha256(imports.encode()).digest()).decode()
    policy = POLICY.format(imports=f"sha256-{digest}")
    return ServedPage(_file(html.encode(), "text/html; charset=utf-8"), found, version, policy)


def _folder() -> Traversable:
    return resources.files("ragways.service") / "page"


def _shared() -> list[tuple[Traversable, str]]:
    """What reports and pictures are made of as well: libraries of others, and parts that draw."""
    assets = resources.files("ragways.pictures") / "assets"
    return [(assets / "vendor", "vendor/"), (assets / "parts", "parts/")]


def _walk(folder: Traversable, above: str) -> list[tuple[str, str, Traversable]]:
    """Files of the types above: (name, suffix, file)."""
    found: list[tuple[str, str, Traversable]] = []
    for item in sorted(folder.iterdir(), key=lambda each: each.name):
        suffix = item.name.rpartition(".")[2]
        if item.is_dir():
            found += _walk(item, f"{above}{item.name}/")
        elif suffix in TYPES:
            found.append((above + item.name, suffix, item))
    return found


def _file(body: bytes, kind: str) -> PageFile:
    return PageFile(body, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _sent(request: Request, file: PageFile, headers: dict[str, str]) -> Response:
    headers = {**headers, "ETag": file.tag, "X-Content-Type-Options": "nosniff"}
    if file.tag in re.findall(r'"[^"]*"', request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return Response(file.body, media_type=file.type, headers=headers)


@router.api_route("/", methods=["GET", "HEAD"])
async def show_page(request: Request) -> Response:
    """The page itself: asked for anew each time, sent only when it changed."""
    headers = {
        "Content-Security-Policy": page().policy,
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    return _sent(request, page().html, headers)


@router.api_route("/assets/{version}/{name:path}", methods=["GET", "HEAD"])
async def show_asset(request: Request, version: str, name: str) -> Response:
    """A file of the page. As its address changes with its content, a browser may keep it for good."""
    file = page().files.get(name) if version == page().version else None
    if file is None:
        raise NotFound("there is no such file")
    return _sent(request, file, {"Cache-Control": FOREVER, "Cross-Origin-Resource-Policy": "same-origin"})
