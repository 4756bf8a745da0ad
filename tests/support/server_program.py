"""The server as a user starts it: a program of its own, with the embedded parts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from voice.demo.server import EMBEDDED, as_arguments


@asynccontextmanager
async def program(
    *arguments: str, cwd: Path
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, list[str], str], None]:
    """Start ``python -m voice.serve`` on a free port.

    Args:
        *arguments: Further ones.
        cwd: The checkout.

    Yields:
        The process, the lines that it has printed, and its host and port.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "voice.serve",
        *as_arguments(EMBEDDED),
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
        async with asyncio.timeout(90):
            while not lines or " at http://" not in lines[-1]:
                line = (await process.stdout.readline()).decode()
                assert line, (await process.stderr.read()).decode()
                lines.append(line.strip())
        yield process, lines, lines[-1].split("http://")[1].rstrip("/")
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
