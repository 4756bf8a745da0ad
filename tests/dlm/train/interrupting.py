"""A training program that is interrupted while it trains."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.patience import PATIENCE_S


def interrupted(
    command: Sequence[str], folder: Path, asked: signal.Signals
) -> tuple[list[str], str, str, int]:
    """Run a program in a group of its own, and signal the group once it tells of a step.

    Returns:
        The lines it wrote before, what it wrote after, its errors, its exit status.
    """
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **streams) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not (lines and " min left · " in lines[-1]):
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr
        os.killpg(process.pid, asked)
        # It returns when nobody has the streams any more: none of its processes lives.
        told, errors = process.communicate(timeout=PATIENCE_S)
    return lines, told, errors, process.returncode
