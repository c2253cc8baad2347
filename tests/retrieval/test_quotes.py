"""Which sentences of a passage are quoted for what an answer says."""

from __future__ import annotations

import pytest

from ragways.layers.words import terms
from ragways.retrieval.answer import quoted_span

LIMITS = (
    "Note:",
    "The client keeps connections open and uses them again.",
    "By default the pool holds 10 connections, of which 5 may stay idle.",
    "client = Client(limits=Limits(max_connections=100, max_keepalive=20))",
    "The default limit of the pool was raised in this version.",
    "It is now 100 connections, and 20 of them may be kept alive.",
    "Long lived services should set a limit of their own.",
)


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("100 connections and 20 kept alive.", (5,)),
        ("The default limit of the pool was raised to 100 connections, of which 20 may be kept alive.", (4, 5)),
        ("Note: 10 connections, 5 idle", (2,)),
        ("Services that live long should set a limit.", (6,)),
        ("Something else entirely", (6,)),
    ],
)
def test_the_quote_holds_what_the_answer_says_and_is_no_label_and_no_code(claim: str, quoted: tuple[int, ...]):
    sentences, at, code = [], 0, []
    for number, text in enumerate(LIMITS):
        sentences.append(((at, at + len(text)), text))
        code += [(at, at + len(text))] if number == 3 else []
        at += len(text) + 1
    span = quoted_span(frozenset(terms(claim)), sentences, code)
    assert span == (sentences[quoted[0]][0][0], sentences[quoted[-1]][0][1])


def test_code_is_quoted_where_nothing_else_says_it():
    sentences = [((0, 36), "Everything about limits of clients."), ((37, 70), "limits = Limits(max_connections=7)")]
    assert quoted_span(frozenset(terms("max_connections=7")), sentences, [(37, 70)]) == (37, 70)
    assert quoted_span(frozenset(terms("anything")), [], []) is None
