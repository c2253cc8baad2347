"""How an index is doing: what each layer holds, whether it is fit, what kind of corpus it is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragways.apps.options import IndexOption, JsonOption, SettingsOption, index_folder
from ragways.core.text import printable

if TYPE_CHECKING:
    from ragways.evaluation.diagnostics.diagnose import Diagnosis
    from ragways.index.health import Health

UNFIT = 3
"""Exit code of a check that found errors."""


# Fitness


def check(index: IndexOption = None, settings: SettingsOption = None, json: JsonOption = False) -> None:
    """Check that an index is sound. Exit code 3 where it is not fit to be asked."""
    from ragways.index.health import check as look

    folder = index_folder(settings, index)
    health = look(folder)
    if json:
        from ragways.apps.terminal import print_json

        findings = [asdict(finding) for finding in health.findings]
        print_json({"index": str(folder), "fit": health.fit, "findings": findings, "figures": health.figures})
    else:
        _show_health(folder, health)
    if not health.fit:
        raise typer.Exit(UNFIT)


def _show_health(folder: Path, health: Health) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragways.apps.terminal import console

    out = console()
    if health.findings:
        table = Table("what", "how many", "for example", "cure", show_lines=True)
        for finding in health.findings:
            style = "red" if finding.severity == "error" else "yellow"
            what = Text.assemble((finding.severity, style), f" {finding.name}")
            table.add_row(what, f"{finding.count:,}", Text(printable(finding.example)), Text(finding.cure))
        out.print(table)
    if "entities" in health.figures:
        entities, alone = int(health.figures["entities"]), health.figures["isolated_share"]
        out.print(f"{entities:,} entities, {alone:.1%} of them in no relation", style="dim")
    errors = sum(finding.severity == "error" for finding in health.findings)
    warnings = len(health.findings) - errors
    verdict = "fit" if health.fit else "not fit"
    out.print(f"{folder}: {verdict}; {errors} errors, {warnings} warnings", markup=False)


# Diagnosis


def diagnose(
    index: IndexOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the figures to this file too, as JSON.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the samples that a large corpus is measured by.", min=0)] = 0,
    settings: SettingsOption = None,
    json: JsonOption = False,
) -> None:
    """Measure what kind of corpus an index holds: its graph's structure, and how its vectors lie."""
    from ragways.evaluation.diagnostics.diagnose import diagnose as measure
    from ragways.evaluation.diagnostics.diagnose import save, write_json
    from ragways.index.reader import Index

    folder = index_folder(settings, index)
    opened = Index.open(folder)
    try:
        diagnosis = measure(opened, seed=seed)
    finally:
        opened.close()
    kept = save(folder, diagnosis)
    data = {"index": str(folder), "saved": str(kept) if kept else "", **diagnosis.data()}
    if out is not None:
        write_json(out, data)
    if json:
        from ragways.apps.terminal import print_json

        print_json(data)
    else:
        _show_diagnosis(diagnosis, kept)


def _show_diagnosis(diagnosis: Diagnosis, kept: Path | None) -> None:
    from rich.table import Table

    from ragways.apps.terminal import console
    from ragways.evaluation.diagnostics.diagnose import NO_GRAPH, NO_VECTORS

    out = console()
    for title, rows, missing in (
        ("Structure of the knowledge graph", _structure_rows(diagnosis), NO_GRAPH),
        ("Meaning: how the vectors of chunks lie", _meaning_rows(diagnosis), NO_VECTORS),
    ):
        table = Table(title=title, show_header=False, title_justify="left")
        for name, value in rows:
            table.add_row(name, value)
        out.print(table if rows else f"{title}: {missing}")
    out.print(f"kept in {kept}" if kept else "not kept: the index cannot be written", style="dim", markup=False)


def _structure_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    found = diagnosis.structure
    if found is None:
        return []
    of = "" if found.clustering_of.whole else f" ({found.clustering_of})"
    return [
        ("nodes (entities)", _said(found.nodes)),
        ("edges (joined pairs)", f"{_said(found.edges)}, from {found.relations:,} relations"),
        ("relation types", _said(found.relation_types)),
        ("density", _said(found.density)),
        ("mean degree", _said(found.mean_degree)),
        ("largest degree centrality", _said(found.largest_degree_centrality)),
        ("components", _said(found.components)),
        ("share of the largest", _said(found.largest_component_share)),
        ("mean clustering coefficient", _said(found.mean_clustering) + of),
    ]


def _meaning_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    found = diagnosis.meaning
    if found is None:
        return []
    far, of = found.centroid_distance, found.neighbours_of
    spread = "not defined"
    if far is not None:
        spread = f"mean {far.mean:.3f}, deviation {far.deviation:.3f}, from {far.least:.3f} to {far.most:.3f}"
    return [
        ("chunks", f"{found.chunks:,} vectors of {found.dimension} numbers"),
        ("intrinsic dimension (TwoNN)", f"{_said(found.intrinsic_dimension)}, from {of}"),
        ("duplicates left out", f"{found.duplicates:,} of {of.size:,}"),
        (f"hubness (k = {found.hubness_k})", f"{_said(found.hubness)}, from {of}"),
        ("cosine distance to the centroid", spread),
    ]


def _said(figure: Any) -> str:  # noqa: ANN401 - a figure of either kind, or none
    if figure is None:
        return "not defined"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.4g}"
