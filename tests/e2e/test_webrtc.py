"""A person by WebRTC, end to end: recorded speech in, Opus both ways, the real server between."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import wave
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.webrtc import Client, bad_network, calling
from voice.demo.client import at_client_rate
from voice.demo.recordings import load
from voice.demo.server import free_port
from voice.types import SAMPLE_RATE_HZ

pytestmark = pytest.mark.e2e

TURN = shutil.which("turnserver")
SESSION = {
    "type": "realtime",
    "audio": {"input": {"transcription": {"model": "local"}}},
    "quicksilver": {"events": ["heard"]},
}
SILENT = SESSION | {"quicksilver": {"events": ["heard"], "greet": False}}


async def test_what_is_said_is_understood_and_the_reply_heard(repo_root: Path) -> None:
    """With and without 5 % of the packets lost, and each of the others late by up to 80 ms."""
    async with program(cwd=repo_root) as (_, _, address):
        async with calling(address, session=SESSION) as client:
            # On a busy machine the first packets are late, and cost the first word.
            assert (await asked(client, greets=True)).endswith("a timer for 10 minutes.")
            # What was heard is heard, by the server's own ears.
            assert "timer set for 10 minutes" in (await words_of(client, address)).lower()
        async with (
            bad_network(0.05, 0.08) as network,
            calling(address, session=SILENT, rewrite=network.between) as client,
        ):
            assert (await asked(client, greets=False)).endswith("a timer for 10 minutes.")
            assert network.lost > 5
            assert network.lost < 0.15 * network.passed


@asynccontextmanager
async def relay(port: int, user: str, password: str) -> AsyncGenerator[None, None]:
    """A TURN server on this machine."""
    assert TURN is not None
    process = await asyncio.create_subprocess_exec(
        TURN, "-n", "--no-cli", "--no-tls", "--no-dtls", "--lt-cred-mech", "--allow-loopback-peers",
        "--realm", "test", "--user", f"{user}:{password}", "--listening-ip", "127.0.0.1",
        "--listening-port", str(port), "--relay-ip", "127.0.0.1", "--log-file", "stdout",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_S):
            while process.returncode is None:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        yield
    finally:
        process.kill()
        await process.wait()


@pytest.mark.skipif(TURN is None, reason="coturn, a TURN server, is not installed")
async def test_a_relay_carries_a_call_that_finds_no_other_way(
    repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("QUICKSILVER_ICE_CREDENTIAL", "secret")
    options = [f'webrtc.ice_servers=["turn:127.0.0.1:{port}"]', "webrtc.ice_user=ada"]
    arguments = [word for option in options for word in ("--set", option)]

    def relayed(answer: str) -> str:
        """Of the server's addresses the relay's alone."""
        assert " typ relay" in answer
        return re.sub(r"a=candidate:(?!.* typ relay).*\r\n", "", answer)

    def unreachable(offer: str) -> str:
        """The client's addresses with ports at which nobody is."""
        return re.sub(r"(a=candidate:\S+ \d \S+ \d+ \S+) \d+", r"\1 9", offer)

    async with (
        relay(port, "ada", "secret"),
        program(*arguments, cwd=repo_root) as (_, _, address),
        calling(address, session=SESSION, rewrite=relayed, offering=unreachable) as client,
    ):
        assert (await asked(client, greets=True)).endswith("10 minutes.")


async def asked(client: Client, greets: bool) -> str:
    """Say a line of the demo, and wait until the reply has been heard; the line's transcript."""
    await client.until("session.created")
    if greets:
        await client.until("output_audio_buffer.stopped")
        await client.quiet()
        client.heard.clear()
    client.microphone.say(at_client_rate(load("assistant-1-timer"), SAMPLE_RATE_HZ))
    await client.until("output_audio_buffer.stopped", 1 + greets)
    await client.quiet()
    text = client.of("response.output_audio_transcript.done")[-1]["transcript"]
    # What was heard is counted ten times a second, so perhaps behind the end of the sound.
    async with asyncio.timeout(PATIENCE_S):
        while client.of("quicksilver.heard")[-1]["chars"] != len(text):
            await asyncio.sleep(0.02)
    heard = client.of("conversation.item.input_audio_transcription.completed")
    return str(heard[-1]["transcript"])


async def words_of(client: Client, address: str) -> str:
    file = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setparams((1, 2, 48_000, 0, "NONE", ""))
        recording.writeframes(np.concatenate(client.heard).tobytes())
    async with httpx.AsyncClient(base_url=f"http://{address}", timeout=PATIENCE_S) as http:
        files = {"file": ("heard.wav", file.getvalue())}
        answer = await http.post("/v1/audio/transcriptions", files=files, data={"model": "local"})
    return str(answer.json()["text"])
