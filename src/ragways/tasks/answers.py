"""The tasks that end in an answer: from passages, from memory, and by an agent that used tools.

There are three presets of prompts for an answer. *Shared* is one prompt for all paradigms, so that they
differ in what they find alone. *Native* lets some of them answer in their own way: from facts before text, from rated
points, knowing what was asked on the way, or along a walk. *Short* asks all of them for the bare answer: a word or a
name, yes or no, or that there is insufficient information, as exact metrics presuppose.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

from ragways.core.errors import MissingPart, StoreFailed
from ragways.core.trace import current_span
from ragways.core.types import ABSTENTION, content_hash
from ragways.models.call import Tool
from ragways.models.task import In, Out, Task
from ragways.reading.answers import USUAL, Reach
from ragways.tasks.extract import AnswerPassage, Extraction, extract
from ragways.tasks.refusal import refuses

Native = Literal["facts", "points", "rounds", "walk"]
Prompts = Literal["shared", "native", "short"]
AnswerBy = Literal["read", "extract"]
"""Who answers without a model: the reader, or the rule that takes the best sentences."""

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragways.reading.answers import PassageReader, SentencePlace
    from ragways.tasks.read import CitedText


@dataclass(frozen=True)
class Extractor:
    """What answering without a model needs: vectors of texts (None where they say nothing of a text in this language),
    and how careful and how brief to be. Without a `reader` the best sentences are the answer; `note` says why there is
    none where one was asked for; `reach` is how much it reads.
    """

    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]] | None
    terms: Callable[[str], list[str]]
    threshold: float
    maximum: int
    reader: PassageReader | None = None
    note: str = ""
    reach: Reach = USUAL


@dataclass(frozen=True)
class AnswerInput:
    """A question and the passages to answer it from. `searches` is what was asked on the way."""

    question: str
    passages: Sequence[AnswerPassage]
    extractor: Extractor
    searches: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer and the numbers, from 1, of the passages it rests on."""

    __pydantic_config__: ClassVar = {"title": "Said"}  # its name in the schema, which cache keys hold

    text: str
    passages: tuple[int, ...]

    @property
    def marked(self) -> str:
        """The sentence with the numbers of its passages: `It was built in 1801. [2][5]`."""
        marks = "".join(f"[{number}]" for number in self.passages)
        return f"{self.text.strip()} {marks}".strip()


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """`answered` is false when the passages do not hold the answer; then there are no sentences."""

    answered: bool
    sentences: tuple[AnswerSentence, ...]


@dataclass(frozen=True, slots=True)
class RuleReply(AnswerReply):
    """What answering without a model adds: how the answer follows, the sentences of the evidence that each sentence of
    the answer rests on, the chance of being right (None where nothing measured it), whether the reader found it, and
    what is to be known of how it was made.
    """

    explanation: tuple[AnswerSentence, ...] = ()
    places: tuple[tuple[SentencePlace, ...], ...] = ()
    chance: float | None = None
    read: bool = False
    note: str = ""

    @property
    def brief(self) -> str:
        said = " ".join(sentence.marked for sentence in self.sentences) if self.answered else "not in the evidence"
        return said if self.chance is None else f"{said} (chance {self.chance:.2f})"


def _render(given: AnswerInput) -> Mapping[str, object]:
    shown = "\n\n".join(_shown(n, p) for n, p in enumerate(given.passages, start=1))
    return {"question": given.question, "passages": shown}


def _facts_first(given: AnswerInput) -> Mapping[str, object]:
    """Facts of the graph as lines, then texts. Each keeps its number in the evidence, so that citations fit."""
    numbered = list(enumerate(given.passages, start=1))
    facts = [f"[{n}] {p.text}{f' ({p.date})' if p.date else ''}" for n, p in numbered if p.kind == "triplet"]
    texts = [_shown(n, p) for n, p in numbered if p.kind != "triplet"]
    return {"question": given.question, "facts": "\n".join(facts) or "none", "passages": "\n\n".join(texts) or "none"}


def _rated(given: AnswerInput) -> Mapping[str, object]:
    points = [f"[{n}] (rated {p.rating:.0f}) {p.text}" for n, p in enumerate(given.passages, start=1)]
    return {"question": given.question, "points": "\n".join(points)}


def _with_searches(given: AnswerInput) -> Mapping[str, object]:
    return {**_render(given), "searches": "\n".join(given.searches) or "none"}


def _shown(number: int, passage: AnswerPassage) -> str:
    date = f" ({passage.date})" if passage.date else ""
    return f"[{number}] {passage.title}{date}\n{passage.text}"


