"""An index with every layer, one of whose files is damaged: is it mended, or is the damage reported?"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from ragways.core.errors import RagwaysError
from ragways.index.build import build
from ragways.index.check import check
from tests.apps.test_plan import LAYERS
from tests.fakes import recipe
from tests.faults.killing import corpus
from tests.index.builds import answers, unlike

QUESTION = "Who sailed from Dunmarrow, and what became of the ship?"
_FORKED = multiprocessing.get_context("fork")  # what ends the process itself must be counted, too


def flipped(data: bytearray, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    data[at] ^= 1 << dice.randrange(8)
    return bytes(data)


def truncated(data: bytearray, dice: random.Random) -> bytes:
    return bytes(data[: dice.randrange(len(data))])


def emptied(data: bytearray, dice: random.Random) -> bytes:
    return b""


def zeroed(data: bytearray, dice: random.Random) -> bytes:
    """A block of the disk that reads as zeros."""
    at = dice.randrange(0, len(data), 4096)
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    return bytes(data)


DAMAGES: tuple[Callable[[bytearray, random.Random], bytes], ...] = (flipped, truncated, emptied, zeroed)


def built(home: Path, documents: int = 20) -> Path:
    """An index by rules, with every layer."""
    how = recipe(layers=frozenset(LAYERS.split(",")), settings={"communities": {"text": 50}})
    asyncio.run(build(home / "index", [corpus(home / "docs", documents)], how))
    return home / "index"


@dataclass
class Outcome:
    """`seen` by `check` are counted of damaged files of views; one of rows may be in a place that nothing stands in.
    `of_facts`: of rows, texts and vectors alone have a checksum, so a bit of a fact may be another unnoticed.
    """

    trials: int = 0
    mended: int = 0
    reported: int = 0
    unharmed: int = 0
    seen: int = 0
    of_views: int = 0
    of_facts: int = 0
    wrong: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    by_damage: Counter[str] = field(default_factory=Counter)


def trial(index: Path, home: Path, trials: int, seed: int = 0) -> Outcome:
    """Damage as many copies of an index, each once, in files drawn evenly and by size in turns."""
    dice, outcome, wanted = random.Random(seed), Outcome(), answers(index, QUESTION)
    files = [file for file in sorted(index.rglob("*")) if file.is_file() and file.stat().st_size]
    sizes = [file.stat().st_size for file in files]
    for number in range(trials):
        file = dice.choices(files, sizes if number % 2 else None)[0]
        damage = DAMAGES[0 if number % 2 else number // 2 % len(DAMAGES)]
        copy = home / "damaged"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(index, copy)
        place = copy / file.relative_to(index)
        before = place.read_bytes()
        after = damage(bytearray(before), dice)
        if after == before:
            continue
        place.write_bytes(after)
        name = f"{damage.__name__} {file.relative_to(index)} (trial {number})"
        outcome.by_damage[damage.__name__] += 1
        note_trial(outcome, name, copy, wanted)
    return outcome


def note_trial(outcome: Outcome, name: str, copy: Path, wanted: dict[str, object]) -> None:
    outcome.trials += 1
    kind, detail = in_a_process(copy, wanted)
    of_view = "views/" in name and "views.json" not in name
    outcome.of_views += of_view
    outcome.seen += of_view and detail.startswith("unfit")
    if kind == "crashed":
        outcome.crashed.append(f"{name}: {detail}")
    elif kind == "wrong" and "index.sqlite" in name:
        outcome.of_facts += 1
    elif kind == "wrong":
        outcome.wrong.append(f"{name}: {detail}")
    elif kind == "reported":
        outcome.reported += 1
    elif detail.startswith("unfit"):
        outcome.mended += 1
    else:
        outcome.unharmed += 1


def in_a_process(copy: Path, wanted: dict[str, object]) -> tuple[str, str]:
    ours, theirs = _FORKED.Pipe(duplex=False)
    child = _FORKED.Process(target=look_and_ask, args=(copy, wanted, theirs))
    child.start()
    theirs.close()
    try:
        kind, detail = ours.recv()
    except EOFError:
        kind, detail = "crashed", ""
    child.join()
    return (kind, detail) if child.exitcode == 0 else ("crashed", f"exit code {child.exitcode}")


def look_and_ask(copy: Path, wanted: dict[str, object], out: Connection) -> None:
    out.send(outcome_for(copy, wanted))


def outcome_for(copy: Path, wanted: dict[str, object]) -> tuple[str, str]:
    try:
        fit = "fit" if check(copy).fit else "unfit"
    except RagwaysError:
        fit = "unfit"
    except BaseException as error:
        return "crashed", f"check: {error!r}"[:300]
    try:
        found = answers(copy, QUESTION)
    except RagwaysError as error:
        return ("reported", f"{fit}: {error}") if error.cure else ("crashed", f"no cure: {error}")
    except BaseException as error:
        return "crashed", f"{error!r}"[:300]
    different = unlike(found, wanted)
    return ("wrong", f"{fit}: {', '.join(different)}") if different else ("right", fit)


def lines(outcome: Outcome) -> Iterator[str]:
    yield f"{outcome.trials} damaged files ({', '.join(f'{n} {name}' for name, n in outcome.by_damage.items())})"
    yield f"wrong by damaged rows of facts, which have no checksum: {outcome.of_facts}"
    yield f"silently wrong otherwise: {len(outcome.wrong)}, tracebacks and crashes: {len(outcome.crashed)}"
    yield f"mended: {outcome.mended}, reported with a cure: {outcome.reported}, no harm done: {outcome.unharmed}"
    yield f"`check` saw {outcome.seen} of {outcome.of_views} in files of views"
    yield from sorted(outcome.wrong + outcome.crashed)[:40]
