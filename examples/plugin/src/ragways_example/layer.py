"""A layer: how many characters each document has, in a file that paradigms can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from ragways.layers.files import load_json, save_json
from ragways.layers.layer import CheckContext, Finding, Layer, Use, findings
from ragways.layers.settings import LayerSettings
from ragways.store.store import Change, Store

FILE = "lengths.json"


class LengthSettings(LayerSettings):
    """What can be set of it: `[layers.lengths]` in ragways.toml."""

    minimum: int = Field(0, ge=0, description="shorter documents are left out")


class Lengths(Layer):
    """Its view is made of the documents' rows alone, so it extracts nothing."""

    name = "lengths"
    summary = "how long each document is"
    settings = LengthSettings

    async def fold(self, view: Path, store: Store, change: Change | None, use: Use) -> None:
        """Made anew, the file holds all documents; else those that went leave it, and those that came are added."""
        minimum = use.settings_of(self.name, LengthSettings).minimum
        lengths = {} if change is None else self.open(view, store)
        for number in change.removed if change is not None else ():
            lengths.pop(str(number), None)
        for document in store.sources(None if change is None else change.added):
            if len(document.text) >= minimum:
                lengths[str(document.number)] = len(document.text)
        save_json(view / FILE, lengths)

    def open(self, view: Path, store: Store) -> dict[str, int]:
        """What `index.layer("lengths")` gives: characters by the number of the document."""
        lengths: dict[str, int] = load_json(view / FILE)
        return lengths

    def count(self, view: Path, store: Store) -> int:
        return len(self.open(view, store))

    def check(self, context: CheckContext) -> Iterator[Finding]:
        """Lengths are those of documents that are there."""
        lengths = self.open(context.views / self.name, context.store)
        unknown = (number for number in lengths if int(number) not in context.documents)
        yield from findings("length of an unknown document", "error", unknown, context.cure_of_view)


LENGTHS = Lengths()
