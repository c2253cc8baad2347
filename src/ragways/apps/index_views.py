"""What a person sees of an index in a terminal: what a run did or would do, what an index holds, whether it is sound,
and the figures of its corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragways.apps.terminal import show_table, write_line
from ragways.core.language import NAMES
from ragways.core.table import Table
from ragways.core.text import counted

if TYPE_CHECKING:
    from ragways.corpus.source import Skipped
    from ragways.index.check import Health
    from ragways.index.diagnosis import Diagnosis
    from ragways.index.plan import IndexPlan
    from ragways.index.recipe import Erasure, Summary
    from ragways.index.status import IndexStatus
    from ragways.store.cache import Spent

LEFT_OUT = 10
"""Files that could not be read, and documents that were not erased, which are named one by one."""


# What a run did


def show_summary(summary: Summary, folder: str) -> None:
    write_line(
        f"{folder}: {summary.added:,} added, {summary.changed:,} changed, {summary.removed:,} removed, "
        f"{summary.unchanged:,} unchanged; {counted(summary.chunks, 'chunk')}, {counted(summary.embedded, 'text')} "
        f"embedded in {summary.wall:.1f} s"
    )
    if not (summary.added or summary.changed or summary.removed or summary.unchanged):
        write_line("no file that could be read was found there", "yellow")
    if summary.chosen:
        write_line(summary.chosen)
    _show_left_out(summary.skipped, "left out", summary.hidden)
    _show_passed_over(summary)
    _show_left_out(summary.failed, "could not be read")
    _show_paid(summary)
    if summary.undone:
        write_line(f"not done: {counted(summary.undone, 'unit')} of work, to be tried again on the next run", "yellow")
        if summary.why:
            write_line(f"the first because: {summary.why}", "yellow")
    if summary.unread:
        write_line(summary.unread, "yellow")
    if summary.erasure is not None:
        show_erasure(summary.erasure)
    if summary.stopped:
        write_line(f"stopped: {summary.stopped}; run again to go on", "yellow")


def _show_paid(summary: Summary) -> None:
    """What was asked of a model, what came, and what it cost; and what it found that nobody wants."""
    usage, kinds = summary.usage, [*dict.fromkeys([*summary.came, *summary.lost])]
    if usage.calls:
        cost = f"{counted(usage.calls, 'call')}, {usage.input:,} + {usage.output:,} tokens, {_money(usage.cost)}"
        counts = ((summary.came.get(kind, 0), summary.lost.get(kind, 0), kind) for kind in kinds)
        done = [f"{kind} {came:,} of {came + lost:,}" for came, lost, kind in counts if came + lost]
        write_line(f"asked: {cost}{'; came: ' if done else ''}{', '.join(done)}")
    if outside := [f"{name} {count:,}" for name, count in summary.outside.items()]:
        more = f" and {len(outside) - LEFT_OUT:,} more" if len(outside) > LEFT_OUT else ""
        write_line(f"outside graph.schema, not stored: {', '.join(outside[:LEFT_OUT])}{more}")


def _show_left_out(entries: Sequence[Skipped], what: str, hidden: int = 0) -> None:
    for entry in entries[:LEFT_OUT]:
        write_line(f"{what}: {entry.key}: {entry.reason}", "yellow", error=True)
    if len(entries) > LEFT_OUT:
        write_line(f"{what}: and {len(entries) - LEFT_OUT:,} more (all of them with --json)", "yellow", error=True)
    if hidden:
        files = counted(hidden, "hidden file or folder", "hidden files or folders")
        write_line(f"{what}: {files}", "dim", error=True)


def _show_passed_over(done: Summary | IndexPlan) -> None:
    """One line of what patterns left out, and one of what they take from the index."""
    by = {"ignored": "by .gitignore", "excluded": "by --include or --exclude", "junk": "as usual (node_modules …)"}
    counts = [f"{done.left_out[why]:,} {words}" for why, words in by.items() if done.left_out.get(why)]
    if counts:
        write_line(f"left out: files or folders: {', '.join(counts)}", "dim", error=True)
    if done.withdrawn:
        one, many = "file that is there and was", "files that are there and were"
        write_line(f"removed: {counted(done.withdrawn, one, many)} read before, but left out now", error=True)


def show_erasure(erasure: Erasure) -> None:
    """What was looked for and where, and what of it can still be read."""
    strings = sum(document.looked_for for document in erasure.documents)
    write_line(
        f"erased: {counted(strings, 'string')} of {counted(len(erasure.documents), 'document')} looked for in "
        f"{counted(erasure.files, 'file')} ({erasure.bytes / 1e6:.1f} MB), {counted(erasure.words, 'word')} in the "
        f"dictionary{'' if erasure.erased is False else ': none is left'}"
    )
    left = [f"not erased: {each.key}: still in {', '.join(each.found)}" for each in erasure.documents if each.found]
    left += [f"not looked for: {each.key}: {each.note}" for each in erasure.documents if each.note]
    if len(left) > LEFT_OUT:
        left[LEFT_OUT:] = [f"and {len(left) - LEFT_OUT:,} more (all of them with --json)"]
    if erasure.words_left:
        left.append(f"not erased: {counted(erasure.words_left, 'word')} of the dictionary")
    if erasure.not_looked_at:
        left.append(f"not looked for: {counted(erasure.not_looked_at, 'more document')}")
    if erasure.in_use:
        left.append("a reader is open, so a log may still have what was removed: close it, then index with --erase")
    for line in left:
        write_line(line, "yellow", error=True)


# A plan of a run


def show_plan(plan: IndexPlan, folder: str) -> None:
    rows = [
        ("documents", f"{plan.documents:,} ({plan.new:,} new, {plan.changed:,} changed, {plan.unchanged:,} unchanged)"),
        ("chunks", f"{plan.chunks:,} ({counted(plan.tokens, 'token')})"),
        ("texts to embed", f"{plan.to_embed:,}"),
        ("model calls", f"{plan.model_calls:,} ({counted(plan.model_tokens, 'token')})"),
        ("money", _money(plan.usd)),
        ("time", f"about {plan.seconds:.0f} s on this machine"),
    ]
    if plan.new_lexicon:
        rows.append(("lexicon", "made anew; the graph's rules read all documents by it"))
    show_table(Table.of(("", ""), rows, title=f"What indexing into {folder} would do"), header=False)
    columns = ("layer", "rows", "to embed", "model calls", "input", "output", "money", "time", "estimated")
    layers = [
        (x.name, x.rows, x.to_embed, x.calls, x.input, x.output, _money(x.usd), f"{x.seconds:.1f} s", x.estimated)
        for x in plan.layers
    ]
    show_table(Table.of(columns, layers), compact=True)
    if plan.warning:
        write_line(plan.warning, "yellow", error=True)
    _show_left_out(plan.skipped, "would be left out", plan.hidden)
    _show_passed_over(plan)
    _show_left_out(plan.failed, "cannot be read")


def _money(usd: float | None) -> str:
    return "unknown (set a price)" if usd is None else f"${usd:.4f}"


# What an index holds, and whether it is sound


def show_status(status: IndexStatus) -> None:
    from ragways.layers.layer import AGAIN

    rows = [(name, f"{count:,}") for name, count in status.counts.items()]
    rows += [
        ("embedder", status.embedder or "none"),
        ("chunking", status.chunking),
        ("size", f"{status.bytes / 1e6:.1f} MB"),
        ("languages", ", ".join(f"{NAMES.get(code, code)} {n:,}" for code, n in status.languages.items())),
    ]
    if status.waiting:
        rows.append(("waiting", f"{counted(status.waiting, 'document')}; {AGAIN}"))
    show_table(Table.of(("", ""), rows, title=status.index), header=False)
    if status.unread:
        write_line(status.unread, "yellow")
    for layer in status.by_layer:
        if layer.failures:
            write_line(
                f"{layer.name} is not whole: {counted(layer.failures, 'unit')} of work not done; {AGAIN}", "yellow"
            )
    layers = [
        (x.name, f"{x.rows:,}", f"{x.bytes / 1e6:.1f} MB", x.built_at, str(x.failures), _cost(x.spent))
        if x.built
        else (x.name, "made when next read" if x.waiting else "not built", "", "", "", "")
        for x in status.by_layer
    ]
    notes = [
        f"{x.name}: {x.age:.0%} of entities came or went since they were found anew; --fresh-communities does that"
        for x in status.by_layer
        if x.age
    ]
    show_table(Table.of(("layer", "rows", "size", "built", "not done", "cost so far"), layers, notes=notes))
    if status.documents is not None:
        documents = [(document.id, document.key, document.title) for document in status.documents]
        show_table(Table.of(("id", "key", "title"), documents))


def _cost(spent: Spent) -> str:
    """Seconds are those of the work itself, which may have run side by side."""
    worked = f"{spent.seconds:.1f} s" if spent.seconds else ""
    if not spent.calls:
        return worked
    # Work without a price has cost an unknown sum, which is not $0.
    money = f"${spent.usd:.4f}" if spent.usd else ""
    tokens = f"{spent.input:,} + {spent.output:,} tokens"
    return ", ".join(filter(None, (money, counted(spent.calls, "call"), tokens, worked)))


def show_health(name: str, health: Health) -> None:
    rows = [(f"{each.severity} {each.name}", each.count, each.example, each.cure) for each in health.findings]
    if rows:
        show_table(Table.of(("what", "how many", "for example", "cure"), rows))
    figures = health.figures
    if "entities" in figures:
        entities = counted(int(figures["entities"]), "entity", "entities")
        write_line(f"{entities}, {figures['isolated_share']:.1%} of them in no relation", "dim")
    if "recall_at_10" in figures:
        write_line(f"recall@10 of a search by meaning against an exact one: {figures['recall_at_10']:.3f}", "dim")
    errors = sum(finding.severity == "error" for finding in health.findings)
    warnings = counted(len(health.findings) - errors, "warning")
    write_line(f"{name}: {'fit' if health.fit else 'not fit'}; {counted(errors, 'error')}, {warnings}")


# The figures of a corpus


def show_diagnosis(diagnosis: Diagnosis, file: Path | None) -> None:
    from ragways.index.diagnosis import NO_GRAPH, NO_VECTORS

    for title, rows, missing in (
        ("Texts", _text_rows(diagnosis), ""),
        ("Structure of the knowledge graph", _structure_rows(diagnosis), NO_GRAPH),
        ("Meaning: how the vectors of chunks lie", _meaning_rows(diagnosis), NO_VECTORS),
    ):
        if rows:
            show_table(Table.of(("", ""), rows, title=title), header=False)
        else:
            write_line(f"{title}: {missing}")
    write_line(f"saved in {file}" if file else "not saved: the index cannot be written", "dim")


def _text_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    texts = diagnosis.texts
    if texts is None:
        return []
    return [
        ("documents", _figure(texts.documents)),
        ("passages", f"{_figure(texts.passages)}, {_figure(texts.passages_per_document)} a document"),
        ("mean tokens of a passage", _figure(texts.mean_tokens)),
        ("share of documents with a date", _figure(texts.dated_share)),
        ("share of documents that others link to or name", _figure(texts.linked_share)),
        ("share of passages that are copies", _figure(texts.duplicate_share)),
    ]


def _structure_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    structure = diagnosis.structure
    if structure is None:
        return []
    of = "" if structure.clustering_of.whole else f" ({structure.clustering_of})"
    return [
        ("nodes (entities)", _figure(structure.nodes)),
        ("edges (joined pairs)", f"{_figure(structure.edges)}, from {structure.relations:,} relations"),
        ("relation types", _figure(structure.relation_types)),
        ("density", _figure(structure.density)),
        ("mean degree", _figure(structure.mean_degree)),
        ("largest degree centrality", _figure(structure.largest_degree_centrality)),
        ("components", _figure(structure.components)),
        ("share of the largest", _figure(structure.largest_component_share)),
        ("mean clustering coefficient", _figure(structure.mean_clustering) + of),
    ]


def _meaning_rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    meaning = diagnosis.meaning
    if meaning is None:
        return []
    far, of = meaning.centroid_distance, meaning.neighbours_of
    spread = "not defined"
    if far is not None:
        spread = f"mean {far.mean:.3f}, deviation {far.deviation:.3f}, from {far.minimum:.3f} to {far.maximum:.3f}"
    return [
        ("chunks", f"{meaning.chunks:,} vectors of {meaning.dimension} numbers"),
        ("intrinsic dimension (TwoNN)", f"{_figure(meaning.intrinsic_dimension)}, from {of}"),
        ("duplicates left out", f"{meaning.duplicates:,} of {of.size:,}"),
        (f"hubness (k = {meaning.hubness_k})", f"{_figure(meaning.hubness)}, from {of}"),
        ("cosine distance to the centroid", spread),
    ]


def _figure(figure: Any) -> str:  # noqa: ANN401 - a figure of either kind, or none
    if figure is None:
        return "not defined"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.4g}"
