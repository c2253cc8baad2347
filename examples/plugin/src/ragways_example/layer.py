"""A layer: how many characters each document has, in a file that paradigms can read."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field

from ragways.index.layer import BuildContext, CheckContext, Finding, Layer, LayerEstimate, PlanContext, findings
from ragways.index.settings import LayerSettings
from ragways.index.store import Store

FILE = "lengths.json"


class LengthSettings(LayerSettings):
    """What can be set of it: `[layers.lengths]` in ragways.toml."""

    minimum: int = Field(0, ge=0, description="shorter documents are left out")


def _derive(context: BuildContext, folder: Path) -> None:
    """Write the layer's file; everything it needs is in the store, so the order of adding documents cannot show."""
    minimum = context.settings_of("lengths", LengthSettings).minimum
    rows = context.store.db.execute("SELECT number, length(text) FROM documents ORDER BY number")
    lengths = {str(number): length for number, length in rows if length >= minimum}
    (folder / FILE).write_text(json.dumps(lengths), encoding="utf-8")


async def _work(context: BuildContext) -> None:
    """Nothing to pay for; the settings are remembered, so that a later run without them keeps them."""
    if context.has_new_settings("lengths"):
        context.keep_settings(LENGTHS)


def _plan(planning: PlanContext) -> LayerEstimate:
    return LayerEstimate(rows=planning.context.store.count("documents"))


def _known_documents(context: CheckContext) -> list[Finding]:
    """Lengths are those of documents that are there."""
    unknown = (number for number in read_lengths(context.derived) if int(number) not in context.documents)
    return list(findings("length of an unknown document", "error", unknown, context.cure_of_derived))


def read_lengths(derived: Path) -> dict[str, int]:
    """What `index.layer("lengths")` gives: characters by the number of the document."""
    lengths: dict[str, int] = json.loads((derived / FILE).read_text(encoding="utf-8"))
    return lengths


def _rows(_: Store, derived: Path) -> int:
    return len(read_lengths(derived)) if (derived / FILE).is_file() else 0


LENGTHS = Layer(
    name="lengths",
    summary="how long each document is",
    needs=frozenset(),
    derive=_derive,
    work=_work,
    plan=_plan,
    checks=(_known_documents,),
    settings=LengthSettings,
    open=read_lengths,
    files=(FILE,),
    rows=_rows,
)
