"""The server as a user starts it: a program of its own, with the checkpoint that ships."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = "mercury-2"
KEY = "a-key-of-the-tests"


@contextmanager
def program(*arguments: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start ``python -m dlm.serve`` on a free port; gives the process and the API's address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dlm.serve", "--port", "0", "--name", MODEL, *arguments],
        cwd=cwd,
        env={**os.environ, "QUICKSILVER_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        try:
            line = process.stdout.readline()
            assert " at http://" in line, process.communicate()[1]
            yield process, line.split(" at ")[1].strip()
        finally:
            process.kill()
