"""Run by `test_cloud.py` in the environment with a client and a server of S3 (`make clients`): an index in a bucket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import boto3
import pytest
from moto.server import ThreadedMotoServer

import ragways
from ragways.cloud.copies import written
from ragways.cloud.objects import ObjectStore
from ragways.cloud.published import MANIFEST
from ragways.core.errors import NoIndex, StoreBusy, StoreFailed
from ragways.index.recipe import Summary
from ragways.settings import Settings
from ragways.testing.embedder import HashingEmbedder
from tests.fakes import write

SECRET = "no-one-may-see-this"
URL = "s3://library/some/index"
TEXTS = {
    "harbour.txt": "The harbour has a light. Anna Holm built the light in 1801.",
    "storm.txt": "A storm took the tower of Sandy Point in 1883.",
    "ship.txt": "The ship was lost in the storm. Its keeper survived.",
    "market.md": "# Market\n\nFish is sold at the harbour.",
}
PARADIGMS = ("words", "naive", "hybrid-words")


class Server:
    """An S3 of this process, which can be stopped and started again with all that it holds."""

    def __init__(self) -> None:
        self.port = 0
        self.start()

    def start(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self._server.start()
        self.port = self._server.get_host_and_port()[1]

    def stop(self) -> None:
        self._server.stop()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    running = Server()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{running.port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_METADATA_ENDPOINT": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="library")
    yield running
    for each in client.list_objects_v2(Bucket="library").get("Contents", []):
        client.delete_object(Bucket="library", Key=each["Key"])
    client.delete_bucket(Bucket="library")
    running.stop()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", TEXTS)


def on(machine: Path, index: str | Path = URL) -> Settings:
    """The settings of one machine: what it caches is its own."""
    return Settings.model_validate({"index": index, "cache": machine / "cache"})


def build(corpus: Path, settings: Settings) -> Summary:
    return ragways.build(corpus, embedder=HashingEmbedder(), settings=settings)


def found(settings: Settings) -> dict[str, list[tuple[str, float]]]:
    with ragways.open(settings=settings, embedder=HashingEmbedder()) as opened:
        hits = {way: opened.retrieve("Who built the light in the storm?", way) for way in PARADIGMS}
    return {way: [(hit.piece.id, hit.score) for hit in some] for way, some in hits.items()}


def held() -> dict[str, bytes]:
    """All objects in the bucket."""
    client = boto3.client("s3")
    listed = client.list_objects_v2(Bucket="library").get("Contents", [])
    return {each["Key"]: client.get_object(Bucket="library", Key=each["Key"])["Body"].read() for each in listed}


def named() -> set[str]:
    manifest = json.loads(held()[f"some/index/{MANIFEST}"])
    blocks = {block[0] for blocks in manifest["files"].values() for block in blocks}
    return {f"some/index/{name}" for name in (*blocks, MANIFEST)}


def test_an_index_at_a_url_is_built_queried_changed_and_erased(
    tmp_path: Path, corpus: Path, server: Server, monkeypatch: pytest.MonkeyPatch
):
    one, other = on(tmp_path / "one"), on(tmp_path / "other")
    with pytest.raises(NoIndex, match=r"there is no index at s3://library/some/index: build one with"):
        found(one)
    assert build(corpus, one).added == 4
    assert build(corpus, on(tmp_path, tmp_path / "here")).added == 4
    expected = found(on(tmp_path, tmp_path / "here"))
    assert found(one) == found(other) == expected
    first = held()
    assert set(first) == named()

    # What did not change is moved neither there nor back.
    assert build(corpus, one).unchanged == 4
    write(corpus, {"ship.txt": "Anna Holm found the ship."})
    (corpus / "storm.txt").unlink()
    summary = build(corpus, other)
    assert (summary.changed, summary.removed, summary.unchanged) == (1, 1, 2)
    after = held()
    assert set(after) == named()
    assert set(first) & set(after) > {f"some/index/{MANIFEST}"}
    build(corpus, on(tmp_path, tmp_path / "here"))
    got: list[str] = []
    get = ObjectStore.get

    def noted(self: ObjectStore, name: str) -> tuple[bytes, str] | None:
        got.append(name)
        return get(self, name)

    monkeypatch.setattr(ObjectStore, "get", noted)
    assert found(one) == found(on(tmp_path, tmp_path / "here")) != expected
    assert not {f"some/index/{name}" for name in got} & set(first) - {f"some/index/{MANIFEST}"}

    # No byte stays of what was removed, neither there nor here.
    everything = b"".join([*after.values(), *(file.read_bytes() for file in files_below(tmp_path / "one" / "cache"))])
    assert b"Fish is sold" in everything
    assert b"tower of Sandy Point" not in b"".join(after.values())
    assert SECRET.encode() not in everything
    reading = [file for file in files_below(tmp_path / "one" / "cache") if "writing" not in file.parts]
    assert b"tower of Sandy Point" not in b"".join(file.read_bytes() for file in reading)


def files_below(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_a_server_that_stops_in_mid_publishing_leaves_the_state_before(
    tmp_path: Path, corpus: Path, server: Server, monkeypatch: pytest.MonkeyPatch
):
    one, other = on(tmp_path / "one"), on(tmp_path / "other")
    build(corpus, one)
    expected = found(other)
    write(corpus, {"new.txt": "A new light stands in Port Elm."})
    puts, done = list[str](), list[str]()
    put = ObjectStore.put

    def stopping(self: ObjectStore, name: str, data: bytes) -> None:
        puts.append(name)
        if len(puts) == 3:
            while not done:  # several are put side by side
                time.sleep(0.01)
            server.stop()
        put(self, name, data)
        done.append(name)

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "put", stopping)
        with pytest.raises(
            StoreFailed, match=r"s3://library/some/index failed \(no answer\): see that it is reachable"
        ):
            build(corpus, one)
    server.start()
    assert found(other) == expected
    assert set(held()) > named()  # what was sent in vain
    # The run is not done again, only its publishing; and the litter goes.
    assert build(corpus, one).embedded == 0
    assert set(held()) == named()
    assert found(other) == found(one) != expected


def test_the_second_of_two_writers_must_run_again(tmp_path: Path, corpus: Path, server: Server):
    one, other = on(tmp_path / "one"), on(tmp_path / "other")
    build(corpus, one)
    write(corpus, {"new.txt": "A new light stands in Port Elm."})

    def overtaken() -> None:
        with written(one.index, one.cache) as place:
            build(corpus, other)
            (place.folder / "more").write_text("this run has something to publish, too")

    with pytest.raises(StoreBusy, match=r"another process has written to s3://library/some/index meanwhile: run again"):
        overtaken()
    with (
        pytest.raises(StoreBusy, match=r"another process is writing to s3://library/some/index: wait"),
        written(one.index, one.cache),
    ):
        build(corpus, one)
    assert set(held()) == named()
    build(corpus, one)
    assert found(one) == found(other)


def test_what_is_damaged_there_is_not_used(tmp_path: Path, corpus: Path, server: Server):
    build(corpus, on(tmp_path / "one"))
    client = boto3.client("s3")
    name = next(name for name in held() if not name.endswith(MANIFEST))
    client.put_object(Bucket="library", Key=name, Body=b"damage")
    with pytest.raises(StoreFailed, match="is not what was written"):
        found(on(tmp_path / "other"))
    client.put_object(Bucket="library", Key=f"some/index/{MANIFEST}", Body=b"{}")
    with pytest.raises(StoreFailed, match="cannot be read"):
        found(on(tmp_path / "other"))


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "RAGWAYS_CACHE": str(tmp_path / "cache"), **changes}
        return subprocess.run(
            [sys.executable, "-m", "ragways", *arguments],
            capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120,
            env={name: value for name, value in environment.items() if value},
        )  # fmt: skip

    return run


def test_the_commands_take_a_url(
    corpus: Path, server: Server, command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
):
    done = command("index", "corpus", "--with", "words", "--index", URL, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["index"] == URL
    said = command("ask", "Who built the light?", "--paradigm", "words", "--index", URL, "--json")
    assert "Anna Holm" in said.stdout, said.stderr
    status = json.loads(command("status", "--index", URL, "--json").stdout)
    assert (status["index"], status["counts"]["documents"]) == (URL, 4)
    assert command("check", "--index", URL).returncode == 0
    assert "1 removed" in command("remove", "market", "--index", URL).stdout
    assert json.loads(command("status", "--index", URL, "--json").stdout)["counts"]["documents"] == 3
    assert b"Fish is sold" not in b"".join(held().values())
    assert "needs the folder of an index" in command("watch", "corpus", "--index", URL).stderr.replace("\n", " ")

    # In a folder, by a URL.
    folder = (tmp_path / "published").as_uri()
    assert command("index", "corpus", "--with", "words", "--index", folder).returncode == 0
    assert "Anna Holm" in command("ask", "Who built the light?", "--paradigm", "words", "--index", folder).stdout
    assert (tmp_path / "published" / MANIFEST).is_file()


def test_what_goes_wrong_is_one_line_with_its_cure(
    corpus: Path, server: Server, command: Callable[..., subprocess.CompletedProcess[str]]
):
    ask = ("ask", "Who?", "--paradigm", "words", "--index")
    wrong = command(*ask, "s3://elsewhere/index")
    nobody = command(*ask, URL, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    nothing = command(*ask, URL, AWS_ENDPOINT_URL="http://127.0.0.1:9")
    badly = command(*ask, f"s3://somebody:{SECRET}@library/index")
    for done, what in (
        (wrong, "there is no bucket at s3://elsewhere/index: create it, or mend --index"),
        (nobody, "no credentials for s3://library/some/index were found: set AWS_ACCESS_KEY_ID"),
        (nothing, "s3://library/some/index failed (no answer): see that it is reachable"),
        (badly, "write it as s3://bucket/path; credentials come from the environment"),
    ):
        assert what in " ".join(done.stderr.split()), done.stderr
        assert done.returncode in (2, 3)
        assert "Traceback" not in done.stderr
        assert SECRET not in done.stderr + done.stdout


def test_it_is_served(
    tmp_path: Path, corpus: Path, server: Server, command: Callable[..., subprocess.CompletedProcess[str]]
):
    assert command("index", "corpus", "--with", "words", "--index", URL).returncode == 0
    environment = {**os.environ, "RAGWAYS_CACHE": str(tmp_path / "another"), "PYTHONUNBUFFERED": "1"}
    serve = ["serve", "--index", URL, "--data", str(tmp_path / "data"), "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "ragways", *serve], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr is not None
            line = next(each for each in process.stderr if "serving" in each)
            where = line.split("serving ")[1].split()[0]
            [collection] = json.loads(requested("GET", f"{where}api/v1/collections")[1])["collections"]
            place = f"{where}api/v1/collections/{collection['name']}"
            status, reply = requested(
                "POST", f"{place}/retrieve", {"question": "Who built the light?", "paradigm": "words"}
            )
            assert (status, "Anna Holm" in reply) == (200, True), reply
            assert requested("DELETE", place)[0] in (403, 409), "what is served from elsewhere is read-only"
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def requested(method: str, url: str, body: object = None) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()
