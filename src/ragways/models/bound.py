"""The most a call can use, known before it is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from ragways.core.trace import Usage
from ragways.models.call import Call
from ragways.models.tokens import count_tokens

_A_MESSAGE = 8  # role and separators; endpoints take 3 or 4 tokens
_A_CALL = 64  # what the endpoint wraps around messages, and our own words about the form of a reply


def count_text(text: str) -> int:
    try:
        return count_tokens(text)
    except UnicodeEncodeError:  # half a character from a broken file
        return count_tokens(text.encode("utf-8", "replace").decode())


def count_call(call: Call) -> int:
    """Tokens of everything that is sent, by our own count."""
    texts = [message.content for message in call.messages]
    texts += [tool_call.arguments + tool_call.name for m in call.messages for tool_call in m.tool_calls]
    texts += [json.dumps(call.schema)] if call.schema is not None else []
    texts += [json.dumps([tool.name, tool.description, tool.parameters]) for tool in call.tools]
    return sum(map(count_text, texts)) + _A_MESSAGE * len(texts) + _A_CALL


class Bound:
    """The most input a call can be billed for.

    Another model's tokens are not ours: we add a tenth, and more as soon as an endpoint was seen to count more.
    """

    def __init__(self) -> None:
        self._margin = 1.1

    def most(self, call: Call) -> Usage:
        return Usage(calls=1, input=math.ceil(count_call(call) * self._margin), output=call.max_output)

    def most_of(self, texts: Sequence[str]) -> Usage:
        """For texts to embed, which have no output."""
        counted = sum(map(count_text, texts)) + 4 * len(texts)
        return Usage(calls=1, input=math.ceil(counted * self._margin))

    def learn(self, most: Usage, billed: Usage) -> None:
        if billed.input > most.input:
            self._margin *= 1.05 * billed.input / most.input
