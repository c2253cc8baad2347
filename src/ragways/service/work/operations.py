"""What a worker does for the server: each operation takes plain data and gives plain data."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragways.asynchronous import AsyncCorpus
from ragways.core.errors import RagwaysError, UsageError
from ragways.core.plain import to_plain
from ragways.core.stream import OutgoingText
from ragways.core.trace import Span, span, watching
from ragways.core.types import Origin
from ragways.index.lookup import look_up
from ragways.models.client import RULE_OVER_BUDGET
from ragways.models.tokens import count_text, text_of
from ragways.retrieval.as_plain import hit_data, result_data, usage_data
from ragways.retrieval.ask import Result, check_question
from ragways.retrieval.routing.explanation import explained
from ragways.service.errors import error_of, from_ragways, redacted, without_paths
from ragways.service.work.blocks import GrowingBlocks, stored_blocks, with_blocks
from ragways.store.store import number_of
from ragways.tasks.follow_up import FOLLOW_UP, FollowUpInput, Turn

DEEPEST = 6
"""Deeper spans are not emitted as they happen; the result has them all."""
_LOG = logging.getLogger("ragways.service.work.worker")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>]*", re.ASCII | re.IGNORECASE)
_NO_READER = "the reader cannot be opened"


@dataclass(frozen=True)
class Work:
    """One call: the open index, the arguments, where to emit events, whose it is, and its budget."""

    corpus: AsyncCorpus
    arguments: Mapping[str, Any]
    emit: Callable[[str, Any], None]
    tenant: str
    budget: float | None


Operation = Callable[[Work], Awaitable[Any]]


# Asking


async def ask(work: Work) -> dict[str, Any]:
    """The answer; emits `step` when a step begins and ends, and `text` while the answer is written. With `rendered`,
    both come with trees of blocks.
    """
    return _answered(work, await _asked(work, work.arguments["paradigm"], work.arguments.get("settings") or {}))


def _answered(work: Work, result: Result) -> dict[str, Any]:
    data = shown_data(result)
    return with_blocks(data) if work.arguments.get("rendered") else data


async def _asked(
    work: Work, paradigm: str, settings: Mapping[str, Any], mark: Mapping[str, Any] | None = None
) -> Result:
    marked = dict(mark or {})
    growing = GrowingBlocks() if work.arguments.get("rendered") else None

    def on_text(text: str, *, restart: bool = False) -> None:
        event = {**marked, "text": text, "restart": restart}
        if growing is not None and (change := growing.change(text, restart=restart)) is not None:
            event["blocks"] = change
        work.emit("text", event)

    def on_span(here: Span, depth: int, ended: bool) -> None:
        if depth > DEEPEST:
            return
        step: dict[str, Any] = {**marked, "name": here.name, "depth": depth, "event": "end" if ended else "begin"}
        if ended:
            step |= {"seconds": round(here.seconds, 4), "output": here.output, "way": here.way}
            step |= {"tokens": here.total.tokens, "usd": here.total.cost}
        work.emit("step", step)

    with watching(on_span):
        return await work.corpus.ask(
            work.arguments["question"],
            paradigm,
            where=work.arguments.get("where"),
            budget=work.budget,
            style=work.arguments.get("style"),
            on_text=OutgoingText(on_text),
            **settings,
        )


async def compare(work: Work) -> dict[str, Any]:
    """One question in several ways, and their evidence aligned: which paradigm ranked it where."""
    answers: list[dict[str, Any]] = []
    for name in work.arguments["paradigms"]:
        try:
            answers.append(_answered(work, await _asked(work, name, {}, {"paradigm": name})))
        except UsageError:
            raise
        except RagwaysError as error:  # one way that cannot answer must not hide the others
            shown = from_ragways(error)
            answers.append({"paradigm": name, "error": shown.message, "cure": shown.cure, "failed": True})
        work.emit("answer", answers[-1])
    return {"answers": answers, "evidence": aligned(answers)}


def aligned(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every piece of evidence once, with the rank that each paradigm gave it; what more of them have comes first."""
    found: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for place, piece in enumerate(answer.get("evidence", ()), 1):
            fields = ("id", "kind", "document", "title", "text", "start", "end", "source")
            row = found.setdefault(piece["id"], {**{name: piece[name] for name in fields}, "by": {}})
            row["by"].setdefault(answer["paradigm"], place)
    return sorted(found.values(), key=lambda row: (-len(row["by"]), min(row["by"].values()), row["id"]))


async def retrieve(work: Work) -> dict[str, Any]:
    """What a paradigm retrieves, best first, without an answer."""
    given = work.arguments
    hits = await work.corpus.retrieve(
        given["question"], given["paradigm"], where=given.get("where"), **(given.get("settings") or {})
    )
    sources = hits.sources or (Origin(),) * len(hits.items)
    return {"hits": [hit_data(hit, source) for hit, source in zip(hits.items, sources, strict=True)]}


async def route(work: Work) -> Any:  # noqa: ANN401 - JSON
    """Which way `auto` would take, and what that rests on."""
    with work.corpus.snapshot(work.arguments.get("where")) as use:
        return to_plain(await explained(use, check_question(work.arguments["question"])))


