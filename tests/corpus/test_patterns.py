"""Which files of a folder are read: include, exclude, `.gitignore` and the usual junk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragways.corpus.load import walk
from ragways.corpus.patterns import Filter, Selection, rules
from ragways.corpus.source import SourceFile

FILES = (
    "a.md", "b.txt", "docs/a.md", "docs/draft/x.md", "docs/draft/keep.md", "docs/api/v1/y.md", "build/out.txt",
    "node_modules/p/readme.md", "lib/__pycache__/n.txt", "p-1.0.dist-info/top.txt", "env/pyvenv.cfg", "env/lib/z.txt",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "corpus"


def keys(folder: Path, **selection: object) -> list[str]:
    walked = walk([folder], selection=Selection(**selection))  # type: ignore[arg-type]
    return sorted(entry.key for entry in walked if isinstance(entry, SourceFile))


READ = ["a.md", "b.txt", "build/out.txt", "docs/a.md", "docs/api/v1/y.md", "docs/draft/keep.md", "docs/draft/x.md"]


def test_the_usual_junk_is_left_out(folder: Path):
    assert keys(folder) == READ
    assert keys(folder / "node_modules") == ["p/readme.md"], "a folder that is named is read"


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        ({"include": ("*.txt",)}, ["b.txt", "build/out.txt"]),
        ({"include": ("docs/",)}, READ[3:]),
        ({"include": ("docs/**/*.md",)}, READ[3:]),
        ({"include": ("/*.md",)}, ["a.md"]),
        ({"exclude": ("draft/", "*.txt")}, ["a.md", "docs/a.md", "docs/api/v1/y.md"]),
        ({"exclude": ("docs/*", "!docs/api")}, ["a.md", "b.txt", "build/out.txt", "docs/api/v1/y.md"]),
        ({"include": ("*.md",), "exclude": ("docs",)}, ["a.md"]),
        ({"exclude": ("?.md",)}, ["b.txt", "build/out.txt", "docs/draft/keep.md"]),
    ],
)
def test_include_and_exclude(folder: Path, selection: dict[str, object], left: list[str]):
    assert keys(folder, **selection) == left


def test_gitignore_files_are_followed_where_they_lie(folder: Path):
    (folder / ".gitignore").write_text("# made\n/build/\n*.txt\n!b.txt\n")
    (folder / "docs" / ".gitignore").write_text("draft/*\n!keep.md\n!c.txt\n")
    (folder / "docs" / "c.txt").write_text("The nearest decides.")
    read = ["a.md", "b.txt", "docs/a.md", "docs/api/v1/y.md", "docs/c.txt", "docs/draft/keep.md"]
    assert keys(folder) == read
    assert keys(folder, gitignore=False) == sorted([*READ, "docs/c.txt"])
    walked = walk([folder])
    list(walked)
    assert walked.left_out == {"ignored": 2, "junk": 4}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is missing")
    home = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet"], cwd=home, check=True)
    return home


NAMES = st.sampled_from(["a", "b", "ab", "a.md", "x", "[a]", "a b"])
PARTS = st.sampled_from(["a", "b", "*", "**", "a*", "?", "[ab]", "*.md", "[!a]", "x", "\\a", "a*b", "#a"])


@settings(deadline=None, max_examples=150)
@given(
    patterns=st.lists(
        st.builds(
            lambda parts, lead, tail, back: ("!" if back else "") + lead + "/".join(parts) + tail,
            st.lists(PARTS, min_size=1, max_size=3),
            st.sampled_from(["", "/"]), st.sampled_from(["", "/"]), st.booleans(),
        ),
        min_size=1, max_size=4,
    ),
    path=st.lists(NAMES, min_size=1, max_size=4),
)  # fmt: skip
def test_rules_match_as_git_does(repository: Path, patterns: list[str], path: list[str]):
    (repository / ".gitignore").write_text("\n".join(patterns) + "\n", encoding="utf-8")
    whole = Filter(Selection(exclude=tuple(patterns)))
    ours = False
    for end in range(1, len(path) + 1):  # as a walk does it: what lies in a folder that is left out stays out
        ours = ours or whole.left_out(path[:end], folder=end < len(path)) == "excluded"
    command = ["git", "check-ignore", "--no-index", "--quiet", "--", "/".join(path)]
    assert ours == (subprocess.run(command, cwd=repository, check=False).returncode == 0)


def test_no_pattern_takes_longer_than_its_length_explains():
    rule, *_ = rules(["**/a" * 200 + "/b"])
    assert not rule.fits(["a"] * 400, folder=False)
    star, *_ = rules(["*a" * 300 + "b"])
    assert not star.fits(["a" * 5_000], folder=False)
