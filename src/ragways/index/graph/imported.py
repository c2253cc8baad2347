"""Facts from a file: HippoRAG's OpenIE layout, or a triple a line.

    {"docs": [{"passage": "Title\\nText", "extracted_entities": [...], "extracted_triples": [[s, p, o], ...]}]}
    {"subject": "...", "predicate": "...", "object": "...", "chunk": "article:12:s0:p0:c0"}   one a line, .jsonl

A line names its passage by chunk id (`chunk`), by content hash (`hash`) or by its text (`text` or `passage`).
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ragways.core.errors import LoadError
from ragways.core.types import content_hash
from ragways.index.graph.facts import Entity, Facts, Relation, bounded
from ragways.index.graph.names import fold
from ragways.index.graph.options import GraphOptions
from ragways.index.graph.sources import Passage, Source, sources
from ragways.index.layer import BuildContext

MOST_BYTES = 1 << 30


def kind(file: str) -> str:
    """What these results are kept as: another file has other facts."""
    return f"facts:import-{content_hash(_text(Path(file)))[:12]}"


def read_facts(file: Path) -> dict[str, Facts]:
    """Facts by passage: the key is a chunk id, a hash, or a text as `plain` writes it."""
    text = _text(file)
    lined = file.name.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    try:
        entries = _lines(text) if lined else _hipporag(json.loads(text))
        found: dict[str, Facts] = defaultdict(Facts)
        for key, facts in entries:
            found[key] += facts
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(
            f"{file.name} holds no triples that can be read ({error})", "see the layouts in the docs"
        ) from None
    return {key: bounded(facts) for key, facts in found.items()}


def _text(file: Path) -> str:
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise LoadError(f"{file} cannot be read ({error})", "check graph.import") from None
    if len(data) > MOST_BYTES:
        raise LoadError(f"{file.name} unpacks to more than {MOST_BYTES:,} bytes", "split it")
    return data.decode("utf-8-sig", "replace")


def plain(text: str) -> str:
    """A text as passages are compared: without regard to white space."""
    return " ".join(text.split())


def _hipporag(data: Any) -> Iterator[tuple[str, Facts]]:  # noqa: ANN401 - JSON of others
    for doc in data["docs"]:
        text = doc.get("text") or str(doc["passage"]).partition("\n")[2] or doc["passage"]
        triples = [t for t in doc.get("extracted_triples", []) if isinstance(t, list) and len(t) == 3]
        yield (
            _passage_key(str(doc.get("title") or str(doc.get("passage", "")).partition("\n")[0]), str(text)),
            Facts(
                tuple(Entity(str(name)) for name in doc.get("extracted_entities", [])),
                tuple(Relation(str(s), str(p), str(o)) for s, p, o in triples),
            ),
        )


def _passage_key(title: str, text: str) -> str:
    return f"{plain(title)}\n{plain(text)}"


def _lines(text: str) -> Iterator[tuple[str, Facts]]:
    for line in text.splitlines():
        if not line.strip():
            continue
        row: Mapping[str, Any] = json.loads(line)
        key = row.get("chunk") or row.get("hash") or plain(str(row.get("text") or row["passage"]))
        relation = Relation(
            str(row["subject"]),
            str(row["predicate"]),
            str(row["object"]),
            str(row.get("description", "")),
            float(row.get("weight", 1.0)),
            str(row.get("date", "")),
        )
        yield str(key), Facts((), (relation,))


def take(context: BuildContext, options: GraphOptions) -> None:
    """Keep the file's facts for the passages they belong to; passages that the file does not know have none."""
    facts = read_facts(Path(options.file))
    hashes = dict(context.store.chunk_rows())
    kept: dict[str, str] = {}
    for source in sources(context.store):
        for passage, said in match(source, facts, hashes):
            kept[passage.key] = said.to_json()
    context.work_cache.keep_results(kind(options.file), kept)


def match(source: Source, facts: Mapping[str, Facts], hashes: Mapping[str, str]) -> Iterator[tuple[Passage, Facts]]:
    """A document's passages with what the file says of them.

    A passage that was cut into several chunks gives each chunk the facts whose ends it names, the first chunk the rest.
    """
    for passage in source.passages:
        keys = (passage.id, hashes.get(passage.id, ""), passage.key, plain(passage.text),
                _passage_key(source.title, passage.text), plain(f"{source.title} {passage.text}"))  # fmt: skip
        said = next((facts[key] for key in keys if key in facts), None)
        if said is not None:
            yield passage, said
    whole = next(
        (facts[key] for key in (plain(source.text), _passage_key(source.title, source.text)) if key in facts), None
    )
    if whole is not None and len(source.passages) > 1:
        yield from _spread(source.passages, whole)


def _spread(passages: Iterable[Passage], whole: Facts) -> Iterator[tuple[Passage, Facts]]:
    left = whole
    shares = []
    for passage in passages:
        text = f" {fold(passage.text)} "
        entities = tuple(e for e in whole.entities if f" {fold(e.name)} " in text)
        relations = tuple(r for r in whole.relations if f" {fold(r.object)} " in text)
        left = Facts(
            tuple(e for e in left.entities if e not in entities), tuple(r for r in left.relations if r not in relations)
        )
        shares.append((passage, Facts(entities, relations)))
    for at, (passage, share) in enumerate(shares):
        yield passage, share + left if at == 0 else share
