"""A server in its own process on a free port, for the demo and the benchmarks."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import httpx

from voice.errors import VoiceError

EMBEDDED = ('tools.database=":memory:"', "server.max_sessions=8")
"""Settings for a server that keeps nothing, and that accepts several conversations on the slowest
machine; its default parts download nothing."""
START_TIMEOUT_S = 900.0
"""Long enough to fetch models over a slow line the first time."""
STOP_TIMEOUT_S = 30.0
ASK_EVERY_S = 0.01


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that answers.

    Attributes:
        started_s: Time from starting the process to the first answer of /healthz.
    """

    host: str
    port: int
    pid: int
    started_s: float

    @property
    def metrics_url(self) -> str:
        """The address of the Prometheus metrics."""
        return f"http://{self.host}:{self.port}/metrics"

    @property
    def realtime_url(self) -> str:
        """The address for Realtime clients."""
        return f"ws://{self.host}:{self.port}/v1/realtime"


def as_arguments(settings: Iterable[str]) -> list[str]:
    """Settings, each ``section.key=value``, as command-line arguments."""
    return [part for setting in settings for part in ("--set", setting)]


@asynccontextmanager
async def serving(
    arguments: Sequence[str],
    environ: Mapping[str, str] | None = None,
    port: int = 0,
    module: str = "voice.serve",
) -> AsyncGenerator[ServerProcess, None]:
    """Run ``python -m voice.serve`` until the block ends.

    Args:
        arguments: Arguments of the command; host and port are added.
        environ: Environment of the process; our own if not given.
        port: The port to listen on; 0 takes a free one.
        module: The module to run.

    Raises:
        VoiceError: The server ended before it answered, or did not answer in time. Its standard
            error, which is ours, says why.
    """
    host, port = "127.0.0.1", port or free_port()
    command = ["-m", module, *as_arguments([f'server.host="{host}"', f"server.port={port}"])]
    begun_s = asyncio.get_running_loop().time()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, *arguments, env=environ
    )
    try:
        await _answering(process, f"http://{host}:{port}/healthz")
        started_s = asyncio.get_running_loop().time() - begun_s
        yield ServerProcess(host, port, process.pid, started_s)
    finally:
        await _stop(process)


async def _answering(process: Process, url: str) -> None:
    ended = asyncio.create_task(process.wait())
    try:
        async with asyncio.timeout(START_TIMEOUT_S), httpx.AsyncClient(trust_env=False) as http:
            while not ended.done():
                if await _answers(http, url):
                    return
                await asyncio.wait({ended}, timeout=ASK_EVERY_S)
    except TimeoutError as error:
        raise VoiceError(f"the server did not answer within {START_TIMEOUT_S:.0f} s") from error
    finally:
        ended.cancel()
    raise VoiceError(f"the server ended with status {process.returncode} before it answered")


async def _answers(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url, timeout=2.0)).status_code == 200
    except httpx.TransportError:
        return False


async def _stop(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_TIMEOUT_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def free_port() -> int:
    """A TCP port of this machine that nobody listens on.

    It lies below the ports that systems assign to connections or for port 0, so it is still free
    when the program that is to use it has started.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
