"""Two tenants on one server: thousands of requests of one, over every route, learn nothing of the other.

What is not yours is answered as what is not there: the same status, the same words, after the same steps (statements to
the database, calls of workers). No word, name, id, number or cost of the other is in any reply.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI

from ragways.assemble import recipe_of
from ragways.index.build import build
from ragways.service.app import make_app
from ragways.service.auth import Service
from ragways.service.collections import Collection
from ragways.service.config import ServiceConfig
from ragways.settings import read_settings
from tests.fakes import write
from tests.service.gated import Reply, ask

WORDS = ("quokkazephyr", "wombatcanary", "emufeedback", "setcanary", "canaryfile", "runcanary")
SECRET = "plansxylo"
THEIRS = {
    f"{SECRET}/canaryfile.md": "# Quokkazephyr Harbour\n\nThe quokkazephyr light was built by Anna Brack in 1801.\n",
    "shared/canaryfile.txt": "The quokkazephyr storm of 1883 destroyed the roof of Anna Brack.",
    "shared/second.txt": "A quokkazephyr was seen by Peter Holm in Aarhus.",
}
OURS = {"shared/light.txt": "The harbour light was built by Jane Miller in 1790. Jane Miller lived in Bergen."}
COST = 1.7294863


@dataclass
class House:
    """The server with its two tenants; `theirs` are ids that only the other tenant may know."""

    app: FastAPI
    service: Service
    owner: str
    callers: dict[str, str]
    theirs: dict[str, str]
    steps: list[str] = field(default_factory=list)
    asked: int = 0

    async def ask(self, key: str, method: str, path: str, body: object = None) -> Reply:
        """One request, with the steps that it took."""
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.steps.clear()
        self.asked += 1
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        async with asyncio.timeout(60):  # a stream that should have been a 404 would not end
            return await ask(self.app, method, path, headers, data)

    def canaries(self) -> list[str]:
        ids = [value for name, value in self.theirs.items() if name != "document"]
        return [*WORDS, SECRET, "acmetenant", "ownerkey", str(COST)[2:], *ids]


async def indexed(service: Service, tenant: str, name: str, texts: dict[str, str], layers: set[str]) -> Collection:
    made = service.collections.create(tenant, name, sorted(layers))
    assert made.files is not None
    own = {path.partition("/")[2]: text for path, text in texts.items() if path.startswith(f"{name}/")}
    if own:
        write(made.files, own)
        await build(made.index, [made.files], recipe_of(service.config.settings, frozenset(layers)))
    return service.collections.refresh(made)


@asynccontextmanager
async def house(folder: Path, cache: Path) -> AsyncIterator[House]:
    settings = read_settings(environment={}, cache=cache)
    app = make_app(ServiceConfig(folder / "data", settings, workers=1, jobs=0))
    service: Service = app.state.service
    kept, owner = service.keys.add("ownerkey", scope="admin", tenant="acmetenant", budget=10)
    callers = {
        "other": service.keys.add("b", scope="admin", tenant="other")[1],
        "reader": service.keys.add("c", scope="read", tenant="other")[1],
        "limited": service.keys.add("d", scope="admin", tenant="acmetenant", collections=["open"])[1],
    }
    secret = await indexed(service, "acmetenant", SECRET, THEIRS, {"words", "graph"})
    await indexed(service, "acmetenant", "shared", THEIRS, {"words", "graph"})
    await indexed(service, "acmetenant", "open", OURS, {"words"})
    await indexed(service, "other", "shared", OURS, {"words", "graph"})
    async with app.router.lifespan_context(app):
        made = House(app, service, owner, callers, {"key": kept.id})
        await fill(made, secret)
        watch(made)
        yield made


async def fill(made: House, secret: Collection) -> None:
    """What the other tenant has: jobs, conversations, feedback, questions, runs, entities, and what it spent."""
    place, theirs = f"/api/v1/collections/{SECRET}", made.theirs

    async def done(method: str, path: str, body: object = None) -> Any:
        reply = await made.ask(made.owner, method, place + path, body)
        assert reply.status in (200, 201, 202), reply.body
        return reply.json()

    theirs["job"] = (await done("POST", "/jobs", {"kind": "plan"}))["id"]
    theirs["conversation"] = (await done("POST", "/conversations"))["id"]
    question = {"question": "Where is the wombatcanary?", "paradigm": "words", "conversation": theirs["conversation"]}
    await done("POST", "/ask", question)
    await done("POST", "/feedback", {"question": "emufeedback?", "answer": "emufeedback", "verdict": "good"})
    [document] = (await done("GET", "/documents"))["documents"]
    theirs["document"] = document["id"]
    theirs["entity"] = (await done("GET", "/entities?search=Anna"))["entities"][0]["id"]
    theirs["run"] = "c0ffee00c0ffee00"
    write(secret.questions, {"setcanary.jsonl": json.dumps({"question": "setcanary?"}) + "\n"})
    figures = json.dumps({"paradigms": [], "questions": "runcanary", "asked": 1, "metrics": []})
    write(secret.runs / theirs["run"], {"figures.json": figures, "report.html": "<p>runcanary</p>"})
    with made.service.ledger.hold(made.theirs["key"]) as held:
        held.settle(COST)


def watch(made: House) -> None:
    """Note every statement and every call of a worker."""
    made.service.state.db.set_trace_callback(lambda sql: made.steps.append(re.sub(r"'[^']*'|\d+", "?", sql)))
    call = made.service.workers.call

    async def counted(operation: str, *given: Any, **named: Any) -> Any:
        made.steps.append(f"worker {operation}")
        return await call(operation, *given, **named)

    made.service.workers.call = counted  # type: ignore[method-assign]


ASKED: dict[str, object] = {
    "ask": {"question": "Where is the light?", "paradigm": "words"},
    "compare": {"question": "Where is the light?", "paradigms": ["words"]},
    "retrieve": {"question": "Where is the light?", "paradigm": "words"},
    "route": {"question": "Where is the light?"},
    "walk": {"evidence": []},
    "jobs": {"kind": "plan"},
    "feedback": {"question": "x?", "answer": "x", "verdict": "good"},
    "conversations": None,
}
IDS = {
    "jobs": ("job", "0123456789abcdef"), "documents": ("document", "article:1"), "evidence": ("document", "article:1"),
    "conversations": ("conversation", "AAAAAAAAAAAAAAAA"), "questions": ("set", "setnothing"),
    "runs": ("run", "feedbeeffeedbeef"), "entities": ("entity", "entity:0123456789abcdef"),
    "communities": ("community", "community:0123456789abcdef"), "files": ("file", "nosuchfile.md"),
}  # fmt: skip


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, item in document["paths"].items():
        for method in item:
            yield method.upper(), path


def filled(made: House, path: str, collection: str, theirs: bool) -> str:
    """The path of a route with a collection, and with ids of the other tenant or with made-up ones."""
    path = path.replace("{collection}", collection)
    if match := re.search(r"/(\w+)/\{(\w+)\}", path):
        kind, invented = IDS[match[1]]
        known = {"set": "setcanary", "file": "canaryfile.md", "community": "community:1"} | made.theirs
        path = path.replace(f"{{{match[2]}}}", quote(known[kind] if theirs else invented))
    if path.endswith("/paths"):
        ids = made.theirs["entity"] if theirs else "entity:0123456789abcdef"
        path += f"?start={quote(ids)}&end={quote(ids)}"
    return path


def sent(method: str, path: str) -> object:
    if method == "PUT":
        return b"x"
    return ASKED.get(path.rpartition("/")[2]) if method == "POST" else None


def shown(reply: Reply) -> tuple[int, str, list[str]]:
    """All that a client sees but the id of the request."""
    id = reply.headers["x-request-id"]
    headers = sorted(f"{name}: {value}" for name, value in reply.headers.items() if name != "x-request-id")
    return reply.status, reply.body.decode().replace(id, "ID"), headers


VARIANTS: tuple[Callable[[str], str], ...] = (
    str, str.upper, lambda name: quote(name, safe="").replace("p", "%70").replace("n", "%6E"), lambda name: f"{name}.",
    lambda name: f"{name}%20", lambda name: f"{name}%00", lambda name: f"./{name}", lambda name: f"acmetenant/{name}",
    lambda name: f"%2e%2e/{name}", lambda name: f"{name}%2F", lambda name: f"{name};a=b", lambda name: f"{name}'--",
    lambda name: f"{name}*", lambda name: f"%EF%BC%90{name}", lambda name: f"{name}%0d%0aX-A:%20b",
)  # fmt: skip


async def not_theirs_to_see(made: House, rounds: int | None = None, methods: str = "GET POST PUT DELETE") -> list[str]:
    """Every route with the other's collection and ids, against the same with what is not there."""
    found: list[str] = []
    all_of_them = [pair for pair in operations(made.app.openapi()) if "{" in pair[1] and pair[0] in methods.split()]
    for variant, (name, key) in itertools.islice(itertools.product(VARIANTS, made.callers.items()), rounds):
        for method, path in all_of_them:
            if "{collection}" not in path and variant is not str:
                continue
            replies = []
            for theirs, collection in ((True, SECRET), (False, "nothinghere")):
                where = filled(made, path, variant(collection), theirs)
                reply = await made.ask(key, method, where, sent(method, path))
                replies.append((shown(reply), list(made.steps)))
                found += [f"{name} {method} {where}: {word}" for word in made.canaries() if word in str(replies[-1][0])]
            (first, first_steps), (second, second_steps) = replies
            # A reader may not cancel a job, whosever it is. A strange name may lead to another route, or to none.
            refused = first[0] in ((404, 403) if name == "reader" else (404,) if variant is str else (404, 405, 422))
            if first != second or not refused:
                found.append(f"{name} {method} {path} differs: {first} and {second}")
            if first_steps != second_steps:
                found.append(f"{name} {method} {path} takes other steps: {first_steps} and {second_steps}")
    return found


