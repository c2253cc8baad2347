"""A source's experiment as a declaration: what it ran, on what, with which settings, and what it reported.

A column says how a figure is read off a run; the published one (`published.toml`) stands beside ours. What is not as it
was there is a `Difference`, which is printed with the figures.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from ragways.core.errors import UsageError
from ragways.evaluation.datasets import load_questions
from ragways.evaluation.metric import Metric
from ragways.evaluation.question import Question
from ragways.reproduce.figures import Reading


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was in the source: what it is about, how it is here, and how it was there."""

    about: str
    here: str
    there: str

    def __str__(self) -> str:
        return f"{self.about}: here {self.here}; there {self.there}"


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A figure of the source; `minimum` and `maximum` over its runs or samples, None where it gives one alone."""

    value: float | None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a source's table: how ours is read off a run, and the published figures by the source's name of a
    variant (`Experiment.columns_on` fills them in). `judge` must have judged; `metric` is one beside the usual ones
    that the run must be scored by.
    """

    label: str
    read: Reading
    digits: int = 1
    judge: str = ""
    metric: Metric | None = None
    published: Mapping[str, PublishedFigure] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedVariant:
    """A paradigm with the source's settings, and what the source calls it. `twin_of`: the published name of the variant
    that this one is a second instance of; in pairs it is compared with that one alone.
    """

    paradigm: str
    published: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_model: bool = False
    twin_of: str = ""

    @property
    def label(self) -> str:
        """Its name in the run's records: the paradigm as every command and router writes it, `naive[k=20]`."""
        own = ";".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.paradigm}{f'[{own}]' if own else ''}"


@dataclass(frozen=True)
class ExperimentData:
    """A data set: the names that its files go by, and how it is recognised among others of the same names.

    No `questions` means that they are generated; no `corpus`, that the questions hold it or lie beside it. `folder`:
    what the folder must be called, where the files' names do not tell. `corpus_anywhere`: the corpus need not lie in
    the folder of the questions, because its name is its own. `given_alone`: only in the very folder that was given.
    `marks` looks at the questions; `types` gives their types the source's names, and leaves out the questions whose
    type it names "". `settings` are the source's on this data, by paradigm. `judged`: whether a model judges answers.
    """

    name: str
    format: str
    questions: tuple[str, ...] = ()
    corpus: tuple[str, ...] = ()
    folder: tuple[str, ...] = ()
    corpus_anywhere: bool = False
    given_alone: bool = False
    marks: Callable[[Sequence[Question]], bool] = bool
    types: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    judged: bool = True
    columns: tuple[PublishedColumn, ...] = ()
    differs: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """What a source ran.

    `graph`, `communities` and `answer` are the source's settings of these sections, as far as it gives them (by
    default, each paradigm has a prompt of its own). The questions are those of the data, sampled `per_type`, or
    `generated` over the corpus, so many of each kind. `types` are those of the questions that the source tells
    paradigms apart by, each a column of every data set. `notes` is what the source reports besides; `duel_rates` are
    its relative win rates by two names. `differs` is what is never as it was there, `model_differs` and `judge_differs`
    what is not where a model answers and where a judge judges; what depends on the settings and the data is found out
    when it runs. `crag_twice`: coarse and fine CRAG come from a match of claims each, and are
    shown against each other.
    """

    name: str
    title: str
    model: str
    embedder: str
    judge: str
    variants: tuple[PublishedVariant, ...]
    data: tuple[ExperimentData, ...]
    columns: tuple[PublishedColumn, ...]
    questions: str
    differs: tuple[Difference, ...] = ()
    model_differs: tuple[Difference, ...] = ()
    judge_differs: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    chunking: Literal["section", "thesis", "router-bench", "agentic"] = "section"
    graph: Mapping[str, Any] = field(default_factory=dict)
    communities: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=lambda: {"prompts": "native"})
    reasoning: str = ""
    per_type: int | None = None
    evidence_only: bool = False
    repeats: int = 1
    generated: Mapping[str, int] = field(default_factory=dict)
    duel_rates: Mapping[tuple[str, str], float] | None = None
    types: tuple[str, ...] = ()
    crag_twice: bool = False

    def variants_on(self, data: ExperimentData) -> tuple[PublishedVariant, ...]:
        """The variants with the source's settings on this data."""
        return tuple(
            replace(one, settings={**one.settings, **data.settings.get(one.paradigm, {})}) for one in self.variants
        )

    def columns_on(self, data: ExperimentData) -> tuple[PublishedColumn, ...]:
        """The columns of this data set, with the published figures."""
        columns = (column for column in (*self.columns, *data.columns) if data.judged or not column.judge)
        return tuple(
            replace(column, published=published(self.name, data.name).get(column.label, {})) for column in columns
        )


