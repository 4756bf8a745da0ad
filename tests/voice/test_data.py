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


LISTED = [
    {
        "agent": "assistant",
        "caller": str(ADA),
        "entries": {"alerts": 1, "list_items": 1, "orders": 0},
    },
    {
        "agent": "coffee",
        "caller": str(NUMBER),
        "entries": {"alerts": 0, "list_items": 0, "orders": 1},
    },
]


def check_export(exported: dict[str, Any]) -> None:
    assert exported["caller"] == str(ADA)
    entries = exported["entries"]
    assert [alert["label"] for alert in entries["alerts"]] == ["take my medicine"]
    assert [(item["list"], item["item"]) for item in entries["list_items"]] == [
        ("shopping", "milk")
    ]
    assert entries["orders"] == []


def test_a_callers_data_is_listed_exported_and_deleted(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(command: str, *arguments: str) -> dict[str, Any]:
        assert data.main([command, "--set", f"tools.database={place}", *arguments]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    # A server has it open.
    with closing(Database(place)) as database:
        fill(database)
        assert run("list") == {"callers": LISTED}
        check_export(run("export", "--caller", str(ADA)))
        assert run("delete", "--caller", str(ADA)) == {
            "caller": str(ADA),
            "deleted": {"alerts": 1, "list_items": 1, "orders": 0},
        }
        assert run("list") == {"callers": LISTED[1:]}
        for each in tmp_path.iterdir():
            assert b"take my medicine" not in each.read_bytes(), each.name
    assert data.main(["export", "--set", f"tools.database={place}", "--caller", "ada"]) == 1
    assert "caller: got 'ada'; expected local, operator, user:NAME" in capsys.readouterr().err


async def test_the_servers_own_key_does_the_same_over_the_api(keyed: Server) -> None:
    fill(keyed.parts.toolbox.database)
    answer = await keyed.http.get("/v1/callers", headers=BEARER)
    assert answer.json() == {"callers": LISTED}
    path = "/v1/callers/user:ada%2Fand:bob@example.com/data"
    check_export((await keyed.http.get(path, headers=BEARER)).json())
    deleted = await keyed.http.delete(path, headers=BEARER)
    assert deleted.json()["deleted"] == {"alerts": 1, "list_items": 1, "orders": 0}
    assert (await keyed.http.get("/v1/callers", headers=BEARER)).json() == {"callers": LISTED[1:]}
    wrong = await keyed.http.get("/v1/callers/everybody/data", headers=BEARER)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "caller")


OF_LOCAL = "/v1/callers/local/data"
PATHS = [("GET", "/v1/callers"), ("GET", OF_LOCAL), ("DELETE", OF_LOCAL)]


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
