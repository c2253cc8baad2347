"""The shape of the source: one name means one thing, no file imports itself by way of others, no file only forwards."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src"
FILES = sorted((ROOT / "ragways").rglob("*.py"))
SHORTEST = 41
LONGEST = 800
LONGEST_FUNCTION = 80


@cache
def trees() -> dict[Path, ast.Module]:
    """Parsed when a test asks for them, not whenever tests are collected."""
    return {path: ast.parse(path.read_text()) for path in FILES}


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports() -> dict[str, set[str]]:
    """Every import of a file, wherever it stands in it, types alone included."""
    names = {module(path) for path in FILES}
    found: dict[str, set[str]] = {}
    for path, tree in trees().items():
        here: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                here |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                here |= (inner & names) or {node.module}
                if inner - names:
                    here.add(node.module)
        found[module(path)] = (here & names) - {module(path)}
    # The package offers its public names lazily: nothing is imported until it is asked for.
    found["ragways"] = set()
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected parts of more than one file (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part: list[str] = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                result.append(sorted(part))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return result


def test_the_search_for_circles_finds_them():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_no_import_circle_of_any_size():
    assert circles(imports()) == []


def test_no_two_public_classes_have_one_name():
    places: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(module(path))
    assert {name: sorted(where) for name, where in places.items() if len(where) > 1} == {}


def test_no_file_is_very_short_or_very_long():
    lengths = {path: len(path.read_text().splitlines()) for path in FILES}
    usual = {path: lines for path, lines in lengths.items() if path.name not in ("__init__.py", "__main__.py")}
    assert {module(path): lines for path, lines in usual.items() if not SHORTEST <= lines <= LONGEST} == {}


def test_no_function_is_longer_than_two_screens():
    long = {
        f"{module(path)}.{node.name}": length
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert long == {}
