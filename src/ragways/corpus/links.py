"""Relative links between files: which article a reference in Markdown, HTML or DOCX leads to."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ragways.corpus.source import title_guess

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|//")
_ASSET = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|mjs|zip|gz|mp[34]|ogg|webm|avi|mov|woff2?|exe|csv|php)$", re.I
)


def article_of(reference: str) -> str:
    """`../wiki/Tidal_range.md#spring` → `Tidal range`. Nothing for the web, for assets and for places in this page."""
    reference = reference.strip()[:2000]
    if _SCHEME.match(reference):
        return ""
    path = unquote(reference.split("#", 1)[0].split("?", 1)[0]).rstrip("/")
    name = path.replace("\\", "/").rpartition("/")[2]
    if not name.strip(". ") or _ASSET.search(name):
        return ""
    return title_guess(name)[:255]
