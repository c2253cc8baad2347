"""The command as a user meets it: what it prints, how it fails, and that a failure is one line with a cure."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from ragways.apps.cli import full_app, parser_of
from ragways.retrieval.ask import PARADIGMS
from tests.apps.conftest import CORPUS, Run, one_line
from tests.fakes import write


def test_index_then_ask(ragways: Run, home: Path):
    write(home / "docs", CORPUS)
    done = ragways("index", "docs")
    assert done.code == 0
    assert "2 added" in done.out
    assert "left out: docs/notes.bin: no loader for .bin" in done.err
    asked = ragways("ask", "Who built the harbour light?", "-p", "words,naive")
    assert "Anna Brack" in asked.out
    assert "words" in asked.out
    assert "naive" in asked.out
    again = ragways("index", "docs", "--json")
    assert again.data["unchanged"] == 2
    assert again.data["embedded"] == 0


def test_ask_reads_only_the_documents_that_match_a_filter(indexed: Run):
    asked = indexed("ask", "Who built the harbour light?", "--where", "date<1900", "--json").data
    assert asked["where"] == "date<1900"
    assert {each["source"]["key"] for each in asked["evidence"]} == {"docs/harbour.md"}
    other = indexed("ask", "Who built the harbour light?", "--where", "not has date", "-p", "words,naive", "--trace")
    assert "Brack" not in other.out
    nothing = indexed("ask", "Who built the harbour light?", "--where", "path=nowhere", "--answer-only")
    assert "No document matches" in indexed("ask", "Who built it?", "--where", "path=nowhere").out
    assert nothing.code == 0
    wrong = indexed("ask", "Who built the harbour light?", "--where", "dat>1900")
    one_line(wrong, 2, "at the ^ in `^dat>1900`: no document has a field 'dat': did you mean date?")


def test_the_json_of_an_answer_holds_what_is_promised(indexed: Run):
    data = indexed("ask", "Who built the harbour light?", "--paradigm", "hybrid-words", "--json").data
    assert data["question"] == "Who built the harbour light?"
    assert data["paradigm"] == "hybrid-words"
    assert "Anna Brack" in data["answer"]
    assert data["abstained"] is False
    first = data["evidence"][0]
    assert {"id", "kind", "document", "title", "text", "score"} <= first.keys()
    assert first["title"] == "Harbour"
    assert first["date"] == "1801-05-04"
    assert data["citations"][0]["piece"] == first["id"]
    assert data["tasks"] == [{"task": "answer", "way": "rule"}]
    assert [step["name"] for step in data["steps"]] == ["fuse", "top", "pack", "answer"]
    assert [step["name"] for step in data["steps"][0]["steps"]] == ["dense", "words"]
    assert all("usage" in step for step in data["steps"])
    assert data["usage"]["calls"] == 0
    assert data["seconds"] > 0


def test_several_paradigms_give_a_list(indexed: Run):
    rows = indexed("ask", "Who built the harbour light?", "-p", "all", "--json").data
    assert [row["paradigm"] for row in rows if not row.get("error")][:4] == [
        "llm-only",
        "naive",
        "words",
        "hybrid-words",
    ]
    assert {row["paradigm"] for row in rows} == set(PARADIGMS)


def test_show_puts_a_piece_in_its_place(indexed: Run):
    id = indexed("ask", "Who built the harbour light?", "-p", "words", "--json").data["evidence"][0]["id"]
    shown = indexed("show", id, "--json").data
    assert shown["text"] == "The harbour light was built by Anna Brack in 1801."
    assert indexed("show", id.split(":s")[0]).code == 0
    one_line(indexed("show", "article:1:s0"), 2, "nothing in this index")
    one_line(indexed("show", "'; DROP TABLE documents"), 2, "nothing in this index")


def test_status_and_remove(indexed: Run):
    status = indexed("status", "--documents", "--json").data
    assert status["counts"]["documents"] == 2
    assert status["layers"] == ["structure", "vectors", "words"]
    assert [document["title"] for document in status["documents"]] == ["Harbour", "storm"]
    assert indexed("status").code == 0
    assert indexed("remove", "Harbour", "--json").data["wall"] > 0
    assert indexed("status", "--json").data["counts"]["documents"] == 1
    one_line(indexed("remove", "Harbour"), 2, "no document is called")


def test_plan_tells_and_does_nothing(ragways: Run, home: Path):
    write(home / "docs", CORPUS)
    planned = ragways("index", "docs", "--plan", "--json").data
    assert (planned["documents"], planned["new"], planned["to_embed"]) == (2, 2, 2)
    assert planned["usd"] == 0
    assert planned["model_calls"] == 0
    assert planned["seconds"] > 0
    assert not (home / ".ragways" / "index.sqlite").exists()
    assert "documents" in ragways("index", "docs", "--plan").out
    ragways("index", "docs")
    write(home / "docs", {"storm.txt": "Another storm."})
    os.utime(home / "docs" / "storm.txt", (1, 1))
    planned = ragways("index", "docs", "--plan", "--json").data
    assert (planned["changed"], planned["unchanged"], planned["to_embed"]) == (1, 1, 1)
    planned = ragways("index", "docs", "--plan", "--rebuild", "--json").data
    assert (planned["new"], planned["changed"], planned["unchanged"], planned["to_embed"]) == (2, 0, 0, 1)


def test_paradigms_lists_the_table(ragways: Run):
    rows = ragways("paradigms", "--json").data
    assert [row["name"] for row in rows] == list(PARADIGMS)
    text = ragways("paradigms").out
    assert all(name in text for name in PARADIGMS)


def test_init_writes_a_file_that_changes_nothing(ragways: Run, home: Path):
    assert ragways("init").code == 0
    text = (home / "ragways.toml").read_text()
    sections = tomllib.loads(text)
    assert not any([*sections.pop("model").values(), *sections.values()])
    one_line(ragways("init"), 2, "there already", "--force")
    assert ragways("init", "--force").code == 0
    assert ragways("paradigms").code == 0


def test_every_setting_in_the_file_can_be_switched_on(ragways: Run, home: Path):
    """Each commented default is valid TOML and a valid value."""
    ragways("init")
    lines = (home / "ragways.toml").read_text().splitlines()
    switched = [
        line[2:] if " = " in line and line.startswith("# ") and "(unset)" not in line and "`" not in line else line
        for line in lines
        if not line.startswith(("# [", "# input", "# output", "# k =", "# cache"))
    ]
    (home / "ragways.toml").write_text("\n".join(switched))
    assert tomllib.loads("\n".join(switched))["model"]["concurrency"] == 16
    write(home / "docs", CORPUS)
    assert ragways("index", "docs").code == 0


def test_settings_of_a_paradigm_come_from_the_file_and_the_flag(indexed: Run, home: Path):
    (home / "ragways.toml").write_text("[paradigms.naive]\nk = 1\n")
    assert len(indexed("ask", "harbour light", "-p", "naive", "--json").data["evidence"]) == 1
    assert len(indexed("ask", "harbour light", "-p", "naive", "--set", "k=2", "--json").data["evidence"]) == 2
    one_line(indexed("ask", "harbour", "-p", "naive", "--set", "kk=2"), 2, "has no setting 'kk'", "did you mean k?")
    one_line(indexed("ask", "harbour", "-p", "naive", "--set", "k=many"), 2, "setting k of naive")
    one_line(indexed("ask", "harbour", "-p", "naive", "--set", "k"), 2, "name=value")


# Bad input: one clear line, the right exit code, nothing lost


def test_an_empty_folder(ragways: Run, home: Path):
    (home / "empty").mkdir()
    done = ragways("index", "empty")
    assert done.code == 0
    assert "0 added" in done.out
    assert "no file that could be read" in done.out
    assert ragways("ask", "Anything?").code == 0


def test_text_that_a_terminal_would_obey_is_shown_and_not_obeyed(ragways: Run, home: Path):
    write(
        home / "docs", {"evil.md": "# [/red] \x1b[2J title\n\nThe light \x1b]0;x\x07 was built by [bold]Anna[/bold]."}
    )
    assert ragways("index", "docs").code == 0
    for command in (["status", "--documents"], ["ask", "Who built the light?"], ["ask", "[/red] \x1b[2J light?"]):
        done = ragways(*command)
        assert done.code == 0
        assert "\x1b" not in done.out + done.err
    assert ragways("index", "docs", "--plan", "--index", "[/x]").code == 0


def test_a_question_that_is_no_text(indexed: Run):
    assert indexed("ask", "who \udcff built the light?").code == 0


ASK = ("ask", "Who?")
WRONG_USE: list[tuple[bytes, tuple[str, ...], int, tuple[str, ...]]] = [
    (b"", (*ASK, "-p", "naiv"), 2, ("did you mean naive?",)),
    (b"", (*ASK, "-p", "all,naiv"), 2, ("did you mean naive?",)),
    (b"", ("index", "docs", "--with", "vektors"), 2, ("did you mean vectors?",)),
    (b"", ("ask", "  "), 2, ("empty",)),
    (b"", ("ask", "why " * 16384), 2, ("65,535 characters",)),
    (b"", (*ASK, "-p", "nothing", "--json"), 2, ("nothing",)),
    (b"", (*ASK, "--index", "none"), 3, ("no index", "ragways index PATH")),
    (b"", ("status", "--index", "none"), 3, ("no index",)),
    (b"", ("index", "nowhere"), 2, ("nowhere does not exist",)),
    (b"", ("index", "s3://bucket/docs"), 2, ("s3://bucket/docs is a URL, and files are read from folders: copy",)),
    (b"", ("index", "https://example.org/docs"), 2, (
        "https://example.org/docs is a URL, not a file: read it with: --url https://example.org/docs",)),
    (b"", (*ASK, "--settings", "mine.toml"), 2, ("there is no settings file mine.toml", "ragways init mine.toml")),
    (b"[paradigms.nave]\nk = 1\n", ASK, 2, ("did you mean naive?",)),
    (b"[model\nname = 3", ASK, 2, ("not valid TOML", "ragways init")),
    (b"[modell]\nname = 'x'", ASK, 2, ("no setting modell", "did you mean model?")),
    (b"[model]\nconcurrency = -1", ASK, 2, ("model.concurrency",)),
    (b"[model]\nname = 'x'", ASK, 2, ("model.base_url is not set",)),
    (b'model = "sk-secret"\n', ASK, 2, ("setting model",)),
    (b"\xff\xfe\x00", ASK, 2, ("cannot read",)),
]  # fmt: skip
"""A settings file, a command, its exit code, and what the one line says."""


def test_wrong_use_is_one_line_that_says_what_helps(indexed: Run, home: Path):
    for settings, arguments, code, words in WRONG_USE:
        (home / "ragways.toml").write_bytes(settings)
        done = indexed(*arguments)
        one_line(done, code, *words)
        assert done.out == ""
        assert not any(each in done.err for each in ("sk-secret", "Errno"))


def test_the_index_is_a_file(ragways: Run, home: Path):
    write(home, {"docs/a.txt": "A light.", "file": "x"})
    one_line(ragways("index", "docs", "--index", "file"), 3, "is a file, not a folder")


def test_a_cure_names_the_index_that_the_command_named(ragways: Run, home: Path):
    """Without it, the cure would build another index, in the usual folder."""
    write(home, {"docs/a.txt": "A light."})
    assert ragways("index", "docs", "--index", "my index", "--with", "words").code == 0
    for option in (("--index", "my index"), ("--index=my index",)):
        cure = "ragways index PATH --index 'my index' --with graph,vectors,words"
        one_line(ragways("ask", "Who?", "--paradigm", "kg", *option), 3, "this index has no graph", cure)
    one_line(ragways("ask", "Who?", "--paradigm", "kg", "--index", "none"), 3, "no index in none", "--index none")


def test_an_index_at_a_url_needs_a_client(ragways: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    one_line(ragways("ask", "Who?", "--index", "s3://bucket/docs"), 3, "s3://bucket/docs is in", "ragways[cloud]")


def test_a_store_of_another_version(indexed: Run, home: Path):
    import sqlite3

    db = sqlite3.connect(home / ".ragways" / "index.sqlite")
    db.execute("UPDATE meta SET value = '77' WHERE key = 'version'")
    db.commit()
    db.close()
    one_line(indexed("ask", "Who?"), 3, "another version", "--rebuild")
    assert "it would be built anew" in indexed("index", "docs", "--plan").err
    done = indexed("index", "docs")
    assert (done.code, "another version of ragways: it is built anew" in done.err) == (0, True)
    assert indexed("ask", "Who built the light?").code == 0


def test_another_embedder(indexed: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.models.minilm.VERSION", 1)
    one_line(indexed("ask", "Who?"), 3, "embedder", "--rebuild")
    one_line(indexed("index", "docs"), 3, "embedder", "--rebuild")


def test_a_file_that_cannot_be_read_makes_it_partly(ragways: Run, home: Path):
    write(home / "docs", CORPUS)
    (home / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = ragways("index", "docs")
    assert done.code == 6
    assert "could not be read: docs/broken.pdf" in done.err
    assert "2 added" in done.out


BOUND = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override,-dac_read_search"]
"""What makes file permissions hold for root too."""


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv to give up root's rights")
def test_a_store_without_write_access(indexed: Run, home: Path):
    """Asking works; indexing says what is wrong and harms nothing."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*(BOUND if os.geteuid() == 0 else []), sys.executable, "-m", "ragways.apps.cli", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=home)

    store = home / ".ragways"
    for path in (*store.rglob("*"), store):
        path.chmod(0o555 if path.is_dir() else 0o444)
    write(home / "docs", {"new.txt": "Something new."})
    try:
        done = run("index", "docs")
        assert done.returncode == 3, done
        assert "cannot write" in done.stderr
        assert done.stderr.count("\n") == 1
        asked = run("ask", "Who built the harbour light?")
        assert asked.returncode == 0, asked.stderr
        assert "Anna Brack" in asked.stdout
        assert run("index", "docs", "--index", "/proc/nowhere").returncode == 3
    finally:
        for path in (store, *store.rglob("*")):
            path.chmod(0o755)


