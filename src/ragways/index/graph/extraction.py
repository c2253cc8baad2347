"""Facts of passages that cost something to get: by a language model, or from a file.

For a model, short passages are packed into one call, and each passage's facts are kept under its own name. A file has
HippoRAG's OpenIE layout, or a triple a line:

    {"docs": [{"passage": "Title\\nText", "extracted_entities": [...], "extracted_triples": [[s, p, o], ...]}]}
    {"subject": "...", "predicate": "...", "object": "...", "chunk": "article:12:s0:p0:c0"}   one a line, .jsonl

A line names its passage by chunk id (`chunk`), by content hash (`hash`) or by its text (`text` or `passage`).
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragways.core.errors import LoadError, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.index.graph.facts import Entity, PassageFacts, Relation, Source, SourcePassage, bounded, sources
from ragways.index.graph.names import fold
from ragways.index.layer import BuildContext
from ragways.index.settings import GraphSettings
from ragways.index.units import work_through
from ragways.index.work_cache import Cost
from ragways.models.call import Call
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.models.limits import count_call
from ragways.models.tokens import count_each
from ragways.tasks.graph import FACTS, FACTS_MORE, ExtractedFacts, FactsInput, MoreFactsInput

PASSAGES_IN_PACK = 16
SAMPLE = 32
"""Prompts that are counted to plan for all of them."""

Pack = tuple[SourcePassage, ...]


def model_kind(model: ModelClient, settings: GraphSettings) -> str:
    """What these results are kept as: another prompt, model or number of looks makes other facts."""
    looks = f"-more{settings.gleaning}-{FACTS_MORE.text.hash[:8]}" if settings.gleaning else ""
    name = model.model.name if model.model is not None else "none"
    return f"facts:model-{FACTS.text.hash[:8]}{looks}-{name}"


async def extract_facts(context: BuildContext, settings: GraphSettings) -> None:
    """Ask for the facts of every passage that has none yet, those that failed before included."""
    missing = _missing_passages(context, settings)
    if missing:
        extraction = _Extraction(context, settings, model_kind(context.model, settings), len(missing))
        await work_through(list(packs(missing, settings.passage_tokens)), extraction.do)


def expected_usage(context: BuildContext, settings: GraphSettings) -> Usage:
    """What `extract_facts` would use: calls and passages are counted, the prompt around them on some. What a model
    writes is as long as what it wrote here before or, where it has not, as what it reads.
    """
    missing = _missing_passages(context, settings)
    asked = list(packs(missing, settings.passage_tokens))
    if not asked:
        return Usage()
    some = asked[:SAMPLE]
    shown = [[(passage.title, passage.text) for passage in pack] for pack in some]
    read = sum(count_each([passage.text for passage in missing]))
    before = context.work_cache.spent(model_kind(context.model, settings))
    output = len(asked) * before.output / before.calls if before.calls else float(read)

    inside = sum(count_each([passage.text for pack in some for passage in pack]))

    def around(calls: Iterable[Call]) -> float:
        return (sum(map(count_call, calls)) - inside) / len(some)

    first = read + len(asked) * around(FACTS.call(FactsInput(passages)) for passages in shown)
    # Each further look is shown what was found before, names and triples alone: about half of what was written.
    around_more = around(FACTS_MORE.call(MoreFactsInput(passages, "")) for passages in shown)
    more = read + len(asked) * around_more + output / 2
    looks = settings.gleaning
    return Usage(len(asked) * (1 + looks), round(first + looks * more), round(output * (1 + looks / 2)))


def _missing_passages(context: BuildContext, settings: GraphSettings) -> list[SourcePassage]:
    """Passages that have no facts yet."""
    passages = {passage.key: passage for source in sources(context.store) for passage in source.passages}
    known = context.work_cache.results(model_kind(context.model, settings), passages)
    missing = [passage for key, passage in passages.items() if key not in known and passage.text.strip()]
    if missing and context.model.model is None:
        raise NoModel("the graph is to be made by a language model, and none is set", CURE_NO_MODEL)
    return missing


def packs(passages: Sequence[SourcePassage], tokens: int) -> Iterator[Pack]:
    """Neighbours together, as many as fit; the prompt is paid once a pack."""
    here: list[SourcePassage] = []
    room = tokens
    for passage, cost in zip(passages, count_each([p.text for p in passages]), strict=True):
        if here and (cost > room or len(here) == PASSAGES_IN_PACK):
            yield tuple(here)
            here, room = [], tokens
        here.append(passage)
        room -= cost
    if here:
        yield tuple(here)


@dataclass
class _Extraction:
    """One run over the packs. Facts are kept as they come, so that a killed run has lost only the calls under way."""

    context: BuildContext
    settings: GraphSettings
    kind: str
    total: int
    done: int = 0

    async def do(self, pack: Pack) -> Sequence[Pack]:
        with self.context.work_cache.costing(self.kind) as cost:
            return await self._one(pack, cost)

    async def _one(self, pack: Pack, cost: Cost) -> Sequence[Pack]:
        try:
            facts = await self._ask(pack)
        except UnusableReply as error:
            if len(pack) > 1:
                # One passage may have spoilt the reply for all: ask for each alone.
                return [(passage,) for passage in pack]
            self._fail(pack, error.message, error.reply)
        except ModelRefused as error:
            if not self.done:
                raise
            self._fail(pack, error.message)
        except ModelError as error:
            self._fail(pack, error.message)
        else:
            self.context.work_cache.keep_results(
                self.kind, {passage.key: f.to_json() for passage, f in zip(pack, facts, strict=True)}, cost
            )
        self.done += len(pack)
        self.context.progress(Progress("facts", self.done, self.total))
        return ()

    async def _ask(self, pack: Pack) -> list[PassageFacts]:
        passages = [(passage.title, passage.text) for passage in pack]
        first = await self.context.model.do(FACTS, FactsInput(passages))
        facts = _by_passage(first.value, len(pack))
        for _ in range(self.settings.gleaning):
            try:
                more = await self.context.model.do(FACTS_MORE, MoreFactsInput(passages, _known(facts)))
            except UnusableReply:
                break  # the second look is a bonus; what the first one saw stands
            found = _by_passage(more.value, len(pack))
            if not any(f.entities or f.relations for f in found):
                break
            facts = [one + other for one, other in zip(facts, found, strict=True)]
        return facts

    def _fail(self, pack: Pack, error: str, reply: str = "") -> None:
        for passage in pack:
            self.context.work_cache.keep_failure(self.kind, passage.key, error, reply[:4000])
        self.context.fail(error, len(pack))


def _by_passage(said: ExtractedFacts, count: int) -> list[PassageFacts]:
    entities: dict[int, list[Entity]] = defaultdict(list)
    relations: dict[int, list[Relation]] = defaultdict(list)
    for e in said.entities:
        entities[e.passage].append(Entity(e.name, e.type, e.description))
    for r in said.relations:
        # A model rates from 1 to 10; rules count sentences, where 1 is usual.
        weight = min(max(r.weight, 0.1), 10.0) / 5
        relations[r.passage].append(Relation(r.subject, r.predicate, r.object, r.description, weight, r.date))
    return [bounded(PassageFacts(tuple(entities[n]), tuple(relations[n]))) for n in range(1, count + 1)]


def _known(facts: Sequence[PassageFacts]) -> str:
    """Short: names alone, and relations as triples."""
    lines = []
    for number, said in enumerate(facts, start=1):
        names = "; ".join(entity.name for entity in said.entities)
        triples = "; ".join(f"{r.subject} {r.predicate} {r.object}" for r in said.relations)
        lines.append(f"[{number}] {names}\n{triples}")
    return "\n".join(lines)


FILE_LIMIT = 1 << 30


def import_kind(file: str) -> str:
    """What these results are kept as: another file has other facts."""
    return f"facts:import-{content_hash(_text(Path(file)))[:12]}"


def read_facts(file: Path) -> dict[str, PassageFacts]:
    """Facts by passage: the key is a chunk id, a hash, or a text as `plain` writes it."""
    text = _text(file)
    lined = file.name.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    try:
        entries = _lines(text) if lined else _hipporag(json.loads(text))
        found: dict[str, PassageFacts] = defaultdict(PassageFacts)
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
            data = stream.read(FILE_LIMIT + 1)
    except OSError as error:
        raise LoadError(f"{file} cannot be read ({error})", "check graph.file") from None
    if len(data) > FILE_LIMIT:
        raise LoadError(f"{file.name} unpacks to more than {FILE_LIMIT:,} bytes", "split it")
    return data.decode("utf-8-sig", "replace")


def plain(text: str) -> str:
    """A text as passages are compared: without regard to white space."""
    return " ".join(text.split())


def _hipporag(data: Any) -> Iterator[tuple[str, PassageFacts]]:  # noqa: ANN401 - JSON of others
    for doc in data["docs"]:
        text = doc.get("text") or str(doc["passage"]).partition("\n")[2] or doc["passage"]
        triples = [t for t in doc.get("extracted_triples", []) if isinstance(t, list) and len(t) == 3]
        yield (
            _passage_key(str(doc.get("title") or str(doc.get("passage", "")).partition("\n")[0]), str(text)),
            PassageFacts(
                tuple(Entity(str(name)) for name in doc.get("extracted_entities", [])),
                tuple(Relation(str(s), str(p), str(o)) for s, p, o in triples),
            ),
        )


def _passage_key(title: str, text: str) -> str:
    return f"{plain(title)}\n{plain(text)}"


def _lines(text: str) -> Iterator[tuple[str, PassageFacts]]:
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
        yield str(key), PassageFacts((), (relation,))


def import_facts(context: BuildContext, settings: GraphSettings) -> None:
    """Keep the file's facts for the passages they belong to; passages that the file does not know have none."""
    facts = read_facts(Path(settings.file))
    hashes = dict(context.store.chunk_rows())
    kept: dict[str, str] = {}
    for source in sources(context.store):
        for passage, said in match(source, facts, hashes):
            kept[passage.key] = said.to_json()
    context.work_cache.keep_results(import_kind(settings.file), kept)


def match(
    source: Source, facts: Mapping[str, PassageFacts], hashes: Mapping[str, str]
) -> Iterator[tuple[SourcePassage, PassageFacts]]:
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


def _spread(passages: Iterable[SourcePassage], whole: PassageFacts) -> Iterator[tuple[SourcePassage, PassageFacts]]:
    left = whole
    shares = []
    for passage in passages:
        text = f" {fold(passage.text)} "
        entities = tuple(e for e in whole.entities if f" {fold(e.name)} " in text)
        relations = tuple(r for r in whole.relations if f" {fold(r.object)} " in text)
        left = PassageFacts(
            tuple(e for e in left.entities if e not in entities), tuple(r for r in left.relations if r not in relations)
        )
        shares.append((passage, PassageFacts(entities, relations)))
    for at, (passage, share) in enumerate(shares):
        yield passage, share + left if at == 0 else share
