"""What the tests of Realtime clients share: what is said to them, and what their programs found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import soxr

from tests.support.patience import PATIENCE_S
from voice.audio import pcm16_from_samples
from voice.demo.recordings import load


def spoken(name: str, folder: Path) -> Path:
    """A recording as the client sends it."""
    path = folder / f"{name}.pcm"
    path.write_bytes(pcm16_from_samples(soxr.resample(load(name), 16_000, 24_000)))
    return path


async def found(*command: str | Path, folder: Path) -> dict[str, Any]:
    """What a client's program reports that says two lines of the assistant's demo.

    Args:
        command: Program and address; the recordings follow them.
        folder: Where the recordings are written.
    """
    client = await asyncio.create_subprocess_exec(
        *command,
        spoken("assistant-1-timer", folder),
        spoken("assistant-6-time", folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(4 * PATIENCE_S):
            out, errors = await client.communicate()
    finally:
        if client.returncode is None:
            client.kill()
            await client.wait()
    assert client.returncode == 0, errors.decode()
    report: dict[str, Any] = json.loads(out)
    return report
