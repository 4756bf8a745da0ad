"""From a clone to the first answer that is heard: ``python -m benchmarks.voice.first_minutes``.

Clones the checked-out commit into an empty folder and runs ``make run`` there as a person would, in
a terminal, with an empty pip cache; then once more in another clone, with the cache filled.
Meanwhile it asks for the page until it answers, and then speaks a line of the demo. ``--commit``
does this with other commits, one after the other.

Downloads are counted as pip reports them; wheels that were on this machine already are counted
apart. Results: benchmarks/results/first_minutes.json.
"""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import ROOT, Program
from voice.demo.client import RealtimeClient, at_client_rate
from voice.demo.recordings import load
from voice.demo.server import free_port
from voice.demo.turn_report import of_type
from voice.errors import VoiceError
from voice.types import SAMPLE_RATE_HZ

LINE = "assistant-1-timer"
LONGEST_S = 1800.0
ASK_EVERY_S = 0.1
STOP_S = 10.0
_LOCAL_WHEEL = re.compile(r"Processing (/\S+\.whl)")
_DOWNLOADED = re.compile(r"Downloading \S+ \(([\d.]+) (bytes|kB|MB|GB)\)")
_UNITS_MB = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}


class Terminal:
    """A command in a terminal of its own, with what it has written and when.

    Attributes:
        begun_s: On the event loop's clock.
        written: Seconds since the beginning, and the text.
    """

    def __init__(self, command: Sequence[str], folder: Path, environ: dict[str, str]) -> None:
        self._clock = asyncio.get_running_loop().time
        self._screen, ours = pty.openpty()
        self._process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=ours, stdout=ours, stderr=ours,
            start_new_session=True,
        )  # fmt: skip
        os.close(ours)
        self.begun_s = self._clock()
        self.written: list[tuple[float, str]] = []
        asyncio.get_running_loop().add_reader(self._screen, self._read)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self.begun_s

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(text for _, text in self.written)

    def ended(self) -> bool:
        """Whether the command has ended by itself."""
        return self._process.poll() is not None

    async def close(self) -> None:
        """End the command and all processes that it has started."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if not self.ended():
                os.killpg(self._process.pid, sent)
                await asyncio.to_thread(_waited, self._process)
        asyncio.get_running_loop().remove_reader(self._screen)
        os.close(self._screen)

    def _read(self) -> None:
        try:
            written = os.read(self._screen, 65536)
        except OSError:
            # The command has closed its side.
            asyncio.get_running_loop().remove_reader(self._screen)
            return
        self.written.append((self.elapsed_s, written.decode(errors="replace")))


def _waited(process: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_S)


def longest_silence(written: Sequence[tuple[float, str]], until_s: float) -> dict[str, Any]:
    """The longest time without output, and the last line before it."""
    times = [0.0, *(at_s for at_s, _ in written if at_s < until_s), until_s]
    gaps = [after - before for before, after in pairwise(times)]
    at = gaps.index(max(gaps))
    lines = re.split(r"[\r\n]+", "".join(text for _, text in written[:at]).rstrip())
    return {"s": round(gaps[at], 1), "from_s": round(times[at], 1), "behind": lines[-1][-120:]}


def downloaded_mb(text: str) -> float:
    """Megabytes that pip reports as downloaded."""
    return round(sum(float(n) * _UNITS_MB[unit] for n, unit in _DOWNLOADED.findall(text)), 1)


async def page_answers(url: str, terminal: Terminal) -> float:
    """Seconds from the beginning until the page answers.

    Raises:
        VoiceError: The command has ended, or the page takes too long.
    """
    async with httpx.AsyncClient(trust_env=False) as http:
        while not terminal.ended() and terminal.elapsed_s < LONGEST_S:
            try:
                if (await http.get(url)).status_code == 200:
                    return terminal.elapsed_s
            except httpx.TransportError:
                await asyncio.sleep(ASK_EVERY_S)
    raise VoiceError(f"there is no page at {url}; the last output: {terminal.text[-500:]}")


async def answer_heard(url: str, terminal: Terminal) -> float:
    """Say a line, and return the seconds from the beginning until its answer sounds.

    Raises:
        VoiceError: There is no answer.
    """
    async with RealtimeClient.open(url, greet=False) as client:
        line = at_client_rate(load(LINE), SAMPLE_RATE_HZ)
        await client.turn(line, hear_out=False)
        sound = of_type(client.events, "response.output_audio.delta")
        if not sound:
            raise VoiceError("the agent has not answered")
        return sound[0].at_s - terminal.begun_s


async def first_minutes(clone: Path, cache: Path, variables: Sequence[str]) -> dict[str, Any]:
    """Run ``make run`` in a clone, wait for the page, speak a line, and return the figures."""
    own = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")
    environ = {key: value for key, value in os.environ.items() if key not in own}
    home = {"PIP_CACHE_DIR": str(cache), "XDG_DATA_HOME": str(clone / "runs"), "TERM": "xterm"}
    where = f"127.0.0.1:{free_port()}"
    command = ["make", "run", f"ARGS=--port {where.rpartition(':')[2]}", *variables]
    terminal = Terminal(command, clone, environ | home)
    try:
        page_s = await page_answers(f"http://{where}/", terminal)
        answer_s = await answer_heard(f"ws://{where}/v1/realtime", terminal)
    finally:
        await terminal.close()
    local = {Path(path) for path in _LOCAL_WHEEL.findall(terminal.text)}
    return {
        "page_answers_s": round(page_s, 1),
        "first_answer_heard_s": round(answer_s, 1),
        "longest_silence": longest_silence(terminal.written, page_s),
        "downloaded_mb": downloaded_mb(terminal.text),
        "from_this_machine_mb": round(sum(path.stat().st_size for path in local) / 1e6, 1),
        "installed_mb": round(_size(clone / ".venv") / 1e6, 1),
    }


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def main() -> None:
    """Measure both and write the results."""
    program = Program("benchmarks.voice.first_minutes", __doc__)
    program.add_argument(
        "variables", nargs="*", metavar="VARIABLE=VALUE", help="of make, as TORCH_INDEX="
    )
    program.add_argument("--commit", action="append", help="instead of the one checked out")
    given = program.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="first-minutes-") as name:
        for commit in given.commit or ["HEAD"]:
            short = _git(ROOT, "rev-parse", "--short", commit)
            cache, figures[short] = Path(name) / f"{short}-cache", {}
            cache.mkdir()
            for kind in ("empty_cache", "with_cache"):
                clone = Path(name) / f"{short}-{kind}"
                _git(ROOT, "clone", "--quiet", str(ROOT), str(clone))
                _git(clone, "checkout", "--quiet", short)
                figures[short][kind] = asyncio.run(first_minutes(clone, cache, given.variables))
                print(short, kind, figures[short][kind], flush=True)
        # Written before the context ends, since deleting some gigabytes takes a while.
        program.write(figures)


def _git(folder: Path, *command: str) -> str:
    done = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
