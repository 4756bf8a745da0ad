"""Home Assistant itself: it hears and speaks by our server, and its house is the agent's."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.clients.environments import PROGRAMS, python_of
from tests.support.patience import PATIENCE_S
from tests.voice.wyoming.test_wyoming import answer
from voice.audio import pcm16_from_samples
from voice.config import load_config
from voice.demo.recordings import load
from voice.demo.server import EMBEDDED, free_port
from voice.session.resources import Resources
from voice.wyoming.server import WyomingServer

TOKEN = "TOKEN_OF_THE_TEST_HOUSE"
NAME, PASSWORD = "ann", "a-password-of-the-tests"
HOUSE = """
api:
auth:
config:
http: {server_host: 127.0.0.1, server_port: PORT}
input_boolean: {lit: {}, bolted: {initial: true}}
light:
  - platform: template
    lights:
      kitchen_light:
        friendly_name: Kitchen light
        value_template: "{{ is_state('input_boolean.lit', 'on') }}"
        turn_on: {service: input_boolean.turn_on, target: {entity_id: input_boolean.lit}}
        turn_off: {service: input_boolean.turn_off, target: {entity_id: input_boolean.lit}}
lock:
  - platform: template
    name: Front door
    value_template: "{{ is_state('input_boolean.bolted', 'on') }}"
    lock: {service: input_boolean.turn_on, target: {entity_id: input_boolean.bolted}}
    unlock: {service: input_boolean.turn_off, target: {entity_id: input_boolean.bolted}}
"""
HEARD = "format=wav; codec=pcm; sample_rate=16000; bit_rate=16; channel=1; language=en"

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="Home Assistant 2024.3 needs Python 3.11 or 3.12"
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of Home Assistant's API that has logged in."""
    python, port = python_of("home_assistant"), free_port()
    (tmp_path / "configuration.yaml").write_text(HOUSE.replace("PORT", str(port)))
    made = (python, "-m", "homeassistant", "--script", "auth", "-c", tmp_path)
    adding = await asyncio.create_subprocess_exec(*made, "add", NAME, PASSWORD)
    assert await adding.wait() == 0
    running = await asyncio.create_subprocess_exec(
        *(python, PROGRAMS / "home_assistant.py", "-c", tmp_path, "--skip-pip"),
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        async with (
            httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client,
            asyncio.timeout(PATIENCE_S),
        ):
            client.headers["Authorization"] = f"Bearer {await token(client, f'{url}/')}"
            yield client
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        await running.wait()


async def token(client: httpx.AsyncClient, ours: str) -> str:
    """Logs in, once it has started."""
    asked = {"client_id": ours, "handler": ["homeassistant", None], "redirect_uri": ours}
    while True:
        try:
            begun = await client.post("/auth/login_flow", json=asked)
            break
        except httpx.ConnectError:
            await asyncio.sleep(0.1)
    given = {"client_id": ours, "username": NAME, "password": PASSWORD}
    done = await client.post(f"/auth/login_flow/{begun.json()['flow_id']}", json=given)
    code = {"client_id": ours, "grant_type": "authorization_code", "code": done.json()["result"]}
    return str((await client.post("/auth/token", data=code)).json()["access_token"])


async def test_home_assistant_and_the_agent_use_each_other(
    house: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, house.headers["Authorization"].removeprefix("Bearer "))
    url = str(house.base_url).rstrip("/")
    ours = [f'tools.home_assistant_url="{url}"', f'tools.home_assistant_token_env="{TOKEN}"']
    parts = Resources.load(load_config(None, [*EMBEDDED, *ours]))
    try:
        async with WyomingServer(parts).running("127.0.0.1", 0) as port:
            await added(house, port)
            said = await heard(house)
            assert said.casefold().strip(" .") == "turn on the kitchen light"
            await answer(port, said, "a")
            assert (await house.get("/api/states/light.kitchen_light")).json()["state"] == "on"
            reply = await answer(port, "is the front door locked", "a")
            assert "locked" in reply and "unlocked" not in reply
            seconds, loudest = await spoken(house, reply)
            assert seconds > 0.5 and loudest > 1000
    finally:
        await parts.close()


async def added(house: httpx.AsyncClient, port: int) -> None:
    """Adds the integration *Wyoming Protocol*, as its page does."""
    flows = "/api/config/config_entries/flow"
    begun = (await house.post(flows, json={"handler": "wyoming"})).json()
    where = {"host": "127.0.0.1", "port": port}
    done = (await house.post(f"{flows}/{begun['flow_id']}", json=where)).json()
    assert done["result"]["state"] == "loaded", done


async def heard(house: httpx.AsyncClient) -> str:
    """What Home Assistant understands of a recording, by our ears."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setparams((1, 2, 16_000, 0, "NONE", ""))
        written.writeframes(pcm16_from_samples(load("assistant-7-light")))
    asked = await house.post(
        "/api/stt/stt.quicksilver", content=file.getvalue(), headers={"X-Speech-Content": HEARD}
    )
    return str(asked.json()["text"])


async def spoken(house: httpx.AsyncClient, text: str) -> tuple[float, int]:
    """How long Home Assistant's speech is in seconds, by our voice, and its loudest sample."""
    asked = {
        "engine_id": "tts.quicksilver",
        "message": text,
        "options": {"preferred_format": "wav"},
    }
    made = (await house.post("/api/tts_get_url", json=asked)).json()
    with wave.open(io.BytesIO((await house.get(made["path"])).content)) as read:
        samples = np.frombuffer(read.readframes(read.getnframes()), np.int16)
        return len(samples) / read.getframerate(), int(np.abs(samples.astype(int)).max())
