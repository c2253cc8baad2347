"""A layer that another package brings: built, planned, checked, shown, set and read like those of ragways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import Field

from ragways.apps.settings_file import settings_text
from ragways.assemble import recipe_of
from ragways.core.errors import SettingsError, UsageError
from ragways.index.build import build, remove
from ragways.index.documents import chunk_texts
from ragways.index.health import check
from ragways.index.layer import (
    BuildContext,
    CheckContext,
    Finding,
    Layer,
    LayerEstimate,
    PlanContext,
    findings,
)
from ragways.index.layers import LAYERS, check_layers, in_order
from ragways.index.plan import plan
from ragways.index.reader import Index
from ragways.index.settings import LayerSettings
from ragways.index.status import layer_status
from ragways.index.store import Store
from ragways.settings import Settings, read_settings
from tests.fakes import recipe, reseal, write

DOCS = {"a.md": "# A\n\nOne two three four five.\n", "b.md": "# B\n\nOne two.\n"}


class LengthSettings(LayerSettings):
    """Lengths of chunks."""

    unit: int = Field(1, ge=1, description="characters that count as one")


def _derive(context: BuildContext, folder: Path) -> None:
    unit = context.settings_of("lengths", LengthSettings).unit
    lengths = {id: len(text) // unit for id, text in chunk_texts(context.store)}
    (folder / "lengths.json").write_text(json.dumps(lengths), encoding="utf-8")


async def _work(context: BuildContext) -> None:
    context.work_cache.keep_failure("measure:one", "hash", "no ruler")
    context.fail("no ruler")


def _check(context: CheckContext) -> Iterator[Finding]:
    """Lengths of chunks."""
    known = json.loads((context.derived / "lengths.json").read_text(encoding="utf-8"))
    missing = (id for id in context.chunks if id not in known)
    yield from findings("chunks without a length", "error", missing, context.cure_of_derived)


def _plan(planning: PlanContext) -> LayerEstimate:
    return LayerEstimate(planning.context.store.count("chunks"), estimated="nothing")


def _rows(_: Store, derived: Path) -> int:
    return len(json.loads((derived / "lengths.json").read_text(encoding="utf-8")))


LENGTHS = Layer(
    "lengths", "how long each chunk is", frozenset({"words"}), _derive, work=_work, plan=_plan, checks=(_check,),
    settings=LengthSettings, rows=_rows, kinds=frozenset({"measure"}),
    open=lambda derived: json.loads((derived / "lengths.json").read_text(encoding="utf-8")),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package as an installer leaves it."""
    site = tmp_path / "site"
    info = site / "ragways_lengths-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ragways-lengths\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ragways.layers]\nlengths = {__name__}:LENGTHS\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(LAYERS, "_all", None)
    monkeypatch.setattr(LAYERS, "_packages", {})
    yield
    LAYERS._all = None


@pytest.fixture
def index(tmp_path: Path) -> Path:
    settings = {"lengths": {"unit": 2}}
    chosen = recipe(layers=check_layers(["lengths"]), settings=settings)
    asyncio.run(build(tmp_path / "index", [write(tmp_path / "docs", DOCS)], chosen))
    return tmp_path / "index"


def lengths(index: Path) -> dict[str, int]:
    opened = Index.open(index)
    read = opened.layer("lengths")
    assert opened.layer("lengths") is read
    opened.close()
    assert isinstance(read, dict)
    return read


def test_it_is_in_the_table_and_brings_what_it_needs():
    assert LAYERS.package_of("lengths") == "ragways-lengths"
    assert check_layers(["lengths"]) == {"lengths", "words"}


def test_it_stands_behind_those_of_ragways_which_are_called_what_the_table_calls_them():
    ours = ["vectors", "words", "windows", "graph", "communities"]
    assert [layer.name for layer in LAYERS.values()] == list(LAYERS) == [*ours, "lengths"]
    assert [layer.name for layer in in_order(["lengths", "communities", "words", "graph", "gone"])] == [
        "words", "graph", "communities", "lengths",
    ]  # fmt: skip


def test_it_is_built_with_its_settings_and_read(index: Path):
    assert sorted(lengths(index).values()) == [len("B\nOne two.") // 2, len("A\nOne two three four five.") // 2]


def test_a_removal_keeps_its_settings(index: Path):
    asyncio.run(remove(index, ["A"]))
    assert list(lengths(index).values()) == [len("B\nOne two.") // 2]


def test_its_status_has_rows_bytes_and_failures(index: Path):
    [status] = [each for each in layer_status(index) if each.name == "lengths"]
    assert status.built
    assert status.rows == 2
    assert status.bytes == (index / "derived" / "1" / "lengths.json").stat().st_size
    assert status.failures == 1


def test_its_checks_are_carried_out(index: Path):
    assert "chunks without a length" not in {finding.name for finding in check(index).findings}
    (index / "derived" / "1" / "lengths.json").write_text("{}")
    reseal(index)
    [finding] = [each for each in check(index).findings if each.name == "chunks without a length"]
    assert finding.count == 2


def test_it_is_planned(tmp_path: Path):
    docs = write(tmp_path / "docs", DOCS)
    planned = asyncio.run(plan(tmp_path / "index", [docs], recipe(layers=check_layers(["lengths"]))))
    assert [(layer.name, layer.rows) for layer in planned.layers] == [("words", 2), ("lengths", 2)]


def test_its_settings_come_from_the_file_and_are_checked(tmp_path: Path):
    settings = read_settings(environment={"RAGWAYS_LAYERS__LENGTHS__UNIT": "3", "HOME": str(tmp_path)})
    made = recipe_of(settings, frozenset({"lengths"})).settings["lengths"]
    assert made == LengthSettings(unit=3)
    for wrong, message in (
        ({"unti": 3}, r"there is no setting layers\.lengths\.unti.*unit"),
        ({"unit": 0}, r"lengths\.unit"),
    ):
        with pytest.raises(SettingsError, match=message):
            recipe_of(Settings(layers={"lengths": wrong}), frozenset())
    with pytest.raises(UsageError, match="there is no layer 'lenths'"):
        recipe_of(Settings(layers={"lenths": {}}), frozenset())


def test_its_settings_are_in_the_settings_file():
    text = settings_text()
    assert "[layers.lengths]\n# characters that count as one\n# unit = 1\n" in text
