"""Every kind of question keeps the same promises, with a model and without one."""

from __future__ import annotations

import pytest

from ragways.core.errors import MissingLayer, UsageError
from ragways.core.types import ABSTENTION
from ragways.evaluation.gold import GoldIndex
from ragways.evaluation.question import Question, holds
from ragways.evaluation.questions.generate import KINDS, GeneratedSet, find_kinds
from ragways.evaluation.questions.source import NULL, PASSED, REASONS
from ragways.index.open import Index
from ragways.models.task import FENCE_RULE
from tests.evaluation.questions.fakes import REPLIES, ModelByTask, grounded_from, indexed, made

GROUPED = dict.fromkeys(("comparison", "intra_document", "theme_based", "sequential_multi_hop", "native"), 2)
PROSE = [name for name, kind in KINDS.items() if not kind.documentation]
"""Kinds that the bundled corpus has; those of documentation have tests of their own."""
PASSAGES = {"reasoning-2": 2, "reasoning-3": 3, **GROUPED}


def keeps_promises(index: Index, found: GeneratedSet, kind: str, way: str) -> None:
    gold_index = GoldIndex(index)
    assert found.counts[kind][PASSED] == len(found.questions)
    assert set(found.counts[kind]) <= set(REASONS)
    assert len({question.id for question in found.questions}) == len(found.questions)
    for question in found.questions:
        assert question.type == (KINDS[kind].type or kind)
        assert question.text.strip().endswith(("?", "."))
        assert question.answers
        assert all(answer.strip() for answer in question.answers)
        assert question.provenance["kind"] == kind
        assert question.provenance["way"] == way
        assert question.provenance["seed"] == found.seed
        assert question.provenance["path"]
        if question.type == NULL:
            assert question.answers == (ABSTENTION,)
            assert not question.gold
        else:
            gold_stands_in_the_index(index, gold_index, question)


def gold_stands_in_the_index(index: Index, gold_index: GoldIndex, question: Question) -> None:
    assert question.gold
    for gold in question.gold:
        piece = index.pieces([gold.id])[gold.id]
        assert gold.quote
        assert holds(piece, gold)
        assert gold_index.documents(gold) == {piece.document}


@pytest.mark.parametrize("kind", PROSE)
def test_without_a_model(demo: Index, kind: str):
    found = made(demo, kinds=[kind], count=4, seed=3)
    assert found.questions, found.counts
    keeps_promises(demo, found, kind, "rule")
    assert found.model == ""


@pytest.mark.parametrize("kind", PROSE)
def test_with_a_model(demo: Index, kind: str):
    # The model writes one question again and again, so one of a kind is all there can be (or one an entity).
    # What takes several passages must not be answered from fewer.
    model = ModelByTask({**REPLIES, "question_grounded": grounded_from(PASSAGES.get(kind, 1))})
    found = made(demo, model, kinds=[kind], count=1, seed=3)
    assert found.questions, found.counts
    keeps_promises(demo, found, kind, "model")
    assert found.model == "by-task"
    assert set(found.prompts.values()) <= {hash_of(name) for name in REPLIES}
    assert all(FENCE_RULE in call.messages[0].content for call in model.calls)


def hash_of(name: str) -> str:
    from ragways.models.task import Prompt

    return Prompt.load(name.replace("_", "-")).hash


def test_an_unknown_kind_says_what_was_meant():
    with pytest.raises(UsageError, match="did you mean factual"):
        find_kinds(["factal"])
    assert [kind.name for kind in find_kinds(["moved", "factual"])] == ["factual", "moved"]


def test_kinds_without_their_layer_are_left_out_with_a_note_or_refused(tmp_path):
    texts = {"a.md": "# Ada Holm\n\nAda Holm (born 3 May 1770 in Port Averne) was an engineer of towers on the coast."}
    index = indexed(tmp_path, texts, frozenset({"vectors"}))
    found = made(index, count=1)
    assert any(note.startswith("node is left out: the index has no graph") for note in found.notes)
    assert "factual" in found.counts
    with pytest.raises(MissingLayer):
        made(index, kinds=["node"], count=1)
    with pytest.raises(UsageError, match="makes no sense"):
        made(index, count=0)
    index.close()


def test_an_empty_index_gives_no_question_and_says_why(tmp_path):
    index = indexed(tmp_path, {"a.md": "Rain."}, frozenset({"vectors", "graph", "windows"}))
    found = made(index, count=1)
    assert found.questions == ()
    [short] = [note for note in found.notes if "the corpus gave no more" in note]
    assert short == f"{', '.join(PROSE)}: 0 of 1; the corpus gave no more"
    index.close()
