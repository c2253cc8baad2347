"""The size of the source: files, lines by what they are, the longest files and functions, loose types.

python benchmarks/house.py [--source src] [--json]
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter
from pathlib import Path


def lines(text: str) -> Counter[str]:
    """Lines of a file by kind: code, imports, docstrings, comments, blank."""
    docs: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docs |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    kinds: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if number in docs:
            kinds["docstrings"] += 1
        elif not line.strip():
            kinds["blank"] += 1
        elif line.strip().startswith("#"):
            kinds["comments"] += 1
        else:
            kinds["imports" if number in imports else "code"] += 1
    return kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parent.parent / "src")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(given.source.rglob("*.py"))}
    kinds = sum((lines(text) for text in texts.values()), Counter[str]())
    found = {
        "files": len(texts),
        "files of 40 lines or fewer": sum(
            len(text.splitlines()) <= 40 and path.name not in ("__init__.py", "__main__.py")
            for path, text in texts.items()
        ),
        "lines": sum(kinds.values()),
        **kinds,
        "dict[str, Any]": sum(text.count("dict[str, Any]") for text in texts.values()),
    }
    print(json.dumps(found, indent=2) if given.json else "\n".join(f"{name}: {n:,}" for name, n in found.items()))


if __name__ == "__main__":
    main()
