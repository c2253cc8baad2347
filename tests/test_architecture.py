"""Imports point one way: each folder imports only those above it in this list. Heavy parts are loaded when used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ORDER = [
    "core", "models", "prompts", "reading", "tasks", "corpus", "store", "layers", "index", "cloud", "cluster",
    "retrieval", "evaluation",
    "pictures", "settings_sources", "settings", "assemble", "reproduce", "asynchronous", "library", "experiment",
    "integrations", "service", "apps", "__main__", "testing",
]  # fmt: skip
REPOSITORY = Path(__file__).parent.parent
ROOT = REPOSITORY / "src" / "ragways"
FILES = sorted(ROOT.rglob("*.py"))


def folder(path: Path) -> str:
    part = path.relative_to(ROOT).parts[0]
    return part.removesuffix(".py")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return {name.split(".")[1] for name in names if name.startswith("ragways.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path):
    if path.parent == ROOT and path.name == "__init__.py":
        return
    here = ORDER.index(folder(path))
    for name in imported(path) & set(ORDER):
        assert ORDER.index(name) <= here, f"{path.relative_to(ROOT)} imports ragways.{name}, which stands below it"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_settings_reads_the_environment(path: Path):
    # The last sets what libraries read, and picks what a child process needs to start.
    if path not in (ROOT / "settings.py", ROOT / "core" / "runtime.py"):
        assert not re.search(r"os\.environ|getenv", path.read_text()), "read the environment in settings.py"


def test_no_import_is_excused_by_what_one_platforms_wheel_ships():
    """Whether a package comes with types differs between wheels; a module without them is listed in pyproject.toml."""
    lines = (
        f"{path.relative_to(REPOSITORY)}:{number}"
        for folder in ("src", "tests", "benchmarks", "docs", "training")
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.match(r"\s*(import|from)\s.*#\s*type:\s*ignore", line)
    )
    assert not list(lines)


HEAVY = {"numpy", "onnxruntime", "onnx", "tokenizers", "tantivy", "httpx2", "rich", "pydantic", "genai_prices", "scipy"}
PARSERS = {"selectolax", "pypdfium2", "markdown_it", "defusedxml", "tree_sitter", "yaml"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("ragways, ragways.apps.cli, ragways.models.client, ragways.models.endpoint", HEAVY),
        ("ragways.models.embed, ragways.models.minilm", {"onnx", "onnxruntime", "tokenizers"}),
        ("ragways.corpus.load, ragways.corpus.source", PARSERS),
    ],
)
def test_heavy_parts_are_not_loaded_before_they_are_used(modules: str, heavy: set[str]):
    program = f"import sys, {modules}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_help_is_shown_without_settings_models_or_an_index():
    program = """
import sys
from ragways.apps.cli import main
sys.argv = ["ragways", "--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "reproduce" in done.stdout
    loaded = set(done.stderr.split())
    assert "ragways.apps.settings_file" in loaded
    assert not {*HEAVY, *PARSERS, "pydantic", "rich", "ragways.settings", "ragways.core.types"} & loaded


def test_who_indexes_imports_the_layers_that_the_index_has(tmp_path: Path):
    (tmp_path / "a.txt").write_text("A light.")
    program = f"""
import asyncio, sys
from pathlib import Path
from ragways.index.build import build
from ragways.index.recipe import Recipe
home = Path({str(tmp_path)!r})
asyncio.run(build(home / "index", [home / "a.txt"], Recipe(embedder=None, layers=frozenset(["words"]))))
print(*[name for name in sys.modules if name.startswith("ragways.layers.")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    parts = {name.split(".")[2] for name in done.stdout.split()}
    assert parts & {"words", "vectors", "graph", "communities", "windows"} == {"words"}


def test_the_base_install_has_what_runs_models_and_nothing_that_makes_them():
    locked = set(re.findall(r"^([\w.-]+)==", (REPOSITORY / "requirements.lock").read_text(), re.MULTILINE))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]} <= locked
    assert "onnxruntime" in locked
    assert not locked & {"torch", "onnx", "pandas", "duckdb"}


def test_a_paradigm_is_imported_when_it_is_looked_up():
    """A question in one way does not pay for the imports of the others."""
    program = "import sys; from ragways.retrieval.ask import PARADIGMS; PARADIGMS.find('words'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    others = ("agent", "communities", "fused", "knowledge_graph", "rounds", "traversals")
    assert not {f"ragways.retrieval.{name}" for name in others} & set(done.stdout.split())
