"""Keys: what is kept of them, who they are, and that what is taken away is gone at once, also for another process."""

from __future__ import annotations

import hmac
from pathlib import Path

import pytest

from ragways.core.errors import UsageError
from ragways.service.auth import TRIES, FailedKeys
from ragways.service.errors import TooMany, redacted
from ragways.service.keys import Keys
from ragways.service.state import State


class Clock:
    def __init__(self) -> None:
        self.at = 1_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> Keys:
    return Keys(State(tmp_path / "data" / "service.sqlite"), clock)


def other(tmp_path: Path, clock: Clock) -> Keys:
    """As another process sees it: by a connection of its own."""
    return Keys(State(tmp_path / "data" / "service.sqlite"), clock)


def test_a_key_tells_who_somebody_is_and_what_they_may_do(keys: Keys):
    assert not keys.some()
    key, text = keys.add("alice", scope="write", tenant="acme", collections=["docs"], budget=5)
    who = keys.caller(text)
    assert who is not None
    assert (who.key, who.tenant, who.collections) == (key.id, "acme", ("docs",))
    assert sorted(who.scopes) == ["read", "write"]
    assert who.sees("acme", "docs")
    assert not who.sees("acme", "more")
    assert not who.sees("main", "docs")
    assert keys.some()


def test_nothing_on_the_disk_holds_the_secret_and_others_cannot_read_the_file(keys: Keys, tmp_path: Path):
    _, text = keys.add("alice")
    secret = text.split("_", 2)[2]
    assert len(secret) >= 43  # 32 bytes
    files = list((tmp_path / "data").iterdir())
    assert files
    assert all(secret.encode() not in file.read_bytes() for file in files)
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data" / "service.sqlite").stat().st_mode & 0o077 == 0


def test_anything_else_is_nobody(keys: Keys):
    _, text = keys.add("alice")
    wrong = [
        text[:-1],
        text + "A",
        text.upper(),
        "",
        "rgw_",
        "rgw__",
        "x" * 10_000,
        "rgw_' OR 1=1 --_x",
        "rgw_\ud800_x",
    ]
    assert [keys.caller(key) for key in wrong] == [None] * len(wrong)


def test_an_unknown_id_is_compared_as_a_wrong_secret_is(keys: Keys, monkeypatch: pytest.MonkeyPatch):
    _, text = keys.add("alice")
    compared = []
    compare = hmac.compare_digest

    def counted(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return compare(a, b)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    for key in (text[:-1] + "!", "rgw_0000000000000000_abc", "nonsense"):
        compared.clear()
        assert keys.caller(key) is None
        assert compared == [(32, 32)]


def test_a_revoked_key_opens_nothing_at_the_next_request_of_a_server_that_runs(
    keys: Keys, tmp_path: Path, clock: Clock
):
    _, text = keys.add("alice")
    assert keys.caller(text)
    other(tmp_path, clock).revoke("alice")
    assert keys.caller(text) is None
    assert keys.some()  # a server whose last key is gone is not open to all
    with pytest.raises(UsageError, match="revoked"):
        keys.rotate("alice")
    again, _ = keys.add("alice")
    assert keys.find("alice").id == again.id


def test_a_rotated_key_keeps_its_id_and_the_old_text_dies_at_once_or_after_its_grace(
    keys: Keys, tmp_path: Path, clock: Clock
):
    key, first = keys.add("alice")
    _, second = other(tmp_path, clock).rotate("alice")
    assert keys.caller(first) is None
    assert keys.caller(second).key == key.id  # type: ignore[union-attr]
    _, third = keys.rotate("alice", grace=60)
    assert keys.caller(second)
    clock.at += 59
    assert keys.caller(second)
    clock.at += 1
    assert keys.caller(second) is None
    assert keys.caller(third)


def test_a_key_expires(keys: Keys, clock: Clock):
    _, text = keys.add("alice", seconds=30)
    assert keys.caller(text)
    clock.at += 30
    assert keys.caller(text) is None


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""}, {"name": "a b"}, {"name": "a\nb"}, {"name": "x" * 65}, {"name": "../a"}, {"tenant": "A/B"},
        {"tenant": ""}, {"scope": "root"}, {"collections": ["ok", "../x"]}, {"budget": -1.0},
        {"budget": float("nan")}, {"seconds": 0.0}, {"seconds": float("inf")},
    ],
    ids=str,
)  # fmt: skip
def test_names_and_numbers_are_checked(keys: Keys, given: dict[str, object]):
    with pytest.raises(UsageError) as caught:
        keys.add(**{"name": "alice", **given})  # type: ignore[arg-type]
    assert caught.value.cure
    assert not keys.some()


def test_secrets_are_taken_out_of_texts(keys: Keys):
    key, text = keys.add("alice")
    shown = redacted(f"GET /?key={text} and {text}!")
    assert text.split("_", 2)[2] not in shown
    assert key.id in shown


def test_one_who_has_a_whole_ipv6_network_has_one_count(clock: Clock):
    failed = FailedKeys(clock)
    for number in range(TRIES):
        failed.wrong(f"2001:db8::{number:x}")
    with pytest.raises(TooMany):
        failed.wrong("2001:db8::ffff")
    failed.wrong("2001:db8:0:1::1")
