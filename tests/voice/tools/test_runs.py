from __future__ import annotations

import asyncio

import pytest

from tests.support.virtual_time import now, run
from voice.tools.execution import Cancelled, Runs
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


def test_a_key_runs_once_however_often_it_is_asked_for() -> None:
    async def main() -> None:
        runs, work = Runs(5), Work(1)
        results = await asyncio.gather(*(runs.once(KEY, work) for _ in range(3)))
        assert results == [await runs.once(KEY, work)] * 3
        assert work.begun == 1

    run(main())


def test_what_takes_too_long_goes_on_and_is_joined() -> None:
    async def main() -> None:
        runs, work = Runs(1), Work(2.5)
        assert await runs.once(KEY, work) is None
        assert now() == pytest.approx(1)
        assert await runs.once(KEY, work) is None
        assert (await runs.outcome(KEY)).content == "Done 1."
        assert now() == pytest.approx(2.5)
        assert work.begun == 1
        with pytest.raises(KeyError):
            await runs.outcome(("other", "key"))

    run(main())


def test_a_caller_that_leaves_does_not_stop_it() -> None:
    async def main() -> None:
        runs, work = Runs(5), Work(1)
        caller = asyncio.create_task(runs.once(KEY, work))
        await asyncio.sleep(0.5)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        await runs.drain()
        assert work.done == 1

    run(main())


def test_reading_ends_with_its_caller_and_its_time() -> None:
    async def main() -> None:
        runs, work = Runs(1), Work(2)
        assert await runs.read_only(KEY, work) is None
        caller = asyncio.create_task(runs.read_only(KEY, work))
        await asyncio.sleep(0.5)
        caller.cancel()
        await asyncio.sleep(9)
        assert (work.begun, work.done) == (2, 0)

    run(main())


@pytest.mark.parametrize("kind", ["once", "read_only"])
def test_cancelling_says_so_to_who_waits(kind: str) -> None:
    async def main() -> None:
        runs, work = Runs(5), Work(2)
        caller = asyncio.create_task(getattr(runs, kind)(KEY, work))
        await asyncio.sleep(0.5)
        runs.cancel(KEY)
        runs.cancel(("other", "key"))
        with pytest.raises(Cancelled):
            await caller
        assert work.done == 0
        assert now() == pytest.approx(0.5)

    run(main())


def test_old_runs_are_forgotten_within_bounds() -> None:
    async def main() -> None:
        runs, work = Runs(5), Work(0)
        for number in range(1100):
            await runs.once(("s", str(number)), work)
        assert len(runs._runs) <= 1024
        await runs.once(("s", "1099"), work)
        assert work.begun == 1100

    run(main())
