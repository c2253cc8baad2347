"""The result of a question as plain data: the answer, its evidence, its steps and their usage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from itertools import pairwise, zip_longest
from typing import Any, Final

from ragways.core.markdown import uncited
from ragways.core.plain import to_plain
from ragways.core.text import shortened
from ragways.core.trace import Span, Usage
from ragways.core.types import Answer, Hit, Origin, outgoing_text
from ragways.corpus.structure import sentence_spans
from ragways.reading.windows import content_stems, stems
from ragways.retrieval.ask import Result
from ragways.retrieval.routing.router import Decision


def result_data(result: Result) -> dict[str, Any]:
    """All that is known of a result. Its texts have passed the rule for what leaves (`core/outgoing.py`); `uncited` are
    the places in `answer` of blocks that cite nothing.
    """
    answer = result.answer
    text = outgoing_text(answer, answer.text)
    return {
        "question": result.question,
        "paradigm": result.paradigm,
        "settings": dict(result.settings),
        "where": result.where,
        "prompts": result.prompts,
        "prompt_hashes": result.trace.prompts,
        "answer": text,
        "explanation": outgoing_text(answer, answer.explanation),
        "uncited": [] if answer.by_rule or answer.abstained else uncited(text, len(answer.evidence.items)),
        "abstained": answer.abstained,
        "way": answer.way,
        "error": answer.error,
        "chance": None if answer.chance is None else round(answer.chance, 4),
        "note": answer.note,
        "route": route_data(result.route),
        "evidence": evidence_data(answer),
        "citations": citation_data(answer),
        "usage": usage_data(result.usage),
        "steps": [step_data(step, result.trace.began) for step in result.trace.children],
        "tasks": task_ways(result.trace),
        "seconds": round(result.seconds, 4),
    }


def route_data(route: Decision | None) -> dict[str, Any] | None:
    """The way that the router took, and what it expected of each; None where no router was asked."""
    if route is None:
        return None
    data: dict[str, Any] = to_plain(route)
    return data


def citation_data(answer: Answer) -> list[dict[str, Any]]:
    """Citations in their order; with `support_estimated`, a weak signal, where the settings request it."""
    plain = [{**asdict(citation), "source": origin_data(citation.source)} for citation in answer.citations]
    for citation, chance in zip(plain, answer.support, strict=False):
        citation["support_estimated"] = round(chance, 4)
    return plain


NEAREST: Final = 3
"""Passages shown where nothing is answered, each from its best sentence on."""
_QUOTED: Final = 300
"""Characters shown of each."""


def evidence_data(answer: Answer) -> list[dict[str, Any]]:
    """Return the passages; where nothing is answered, the nearest ones with the sentence that is `nearest`."""
    nearest = list(nearest_sentences(answer)) if answer.abstained else []
    return [
        {**hit_data(hit, source), "near_duplicates": duplicates, "markdown": outgoing_text(answer, shown)}
        | ({"nearest": text} if text else {})
        for (hit, source, duplicates), shown, text in zip_longest(
            answer.evidence.described(), answer.evidence.shown, nearest
        )
    ]


def nearest_sentences(answer: Answer) -> Iterator[str]:
    """Yield the text of each of the first passages, from the sentence on that shares most words with the question."""
    wanted = content_stems(answer.evidence.hits.query.text)
    for hit in answer.evidence.items[:NEAREST]:
        text = hit.piece.text
        begins = [start for start, _ in sentence_spans(text)] or [0]
        shared = [len(stems(text[start:end]) & wanted) for start, end in pairwise([*begins, len(text)])]
        yield shortened(text[begins[shared.index(max(shared))] :], _QUOTED)


def hit_data(hit: Hit, source: Origin) -> dict[str, Any]:
    """A hit: the text of its piece, its place, and which retriever ranked it where."""
    piece = hit.piece
    return {
        "id": piece.id,
        "kind": piece.kind,
        "document": piece.document,
        "title": piece.title,
        "date": piece.date,
        "text": piece.text,
        "start": piece.start,
        "end": piece.end,
        "tokens": piece.tokens,
        "score": hit.score,
        "found": [asdict(found) for found in hit.found],
        "source": origin_data(source),
    }


def origin_data(origin: Origin) -> dict[str, Any]:
    """Where a passage is from, field by field, and in short as `text`."""
    return {**to_plain(origin), "text": str(origin)}


def usage_data(usage: Usage) -> dict[str, Any]:
    """Return the usage field by field; `usd` is None where the price of a call is unknown."""
    data = {**asdict(usage), "usd": usage.cost}
    del data["unpriced"]
    return data


def step_data(step: Span, since: float) -> dict[str, Any]:
    """A step with what it and the steps inside it used; `began` is in seconds `since` the question began."""
    data: dict[str, Any] = {
        "name": step.name,
        "began": round(step.began - since, 4),
        "seconds": round(step.seconds, 4),
        "usage": usage_data(step.total),
        "details": {key: _plain(value) for key, value in step.details.items()},
    }
    if step.attachments:
        data["attachments"] = [_attachment(each) for each in step.attachments]
    data |= {
        key: text for key, text in (("input", step.input), ("output", step.output), ("prompt", step.prompt)) if text
    }
    if step.way:
        data["way"] = step.way
    if step.error:
        data["error"] = step.error
    if step.children:
        data["steps"] = [step_data(child, since) for child in step.children]
    return data


def _attachment(value: object) -> dict[str, Any]:
    """What a step left for whoever shows the trace: the name of its type, and its fields."""
    return {"kind": type(value).__name__, **(to_plain(value) if is_dataclass(value) else {"text": str(value)})}


def task_ways(trace: Span) -> list[dict[str, str]]:
    """How each task was done: by which model, from the cache, or by a rule."""
    return [{"task": step.name, "way": step.way} for step in trace.walk() if step.way and step.name != "model call"]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
