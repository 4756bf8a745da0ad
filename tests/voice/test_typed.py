"""Conversations by keyboard: ``python -m voice.typed``."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.support.patience import PATIENCE_S

TOOLS = '''
from voice.tools import tool


@tool()
def cancel_hire(number: int) -> str:
    """Cancel a booking by its number."""
    return f"Booking {number} is cancelled."
'''
AGENT = """
name = "hire"
instructions = "You are the voice agent of a bike hire shop. Use a tool when one fits."
greeting = "Pedal bike hire."
tools = ["cancel_hire"]
"""


def typed(folder: Path, said: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "voice.typed", *options]
    return subprocess.run(
        command, input=said, capture_output=True, text=True, cwd=folder, timeout=4 * PATIENCE_S
    )


def test_an_agent_of_ones_own_is_tried_by_keyboard(tmp_path: Path) -> None:
    (tmp_path / "hire.py").write_text(TOOLS)
    (tmp_path / "hire.toml").write_text(AGENT)
    said = "cancel booking seven\n\n"
    done = typed(tmp_path, said, "--agent", "hire.toml", "--set", 'tools.modules=["hire"]')
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "Pedal bike hire.",
        "> cancel booking seven",
        '  [called cancel_hire {"number": 7}]',
        "Booking 7 is cancelled.",
        "> ",
        "> ",
    ]


def test_ctrl_c_ends_it_while_it_waits_for_a_line() -> None:
    command = [sys.executable, "-m", "voice.typed"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as running:
        try:
            assert running.stdout is not None
            while running.stdout.read(1) != b">":
                assert running.poll() is None
            running.send_signal(signal.SIGINT)
            assert running.wait(PATIENCE_S) == -signal.SIGINT
        finally:
            running.kill()


def test_a_wrong_option_is_told(tmp_path: Path) -> None:
    done = typed(tmp_path, "", "--agent", "nobody")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: agent: nobody: got an unknown name")
