"""Facts by a language model: short passages packed into one call, each passage's facts kept under its own name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragways.core.errors import ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.progress import Progress
from ragways.core.trace import Usage
from ragways.index.graph.facts import Entity, Facts, Relation, bounded
from ragways.index.graph.options import GraphOptions
from ragways.index.graph.sources import Passage, sources
from ragways.index.layer import BuildContext
from ragways.index.team import work_through
from ragways.index.work_cache import Cost
from ragways.models.bound import count_call
from ragways.models.call import Call
from ragways.models.client import CURE_NO_MODEL, ModelClient
from ragways.models.tokens import count_each
from ragways.tasks.facts import FACTS, FACTS_MORE, SaidFacts

MOST_IN_PACK = 16
SAMPLE = 32
"""Prompts that are counted to plan for all of them."""

Pack = tuple[Passage, ...]


def kind(model: ModelClient, options: GraphOptions) -> str:
    """What these results are kept as: another prompt, model or number of looks makes other facts."""
    looks = f"-more{options.gleaning}-{FACTS_MORE.text.hash[:8]}" if options.gleaning else ""
    name = model.model.name if model.model is not None else "none"
    return f"facts:model-{FACTS.text.hash[:8]}{looks}-{name}"


async def extract(context: BuildContext, options: GraphOptions) -> None:
    """Ask for the facts of every passage that has none yet, those that failed before included."""
    missing = _missing(context, options)
    if missing:
        extraction = _Extraction(context, options, kind(context.model, options), len(missing))
        await work_through(list(packs(missing, options.passage_tokens)), extraction.do)


def expected(context: BuildContext, options: GraphOptions) -> Usage:
    """What `extract` would use: calls and passages are counted, the prompt around them on some. What a model writes is
    as long as what it wrote here before or, where it has not, as what it reads.
    """
    missing = _missing(context, options)
    asked = list(packs(missing, options.passage_tokens))
    if not asked:
        return Usage()
    some = asked[:SAMPLE]
    shown = [{"passages": [(passage.title, passage.text) for passage in pack]} for pack in some]
    read = sum(count_each([passage.text for passage in missing]))
    before = context.work_cache.spent(kind(context.model, options))
    output = len(asked) * before.output / before.calls if before.calls else float(read)

    inside = sum(count_each([passage.text for pack in some for passage in pack]))

    def around(calls: Iterable[Call]) -> float:
        return (sum(map(count_call, calls)) - inside) / len(some)

    first = read + len(asked) * around(FACTS.call(variables) for variables in shown)
    # Each further look is shown what was found before, names and triples alone: about half of what was written.
    more = read + len(asked) * around(FACTS_MORE.call({**variables, "known": ""}) for variables in shown) + output / 2
    looks = options.gleaning
    return Usage(len(asked) * (1 + looks), round(first + looks * more), round(output * (1 + looks / 2)))


def _missing(context: BuildContext, options: GraphOptions) -> list[Passage]:
    """Passages that have no facts yet."""
    passages = {passage.key: passage for source in sources(context.store) for passage in source.passages}
    known = context.work_cache.results(kind(context.model, options), passages)
    missing = [passage for key, passage in passages.items() if key not in known and passage.text.strip()]
    if missing and context.model.model is None:
        raise NoModel("the graph is to be made by a language model, and none is set", CURE_NO_MODEL)
    return missing


def packs(passages: Sequence[Passage], tokens: int) -> Iterator[Pack]:
    """Neighbours together, as many as fit; the prompt is paid once a pack."""
    here: list[Passage] = []
    room = tokens
    for passage, cost in zip(passages, count_each([p.text for p in passages]), strict=True):
        if here and (cost > room or len(here) == MOST_IN_PACK):
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
    options: GraphOptions
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
        self.context.report(Progress("facts", self.done, self.total))
        return ()

    async def _ask(self, pack: Pack) -> list[Facts]:
        passages = [(passage.title, passage.text) for passage in pack]
        facts = _by_passage(await self.context.model.do(FACTS, passages=passages), len(pack))
        for _ in range(self.options.gleaning):
            try:
                more = await self.context.model.do(FACTS_MORE, passages=passages, known=_known(facts))
            except UnusableReply:
                break  # the second look is a bonus; what the first one saw stands
            found = _by_passage(more, len(pack))
            if not any(f.entities or f.relations for f in found):
                break
            facts = [one + other for one, other in zip(facts, found, strict=True)]
        return facts

    def _fail(self, pack: Pack, error: str, reply: str = "") -> None:
        for passage in pack:
            self.context.work_cache.keep_failure(self.kind, passage.key, error, reply[:4000])
        self.context.fail(error, len(pack))


def _by_passage(said: SaidFacts, count: int) -> list[Facts]:
    entities: dict[int, list[Entity]] = defaultdict(list)
    relations: dict[int, list[Relation]] = defaultdict(list)
    for e in said.entities:
        entities[e.passage].append(Entity(e.name, e.type, e.description))
    for r in said.relations:
        # A model rates from 1 to 10; rules count sentences, where 1 is usual.
        weight = min(max(r.weight, 0.1), 10.0) / 5
        relations[r.passage].append(Relation(r.subject, r.predicate, r.object, r.description, weight, r.date))
    return [bounded(Facts(tuple(entities[n]), tuple(relations[n]))) for n in range(1, count + 1)]


def _known(facts: Sequence[Facts]) -> str:
    """Short: names alone, and relations as triples."""
    lines = []
    for number, said in enumerate(facts, start=1):
        names = "; ".join(entity.name for entity in said.entities)
        triples = "; ".join(f"{r.subject} {r.predicate} {r.object}" for r in said.relations)
        lines.append(f"[{number}] {names}\n{triples}")
    return "\n".join(lines)
