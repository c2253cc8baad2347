"""The answers behind the figures of a report, cut to what can be shown; and the report as Markdown and as data.

Each piece of evidence stands once, however many answers rest on it: answers name it by its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragways.core import __version__
from ragways.core.plain import to_plain
from ragways.core.table import Cell, Table, markdown_text
from ragways.evaluation.record import EvidenceItem, Record, Run
from ragways.evaluation.resources.usage import amount

EVIDENCE = 2000
"""Characters shown of a piece of evidence."""
ANSWER = 20_000
ALL_EVIDENCE = 24_000_000
"""Characters of all pieces together: past that each is cut shorter, so that a report can still be opened."""
SHORTEST = 200
ROWS = 40
"""Rows of a table of Markdown."""
DETAILS = ("other figures", "metrics")
"""Tables that stand in the whole report alone."""
DRAWN = ("timeline",)
"""Tables that are drawn, and listed nowhere."""
_DETAIL = 600
_DETAILS = 40
_DEEP = 4
_USAGE = ("calls", "input", "output", "reasoning", "usd", "evidence")


@dataclass(frozen=True)
class ReportedRun:
    """A run, its name in the report, and its records with their values, under the names that they have there.

    A paradigm that two runs have gets the name of the run before it, and so does a question whose id two runs use for
    different texts. `original` are the records as they were made; `paradigms` and `questions` lead from the names there
    to those in the report.
    """

    name: str
    run: Run
    original: tuple[Record, ...]
    records: tuple[Record, ...]
    paradigms: dict[str, str]
    questions: dict[str, str]


def report_data(
    tables: Sequence[Table], runs: Sequence[ReportedRun], routing: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A report with all its answers as JSON, for the page and for `--json`."""
    more = {"routing": routing} if routing is not None else {}
    found = answers(runs)
    return {"ragways": __version__, "asked": len(found["questions"]), "tables": plain_tables(tables), **more, **found}


