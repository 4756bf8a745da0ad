from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.virtual_time import now, virtual
from voice.tools import execution
from voice.tools.execution import Cancelled, NotCarried, Runs, Threads
from voice.types import ToolResult

KEY = ("session", "key")


class Work:
    """Takes some seconds, and counts."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begun = 0
        self.done = 0

    async def __call__(self) -> ToolResult:
        self.begun += 1
        await asyncio.sleep(self.seconds)
        self.done += 1
        return ToolResult("c", "work", f"Done {self.done}.")


@virtual
async def test_a_key_runs_once_however_often_it_is_asked_for() -> None:
    runs, work = Runs(5), Work(1)
    results = await asyncio.gather(*(runs.once(KEY, work) for _ in range(3)))
    assert results == [await runs.once(KEY, work)] * 3
    assert work.begun == 1
    await runs.once(("other session", "key"), work)
    assert work.begun == 2


@virtual
async def test_what_takes_too_long_goes_on_and_is_joined() -> None:
    runs, work = Runs(1), Work(2.5)
    assert await runs.once(KEY, work) is None
    assert now() == pytest.approx(1)
    assert await runs.once(KEY, work) is None
    assert (await runs.outcome(KEY)).content == "Done 1."
    assert now() == pytest.approx(2.5)
    assert work.begun == 1
    with pytest.raises(KeyError):
        await runs.outcome(("other", "key"))


@virtual
async def test_a_caller_that_leaves_does_not_stop_it() -> None:
    runs, work = Runs(5), Work(1)
    caller = asyncio.create_task(runs.once(KEY, work))
    await asyncio.sleep(0.5)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await runs.drain()
    assert work.done == 1


@virtual
async def test_reading_ends_with_its_caller_and_its_time() -> None:
    runs, work = Runs(1), Work(2)
    assert await runs.read_only(KEY, work) is None
    caller = asyncio.create_task(runs.read_only(KEY, work))
    await asyncio.sleep(0.5)
    caller.cancel()
    await asyncio.sleep(9)
    assert (work.begun, work.done) == (2, 0)


@pytest.mark.parametrize("kind", ["once", "read_only"])
@virtual
async def test_cancelling_says_so_to_who_waits(kind: str) -> None:
    runs, work = Runs(5), Work(2)
    caller = asyncio.create_task(getattr(runs, kind)(KEY, work))
    await asyncio.sleep(0.5)
    runs.cancel(KEY)
    runs.cancel(("other", "key"))
    with pytest.raises(Cancelled):
        await caller
    assert work.done == 0
    assert now() == pytest.approx(0.5)


@virtual
async def test_old_runs_are_forgotten_within_bounds() -> None:
    runs, work = Runs(5), Work(0)
    for number in range(1100):
        await runs.once(("s", str(number)), work)
    assert len(runs._runs) <= 1024
    await runs.once(("s", "1099"), work)
    assert work.begun == 1100


async def test_it_runs_beside_the_loop_and_brings_what_comes_of_it() -> None:
    def fail() -> str:
        raise LookupError("nothing there")

    threads = Threads(1)
    here = threading.get_ident()
    assert await threads.run("look", threading.get_ident) != here
    with pytest.raises(LookupError, match="nothing there"):
        await threads.run("look", fail)


async def test_no_more_run_at_a_time_than_there_may() -> None:
    release, begun = threading.Event(), []

    def wait() -> str:
        begun.append(1)
        release.wait()
        return "done"

    threads = Threads(2)
    runs = [asyncio.create_task(threads.run("wait", wait)) for _ in range(5)]
    while len(begun) < 2:
        await asyncio.sleep(0.01)
    # One that is given up keeps its thread until it ends.
    runs[0].cancel()
    await asyncio.sleep(0.05)
    assert len(begun) == 2
    release.set()
    assert await asyncio.gather(*runs[1:]) == ["done"] * 4
    await threads.close()


async def test_those_that_are_given_up_while_one_hangs_leave_no_thread() -> None:
    release, begun = threading.Event(), threading.Event()
    ran: list[int] = []

    def hang() -> None:
        begun.set()
        release.wait()

    threads = Threads(1)
    hanging = asyncio.create_task(threads.run("hang", hang))
    await asyncio.to_thread(begun.wait)
    before = set(threading.enumerate())
    given_up = [asyncio.create_task(threads.run("add", lambda: ran.append(1))) for _ in range(20)]
    await asyncio.sleep(0)
    for each in given_up:
        each.cancel()
    await asyncio.wait(given_up)
    last = asyncio.create_task(threads.run("add", lambda: ran.append(2)))
    await asyncio.sleep(0)
    # Others, of other tests, may end meanwhile.
    assert not set(threading.enumerate()) - before
    assert len(threads._waiting) == 1
    release.set()
    await asyncio.gather(hanging, last)
    assert ran == [2]
    await threads.run("add", lambda: ran.append(3))
    assert ran == [2, 3]


async def test_what_never_ends_is_left_and_named(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "_INTERRUPT_WAIT_S", PATIENCE_S)
    begun = threading.Event()

    def spin() -> str:
        begun.set()
        while True:
            time.sleep(0.001)

    threads = Threads(2)
    spinning = asyncio.create_task(threads.run("spin", spin))
    await asyncio.to_thread(begun.wait)
    with caplog.at_level(logging.WARNING):
        await threads.close()
        await threads.close()
    assert caplog.messages == ["left behind unfinished: tool spin"]
    with pytest.raises(NotCarried) as told:
        await spinning
    assert isinstance(told.value.__cause__, SystemExit)


@pytest.mark.parametrize(
    "work",
    ["time.sleep(600)", "multiply()"],
)
def test_a_program_ends_whatever_a_thread_does(work: str) -> None:
    program = f"""
import asyncio, threading, time
from voice.tools.execution import Threads

begun = threading.Event()

def multiply():
    import torch
    numbers = torch.randn(64, 64)
    while True:
        numbers = (numbers @ numbers).relu_() / 64

def work():
    if {work!r} == "multiply()":
        import torch
    begun.set()
    {work}

async def main():
    threads = Threads(1)
    running = asyncio.create_task(threads.run("hang", work))
    await asyncio.to_thread(begun.wait)
    await asyncio.sleep(0.2)
    await threads.close()
    running.cancel()
    await asyncio.wait([running])

asyncio.run(main())
print("over")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    told = "left behind unfinished: tool hang\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "over\n", told)
