"""The example plug-in, installed as users install it, shows up everywhere; broken and clashing ones are named."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes import write

ROOT = Path(__file__).parent.parent
Run = Callable[..., "subprocess.CompletedProcess[str]"]
DOCS = {
    "light.txt": "The harbour light was built by Anna Brack in 1801. It stands on Pell Rock.",
    "rock.ini": "[rock]\nname = Pell Rock\nseals = many\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the plug-in in it."""
    folder = tmp_path_factory.mktemp("site")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    install = [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder)]
    done = subprocess.run([*install, str(ROOT / "examples" / "plugin")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """A command in a folder of its own, with the plug-in installed."""

    def command(*arguments: str, more: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        paths = [str(path) for path in (site, more) if path is not None]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "RAGWAYS_CACHE": str(tmp_path / "cache")}
        environment |= {"RAGWAYS_EMBEDDER__KIND": "letters", "XDG_CONFIG_HOME": str(tmp_path / "none"), **variables}
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return command


def ragways(run: Run, *arguments: str, more: Path | None = None, code: int = 0) -> str:
    done = run("-m", "ragways", *arguments, more=more)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


IN_TURN = """
import contextlib, io, json, sys
from ragways.apps.cli import main

said = []
for arguments in json.loads(sys.argv[1]):
    sys.argv[1:] = arguments
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise
    said.append(out.getvalue())
print(json.dumps(said))
"""


def in_turn(run: Run, *commands: str) -> list[str]:
    """What each command prints, one after the other in one process: most of what a command takes is the start."""
    done = run("-c", IN_TURN, json.dumps([shlex.split(command) for command in commands]))
    assert done.returncode == 0, done.stderr
    said: list[str] = json.loads(done.stdout)
    return said


def test_it_works_from_the_command_line(run: Run, tmp_path: Path):
    write(tmp_path / "docs", DOCS)
    (tmp_path / "ragways.toml").write_text(
        "[embedder]\nkind = 'letters'\noptions = { letters = 'abcdefgh' }\n[layers.lengths]\nminimum = 10\n"
    )
    plan = json.loads(ragways(run, "index", "docs", "--with", "vectors,words,lengths", "--plan", "--json"))
    assert [layer["name"] for layer in plan["layers"]] == ["vectors", "words", "lengths"]
    (tmp_path / "pairs.tsv").write_text("Who built the harbour light?\tAnna Brack\n")
    indexed, status, check, answer, listed, scored, plugins = in_turn(
        run,
        "index docs --with vectors,words,lengths --json",
        "status --json",
        "check --json",
        "ask 'Who built the light?' -p longest --set keep=1 --json",
        "paradigms",
        "eval run --questions pairs.tsv --format pairs --paradigms words,longest --out run --json",
        "plugins --json",
    )
    for name in ("longest", "lengths", "ini", "brevity", "pairs", "letters", "parrot", "ragways-example"):
        assert f'"{name}"' in plugins, f"{name} is not listed"
    assert json.loads(indexed)["added"] == 2
    layers = {layer["name"]: layer for layer in json.loads(status)["by_layer"]}
    assert (layers["lengths"]["built"], layers["lengths"]["rows"]) == (True, 2)
    assert json.loads(check)["fit"]
    assert '"longest"' in answer
    assert "Anna Brack" in answer
    assert "longest" in listed
    assert '"brevity"' in scored
    polly = {"RAGWAYS_MODEL__KIND": "parrot", "RAGWAYS_MODEL__NAME": "polly"}
    said = run("-m", "ragways", "ask", "Who built the light?", "-p", "longest", **polly)
    assert said.returncode == 0, said.stderr
    assert "Pieces of eight." in said.stdout


def test_the_commands_of_its_readme_work_on_a_new_index(run: Run, tmp_path: Path):
    write(tmp_path / "docs", DOCS)
    block = (ROOT / "examples" / "plugin" / "README.md").read_text().split("```")[1]
    shown = [shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("ragways ")]
    plugins, _, answer = in_turn(run, *(shlex.join(words[1:]) for words in shown))
    assert "longest" in plugins
    assert "longest" in answer


def test_its_own_tests_pass(run: Run):
    tests = ROOT / "examples" / "plugin" / "tests"
    done = run(
        "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:schemathesis", "--rootdir", str(tests), str(tests)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
