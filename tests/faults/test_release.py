"""What ships is listed and can be checked against known vulnerabilities; no secret stands on a command line."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from ragways.apps.cli import full_app
from ragways.models.encoder import WEIGHTS

ROOT = Path(__file__).parent.parent.parent
SECRET = {"token", "key", "secret", "password", "api-key", "auth"}


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_lock", ROOT / "release" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release_lock"] = module
    spec.loader.exec_module(module)
    return module


def test_the_list_names_every_locked_package(lock: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert lock.main(["sbom", str(tmp_path)]) == 0
    (file,) = tmp_path.iterdir()
    data = json.loads(file.read_text())
    text = (ROOT / "requirements.lock").read_text()
    pinned = [line.split(" ")[0].rstrip("\\") for line in text.splitlines() if "==" in line and line[0].isalnum()]
    *packages, model, reader = data["components"]
    assert [f"{each['name']}=={each['version']}" for each in packages] == pinned
    assert (model["type"], model["name"]) == ("machine-learning-model", "sentence-transformers/all-MiniLM-L6-v2")
    shipped = {hashlib.sha256(file.read_bytes()).hexdigest() for file in WEIGHTS.iterdir()}
    assert {each["content"] for each in model["hashes"]} <= shipped
    assert (reader["type"], reader["name"]) == ("machine-learning-model", "ragways/reader")
    assert [each["content"] for each in reader["hashes"]] == [
        hashlib.sha256((WEIGHTS / "reader.onnx").read_bytes()).hexdigest()
    ]
    assert data["bomFormat"] == "CycloneDX"
    assert sum(len(each["hashes"]) for each in packages) == text.count("--hash=sha256:")
    assert "anyio" in {each["name"] for each in data["components"] if "properties" in each}, "markers are kept"
    before = file.read_bytes()
    lock.main(["sbom", str(tmp_path)])
    assert file.read_bytes() == before
    with pytest.raises(ValueError, match="one has no hash"):
        lock.read_lock("one==1.0\ntwo==2.0 \\\n    --hash=sha256:" + "0" * 64)


def commands(command: Any, path: str = "ragways") -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def test_no_command_takes_a_secret_as_an_argument():
    found = list(commands(typer.main.get_command(full_app())))
    assert len(found) > 20
    for path, command in found:
        for parameter in command.params:
            names = {name.strip("-") for name in (*parameter.opts, *parameter.secondary_opts)}
            words = {word for name in names for word in name.split("-")}
            assert not words & SECRET, (
                f"{path} {sorted(names)}: every user of the machine can read it in the list of processes"
            )


@pytest.fixture(scope="module")
def metadata() -> Any:
    """The metadata for the package index, by the build backend itself."""
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    return ProjectMetadata(str(ROOT), PluginManager())


def test_no_link_of_the_description_leads_nowhere(metadata: Any):
    """The index shows the README without the repository around it."""
    from markdown_it import MarkdownIt

    text, page = metadata.core.readme, (ROOT / "README.md").read_text()
    tokens = [child for token in MarkdownIt().parse(text) for child in (token.children or ())]
    targets = [token.attrs.get("href") or token.attrs.get("src") for token in tokens if token.attrs]
    assert [target for target in targets if not str(target).startswith(("https://", "http://", "#"))] == []
    assert "](docs/python.md)" in page, "the repository's own page keeps them"
    assert "`docs/python.md`" in text
    assert metadata.core.readme_content_type == "text/markdown"


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_holds_the_weights(kind: str):
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    builder: Any = (WheelBuilder if kind == "wheel" else SdistBuilder)(str(ROOT))
    files = {Path(file.path) for file in builder.recurse_included_files()}
    assert set(WEIGHTS.iterdir()) <= files
    assert not [file for file in files if file.suffix in (".safetensors", ".pyc")]