async def their_ids_in_ours(made: House) -> list[str]:
    """The other's ids asked of a collection of one's own that has the same name as one of theirs."""
    found: list[str] = []
    for method, path in operations(made.app.openapi()):
        if "{collection}" not in path or method == "PUT" or (method, path.count("{")) == ("DELETE", 1):
            continue
        replies = []
        for theirs in (True, False):
            where = filled(made, path, "shared", theirs)
            reply = await made.ask(made.callers["other"], method, where, sent(method, path))
            assert reply.status < 500, (where, reply.body)
            told = str(shown(reply))
            found += [f"{where}: {word}" for word in made.canaries() if word in told and word not in where]
            asked_for = "|".join(map(re.escape, [*made.theirs.values(), *(one for _, one in IDS.values())]))
            replies.append((reply.status, re.sub(f"{asked_for}|content-length: .*?'", "X", told), len(made.steps)))
        if path.count("{") > 1 and replies[0][0] != (409 if "/communities/" in path else 404):
            found.append(f"{method} {path} knows something: {replies[0]}")
        if path.count("{") > 1 and replies[0] != replies[1]:
            found.append(f"{method} {path} differs: {replies}")
    return found


async def what_lists_tell(made: House) -> list[str]:
    found: list[str] = []
    chat = {"messages": [{"role": "user", "content": "Where is the light?"}]}
    shared = "/api/v1/collections/shared"
    paths = ("/api/v1/collections", "/api/v1/me", "/v1/models", shared, f"{shared}/documents?search=quokka", "/",
             "/api/v1/openapi.json", "/healthz", "/readyz", "/metrics")  # fmt: skip
    requests: list[tuple[str, str, object]] = [
        *(("GET", path, None) for path in paths),
        ("POST", f"{shared}/ask", {"question": "Who built the light?", "paradigm": "words"}),
        ("POST", f"{shared}/ask", {"question": "Who?", "paradigm": "nonsense"}),
        ("POST", f"{shared}/retrieve", {"question": "storm of 1883 Anna", "paradigm": "words"}),
    ]
    for name, key in made.callers.items():
        for method, path, body in requests:
            told = str(shown(await made.ask(key, method, path, body)))
            own = "acmetenant" if name == "limited" else ""  # a key may know whose it is
            found += [f"{path}: {word}" for word in made.canaries() if word in told and word != own]
        pair = [
            shown(await made.ask(key, "POST", "/v1/chat/completions", {**chat, "model": f"{name}/words"}))
            for name in (SECRET, "nothinghere")
        ]
        if pair[0] != pair[1] or pair[0][0] != 404:
            found.append(f"/v1/chat/completions differs: {pair}")
        for method in ("initialize", "tools/list"):
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
            pair = [shown(await made.ask(key, "POST", f"/mcp/{name}", call)) for name in (SECRET, "nothinghere")]
            if pair[0] != pair[1] or pair[0][0] != 404:
                found.append(f"/mcp differs: {pair}")
        pair = [
            shown(await made.ask(key, "POST", "/api/v1/collections", {"name": name, "layers": ["nothing"]}))
            for name in (SECRET, "nothinghere")
        ]
        if pair[0] != pair[1]:
            found.append(f"making a collection differs: {pair}")
    if "other" not in made.callers:
        return found
    # Sums over all tenants are not for one of them.
    assert (await made.ask(made.callers["other"], "GET", "/metrics")).status == 403
    listed = (await made.ask(made.callers["other"], "GET", "/api/v1/collections")).json()["collections"]
    assert [(one["name"], one["documents"]) for one in listed] == [("shared", 1)]
    mine = (await made.ask(made.callers["limited"], "GET", "/api/v1/collections")).json()["collections"]
    assert [one["name"] for one in mine] == ["open"]
    return found


