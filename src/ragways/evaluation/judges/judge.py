"""A judge scores a record with help from outside it: an embedder, the reader or a language model. And what it sees.

A judge tends to favour what models of its own family write, which is why such a pair is warned of (`same_family`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragways.core.markdown import unmarked
from ragways.core.types import content_hash
from ragways.evaluation.metric import Metric
from ragways.evaluation.record import EvidenceItem, Record, Score

if TYPE_CHECKING:
    from ragways.models.client import ModelClient
    from ragways.models.embed import Embedder
    from ragways.models.task import Task
    from ragways.reading.answers import PassageReader


@dataclass(frozen=True)
class JudgeResources:
    """What judges work with: the client of the judging model (or of none), the embedder, and the reader where there is
    one.
    """

    model: ModelClient
    embedder: Embedder
    reader: PassageReader | None = None


@dataclass(frozen=True)
class Judge:
    """`score` gives a value for each of `metrics`; it is asked only of records that have what one of them needs.

    `tasks` are all that it may ask a model: where the prompt of one changes, what it said before is judged again.
    """

    name: str
    summary: str
    by: Literal["embedder", "reader", "model"]
    metrics: tuple[Metric, ...]
    score: Callable[[JudgeResources, Record], Awaitable[Mapping[str, Score]]]
    tasks: tuple[Task[Any, Any], ...] = ()


# --- The texts of a record as judges see them ---------------------------------------------------------------------


def fingerprint(record: Record) -> str:
    """A hash of all that judges see of a record: it changes with the answer, the evidence and the gold."""
    seen = {
        "question": [record.text, record.type.casefold()],
        # Without an explanation as before there were any, so that older judgements hold.
        "answer": [record.answer, record.abstained, *filter(None, [record.explanation])],
        "gold": [list(record.gold), gold_texts(record)],
        "evidence": [[piece.title, piece.date, piece.text] for piece in record.evidence],
        "cited": [[citation.sentence, citation.quote] for citation in record.citations],
    }
    # Half a character is written to the file as another: the hash is that of what will be read again.
    return content_hash(json.dumps(seen, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8"))[:16]


def answer_alone(record: Record) -> str:
    """The answer itself, as it is held against the gold one: without explanation and without the marks of citations."""
    return _unmarked(record.answer)


def answer_of(record: Record) -> str:
    """The answer and its explanation, as a reader sees them and as they are held against evidence and question."""
    return "\n".join(filter(None, (answer_alone(record), _unmarked(record.explanation))))


def _unmarked(text: str) -> str:
    """Without the marks of citations; its lines stay lines."""
    return "\n".join(filter(None, (line.rstrip() for line in unmarked(text).splitlines()))).strip()


def passages(record: Record) -> list[str]:
    """Pieces of evidence in their order, each under its title, as they were shown to the model that answered."""
    return [_passage(piece) for piece in record.evidence]


def evidence_of(record: Record) -> str:
    """All passages as one text."""
    return "\n\n".join(passages(record))


def evidence_texts(record: Record) -> list[str]:
    """What was found, in the words of the documents alone."""
    return [text for piece in record.evidence if (text := piece.text.strip())]


def gold_texts(record: Record) -> list[str]:
    """The gold evidence in words, where the data set has its words and not its titles alone."""
    found = ((gold.quote or gold.text).strip() for gold in record.wanted)
    return list(dict.fromkeys(filter(None, found)))


def _passage(piece: EvidenceItem) -> str:
    date = f" ({piece.date})" if piece.date else ""
    return f"{piece.heading or piece.title}{date}\n{piece.text}".strip()


# --- Families of models -------------------------------------------------------------------------------------------

FAMILIES = (
    "gpt", "claude", "gemini", "gemma", "llama", "qwen", "mistral", "deepseek", "phi", "command", "grok", "glm", "kimi",
    "nova", "granite", "olmo", "falcon", "yi", "nemotron", "ernie", "minimax", "jamba",
)  # fmt: skip
"""Looked for as words of a name; the first that stands there."""

ALIASES = {
    "chatgpt": "gpt", "davinci": "gpt", "codex": "gpt", "mixtral": "mistral", "ministral": "mistral",
    "magistral": "mistral", "codestral": "mistral", "devstral": "mistral", "pixtral": "mistral", "qwq": "qwen",
    "qvq": "qwen", "codellama": "llama", "vicuna": "llama", "chatglm": "glm", "codegemma": "gemma", "palm": "gemini",
    "aya": "command", "moonshot": "kimi", "r1": "deepseek",
}  # fmt: skip
"""Other names of a family."""

_REASONING = re.compile(r"o[1-9]")
_WORDS = re.compile(r"[a-z]+\d*|\d+")
_HEAD = re.compile(r"[^\d\-_.:@ ]+")


def family(name: str) -> str:
    """`gpt-4o-mini` is gpt, `Qwen/Qwen2.5-7B` is qwen; an unknown name counts up to its first digit or dash."""
    plain = name.casefold().strip()
    own = plain.rpartition("/")[2]
    # The model's own name first, then who serves it: "nvidia/llama-3" is a llama, "deepseek/v3" says it only there.
    for part in (own, plain):
        found = next((known for word in _WORDS.findall(part) if (known := _known(word))), "")
        if found:
            return found
    head = _HEAD.match(own)
    return head[0] if head else own


def same_family(judge: str, generator: str) -> bool:
    """Whether one may favour the other; no name is of no family."""
    return bool(judge.strip()) and bool(generator.strip()) and family(judge) == family(generator)


def _known(word: str) -> str:
    if _REASONING.fullmatch(word):
        return "gpt"
    if word in ALIASES:
        return ALIASES[word]
    bare = word.rstrip("0123456789")
    return ALIASES.get(bare, bare if bare in FAMILIES else "")
