"""Many clients at once: all are answered, and none waits for another's giant question."""

from __future__ import annotations

import asyncio
import threading

import httpx2

from tests.service.conftest import RunningServer

CLIENTS = 200
GIANT = " ".join(
    f"Who designed the lighthouse, bridge or harbour number {number} of the isles?" for number in range(110)
)


def test_two_hundred_clients_at_once_are_all_answered(demo_server: RunningServer, demo_name: str):
    async def one(client: httpx2.AsyncClient, number: int) -> list[int]:
        statuses = []
        for path, body in (
            ("retrieve", {"question": f"Who designed lighthouse {number}?", "paradigm": "words"}),
            ("retrieve", {"question": f"When was bridge {number % 10} built?", "paradigm": "naive"}),
        ):
            statuses.append((await client.post(f"/api/v1/collections/{demo_name}/{path}", json=body)).status_code)
        statuses.append((await client.get("/api/v1/collections")).status_code)
        return statuses

    async def crowd() -> list[int]:
        # None is used again: on a slow machine the server may close one that waits just when it is.
        limits = httpx2.Limits(max_connections=CLIENTS, max_keepalive_connections=0)
        async with httpx2.AsyncClient(base_url=demo_server.url, timeout=120, limits=limits) as client:
            done = await asyncio.gather(*(one(client, number) for number in range(CLIENTS)))
        return [status for statuses in done for status in statuses]

    assert asyncio.run(crowd()) == [200] * (3 * CLIENTS)


def test_a_giant_question_does_not_hold_up_the_others(demo_server: RunningServer, demo_name: str):
    assert 7000 < len(GIANT) <= 8000
    order: list[str] = []

    def ask_giant() -> None:
        body = {"question": GIANT, "paradigm": "recursive"}
        with httpx2.Client(base_url=demo_server.url, timeout=120) as client:
            assert client.post(f"/api/v1/collections/{demo_name}/ask", json=body).status_code == 200
        order.append("giant")

    giant = threading.Thread(target=ask_giant)
    giant.start()
    for _ in range(10):
        question = {"question": "Who designed the Pell Rock Lighthouse?", "paradigm": "words"}
        got = demo_server.client.post(f"/api/v1/collections/{demo_name}/retrieve", json=question)
        assert got.status_code == 200
        order.append("small")
    giant.join(timeout=120)
    assert order.count("small") == 10
    assert order.index("giant") >= 3  # behind it, none would have been answered before it
