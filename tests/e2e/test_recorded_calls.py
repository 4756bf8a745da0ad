"""Conversations that a real server keeps: over the page's socket, over a telephone, and killed."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr
from websockets.asyncio.client import connect

from tests.support.imports import imported_by_default
from tests.support.patience import PATIENCE_S
from tests.support.phone import AsteriskFraming, Phone
from tests.support.server_program import program
from tests.voice.records.test_recording import sound_of
from voice.demo.client import RATE_HZ, RealtimeClient, at_client_rate
from voice.demo.recordings import load
from voice.demo.server import EMBEDDED
from voice.demo.virtual_audio import speech_span, stereo
from voice.types import SAMPLE_RATE_HZ, Samples

pytestmark = pytest.mark.e2e

LINE = "assistant-1-timer"


@asynccontextmanager
async def recording(
    folder: Path, cwd: Path
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str], None]:
    own = ("records.keep_days=1", f'records.folder="{folder}"', 'telephony.doors=["asterisk"]')
    async with program(cwd=cwd, settings=(*EMBEDDED, *own)) as (process, _, address):
        yield process, address


def read(folder: Path) -> list[tuple[dict[str, Any], Path]]:
    paths = sorted(folder.glob("*/conversation.json"))
    return [(json.loads(path.read_text()), path.with_name("sound.opus")) for path in paths]


def complete(words: dict[str, Any]) -> bool:
    return bool(words["ended"]) and not any(turn["estimated"] for turn in words["turns"])


async def kept(folder: Path, count: int, over: bool = True) -> list[tuple[dict[str, Any], Path]]:
    """Conversations that are written to their end, the oldest first.

    Where a turn's words were said is found in one's own time, perhaps behind that end.
    """
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = read(folder)
            if len(found) == count and (not over or all(complete(words) for words, _ in found)):
                return found
            await asyncio.sleep(0.1)


def sounds_s(folder: Path) -> float:
    """How long the only conversation's sound is."""
    (sound,) = folder.glob("*/sound.opus")
    return sound_of(sound).shape[1] / 48_000


def lag_s(kept: Samples, heard: Samples) -> float:
    """How much later something lies in one sound than in another, both at 24 kHz."""
    size = len(kept) + len(heard)
    spectra = [np.fft.rfft(each.astype(np.float64), size) for each in (kept, heard)]
    at = int(np.argmax(np.fft.irfft(spectra[0] * np.conj(spectra[1]), size)))
    return (at if at < len(kept) else at - size) / RATE_HZ


async def call_by_page(address: str) -> tuple[float, Samples]:
    """A spoken and a typed turn: how long it took at least, without opening and closing the
    connection, and both sides as the client heard them."""
    clock = asyncio.get_running_loop().time
    async with RealtimeClient.open(f"ws://{address}/v1/realtime") as client:
        # The session is there by now, as it need not be when the microphone starts.
        began_s = clock()
        await client.settled()
        await client.turn(at_client_rate(load(LINE), SAMPLE_RATE_HZ), timeout_s=PATIENCE_S)
        content = [{"type": "input_text", "text": "what timers do I have"}]
        item = {"type": "message", "role": "user", "content": content}
        since = len(client.events)
        await client.send({"type": "conversation.item.create", "item": item})
        await client.send({"type": "response.create"})
        await client.wait_for("response.done", since, PATIENCE_S)
        await client.settled()
        return clock() - began_s, stereo(client.microphone, client.loudspeaker)


async def interrupted_call(address: str) -> Samples:
    """The user speaks over the greeting; both sides as the client heard them."""
    async with RealtimeClient.open(f"ws://{address}/v1/realtime") as client:
        await client.until(client.loudspeaker.playing, PATIENCE_S)
        await client.turn(at_client_rate(load(LINE), SAMPLE_RATE_HZ), timeout_s=PATIENCE_S)
        await client.settled()
        return stereo(client.microphone, client.loudspeaker)


async def call_by_telephone(address: str) -> None:
    async with connect(f"ws://{address}/telephone/asterisk", subprotocols=["media"]) as socket:  # type: ignore[list-item]
        phone = Phone(socket, AsteriskFraming())
        talking = asyncio.create_task(phone.run())
        async with asyncio.timeout(PATIENCE_S):
            await phone.sounds.wait()
            await phone.quiet.wait()
            await asyncio.sleep(0.5)
            await phone.say(soxr.resample(load(LINE), SAMPLE_RATE_HZ, 8000))
            phone.sounds.clear()
            await phone.sounds.wait()
            await phone.quiet.wait()
        talking.cancel()


