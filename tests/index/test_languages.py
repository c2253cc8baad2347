"""Languages that the offline embedder does not know: said with the cure, and its vectors are not relied on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ragways
from ragways.apps.cli import app
from ragways.core.language import REFUSALS, language
from ragways.core.types import ABSTENTION
from ragways.index.build import build
from ragways.index.health import check
from ragways.index.status import index_status
from ragways.models.embed import reads
from ragways.models.minilm import MiniLM
from ragways.tasks.refusal import refuses
from tests.fakes import WordHashes, recipe, write

CHINESE = {
    "model.md": "# 启动\n\n应用启动时会加载机器学习模型，并在关闭时释放内存。\n",
    "files.md": "# 静态文件\n\n静态文件从目录中自动提供，无需编写任何代码。\n",
    "token.md": "# 令牌\n\n令牌的过期时间是三十分钟，之后用户必须重新登录。\n",
    "english.md": "# Tests\n\nThe tests of the application are in a folder of their own, and they run at night.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The index, and what was said when it was built, with the real embedder."""
    home = tmp_path_factory.mktemp("languages")
    built = ragways.build(write(home / "docs", CHINESE), home / "index", layers=("vectors", "words", "graph"))
    return home / "index", built.unread


def test_a_language_that_the_embedder_does_not_know_is_said_with_the_cure(index: tuple[Path, str]):
    folder, said = index
    assert said.startswith("3 of 4 documents are Chinese: the offline embedder knows English only; words find them,")
    assert 'kind = "endpoint"' in said
    again = ragways.build(folder.parent / "docs", folder, layers=("vectors", "words", "graph"))
    assert (again.touched, again.unread) == (False, said)
    [status] = [json.loads(CliRunner().invoke(app, ["status", "--index", str(folder), "--json"]).output)]
    assert (status["languages"], status["unread"]) == ({"zh": 3, "en": 1}, said)
    assert "Chinese 3, English 1" in CliRunner().invoke(app, ["status", "--index", str(folder)]).output
    [warning] = [finding for finding in check(folder).findings if "does not know" in finding.name]
    assert (warning.severity, warning.count) == ("warning", 3)
    assert check(folder).fit


def test_a_run_prints_it_on_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    docs = write(tmp_path / "docs", CHINESE)
    done = CliRunner().invoke(app, ["index", str(docs), "--index", str(tmp_path / "index"), "--with", "vectors,words"])
    assert len([line for line in done.output.splitlines() if "are Chinese" in line and "--rebuild" in line]) == 1


def test_nothing_is_said_of_few_documents_or_of_another_embedder(tmp_path: Path):
    named = WordHashes()
    named.name = MiniLM().name
    english = {f"{n}.md": f"The light of number {n} is on the coast of the island.\n" for n in range(11)}
    few = write(tmp_path / "few", {**english, "one.md": CHINESE["token.md"]})
    many = write(tmp_path / "many", CHINESE)
    assert asyncio.run(build(tmp_path / "one", [few], recipe(named))).unread == ""
    assert asyncio.run(build(tmp_path / "two", [many], recipe(WordHashes()))).unread == ""
    assert asyncio.run(build(tmp_path / "three", [many], recipe(named))).unread
    assert index_status(tmp_path / "one").languages == {"en": 11, "zh": 1}


@pytest.mark.parametrize("paradigm", ["fused", "hybrid-words"])
def test_vectors_that_say_nothing_of_a_question_are_left_out(index: tuple[Path, str], paradigm: str):
    with ragways.open(index[0]) as corpus:
        chinese = corpus.ask("令牌的过期时间怎么设置？", paradigm).answer
        english = corpus.ask("When do the tests of the application run?", paradigm).answer
    by = {found.by for hit in chinese.evidence.hits.items for found in hit.found}
    assert "dense" not in by
    assert chinese.evidence.sources[0].key.endswith("token.md")
    assert "dense" in {found.by for hit in english.evidence.hits.items for found in hit.found}


def test_without_vectors_an_answer_goes_by_words_and_a_refusal_is_in_the_language_of_the_question(
    index: tuple[Path, str],
):
    with ragways.open(index[0]) as corpus:
        answer = corpus.ask("令牌的过期时间是多少？", "words").answer
        refused = corpus.ask("法国的首都在哪里？谁是总统？", "words").answer
    assert "三十分钟" in answer.text
    # Programs compare the text; people see the other.
    assert (refused.abstained, refused.text, refused.shown) == (True, ABSTENTION, "信息不足")
    assert "信息不足" in refused.full_text
    assert "信息不足" in repr(refused)
    assert "信息不足" in refused._repr_html_()
    asked = ["ask", "法国的首都在哪里？谁是总统？", "--index", str(index[0]), "-p", "words"]
    assert "信息不足" in CliRunner().invoke(app, asked).output
    assert "信息不足" in CliRunner().invoke(app, [*asked, "--answer-only"]).output
    assert ABSTENTION in CliRunner().invoke(app, [*asked, "--json"]).output


def test_which_texts_an_embedder_reads():
    offline, plain = MiniLM(), WordHashes()
    assert reads(offline, "What is the capital of France?")
    assert reads(offline, "Was ist die Hauptstadt von Frankreich?")
    assert reads(offline, "Paris")
    assert not reads(offline, "フランスの首都はどこですか？")
    assert reads(plain, "フランスの首都はどこですか？")


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_in_any_language_is_known_as_one(code: str):
    said = REFUSALS[code]
    assert refuses(said)
    assert refuses(f"{said}. ")
    assert refuses(f"{said.upper()}。")
    assert not refuses(f"Paris. {said}")
    assert language(said) in (code, "")
