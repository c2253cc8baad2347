"""The gate: what is refused before a route sees it, what bounds a request, and what every reply carries."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from ragways.service.api.gate import Gate
from tests.service.gated import Small, small

OWN = "http://127.0.0.1:8080"


def run(made: Small, *args, **kwargs):
    return asyncio.run(made.ask(*args, **kwargs))


@pytest.fixture
def made(tmp_path: Path) -> Small:
    return small(tmp_path)


def test_replies_carry_an_id_and_headers_that_make_a_browser_careful(made: Small):
    reply = run(made, "GET", "/api/v1/quick")
    assert reply.status == 200
    assert len(reply.headers["x-request-id"]) == 16
    assert reply.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in reply.headers["permissions-policy"]
    assert not any(name.startswith("access-control") for name in reply.headers)
    assert run(made, "GET", "/api/v1/quick").headers["x-request-id"] != reply.headers["x-request-id"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200), ("localhost:1", 200), ("LOCALHOST", 200), ("[::1]:8080", 200), ("docs.example", 200),
        ("docs.example:443", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.", 421),
        ("localhost@evil.example", 421), ("10.0.0.1", 421), ("localhost:80:90", 421), ("localhost:x", 421),
        ("", 421), ("none at all", 400), ("[::1", 421), ("[::1]x", 421),
    ],
)  # fmt: skip
def test_only_names_of_this_server_are_answered_to(tmp_path: Path, host: str, status: int):
    made = small(tmp_path, hosts=("docs.example",))
    assert run(made, "GET", "/api/v1/quick", {"Host": host}).status == status


def test_a_server_on_all_addresses_is_known_by_any_address_and_no_other_name(tmp_path: Path):
    made = small(tmp_path, host="0.0.0.0")
    for host, status in {"10.1.2.3:8080": 200, "[2001:db8::1]": 200, "localhost": 200, "evil.example": 421}.items():
        assert run(made, "GET", "/api/v1/quick", {"Host": host}).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200), ({"Origin": OWN}, 200), ({"Origin": "https://127.0.0.1:8080"}, 200),
        ({"Origin": "https://app.example"}, 200), ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": "file://"}, 403),
        ({"Origin": "http://127.0.0.1:8080.evil.example"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
    ids=str,
)  # fmt: skip
def test_what_changes_something_comes_from_our_own_page_or_from_none(
    tmp_path: Path, headers: dict[str, str], status: int
):
    made = small(tmp_path, origins=("https://app.example",))
    assert run(made, "POST", "/api/v1/read", headers, b"x").status == status
    assert run(made, "GET", "/api/v1/quick", headers).status == 200  # a browser keeps the reply from the page


def test_pages_of_other_sites_may_read_replies_only_where_that_is_set(tmp_path: Path):
    made = small(tmp_path, origins=("https://app.example/",))
    asked = {"Access-Control-Request-Method": "POST"}
    good = run(made, "OPTIONS", "/api/v1/read", {"Origin": "https://app.example", **asked})
    assert (good.status, good.headers["access-control-allow-origin"]) == (204, "https://app.example")
    assert "authorization" in good.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in good.headers
    bad = run(made, "OPTIONS", "/api/v1/read", {"Origin": "https://evil.example", **asked})
    assert (bad.status, "access-control-allow-origin" in bad.headers) == (403, False)
    other = run(made, "GET", "/api/v1/quick", {"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers
    assert other.headers["vary"] == "Origin"
    closed = small(tmp_path / "closed")
    assert run(closed, "OPTIONS", "/api/v1/read", {"Origin": OWN, **asked}).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Content-Length", "1"), ("Transfer-Encoding", "chunked")], 400),
        ([("Content-Length", "1"), ("Content-Length", "1")], 400),
        ([("Content-Length", "+1")], 400), ([("Content-Length", "1" * 20)], 400), ([("Content-Length", "0x1")], 400),
        ([("Transfer-Encoding", "gzip, chunked")], 400), ([("Transfer-Encoding", "\x0bchunked")], 400),
        ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity")], 400),
        ([("Content-Encoding", "gzip")], 415), ([("Content-Encoding", "br")], 415),
        ([("Content-Encoding", "gzip, identity")], 415), ([("Content-Encoding", "Identity")], 200),
        ([("Host", "localhost"), ("Host", "localhost")], 400), ([("Authorization", "a"), ("Authorization", "b")], 400),
    ],
    ids=str,
)  # fmt: skip
def test_what_two_servers_could_read_differently_is_refused(made: Small, headers: list[tuple[str, str]], status: int):
    reply = run(made, "POST", "/api/v1/read", headers, b"x")
    assert reply.status == status
    assert made.service.keys.some() is False


@pytest.mark.parametrize("path", ["/api/v1/read", "/api/v1/json"])
def test_a_body_over_its_bound_is_refused_by_its_length_or_as_it_comes(made: Small, path: str):
    for headers in ({"Content-Length": "1001"}, {"Transfer-Encoding": "chunked"}):
        reply = run(made, "POST", path, headers, [b"x" * 500, b"y" * 500, b"z"])
        assert (reply.status, reply.code) == (413, "too_large")
    fits = run(made, "POST", "/api/v1/read", {"Content-Length": "1000"}, b"x" * 1000)
    assert fits.json() == {"bytes": 1000}


def test_a_file_may_be_larger_than_other_bodies(made: Small):
    path = "/api/v1/collections/docs/files/a.md"
    assert run(made, "PUT", path, {"Content-Length": "5000"}, b"x" * 5000).json() == {"bytes": 5000}
    assert run(made, "PUT", path, {"Content-Length": "100001"}, b"").status == 413
    assert run(made, "POST", "/api/v1/read", {"Content-Length": "5000"}, b"x" * 5000).status == 413


def test_a_body_that_comes_too_slowly_is_not_waited_for_and_its_connection_closes(tmp_path: Path):
    made = small(tmp_path, body_seconds=0.05)
    for path in ("/api/v1/read", "/api/v1/json"):
        reply = run(made, "POST", path, {"Content-Length": "100"}, b"x", then="stall")
        assert (reply.status, reply.code) == (408, "too_slow")
        assert reply.headers["connection"] == "close"


def test_a_request_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.service.api.gate.GRACE", 0.0)
    made = small(tmp_path, seconds=0.05)
    reply = run(made, "GET", "/api/v1/slow")
    assert (reply.status, reply.code) == (504, "too_long")
    assert made.cancelled == ["slow"]


def test_a_stream_of_events_may_last_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragways.service.api.gate.GRACE", 0.0)
    made = small(tmp_path, seconds=0.05)

    async def both():
        stream = asyncio.create_task(made.ask("POST", "/api/v1/stream", then="wait"))
        await asyncio.sleep(0.2)
        made.go_on.set()
        return await stream

    assert asyncio.run(both()).body.count(b"event:") == 2


def test_more_at_once_than_the_server_takes_are_told_to_come_again(made: Small):
    async def many():
        waiting = [asyncio.create_task(made.ask("GET", "/api/v1/slow")) for _ in range(6)]
        await made.until(6)
        refused = await made.ask("GET", "/api/v1/quick")
        made.go_on.set()
        done = await asyncio.gather(*waiting)
        return refused, done, await made.ask("GET", "/api/v1/quick")

    refused, done, after = asyncio.run(many())
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "full", "1")
    assert [reply.status for reply in done] == [200] * 6
    assert after.status == 200


def test_one_key_cannot_take_the_room_of_others(made: Small):
    texts = [made.service.keys.add(name)[1] for name in ("alice", "bob")]
    alice, bob = ({"Authorization": f"Bearer {text}"} for text in texts)

    async def many():
        waiting = [asyncio.create_task(made.ask("GET", "/api/v1/slow", alice)) for _ in range(2)]
        await made.until(2)
        replies = await made.ask("GET", "/api/v1/quick", alice), await made.ask("GET", "/api/v1/quick", bob)
        made.go_on.set()
        await asyncio.gather(*waiting)
        return *replies, await made.ask("GET", "/api/v1/quick", alice)

    refused, other, after = asyncio.run(many())
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "too_many", "1")
    assert (other.status, after.status) == (200, 200)


def test_those_who_watch_jobs_take_no_place_of_a_request(made: Small):
    @made.app.get("/api/v1/jobs/{id}/events")
    async def events(id: str) -> None:
        made.entered += 1
        await made.go_on.wait()

    texts = [made.service.keys.add(f"key{number}", tenant="acme")[1] for number in range(3)]
    keys = [{"Authorization": f"Bearer {text}"} for text in texts]
    other = {"Authorization": f"Bearer {made.service.keys.add('bob')[1]}"}

    async def watch():
        watching = [asyncio.create_task(made.ask("GET", "/api/v1/jobs/a/events", key)) for key in keys[:2] * 2]
        await made.until(4)
        refused = await made.ask("GET", "/api/v1/jobs/a/events", keys[2])
        gate: Any = made.app.middleware_stack
        while not isinstance(gate, Gate):
            gate = gate.app
        places = (await made.ask("GET", "/api/v1/quick", keys[2])).status, gate.total
        watching.append(asyncio.create_task(made.ask("GET", "/api/v1/jobs/a/events", other)))
        await made.until(5)
        made.go_on.set()
        return refused, places, [reply.status for reply in await asyncio.gather(*watching)]

    refused, places, statuses = asyncio.run(watch())
    assert (refused.status, refused.code) == (429, "too_many")
    assert places == (200, 0)
    assert statuses == [200] * 5


def test_wrong_keys_are_slowed_by_address(made: Small):
    good, new = (made.service.keys.add(name)[1] for name in ("alice", "bob"))

    async def guess():
        wrong = {"Authorization": "Bearer rgw_0000000000000000_guess"}
        replies = [await made.ask("GET", "/api/v1/quick", wrong) for _ in range(12)]
        elsewhere = await made.ask("GET", "/api/v1/quick", {"Authorization": f"Bearer {good}"}, client="10.0.0.8")
        beside = await made.ask("GET", "/api/v1/quick", {"Authorization": f"Bearer {new}"})
        return replies, elsewhere, beside

    replies, elsewhere, beside = asyncio.run(guess())
    assert [reply.status for reply in replies] == [401] * 10 + [429] * 2
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
    assert "www-authenticate" in replies[0].headers
    assert (elsewhere.status, beside.status) == (200, 200)


@pytest.mark.parametrize("end", ["revoked", "rotated", "kept"])
def test_a_stream_ends_with_its_key(made: Small, end: str):
    _, good = made.service.keys.add("alice")

    async def streamed() -> bytes:
        asked = asyncio.create_task(made.ask("POST", "/api/v1/stream", {"Authorization": f"Bearer {good}"}))
        await made.until(1)
        if end == "revoked":
            made.service.keys.revoke("alice")
        elif end == "rotated":
            made.service.keys.rotate("alice")
        made.go_on.set()
        return (await asked).body

    body = asyncio.run(streamed())
    assert body.startswith(b"event: a\n")
    assert (b"event: b\n" in body) == (end == "kept")
    assert (b'event: error\ndata: {"id":' in body and b"this key is not valid" in body) == (end != "kept")


def test_without_a_key_where_one_is_needed_nothing_of_the_body_is_looked_at(made: Small):
    made.service.keys.add("alice")
    json = {"Content-Type": "application/json"}
    assert run(made, "POST", "/api/v1/json", json, b"not json").status == 401
    assert run(made, "GET", "/v1/broken").status == 401
    assert run(made, "GET", "/").status == 200  # the page itself, which asks for the key


def test_a_client_that_goes_away_ends_the_work_for_it(made: Small):
    async def leave() -> list[int]:
        json = {"Content-Type": "application/json"}
        replies = [
            await made.ask("POST", "/api/v1/slow_json", json, b"{}", then="leave"),
            await made.ask("POST", "/api/v1/slow", then="leave"),
            await made.ask("GET", "/api/v1/slow", then="leave"),
            await made.ask("POST", "/api/v1/stream", then="leave"),
        ]
        return [reply.status for reply in replies]

    assert asyncio.run(leave())[:3] == [0, 0, 0]
    assert made.cancelled == ["slow json", "slow", "slow", "stream"]


def test_an_error_nobody_foresaw_is_a_sentence_with_an_id_and_the_log_knows_no_secret(
    made: Small, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "ragways.service")
    reply = run(made, "GET", "/api/v1/broken")
    assert (reply.status, reply.code) == (500, "internal")
    assert reply.json()["error"]["id"] == reply.headers["x-request-id"]
    assert set(run(made, "GET", "/v1/broken").json()["error"]) == {"message", "type", "code", "param"}
    told = str([vars(record) for record in caplog.records])
    assert reply.headers["x-request-id"] in told
    assert "gated.py:" in told  # where it came from
    for text in (reply.body.decode(), told):
        assert not any(part in text for part in ("SECRET", "/srv", "abcdef", "Traceback", "RuntimeError('"))


def test_the_log_of_requests_has_neither_keys_nor_questions(made: Small, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "ragways.service")
    key, text = made.service.keys.add("alice")
    run(made, "GET", f"/api/v1/quick/{text}", {"Authorization": f"Bearer {text}"})
    (record,) = caplog.records
    assert (record.fields["status"], record.fields["key"]) == (404, key.id)  # type: ignore[attr-defined]
    assert text.split("_", 2)[2] not in str(vars(record))
