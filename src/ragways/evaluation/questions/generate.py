"""Generate questions on an index: draft, verify, keep or count why not, until there are enough of each kind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import ragways
from ragways.core.errors import BudgetExceeded, UnusableReply, UsageError
from ragways.core.gather import together
from ragways.core.progress import Progress, ProgressCallback, silent
from ragways.core.trace import Budget, current_meter, span, spending
from ragways.core.types import content_hash
from ragways.evaluation.datasets.reading import plain_row
from ragways.evaluation.question import Gold, Question, plain_words
from ragways.evaluation.questions import trial, verify
from ragways.evaluation.questions.draft import PASSED, REASONS, REPEATED, UNREADABLE, Draft, Nothing
from ragways.evaluation.questions.kinds import KINDS, Kind, find_kinds
from ragways.evaluation.questions.material import Material
from ragways.evaluation.questions.quotes import quote
from ragways.retrieval.resources import Resources

MOST = 100_000
"""Questions of a kind."""
TRIES = {"model": 5, "rule": 60}
"""Drafts for each question that is wanted, before it is said that there are no more. Those of rules cost nothing."""
DRY = 300
"""Drafts in a row by rules, none of which gave a new question, after which it is said that there are no more."""
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class GeneratedSet:
    """`counts`: of each kind, how many drafts passed and how many failed for which reason; `notes`: what is short."""

    questions: tuple[Question, ...]
    counts: dict[str, dict[str, int]]
    provenance: dict[str, Any]
    notes: tuple[str, ...] = ()
    stopped: str = ""
    """Why it ended before its time: the budget."""

    @property
    def about(self) -> dict[str, Any]:
        """What the file beside the questions says of them."""
        made = {"questions": len(self.questions), "counts": self.counts}
        return {**self.provenance, **made, "notes": list(self.notes), "stopped": self.stopped}


@dataclass
class _Set:
    """What has been made so far."""

    questions: list[Question] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    prompts: dict[str, str] = field(default_factory=dict)

    def passed(self, kind: Kind) -> int:
        return self.counts.get(kind.name, {}).get(PASSED, 0)

    def count(self, kind: Kind, reason: str) -> None:
        counts = self.counts.setdefault(kind.name, {})
        counts[reason] = counts.get(reason, 0) + 1


async def generate(
    use: Resources,
    *,
    kinds: Iterable[str] | None = None,
    count: int = 10,
    seed: int = 0,
    budget: float | None = None,
    without_model: bool = False,
    report: ProgressCallback = silent,
) -> GeneratedSet:
    """Up to `count` verified questions of each kind; the same index, seed and settings give the same set.

    Without `kinds`, all that the layers of the index allow. A spent budget ends it, with what there is.
    """
    if not 0 < count <= MOST:
        raise UsageError(f"a count of {count} makes no sense", f"give one from 1 to {MOST:,}")
    model = None if without_model else use.model.model
    way = "rule" if model is None else "model"
    wanted, notes = _possible(use, kinds, way)
    material, made, stopped = Material(use), _Set(), ""
    with spending(Budget(usd=budget)):
        try:
            for kind in wanted:
                await _fill(material, kind, way, count, seed, made, report)
        except BudgetExceeded as error:
            stopped = str(error)
        spent = current_meter().spent
    for kind in wanted:
        if made.passed(kind) < count and not stopped:
            notes.append(f"{kind.name}: {made.passed(kind)} of {count}; the corpus gave no more")
    provenance = {
        "made_by": f"ragways {ragways.__version__}",
        "way": way,
        "model": model.name if model is not None else "",
        "seed": seed,
        "count": count,
        "kinds": [kind.name for kind in wanted],
        "index": {
            "generation": use.index.generation,
            "documents": use.index.counts()["documents"],
            "chunks": use.index.counts()["chunks"],
            "layers": sorted(use.index.layers),
            "embedder": use.index.embedder,
        },
        "prompts": dict(sorted(made.prompts.items())),
        "usd": spent.usd,
        "not_checked": [] if model is not None else ["known by heart: only a model can tell"],
    }
    return GeneratedSet(tuple(made.questions), _in_order(made.counts), provenance, tuple(notes), stopped)


def _possible(use: Resources, names: Iterable[str] | None, way: str) -> tuple[list[Kind], list[str]]:
    """The kinds to make. One that was asked for by name and lacks a layer is an error; else it is left out."""
    kinds = find_kinds(KINDS if names is None else names)
    found, notes = [], []
    for kind in kinds:
        needs = kind.rule_needs if way == "rule" else kind.needs
        if names is not None:
            use.index.require(needs)
        missing = sorted(needs - use.index.layers)
        if missing:
            notes.append(f"{kind.name} is left out: the index has no {' and no '.join(missing)}")
        else:
            found.append(kind)
    return found, notes


async def _fill(
    material: Material, kind: Kind, way: str, count: int, seed: int, made: _Set, report: ProgressCallback
) -> None:
    """Draft until there are enough. Each draft draws by itself, so that none depends on what became of another."""
    most, number, last = count * TRIES[way], 0, 0
    while (missing := count - made.passed(kind)) > 0 and number < most and (way == "model" or number - last < DRY):
        batch = range(number, min(most, number + (min(missing, AT_ONCE) if way == "model" else 1)))
        report(Progress(f"asking {kind.name}", count - missing, count, f"${current_meter().spent.usd:.4f}"))
        results = await together(_attempt(material, kind, way, f"{seed}/{kind.name}/{n}", made) for n in batch)
        number = batch.stop
        for at, (draft, reason) in zip(batch, results, strict=True):
            last = number if _keep(draft, reason, kind, way, seed, at, made) else last


async def _attempt(material: Material, kind: Kind, way: str, seed: str, made: _Set) -> tuple[Draft | None, str]:
    random = Random(seed)  # noqa: S311 - to draw a sample, not a secret
    with span("question") as here:
        try:
            if way == "rule":
                draft = kind.draft(material, random)
                reason = verify.fault(draft, material)
            else:
                draft = await kind.write(material, random)
                reason = await trial.fault(draft, material)
        except Nothing as nothing:
            return None, nothing.reason
        except UnusableReply:
            return None, UNREADABLE
        finally:
            made.prompts |= {
                s.name: str(s.details["prompt"])
                for s in here.walk()
                if "task" not in s.details and "prompt" in s.details
            }
    return draft, reason or PASSED


def _keep(draft: Draft | None, reason: str, kind: Kind, way: str, seed: int, attempt: int, made: _Set) -> bool:
    """Count a draft, and keep it as a question if it passed and is new; whether it was kept."""
    kept = draft is not None and reason == PASSED
    if draft is not None and kept:
        # What rules make twice of the same things differs in its phrase at most.
        same = {plain_words(draft.text), *([f"{kind.name} {sorted(draft.path)}"] if way == "rule" else [])}
        kept = not same & made.texts
        made.texts |= same
    if draft is not None and kept:
        made.questions.append(_question(replace(draft, type=kind.type or kind.name), kind, way, seed, attempt))
    made.count(kind, REPEATED if reason == PASSED and not kept else reason)
    return kept


def _question(draft: Draft, kind: Kind, way: str, seed: int, attempt: int) -> Question:
    quoted = (one.quote if way == "rule" else quote(one, draft) for one in draft.support)
    gold = [Gold(s.title, key=s.key, quote=q, id=s.chunk) for s, q in zip(draft.support, quoted, strict=True)]
    provenance: dict[str, object] = {"kind": kind.name, "way": way, "seed": seed, "attempt": attempt}
    provenance |= {"path": list(draft.path)} | ({"note": draft.note} if draft.note else {})
    return Question(
        content_hash(draft.text, *draft.answers)[:16],
        draft.text,
        draft.answers,
        draft.type,
        () if draft.unanswerable else tuple(gold),
        provenance,
    )


def _in_order(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {kind: {name: of[name] for name in REASONS if name in of} for kind, of in counts.items()}


def about_file(file: Path) -> Path:
    """`questions.jsonl` → `questions.about.json`."""
    return file.with_name(f"{file.name.removesuffix('.jsonl')}.about.json")


def write(generated: GeneratedSet, file: Path) -> None:
    """A set as two files: the questions, a line each, and beside them where they come from.

    Both are whole, or an error: a draft takes the place of what was there before only when it is finished.
    """
    lines = "".join(json.dumps(plain_row(q), ensure_ascii=False) + "\n" for q in generated.questions)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for path, text in (
            (file, lines),
            (about_file(file), json.dumps(generated.about, ensure_ascii=False, indent=1) + "\n"),
        ):
            draft = path.with_name(f"{path.name}.draft")
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
    except OSError as error:
        raise UsageError(
            f"cannot write {file}: {error.strerror or error}", "name a file that can be written"
        ) from error