def test_a_model_that_is_down(indexed: Run, home: Path):
    (home / "ragways.toml").write_text(
        "[model]\nbase_url = 'http://127.0.0.1:9'\nname = 'x'\nkey = 'sk-secret'\npatience = 0.0\n"
    )
    done = indexed("ask", "Who built the light?")
    one_line(done, 4, "is the server running?")
    assert "Anna Brack" in done.out, "what was found is not lost"
    assert "sk-secret" not in done.err + done.out


def test_no_colour_where_it_is_no_terminal(indexed: Run):
    done = indexed("ask", "Who built the harbour light?")
    assert "\x1b[" not in done.out + done.err


def test_help_names_every_command(ragways: Run):
    text = ragways("--help").out
    commands = "init index status remove ask show paradigms demo diagnose check graph eval"
    assert all(f"\n  {command} " in text for command in commands.split())


def test_the_demo_runs_and_is_quick_the_second_time(ragways: Run, home: Path):
    first = ragways("demo", "--index", "demo")
    assert first.code == 0
    assert "68 added" in first.out
    assert first.out.count("expected:") >= 4
    second = ragways("demo", "--index", "demo")
    assert "68 unchanged" in second.out
    assert "0 texts embedded" in " ".join(second.out.split())
    # What the README shows is what is printed there.
    shown = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [(question, printed)] = re.findall(r'ask "([^"]+)" --index ~/\S+ prints:\n\n```text\n(.+?)\n```', shown, re.DOTALL)
    said = ragways("ask", question, "--index", "demo").out
    answer, took = (text.rpartition("\n\n") for text in (said.rstrip(), printed))
    assert answer[0] == took[0]
    assert answer[2].partition(" · ")[0] == took[2].partition(" · ")[0] == "auto: fused"


