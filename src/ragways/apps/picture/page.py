"""The picture as one HTML file that needs nothing else: no network, no library, and no word of a document as code."""

from __future__ import annotations

from ragways.apps.picture.neighbourhood import Neighbourhood
from ragways.apps.picture.shell import page_file, shell


def page(shown: Neighbourhood) -> str:
    """The page; what is looked at can be moved, zoomed, searched and clicked."""
    return shell(
        f"{shown.centre.name}: neighbourhood",
        page_file("page.html"),
        style=page_file("page.css"),
        script=page_file("page.js"),
        data={"data": shown.data()},
    )
