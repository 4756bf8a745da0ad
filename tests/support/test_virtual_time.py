from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.virtual_time import NothingLeft, now, run, spend


def test_hours_go_by_in_no_time_and_in_order() -> None:
    order: list[tuple[str, int]] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        order.append((name, round(now())))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(wait("late", 7200))
            group.create_task(wait("soon", 5))

    started = time.monotonic()
    run(main())
    assert order == [("soon", 5), ("late", 7200)]
    assert time.monotonic() - started < 3600


def test_a_timeout_comes_when_it_is_due() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await asyncio.Event().wait()
        return now()

    assert run(main()) == pytest.approx(3)


def test_work_in_threads_takes_the_time_it_claims_and_waits_for_a_thread() -> None:
    def work() -> float:
        spend(2)
        return now()

    async def main() -> tuple[list[float], float]:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(2) as threads:
            began = await asyncio.gather(*(loop.run_in_executor(threads, work) for _ in range(3)))
            return began, now()

    began, ended = run(main())
    assert began == [0, 0, 0]
    assert ended == pytest.approx(4)


def test_work_that_raises_raises_where_it_is_awaited() -> None:
    async def main() -> None:
        await asyncio.to_thread(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        run(main())


def test_waiting_for_ever_is_an_error() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(NothingLeft):
        run(main())


async def test_a_real_loop_has_no_virtual_time_to_spend() -> None:
    with pytest.raises(RuntimeError, match="real event loop"):
        spend(1)