def test_a_paying_embedder_and_its_budget(ragways: Run, home: Path):
    from ragways.testing.server import LoopbackServer

    write(home / "docs", {f"{n}.txt": f"Tower {n} has a light." for n in range(300)})
    with LoopbackServer() as server:
        (home / "ragways.toml").write_text(
            f"[embedder]\nkind = 'endpoint'\nbase_url = '{server.base_url}'\nname = 'paid'\n"
            "[prices.paid]\ninput = 1000\n"
        )
        planned = ragways("index", "docs", "--plan", "--json").data
        assert planned["model_calls"] > 1
        assert planned["usd"] == pytest.approx(planned["model_tokens"] / 1000)
        half = planned["usd"] / 2
        stopped = ragways("index", "docs", "--budget", str(half), "--json")
        assert stopped.code == 5
        assert 0 < stopped.data["usage"]["usd"] <= half
        assert re.search(r"the next call may cost up to \$\d+\.\d+ and \d+ tokens", stopped.data["stopped"])
        done = ragways("index", "docs", "--json")
        assert done.code == 0
        assert ragways("status", "--json").data["counts"]["documents"] == 300
        assert ragways("ask", "Which tower has a light?", "-p", "naive").code == 0


@pytest.fixture
def clones(home: Path, cache_folder: Path, demo_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Two copies of the package with a small demo, and one cache for both; the function says which one runs.

    One question is asked: that the demo asks all of its own has a test above.
    """
    monkeypatch.setattr("ragways.apps.demo.QUESTIONS", ("q004",))
    for name in ("one", "two"):
        shutil.copytree(demo_corpus, home / name / "demo", ignore=shutil.ignore_patterns("wiki", "news"))
    (home / "cache").mkdir()
    for path in cache_folder.iterdir():
        if path.name != "demo":
            (home / "cache" / path.name).symlink_to(path)
    monkeypatch.setenv("RAGWAYS_CACHE", str(home / "cache"))

    def switch(name: str) -> None:
        monkeypatch.setattr("ragways.apps.demo.resources.files", lambda _: home / name)

    return switch


def test_the_demo_of_a_second_clone_uses_the_first_ones_index(ragways: Run, clones: Callable[[str], None], home: Path):
    clones("one")
    first = ragways("demo")
    assert first.code == 0, first
    added = re.search(r"(\d+) added", first.out)
    assert added
    clones("two")
    for path in (home / "two").rglob("*"):
        os.utime(path, (1, 1))
    second = ragways("demo")
    assert second.code == 0, second
    assert f"{added[1]} unchanged" in second.out
    shutil.rmtree(home / "one")
    sorted((home / "two" / "demo" / "corpus").rglob("*.md"))[0].unlink()  # as an upgrade would
    assert "1 removed" in ragways("demo").out


OLDER = {
    "from another folder": "UPDATE sources SET root = '{one}/demo/corpus'",
    "from a folder that is gone": "UPDATE sources SET root = '{one}/gone/corpus'",
    "of another version": "UPDATE meta SET value = '0' WHERE key = 'version'",
    "of another embedder": "UPDATE meta SET value = 'other' WHERE key = 'embedder'",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the index of the first copy's demo lies for all kinds of older ones."""
    return tmp_path_factory.mktemp("kept") / "demo"


@pytest.mark.parametrize("kind", OLDER)
def test_an_older_demo_index_in_the_cache_is_made_anew(
    ragways: Run, clones: Callable[[str], None], home: Path, kept: Path, kind: str
):
    clones("one")
    if not kept.exists():
        assert ragways("demo").code == 0
        (home / "cache" / "demo").rename(kept)
    shutil.copytree(kept, home / "cache" / "demo")
    db = sqlite3.connect(home / "cache" / "demo" / "index.sqlite")
    db.execute(OLDER[kind].format(one=home / "one"))
    db.commit()
    db.close()
    (home / "cache" / "demo" / "ragways-index.txt").unlink(missing_ok=True)
    clones("two")
    again = ragways("demo")
    assert again.code == 0, again
    assert " added" in again.out
    assert " 0 added" not in f" {again.out}"


def test_an_index_that_the_user_named_is_never_made_anew_by_the_demo(
    ragways: Run, clones: Callable[[str], None], home: Path
):
    clones("one")
    write(home / "docs", CORPUS)
    assert ragways("index", "docs", "--index", "mine").code == 0
    assert ragways("demo", "--index", "mine").code == 0
    keys = [
        document["key"] for document in ragways("status", "--index", "mine", "--documents", "--json").data["documents"]
    ]
    assert "docs/storm.txt" in keys


def test_an_empty_file_is_no_failure(ragways: Run, home: Path):
    write(home / "docs", {**CORPUS, "empty.txt": "", "empty.pdf": ""})
    done = ragways("index", "docs")
    assert done.code == 0
    assert "left out: docs/empty.pdf: holds no text" in done.err
    assert ragways("index", "docs").code == 0


def test_a_record_with_an_empty_text_is_no_failure(ragways: Run, home: Path):
    rows: list[dict[str, object]] = [{"id": "full", "text": "The light was built in 1801."}]
    blanks: list[object] = ["", "  ", None, []]
    rows += [{"id": f"blank{number}", "text": blank} for number, blank in enumerate(blanks)]
    files = {"lines.jsonl": "\n".join(map(json.dumps, rows)), "list.json": json.dumps(rows)}
    files |= {"titles.json": '{"Mill": "It was old.", "Barn": ""}', "none.json": json.dumps(rows[1:])}
    write(home / "docs", files)
    done = ragways("index", "docs")
    assert done.code == 0, done.err
    assert "3 added" in done.out
    assert "could not be read" not in done.err
    for key in ("lines.jsonl#blank0", "lines.jsonl#blank2", "list.json#blank3", "titles.json#Barn", "none.json"):
        assert f"left out: docs/{key}: holds no text" in done.err
    (home / "docs" / "other.json").write_text('[{"id": 1, "text": "A mill."}, {"id": 2, "words": "of another field"}]')
    again = ragways("index", "docs")
    assert again.code == 6
    assert "could not be read: docs/other.json#2: record without a text field" in again.err


def test_a_wrong_path_leaves_nothing_behind(ragways: Run, home: Path):
    write(home / "docs", CORPUS)
    one_line(ragways("index", "dosc"), 2, "dosc does not exist")
    one_line(ragways("ask", "Who?", "--index", "docs"), 3, "no index")
    one_line(ragways("index", "docs", "--plan", "--index", "/"), 3, "not empty", "--index")
    one_line(ragways("index", "docs", "--index", "docs", "--rebuild"), 3, "not empty", "--index")
    assert [path.name for path in home.iterdir()] == ["docs"]
    assert {path.name for path in (home / "docs").iterdir()} == set(CORPUS)


def test_a_command_line_is_read_without_the_options_of_other_commands(ragways: Run):
    whole = get_command(full_app())
    assert isinstance(whole, TyperGroup)
    for name, command in whole.commands.items():
        alone = parser_of(name)
        assert isinstance(alone, TyperGroup)
        assert list(alone.commands) == [name]
        assert [one.opts for one in alone.params] == [one.opts for one in whole.params]
        assert [one.opts for one in alone.commands[name].params] == [one.opts for one in command.params]
    parser_of.cache_clear()
    assert ragways("plugins", "--log-format=json").code == 0
    assert ragways("plugin").code == 2
    assert parser_of.cache_info().currsize == 2, "that of the command, and for a word that names none that of all"
