"""A small corpus with links, redirects and an infobox, and one without links; embedded by word hashes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.index.build import build
from ragways.index.open import Index
from ragways.models.client import ModelClient
from ragways.retrieval.resources import Resources
from ragways.retrieval.tools.toolbox import Toolbox
from tests.fakes import WordHashes, recipe, write

PAGE = "<page><title>{title}</title><ns>0</ns><id>{id}</id>{extra}<revision><text>{text}</text></revision></page>"

LINKED = {
    "Old Harbour": """{{Infobox port
| name = Old Harbour
| opened = 4 May 1801
| architect = [[Anna Brack]]
}}
The '''Old Harbour''' is a port. It was planned by [[Anna Brack]].

It lies by the sea.

== History ==
The harbour light burned down in [[Great Storm|the storm]].

It was built again.

== Trade ==
Fish and salt.
""",
    "Anna Brack": "'''Anna Brack''' (born 3 February 1760) was an engineer from [[Tellmouth]].\n",
    "Great Storm": "The '''Great Storm''' of 1883 struck [[Tellmouth]] and the [[Port of Old]].\n",
    "Tellmouth": "'''Tellmouth''' is a town. Its mayor was [[Ruth Vale]].\n",
    "Ruth Vale": "'''Ruth Vale''' was a mayor.\n",
    "Lonely Rock": "'''Lonely Rock''' is a rock that nobody speaks of.\n",
}
PLAIN = {
    "Marrow Bridge.md": "# Marrow Bridge\n\nThe Marrow Bridge was built by Ida Quill in 1904.\n\nIt is long.\n",
    "Ida Quill.md": "# Ida Quill\n\nIda Quill was born in Fenwick. She studied with Jon Ashe.\n",
    "Fenwick.md": "# Fenwick\n\nFenwick is a village.\n",
    "Jon Ashe.md": "# Jon Ashe\n\nJon Ashe wrote about the sea.\n",
}


def dump(pages: dict[str, str], redirects: dict[str, str]) -> str:
    rows = [PAGE.format(title=t, id=n, extra="", text=x) for n, (t, x) in enumerate(pages.items(), start=1)]
    rows += [
        PAGE.format(title=t, id=100 + n, extra=f'<redirect title="{to}" />', text=f"#REDIRECT [[{to}]]")
        for n, (t, to) in enumerate(redirects.items())
    ]
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{"".join(rows)}</mediawiki>'


def indexed(folder: Path, files: dict[str, str]) -> Path:
    write(folder / "corpus", files)
    asyncio.run(build(folder / "index", [folder / "corpus"], recipe()))
    return folder / "index"


@pytest.fixture(scope="session")
def linked_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    redirects = {"Port of Old": "Harbour of Old", "Harbour of Old": "Old Harbour", "Round": "About", "About": "Round"}
    return indexed(tmp_path_factory.mktemp("linked"), {"wiki.xml": dump(LINKED, redirects)})


@pytest.fixture(scope="session")
def plain_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("plain"), PLAIN)


def resources(folder: Path) -> Resources:
    return Resources(Index.open(folder), WordHashes(), ModelClient(None))


@pytest.fixture
def linked(linked_index: Path) -> Iterator[Toolbox]:
    use = resources(linked_index)
    yield Toolbox(use)
    use.index.close()


@pytest.fixture
def plain(plain_index: Path) -> Iterator[Toolbox]:
    use = resources(plain_index)
    yield Toolbox(use)
    use.index.close()
