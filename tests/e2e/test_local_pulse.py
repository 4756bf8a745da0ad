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

from tests.support.patience import PATIENCE_S
from voice.config import CONFIGS_DIR
from voice.demo.recordings import load
from voice.demo.server import EMBEDDED, as_arguments
from voice.local.echo_canceller import SETTLING_S
from voice.types import SAMPLE_RATE_HZ, samples_of_ms

MISSING = [name for name in ("pulseaudio", "paplay", "parec") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]
ASOUNDRC = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"
RECORD = ["parec", "--device=speaker.monitor", "--latency-msec=20"]
RECORD += ["--format=s16le", f"--rate={SAMPLE_RATE_HZ}", "--channels=1"]
ECHO_MS = 60
LOADED_WITHIN_S = 240
ASKED_AT_MOST = 5
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
    """As `daemon`; gives its clients' environment."""
    async with daemon(home, echo) as (env, _):
        yield env


@asynccontextmanager
async def daemon(home: Path, echo: bool) -> AsyncGenerator[tuple[dict[str, str], Process], None]:
    """A daemon of our own with the sinks "mic" and "speaker", and its clients' environment.

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
    program = "pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes"
    modules = [
        "module-null-sink sink_name=mic rate=16000",
        "module-null-sink sink_name=speaker",
        *[f"module-loopback source=speaker.monitor sink=mic latency_msec={ECHO_MS}"] * echo,
        # Last: who can connect finds the sinks.
        f"module-native-protocol-unix socket={socket} auth-anonymous=1",
    ]
    loads = [part for module in modules for part in ("-L", module)]
    async with running(*program.split(), *loads, env=env, stderr=PIPE) as process:
        async with asyncio.timeout(PATIENCE_S):
            while not socket.exists():
                assert process.returncode is None, await process.stderr.read()
                await asyncio.sleep(0.02)
        yield env, process


class Agent:
    """A running `voice.local` and all that it has printed."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.complaints: list[str] = []
        self._printed = asyncio.Condition()

    @property
    def dropouts(self) -> int:
        """How often ALSA has told that a busy machine made its buffer run dry."""
        return sum(line.startswith("ALSA lib pcm") for line in self.complaints)

    @property
    def said_by_user(self) -> list[str]:
        """What the agent understood, turn by turn."""
        told = [" ".join(line.split()) for line in self.lines]
        return [line.removeprefix("user ") for line in told if line.startswith("user")]

    async def read(self, pipe: asyncio.StreamReader, into: list[str]) -> None:
        async for text in pipe:
            async with self._printed:
                into.append(text.decode())
                self._printed.notify_all()

    async def prints(self, *wanted: str, within_s: float) -> bool:
        """Whether a line of its standard output holds any of these before that time is over."""
        try:
            async with asyncio.timeout(within_s), self._printed:
                await self._printed.wait_for(
                    lambda: any(one in line for one in wanted for line in self.lines)
                )
        except TimeoutError:
            return False
        return True

    def __str__(self) -> str:
        ours = [line for line in self.complaints if not line.startswith("ALSA lib pcm")]
        return f"{self.dropouts} dropouts; it printed:\n{''.join(self.lines + ours)}"


@asynccontextmanager
async def listening(env: dict[str, str], *arguments: str) -> AsyncGenerator[Agent, None]:
    """The program with the embedded parts, once it listens; SIGINT has to end it with status 0."""
    program = [sys.executable, "-m", "voice.local", *as_arguments(EMBEDDED), *arguments]
    async with running(*program, env=env, stdout=PIPE, stderr=PIPE) as process:
        agent = Agent(process)
        async with asyncio.TaskGroup() as group:
            group.create_task(agent.read(process.stdout, agent.lines))
            group.create_task(agent.read(process.stderr, agent.complaints))
            try:
                assert await agent.prints("Listening", within_s=LOADED_WITHIN_S), str(agent)
                yield agent
                process.send_signal(signal.SIGINT)
                async with asyncio.timeout(PATIENCE_S):
                    assert await process.wait() == 0, str(agent)
            finally:
                if process.returncode is None:
                    process.kill()