def answers(runs: Sequence[ReportedRun]) -> dict[str, Any]:
    """`questions` with all their answers, whose evidence is named by its place in `pieces`."""
    places: dict[tuple[str, str], int] = {}
    pieces: list[EvidenceItem] = []
    found: dict[str, dict[str, Any]] = {}
    for record in (record for run in runs for record in run.records):
        for piece in record.evidence:
            if (piece.id, piece.text) not in places:
                places[piece.id, piece.text] = len(pieces)
                pieces.append(piece)
        question = found.setdefault(record.question, {
            "id": record.question, "text": cut(record.text, ANSWER), "type": record.type,
            "gold": [cut(gold, ANSWER) for gold in record.gold],
            "wanted": [{name: _plain(text) for name, text in to_plain(gold).items() if text} for gold in record.wanted],
            "answers": [],
        })  # fmt: skip
        question["answers"].append(_answer(record, places))
    length = EVIDENCE if not pieces else max(SHORTEST, min(EVIDENCE, ALL_EVIDENCE // len(pieces)))
    shown = [
        {name: value for name in ("id", "kind", "title", "date") if (value := getattr(piece, name))}
        | {"text": cut(piece.text, length)}
        for piece in pieces
    ]
    return {"questions": list(found.values()), "pieces": shown, "evidence_cut_at": length}


def cut(text: str, length: int) -> str:
    """The beginning, and how much is not shown."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def _answer(record: Record, places: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    values = record.values.items()
    always: dict[str, Any] = {
        "paradigm": record.paradigm,
        "repeat": record.repeat,
        "answer": cut("\n\n".join(filter(None, (record.answer, record.explanation))), ANSWER),
        "values": {name: _round(score.value) for name, score in values if score.value is not None},
        "seconds": round(record.seconds, 3),
    }
    cited = {citation.piece for citation in record.citations}
    more: dict[str, Any] = {
        "why": {} if record.error else {name: score.why for name, score in values if score.value is None},
        "details": _details(record),
        "error": cut(record.error, EVIDENCE),
        "abstained": record.abstained,
        "way": record.way,
        "ranks": list(record.ranks),
        "evidence": [[places[one.id, one.text], _round(one.score)] for one in record.evidence],
        "cited": [number for number, piece in enumerate(record.evidence, start=1) if piece.id in cited],
        "usage": {name: _round(value) for name in _USAGE if (value := getattr(record.usage, name))},
        "tools": record.tools,
    }
    return always | {name: value for name, value in more.items() if value}


def _details(record: Record) -> list[dict[str, Any]]:
    """What judges replied, once for all metrics that came of it."""
    found: list[tuple[list[str], Mapping[str, Any]]] = []
    for name, own in record.values.items():
        if own.details and found and found[-1][1] == own.details:
            found[-1][0].append(name)
        elif own.details:
            found.append(([name], own.details))
    return [{"metrics": names, "said": _plain(details)} for names, details in found]


def _round(value: object) -> float | None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else round(value, 4)


def _plain(value: object, deep: int = 0) -> Any:  # noqa: ANN401
    """Details of a judgement, within bounds: they may hold whatever a model replied."""
    if isinstance(value, str):
        return cut(value, _DETAIL)
    if deep == _DEEP:
        return "…"
    if isinstance(value, Mapping):
        first = {cut(str(key), 80): _plain(item, deep + 1) for key, item in list(value.items())[:_DETAILS]}
        return first | ({"…": f"{len(value) - _DETAILS:,} more"} if len(value) > _DETAILS else {})
    if isinstance(value, list | tuple):
        shown = [_plain(item, deep + 1) for item in value[:_DETAILS]]
        return shown + ([f"… {len(value) - _DETAILS:,} more"] if len(value) > _DETAILS else [])
    return _round(value) if isinstance(value, float) else value


# Markdown


def markdown(tables: Sequence[Table], found: Mapping[str, Any] | None = None) -> str:
    """The report as Markdown; with every question, its answers and evidence where `answers` are given."""
    names = ", ".join(markdown_text(name) for name in dict.fromkeys(tables[0].column("run")))
    lines = [f"# Evaluation: {names}", ""]
    for table in tables:
        if table.name not in DRAWN and (found is not None or table.name not in DETAILS):
            lines += _table(table)
    return "\n".join([*lines, *(_questions(found) if found is not None else ())]).rstrip() + "\n"


def _table(table: Table) -> Iterator[str]:
    if not table.rows and not table.notes:
        return
    yield f"## {markdown_text(table.title)}\n"
    for at, note in enumerate(table.notes):
        text = markdown_text(note)
        yield f"**{text}**\n" if table.name == "runs" and not at else f"{text}\n"
    for part in table.parts() if table.rows else ():
        if table.by:
            yield f"### {markdown_text(part.title)}\n"
        known = [one.name for one in part.columns if any(cell not in (None, "") for cell in part.column(one.name))]
        shown = part.only(*known)
        yield replace(shown, title="", notes=(), rows=shown.rows[:ROWS]).markdown() + "\n"
        if len(part) > ROWS:
            yield f"{len(part) - ROWS:,} more rows: ragways eval report RUN --csv FOLDER\n"


def _questions(found: Mapping[str, Any]) -> Iterator[str]:
    """Answers side by side, scores, and evidence by number, each piece once at the end."""
    yield "## Questions\n"
    for question in found["questions"]:
        type = f" ({markdown_text(question['type'])})" if question["type"] else ""
        yield f"### {markdown_text(question['id'])}{type}\n"
        yield f"{markdown_text(question['text'])}\n"
        yield f"Gold: {'; '.join(map(markdown_text, question['gold'])) or 'none given'}\n"
        for answer in question["answers"]:
            yield from _answer_lines(answer)
    yield "## Evidence\n"
    yield f"Each piece up to {found['evidence_cut_at']:,} characters.\n"
    for number, piece in enumerate(found["pieces"]):
        named = " ".join(markdown_text(piece[name]) for name in ("title", "date", "id") if name in piece)
        yield f"- E{number}: {named}: {markdown_text(piece['text'], 2100)}"


def _answer_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    repeat = f", repeat {answer['repeat'] + 1}" if answer["repeat"] else ""
    head = f"- **{markdown_text(answer['paradigm'])}**{repeat}"
    if answer.get("error"):
        yield f"{head}: failed: {markdown_text(answer['error'])}\n"
        return
    text = "abstained" if answer.get("abstained") else markdown_text(answer["answer"]) or "(an empty answer)"
    yield f"{head}: {text}"
    scores = [f"{name} {amount(value)}" for name, value in answer["values"].items()]
    scores += [f"{name} unscored ({markdown_text(why)})" for name, why in answer.get("why", {}).items()]
    yield f"  - scores: {', '.join(scores)}"
    for judged in answer.get("details", ()):
        details = markdown_text(json.dumps(judged["said"], ensure_ascii=False))
        yield f"  - {', '.join(judged['metrics'])}: {details}"
    evidence = [f"E{place}" for place, _ in answer.get("evidence", ())]
    yield f"  - evidence: {', '.join(evidence) or 'none'}\n"


def plain_tables(tables: Iterable[Table]) -> list[dict[str, Any]]:
    """The tables as JSON, with no more digits than anyone reads."""
    return [
        {
            "name": table.name,
            "title": table.title,
            "notes": list(table.notes),
            "rows": [{name: _rounded(cell) for name, cell in row.items()} for row in table.to_plain()],
        }
        for table in tables
    ]


def _rounded(cell: Cell) -> Cell:
    if not isinstance(cell, float):
        return cell
    return round(cell, 6) if cell - cell == 0 else None  # JSON has no word for what is not finite
