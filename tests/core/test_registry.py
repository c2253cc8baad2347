"""Tables that plug-ins add to by entry points; broken ones are named, clashes refused."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragways.core.errors import PluginClash, UsageError
from ragways.core.registry import Registry

GROUP = "ragways.tests_of_the_registry"


@dataclass(frozen=True)
class Thing:
    name: str


def install(folder: Path, package: str, code: str, points: dict[str, str]) -> None:
    """A package as an installer leaves it: a module and its metadata."""
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text("from tests.core.test_registry import Thing\n" + code)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "\n".join(f"{name} = {module}:{value}" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def table() -> Registry[Thing]:
    return Registry(GROUP, "thing", Thing, [Thing("first"), Thing("second")])


def test_without_plug_ins_it_is_what_was_given():
    things = table()
    assert list(things) == ["first", "second"]
    assert things.find("second") == Thing("second")
    assert things.problems == ()
    assert things.package_of("first") == "ragways"


def test_an_unknown_name_is_an_error_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"there is no thing 'frist'.*did you mean first"):
        table().find("frist")


def test_plug_ins_come_after_in_the_order_of_their_packages(site: Path):
    install(site, "reg-b", "ONE = Thing('b')", {"one": "ONE"})
    install(site, "reg-a", "MANY = (Thing('a1'), Thing('a2'))", {"many": "MANY"})
    things = table()
    assert list(things) == ["first", "second", "a1", "a2", "b"]
    assert things.package_of("a2") == "reg-a"
    assert "b" in things
    assert len(things) == 5


def test_a_broken_plug_in_is_named_and_the_rest_is_there(site: Path):
    install(site, "reg-broken", "raise RuntimeError('no such luck')", {"one": "ONE"})
    install(site, "reg-wrong", "ONE = 'a text'", {"one": "ONE"})
    install(site, "reg-good", "ONE = Thing('good')", {"one": "ONE"})
    things = table()
    assert "good" in things
    assert [(problem.package, problem.why) for problem in things.problems] == [
        ("reg-broken", "RuntimeError: no such luck"),
        ("reg-wrong", "TypeError: it gives a str, not a Thing"),
    ]


@pytest.mark.parametrize("name", ["first", "shared"])
def test_two_with_one_name_are_an_error_that_names_both(site: Path, name: str):
    one, two = f"{name}-c", f"{name}-d"  # names of their own: Python imports a module once
    install(site, one, f"ONE = Thing('{name}')", {"one": "ONE"})
    install(site, two, f"ONE = Thing('{name}')", {"one": "ONE"})
    mine, other = (one, "ragways") if name == "first" else (two, one)
    with pytest.raises(PluginClash, match=f"{mine} and {other} both bring a thing called '{name}'"):
        list(table())


def test_a_thing_of_later_is_imported_when_it_is_used(site: Path):
    (site / "reg_later.py").write_text("from tests.core.test_registry import Thing\nLATE = Thing('late')\n")
    install(site, "reg-beside", "ONE = Thing('beside')", {"one": "ONE"})
    things = Registry(GROUP, "thing", Thing, [Thing("first")], later={"late": "reg_later:LATE"})
    assert list(things) == ["first", "late", "beside"]
    assert things.package_of("late") == "ragways"
    assert "late" in things
    assert "reg_later" not in sys.modules
    assert things["late"] is things.find("late") is sys.modules["reg_later"].LATE
    assert [thing.name for thing in things.values()] == list(things)
