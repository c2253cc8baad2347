"""An index at a URL: tested with a real client and a server of S3 on this machine, in an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ragways
from ragways.cloud.copies import no_url, readable
from ragways.cloud.objects import url_of
from ragways.cloud.published import Block, Manifest
from ragways.core.errors import MissingPart, UsageError
from ragways.settings import Settings
from tests.fakes import write

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def test_an_index_in_a_bucket(tmp_path: Path):
    """The tests in `s3_cases.py`."""
    if not (Path(sys.prefix) / "cloud" / "ready").exists():
        pytest.skip("obstore is not installed: run `make clients`")
    python = str(Path(sys.prefix) / "cloud" / "bin" / "python")
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore",
         "--show-capture", "no", "--basetemp", str(tmp_path / "cases"), str(HERE / "s3_cases.py")],
        capture_output=True, text=True, check=False, timeout=400, cwd=ROOT,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert "[100%]" in done.stdout


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("s3://bucket/some/index", "s3://bucket/some/index"),
        ("s3://bucket/", "s3://bucket"),
        ("gcs://bucket/index", "gs://bucket/index"),
        ("az://container/index", "az://container/index"),
        ("file:///tmp/index", "file:///tmp/index"),
        (".ragways", ""),
        ("/var/s3/index", ""),
        ("s3", ""),
    ],
)
def test_urls_and_folders_are_distinguished(given: str, url: str):
    assert url_of(Path(given)) == url


@pytest.mark.parametrize("given", ["s3://", "s3://key:secret@bucket/index", "s3://bucket/index?versionId=1"])
def test_what_is_more_than_a_bucket_and_a_path_is_refused(given: str):
    with pytest.raises(UsageError, match="credentials come from the environment") as refused:
        url_of(Path(given))
    assert "secret" not in str(refused.value)


def test_without_the_client_the_error_has_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    corpus = write(tmp_path / "corpus", {"a.txt": "A light."})
    settings = Settings.model_validate({"index": "s3://bucket/index", "cache": tmp_path / "cache"})
    with pytest.raises(MissingPart, match=r"pip install 'ragways\[cloud\]', or name a folder with --index"):
        ragways.build(corpus, settings=settings)
    with pytest.raises(MissingPart):
        ragways.open(settings=settings)
    assert not (tmp_path / "cache").exists()


def test_a_folder_stays_a_folder(tmp_path: Path):
    assert readable(tmp_path, tmp_path) == no_url(tmp_path, "this") == tmp_path
    with pytest.raises(UsageError, match="needs the folder of an index"):
        no_url(Path("s3://bucket/index"), "this")


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "../../elsewhere"},
        {"id": "writing"},
        {"id": "0" * 16 + "/.."},
        {"files": {"../index.sqlite": []}},
        {"files": {"index.sqlite": [["a/0", "0" * 64, 1 << 40]]}},
        {"files": {"index.sqlite": [["a/0", "0" * 64, -1]]}},
    ],
    ids=str,
)
def test_a_manifest_names_no_place_outside_its_copy_and_no_size_beyond_a_block(wrong: dict[str, object]):
    right = Manifest("0123456789abcdef", {"index.sqlite": (Block("a/0", "0" * 64, 5),)})
    assert Manifest.of(right.data()) == right
    with pytest.raises(ValueError, match=r"not of this format|no size"):
        Manifest.of(json.dumps(json.loads(right.data()) | wrong).encode())
