from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time

import pytest

from tests.support.patience import PATIENCE_S
from voice.tools.execution import NotCarried, Threads


async def test_it_runs_beside_the_loop_and_brings_what_comes_of_it() -> None:
    def fail() -> str:
        raise LookupError("nothing there")

    threads = Threads(1)
    here = threading.get_ident()
    assert await threads.run("look", threading.get_ident) != here
    with pytest.raises(LookupError, match="nothing there"):
        await threads.run("look", fail)


@pytest.mark.parametrize(
    "failure", [StopIteration(), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]
)
async def test_what_a_loop_does_not_carry_is_wrapped(failure: BaseException) -> None:
    def fail() -> str:
        raise failure

    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(NotCarried) as told:
            await Threads(1).run("fail", fail)
    assert told.value.__cause__ is failure


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


async def test_what_never_ends_is_left_and_named(caplog: pytest.LogCaptureFixture) -> None:
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
    ["time.sleep(600)", "spin()", "multiply()", "threading.Event().wait()"],
)
def test_a_program_ends_whatever_a_thread_does(work: str) -> None:
    program = f"""
import asyncio, threading, time
from voice.tools.execution import Threads

begun = threading.Event()

def spin():
    while True:
        pass

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
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    told = "left behind unfinished: tool hang\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "over\n", told)
