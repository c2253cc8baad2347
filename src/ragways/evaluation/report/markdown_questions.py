"""Every question in Markdown: answers side by side, scores, and evidence by number, each piece once at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragways.evaluation.report.markdown_text import amount, said


def questions(data: Mapping[str, Any]) -> Iterator[str]:
    yield "## Questions"
    yield ""
    for question in data["questions"]:
        type = f" ({said(question['type'])})" if question["type"] else ""
        yield f"### {said(question['id'])}{type}"
        yield ""
        yield said(question["text"])
        yield ""
        yield f"Gold: {'; '.join(map(said, question['gold'])) or 'none given'}"
        yield ""
        for answer in question["answers"]:
            yield from _answer(answer)
    yield "## Evidence"
    yield ""
    yield f"Each piece up to {data['evidence_cut_at']:,} characters."
    yield ""
    for number, piece in enumerate(data["pieces"]):
        named = " ".join(said(piece[name]) for name in ("title", "date", "id") if name in piece)
        yield f"- E{number}: {named}: {said(piece['text'], 2100)}"
    yield ""


def _answer(answer: Mapping[str, Any]) -> Iterator[str]:
    repeat = f", repeat {answer['repeat'] + 1}" if answer["repeat"] else ""
    if answer.get("error"):
        yield f"- **{said(answer['paradigm'])}**{repeat}: failed: {said(answer['error'])}"
        yield ""
        return
    text = "abstained" if answer.get("abstained") else said(answer["answer"]) or "(an empty answer)"
    yield f"- **{said(answer['paradigm'])}**{repeat}: {text}"
    scores = [f"{name} {amount(value)}" for name, value in answer["values"].items()]
    scores += [f"{name} unscored ({said(why)})" for name, why in answer.get("why", {}).items()]
    yield f"  - scores: {', '.join(scores)}"
    for judged in answer.get("details", ()):
        yield f"  - {', '.join(judged['metrics'])}: {said(json.dumps(judged['said'], ensure_ascii=False))}"
    evidence = [f"E{place}" for place, _ in answer.get("evidence", ())]
    yield f"  - evidence: {', '.join(evidence) or 'none'}"
    yield ""
