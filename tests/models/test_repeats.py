"""A model that says the same again and again is stopped, through real HTTP."""

from __future__ import annotations

import asyncio
import json

import pytest

from ragways.core.trace import span, spending
from ragways.models.client import ModelClient
from ragways.models.endpoint import Endpoint
from ragways.models.repeats import LONGEST_UNIT, TAIL, cut_to_one_copy, unit_at_end
from ragways.models.tokens import count_text
from ragways.testing import Fault, LoopbackServer
from tests.models.model_fakes import ABOUT, NOTE, WORD, Heard, MemoryCache, Note, Word

BEGINS = "The harbour has a light. "
UNIT = "It was built by Anna Brack in 1871. "


class Server(LoopbackServer):
    """Counts the events that it has sent."""

    def __init__(self, text: str) -> None:
        async def before_event(event: bytes) -> None:
            self.sent += 1

        self.sent = 0
        dripping = Fault("dripping", seconds=0.001)
        super().__init__(lambda _: text, faults=[dripping], before_event=before_event)


def done(server, *, task=WORD, given=Word("light"), heard=None, cache=None):  # noqa: B008 - frozen
    async def main():
        async with ModelClient(Endpoint(server.base_url, None, "m"), cache=cache) as client:
            with span("root") as root:
                return await client.do(task, given, on_text=heard), root.children[0].children[-1]

    return asyncio.run(main())


@pytest.mark.parametrize("listens", [False, True])
def test_it_is_stopped_and_cut_to_one_copy_and_sent_once(listens, caplog):
    heard = Heard() if listens else None
    server = Server(BEGINS + UNIT * 1000)
    with server:
        outcome, here = done(server, heard=heard)
    assert (outcome.value, outcome.repeats, outcome.cut) == ((BEGINS + UNIT).strip(), True, False)
    assert heard is None or heard.text == BEGINS + UNIT
    assert (server.count, here.details["tries"], here.details["finish"], here.details["repeats"]) == (
        1, 1, "repeats", True,
    )  # fmt: skip
    assert server.sent < 1000, "the connection was closed long before the last of some 2,250 events"
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "model m says the same again and again" in line


def test_what_was_written_is_paid_for_by_our_own_count():
    with Server(BEGINS + UNIT * 1000) as server, spending() as meter:
        _, here = done(server)
    assert here.details["usage"] == "estimated"
    assert meter.spent.output >= count_text(UNIT) * 1200 // len(UNIT), "all that it wrote, not one copy"
    assert meter.reserved.tokens == 0


def test_it_is_not_cached():
    cache = MemoryCache()
    with Server(UNIT * 1000) as server:
        done(server, cache=cache)
    assert not cache.replies


def test_json_is_not_requested_again_from_a_model_that_repeats_itself():
    text = json.dumps({"pages": [1], "text": BEGINS + UNIT * 1000})
    with Server(text) as server:
        outcome, _ = done(server, task=NOTE, given=ABOUT, heard=Heard())
    assert (outcome.value, outcome.cut, outcome.repeats) == (Note((BEGINS + UNIT).strip(), (1,)), True, True)
    assert server.count == 1


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("a" * TAIL, 1),
        ("ab" * TAIL, 2),
        ("a" * (TAIL - 1), 0),
        (BEGINS + UNIT * 40, len(UNIT)),
        (BEGINS + UNIT * 40 + "It was", len(UNIT)),
        (UNIT * 40 + "The end.", 0),
        (f"{'b' * (LONGEST_UNIT - 1)}a" * 4, LONGEST_UNIT),
        (f"{'b' * LONGEST_UNIT}a" * 4, 0),
        ("-" * 5000, 0),
        ("a" * 1000 + "b" * 1000, 0),
        ("", 0),
    ],
)
def test_the_unit_at_the_end(text, unit):
    assert unit_at_end(text) == unit


def test_what_is_left_of_a_text():
    assert cut_to_one_copy(BEGINS + UNIT * 40) == BEGINS + UNIT
    assert cut_to_one_copy(BEGINS + UNIT * 40 + "It was") == BEGINS + UNIT
    assert cut_to_one_copy("A light. " + "Anna built a light. " * 90) == "A light. Anna built a light. "
    assert (
        cut_to_one_copy("Two lights: " + "One is red. One is green. " * 60) == "Two lights: One is red. One is green. "
    )
    assert cut_to_one_copy("List:\n" + "- one\n- two\n" * 200) == "List:\n- one\n- two\n"
    assert cut_to_one_copy("word " * 400) == "word "
    assert cut_to_one_copy(BEGINS) == BEGINS
