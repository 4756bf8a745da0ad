"""The server as a user starts it: a program of its own, with the embedded parts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from voice.demo.server import EMBEDDED, as_arguments

START_S = 300.0
"""On a machine on which everything else waits as well."""


@asynccontextmanager
async def program(
    *arguments: str,
    cwd: Path,
    under: Sequence[str] = (),
    settings: Sequence[str] = EMBEDDED,
    command: Sequence[str] = (sys.executable, "-m", "voice.serve"),
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, list[str], str], None]:
    """Start ``python -m voice.serve``, or another command, on a free port.

    Args:
        *arguments: Further ones.
        cwd: The checkout.
        under: A program, with its arguments, that runs it.
        settings: Of the server.
        command: That starts it.

    Yields:
        The process, the lines that it has printed, and its host and port.
    """
    process = await asyncio.create_subprocess_exec(
        *under,
        *command,
        *as_arguments(settings),
        "--port",
        "0",
        *arguments,
        cwd=cwd,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[str] = []
    try:
        async with asyncio.timeout(START_S):
            while not lines or " at http://" not in lines[-1]:
                line = (await process.stdout.readline()).decode()
                assert line, (await process.stderr.read()).decode()
                lines.append(line.strip())
        yield process, lines, lines[-1].split("http://")[1].rstrip("/")
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
