"""Facts of passages that cost something to get: by a language model, or from a file.

For a model, short passages are packed into one call, and each passage's facts are cached by its own content. A file has
HippoRAG's OpenIE layout, or a triple a line:

    {"docs": [{"passage": "Title\\nText", "extracted_entities": [...], "extracted_triples": [[s, p, o], ...]}]}
    {"subject": "...", "predicate": "...", "object": "...", "chunk": "article:12:s0:p0:c0"}   one a line, .jsonl

A line names its passage by chunk id (`chunk`), by content hash (`hash`) or by its text (`text` or `passage`).
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from ragways.core.errors import LoadError, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.runtime import Progress
from ragways.core.trace import Usage
from ragways.core.types import content_hash
from ragways.layers.graph.names import (
    coarse,
    exclusive_kind,
    fold,
    is_adjective,
    kind_by_model,
    kinds_of_schema,
    type_of_value,
)
from ragways.layers.graph.rules import Entity, PassageFacts, Relation, bounded, predicate_of
from ragways.layers.layer import Use
from ragways.layers.settings import GraphSettings
from ragways.layers.units import packs, work_through
from ragways.models.call import Call
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.models.limits import count_call
from ragways.models.tokens import count_each
from ragways.store.cache import Cost
from ragways.store.source import Source, SourcePassage
from ragways.tasks.graph import (
    FACTS,
    FACTS_MORE,
    ExtractedEntity,
    ExtractedFacts,
    ExtractedRelation,
    FactsInput,
    MoreFactsInput,
)

PASSAGES_IN_PACK = 16
SAMPLE = 32
"""Prompts that are counted to plan for all of them."""
_AT_ONCE = 500
"""Documents that are looked up together while a run is planned."""

Pack = tuple[SourcePassage, ...]
FactsOfDocument = Mapping[int, PassageFacts]
"""Facts of a document by the ordinals of its chunks."""


# By a model


def model_kind(model: ModelClient, settings: GraphSettings) -> str:
    """As what these results are cached: another prompt, model or number of looks makes other facts."""
    name = model.model.name if model.model is not None else "none"
    return f"facts:model-{prompts(settings)}-{name}"


def prompts(settings: GraphSettings) -> str:
    """The prompts that a model is asked with, as a hash."""
    looks = f"-more{settings.gleaning}-{FACTS_MORE.text.hash[:8]}" if settings.gleaning else ""
    wanted = f"-schema{content_hash(json.dumps(settings.schema, sort_keys=True))[:8]}" if settings.schema else ""
    return f"{FACTS.text.hash[:8]}{looks}{wanted}"


async def facts_by_model(
    documents: Sequence[Source], use: Use, settings: GraphSettings
) -> list[FactsOfDocument | None]:
    """Facts of each document; None where some passage has none, because the model failed or nobody may ask it now."""
    model = use.model.of(FACTS.role)
    kind = model_kind(model, settings)
    # Without a model, as in a removal, the facts stand that any model was paid for.
    kinds = [kind] if model.model is not None else use.cache.kinds(kind.removesuffix("none"))
    missing = _missing_passages(documents, use, kinds)
    if missing and use.pays:
        _require_model(use)
        extraction = _Extraction(use, settings, kind, len(missing))
        await work_through(list(_packs(missing, settings)), extraction.do)
    results = _results(use, kinds, {passage.key for source in documents for passage in source.passages})
    return [_of_document(source, results) for source in documents]


def _require_model(use: Use) -> None:
    if use.model.of(FACTS.role).model is None:
        raise NoModel("the graph is to be made by a language model, and none is set", CURE_NO_MODEL)


def _of_document(source: Source, results: Mapping[str, str]) -> FactsOfDocument | None:
    found = {}
    for passage in source.passages:
        if passage.key in results:
            found[passage.ordinal] = PassageFacts.from_json(results[passage.key])
        elif passage.text.strip():
            return None
    return found


def _missing_passages(documents: Iterable[Source], use: Use, kinds: Sequence[str]) -> list[SourcePassage]:
    """Passages that have no facts yet, those that failed before included."""
    passages = {passage.key: passage for source in documents if not source.redirect for passage in source.passages}
    known = _results(use, kinds, passages)
    return [passage for key, passage in passages.items() if key not in known and passage.text.strip()]


def _results(use: Use, kinds: Sequence[str], keys: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind in kinds:
        found |= use.cache.results(kind, keys)
    return found


def _packs(passages: Sequence[SourcePassage], settings: GraphSettings) -> Iterator[Pack]:
    costs = count_each([passage.text for passage in passages])
    return packs(passages, costs, tokens=settings.passage_tokens, most=PASSAGES_IN_PACK)


@dataclass
class _Extraction:
    """Asks a model for packs. Facts are cached as they come, so a killed run has lost only the calls under way."""

    use: Use
    settings: GraphSettings
    kind: str
    total: int
    done: int = 0

    async def do(self, pack: Pack) -> Sequence[Pack]:
        with self.use.cache.costing(self.kind) as cost:
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
            self.use.cache.keep_results(
                self.kind, {passage.key: f.to_json() for passage, f in zip(pack, facts, strict=True)}, cost
            )
        self.done += len(pack)
        self.use.progress(Progress("facts", self.done, self.total))
        return ()

    async def _ask(self, pack: Pack) -> list[PassageFacts]:
        passages, schema = [(passage.heading, passage.text) for passage in pack], self.settings.schema
        first = await self.use.model.do(FACTS, FactsInput(passages, schema))
        facts = self._wanted(first.value, [PassageFacts()] * len(pack))
        for _ in range(self.settings.gleaning):
            try:
                more = await self.use.model.do(FACTS_MORE, MoreFactsInput(passages, _known(facts), schema))
            except UnusableReply:
                break  # the second look is a bonus; what the first one gave stands
            found = self._wanted(more.value, facts)
            if not any(f.entities or f.relations for f in found):
                break
            facts = [one + other for one, other in zip(facts, found, strict=True)]
        return facts

    def _wanted(self, reply: ExtractedFacts, before: Sequence[PassageFacts]) -> list[PassageFacts]:
        """The facts of each passage that the schema names. Others are counted by their type or predicate; a relation
        goes with an end that went.
        """
        schema, outside = self.settings.schema, self.use.outside
        types = {predicate_of(name): name for name in schema.get("entities", ())}
        predicates = {predicate_of(name) for name in schema.get("relations", ())}
        entities, relations = [], []
        for e in reply.entities:
            if types and predicate_of(e.type) not in types:
                outside[e.type or "no type"] += 1
            else:
                entities.append(replace(e, type=types.get(predicate_of(e.type), e.type)))
        names = {fold(e.name) for e in entities} | {fold(e.name) for facts in before for e in facts.entities}
        for r in reply.relations:
            ends = not types or all(fold(end) in names or type_of_value(end) for end in (r.subject, r.object))
            if ends and (not predicates or predicate_of(r.predicate) in predicates):
                relations.append(r)
            else:
                outside[r.predicate] += 1
        return _by_passage(entities, relations, len(before))

    def _fail(self, pack: Pack, error: str, reply: str = "") -> None:
        for passage in pack:
            self.use.cache.keep_failure(self.kind, passage.key, error, reply[:4000])
        self.use.fail(error, len(pack))


def _by_passage(
    named: Iterable[ExtractedEntity], stated: Iterable[ExtractedRelation], count: int
) -> list[PassageFacts]:
    entities: dict[int, list[Entity]] = defaultdict(list)
    relations: dict[int, list[Relation]] = defaultdict(list)
    for e in named:
        entities[e.passage].append(Entity(e.name, e.type, e.description))
    for r in stated:
        # A model rates from 1 to 10; rules count sentences, where 1 is usual.
        weight = min(max(r.weight, 0.1), 10.0) / 5
        relations[r.passage].append(Relation(r.subject, r.predicate, r.object, "", weight, r.date))
    return [bounded(PassageFacts(tuple(entities[n]), tuple(relations[n]))) for n in range(1, count + 1)]


def _known(facts: Sequence[PassageFacts]) -> str:
    """Short: names alone, and relations as triples."""
    lines = []
    for number, found in enumerate(facts, start=1):
        names = "; ".join(entity.name for entity in found.entities)
        triples = "; ".join(f"{r.subject} {r.predicate} {r.object}" for r in found.relations)
        lines.append(f"[{number}] {names}\n{triples}")
    return "\n".join(lines)


# What kinds of things they are


def kinds_of(settings: GraphSettings) -> Callable[[str], str]:
    """What kind of thing a type means: things of one name and of two kinds are two."""
    if settings.method != "model":
        return exclusive_kind
    own = kinds_of_schema(type.casefold() for type in settings.schema.get("entities", ()))
    return lambda type: kind_by_model(type, own)


def guessed(facts: PassageFacts) -> PassageFacts:
    """Facts of rules beside a model's: what type a thing has is a guess, but for dates and quantities."""
    entities = [
        e if (kind := coarse(e.type)) in ("date", "quantity") else replace(e, type="", guess=e.guess or kind)
        for e in facts.entities
    ]
    return replace(facts, entities=tuple(entities))


