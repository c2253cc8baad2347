"""An index with every layer, one of whose files is damaged: is it mended, or is the damage said?"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from ragways.core.errors import RagwaysError
from ragways.index.build import build
from ragways.index.health import check
from ragways.index.reader import Index
from ragways.models.client import ModelClient
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from tests.apps.test_plan import LAYERS
from tests.fakes import WordHashes, recipe
from tests.faults.killing import corpus

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
    settings = {"graph": {}, "communities": {"text": 50}, "windows": {}}
    how = recipe(layers=frozenset(LAYERS.split(",")), settings=settings)
    asyncio.run(build(home / "index", [corpus(home / "docs", documents)], how))
    return home / "index"


def answers(folder: Path) -> dict[str, str]:
    """What each paradigm answers, on what evidence, and how the index was found to be made up."""

    async def all_answers() -> dict[str, str]:
        said = {}
        with closing(Index.open(folder)) as index:
            use = Resources(index, WordHashes(), ModelClient(None))
            for name in PARADIGMS:
                data = result_data(await ask(use, QUESTION, name))
                said[name] = json.dumps([data[part] for part in ("answer", "citations", "evidence")], sort_keys=True)
            said["documents"] = json.dumps(index.documents())
        return said

    return asyncio.run(all_answers())


@dataclass
class Outcome:
    """`seen` by `check` are counted of damaged files of the index itself; those of the work cache are not read."""

    trials: int = 0
    mended: int = 0
    said: int = 0
    unharmed: int = 0
    seen: int = 0
    seeable: int = 0
    wrong: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    by_damage: Counter[str] = field(default_factory=Counter)


def trial(index: Path, home: Path, trials: int, seed: int = 0) -> Outcome:
    """Damage as many copies of an index, each once, in files drawn evenly and by size in turns."""
    dice, outcome, wanted = random.Random(seed), Outcome(), answers(index)
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
        _count(outcome, name, copy, wanted)
    return outcome


def _count(outcome: Outcome, name: str, copy: Path, wanted: dict[str, str]) -> None:
    outcome.trials += 1
    held = any(part in name for part in ("derived/", "index.sqlite "))
    kind, detail = _in_a_process(copy, wanted)
    outcome.seeable += held
    outcome.seen += held and detail.startswith("unfit")
    if kind == "crashed":
        outcome.crashed.append(f"{name}: {detail}")
    elif kind == "wrong":
        outcome.wrong.append(f"{name}: {detail}")
    elif kind == "said":
        outcome.said += 1
    elif detail.startswith("unfit"):
        outcome.mended += 1
    else:
        outcome.unharmed += 1


def _in_a_process(copy: Path, wanted: dict[str, str]) -> tuple[str, str]:
    ours, theirs = _FORKED.Pipe(duplex=False)
    child = _FORKED.Process(target=_look_and_ask, args=(copy, wanted, theirs))
    child.start()
    theirs.close()
    try:
        kind, detail = ours.recv()
    except EOFError:
        kind, detail = "crashed", ""
    child.join()
    return (kind, detail) if child.exitcode == 0 else ("crashed", f"exit code {child.exitcode}")


def _look_and_ask(copy: Path, wanted: dict[str, str], out: Connection) -> None:
    out.send(_judged(copy, wanted))


def _judged(copy: Path, wanted: dict[str, str]) -> tuple[str, str]:
    try:
        fit = "fit" if check(copy).fit else "unfit"
    except RagwaysError:
        fit = "unfit"
    except BaseException as error:
        return "crashed", f"check: {error!r}"[:300]
    try:
        said = answers(copy)
    except RagwaysError as error:
        return ("said", f"{fit}: {error}") if error.cure else ("crashed", f"no cure: {error}")
    except BaseException as error:
        return "crashed", f"{error!r}"[:300]
    if said == wanted:
        return "right", fit
    return "wrong", ", ".join(sorted(name for name in wanted if said.get(name) != wanted[name]))


def lines(outcome: Outcome) -> Iterator[str]:
    yield f"{outcome.trials} damaged files ({', '.join(f'{n} {name}' for name, n in outcome.by_damage.items())})"
    yield f"silently wrong: {len(outcome.wrong)}, tracebacks and crashes: {len(outcome.crashed)}"
    yield f"mended: {outcome.mended}, said with a cure: {outcome.said}, no harm done: {outcome.unharmed}"
    yield f"`check` saw {outcome.seen} of {outcome.seeable} in the store and in derived files"
    yield from sorted(outcome.wrong + outcome.crashed)[:40]
