"""Within an epoch of the lexicon, history does not show: not in views, and not in the evidence of any paradigm."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragways.index.build import build, remove
from ragways.index.run import IndexRun
from ragways.index.views import published
from ragways.layers.graph.csr import GraphArrays
from ragways.layers.table import LAYERS
from tests.fakes import recipe, write
from tests.index.builds import answers, contents, unlike

TEXTS = {
    "pier.md": "# Pier Hotel\n\nThe Pier Hotel stands in Port Averne. Otto Tamsett bought it in 1901.\n",
    "otto.md": "# Otto Tamsett\n\nOtto Tamsett was a whaler of [Skelwick](skelwick.md). Tamsett wed Sabine Ollerby.\n",
    "sabine.md": "# Sabine Ollerby\n\nSabine Ollerby studied the silverling at the University of Dunmarrow.\n",
    "skelwick.md": "# Skelwick\n\nSkelwick is a village on the Lanner Sound. A storm took its light in 1883.\n",
    "petrel.md": "# Grey Petrel (ship)\n\nThe Grey Petrel sailed from Skelwick to Port Averne in 1840.\n",
    "who.md": "# Harbour Board\n\nThe Lanner Sound Harbour Board (LSHB) built the light of Port Averne.\n",
    "rules.md": "# Rules\n\nThe LSHB forbids fishing. Mercury (planet) shines. The ship Grey Petrel was lost. "
    "Old rules and new rules are rules.\n",
}
QUESTION = "Where does the wife of the buyer of the Pier Hotel come from, and what is the LSHB?"
EVERY = frozenset(each.name for each in LAYERS.values())
FRESH = frozenset({"lexicon", "communities"})


def run(index: Path, docs: Path, fresh: frozenset[str] = frozenset()) -> None:
    asyncio.run(build(index, [docs], recipe(layers=EVERY, settings={"communities": {"text": 0}}), fresh=fresh))


steps = st.lists(
    st.tuples(st.sampled_from(["put", "edit", "unlink", "remove"]), st.sampled_from(sorted(TEXTS))),
    min_size=1,
    max_size=5,
)


def changed(home: Path, steps: Sequence[tuple[str, str]]) -> tuple[Path, Path]:
    """Files and their index after some changes, with the lexicon and the communities made anew at the end."""
    docs, index = write(home / "docs", {name: TEXTS[name] for name in sorted(TEXTS)[:4]}), home / "index"
    run(index, docs)
    for turn, (how, name) in enumerate(steps):
        if how == "put":
            write(docs, {name: TEXTS[name]})
        elif how == "edit":
            write(docs, {name: f"{TEXTS[name]}\nIn year {1900 + turn} Sabine Ollerby left Skelwick.\n"})
        elif (docs / name).exists():
            (docs / name).unlink()
            if how == "remove":
                asyncio.run(remove(index, [f"docs/{name}"]))
                continue
        run(index, docs)
    run(index, docs, FRESH)
    return docs, index


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_any_sequence_of_changes_answers_as_a_fresh_index(tmp_path_factory: pytest.TempPathFactory, steps) -> None:
    home = tmp_path_factory.mktemp("history")
    docs, index = changed(home, steps)
    run(home / "fresh", docs)
    assert unlike(contents(home / "fresh"), contents(index)) == []
    assert unlike(answers(home / "fresh", QUESTION), answers(index, QUESTION)) == []
    where = 'path~"e" and not path~"otto"'
    assert unlike(answers(home / "fresh", QUESTION, where), answers(index, QUESTION, where)) == []


def everyday(index: Path) -> set[int]:
    """Hashes of the names of the graph that are everyday words."""
    views = published(index)
    assert views is not None
    graph = GraphArrays.load(views.of("graph"))
    return set(graph.names[graph.everyday].tolist())


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_views_that_are_deleted_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, steps) -> None:
    _, index = changed(tmp_path_factory.mktemp("history"), [("put", "rules.md"), *steps, ("put", "rules.md")])
    words, graph, answered = everyday(index), contents(index), answers(index, QUESTION)
    assert words
    shutil.rmtree(index / "views")
    assert unlike(answered, answers(index, QUESTION)) == []
    assert unlike(graph, contents(index)) == []
    assert everyday(index) == words


def test_a_view_that_was_folded_is_the_one_that_is_made_of_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without another epoch: facts stay as they were extracted, and communities are found anew for both."""
    docs, index = write(tmp_path / "docs", dict(list(TEXTS.items())[:5])), tmp_path / "index"
    run(index, docs)
    write(docs, TEXTS)
    (docs / "sabine.md").unlink()
    run(index, docs)
    write(docs, {"otto.md": "# Otto Tamsett\n\nOtto Tamsett sold the Pier Hotel to the LSHB.\n"})
    run(index, docs, frozenset({"communities"}))
    folded, answered = contents(index), answers(index, QUESTION)
    made: list[str] = []
    monkeypatch.setattr(IndexRun, "_newest_views", lambda run: made.append("anew"))
    run(index, docs, frozenset({"communities"}))
    assert made
    assert unlike(folded, contents(index)) == []
    assert unlike(answered, answers(index, QUESTION)) == []