def _check(reply: AnswerReply, given: AnswerInput) -> str | None:
    """Citations must name passages that were shown, and an answer must say something."""
    shown = len(given.passages)
    wrong = sorted({n for sentence in reply.sentences for n in sentence.passages if not 1 <= n <= shown})
    if wrong:
        return f"there is no passage {wrong[0]}; passages are numbered 1 to {shown}"
    if reply.answered and not any(sentence.text.strip() for sentence in reply.sentences):
        return "`answered` is true, but there is no sentence"
    if not reply.answered and any(sentence.passages for sentence in reply.sentences):
        return "`answered` is false, but there are sentences that rest on passages"
    return None


async def _without(given: AnswerInput) -> RuleReply:
    """What the reader finds in the passages; without one, or where it cannot be opened, their best sentences."""
    note = given.extractor.note
    if given.extractor.reader is not None:
        try:
            return await _read(given, given.extractor.reader)
        except (MissingPart, StoreFailed) as error:
            note = f"the reader cannot be opened: {error}"
            _tell(note)
    if note:
        current_span().details["reader"] = note
    extraction: Extraction = await extract(
        given.question,
        given.passages,
        embed=given.extractor.embed,
        terms=given.extractor.terms,
        threshold=given.extractor.threshold,
        maximum=given.extractor.maximum,
    )
    if not extraction.covered:
        return RuleReply(False, (), note=note)
    sentences = (AnswerSentence(given.passages[p].sentences[s], (p + 1,)) for p, s in extraction.sentences)
    return RuleReply(True, tuple(sentences), note=note)


@cache
def _tell(note: str) -> None:
    """Once in a process: what is wrong with an installation is wrong for every question."""
    logging.getLogger("ragways").warning("ragways: %s; answers are extracted", note)


async def _read(given: AnswerInput, reader: PassageReader) -> RuleReply:
    from ragways.tasks.read import read_answer

    use = given.extractor
    found = await read_answer(
        given.question, given.passages, reader, embed=use.embed, terms=use.terms, maximum=use.maximum, reach=use.reach
    )
    current_span().details.update(chance=round(found.chance, 4), features=asdict(found.features))
    if not found.said or found.chance < use.threshold:
        return RuleReply(False, (), chance=found.chance, read=True)
    return RuleReply(
        True,
        _marked(found.said),
        explanation=_marked(found.explanation),
        places=tuple(cited.places for cited in found.said),
        chance=found.chance,
        read=True,
    )


def _marked(cited: Sequence[CitedText]) -> tuple[AnswerSentence, ...]:
    return tuple(
        AnswerSentence(one.text, tuple(dict.fromkeys(place.passage + 1 for place in one.places))) for one in cited
    )


