"""The README as the package index shows it: there, links to files of the repository would lead nowhere.

hatchling calls this when it builds (`tool.hatch.metadata.hooks.custom` in pyproject.toml). A link to a file becomes its
text with the file's name, and a picture of the repository goes; links to the web and to places in the README stay.
Where the repository gets a public address, these links can be made whole here instead.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?://)[^)\s]+\)\n*")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def for_the_index(markdown: str) -> str:
    """The same text without pictures of the repository and links to its files."""

    def plain(link: re.Match[str]) -> str:
        text, target = link[1], link[2]
        return f"`{target}`" if text == target else f"{text} (`{target}`)"

    return _LINK.sub(plain, _PICTURE.sub("", markdown))


class ReadmeHook(MetadataHookInterface):
    """Fills in the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_the_index(text)}
