"""How often the type of a question is told, by set, and with each set left out of training.

    python -m benchmarks.question_types --data SETS

SETS is as for `training/question_types.py`. Weights are fitted on the halves `choose`; all figures are of the halves
`report`. First those of the weights in the tree, then, for each family of sets, of weights that were fitted without it.
A question is global where `summary` has at least an even chance. Takes about three minutes.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

from ragways.evaluation.datasets import load_questions
from ragways.reading.question_type import TYPES, QuestionType, features, question_type, weights
from training.question_types import Typed, fit, gathered

GLOBAL = 0.5
Chances = dict[QuestionType, float]
Told = list[tuple[Typed, Chances]]


def best(chances: Chances) -> QuestionType:
    return max(chances, key=lambda type: chances[type])


def told_by(tell: Callable[[str], Chances], rows: Iterable[Typed]) -> Told:
    return [(row, tell(row.text)) for row in rows]


def left_out(rows: Sequence[Typed]) -> Told:
    """Of each family, what weights say that were fitted on the others alone."""
    found: Told = []
    for family in dict.fromkeys(row.family for row in rows):
        fitted = fit([row for row in rows if row.half == "choose" and row.family != family])
        kept = [row for row in rows if row.half == "report" and row.family == family]
        found += told_by(lambda text, fitted=fitted: fitted.chances(features(text)), kept)  # type: ignore[misc]
    return found


def share(told: Told) -> str:
    right = sum(best(chances) == row.type for row, chances in told)
    return f"{right / len(told):.3f}".removeprefix("0") if told else "–"


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(map(str, line))} |")


def by_set(shipped: Told, without: Told) -> None:
    names = list(dict.fromkeys(row.set for row, _ in shipped))
    lines = []
    for name in names:
        here, there = ([each for each in told if each[0].set == name] for told in (shipped, without))
        types = dict.fromkeys(row.type for row, _ in here)
        recall = ", ".join(f"{type} {_recall(here, type)} / {_recall(there, type)}" for type in types)
        lines.append((name, len(here), share(here), share(there), recall))
    mean, other = (f"{sum(float(line[at]) for line in lines) / len(lines):.3f}".removeprefix("0") for at in (2, 3))
    lines.append(("mean of the sets", len(shipped), mean, other, ""))
    table(("set", "questions", "right", "right, set left out", "of each type: right / set left out"), lines)


def _recall(told: Told, type: QuestionType) -> str:
    of = [best(chances) for row, chances in told if row.type == type]
    return f"{of.count(type)} of {len(of)}"


def confusion(told: Told) -> None:
    count = Counter((row.type, best(chances)) for row, chances in told)
    table(("is ↓ taken for →", *TYPES), ((one, *(count[one, other] for other in TYPES)) for one in TYPES))


def globals_found(title: str, told: Told) -> None:
    lines = []
    for name in dict.fromkeys(row.set for row, _ in told):
        here = [(row.type == "summary", chances["summary"] >= GLOBAL) for row, chances in told if row.set == name]
        found, false = Counter(here)[True, True], Counter(here)[False, True]
        summaries = sum(is_summary for is_summary, _ in here)
        lines.append((name, f"{found} of {summaries}", f"{false} of {len(here) - summaries}"))
    table((title, "summaries found", "others taken for one"), lines)


def cost(texts: Sequence[str]) -> Mapping[str, float]:
    """CPU microseconds a question: on the mean, of the dearest, and of one of 100,000 characters."""
    each = []
    for text in (*texts, "How did the wool trade of Nordhaven and the harbour change? " * 1700):
        times = []
        for _ in range(3):
            start = time.process_time_ns()
            question_type(text)
            times.append((time.process_time_ns() - start) / 1000)
        each.append(min(times))
    return {"mean": sum(each[:-1]) / len(texts), "dearest": max(each[:-1]), "100,000 characters": each[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder a set")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = gathered(options.data, options.seed)
    weights()  # read before anything is timed
    shipped = told_by(question_type, [row for row in rows if row.half == "report"])
    without = left_out(rows)
    by_set(shipped, without)
    confusion(shipped)
    globals_found("weights in the tree", shipped)
    globals_found("set left out", without)
    with resources.as_file(resources.files("ragways") / "demo") as demo:
        null = [each.text for each in load_questions("plain", demo / "questions.jsonl") if each.type == "null"]
    taken = Counter(best(question_type(text)) for text in null)
    print(
        f"\nthe demo's {len(null)} questions without an answer, none of them learnt from, are taken for: {dict(taken)}"
    )
    figures = cost([row.text for row, _ in shipped])
    print("CPU µs a question:", ", ".join(f"{name} {value:.0f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
