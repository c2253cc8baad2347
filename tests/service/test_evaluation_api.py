"""Questions, runs and reports through the real server, on the bundled corpus, which it only reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ragways.evaluation.datasets import load_questions
from ragways.evaluation.record import Run
from ragways.evaluation.score import score
from tests.service.conftest import RunningServer

API = "/api/v1"


def ended(server: RunningServer, place: str, **body: object) -> dict[str, Any]:
    started = server.client.post(f"{place}/jobs", json=body)
    assert started.status_code == 202, started.text
    *_, (name, job) = server.events(f"{API}/jobs/{started.json()['id']}/events")
    assert (name, job["state"]) == ("done", "done"), job
    return dict(job)


def test_questions_are_made_asked_and_reported(demo_server: RunningServer, demo_name: str, tmp_path: Path):
    place, client = f"{API}/collections/{demo_name}", demo_server.client
    job = ended(demo_server, place, kind="questions", name="mine", count=4, kinds=["factual"])
    [found] = [one for one in client.get(f"{place}/questions").json()["sets"] if one["name"] == "mine"]
    assert found["questions"] == job["result"]["questions"] == 4
    assert found["about"]["way"] == "rule"
    file = tmp_path / "mine.jsonl"
    file.write_bytes(client.get(f"{place}/questions/mine").content)
    asked = load_questions("plain", file)
    assert len(asked) == 4

    job = ended(
        demo_server, place, kind="evaluate", questions="mine", paradigms=["words", "words[k=3]"], limit=3,
        metrics=["recall@5", "f1"],
    )  # fmt: skip
    [run] = client.get(f"{place}/runs").json()["runs"]
    assert (run["id"], run["asked"], run["questions"]) == (job["id"], 3, "mine")
    assert run["paradigms"] == ["words", "words[k=3]"]
    figures = client.get(f"{place}/runs/{run['id']}").json()
    assert figures == {name: value for name, value in job["result"].items() if name != "spent"}
    # The figures are those that the command gives for the same folder.
    [folder] = (demo_server.log.parent / "data" / "given").glob(f"*/runs/{run['id']}")
    means = score(Run(folder))["figures"].where(metric="recall@5", type="").only("paradigm", "mean")
    by_command = {row[0]: row[1] for row in means.rows}
    assert {one["paradigm"]: one["metrics"]["recall@5"]["mean"] for one in figures["paradigms"]} == by_command

    report = client.get(f"{place}/runs/{run['id']}/report.html")
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "default-src 'none'" in policy
    script = re.search(r"script-src '(sha256-[^']+)'", policy)
    assert script is not None
    assert script[1] in report.text  # the page names the same script in its own policy
    assert asked[0].text in json.dumps(report.text, ensure_ascii=False)
    assert str(folder.parent) not in report.text

    assert client.delete(f"{place}/runs/{run['id']}").status_code == 204
    assert client.get(f"{place}/runs").json() == {"runs": []}
    assert client.get(f"{place}/runs/{run['id']}").status_code == 404
    assert client.delete(f"{place}/questions/mine").status_code == 204
    assert client.get(f"{place}/questions/mine").status_code == 404


def test_a_set_without_a_question_is_refused_at_once_by_its_name(demo_server: RunningServer, demo_name: str):
    place, client = f"{API}/collections/{demo_name}", demo_server.client
    [folder] = (demo_server.log.parent / "data" / "given").iterdir()
    (folder / "questions").mkdir(exist_ok=True)
    (folder / "questions" / "hollow.jsonl").write_text("")
    asked = client.post(f"{place}/jobs", json={"kind": "evaluate", "questions": "hollow", "paradigms": ["words"]})
    assert asked.status_code == 409
    assert asked.json()["error"]["message"] == "the set hollow holds no question"
    assert "a job of kind questions" in asked.json()["error"]["cure"]
    assert client.delete(f"{place}/questions/hollow").status_code == 204


def test_what_is_only_read_cannot_be_changed(demo_server: RunningServer, demo_name: str):
    place, client = f"{API}/collections/{demo_name}", demo_server.client
    assert client.put(f"{place}/files/a.txt", content=b"x").status_code == 409
    assert client.post(f"{place}/jobs", json={"kind": "index"}).status_code == 409
    assert client.post(f"{place}/jobs", json={"kind": "plan"}).status_code == 409
    assert client.delete(place).status_code == 409
    assert client.get(place).json()["managed"] is False
    for path in ("runs/0123456789abcdef", "runs/0123456789abcdef/report.html", "questions/none"):
        assert client.get(f"{place}/{path}").status_code == 404
    for path in ("runs/..%2f..%2fservice.sqlite", "questions/..%2f..%2fx"):
        assert client.get(f"{place}/{path}").status_code in (404, 422)
