"""The one store of lines: what can be read is read, whoever wrote it, and nothing else stops the reading."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragways.core.log import Log
from ragways.core.plain import from_json


@dataclass(frozen=True)
class Cost:
    usd: float = 0.0


@dataclass(frozen=True)
class Line:
    name: str
    points: tuple[tuple[int, int], tuple[int, int]] | None = None
    made: Cost = field(default_factory=Cost)


def log_of(path: Path, text: str) -> Log[Line]:
    path.write_text(text)
    return Log(path, Line)


def test_what_is_appended_is_read_again(tmp_path: Path):
    log = Log(tmp_path / "deep" / "log.jsonl", Line)
    assert not log.exists()
    assert list(log) == []
    lines = [Line("a"), Line("b", ((1, 2), (3, 4)), Cost(0.5))]
    for line in lines:
        log.append(line)
    assert log.exists()
    assert list(log) == lines


def test_lines_of_other_versions_cut_or_broken_ones_are_passed_over_and_counted(tmp_path: Path):
    text = (
        '{"name": "older"}\n'
        '{"name": "newer", "more": [1]}\n'
        '{"name": "short", "points": [[1, 2], [3]]}\n'
        "not JSON\n"
        "\n"
        "[1, 2]\n"
        '{"name": "last", "made": {"usd": NaN}}\n'
        '{"name": "cut sh'
    )
    log = log_of(tmp_path / "log.jsonl", text)
    assert [line.name for line in log] == ["older", "newer", "last"]
    assert log.unreadable == 3
    log.append(Line("new"))
    assert [line.name for line in log] == ["older", "newer", "last", "new"]


@given(st.text(st.characters(), max_size=8))
def test_half_a_letter_written_as_python_does_is_read(text: str):
    assert from_json(Line, '{"name": "\\ud83d"}') == Line("\ud83d")
    assert from_json(Line, json.dumps({"name": text + "\ud83d"})) == Line(text + "\ud83d")
