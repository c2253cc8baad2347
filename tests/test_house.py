"""The shape of the source, as CONTRIBUTING.md states it: sizes, floors, names and circles."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src"
FILES = sorted((ROOT / "ragways").rglob("*.py"))
SHORTEST = 41
LONGEST = 800
LONGEST_FUNCTION = 80
MOST_FILES = 20
MOST_FLOORS = 7
MOST_PARAMETERS = 10


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


def test_no_folder_has_more_files_than_a_list_that_is_read_at_once():
    counts = Counter(path.parent for path in FILES)
    assert {str(place.relative_to(ROOT)): count for place, count in counts.items() if count > MOST_FILES} == {}


def test_no_folder_has_more_floors_than_seven():
    """A file stands a floor above the highest file of its own folder that it imports."""
    graph = imports()
    folders: dict[Path, set[str]] = defaultdict(set)
    for path in FILES:
        folders[path.parent].add(module(path))
    heights = {str(place.relative_to(ROOT)): floors(graph, files) for place, files in folders.items()}
    assert {place: height for place, height in heights.items() if height > MOST_FLOORS} == {}


def floors(graph: dict[str, set[str]], files: set[str]) -> int:
    height: dict[str, int] = {}

    def of(file: str) -> int:
        if file not in height:
            height[file] = 1 + max((of(other) for other in graph[file] & files), default=0)
        return height[file]

    return max(map(of, files), default=0)


def test_floors_are_counted_by_the_longest_way_up():
    assert floors({"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"x"}}, {"a", "b", "c", "d"}) == 3


def test_no_public_function_has_more_parameters_than_ten():
    """Typer commands and builders of paradigms apart: their parameters are the options that a user sets."""
    long = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_free(path, node):
                continue
            arguments = node.args
            names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            if len(set(names) - {"self", "cls"}) > MOST_PARAMETERS:
                long[f"{module(path)}.{node.name}"] = len(names)
    assert long == {}


def is_free(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    private = node.name.startswith("_") and not node.name.startswith("__")
    return private or "apps" in path.parts or (node.name.startswith("build_") and "retrieval" in path.parts)
