"""The tasks that end in an answer: from passages, from memory, and by an agent that used tools.

There are three presets of prompts for an answer. *Shared* is one prompt for all paradigms, so that they
differ in what they find alone. *Native* lets some of them answer in their own way: from facts before text, from rated
points, with the earlier searches, or along a walk. *Short* asks all of them for the bare answer: a word or a
name, yes or no, or that there is insufficient information, as exact metrics presuppose.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from ragways.core.errors import MissingPart, StoreFailed
from ragways.core.markdown import claims
from ragways.core.runtime import warn_once
from ragways.core.trace import current_span
from ragways.core.types import ABSTENTION, content_hash
from ragways.models.call import Tool
from ragways.models.task import In, Out, Task
from ragways.reading.answers import USUAL, Reach
from ragways.tasks.extract import AnswerPassage, Extraction, extract
from ragways.tasks.refusal import reason_for_abstaining, refuses

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
    none where one was wanted; `reach` is how much it reads, `doubt` divides the odds of what it finds.
    """

    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]] | None
    terms: Callable[[str], list[str]]
    threshold: float
    maximum: int
    reader: PassageReader | None = None
    note: str = ""
    reach: Reach = USUAL
    doubt: float = 1.0


@dataclass(frozen=True)
class AnswerInput:
    """A question and the passages to answer it from. `searches` are the searches before it."""

    question: str
    passages: Sequence[AnswerPassage]
    extractor: Extractor
    searches: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """`text` is Markdown with the numbers of passages in square brackets; where nothing was answered, the reason."""

    answered: bool
    text: str


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer made without a model, and the numbers, from 1, of the passages it rests on."""

    text: str
    passages: tuple[int, ...]

    @property
    def marked(self) -> str:
        """The sentence with the numbers of its passages: `It was built in 1801. [2][5]`."""
        marks = "".join(f"[{number}]" for number in self.passages)
        return f"{self.text.strip()} {marks}".strip()


@dataclass(frozen=True, slots=True)
class RuleReply(AnswerReply):
    """What answering without a model adds: its sentences, how the answer follows, the sentences of the evidence that
    each sentence of the answer rests on, the chance of being right (None where nothing measured it), whether the reader
    found it, and what is to be known of how it was made.
    """

    sentences: tuple[AnswerSentence, ...] = ()
    explanation: tuple[AnswerSentence, ...] = ()
    places: tuple[tuple[SentencePlace, ...], ...] = ()
    chance: float | None = None
    read: bool = False
    note: str = ""

    @property
    def brief(self) -> str:
        text = self.text or "not in the evidence"
        return text if self.chance is None else f"{text} (chance {self.chance:.2f})"


def marked_text(sentences: Sequence[AnswerSentence]) -> str:
    """Sentences as one text, each with its marks."""
    return " ".join(sentence.marked for sentence in sentences)


def _render(given: AnswerInput) -> Mapping[str, object]:
    shown = "\n\n".join(_shown(n, p) for n, p in enumerate(given.passages, start=1))
    return {"question": given.question, "passages": shown}


def _facts_first(given: AnswerInput) -> Mapping[str, object]:
    """Facts of the graph as lines, then texts. Each keeps its number in the evidence, so that citations fit."""
    numbered = list(enumerate(given.passages, start=1))
    facts = [
        f"[{n}] {p.text}{f' ({p.date})' if p.date and p.date not in p.text else ''}"
        for n, p in numbered
        if p.kind == "triplet"
    ]
    texts = [_shown(n, p) for n, p in numbered if p.kind != "triplet"]
    return {"question": given.question, "facts": "\n".join(facts) or "none", "passages": "\n\n".join(texts) or "none"}


def _rated(given: AnswerInput) -> Mapping[str, object]:
    points = [f"[{n}] (rated {p.rating:.0f}) {p.text}" for n, p in enumerate(given.passages, start=1)]
    return {"question": given.question, "points": "\n".join(points)}


def _with_searches(given: AnswerInput) -> Mapping[str, object]:
    return {**_render(given), "searches": "\n".join(given.searches) or "none"}


def _shown(number: int, passage: AnswerPassage) -> str:
    date = f" ({passage.date})" if passage.date else ""
    return f"[{number}] {passage.path or passage.title}{date}\n{passage.shown or passage.text}"


async def _without(given: AnswerInput) -> RuleReply:
    """What the reader finds in the passages; without one, or where it cannot be opened, their best sentences."""
    note = given.extractor.note
    if given.extractor.reader is not None:
        try:
            return await _read(given, given.extractor.reader)
        except (MissingPart, StoreFailed) as error:
            note = f"the reader cannot be opened: {error}"
            warn_once(f"{note}; answers are extracted")
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
        return RuleReply(False, "", note=note)
    sentences = tuple(AnswerSentence(given.passages[p].sentences[s], (p + 1,)) for p, s in extraction.sentences)
    return RuleReply(True, marked_text(sentences), sentences, note=note)


async def _read(given: AnswerInput, reader: PassageReader) -> RuleReply:
    from ragways.tasks.read import read_answer

    use = given.extractor
    found = await read_answer(
        given.question, given.passages, reader, embed=use.embed, terms=use.terms, maximum=use.maximum, reach=use.reach
    )
    chance = found.chance / (found.chance + use.doubt * (1 - found.chance))
    current_span().details.update(chance=round(chance, 4), features=asdict(found.features))
    if not found.sentences or chance < use.threshold:
        return RuleReply(False, "", chance=chance, read=True)
    sentences = _marked(found.sentences)
    return RuleReply(
        True,
        marked_text(sentences),
        sentences,
        explanation=_marked(found.explanation),
        places=tuple(cited.places for cited in found.sentences),
        chance=chance,
        read=True,
    )


def _marked(cited: Sequence[CitedText]) -> tuple[AnswerSentence, ...]:
    return tuple(
        AnswerSentence(one.text, tuple(dict.fromkeys(place.passage + 1 for place in one.places))) for one in cited
    )


_REFUSAL = 300
"""Characters of a text that may be nothing but a refusal."""


def from_text(text: str, given: object) -> AnswerReply:  # noqa: ARG001 - what every task takes
    """What a model wrote, as it wrote it. A text that begins with the words of an abstention is no answer. Nor are a
    few other words that decline, unless they cite something; more of them, or a list or code, tell something.
    """
    reason = reason_for_abstaining(text)
    if reason is None and len(text) <= _REFUSAL and "\n\n" not in text and refuses(text) and not claims(text):
        reason = text
    return AnswerReply(True, text) if reason is None else AnswerReply(False, reason)


ANSWER = Task(
    "answer", prompt="answer", reply=AnswerReply, without=_without, render=_render, from_text=from_text, max_output=2048
)
SHORT_ANSWER = replace(ANSWER, prompt="short-answer", max_output=1024)

NATIVE: Mapping[Native, Task[AnswerInput, AnswerReply]] = {
    "facts": replace(ANSWER, prompt="native-facts", render=_facts_first),
    "points": replace(ANSWER, prompt="native-points", render=_rated),
    "rounds": replace(ANSWER, prompt="native-rounds", render=_with_searches),
    "walk": replace(ANSWER, prompt="native-walk"),
}

STYLES: Mapping[str, str] = {
    "brief": "Be brief. For a fact, one sentence that leads with it. For a question that joins several facts, the "
    "conclusion first, then the steps. Code, a list or a table only where the question wants one.",
    "full": "Be as long as the question needs and no longer. Begin with the answer itself. Use headings, lists, tables "
    "and blocks of code where they help the reader.",
}
"""Names of `answer.style`; any other style is the user's own words."""


