"""The quality and cost of every arm on every question: the records of runs as arrays, from which a router is fitted.

An arm is a variant of a run, or `abstain`. Some labels follow from the type of a question, and notes count them: to
abstain is right on a question without an answer and wrong on all others; a question about the whole corpus without gold
evidence (type `summary`) is right for the arms of `community-global` and wrong for the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
Features = Mapping[str, Mapping[str, float]]
"""The features of questions, by their texts."""

COSTS = ("tokens", "calls", "usd", "seconds", "evidence")
"""What an answer takes. `evidence` are the tokens of evidence among its `tokens`."""
GLOBAL = "community-global"
SUMMARY = "summary"
NAMED = 3
"""Questions that an error lists for an arm."""


@dataclass(frozen=True)
class Outcomes:
    """Arrays by question, arm and repeat.

    `corpus` is the place of each question's corpus in `corpora`. `quality` lies between 0 and 1, nan where a repeat is
    not there; `costs` are means over repeats by unit, nan where no record has it. `features` has a column for each of
    `names`, nan for what is not known. `chance` is the answer's own chance, nan where nothing measured it; `abstained`
    is 1 where the answer refused. `temperature`, `model` and `embedder` are those of the runs, the last empty where
    they differ; `notes` say what was labelled by construction and what was left out; `constructed` says for each
    question whether its labels were (empty: no one's).
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
    embedder: str = ""
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
        """The paradigm of the first look, by the features of questions; empty where it is unknown, or there are two."""
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
        """The questions whose outcomes were measured. Labels by construction are used for fitting, and
        prove nothing; where there are no others, all are taken.
        """
        found = np.flatnonzero(~np.array(self.constructed, dtype=bool)) if self.constructed else np.arange(len(self))
        return np.asarray(found if len(found) else np.arange(len(self)), dtype=np.intp)

    def mean(self, values: Floats) -> float:
        """The mean over questions of a value each; corpora weigh the same."""
        return float(np.average(values, weights=self.weights))


# From the records of runs


@dataclass
class _Question:
    """A question of a corpus: its scored answers by arm, each with its value, and why other arms have none."""

    record: Record
    features: Mapping[str, float]
    answers: dict[str, list[tuple[float, Record]]] = field(default_factory=lambda: defaultdict(list))
    unscored: dict[str, str] = field(default_factory=dict)
    constructed: bool = False


_Table = dict[tuple[str, str], _Question]
"""By corpus and question."""


def gather(
    folders: Sequence[Path], *, quality: str, common: bool = False, features: Features | None = None
) -> Outcomes:
    """The outcomes of runs. Each is a corpus of its own, unless it was made on the index of another.

    `quality` is the metric. `common` leaves out the questions that some arm did not answer, which otherwise are an
    error. `features` are of questions whose records have none. Raises UsageError where nothing can be learned: an empty
    run, one arm, a metric without values, arms that never differ, runs of two models.
    """
    metric = deciding(find_metric(quality))
    if metric.less_is_better:
        raise UsageError(f"less is better of {metric}", "name a metric of which more is better")
    if not folders:
        raise UsageError("no run is named", "name the folders of one or more runs")
    infos = [Run(folder).info for folder in folders]
    models = {info.model: folder for folder, info in zip(folders, infos, strict=True)}
    if len(models) > 1:
        names = ", ".join(f"{model or 'no model'} in {folder.name}" for model, folder in sorted(models.items()))
        raise UsageError(f"the runs are of different models ({names})", "fit a router on runs of one model")
    table: _Table = {}
    embedders: set[str] = set()
    for folder, corpus in zip(folders, corpus_names(folders, infos), strict=True):
        # A router is no arm of another.
        records = [one for one in scored(Run(folder), metric) if one.paradigm.partition("[")[0] != NAME]
        if not records:
            raise UsageError(f"the run in {folder} is empty", "make it with: ragways eval run")
        labelled = any(one.paradigm.partition("[")[0] == GLOBAL for one in records)
        for record in records:
            embedders.add(record.made.embedder)
            _take(table, corpus, record, metric, labelled, features or {})
    arms = tuple(dict.fromkeys(arm for one in table.values() for arm in (*one.answers, *one.unscored)))
    if len(arms) < 2:
        raise UsageError(f"the runs have one arm only ({arms[0]})", "run two or more: ragways eval run -p A,B")
    whole, left_out = _complete(table, arms, metric, common)
    if not any(one.features for one in whole.values()):
        raise UsageError("the records have no features", "run again with this version, or name the index with --index")
    arrays = _arrays(whole, arms, metric)
    return replace(arrays, model=infos[0].model, embedder=embedders.pop() if len(embedders) == 1 else "",
                   temperature=max(info.temperature for info in infos), notes=(*arrays.notes, *left_out))  # fmt: skip


def corpus_names(folders: Sequence[Path], infos: Sequence[RunInfo]) -> list[str]:
    """The corpus of each run: the name of the first folder of those over one index."""
    first: dict[str, int] = {}
    owners = [first.setdefault(info.index, n) if info.index else n for n, info in enumerate(infos)]
    names = {n: folders[n].resolve().name for n in owners}
    shared = Counter(names.values())
    return [names[n] if shared[names[n]] == 1 else f"{names[n]} ({n + 1})" for n in owners]


def _take(table: _Table, corpus: str, record: Record, metric: Metric, labelled: bool, features: Features) -> None:
    """Put one record into the table. A failure has quality 0: there is no answer."""
    score = record.values.get(metric.name, Score(None, "it was not judged"))
    one = table.setdefault((corpus, record.question), _Question(record, features.get(record.text, {})))
    arm, value = record.paradigm, score.value
    if one.record.text != record.text:
        raise UsageError(f"question {record.question[:80]!r} of {corpus} is not the same in two runs",
                         "name runs over one set of questions")  # fmt: skip
    one.features = record.features or one.features
    if value is None and unanswerable(record):
        value, one.constructed = 0.0, True
    elif record.error:
        value = 0.0
    elif value is None and labelled and about_the_whole(record):
        value, one.constructed = float(arm.partition("[")[0] == GLOBAL), True
    if value is None:
        one.unscored[arm] = score.why
    elif 0 <= value <= 1:
        one.answers[arm].append((value, record))
    else:
        raise UsageError(f"{metric} has the value {value:g}", "a router is fitted on a metric between 0 and 1")


def about_the_whole(record: Record) -> bool:
    """Whether a question asks about the corpus as a whole, so that no passage of its own answers it."""
    return record.type.casefold() == SUMMARY and not record.wanted


def costs_of(record: Record) -> dict[str, float]:
    """What a record's answer took, nan where it is not known. Where no model was set, its tokens are those of the
    evidence, which a model would have had to read.
    """
    used = record.usage
    costs = {
        "tokens": used.all_tokens if used.all_tokens or record.made.model else used.evidence,
        "calls": used.calls,
        "usd": used.usd,
        "seconds": None if record.replies_known else record.seconds,  # a reply from our cache takes no time
        "evidence": used.evidence,
    }
    return {unit: float("nan") if cost is None else cost for unit, cost in costs.items()}


def _complete(table: _Table, arms: Sequence[str], metric: Metric, common: bool) -> tuple[_Table, list[str]]:
    """The questions that every arm has a value for, and notes on those that were left out."""
    valued = {key: one for key, one in table.items() if one.answers}
    if not valued:
        why = Counter(why for one in table.values() for why in one.unscored.values()).most_common(1)[0][0]
        raise UsageError(f"{metric} is unscored in every record ({why})", "name another metric, or judge the run first")
    whole = {key: one for key, one in valued.items() if len(one.answers) == len(arms)}
    unscored, incomplete = len(table) - len(valued), len(valued) - len(whole)
    if not whole:
        raise UsageError("no question was answered by all arms", _lacking(valued, arms))
    if incomplete and not common:
        raise UsageError(
            f"{incomplete:,} of {len(valued):,} questions lack a value ({_lacking(valued, arms)})",
            "let the runs go on (ragways eval run), or leave these questions out with --common",
        )
    means = [{np.mean([value for value, _ in some]) for some in one.answers.values()} for one in whole.values()]
    if all(len(values) == 1 for values in means):
        raise UsageError(
            f"all arms have the same {metric} on each of {len(whole):,} questions, so there is nothing to learn",
            "take the cheapest of them, or name another metric",
        )
    notes = (
        (unscored, f"question without any value of {metric} was", f"questions without any value of {metric} were"),
        (incomplete, "question that some arm has no value for was", "questions that some arm has no value for were"),
    )
    return whole, [f"{counted(number, one, many)} left out" for number, one, many in notes if number]


def _lacking(table: _Table, arms: Sequence[str]) -> str:
    """Which arms lack how many questions, and the first of these."""
    parts = []
    for arm in arms:
        lacking = [question for (_, question), one in table.items() if arm not in one.answers]
        if lacking:
            more = ", …" if len(lacking) > NAMED else ""
            parts.append(f"{arm} lacks {len(lacking):,}: {', '.join(one[:40] for one in lacking[:NAMED])}{more}")
    return "; ".join(parts)


def _arrays(table: _Table, arms: tuple[str, ...], metric: Metric) -> Outcomes:
    rows = list(table.values())
    corpora = tuple(dict.fromkeys(corpus for corpus, _ in table))
    null = np.array([unanswerable(row.record) for row in rows])
    refusing = (ABSTAIN,) if null.any() and ABSTAIN not in arms else ()
    shape = len(rows), len(arms) + len(refusing), max(len(some) for row in rows for some in row.answers.values())
    quality, chance, abstained = (np.full(shape, np.nan) for _ in range(3))
    costs = {unit: np.zeros(shape[:2]) for unit in COSTS}
    for n, row in enumerate(rows):
        for a, arm in enumerate(arms):
            for r, (value, record) in enumerate(row.answers[arm]):
                quality[n, a, r], abstained[n, a, r] = value, record.abstained
                chance[n, a, r] = np.nan if record.chance is None else record.chance
            paid = [costs_of(record) for _, record in row.answers[arm]]
            for unit in COSTS:
                known = [one[unit] for one in paid if not np.isnan(one[unit])]
                costs[unit][n, a] = np.mean(known) if known else np.nan
    if refusing:
        quality[:, -1, :] = null[:, None]
        abstained[:, -1, :] = 1.0
    names = tuple(sorted({name for row in rows for name in row.features}))
    about = sum(row.constructed and about_the_whole(row.record) for row in rows)
    notes = (
        (int(null.sum()), "question has", "questions have", "no answer: there abstaining is right by construction"),
        (about, "question about the whole corpus counts", "questions about the whole corpus count",
         f"as right for {GLOBAL} alone, by construction"),
    )  # fmt: skip
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
        notes=tuple(f"{counted(number, one, many)} {rest}" for number, one, many, rest in notes if number),
        constructed=tuple(row.constructed for row in rows),
    )
