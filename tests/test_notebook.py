"""The notebook in `examples` runs from top to bottom, in a kernel of its own, as a user would run it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import ragways
from ragways.experiment import Evaluation

NOTEBOOK = Path(__file__).parent.parent / "examples" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def ran(cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    folder = tmp_path_factory.mktemp("notebook")
    kernels = folder / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(
        f'{{"argv": ["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"], '
        '"display_name": "Python 3", "language": "python"}'
    )
    notebook: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        environment = {**os.environ, "RAGWAYS_CACHE": str(cache_folder)}
        asyncio.run(client.async_execute(env=environment))
    return notebook


def outputs(notebook: nbformat.NotebookNode, holding: str) -> str:
    """What the cell that holds this text has shown, in every form."""
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code" and holding in cell.source]
    return "\n".join(
        str(output.get("text", "")) + str(output.get("data", {}).get("text/html", output.get("data", "")))
        for output in cell.outputs
    )


def test_every_cell_ran(ran: nbformat.NotebookNode):
    for cell in ran.cells:
        if cell.cell_type == "code":
            assert cell.execution_count
            assert all(output.output_type != "error" for output in cell.outputs)


def test_what_it_shows(ran: nbformat.NotebookNode):
    assert "added" in outputs(ran, "ragways.build")
    assert "documents, layers" in outputs(ran, "ragways.open")
    assert "<ul>" in outputs(ran, "result = corpus.ask"), "an answer shows its sources"
    assert "<table>" in outputs(ran, "corpus.retrieve")
    assert outputs(ran, "corpus.stream").strip()
    assert "<table>" in outputs(ran, "corpus.compare")
    assert "<table>" in outputs(ran, "ragways.evaluate")
    assert "verdict on the first" in outputs(ran, "evaluation.compare")
    assert "fused" in outputs(ran, "to_pandas")
    assert "report.html" in outputs(ran, "evaluation.report")


def test_without_pandas_the_cell_that_would_use_it_names_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    (cell,) = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if "to_pandas" in cell.source]
    monkeypatch.setitem(sys.modules, "pandas", None)
    names = {"ragways": ragways, "evaluation": object.__new__(Evaluation)}
    exec(cell.source, names)
    assert "pip install pandas" in str(names["figures"])


def test_the_notebook_is_stored_without_outputs():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert not cell.get("outputs")
        assert not cell.get("execution_count")