@dataclass(frozen=True, slots=True)
class AnswerWishes:
    """What a user wants of answers by a model: a style, words of one's own, a language, a length in tokens."""

    style: str = ""
    system: str = ""
    language: str = ""
    tokens: int | None = None

    @property
    def text(self) -> str:
        """What is added to a system message; empty where nothing is wished for."""
        language = f"Answer in this language: {self.language.strip()}." if self.language.strip() else ""
        style = STYLES.get(self.style, self.style.strip())
        wished = "\n\n".join(filter(None, (style, self.system.strip(), language)))
        return f"\n\n{wished}".replace("{{", "{ {") if wished else ""  # no variable of the prompt's

    def applied(self, task: Task[In, Out]) -> Task[In, Out]:
        """The task with these wishes in its prompt and its limit."""
        prompt, text = task.text, self.text
        if text:
            prompt = replace(prompt, system=f"{prompt.system}{text}".strip(), hash=content_hash(prompt.hash, text))
        return replace(task, prompt=prompt if text else task.prompt, max_output=self.tokens or task.max_output)


def answer_so_far(reply: str) -> str:
    """The answer in a reply that is still being written: empty while it may become an abstention, and without what a
    model that reasons wrote first.
    """
    from ragways.models.reply import after_thinking

    text = after_thinking(reply)
    begun = ABSTENTION.casefold().startswith(text.strip(" .*\n").casefold())
    return "" if begun or reason_for_abstaining(text) is not None else text


@dataclass(frozen=True, slots=True)
class RecallInput:
    """A question to answer from memory."""

    question: str


async def _recall_nothing(given: RecallInput) -> AnswerReply:  # noqa: ARG001
    """Without a model there is no memory to answer from."""
    return AnswerReply(False, "")


RECALL = Task(
    "recall", prompt="recall", reply=AnswerReply, without=_recall_nothing, temperature=0.7, max_output=2048,
    from_text=from_text,
)  # fmt: skip
SHORT_RECALL = replace(RECALL, prompt="short-recall", max_output=512)


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
    """No answers: it is not known. `references` name what it rests on."""

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


AGENT_ANSWER: Task[AgentAnswerInput, AgentAnswer] = Task("agent answer", prompt="agent-answer", reply=AgentAnswer)


def answer_tool() -> Tool:
    """The tool by which an agent ends its work."""
    from ragways.models.reply import schema_of

    parameters = {key: part for key, part in schema_of(AgentAnswer).items() if key != "description"}
    return Tool(
        ANSWER_TOOL,
        "Answer and end. `answers`: as brief as can be, several if the question has several, empty if unknown. "
        "`explanation`: one to three sentences. `references`: numbers of the results it rests on. `assumptions`: what "
        "was taken for granted.",
        parameters,
    )
