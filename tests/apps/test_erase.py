"""What is erased and looked for, what is made anew on request, and what waits for the next run."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ragways.index.open import Index
from tests.apps.conftest import Run
from tests.fakes import write

SECRET = "The recipe of the Zyxwvutian soup lies under the third stone of the mole."
TEXTS = {f"light-{n}.txt": f"The light of Port Averne{n} was lit by Anna Brack{n} in {1800 + n}." for n in range(6)}
WITH = ("--with", "words,graph,communities")


@pytest.fixture
def secret(ragways: Run, home: Path) -> Run:
    write(home / "docs", TEXTS | {"secret.txt": SECRET})
    assert ragways("index", "docs", *WITH).code == 0
    return ragways


def files_with(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def test_a_removed_document_is_erased_and_looked_for(secret: Run, home: Path):
    assert files_with(home / ".ragways", "Zyxwvutian")
    done = secret("remove", "docs/secret.txt", "--erase", "--json")
    assert done.code == 0
    erasure = done.data["erasure"]
    assert (erasure["erased"], erasure["words_left"], erasure["in_use"]) == (True, 0, False)
    [document] = erasure["documents"]
    assert (document["key"], document["found"], document["erased"]) == ("docs/secret.txt", [], True)
    assert min(document["looked_for"], erasure["words"], erasure["files"], erasure["bytes"]) > 0
    assert files_with(home / ".ragways", "Zyxwvutian") == files_with(home / ".ragways", "zyxwvutian") == []
    assert len(list((home / ".ragways" / "views").iterdir())) == 1


def test_what_was_removed_before_goes_with_the_next_erasure(secret: Run, home: Path):
    assert secret("remove", "docs/secret.txt").out == ".ragways: 1 removed\n"
    (home / "docs" / "secret.txt").unlink()
    write(home / "docs", {"light-0.txt": "Nothing is left of it."})
    done = secret("index", "docs", *WITH, "--erase")
    assert (done.code, "1 changed, 0 removed" in done.out) == (0, True)
    assert "1 string of 1 document looked for in" in done.out
    assert "none is left" in done.out
    assert secret("index", "docs", *WITH, "--erase").code == 0
    assert len(list((home / ".ragways" / "views").iterdir())) == 1


def test_a_reader_may_keep_bytes_and_the_exit_code_says_so(secret: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.store.database.WAIT_SECONDS", 0.05)
    with closing(Index.open(home / ".ragways")) as reader:
        assert reader.counts()["documents"] == 7
        done = secret("remove", "docs/secret.txt", "--erase")
        assert done.code == 6
        assert "a reader is open" in done.err
    (home / "docs" / "secret.txt").unlink()
    assert secret("index", "docs", *WITH, "--erase").code == 0


def test_a_plan_says_when_a_new_lexicon_is_due(secret: Run, home: Path):
    def is_due(*more: str) -> bool:
        planned = secret("index", "docs", *WITH, "--plan", "--json", *more).data
        assert isinstance(planned["new_lexicon"], bool)
        return planned["new_lexicon"]

    assert (is_due(), is_due("--fresh-lexicon")) == (False, True)
    write(home / "docs", {f"more-{n}.txt": f"Carl Dorn{n} sailed to Skelwick." for n in range(7)})
    assert is_due()
    assert "made anew" in secret("index", "docs", *WITH, "--plan").out
    assert secret("index", "docs", *WITH, "--fresh-lexicon").code == 0
    assert not is_due()


def test_the_status_says_how_old_communities_are_and_what_waits(secret: Run, home: Path):
    def age() -> float:
        layers = {layer["name"]: layer for layer in secret("status", "--json").data["by_layer"]}
        return float(layers["communities"]["age"])

    assert (age(), secret("status", "--json").data["waiting"]) == (0.0, 0)
    write(home / "docs", {"light-0.txt": "Anna Brack0 met Nessa Druwick at Port Averne0."})
    assert secret("index", "docs", *WITH).code == 0
    assert age() > 0
    assert "--fresh-communities" in secret("status").out
    assert secret("index", "docs", *WITH, "--fresh-communities").code == 0
    assert age() == 0
    shutil.rmtree(home / ".ragways" / "views")
    assert secret("status", "--json").data["waiting"] == 7
    shown = secret("status").out
    assert "7 documents; run again: ragways index PATH" in shown
    assert "made when next read" in shown
