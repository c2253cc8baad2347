"""A run on disk: `run.json` says how it was made, `records.jsonl` has a record for every answer, and `features.jsonl`
the features of every question.

A record has everything that figures are computed from, so that they can be computed again at any time. A stopped run
continues, and only with the same seed, model, index and settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ragways.core import __version__, log
from ragways.core.errors import UsageError
from ragways.core.plain import from_plain, to_plain
from ragways.core.trace import Usage
from ragways.core.types import Citation
from ragways.evaluation.question import Gold, Question
from ragways.index.export import replacing
from ragways.store.cache import Spent

FILE = "records.jsonl"
RUN_FILE = "run.json"
FEATURES_FILE = "features.jsonl"
CURE = "name another folder with --out, or give the settings it was made with"
Key = tuple[str, str, int]
"""Question, paradigm, repeat."""


# A record and its parts


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """A piece of evidence of an answer. `by`: the retrievers that returned it. Fields that another system does not give
    are empty, and its score None.
    """

    id: str = ""
    kind: str = ""
    title: str = ""
    text: str = ""
    date: str = ""
    score: float | None = None
    by: tuple[str, ...] = ()
    heading: str = ""
    """The title with the headings above it, as the model was shown them."""


@dataclass(frozen=True, slots=True)
class AnswerUsage:
    """What an answer used; None where it is not known.

    Tokens and `usd` are what the answer is worth, whether or not a reply was cached; `spent` is the USD that were paid
    for it. `tokens` is set where a system gives only the sum of `input` and `output`; `evidence` are the tokens of the
    evidence that was shown.
    """

    calls: float | None = None
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    reasoning: float | None = None
    usd: float | None = None
    tokens: float | None = None
    evidence: float | None = None
    spent: float | None = None

    @classmethod
    def of(cls, usage: Usage, *, evidence: float | None = None, spent: float | None = None) -> AnswerUsage:
        """The usage of a trace, as a record has it."""
        return cls(
            usage.calls, usage.input, usage.output, usage.cached, usage.reasoning, usage.cost, None, evidence, spent
        )

    @property
    def all_tokens(self) -> float | None:
        """Tokens in and out; None where they are not known."""
        if (self.tokens, self.input, self.output) == (None, None, None):
            return None
        return self.tokens or (self.input or 0) + (self.output or 0)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step of the trace of an answer, `depth` steps inside others. `usage` is that of all inside it."""

    name: str
    depth: int = 0
    way: str = ""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The value of a metric, or None and why there is none. `details` are what the value was made from."""

    value: float | None
    why: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerOrigin:
    """What made an answer: version, paradigm, index, models and the hashes of the prompts that were used.

    Of an answer of another system: the name it was `imported` under, and from which `file`.
    """

    version: str = ""
    paradigm: str = ""
    generation: int = 0
    embedder: str = ""
    model: str = ""
    preset: str = ""
    temperature: float = 0.0
    prompts: Mapping[str, str] = field(default_factory=dict)
    imported: str = ""
    file: str = ""


@dataclass(frozen=True)
class Record:
    """One answer of a run.

    `answer` is the answer itself and `explanation` its reasons, where the paradigm separates the two. `paradigm` is
    the name of the variant that answered; `gold` are the accepted answers; `wanted` is the gold evidence and `ranks`
    are the ranks at which each piece of it was retrieved; `absent` counts gold evidence whose documents are not in the
    index. `cpu` is None where answers were made concurrently; `replies_known` counts replies of a model that came from
    our cache, so that `seconds` do not include waiting for them; `error` says why there is no answer; `made` which
    version, model and prompts made it; `chance` is the answer's own chance of being right, None where nothing measured
    it. `shown` is the place of each piece of gold evidence in `evidence`, None in records of older versions; `features`
    are those of the question (`retrieval/routing/features.py`), the same for all its answers; `arm` is the way that a
    router took. `values` are the scores by metric, once the record is scored; they are not stored.
    """

    question: str
    text: str
    type: str
    gold: tuple[str, ...]
    paradigm: str
    repeat: int
    answer: str = ""
    abstained: bool = False
    way: str = ""
    wanted: tuple[Gold, ...] = ()
    ranks: tuple[int | None, ...] = ()
    absent: int = 0
    evidence: tuple[EvidenceItem, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: AnswerUsage = AnswerUsage()
    steps: tuple[TraceStep, ...] = ()
    tools: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float | None = None
    replies_known: int = 0
    seed: int = 0
    error: str = ""
    made: AnswerOrigin = AnswerOrigin()
    explanation: str = ""
    chance: float | None = None
    shown: tuple[int | None, ...] | None = None
    features: dict[str, float] = field(default_factory=dict)
    arm: str = ""
    values: Mapping[str, Score] = field(default_factory=dict)

    # A field that this version does not know makes a line one of another version's.
    __pydantic_config__: ClassVar = {"extra": "forbid"}

    @property
    def key(self) -> Key:
        """The question, paradigm and repeat: unique in a run."""
        return self.question, self.paradigm, self.repeat

    def value(self, metric: str) -> float | None:
        """The value of a metric; None where it has none, or the answer failed."""
        return None if self.error or metric not in self.values else self.values[metric].value


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """The features of a question of a run, by its id. All its records share them, so they are stored once."""

    question: str
    features: dict[str, float]


def question_features(folder: Path) -> log.Log[QuestionFeatures]:
    """The features of a run's questions; none where none were taken."""
    return log.Log(folder / FEATURES_FILE, QuestionFeatures)