async def audible(recorder: Process, seconds: float, agent: Agent) -> None:
    """Read 16 kHz mono PCM until so much of it has been loud."""
    loud_s = 0.0
    try:
        async with asyncio.timeout(PATIENCE_S):
            while loud_s < seconds:
                block = np.frombuffer(await recorder.stdout.readexactly(640), np.int16)
                loud_s += 0.02 * bool(np.abs(block.astype(np.int32)).max() > 500)
    except TimeoutError:
        pytest.fail(f"there were {loud_s:.1f} of {seconds} s of sound; {agent}")


async def ask_for_a_timer(agent: Agent, wav: Path, env: dict[str, str], dropouts: int) -> None:
    """Say it into the microphone, and again, as users do, where dropouts swallowed it.

    Args:
        agent: Whom the user asks.
        wav: The user's words.
        env: Of PulseAudio's clients.
        dropouts: How many the agent had a while ago. With no more of them since, it has to
            understand; nor may it stay deaf for long. With -1 it may always ask for patience.
    """
    for _ in range(ASKED_AT_MOST):
        async with running("paplay", "--device=mic", str(wav), env=env) as player:
            assert await player.wait() == 0
        # Who misses a word of it asks, about a timer of so long, or takes the word for a name.
        understood = "imer set for 10 minutes.", "timer: ten minutes"
        if await agent.prints(*understood, within_s=20):
            return
        assert agent.dropouts > dropouts, f"no dropout, yet it did not understand; {agent}"
    pytest.fail(f"it did not understand, {ASKED_AT_MOST} times; {agent}")


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
    silent = str(agent_that_greets(tmp_path, ""))
    async with (
        pulseaudio(tmp_path) as env,
        running(*RECORD, env=env, stdout=PIPE) as recorder,
        listening(env, "--agent", silent) as agent,
    ):
        await ask_for_a_timer(agent, spoken_wav(tmp_path), env, dropouts=-1)
        await audible(recorder, 0.5, agent)
        assert await agent.prints(" agent  ", within_s=PATIENCE_S), str(agent)
    told = "".join(agent.lines)
    assert agent.said_by_user[-1] == "Set a timer for 10 minutes.", str(agent)
    assert "set_timer(duration='ten minutes') → Timer set for 10 minutes." in told
    # ALSA reports by itself when a busy machine makes its buffer run dry.
    assert agent.dropouts == len(agent.complaints), str(agent)


async def test_an_agent_that_hears_itself_talks_on_until_the_user_interrupts(tmp_path):
    telling = str(agent_that_greets(tmp_path, ", and ".join([STORY] * 8) + "."))
    async with (
        pulseaudio(tmp_path, echo=True) as env,
        running(*RECORD, env=env, stdout=PIPE) as recorder,
        listening(env, "--agent", telling, "--set", "local.echo=cancel") as agent,
    ):
        await audible(recorder, 1.0, agent)
        dropouts = agent.dropouts
        await audible(recorder, SETTLING_S, agent)
        # An agent that heard itself would have taken that for a user's words.
        assert agent.said_by_user == [], str(agent)
        # What both say at once costs words at the start, not the request.
        await ask_for_a_timer(agent, spoken_wav(tmp_path), env, dropouts)


async def test_a_sound_server_that_ends_is_told_and_ends_the_program(tmp_path):
    command = [sys.executable, "-m", "voice.local", *as_arguments(EMBEDDED)]
    async with (
        daemon(tmp_path, echo=False) as (env, server),
        running(*command, env=env, stdout=PIPE, stderr=PIPE) as local,
        asyncio.timeout(LOADED_WITHIN_S),
    ):
        async for line in local.stdout:
            if b"Listening" in line:
                server.kill()
                break
        _, complaints = await local.communicate()
    assert local.returncode == 1
    told = b"error: the sound device has stopped: unplugged, or its sound server has ended"
    assert complaints.splitlines()[-1] == told


async def test_the_devices_are_listed(tmp_path):
    command = [sys.executable, "-m", "voice.local", "--list-devices"]
    async with (
        pulseaudio(tmp_path) as env,
        running(*command, env=env, stdout=PIPE, stderr=PIPE) as local,
    ):
        listed, complaints = await local.communicate()
    assert (local.returncode, complaints) == (0, b"")
    assert b"default, ALSA" in listed
