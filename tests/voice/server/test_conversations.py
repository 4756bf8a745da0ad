"""Who may read kept conversations over the API, and what of the disk the API reads."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fakes import FakeParts, fake_app
from tests.support.serving import serving
from tests.voice.server.test_app import BEARER, KEY
from voice.config import Config, RecordsConfig, ServerConfig
from voice.records.folder import Conversations

ID = "20261124T120000Z-00000000000000aa"
HOSTILE = 'user:"><script>alert(1)</script>'
PATHS = ("", "/live", "/latency", f"/{ID}", f"/{ID}/sound", f"/{ID}/export")


def keep(folder: Path) -> RecordsConfig:
    # The server deletes what is older, and this is of a day that stays.
    config = RecordsConfig(keep_days=36_500, folder=str(folder))
    kept = Conversations(config)
    kept.make()
    kept.make(ID)
    found = {
        "id": ID,
        "began": "2026-11-24T12:00:00.000+00:00",
        "agent": "test",
        "door": "realtime",
    }
    found |= {"caller": HOSTILE, "seconds": 1, "ended": None, "problems": [], "turns": []}
    kept.replace(ID, json.dumps(found))
    kept.append(ID, b"OggS and so on")
    (folder / "secret.json").write_text('{"id": "secret.json"}')
    return config


@asynccontextmanager
async def running(records: RecordsConfig, **server: Any) -> AsyncIterator[httpx.AsyncClient]:
    config = Config(server=ServerConfig(port=0, **server), records=records)
    async with (
        serving(fake_app(FakeParts(), config), config.server) as address,
        httpx.AsyncClient(base_url=f"http://{address}") as http,
    ):
        yield http


@pytest.fixture
async def http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running(keep(tmp_path / "kept")) as client:
        yield client


async def test_the_operator_reads_them(http: httpx.AsyncClient) -> None:
    http.headers.update(BEARER)
    answers = [await http.get(f"/v1/conversations{path}") for path in PATHS]
    assert {answer.status_code for answer in answers} == {200}
    listed, live, hours, words, sound, packed = answers
    (about,) = listed.json()["conversations"]
    assert (about["id"], about["caller"]) == (ID, HOSTILE)
    assert (live.json(), hours.json()["hours"][0]["cut_off"]) == ({"live": []}, 0)
    assert words.json()["caller"] == HOSTILE
    assert (sound.content, sound.headers["content-type"]) == (b"OggS and so on", "audio/ogg")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert archive.namelist() == [f"{ID}/conversation.json", f"{ID}/sound.opus"]
        assert archive.read(f"{ID}/sound.opus") == b"OggS and so on"
    for wanted, count in (("agent=test", 1), ("agent=other", 0), ("only=errors", 0)):
        found = (await http.get(f"/v1/conversations?{wanted}")).json()["conversations"]
        assert len(found) == count, wanted


@pytest.mark.parametrize("kind", ["sound", "export"])
async def test_who_reads_slowly_gets_all_of_what_grows_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    records, path = keep(tmp_path / "kept"), f"/v1/conversations/{ID}/{kind}"
    Conversations(records).append(ID, bytes(32 * 1024 * 1024))
    async with (
        running(records, send_timeout_s=1.0) as http,
        http.stream("GET", path, headers=BEARER) as answer,
    ):
        Conversations(records).append(ID, b"and more")
        received = 0
        async for piece in answer.aiter_bytes(1024 * 1024):
            received += len(piece)
            await asyncio.sleep(0.1)
    assert received == int(answer.headers["Content-Length"]) > 32 * 1024 * 1024


@pytest.mark.parametrize("kind", ["sound", "export"])
async def test_what_is_deleted_while_it_is_read_is_not_there(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = Conversations.file

    def found_and_deleted(kept: Conversations, name: str, kind: str) -> Path | None:
        found = file(kept, name, kind)
        kept.sweep(0.0, datetime.now(UTC))
        return found

    monkeypatch.setattr(Conversations, "file", found_and_deleted)
    answer = await http.get(f"/v1/conversations/{ID}/{kind}", headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", PATHS)
async def test_nobody_else_does(http: httpx.AsyncClient, path: str) -> None:
    made = await http.post("/v1/realtime/client_secrets", json={}, headers=BEARER)
    path = f"/v1/conversations{path}"
    for key, status in (("", 401), ("another", 401), (made.json()["value"], 403)):
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = await http.get(path, headers=headers)
        assert answer.status_code == status, key
        assert HOSTILE not in answer.text
    # A key in an address could be logged, and counts for nothing.
    assert (await http.get(f"{path}?key={KEY}&api_key={KEY}")).status_code == 401
    origin = {**BEARER, "Origin": "http://evil.example"}
    assert (await http.get(path, headers=origin)).status_code == 403


async def test_a_server_without_a_key_shows_them_to_nobody(tmp_path: Path) -> None:
    async with running(keep(tmp_path / "kept")) as http:
        for path in PATHS:
            assert (await http.get(f"/v1/conversations{path}")).status_code == 403


@pytest.mark.parametrize(
    "name",
    [
        *("..", "%2e%2e", "..%2fsecret.json", "secret.json", ".writable", f"{ID}%00", f"{ID}%0a"),
        *(f"{ID}%2f..%2f{ID}", f"..%2fkept%2f{ID}", "%2fetc%2fpasswd", ID.upper() + "A", "sess_1"),
    ],
)
async def test_an_id_is_no_path(http: httpx.AsyncClient, name: str) -> None:
    http.headers.update(BEARER)
    for kind in ("", "/sound", "/export"):
        answer = await http.get(f"/v1/conversations/{name}{kind}")
        assert answer.status_code == 404, answer.text


@pytest.mark.parametrize("query", ["limit=0", "limit=9999", "limit=x", "only=agent"])
async def test_what_cannot_be_searched_for_is_told(http: httpx.AsyncClient, query: str) -> None:
    answer = await http.get(f"/v1/conversations?{query}", headers=BEARER)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, query.partition("=")[0])


async def test_a_server_that_keeps_nothing_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    async with running(RecordsConfig()) as http:
        answer = await http.get("/v1/conversations", headers=BEARER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_routed")
        page = await http.get("/console/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
