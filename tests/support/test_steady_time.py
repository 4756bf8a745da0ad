from __future__ import annotations

import asyncio
import time

import pytest

from tests.support.steady_time import SteadyLoop, steady


@steady
async def test_what_is_in_time_is_in_time_though_the_machine_stops() -> None:
    async with asyncio.timeout(0.4):
        asyncio.get_running_loop().call_later(0.1, time.sleep, 0.5)
        await asyncio.sleep(0.2)


@steady
async def test_what_does_not_come_is_not_waited_for() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await asyncio.Event().wait()


def test_its_time_is_no_faster_than_time() -> None:
    began_s = time.monotonic()
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:
        runner.run(asyncio.sleep(0.2))
    assert time.monotonic() - began_s >= 0.19