# What was published


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    """`published.toml`."""
    return tomllib.loads((resources.files("ragways.reproduce") / "published.toml").read_text(encoding="utf-8"))


def published_table(*names: str) -> Mapping[str, Any]:
    """A table of a source beside its figures of variants; empty where it has none of this name."""
    found: Mapping[str, Any] = _tables()
    for name in names:
        found = found.get(name, {})
    return found


@cache
def published(experiment: str, data: str) -> Mapping[str, Mapping[str, PublishedFigure]]:
    """The source's figures on a data set, by column and then by its name of a variant."""
    table = _tables().get(experiment, {})
    if not table:
        return {}
    own = {**table, **table.get(data, {})}
    columns = {label: row for label, row in own.items() if isinstance(row, list) and label != "systems"}
    for label, row in own.get("millions", {}).items():
        columns[label] = [1e6 * total / own["questions"] for total in row]
    return {label: _row(table["systems"], row) for label, row in columns.items()}


def _row(systems: Sequence[str], row: Sequence[float | list[float]]) -> dict[str, PublishedFigure]:
    figures = {}
    for system, given in zip(systems, row, strict=True):
        value, *ends = (None if math.isnan(one) else one for one in (given if isinstance(given, list) else [given]))
        if value is not None or ends:
            figures[system] = PublishedFigure(value, *ends)
    return figures


# Which data there is


@dataclass(frozen=True)
class LocatedData:
    """A data set that was found: its files, and its questions where it brings them."""

    data: ExperimentData
    questions_file: Path | None
    corpus_file: Path | None
    questions: tuple[Question, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(str(file) for file in (self.questions_file, self.corpus_file) if file is not None)


def locate(experiment: Experiment, folder: Path) -> list[LocatedData]:
    """The data sets of an experiment that lie in a folder or in folders of it, each once.

    A file is taken for what it is and not for what it is called: its questions are read, and must be those of the set.
    An error names what was looked for, and what was passed over and why.
    """
    places = [folder, *sorted(place for place in folder.iterdir() if place.is_dir())] if folder.is_dir() else []
    found: dict[str, LocatedData] = {}
    passed_over: list[str] = []
    for data in experiment.data:
        if data.name not in found:
            first = next(_candidates(data, places, passed_over), None)
            if first is not None:
                found[data.name] = first
    if not found:
        wanted = "; or ".join(dict.fromkeys(map(_wanted, experiment.data)))
        over = f" ({'; '.join(dict.fromkeys(passed_over))})" if passed_over else ""
        raise UsageError(f"{folder} holds no data of {experiment.name}{over}", f"put there {wanted}")
    return list(found.values())


def _candidates(data: ExperimentData, places: Sequence[Path], passed_over: list[str]) -> Iterator[LocatedData]:
    for place in places[:1] if data.given_alone else places:
        if data.folder and not any(fnmatch(place.resolve().name.casefold(), name) for name in data.folder):
            continue
        corpus = next(
            (file for one in (places if data.corpus_anywhere else [place]) for file in _files(one, data.corpus)), None
        )
        if corpus is None and data.corpus:
            continue
        if not data.questions:
            yield LocatedData(data, None, corpus)
        for file in _files(place, data.questions):
            try:
                questions = load_questions(data.format, file)
            except UsageError as error:
                # The cure helps where the folder has the benchmark's own name: its file is meant to be that.
                passed_over.append(f"{error.message}; {error.cure}" if data.folder else error.message)
                continue
            if data.marks(questions):
                yield LocatedData(data, file, corpus, tuple(questions))
            else:
                passed_over.append(f"{file} is {data.format}, but not {data.name}")


def _files(place: Path, names: tuple[str, ...]) -> Iterator[Path]:
    return (file for name in names for file in sorted(place.glob(name)))


def _wanted(data: ExperimentData) -> str:
    files = " and ".join(" or ".join(names) for names in (data.questions, data.corpus) if names)
    return f"{data.name}: {files}" + (f" in a folder called {' or '.join(data.folder)}" if data.folder else "")