async def test_calls_are_kept_as_people_heard_them(repo_root: Path, tmp_path: Path) -> None:
    folder, clock = tmp_path / "kept", asyncio.get_running_loop().time
    async with recording(folder, repo_root) as (_, address):
        opened_s = clock()
        least_s, heard = await call_by_page(address)
        await kept(folder, 1)
        most_s = clock() - opened_s
        interrupted = await interrupted_call(address)
        await call_by_telephone(address)
        (page, page_sound), (_, cut_sound), (phone, phone_sound) = await kept(folder, 3)
    sound = sound_of(page_sound)
    assert least_s < page["seconds"] < most_s
    assert sound.shape[1] / 48_000 == pytest.approx(page["seconds"], abs=0.05)
    caller, agent = sound[:, ::2]
    # A busy machine brings the one side or the other late; tests on virtual time are exact.
    lags = lag_s(caller, heard[:, 0]), lag_s(agent, heard[:, 1])
    assert lags[0] == pytest.approx(lags[1], abs=0.4)
    check_times(page, caller, agent)
    check_silence(sound_of(cut_sound)[:, ::2], interrupted)
    (spoken,) = [turn for turn in page["turns"] if turn["text"] and not turn["typed"]]
    assert "timer" in spoken["text"].lower()
    assert spoken["replies"][0]["tools"][0]["result"] == "Timer set for 10 minutes."
    assert page["turns"][-1]["typed"] and page["turns"][-1]["marks_ms"]["first_audio"] > 0
    assert page["ended"]["by"] == "caller"
    assert (phone["door"], phone["caller"][:13]) == ("telephone", "conversation:")
    check_times(phone, *sound_of(phone_sound)[:, ::2])


def check_silence(kept: Samples, heard: Samples) -> None:
    """The agent is silent where it was interrupted, and sounds elsewhere."""
    begin = round(lag_s(kept[0], heard[:, 0]) * RATE_HZ)
    count = min(kept.shape[1] - begin, len(heard)) // (RATE_HZ // 10)
    sides = kept[1, begin:], heard[:, 1]
    loud = [
        np.abs(side[: count * RATE_HZ // 10].astype(np.int32)).reshape(count, -1).max(axis=1) > 500
        for side in sides
    ]
    # What was cut off lasts for two seconds; each beginning and end may be late.
    assert np.count_nonzero(loud[0] != loud[1]) <= 10
    assert 5 < np.count_nonzero(loud[1]) < count - 5


def check_times(words: dict[str, Any], caller: Samples, agent: Samples) -> None:
    """What is told of the user's speech and of a reply is heard at that time, on its side."""
    (turn,) = [turn for turn in words["turns"] if turn["text"] and turn["start_ms"]]
    start, end = speech_span(caller, RATE_HZ)
    assert turn["start_ms"] == pytest.approx(start * 1000 / RATE_HZ, abs=250)
    assert turn["end_ms"] == pytest.approx(end * 1000 / RATE_HZ, abs=300)
    assert not turn["estimated"]
    assert [turn["text"][:end].split()[-1] for end, _ in turn["words"]] == turn["text"].split()
    assert turn["words"][-1][1] == pytest.approx(end * 1000 / RATE_HZ, abs=300)
    reply = turn["replies"][-1]
    from_ms, to_ms = reply["start_ms"] - 100, reply["words"][-1][1] + 300
    said = agent[round(from_ms * RATE_HZ / 1000) : round(to_ms * RATE_HZ / 1000)]
    start, end = speech_span(said, RATE_HZ)
    assert reply["start_ms"] == pytest.approx(from_ms + start * 1000 / RATE_HZ, abs=200)
    assert reply["words"][-1][1] == pytest.approx(from_ms + end * 1000 / RATE_HZ, abs=300)


async def test_a_server_that_is_killed_leaves_what_was_said_by_then(
    repo_root: Path, tmp_path: Path
) -> None:
    folder, clock = tmp_path / "kept", asyncio.get_running_loop().time
    async with recording(folder, repo_root) as (process, address):
        opened_s = clock()
        async with RealtimeClient.open(f"ws://{address}/v1/realtime", greet=False) as client:
            began_s = client.microphone.start_s
            await client.turn(at_client_rate(load(LINE), SAMPLE_RATE_HZ), timeout_s=PATIENCE_S)
            client.microphone.say(at_client_rate(load(LINE), SAMPLE_RATE_HZ))
            since = len(client.events)
            await client.wait_for("input_audio_buffer.speech_started", since, PATIENCE_S)
            least_s = clock() - began_s
            # A second is held back, one may wait to be written, and some of it for the encoder.
            async with asyncio.timeout(PATIENCE_S):
                while sounds_s(folder) < least_s:
                    await asyncio.sleep(0.5)
            most_s = clock() - opened_s
            process.send_signal(signal.SIGKILL)
            await process.wait()
        ((words, _),) = await kept(folder, 1, over=False)
    assert words["ended"] is None
    assert words["turns"][0]["replies"][0]["tools"][0]["name"] == "set_timer"
    assert least_s <= sounds_s(folder) < most_s


def test_a_server_that_keeps_nothing_imports_nothing_of_it(repo_root: Path) -> None:
    assert imported_by_default(repo_root, "voice.records") == []