_MARKS = r"\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]"
_MARKED = re.compile(rf"(.*?)((?:\s*{_MARKS})+)([.!?。！？]?)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#+\s+)", re.MULTILINE)
_LABEL = re.compile(r"\A\s*\**(?:final )?answer\**\s*:\**", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*(?=\S)")
TEXT_WISH = (
    "Leave out the JSON. Answer in plain sentences; after each, the numbers of the passages it rests on in square "
    f"brackets, like [1][3]. If the passages do not hold the answer, write only: {ABSTENTION}."
)


def from_plain_text(text: str, given: AnswerInput, asked: bool) -> AnswerReply:  # noqa: ARG001 - of every task
    """An answer in plain text, sentence by sentence with the passages that its marks name.

    Unless plain text was asked for, only marks or a refusal tell an answer from talk. ValueError where it is none.
    """
    if "{" in text:
        raise ValueError("its JSON cannot be read")
    marked = re.search(_MARKS, text) is not None
    if not marked and refuses(text):
        return AnswerReply(False, ())
    if not marked and not asked:
        raise ValueError("there is no JSON object in it")
    text, sentences, end = _BULLET.sub("", _LABEL.sub("", text)), list[AnswerSentence](), 0
    for match in _MARKED.finditer(text):
        *before, last = _END.split(f"{match[1].rstrip()}{match[3]}".strip()) or [""]
        sentences += (AnswerSentence(one.strip(), ()) for one in before)
        numbers = tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", match[2])))
        if last.strip() or not sentences:
            sentences.append(AnswerSentence(last.strip(), numbers))
        end = match.end()
    sentences += (AnswerSentence(one.strip(), ()) for one in _END.split(text[end:].strip()))
    return AnswerReply(True, tuple(sentence for sentence in sentences if sentence.text))


ANSWER = Task(
    "answer", prompt="answer", reply=AnswerReply, without=_without, render=_render, check=_check, partial=True,
    from_text=from_plain_text, text_wish=TEXT_WISH,
)  # fmt: skip

SHORT_ANSWER = replace(ANSWER, prompt="short-answer")

NATIVE: Mapping[Native, Task[AnswerInput, AnswerReply]] = {
    "facts": replace(ANSWER, prompt="native-facts", render=_facts_first),
    "points": replace(ANSWER, prompt="native-points", render=_rated),
    "rounds": replace(ANSWER, prompt="native-rounds", render=_with_searches),
    "walk": replace(ANSWER, prompt="native-walk"),
}


@dataclass(frozen=True, slots=True)
class AnswerWishes:
    """What a user wants of answers by a model: words of one's own, a language, a length in tokens."""

    system: str = ""
    language: str = ""
    tokens: int | None = None

    @property
    def text(self) -> str:
        """What is added to a system message; empty where nothing is wished for."""
        language = f"Answer in this language: {self.language.strip()}." if self.language.strip() else ""
        wished = "\n\n".join(filter(None, (self.system.strip(), language)))
        return f"\n\n{wished}".replace("{{", "{ {") if wished else ""  # no variable of the prompt's

    def applied(self, task: Task[In, Out]) -> Task[In, Out]:
        """The task with these wishes in its prompt and its limit."""
        prompt, text = task.text, self.text
        if text:
            prompt = replace(prompt, system=f"{prompt.system}{text}".strip(), hash=content_hash(prompt.hash, text))
        return replace(task, prompt=prompt if text else task.prompt, max_output=self.tokens or task.max_output)


def answer_so_far(text: str) -> str:
    """The answer in a reply to any task here that is still being written: its sentences, the last as far as it goes
    and without its marks, which are not known before it ends.

    For `on_text`, whose pieces are those of a JSON object: join them, and show what this returns for the whole.
    """
    from ragways.models.reply import read_partial

    reply = read_partial(text)
    sentences, answers = reply.get("sentences"), reply.get("answers")
    if reply.get("answered") is False:
        return ""
    if isinstance(sentences, list):
        return _sentences_so_far([sentence for sentence in sentences if isinstance(sentence, dict)])
    if isinstance(answers, list):
        return "; ".join(answer for answer in answers if isinstance(answer, str))
    answer = reply.get("answer")
    return answer.strip() if isinstance(answer, str) else ""


def _sentences_so_far(sentences: Sequence[Mapping[str, object]]) -> str:
    written = []
    for number, sentence in enumerate(sentences, start=1):
        text, passages = sentence.get("text"), sentence.get("passages")
        if isinstance(text, str) and text.strip():
            numbers = passages if isinstance(passages, list) and number < len(sentences) else ()
            written.append(AnswerSentence(text, tuple(n for n in numbers if isinstance(n, int))).marked)
    return " ".join(written)


@dataclass(frozen=True, slots=True)
class RecallInput:
    """A question to answer from memory."""

    question: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a model says from memory."""

    answered: bool
    answer: str


async def _recall_nothing(given: RecallInput) -> Recalled:  # noqa: ARG001
    """Without a model there is no memory to answer from."""
    return Recalled(False, "")


RECALL = Task(
    "recall", prompt="recall", reply=Recalled, without=_recall_nothing, temperature=0.7, max_output=512, partial=True
)
SHORT_RECALL = replace(RECALL, prompt="short-recall")


ANSWER_TOOL = "final_answer"
_UNKNOWN = frozenset({"", "unknown", "insufficient information", "none", "n/a"})


@dataclass(frozen=True, slots=True)
class AgentAnswerInput:
    """The question, what the tools returned, and the agent's own remarks."""

    question: str
    found: str
    notes: str


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """No answers: it is not known. `references` are ids of articles."""

    answers: tuple[str, ...]
    explanation: str
    references: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def articles(self) -> tuple[str, ...]:
        """The references as ids of articles, each once, also where the id of a part was given."""
        return tuple(dict.fromkeys(":".join(reference.strip().split(":")[:2]) for reference in self.references))

    @property
    def known(self) -> tuple[str, ...]:
        """The answers that say something."""
        return tuple(text.strip() for text in self.answers if text.strip(" .").casefold() not in _UNKNOWN)


AGENT_ANSWER: Task[AgentAnswerInput, AgentAnswer] = Task(
    "agent answer", prompt="agent-answer", reply=AgentAnswer, partial=True
)


def answer_tool() -> Tool:
    """The tool by which an agent ends its work."""
    from ragways.models.reply import schema_of

    return Tool(
        ANSWER_TOOL,
        "Give the answer and end. `answers`: as brief as possible, several if the question has several, empty if it is "
        "unknown. `explanation`: one to three sentences. `references`: ids of the articles it rests on (article:1234). "
        "`assumptions`: what was taken for granted.",
        schema_of(AgentAnswer),
    )
