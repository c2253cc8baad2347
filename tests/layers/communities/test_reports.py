"""Reports by rules and by a model: what they say, what is paid, and what is written anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragways.core.trace import Budget, Usage, spending
from ragways.core.types import document_number
from ragways.layers.communities.layer import COMMUNITIES, TOKENS_A_CALL
from ragways.layers.layer import Sample
from ragways.models.client import ModelClient
from ragways.models.limits import Traffic
from tests.fakes import WordHashes
from tests.layers.communities.made import FAR, HARBOUR, ORCHARD, MadeIndex, Reporter, all_of
from tests.store.rows import failed_work

ALL = {**HARBOUR, **ORCHARD, **FAR}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[MadeIndex]:
    made = MadeIndex(tmp_path / "index", WordHashes())
    yield made
    made.close()


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[MadeIndex]:
    made = MadeIndex(tmp_path / "paid", WordHashes(), method="model")
    yield made
    made.close()


def paid_for(index: MadeIndex) -> int:
    return sum(index.cache.count(kind) for kind in index.cache.kinds("report:"))


def test_a_report_by_rules_names_the_central_and_quotes_what_joins_them(index: MadeIndex) -> None:
    index.put(ALL)
    index.fold()
    read = index.open()
    assert {frozenset(c.title.split(", ")) for c in read.of_level(0)} == {
        frozenset({"Orla Tamsett", "Kelder Bay", "Bram Oldcastle"}),
        frozenset({"Maud Venn", "Vale Market", "Piers Hallow"}),
        frozenset({"Comet Ysolde", "Tycho Marn", "Mount Ferrin"}),
    }
    assert all(c.way == "rules" and c.tokens > 0 and c.leaf for c in read.of_level(0))
    for community in read.of_level(0):
        report = read.report(community.id)
        assert report is not None
        assert len(report.findings) >= 3
        assert [f.rating for f in report.findings] == sorted((f.rating for f in report.findings), reverse=True)
        for finding in report.findings:
            assert finding.text in " ".join(ALL.values())
            assert 0 < finding.rating <= 10
            assert set(finding.entities) <= set(read.members(community.id))


def test_a_model_writes_reports_once_and_anew_only_where_something_changed(paid: MadeIndex) -> None:
    model = Reporter()
    paid.put({**HARBOUR, **ORCHARD})
    paid.fold(model)
    assert len(model.calls) == 2
    before = dict(all_of(paid.open())["reports"])
    paid.put(FAR)
    paid.fold(model)
    assert len(model.calls) == 3, "the others are given to the communities that are found anew"
    assert "Comet Ysolde" in model.calls[-1].messages[-1].content
    assert before.items() < dict(all_of(paid.open())["reports"]).items()
    paid.put({"venn": ORCHARD["venn"].replace("sold cider to", "sold his cider at")})
    paid.fold(model)
    assert len(model.calls) == 4, "what it was written from has changed"
    paid.fold(model, fresh=True)
    paid.fold(model, anew=True)
    assert len(model.calls) == 4, "nothing is paid for twice"
    assert paid.open().counts() == {"model": 3}


def test_a_report_stays_while_nine_tenths_of_its_members_do(paid: MadeIndex) -> None:
    names = [f"Name {chr(65 + n)}{chr(97 + m)}" for n in range(5) for m in range(4)]
    others = {
        f"o{n}": f"{other}x met {other}y. {other}y met {other}z. {other}z met {other}x."
        for n, other in enumerate(f"Other {chr(65 + n)}" for n in range(20))
    }
    chain = {f"n{n}": f"{name} met Hub Centre." for n, name in enumerate(names)}
    model = Reporter()
    paid.put({**others, **chain})
    paid.fold(model)
    [hub] = paid.graph().named("Hub Centre")
    [before] = paid.open().of_entity(hub)
    assert (before.size, before.way) == (21, "model")
    calls = len(model.calls)
    paid.put({"more": "Name Ea met Late Comer."})
    paid.fold(model)
    [now] = paid.open().of_entity(hub)
    assert (now.id, now.size, now.title) == (before.id, 22, before.title)
    assert len(model.calls) == calls
    paid.put({f"more{n}": f"Late Comer{chr(97 + n)} met Late Comer." for n in range(6)})
    paid.put({f"more{n}": f"Hub Centre met Late Comer{chr(97 + n)}." for n in range(6, 12)})
    paid.fold(model)
    assert len(model.calls) > calls, "half as many members more"


def test_an_unusable_reply_is_recorded_and_tried_again(paid: MadeIndex) -> None:
    paid.put(ORCHARD)
    use = paid.fold(Reporter(fail=3))
    assert (use.failed, [(c.way, c.title) for c in paid.open().of_level(0)]) == (1, [("", "")])
    [(_, tries, error, reply)] = failed_work(paid.folder)
    assert (tries, reply) == (1, "no report today")
    assert "no usable reply" in error
    model = Reporter()
    assert paid.fold(model).failed == 0
    assert len(model.calls) == 1
    assert failed_work(paid.folder) == []
    assert paid.open().counts() == {"model": 1}


def test_a_budget_stops_what_is_paid_and_the_next_run_goes_on(paid: MadeIndex) -> None:
    paid.put(ALL)
    first = Reporter()
    with spending(Budget(calls=2)):
        use = paid.fold(ModelClient(first, traffic=Traffic(concurrency=1)))
    assert "budget" in use.why
    assert use.failed == 1
    assert paid.open().counts() == {"": 1, "model": 2}
    assert paid_for(paid) == len(first.calls) == 2
    second = Reporter()
    paid.fold(second)
    assert len(second.calls) == 1
    assert paid.open().counts() == {"model": 3}


def test_a_removal_takes_the_report_and_the_next_run_writes_another(paid: MadeIndex) -> None:
    paid.put(ALL)
    model = Reporter()
    paid.fold(model)
    paid.remove("venn")
    use = paid.fold(pays=False)
    assert use.failed == 1
    assert paid.open().counts() == {"": 1, "model": 2}
    assert "Quillon Orchard" not in str(all_of(paid.open())["reports"])
    paid.fold(model)
    assert paid.open().counts() == {"model": 3}
    assert len(model.calls) == 4
    paid.put({"venn": ORCHARD["venn"]})
    paid.fold(pays=False)
    assert paid.open().counts() == {"model": 3}, "what was paid for is found without a model"


def test_an_addition_alone_pays_for_no_report_again_though_an_entity_is_known_better(paid: MadeIndex) -> None:
    paid.put(ALL)
    model = Reporter()
    paid.fold(model)
    paid.put({"more": "Maud Venn (grower) met Piers Hallow. Maud Venn (grower) met Piers Hallow."})
    paid.fold(model)
    assert len(model.calls) == 3, "its text is as true as it was"


def test_before_the_last_fold_of_a_run_nothing_is_paid(paid: MadeIndex) -> None:
    paid.put(ORCHARD)
    model = Reporter()
    use = paid.fold(model, last=False)
    assert (use.failed, len(model.calls), paid.open().counts()) == (1, 0, {"": 1})
    paid.fold(model)
    assert (len(model.calls), paid.open().counts()) == (1, {"model": 1})


def test_a_large_community_is_split_and_its_report_rests_on_those_below(tmp_path: Path) -> None:
    # A ring of tight groups: modularity alone prefers several of them as one.
    index = MadeIndex(tmp_path / "index", method="model", size=6)
    names = [f"{first} {last}" for first in ("Aldo", "Cora", "Egon", "Gwen")
             for last in ("Brine", "Dunn", "Frost", "Jute", "Kell", "Lorn")]  # fmt: skip
    documents = {}
    for n, name in enumerate(names):
        own = [f"{name.replace(' ', '')} {word}" for word in ("Bridge", "Tower", "Mill")]
        said = [
            f"{name} owned {one}. {one} and {other}. {other} and {name}." for one in own for other in own if one < other
        ]
        documents[f"p{n}"] = f"{' '.join(said)} {name} knew {names[n - 1]}."
    index.put(documents)
    model = Reporter()
    index.fold(model)
    read = index.open()
    split = [c for c in read.of_level(0) if not c.leaf]
    assert split
    shown = [text for c in model.calls if "Reports of its parts" in (text := c.messages[-1].content)]
    for community in split:
        children = read.children(community.id)
        assert any(all(f"{child.title}: {child.summary}" in text for child in children if child.way) for text in shown)
    calls, [parent] = len(model.calls), [c.id for c in split][:1]
    inside = next(n for n, name in enumerate(names) if index.graph().named(name)[0] in read.members(parent))
    index.remove(f"p{inside}")
    index.fold(model)
    assert len(model.calls) > calls
    gone = names[inside].replace(" ", "")
    assert gone not in str(all_of(index.open())["reports"])
    index.close()


def test_what_the_index_still_needs_is_known_for_erasing(paid: MadeIndex) -> None:
    paid.put(ALL)
    use = paid.fold(Reporter())
    used = COMMUNITIES.used(paid.store, paid.view, use)
    [kind] = paid.cache.kinds("report:")
    assert len(used["vectors"]) == 3
    assert paid.cache.results(kind, used[kind]).keys() == used[kind]
    assert paid_for(paid) == len(used[kind]) == 3


def test_an_estimate_is_in_proportion_to_the_text_and_costs_nothing(paid: MadeIndex) -> None:
    paid.put(ALL)
    use = paid.fold(Reporter())
    sources = list(paid.store.sources([document_number(key) for key in HARBOUR]))
    sample = Sample(sources, 3000, 3000, 0.001, lambda: iter(sources))
    estimate = COMMUNITIES.estimate(sample, use)
    tokens = sum(len(text.split()) for text in HARBOUR.values()) * 1000
    assert estimate.rows == pytest.approx(tokens / TOKENS_A_CALL, rel=0.5)
    assert estimate.usage.calls == estimate.rows
    assert estimate.usage.input > 0
    assert estimate.kind.startswith("report:model-")
    assert len(estimate.like) * estimate.times == pytest.approx(estimate.rows)
    rules = use.settings["communities"].model_copy(update={"method": "rules"})
    use.settings = {**use.settings, "communities": rules}
    assert COMMUNITIES.estimate(sample, use).usage == Usage()
