"""An agent's answer: what it says, how it got there, and on which articles it rests."""

from __future__ import annotations

from dataclasses import dataclass

from ragways.models.call import Tool
from ragways.models.task import Task

ANSWER_TOOL = "final_answer"
_UNKNOWN = frozenset({"", "unknown", "insufficient information", "none", "n/a"})


@dataclass(frozen=True, slots=True)
class Final:
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


AGENT_ANSWER = Task("agent answer", prompt="agent-answer", reply=Final)


def answer_tool() -> Tool:
    """The tool by which an agent ends its work."""
    from ragways.models.schema import schema_of

    return Tool(
        ANSWER_TOOL,
        "Give the answer and end. `answers`: as brief as possible, several if the question has several, empty if it is "
        "unknown. `explanation`: one to three sentences. `references`: ids of the articles it rests on (article:1234). "
        "`assumptions`: what was taken for granted.",
        schema_of(Final),
    )
