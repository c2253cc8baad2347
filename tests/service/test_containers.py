"""The files for containers, as far as they can be checked without building one: what they copy, set and call."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

from ragways.settings import read_settings

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
LINES = [line.split(maxsplit=1) for line in TEXT.splitlines() if line and not line.startswith("#")]


def of(instruction: str) -> list[str]:
    return [rest for name, rest in LINES if name == instruction]


def test_a_wheel_can_be_built_from_what_is_sent_to_the_builder(tmp_path: Path):
    shown = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = {part for line in of("COPY") if "--from" not in line for part in line.split()[:-1]}
    assert {name.split("/")[0] for name in shown} == {name.split("/")[0] for name in copied}
    for name in shown:
        assert (ROOT / name).exists()
        if name != "requirements-serve.lock":
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).symlink_to(ROOT / name)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".whl"]


def test_it_is_served_without_root_with_settings_that_exist_and_looked_after():
    assert of("USER") == ["ragways"]
    assert not re.search(r":latest|USER root|--privileged", TEXT)
    variables = dict(re.findall(r"(RAGWAYS_\w+)=(\S+)", TEXT))
    chosen = read_settings(environment=variables)
    assert (chosen.serve.host, str(chosen.serve.data), str(chosen.cache)) == ("0.0.0.0", "/data", "/data/cache")
    assert of("VOLUME") == ["/data"]
    assert "/readyz" in of("HEALTHCHECK")[0]
    assert json.loads(of("CMD")[0]) == ["serve", "--log-format", "json"]
    assert json.loads(of("ENTRYPOINT")[0]) == ["ragways"]


def test_compose_keeps_the_data_and_gives_the_container_little():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["ragways"]
    assert service["ports"] == ["127.0.0.1:8080:8080"]
    assert service["volumes"] == ["data:/data"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    unset = dict.fromkeys(service["environment"], "")
    assert read_settings(environment=unset).model.name == ""


def test_lists_can_be_set_by_a_variable():
    chosen = read_settings(environment={"RAGWAYS_SERVE__HOSTS": "docs.example.org, b.example.org"})
    assert chosen.serve.hosts == ("docs.example.org", "b.example.org")
