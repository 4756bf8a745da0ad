"""``python -m voice.data`` and the same over the API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.voice.server.test_app import BEARER, KEY, Server, running
from voice import data
from voice.callers import Caller, Owner
from voice.config import RecordsConfig
from voice.records.folder import Conversations
from voice.tools.database import Database
from voice.tools.store import AlertKind, Store

ADA = Caller.parse("user:ada/and:bob@example.com")
NUMBER = Caller.parse("phone:+4915112345678")


@pytest.fixture
async def keyed(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running() as found:
        yield found


def fill(database: Database) -> None:
    store = Store(database, Owner("assistant", ADA))
    store.add_alert(AlertKind.REMINDER, "take my medicine", 100.0, "s1")
    store.add_item("shopping", "milk")
    Store(database, Owner("coffee", NUMBER)).place_order("Bob", "1 latte", placed=50.0)


NONE = dict.fromkeys(
    ("alerts", "list_items", "orders", "appointments", "flows", "facts", "conversations"), 0
)
OTHER = {"agent": "assistant", "caller": f"{ADA}.uk", "entries": {"conversations": 1}}
LISTED = [
    {
        "agent": "assistant",
        "caller": str(ADA),
        "entries": {**NONE, "alerts": 1, "list_items": 1, "conversations": 1},
    },
    {
        "agent": "coffee",
        "caller": str(NUMBER),
        "entries": {**NONE, "orders": 1},
    },
]


def keep(folder: Path) -> RecordsConfig:
    """A conversation of Ada's; that of somebody with a longer name is nobody else's."""
    config = RecordsConfig(folder=str(folder))
    kept = Conversations(config)
    kept.make()
    for number, caller in enumerate((ADA, Caller.parse(f"{ADA}.uk"))):
        name = f"20261124T12000{number}Z-{number:016x}"
        turn = {"text": "call me ada", "replies": []}
        found = {"id": name, "began": "2026-11-24T12:00", "agent": "assistant", "turns": [turn]}
        kept.make(name)
        kept.replace(name, json.dumps({**found, "caller": str(caller)}))
        kept.append(name, b"the sound of Ada's voice")
    return config


def check_export(exported: dict[str, Any]) -> None:
    assert exported["caller"] == str(ADA)
    entries = exported["entries"]
    assert [alert["label"] for alert in entries["alerts"]] == ["take my medicine"]
    assert [(item["list"], item["item"]) for item in entries["list_items"]] == [
        ("shopping", "milk")
    ]
    assert entries["orders"] == []
    assert [found["turns"][0]["text"] for found in entries["conversations"]] == ["call me ada"]


def test_a_callers_data_is_listed_exported_and_deleted(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "conversations"
    keep(folder)

    def run(command: str, *arguments: str) -> dict[str, Any]:
        settings = ("--set", f"tools.database={place}", "--set", f"records.folder={folder}")
        assert data.main([command, *settings, *arguments]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    # A server has it open.
    with closing(Database(place)) as database:
        fill(database)
        assert run("list") == {"callers": [LISTED[0], OTHER, LISTED[1]]}
        check_export(run("export", "--caller", str(ADA)))
        assert run("delete", "--caller", str(ADA)) == {
            "caller": str(ADA),
            "deleted": {**NONE, "alerts": 1, "list_items": 1, "conversations": 1},
        }
        assert run("list") == {"callers": [OTHER, LISTED[1]]}
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert sum(b"Ada's voice" in each.read_bytes() for each in files) == 1
        for each in files:
            assert b"take my medicine" not in each.read_bytes(), each.name
    assert data.main(["export", "--set", f"tools.database={place}", "--caller", "ada"]) == 1
    assert "caller: got 'ada'; expected local, operator, user:NAME" in capsys.readouterr().err


def test_where_there_is_no_database_nobody_is_told_that_it_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for settings in ([], ["--set", f"tools.database={tmp_path / 'voice.sqlite'}"]):
        assert data.main(["delete", *settings, "--caller", "local"]) == 1
        assert "which is not there; expected the server's" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


async def test_the_servers_own_key_does_the_same_over_the_api(
    keyed: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is recorded any more, and what was is still told and deleted.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    keep(tmp_path / "quicksilver" / "conversations")
    fill(keyed.parts.toolbox.database)
    answer = await keyed.http.get("/v1/callers", headers=BEARER)
    assert answer.json() == {"callers": [LISTED[0], OTHER, LISTED[1]]}
    path = "/v1/callers/user:ada%2Fand:bob@example.com/data"
    check_export((await keyed.http.get(path, headers=BEARER)).json())
    deleted = await keyed.http.delete(path, headers=BEARER)
    counts = {**NONE, "alerts": 1, "list_items": 1, "conversations": 1}
    assert deleted.json()["deleted"] == counts
    left = (await keyed.http.get("/v1/callers", headers=BEARER)).json()
    assert left == {"callers": [OTHER, LISTED[1]]}
    wrong = await keyed.http.get("/v1/callers/everybody/data", headers=BEARER)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "caller")


async def test_a_fact_is_corrected_and_deleted_over_the_api(keyed: Server) -> None:
    store = Store(keyed.parts.toolbox.database, Owner("assistant", ADA))
    store.keep_fact("my car is red", changed=100.0)
    (fact,) = store.facts()
    path = f"/v1/callers/user:ada%2Fand:bob@example.com/facts/{fact.id}"
    for caller in ("local", NUMBER):
        others = await keyed.http.delete(f"/v1/callers/{caller}/facts/{fact.id}", headers=BEARER)
        assert (others.status_code, others.json()["error"]["code"]) == (404, "not_found")
    for number in ("9" * 30, "9" * 5000, "x"):
        none = await keyed.http.delete(f"/v1/callers/local/facts/{number}", headers=BEARER)
        assert none.status_code == 404
    wrong = await keyed.http.put(path, json={"text": "blue"}, headers=BEARER)
    assert wrong.status_code == 400
    put = await keyed.http.put(path, json={"content": "my car is blue"}, headers=BEARER)
    assert put.json()["content"] == "my car is blue"
    assert [one.content for one in store.facts()] == ["my car is blue"]
    assert (await keyed.http.delete(path, headers=BEARER)).status_code == 200
    assert store.facts() == []


OF_LOCAL = "/v1/callers/local/data"
OF_FACT = "/v1/callers/local/facts/1"
PATHS = [
    ("GET", "/v1/callers"), ("GET", OF_LOCAL), ("DELETE", OF_LOCAL), ("PUT", OF_FACT),
    ("DELETE", OF_FACT),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_nobody_else_sees_whose_data_there_is(
    keyed: Server,
    method: str,
    path: str,
) -> None:
    asked = {"user": "local"}
    made = await keyed.http.post("/v1/realtime/client_secrets", json=asked, headers=BEARER)
    ephemeral = {"Authorization": f"Bearer {made.json()['value']}"}
    assert (await keyed.http.request(method, path)).status_code == 401
    assert (await keyed.http.request(method, path, headers=ephemeral)).status_code == 403


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_a_server_without_a_key_shows_it_to_nobody(
    method: str,
    path: str,
) -> None:
    async with running() as server:
        answer = await server.http.request(method, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_key")
