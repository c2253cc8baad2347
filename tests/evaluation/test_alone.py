"""Two commands do not write the records of one run at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.evaluation.importing import add
from ragways.evaluation.record import Records
from tests.evaluation.test_run import record

HOLD = (
    "import sys, time, pathlib; from ragways.evaluation.record import locked\nwith locked(pathlib.Path(sys.argv[1])):\n"
)
HOLD += "    print('held', flush=True)\n    time.sleep(60)"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folder")
def test_a_folder_is_written_by_one_process_and_free_again_when_it_is_killed(tmp_path: Path):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match="another process is writing") as caught:
            add(folder, [record()], "naive")
        assert caught.value.cure
        other.kill()
        other.wait()
        assert add(folder, [record()], "naive") == 1
    assert [found.name for found in folder.iterdir()] == ["records.jsonl"]


def test_what_was_recorded_twice_counts_once(tmp_path: Path):
    records = Records(tmp_path)
    for changes in ({"answer": "first"}, {"answer": "second"}, {"error": "down"}):
        records.append(record(**changes))
    assert [found.answer for found in records] == ["second"], "the last that did not fail"
