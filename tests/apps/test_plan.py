"""A plan prices every layer apart, and what a run then uses is near it; a budget holds over all layers together."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from ragways.core.errors import PARTLY
from ragways.testing.replies import default_reply
from ragways.testing.server import LoopbackServer
from tests.apps.conftest import Run
from tests.fakes import write
from tests.index.builds import contents

LAYERS = "vectors,words,windows,graph,communities"
PEOPLE = ["Anna Brack", "Carl Dorn", "Nessa Druwick", "Oriel Tamsett", "Piet Vane", "Ruth Calder"]
PLACES = ["Port Averne", "Skelwick", "Saltrey", "Tollen", "Lanner Sound"]


def texts(count: int) -> dict[str, str]:
    """Short articles in which a few people and places meet again and again."""
    said = {}
    for n in range(count):
        one, two = PEOPLE[n % 6], PEOPLE[(n * 5 + 1) % 6]
        here, there = PLACES[n % 5], PLACES[(n * 3 + 2) % 5]
        said[f"{n}.md"] = (
            f"# Voyage {n}\n\n{one} sailed from {here} to {there} in {1800 + n}. {two} waited at {there} for {n} days. "
            f"The ship of {one} was lost off {here}.\n\n{two} wrote to {one} about the light of {there}. "
            f"Nobody at {here} had seen so high a tide before year {1800 + n}.\n"
        )
    return said


def reply(body: Mapping[str, object]) -> str:
    """Facts, reports and themes that say something, so that there is a graph to divide."""
    messages = body["messages"]
    assert isinstance(messages, list)
    asked = str(messages[1]["content"])
    made = json.loads(default_reply(body))
    if "entities" in made and "relations" in made:
        return json.dumps(facts(asked))
    if "findings" in made:
        finding = {"text": "They met.", "rating": 5, "entities": ["Anna Brack"]}
        return json.dumps({"title": "A group", "summary": "They sail.", "rating": 5, "findings": [finding]})
    if "documents" in made:
        themes = ["ships", "harbours", "storms", "letters", "tides"]
        return json.dumps({"documents": [{"document": n, "themes": themes} for n in range(1, 11)]})
    return json.dumps(made)


def facts(asked: str) -> dict[str, list[dict[str, object]]]:
    entities: list[dict[str, object]] = []
    relations: list[dict[str, object]] = []
    for number, text in re.findall(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", asked, re.M | re.S):
        names = [name for name in PEOPLE + PLACES if name in text]
        entities += [
            {"passage": int(number), "name": name, "type": "thing", "description": f"{name}."} for name in names
        ]
        relations += [
            {"passage": int(number), "subject": one, "predicate": "met", "object": other, "weight": 5, "date": ""}
            for one, other in pairwise(names)
        ]  # fmt: skip
    return {"entities": entities, "relations": relations}


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(reply) as server:
        yield server


def settings(server: LoopbackServer, more: str = "") -> str:
    return (
        f"[model]\nbase_url = '{server.base_url}'\nname = 'large'\npatience = 5\n"
        f"[embedder]\nkind = 'endpoint'\nbase_url = '{server.base_url}'\nname = 'small'\ndimension = 8\n"
        "[graph]\nmethod = 'model'\nvectors = 'shared'\n[communities]\ntext = 50\n"
        f"[prices.large]\ninput = 1000\noutput = 2000\n[prices.small]\ninput = 100\n{more}"
    )


def spent(index: Path, layer: str) -> dict[str, float]:
    db = sqlite3.connect(index / "work_cache.sqlite")
    row = db.execute(
        "SELECT sum(calls), sum(input), sum(output), sum(usd) FROM spent WHERE kind LIKE ?", (f"{layer}%",)
    ).fetchone()
    db.close()
    return dict(zip(("calls", "input", "output", "usd"), row, strict=True))


def near(planned: float, used: float, factor: float = 1.5) -> bool:
    return used / factor <= planned <= used * factor


def test_every_layer_has_its_price_and_a_run_keeps_near_it(ragways: Run, home: Path, server: LoopbackServer):
    write(home / "docs", texts(60))
    (home / "ragways.toml").write_text(settings(server))
    planned = ragways("index", "docs", "--with", LAYERS, "--plan", "--json").data
    layers = {layer["name"]: layer for layer in planned["layers"]}
    assert list(layers) == LAYERS.split(",")
    assert server.count == 0  # a plan asks nobody
    assert not (home / ".ragways").exists()
    assert planned["model_calls"] == sum(layer["calls"] for layer in planned["layers"])
    assert planned["model_tokens"] == sum(layer["input"] + layer["output"] for layer in planned["layers"])
    assert planned["usd"] == pytest.approx(sum(layer["usd"] for layer in planned["layers"]))
    assert planned["seconds"] > sum(layer["seconds"] for layer in planned["layers"]) > 0

    assert ragways("index", "docs", "--with", LAYERS).code == 0
    index = home / ".ragways"
    used = spent(index, "facts:")
    embedding = spent(index, "embed:graph")
    assert near(layers["graph"]["calls"], used["calls"] + embedding["calls"])
    assert near(layers["graph"]["input"], used["input"] + embedding["input"])
    themes, windows = spent(index, "themes"), spent(index, "embed:windows")
    assert near(layers["windows"]["calls"], themes["calls"] + windows["calls"])
    assert near(layers["windows"]["input"], themes["input"] + windows["input"])
    assert near(layers["vectors"]["input"], spent(index, "embed:vectors")["input"])
    assert spent(index, "report:")["calls"] > 0

    # What is paid for already is not planned again, and one more document costs a little.
    again = ragways("index", "docs", "--with", LAYERS, "--plan", "--json").data
    assert (again["to_embed"], again["model_calls"], again["usd"]) == (0, 0, 0)
    write(home / "docs", {"new.md": texts(61)["60.md"]})
    one = ragways("index", "docs", "--with", LAYERS, "--plan", "--json").data
    assert (one["new"], one["unchanged"]) == (1, 60)
    assert 0 < one["usd"] < planned["usd"] / 5


def test_gleaning_is_counted(ragways: Run, home: Path, server: LoopbackServer):
    write(home / "docs", texts(30))
    (home / "ragways.toml").write_text(settings(server).replace("method = 'model'", "method = 'model'\ngleaning = 1"))
    [layer] = ragways("index", "docs", "--with", "graph", "--plan", "--json").data["layers"]
    assert ragways("index", "docs", "--with", "graph").code == 0
    used = spent(home / ".ragways", "facts:")
    assert near(layer["calls"], used["calls"])
    assert near(layer["input"], used["input"])


def test_a_role_is_planned_and_paid_at_the_price_of_its_model(ragways: Run, home: Path, server: LoopbackServer):
    write(home / "docs", texts(6))
    planned: list[float] = []
    paid: list[float] = []
    for more in ("", "[model.extract]\nname = 'mini'\n[prices.mini]\ninput = 100\noutput = 200\n"):
        (home / "ragways.toml").write_text(settings(server, more).replace("'shared'", "'none'"))
        index = f"index{len(paid)}"
        command = ("index", "docs", "--with", "graph", "--index", index)
        [layer] = ragways(*command, "--plan", "--json").data["layers"]
        assert ragways(*command).code == 0
        planned.append(layer["usd"])
        paid.append(spent(home / index, "facts:")["usd"])
    assert planned[1] == pytest.approx(planned[0] / 10)
    assert paid[1] == pytest.approx(paid[0] / 10)
    assert {seen.body["model"] for seen in server.requests} == {"large", "mini"}


def test_an_unknown_price_is_said_to_be_unknown(ragways: Run, home: Path, server: LoopbackServer):
    write(home / "docs", texts(3))
    (home / "ragways.toml").write_text(settings(server).partition("[prices.large]")[0])
    planned = ragways("index", "docs", "--with", "graph", "--plan", "--json").data
    assert planned["usd"] is None
    assert planned["layers"][0]["usd"] is None
    assert "unknown" in ragways("index", "docs", "--with", "graph", "--plan").out
    assert ragways("index", "docs", "--with", "graph").code == 0
    assert "$0.00" not in ragways("status").out, "what was paid is not nothing"


def test_rules_cost_seconds_and_no_money(ragways: Run, home: Path):
    write(home / "docs", texts(20))
    planned = ragways("index", "docs", "--with", LAYERS, "--plan", "--json").data
    layers = {layer["name"]: layer for layer in planned["layers"]}
    assert (planned["usd"], planned["model_calls"]) == (0, 0)
    assert layers["graph"]["seconds"] > 0
    done = ragways("index", "docs", "--with", LAYERS, "--json").data
    assert near(planned["to_embed"], done["embedded"])
    status = {layer["name"]: layer["rows"] for layer in ragways("status", "--json").data["by_layer"]}
    assert layers["graph"]["rows"] == status["graph"]
    assert layers["windows"]["rows"] == status["windows"]
    assert 0 < layers["communities"]["rows"] <= 2 * status["communities"]


def test_without_a_model_the_plan_says_what_the_run_would(ragways: Run, home: Path):
    write(home / "docs", texts(2))
    (home / "ragways.toml").write_text("[graph]\nmethod = 'model'\n")
    planned = ragways("index", "docs", "--with", "graph", "--plan")
    assert planned.code == ragways("index", "docs", "--with", "graph").code == 4
    assert "none is set" in planned.err


def _prices(path: Path) -> float:
    db = sqlite3.connect(path / "work_cache.sqlite")
    usd = db.execute("SELECT sum(usd) FROM spent").fetchone()[0]
    db.close()
    return float(usd)


def test_a_budget_holds_over_all_layers_and_the_next_run_pays_the_rest(
    ragways: Run, home: Path, server: LoopbackServer
):
    write(home / "docs", texts(60))
    small = settings(server).replace("method = 'model'", "method = 'model'\npassage_tokens = 300")
    (home / "ragways.toml").write_text(small)
    full = ragways("index", "docs", "--with", LAYERS, "--index", "whole", "--json").data["usage"]["usd"]
    wanted = server.count
    assert _prices(home / "whole") == pytest.approx(full)
    for share in (0.15, 0.75):
        before, budget, place = server.count, share * full, f"index-{share}"
        stopped = ragways("index", "docs", "--with", LAYERS, "--index", place, "--budget", str(budget), "--json")
        assert stopped.code == 5
        assert stopped.data["stopped"]
        # Never passed, and left unspent is no more than one call of extraction can cost at most.
        assert budget - 15 < stopped.data["usage"]["usd"] <= budget
        if share == 0.75:
            assert 0 < spent(home / place, "facts:")["calls"] < spent(home / "whole", "facts:")["calls"]
        assert _prices(home / place) == pytest.approx(stopped.data["usage"]["usd"])
        done = ragways("index", "docs", "--with", LAYERS, "--index", place, "--json")
        assert done.code == 0
        assert done.data["usage"]["usd"] == pytest.approx(full - stopped.data["usage"]["usd"], rel=0.02)
        assert server.count - before <= wanted + 8  # where a batch was cut by the budget, one call more
        assert contents(home / "whole") == contents(home / place)


# Files


def test_a_plan_knows_the_files_of_a_folder_inside_another(ragways: Run, home: Path):
    write(home / "up" / "docs", texts(2))
    assert ragways("index", "up/docs", "--with", "words").code == 0
    planned = ragways("index", "up", "--with", "words", "--plan", "--json").data
    done = ragways("index", "up", "--with", "words", "--json").data
    assert (planned["new"], planned["changed"], planned["unchanged"]) == (0, 0, 2)
    assert (done["added"], done["changed"], done["unchanged"]) == (0, 0, 2)


def test_a_plan_says_what_is_kept_because_it_is_skipped_now(ragways: Run, home: Path):
    write(home / "docs", texts(2) | {".note.txt": "A hidden note."})
    assert ragways("index", "docs", "--with", "words").code == 0
    (home / "ragways.toml").write_text("[corpus]\nmax_bytes = 10\n")
    planned = ragways("index", "docs", "--with", "words", "--plan", "--json").data
    done = ragways("index", "docs", "--with", "words", "--json").data
    assert len(planned["failed"]) == 2
    assert planned["failed"] == done["failed"]
    assert planned["skipped"] == done["skipped"]
    assert (planned["hidden"], done["hidden"]) == (1, 1)
    assert "would be left out: 1 hidden" in ragways("index", "docs", "--with", "words", "--plan").err


def test_a_run_ends_with_what_was_asked_what_came_what_it_cost_and_what_nobody_wanted(ragways: Run, home: Path):
    def one_fails(body: Mapping[str, object]) -> str:
        asked = str(body["messages"][1]["content"])  # type: ignore[index]
        return "I would rather not" if "Voyage 3" in asked else json.dumps(facts(asked))

    write(home / "docs", texts(6))
    wanted = "schema = {relations = {met = 'one saw another'}, entities = {person = 'whoever sails'}}"
    with LoopbackServer(one_fails) as server:
        (home / "ragways.toml").write_text(
            f"[model]\nbase_url = '{server.base_url}'\nname = 'large'\n[graph]\nmethod = 'model'\n{wanted}\n"
            "[prices.large]\ninput = 1000\noutput = 2000\n"
        )
        ran = ragways("index", "docs", "--with", "graph")
        calls = server.count
    assert ran.code == PARTLY
    usage = spent(home / ".ragways", "facts:")
    said = " ".join(ran.out.split())
    tokens = f"{usage['input']:,.0f} + {usage['output']:,.0f} tokens"
    assert f"asked: {calls} calls, {tokens}, ${usage['usd']:.4f}; came: facts 5 of 6" in said
    assert "outside graph.schema, not stored: thing" in said
