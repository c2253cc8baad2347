"""The picture as one HTML file that needs nothing else: no network, no library, and no word of a document as code."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib import resources
from typing import Any

from ragways.apps.picture.neighbourhood import Neighbourhood

PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(shown: Neighbourhood) -> str:
    """The page; what is looked at can be moved, zoomed, searched and clicked."""
    style, script = page_file("page.css"), page_file("page.js")
    # Only this very style and script may run, even if text got out of the data after all.
    policy = (
        f"default-src 'none'; style-src '{page_hash(style)}'; script-src '{page_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": escape(f"{shown.centre.name}: neighbourhood"),
        "policy": escape(policy, quote=False),
        "style": style,
        "data": script_json(shown.data()),
        "script": script,
    }
    # In one pass, so that no part is searched for the places of others.
    return PLACE.sub(lambda match: parts[match[1]], page_file("page.html"))


def script_json(value: Any) -> str:  # noqa: ANN401
    """JSON that cannot end the script tag it stands in, nor open anything else."""
    text = json.dumps(value, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone half of a pair cannot be written as UTF-8, but can as JSON.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def page_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page_file(name: str) -> str:
    return (resources.files("ragways.apps.picture") / name).read_text(encoding="utf-8")