def test_no_request_learns_anything_of_another_tenant(tmp_path: Path, cache_folder: Path):
    async def main() -> tuple[list[str], int]:
        async with house(tmp_path, cache_folder) as made:
            found = await what_lists_tell(made) + await their_ids_in_ours(made)
            found += await not_theirs_to_see(made)
            reply = await made.ask(made.owner, "GET", f"/api/v1/collections/{SECRET}")
            assert reply.json()["documents"] == 1  # nothing of it was touched
            assert made.service.audit.problems() == []
            return found, made.asked

    found, asked = asyncio.run(main())
    assert found[:3] == []
    assert asked > 3_000


def test_the_search_for_canaries_finds_them(tmp_path: Path, cache_folder: Path):
    """The other tenant's own key gets to see them: so they would be seen."""

    async def main() -> list[str]:
        async with house(tmp_path, cache_folder) as made:
            made.callers = {"owner": made.owner}
            assert (await made.ask(made.owner, "POST", f"/api/v1/jobs/{made.theirs['job']}/cancel")).status == 200
            return await not_theirs_to_see(made, 1, "GET") + await what_lists_tell(made)

    found = " ".join(asyncio.run(main()))
    words = (*WORDS, SECRET, "acmetenant", str(COST)[2:], "differs", "steps")
    assert [word for word in words if word not in found] == []
