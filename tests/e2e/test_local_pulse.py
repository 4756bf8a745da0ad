"""`python -m voice.local` with PulseAudio's null sinks for a microphone and a loudspeaker."""

import asyncio
import os
import re
import shutil
import signal
import sys
import wave
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from voice.config import CONFIGS_DIR
from voice.demo_server import EMBEDDED, as_arguments
from voice.recordings import load
from voice.types import SAMPLE_RATE_HZ, samples_of_ms

MISSING = [name for name in ("pulseaudio", "paplay", "parec") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]
ASOUNDRC = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"
ECHO_MS = 60
STORY = (
    "A fox lived in a wood by the sea. Every morning it went down to the water to look for shells"
)


@asynccontextmanager
async def running(
    *command: str, env: dict[str, str], **pipes: int
) -> AsyncGenerator[Process, None]:
    process = await asyncio.create_subprocess_exec(*command, env=env, **pipes)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def pulseaudio(home: Path, echo: bool = False) -> AsyncGenerator[dict[str, str], None]:
    """A daemon of our own with the sinks "mic" and "speaker"; gives its clients' environment.

    With ``echo`` the microphone hears the loudspeaker.
    """
    (home / ".asoundrc").write_text(ASOUNDRC)
    socket = home / "pulse.socket"
    env = {
        **os.environ,
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "PULSE_SERVER": f"unix:{socket}",
        "PULSE_SOURCE": "mic.monitor",
        "PULSE_SINK": "speaker",
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "200",
    }
    daemon = "pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes"
    modules = [
        "module-null-sink sink_name=mic rate=16000",
        "module-null-sink sink_name=speaker",
        *[f"module-loopback source=speaker.monitor sink=mic latency_msec={ECHO_MS}"] * echo,
        # Last: who can connect finds the sinks.
        f"module-native-protocol-unix socket={socket} auth-anonymous=1",
    ]
    loads = [part for module in modules for part in ("-L", module)]
    async with running(*daemon.split(), *loads, env=env, stderr=PIPE) as process:
        async with asyncio.timeout(10):
            while not socket.exists():
                assert process.returncode is None, await process.stderr.read()
                await asyncio.sleep(0.02)
        yield env


async def line_with(process: Process, wanted: str, seen: list[str]) -> None:
    """Read standard output until a line holds the words wanted."""
    async with asyncio.timeout(90):
        async for text in process.stdout:
            seen.append(text.decode())
            if wanted in seen[-1]:
                return
    pytest.fail(f"it ended without {wanted!r}: {seen}")


async def audible(recorder: Process, seconds: float) -> None:
    """Read 16 kHz mono PCM until so much of it has been loud."""
    loud_s = 0.0
    async with asyncio.timeout(20):
        while loud_s < seconds:
            block = np.frombuffer(await recorder.stdout.readexactly(640), np.int16)
            loud_s += 0.02 * bool(np.abs(block.astype(np.int32)).max() > 500)


def agent_that_greets(home: Path, greeting: str) -> Path:
    """The assistant with another greeting; with none, the first sound is the reply."""
    text = (CONFIGS_DIR / "agents" / "assistant.toml").read_text()
    file = home / "assistant.toml"
    new = f'greeting = "{greeting}"'
    file.write_text(re.sub(r"^greeting = .*$", new, text, flags=re.MULTILINE))
    return file


def spoken_wav(home: Path) -> Path:
    """The recorded line about the timer, with some silence around it."""
    file = home / "timer.wav"
    quiet = np.zeros(samples_of_ms(300), np.int16)
    with wave.open(str(file), "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(SAMPLE_RATE_HZ)
        samples = np.concatenate([quiet, load("assistant-1-timer"), quiet])
        wav.writeframes(samples.astype("<i2").tobytes())
    return file


async def test_a_timer_is_asked_for_and_the_reply_is_heard(tmp_path):
    settings = as_arguments(EMBEDDED)
    agent = ["--agent", str(agent_that_greets(tmp_path, ""))]
    record = "parec --device=speaker.monitor --format=s16le --rate=16000 --channels=1"
    async with (
        pulseaudio(tmp_path) as env,
        running(*f"{record} --latency-msec=20".split(), env=env, stdout=PIPE) as recorder,
        running(
            *[sys.executable, "-m", "voice.local", *agent, *settings],
            env=env,
            stdout=PIPE,
            stderr=PIPE,
        ) as local,
    ):
        seen: list[str] = []
        await line_with(local, "Listening", seen)
        play = ["paplay", "--device=mic", str(spoken_wav(tmp_path))]
        async with running(*play, env=env) as player:
            assert await player.wait() == 0
        async with asyncio.TaskGroup() as group:
            group.create_task(audible(recorder, 0.5))
            group.create_task(line_with(local, " agent  ", seen))
        local.send_signal(signal.SIGINT)
        _, complaints = await local.communicate()
        assert local.returncode == 0, complaints
    told = "".join(seen)
    assert "user  set a timer for ten minutes" in told
    assert "set_timer(duration='ten minutes') → Timer set for 10 minutes." in told
    # ALSA reports by itself when a busy machine makes its buffer run dry.
    ours = [line for line in complaints.splitlines() if not line.startswith(b"ALSA lib pcm")]
    assert ours == []


async def test_an_agent_that_hears_itself_talks_on_until_the_user_interrupts(tmp_path):
    settings = [*as_arguments(EMBEDDED), "--set", "local.echo=cancel"]
    agent = ["--agent", str(agent_that_greets(tmp_path, f"{STORY}, and {STORY}."))]
    record = "parec --device=speaker.monitor --format=s16le --rate=16000 --channels=1"
    async with (
        pulseaudio(tmp_path, echo=True) as env,
        running(*f"{record} --latency-msec=20".split(), env=env, stdout=PIPE) as recorder,
        running(
            *[sys.executable, "-m", "voice.local", *agent, *settings],
            env=env,
            stdout=PIPE,
            stderr=PIPE,
        ) as local,
    ):
        seen: list[str] = []
        await line_with(local, "Listening", seen)
        # An agent that heard itself would have stopped by now.
        await audible(recorder, 4.0)
        play = ["paplay", "--device=mic", str(spoken_wav(tmp_path))]
        async with running(*play, env=env) as player:
            assert await player.wait() == 0
        await line_with(local, "Timer set for 10 minutes.", seen)
        local.send_signal(signal.SIGINT)
        await local.communicate()
    told = [" ".join(line.split()) for line in seen]
    # What both say at once costs the first words, not the request.
    [user] = [line for line in told if line.startswith("user")]
    assert user.endswith("ten minutes")


async def test_the_devices_are_listed(tmp_path):
    command = [sys.executable, "-m", "voice.local", "--list-devices"]
    async with (
        pulseaudio(tmp_path) as env,
        running(*command, env=env, stdout=PIPE, stderr=PIPE) as local,
    ):
        listed, complaints = await local.communicate()
    assert (local.returncode, complaints) == (0, b"")
    assert b"default, ALSA" in listed