def with_values(facts: PassageFacts, method: str) -> PassageFacts:
    """The same with the types of dates, numbers and adjectives, which join nothing: those that have none known."""
    entities = [replace(e, type=(not coarse(e.type) and type_of_value(e.name)) or e.type) for e in facts.entities]
    listed = {e.name for e in facts.entities}
    for name in dict.fromkeys(facts.ends):
        if name not in listed:
            adjective = "quantity" if method == "model" and is_adjective(name) else ""
            if type := type_of_value(name) or adjective:
                entities.append(Entity(name, type))
    return replace(facts, entities=tuple(entities))


# What a model would cost


def expected_usage(documents: Iterable[Source], use: Use, settings: GraphSettings) -> Usage:
    """What the facts of these documents would use: calls and passages are counted, the prompt around them on some. What
    a model writes is as long as what it wrote here before or, where it has not, as what it reads.
    """
    kind, seen = model_kind(use.model.of(FACTS.role), settings), set[str]()
    calls = read = 0
    some: list[Pack] = []
    waiting_documents = iter(documents)
    while batch := list(islice(waiting_documents, _AT_ONCE)):
        missing = [passage for passage in _missing_passages(batch, use, [kind]) if passage.key not in seen]
        seen.update(passage.key for passage in missing)
        read += sum(count_each([passage.text for passage in missing]))
        waiting = list(_packs(missing, settings))
        calls += len(waiting)
        some += islice(waiting, SAMPLE - len(some))
    if not calls:
        return Usage()
    _require_model(use)
    before = use.cache.spent(kind)
    output = calls * before.output / before.calls if before.calls else float(read)
    inside = sum(count_each([passage.text for pack in some for passage in pack]))
    shown = [[(passage.heading, passage.text) for passage in pack] for pack in some]

    def around(prompts: Iterable[Call]) -> float:
        return (sum(map(count_call, prompts)) - inside) / len(some)

    first = read + calls * around(FACTS.call(FactsInput(passages, settings.schema)) for passages in shown)
    # Each further look is shown what the ones before gave, names and triples alone: about half of what was written.
    around_more = around(FACTS_MORE.call(MoreFactsInput(passages, "", settings.schema)) for passages in shown)
    more = read + calls * around_more + output / 2
    looks = settings.gleaning
    return Usage(calls * (1 + looks), round(first + looks * more), round(output * (1 + looks / 2)))


