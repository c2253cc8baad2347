"""Documents in languages that the offline embedder does not know are counted, with the cure."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ragways.index.build import build
from ragways.index.check import check
from ragways.index.status import index_status
from ragways.models.minilm import MiniLM
from tests.fakes import WordHashes, recipe, write

CHINESE = {
    "model.md": "# 启动\n\n应用启动时会加载机器学习模型，并在关闭时释放内存。\n",
    "files.md": "# 静态文件\n\n静态文件从目录中自动提供，无需编写任何代码。\n",
    "token.md": "# 令牌\n\n令牌的过期时间是三十分钟，之后用户必须重新登录。\n",
    "english.md": "# Tests\n\nThe tests of the application are in a folder of their own, and they run at night.\n",
}


def test_many_documents_of_an_unknown_language_are_named_with_the_cure(tmp_path: Path):
    named = WordHashes(MiniLM().name)
    docs, index = write(tmp_path / "docs", CHINESE), tmp_path / "index"
    unread = asyncio.run(build(index, [docs], recipe(named))).unread
    assert unread.startswith("3 of 4 documents are Chinese: the offline embedder knows English only; words find them,")
    assert 'kind = "endpoint"' in unread
    status = index_status(index)
    assert (status.languages, status.unread) == ({"zh": 3, "en": 1}, unread)
    [warning] = [finding for finding in check(index).findings if "does not know" in finding.name]
    assert (warning.severity, warning.count) == ("warning", 3)
    assert check(index).fit


def test_nothing_is_said_of_few_documents_or_of_another_embedder(tmp_path: Path):
    named = WordHashes(MiniLM().name)
    english = {f"{n}.md": f"The light of number {n} is on the coast of the island.\n" for n in range(11)}
    few = write(tmp_path / "few", {**english, "one.md": CHINESE["token.md"]})
    many = write(tmp_path / "many", CHINESE)
    assert asyncio.run(build(tmp_path / "one", [few], recipe(named))).unread == ""
    assert asyncio.run(build(tmp_path / "two", [many], recipe())).unread == ""
    assert index_status(tmp_path / "one").languages == {"en": 11, "zh": 1}