class Records:
    """The records of a run in its folder, one for each key: of several the last that did not fail, else the last. Each
    has the features of its question.

    The file is only appended to: a failure stays until an answer takes its place, and lines that this version cannot
    read stay for one that can. `unreadable` counts those of the last reading.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = log.Log(folder / FILE, Record)

    @property
    def unreadable(self) -> int:
        return self._log.unreadable

    def __iter__(self) -> Iterator[Record]:
        if not self._log.exists():
            raise UsageError(f"{self.folder} holds no run", "make one with: ragways eval run")
        features = {row.question: row.features for row in question_features(self.folder)}
        latest: dict[Key, Record] = {}
        for record in self._log:
            if not record.error or record.key not in latest or latest[record.key].error:
                latest[record.key] = record
        return (
            replace(record, features=features[record.question])
            if not record.features and record.question in features
            else record
            for record in latest.values()
        )

    def append(self, record: Record) -> None:
        """Write one more record. Its parts are written without the fields that have their defaults."""
        row = to_plain(record, sparse_parts=True)
        del row["values"]
        log.append(self._log.path, row)

    def here(self) -> list[Record]:
        """All records; none where nothing was recorded yet."""
        return list(self) if self._log.exists() else []


# The run that records belong to


def questions_hash(questions: Iterable[Question | Record]) -> str:
    """A hash of questions with their gold answers and evidence, whatever their order; of records, of their questions.
    Runs of equal hashes can be compared question by question.
    """
    rows = {json.dumps(to_plain(_asked(one))) for one in questions}
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:16]


def _asked(one: Question | Record) -> tuple[str, str, str, tuple[str, ...], tuple[Gold, ...]]:
    if isinstance(one, Question):
        return one.id, one.text, one.type, one.answers, one.gold
    return one.question, one.text, one.type, one.gold, one.wanted


@dataclass(frozen=True)
class RunInfo:
    """What `run.json` says of a run: written when it begins, checked when it goes on.

    `id` separates the cached replies of this run from those of others; `index` identifies the state of the index;
    `variants` are the settings of each paradigm in the records; `data` says where the questions come from,
    `construction` what each layer had cost; `questions` is the hash of the questions with their gold
    (`questions_hash`), `date` the day on which the run began (UTC).
    """

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    version: str = __version__
    seed: int = 0
    prompts: str = ""
    model: str = ""
    index: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    construction: Mapping[str, Spent] = field(default_factory=dict)
    questions: str = ""
    temperature: float = 0.0
    guard: Mapping[str, Any] = field(default_factory=dict)
    date: str = ""

    @classmethod
    def read(cls, folder: Path) -> RunInfo | None:
        """The info of a folder; None where there is none that can be read."""
        try:
            data = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
            return from_plain(cls, {**data, "id": data["id"]})
        except (OSError, ValueError, TypeError, KeyError):
            return None


@dataclass(frozen=True)
class Run:
    """A run in its folder: `run.json` says how it was made, `records.jsonl` has a record for every answer.

    Both are read anew each time. `failed` counts the answers that failed in this session.
    """

    folder: Path
    failed: int = 0

    @property
    def info(self) -> RunInfo:
        """How the run was made; empty where no `run.json` can be read."""
        return RunInfo.read(self.folder) or RunInfo(id="", version="")

    @property
    def records(self) -> Records:
        return Records(self.folder)


def begin(folder: Path, new: RunInfo) -> RunInfo:
    """Begin a run in a folder, or continue the one in it; returns its info and writes it.

    Raises UsageError where the folder has a run with another seed, model, temperature, index or settings.
    """
    known = RunInfo.read(folder)
    today = datetime.now(UTC).date().isoformat()
    new = replace(new, date=today)
    if known is not None:
        _check_same(folder, known, new)
        new = replace(new, id=known.id, date=known.date or today, variants={**known.variants, **new.variants},
                      data={**known.data, **new.data},
                      construction={**known.construction, **new.construction})  # fmt: skip
    _make(folder)
    with replacing(folder / RUN_FILE) as draft:
        draft.write_text(json.dumps(to_plain(new), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return new


def _check_same(folder: Path, known: RunInfo, new: RunInfo) -> None:
    """Raise UsageError, naming what differs, where a run cannot go on with the new settings."""
    for name in ("seed", "prompts", "model", "temperature"):
        before, now = getattr(known, name), getattr(new, name)
        if before != now:
            raise UsageError(f"{folder} holds a run with {name} {before or 'none'!r}, not {now or 'none'!r}", CURE)
    if known.index and new.index and known.index != new.index:
        raise UsageError(f"{folder} holds a run over another index, or the index has changed since", CURE)
    if known.guard and new.guard and known.guard != new.guard:
        raise UsageError(f"{folder} holds a run with other settings of the guard", CURE)
    for name, settings in new.variants.items():
        if name in known.variants and to_plain(settings) != known.variants[name]:
            raise UsageError(f"{name} has other settings in the run of {folder}", CURE)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", "name another --out") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run's folder while inside; UsageError where another process has the lock. A kill releases it.

    Two commands that write one run would answer everything twice. The folder itself is locked, so that no file is left
    behind. Windows and some network drives have no such lock: there, two writers are not detected.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    _make(folder)
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror or error}", "name another --out") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"another process is writing to {folder}", "wait for it to end, or name another --out"
        ) from None
    except OSError:
        pass  # a drive without locks
    try:
        yield
    finally:
        os.close(handle)