async def embed(work: Work) -> dict[str, Any]:
    """Vectors of texts by the embedder of the index, and how many tokens the texts have, as cl100k counts them. A text
    may be given as its tokens.
    """
    texts = [text if isinstance(text, str) else text_of(text) for text in work.arguments["texts"]]
    with work.corpus.snapshot() as use:
        vectors = await use.embedder.embed(texts)
        rows = [[float(value) for value in row] for row in vectors]
        return {"name": use.embedder.name, "vectors": rows, "tokens": sum(map(count_text, texts))}


async def rewrite(work: Work) -> dict[str, Any]:
    """A question made whole from the turns before it, and by which way."""
    given = FollowUpInput(work.arguments["question"], [Turn(*turn) for turn in work.arguments["turns"]])
    with work.corpus.snapshot() as use, span("rewrite") as trace:
        outcome = await use.model.do(FOLLOW_UP, given, rule_if_unusable=True)
    return {"question": outcome.value.question, "way": outcome.way, "usage": usage_data(trace.total)}


async def blocks(work: Work) -> list[Any]:
    """Answers that are stored, each with the way it was made, as trees of blocks."""
    return [stored_blocks(answer, way) for answer, way in work.arguments["answers"]]


async def warm(work: Work) -> None:
    """Have ready what the first question would wait for: the index, the embedder, the reader."""
    with work.corpus.snapshot() as use:
        if "vectors" in use.index.layers:
            await use.embed(["warm"])


# Failures as clients see them


def shown_data(result: Result) -> dict[str, Any]:
    """A result as a client may see it: `result_data`, where failures of the model, the embedder and the disk are
    reported without addresses and paths, as errors of requests are. The log has the cause.
    """
    data = result_data(result)
    if error := data["error"]:
        _LOG.warning("answered without the model: %s", redacted(error))
        data["error"] = bare(error) if RULE_OVER_BUDGET in data["way"] else _shown("ModelError", error)
    data["note"] = _without_cause(data["note"])
    hide_addresses(data["steps"])
    return data


def bare(text: str) -> str:
    """The text without addresses and without paths of the server's disk."""
    return without_paths(_ADDRESS.sub("…", text))


def hide_addresses(steps: list[dict[str, Any]]) -> None:
    """Take addresses and paths out of the steps of a trace."""
    for step in steps:
        if "error" in step:  # the name of its class stands before it
            kind, _, message = step["error"].partition(": ")
            step["error"] = f"{kind}: {_shown(kind, message)}"
        details = step["details"]
        if str(details.get("stopped", "")).startswith("model: "):
            details["stopped"] = f"model: {_shown('ModelError', '')}"
        for name, bared in (("not read", lambda _: _NO_READER), ("reader", _without_cause), ("said", bare)):
            if isinstance(details.get(name), str):
                details[name] = bared(details[name])
        hide_addresses(step.get("steps", []))


def _shown(kind: str, message: str) -> str:
    return from_ragways(error_of({"kind": kind, "message": _ADDRESS.sub("…", message), "cure": ""})).message


def _without_cause(note: str) -> str:
    before, failed, _ = note.partition(_NO_READER)
    return before + failed


# What is in the index


async def status(work: Work) -> dict[str, Any]:
    """Counts, layers, languages and generation."""
    with work.corpus.snapshot() as use:
        index = use.index
        return {
            "counts": index.counts(),
            "languages": index.languages(),
            "layers": sorted(index.layers),
            "generation": index.generation,
            "embedder": index.embedder,
            "model": use.model.model.name if use.model.model is not None else None,
        }


async def documents(work: Work) -> dict[str, Any]:
    """A page of the documents, by number, or of those whose title or key has these words."""
    given = work.arguments
    with work.corpus.snapshot() as use:
        rows, total = use.index.articles.found(given.get("search") or "", given["limit"], given["offset"])
    return {
        "documents": [
            {"id": f"article:{number}", "key": key, "title": title, "format": format, "characters": length,
             "metadata": metadata}
            for number, key, title, format, length, metadata in rows
        ],
        "total": total,
    }  # fmt: skip


async def document(work: Work) -> dict[str, Any]:
    """A whole document, with its sections and its code, tables and items of lists."""
    with work.corpus.snapshot() as use:
        view = look_up(use.index, work.arguments["id"])
        id = getattr(view, "document", "")
        whole = use.index.document(id) if id else None
        if whole is None:
            raise UsageError("there is no such document", "see those there are")
        sections = use.index.articles.sections(number_of(id))
        return {
            "id": id,
            "key": whole.key,
            "title": whole.title,
            "text": whole.text,
            "metadata": dict(whole.metadata),
            "markup": [
                {"kind": one.kind, "start": one.start, "end": one.end, "value": one.value}
                for one in whole.markup
                if one.kind in ("code", "table", "item")
            ],
            "sections": [
                {"title": title, "level": level, "start": start, "end": end}
                for _, _, start, end, title, level in sections
            ],
        }


async def evidence(work: Work) -> Any:  # noqa: ANN401 - JSON
    """What an id stands for: a passage in its place, an entity, a relation, a report."""
    with work.corpus.snapshot() as use:
        return to_plain(look_up(use.index, work.arguments["id"]))


OPERATIONS: dict[str, Operation] = {
    "ask": ask,
    "compare": compare,
    "retrieve": retrieve,
    "route": route,
    "embed": embed,
    "blocks": blocks,
    "warm": warm,
    "rewrite": rewrite,
    "status": status,
    "documents": documents,
    "document": document,
    "evidence": evidence,
}
