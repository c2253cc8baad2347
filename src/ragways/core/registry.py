"""Tables of named things that other packages can add to: paradigms, layers, loaders, metrics and so on.

A package adds to a table by an entry point in the table's group. Its value is one thing of the table's type, or several
in a tuple or list:

    [project.entry-points."ragways.paradigms"]
    newest = "my_package:NEWEST"
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, Protocol, TypeVar, cast

from ragways.core.errors import PluginClash, UsageError, did_you_mean
from ragways.core.text import printable


class Named(Protocol):
    """What a table holds: anything with a name."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """A plug-in that could not be used: its group, its package, its entry point, and why."""

    group: str
    package: str
    entry: str
    why: str

    def __str__(self) -> str:
        return f"plug-in {self.entry} of {self.package} ({self.group}) cannot be used: {self.why}"


class Registry(Mapping[str, T], Generic[T]):
    """A read-only mapping from names to things: those given here, then those of installed plug-ins, in that order.

    `group` is the entry-point group, `noun` what one thing is called in messages, `kind` the type that each must have.
    `later` are things of our own by name, each with where it lies (`module:NAME`, as an entry point says it): it is
    imported when it is first used, and not when only its name is read.
    Plug-ins are loaded when the table is first used. One that cannot be loaded is listed in `problems`, reported once
    in the log, and does not stop the rest. Two things with one name raise `PluginClash`.
    """

    def __init__(
        self, group: str, noun: str, kind: type[T], items: Iterable[T] = (), *, later: Mapping[str, str] | None = None
    ) -> None:
        self.group = group
        self.noun = noun
        self._kind = kind
        self._built_in: dict[str, T | EntryPoint] = {item.name: item for item in items}
        self._built_in |= {name: EntryPoint(name, place, group) for name, place in (later or {}).items()}
        self._packages: dict[str, str] = {}
        self._problems: list[PluginProblem] = []
        self._all: dict[str, T | EntryPoint] | None = None

    def find(self, name: str) -> T:
        """The thing of this name; UsageError with the nearest name where there is none."""
        found = self.get(name)
        if found is None:
            raise UsageError(f"there is no {self.noun} {name!r}", did_you_mean(name, self))
        return found

    def package_of(self, name: str) -> str:
        """The package that a thing comes from: `ragways` itself, or the plug-in's."""
        self._loaded()
        return self._packages.get(name, "ragways")

    @property
    def added(self) -> dict[str, str]:
        """What plug-ins brought: name → package."""
        self._loaded()
        return dict(self._packages)

    @property
    def problems(self) -> tuple[PluginProblem, ...]:
        """Plug-ins of this group that could not be used."""
        self._loaded()
        return tuple(self._problems)

    def __getitem__(self, name: str) -> T:
        table = self._built_in if name in self._built_in and self._all is None else self._loaded()
        item = table[name]
        if isinstance(item, EntryPoint):
            item = table[name] = cast(T, item.load())
        return item

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._loaded()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def __repr__(self) -> str:
        return f"<{self.group}: {', '.join(self)}>"

    def _loaded(self) -> dict[str, T | EntryPoint]:
        if self._all is None:
            found = dict(self._built_in)
            for point in sorted(entry_points(group=self.group), key=lambda point: (_package(point), point.name)):
                for item in self._load(point):
                    if item.name in found:
                        other = self._packages.get(item.name, "ragways")
                        raise PluginClash(
                            f"{_package(point)} and {other} both bring a {self.noun} called {item.name!r}",
                            "uninstall one of them, or ask its author for another name",
                        )
                    found[item.name] = item
                    self._packages[item.name] = _package(point)
            self._all = found
        return self._all

    def _load(self, point: EntryPoint) -> Iterable[T]:
        """What an entry point brings; nothing, and a problem noted, where it is broken."""
        try:
            value = point.load()
            items = tuple(value) if isinstance(value, tuple | list) else (value,)
            for item in items:
                if not isinstance(item, self._kind):
                    raise TypeError(f"it gives a {type(item).__name__}, not a {self._kind.__name__}")
        except Exception as error:  # a plug-in is foreign code: whatever it raises must not stop the rest
            why = " ".join(f"{type(error).__name__}: {error}".split())
            problem = PluginProblem(self.group, _package(point), point.name, printable(why))
            self._problems.append(problem)
            # Reported once: without a handler of logging, Python writes it to standard error.
            logging.getLogger("ragways").warning("ragways: %s", problem)
            return ()
        return items


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]
