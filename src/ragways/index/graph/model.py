"""Facts by a language model: short passages packed into one call, each passage's facts kept under its own name."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ragways.core.errors import BudgetExceeded, ModelError, ModelRefused, NoModel, UnusableReply
from ragways.core.progress import Progress
from ragways.index.graph.facts import Entity, Facts, Relation, bounded
from ragways.index.graph.options import GraphOptions
from ragways.index.graph.sources import Passage, sources
from ragways.index.layer import Site
from ragways.models.door import CURE_NO_MODEL, Door
from ragways.models.tokens import count_each
from ragways.tasks.facts import FACTS, FACTS_MORE, SaidFacts

AT_ONCE = 64
"""Packs under way: more than any endpoint's concurrency, which the door holds, so that it is never idle."""
MOST_IN_PACK = 16

Pack = tuple[Passage, ...]


def kind(model: Door, options: GraphOptions) -> str:
    """What these results are kept as: another prompt, model or number of looks makes other facts."""
    looks = f"-more{options.gleaning}-{FACTS_MORE.text.hash[:8]}" if options.gleaning else ""
    name = model.model.name if model.model is not None else "none"
    return f"facts:model-{FACTS.text.hash[:8]}{looks}-{name}"


async def extract(site: Site, options: GraphOptions) -> None:
    """Ask for the facts of every passage that has none yet, those that failed before included."""
    passages = {passage.key: passage for source in sources(site.store) for passage in source.passages}
    this = kind(site.model, options)
    known = site.paid.results(this, passages)
    missing = [passage for key, passage in passages.items() if key not in known and passage.text.strip()]
    if not missing:
        return
    if site.model.model is None:
        raise NoModel("the graph is to be made by a language model, and none is set", CURE_NO_MODEL)
    await _Extraction(site, options, this, len(missing)).run(list(packs(missing, options.passage_tokens)))


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

    site: Site
    options: GraphOptions
    kind: str
    total: int
    done: int = 0
    stop: BaseException | None = None
    waiting: list[Pack] = field(default_factory=list)

    async def run(self, packs: list[Pack]) -> None:
        self.waiting = packs[::-1]
        await asyncio.gather(*(self._worker() for _ in range(min(AT_ONCE, len(packs)))))
        if self.stop is not None:
            raise self.stop

    async def _worker(self) -> None:
        while self.waiting and self.stop is None:
            pack = self.waiting.pop()
            try:
                await self._do(pack)
            except (BudgetExceeded, ModelRefused) as stop:
                self.stop = stop
            except BaseException as error:
                self.stop = error
                raise

    async def _do(self, pack: Pack) -> None:
        try:
            facts = await self._ask(pack)
        except UnusableReply as error:
            if len(pack) > 1:
                # One passage may have spoilt the reply for all: ask for each alone.
                self.waiting += [(passage,) for passage in reversed(pack)]
                return
            self._fail(pack, error.message, error.reply)
        except ModelRefused as error:
            if not self.done:
                raise
            self._fail(pack, error.message)
        except ModelError as error:
            self._fail(pack, error.message)
        else:
            self.site.paid.keep_results(
                self.kind, {passage.key: f.to_json() for passage, f in zip(pack, facts, strict=True)}
            )
        self.done += len(pack)
        self.site.report(Progress("facts", self.done, self.total))

    async def _ask(self, pack: Pack) -> list[Facts]:
        passages = [(passage.title, passage.text) for passage in pack]
        facts = _by_passage(await self.site.model.do(FACTS, passages=passages), len(pack))
        for _ in range(self.options.gleaning):
            try:
                more = await self.site.model.do(FACTS_MORE, passages=passages, known=_known(facts))
            except UnusableReply:
                break  # the second look is a bonus; what the first one saw stands
            found = _by_passage(more, len(pack))
            if not any(f.entities or f.relations for f in found):
                break
            facts = [one + other for one, other in zip(facts, found, strict=True)]
        return facts

    def _fail(self, pack: Pack, error: str, reply: str = "") -> None:
        for passage in pack:
            self.site.paid.keep_failure(self.kind, passage.key, error, reply[:4000])
        self.site.failed += len(pack)


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
