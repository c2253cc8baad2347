"""What every arm gave and took on every question: the records of runs as arrays, from which a router is fitted.

An arm is a variant of a run, or `abstain`. Labels that no metric gives are made by construction, counted and told: to
abstain is right on a question without an answer and wrong on all others; a question about the whole corpus without gold
evidence (type `summary`) is right for the arms of `community-global` and wrong for the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragways.core.errors import UsageError
from ragways.core.text import counted
from ragways.evaluation.metric import Metric, deciding, unanswerable
from ragways.evaluation.metrics import find_metric
from ragways.evaluation.record import Record, Run, RunInfo, Score
from ragways.evaluation.score import scored
from ragways.retrieval.paradigm import parse_variant
from ragways.retrieval.routing.auto import NAME
from ragways.retrieval.routing.router import ABSTAIN

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
FeaturesOf = Callable[[Path, str], Mapping[str, float]]
"""The features of a question, by the folder of the run that it was asked in and its text."""

COSTS = ("tokens", "calls", "usd", "seconds", "evidence")
"""What an answer takes. `evidence` are the tokens of evidence among its `tokens`."""
GLOBAL = "community-global"
SUMMARY = "summary"
NAMED = 3
"""Questions that an error names."""


@dataclass(frozen=True)
class Outcomes:
    """Arrays by question, arm and repeat.

    `corpus` is the place of each question's corpus in `corpora`. `quality` lies between 0 and 1, nan where a repeat is
    not there; `costs` are means over repeats by unit, nan where no record tells. `features` has a column for each of
    `names`, nan for what is not known. `chance` is the answer's own chance, nan where nothing measured it; `abstained`
    is 1 where the answer refused. `temperature` and `model` are those of the runs; `notes` say what was made by
    construction and what was left out; `constructed` tells for each question whether its labels were (none: none's).
    """

    metric: str
    corpora: tuple[str, ...]
    arms: tuple[str, ...]
    questions: tuple[str, ...]
    texts: tuple[str, ...]
    types: tuple[str, ...]
    corpus: Ints
    quality: Floats
    costs: Mapping[str, Floats]
    names: tuple[str, ...]
    features: Floats
    chance: Floats
    abstained: Floats
    model: str = ""
    temperature: float = 0.0
    notes: tuple[str, ...] = ()
    constructed: tuple[bool, ...] = ()

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def mean_quality(self) -> Floats:
        """By question and arm, over the repeats that are there."""
        return np.asarray(np.nanmean(self.quality, axis=2), dtype=np.float64)

    @cached_property
    def weights(self) -> Floats:
        """Of questions, 1 on average: corpora weigh the same, however many questions they have."""
        counts = np.bincount(self.corpus, minlength=len(self.corpora)).astype(np.float64)
        return len(self) / np.count_nonzero(counts) / counts[self.corpus]

    @cached_property
    def look(self) -> str:
        """What questions were looked at by, as their features tell; empty where they do not, or are of two kinds."""
        known = {name: ~np.isnan(self.features[:, n]) for n, name in enumerate(self.names)}
        if not known.get("look.fused", np.zeros(1, dtype=bool)).any():
            return ""
        fused = np.nanmean(self.features[:, self.names.index("look.fused")])
        if 0 < fused < 1:
            return ""
        lists = [name for name in ("look.overlap.dense-words", "look.nearness") if known.get(name, np.zeros(1)).any()]
        return "fused" if fused else "hybrid-words" if len(lists) == 2 else "naive" if lists else "words"

    @cached_property
    def cuts(self) -> frozenset[str]:
        """The arms that show the first passages of the look: what they show is known before they are taken."""
        shown = {arm: parse_variant(arm) for arm in self.arms if arm != ABSTAIN}
        return frozenset(
            arm for arm, (name, own) in shown.items() if name == self.look and own.keys() <= {"k", "tokens"}
        )

    @cached_property
    def nested(self) -> tuple[int, ...]:
        """The arms that cut the look alike but for `k`, from the least on: each shows what the one before shows. None
        where more was worse in some answers, as it may be with a model that reads it.
        """
        sizes = {a: parse_variant(arm)[1] for a, arm in enumerate(self.arms) if arm in self.cuts}
        named = {a: int(own["k"]) for a, own in sizes.items() if own.keys() == {"k"}}
        found = tuple(sorted(named, key=lambda a: named[a]))
        return found if not (np.diff(self.mean_quality[:, found], axis=1) < 0).any() else ()

    @property
    def exact(self) -> bool:
        """Whether asking again would have given the same: no model, or one at temperature 0."""
        return not self.model or self.temperature == 0

    def part(self, rows: Ints) -> Outcomes:
        """Some of the questions; corpora without one are gone."""
        left, corpus = np.unique(self.corpus[rows], return_inverse=True)
        return replace(
            self,
            corpora=tuple(self.corpora[n] for n in left),
            corpus=np.asarray(corpus, dtype=np.intp).reshape(-1),
            questions=tuple(self.questions[n] for n in rows),
            texts=tuple(self.texts[n] for n in rows),
            types=tuple(self.types[n] for n in rows),
            quality=self.quality[rows],
            features=self.features[rows],
            chance=self.chance[rows],
            abstained=self.abstained[rows],
            costs={unit: cost[rows] for unit, cost in self.costs.items()},
            constructed=tuple(self.constructed[n] for n in rows) if self.constructed else (),
        )

    @cached_property
    def measured(self) -> Ints:
        """The questions whose outcomes were measured. Labels by construction teach what such questions look like, and
        are no proof of anything; where there are no others, all are taken.
        """
        found = np.flatnonzero(~np.array(self.constructed, dtype=bool)) if self.constructed else np.arange(len(self))
        return np.asarray(found if len(found) else np.arange(len(self)), dtype=np.intp)

    def mean(self, values: Floats) -> float:
        """The mean over questions of a value each; corpora weigh the same."""
        return float(np.average(values, weights=self.weights))


# From the records of runs


@dataclass
class _Question:
    """A question of a corpus with the answers of each arm that were scored, and why others were not."""

    record: Record
    features: Mapping[str, float]
    answers: dict[str, list[_Answer]] = field(default_factory=lambda: defaultdict(list))
    unscored: dict[str, str] = field(default_factory=dict)
    constructed: bool = False


@dataclass(frozen=True)
class _Answer:
    quality: float
    chance: float
    abstained: float
    costs: Mapping[str, float]


def gather(
    folders: Sequence[Path], *, quality: str, common: bool = False, features_of: FeaturesOf | None = None
) -> Outcomes:
    """The outcomes of runs. Each is a corpus of its own, unless it was made on the index of another.

    `quality` is the metric. `common` leaves out the questions that some arm did not answer, which are an error else.
    `features_of` gives the features of questions whose records have none. Raises UsageError where nothing can be
    learned: an empty run, one arm, a metric without values, arms that never differ, runs of two models.
    """
    metric = deciding(find_metric(quality))
    if metric.less_is_better:
        raise UsageError(f"less is better of {metric}", "name a metric of which more is better")
    if not folders:
        raise UsageError("no run is named", "name the folders of one or more runs")
    infos = [RunInfo.read(folder) for folder in folders]
    model = _one_model(folders, infos)
    table: dict[tuple[str, str], _Question] = {}
    counts: Counter[str] = Counter()
    for folder, corpus in zip(folders, corpus_names(folders, infos), strict=True):
        # A router is no arm of another.
        rows = [row for row in scored(Run(folder), metric) if row.paradigm.partition("[")[0] != NAME]
        if not rows:
            raise UsageError(f"the run in {folder} is empty", "make it with: ragways eval run")
        arms_here = {row.paradigm for row in rows}
        labelled = any(arm.partition("[")[0] == GLOBAL for arm in arms_here)
        for row in rows:
            _take(table, corpus, row, metric, labelled, features_of and (lambda text, at=folder: features_of(at, text)))
    arms = tuple(dict.fromkeys(arm for row in table.values() for arm in (*row.answers, *row.unscored)))
    if len(arms) < 2:
        raise UsageError(f"the runs have one arm only ({arms[0]})", "run two or more: ragways eval run -p A,B")
    kept = _complete(table, arms, metric, common, counts)
    _check_features(kept.values())
    temperature = max((info.temperature for info in infos if info), default=0.0)
    return _arrays(kept, arms, metric, model, temperature, counts)


def corpus_names(folders: Sequence[Path], infos: Sequence[RunInfo | None]) -> list[str]:
    """The corpus of each run: the name of the first folder of those over one index."""
    first: dict[str, int] = {}
    owners = [first.setdefault(info.index, n) if info and info.index else n for n, info in enumerate(infos)]
    shared = Counter(folders[n].resolve().name for n in set(owners))
    names = {n: folders[n].resolve().name for n in owners}
    return [names[n] if shared[names[n]] == 1 else f"{names[n]} ({n + 1})" for n in owners]


def _one_model(folders: Sequence[Path], infos: Sequence[RunInfo | None]) -> str:
    models = {info.model if info else "": folder for folder, info in zip(folders, infos, strict=True)}
    if len(models) > 1:
        said = ", ".join(f"{model or 'no model'} in {folder.name}" for model, folder in sorted(models.items()))
        raise UsageError(f"the runs are of different models ({said})", "fit a router on runs of one model")
    return next(iter(models))


def _take(
    table: dict[tuple[str, str], _Question],
    corpus: str,
    record: Record,
    metric: Metric,
    labelled: bool,
    features_of: Callable[[str], Mapping[str, float]] | None,
) -> None:
    """Put one record into the table. A failure has quality 0, as whoever asked has no answer."""
    score = record.values.get(metric.name, Score(None, "it was not judged"))
    key = corpus, record.question
    if key not in table:
        table[key] = _Question(record, record.features or (features_of(record.text) if features_of else {}))
    one, arm, value = table[key], record.paradigm, score.value
    if one.record.text != record.text:
        raise UsageError(f"question {record.question[:80]!r} of {corpus} is not the same in two runs",
                         "name runs over one set of questions")  # fmt: skip
    one.features = one.features or record.features
    if value is None and unanswerable(record):
        value, one.constructed = 0.0, True
    elif record.error:
        value = 0.0
    elif value is None and labelled and about_the_whole(record):
        value, one.constructed = float(arm.partition("[")[0] == GLOBAL), True
    if value is None:
        one.unscored[arm] = score.why
        return
    if not 0 <= value <= 1:
        raise UsageError(f"{metric} has the value {value:g}", "a router is fitted on a metric between 0 and 1")
    chance = np.nan if record.chance is None else record.chance
    one.answers[arm].append(_Answer(value, chance, float(record.abstained), costs_of(record)))


def about_the_whole(record: Record) -> bool:
    """Whether a question asks about the corpus as a whole, so that no passage of its own answers it."""
    return record.type.casefold() == SUMMARY and not record.wanted


def costs_of(record: Record) -> dict[str, float]:
    """What a record's answer took, nan where it does not tell. Where no model was asked, its tokens are those of the
    evidence, which a model would have had to read.
    """
    used = record.usage
    unknown = float("nan")
    tokens = used.all_tokens or (unknown if used.evidence is None else used.evidence)
    return {
        "tokens": tokens,
        "calls": unknown if used.calls is None else used.calls,
        "usd": unknown if used.usd is None else used.usd,
        # Replies that were known already took no time worth telling.
        "seconds": unknown if record.replies_known else record.seconds,
        "evidence": unknown if used.evidence is None else used.evidence,
    }


# What can be used


def _complete(
    table: Mapping[tuple[str, str], _Question],
    arms: Sequence[str],
    metric: Metric,
    common: bool,
    counts: Counter[str],
) -> dict[tuple[str, str], _Question]:
    """The questions that every arm has a value for."""
    valued = {key: row for key, row in table.items() if row.answers}
    counts["unscored"] = len(table) - len(valued)
    if not valued:
        why = Counter(why for row in table.values() for why in row.unscored.values()).most_common(1)[0][0]
        raise UsageError(f"{metric} is unscored in every record ({why})", "name another metric, or judge the run first")
    whole = {key: row for key, row in valued.items() if len(row.answers) == len(arms)}
    counts["incomplete"] = len(valued) - len(whole)
    if not whole:
        raise UsageError("no question was answered by all arms", _lacking(valued, arms))
    if counts["incomplete"] and not common:
        raise UsageError(
            f"{counts['incomplete']:,} of {len(valued):,} questions lack a value ({_lacking(valued, arms)})",
            "let the runs go on (ragways eval run), or leave these questions out with --common",
        )
    answers = (row.answers.values() for row in whole.values())
    if all(len({np.mean([one.quality for one in some]) for some in each}) == 1 for each in answers):
        raise UsageError(
            f"all arms have the same {metric} on each of {len(whole):,} questions, so there is nothing to learn",
            "take the cheapest of them, or name another metric",
        )
    return whole


def _lacking(table: Mapping[tuple[str, str], _Question], arms: Sequence[str]) -> str:
    """Which arms lack how many questions, and the first of these."""
    said = []
    for arm in arms:
        lacking = [question for (_, question), row in table.items() if arm not in row.answers]
        if lacking:
            more = ", …" if len(lacking) > NAMED else ""
            said.append(f"{arm} lacks {len(lacking):,}: {', '.join(one[:40] for one in lacking[:NAMED])}{more}")
    return "; ".join(said)


def _check_features(rows: Iterable[_Question]) -> None:
    if not any(row.features for row in rows):
        raise UsageError("the records have no features", "run again with this version, or name the index with --index")


def _arrays(
    table: Mapping[tuple[str, str], _Question],
    arms: tuple[str, ...],
    metric: Metric,
    model: str,
    temperature: float,
    counts: Counter[str],
) -> Outcomes:
    rows = list(table.values())
    corpora = tuple(dict.fromkeys(corpus for corpus, _ in table))
    null = np.array([unanswerable(row.record) for row in rows])
    refusing = (ABSTAIN,) if null.any() and ABSTAIN not in arms else ()
    repeats = max(len(some) for row in rows for some in row.answers.values())
    shape = len(rows), len(arms) + len(refusing), repeats
    quality, chance, abstained = (np.full(shape, np.nan) for _ in range(3))
    costs = {unit: np.zeros(shape[:2]) for unit in COSTS}
    for n, row in enumerate(rows):
        for a, arm in enumerate(arms):
            some = row.answers[arm]
            quality[n, a, : len(some)] = [one.quality for one in some]
            chance[n, a, : len(some)] = [one.chance for one in some]
            abstained[n, a, : len(some)] = [one.abstained for one in some]
            for unit in COSTS:
                told = [one.costs[unit] for one in some if one.costs[unit] == one.costs[unit]]
                costs[unit][n, a] = np.mean(told) if told else np.nan
    if refusing:
        quality[:, -1, :] = null[:, None]
        abstained[:, -1, :] = 1.0
    names = tuple(sorted({name for row in rows for name in row.features}))
    return Outcomes(
        metric=metric.name,
        corpora=corpora,
        arms=(*arms, *refusing),
        questions=tuple(question for _, question in table),
        texts=tuple(row.record.text for row in rows),
        types=tuple(row.record.type for row in rows),
        corpus=np.array([corpora.index(corpus) for corpus, _ in table], dtype=np.intp),
        quality=quality,
        costs=costs,
        names=names,
        features=np.array([[row.features.get(name, np.nan) for name in names] for row in rows], dtype=np.float64),
        chance=chance,
        abstained=abstained,
        model=model,
        temperature=temperature,
        notes=_notes(rows, null, counts, metric),
        constructed=tuple(row.constructed for row in rows),
    )


def _notes(rows: Sequence[_Question], null: NDArray[np.bool_], counts: Counter[str], metric: Metric) -> tuple[str, ...]:
    whole = sum(row.constructed and about_the_whole(row.record) for row in rows)
    known = (
        (int(null.sum()), "question has", "questions have", "no answer: there abstaining is right by construction"),
        (whole, "question about the whole corpus counts", "questions about the whole corpus count",
         f"as right for {GLOBAL} alone, by construction"),
        (counts["unscored"], f"question without any value of {metric} was",
         f"questions without any value of {metric} were", "left out"),
        (counts["incomplete"], "question that some arm has no value for was",
         "questions that some arm has no value for were", "left out"),
    )  # fmt: skip
    return tuple(f"{counted(number, one, many)} {rest}" for number, one, many, rest in known if number)
