from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from benchmarks.voice.first_minutes import Terminal, downloaded_mb, longest_silence, page_answers
from tests.support.serving import serving
from voice.errors import VoiceError


def test_the_longest_silence_is_told_with_the_line_before_it() -> None:
    written = [(1.0, "Collecting a\r\n"), (2.0, "  10%\r  20%"), (9.5, "\r\ndone\r\n")]
    assert longest_silence(written, 10.0) == {"s": 7.5, "from_s": 2.0, "behind": "  20%"}
    # What comes once the page is there is no silence of the start.
    assert longest_silence(written, 3.0) == {"s": 1.0, "from_s": 0.0, "behind": ""}


def test_downloads_are_added_up_as_pip_tells_them() -> None:
    text = "Downloading a-1.whl (1.5 MB)\r\n ━ 1.5/1.5 MB\nUsing cached b.whl (9 MB)\n"
    assert downloaded_mb(f"{text}Downloading c-1.whl.metadata (500 kB)") == 2.0


async def test_a_command_in_a_terminal_is_watched_and_ended(tmp_path: Path) -> None:
    program = "import sys; print(sys.stdout.isatty(), flush=True); sys.stdin.read()"
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("the page"))])
    async with serving(app) as address:
        terminal = Terminal([sys.executable, "-c", program], tmp_path, dict(os.environ))
        assert await page_answers(f"http://{address}/", terminal) >= 0.0
        assert not terminal.ended()
        await terminal.close()
        assert terminal.ended()


async def test_a_command_that_ends_without_a_page_is_told(tmp_path: Path) -> None:
    failing = [sys.executable, "-c", "raise SystemExit('no')"]
    terminal = Terminal(failing, tmp_path, dict(os.environ))
    with pytest.raises(VoiceError, match="no page"):
        await page_answers("http://127.0.0.1:9/", terminal)
    await terminal.close()