# From a file

FILE_LIMIT = 1 << 30


def file_hash(file: Path) -> str:
    """Changes with the content of a file of facts."""
    return _hash_at(file, *_state(file))


@lru_cache(maxsize=4)
def _hash_at(file: Path, _modified: int, _size: int) -> str:
    return content_hash(_text(file))[:12]


def facts_from_file(documents: Sequence[Source], file: Path) -> list[FactsOfDocument]:
    """The file's facts of each document; passages that the file does not know have none."""
    facts = _facts_at(file, *_state(file))
    return [
        {passage.ordinal: bounded(found) for passage, found in match(source, facts)} if not source.redirect else {}
        for source in documents
    ]


@lru_cache(maxsize=1)
def _facts_at(file: Path, _modified: int, _size: int) -> dict[str, PassageFacts]:
    return read_facts(file)


def _state(file: Path) -> tuple[int, int]:
    try:
        state = file.stat()
    except OSError as error:
        raise LoadError(f"{file} cannot be read ({error})", "check graph.file") from None
    return state.st_mtime_ns, state.st_size


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
            f"{file.name} has no triples that can be read ({error})", "see the layouts in the docs"
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


def match(source: Source, facts: Mapping[str, PassageFacts]) -> Iterator[tuple[SourcePassage, PassageFacts]]:
    """A document's passages with their facts in the file.

    A passage that was cut into several chunks gives each chunk the facts whose ends it names, the first chunk the rest.
    """
    for passage in source.passages:
        keys = (passage.id, passage.hash, passage.key, plain(passage.text), _passage_key(source.title, passage.text),
                plain(f"{source.title} {passage.text}"))  # fmt: skip
        found = next((facts[key] for key in keys if key in facts), None)
        if found is not None:
            yield passage, found
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
