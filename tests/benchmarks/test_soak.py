from __future__ import annotations

import os
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from benchmarks.voice.soak import CALLS, KINDS, Reading, Soak, faults
from tests.voice.realtime.test_over_sockets import running
from voice.demo.server import ServerProcess
from voice.session.resources import Resources

READ = [Reading(5 * round_, 900.0, 48.0, 11, 16, 4) for round_ in range(1, 41)]


@pytest.mark.parametrize("what", ["files", "threads", "tasks"])
def test_one_that_leaks_is_found_and_one_that_is_there_from_the_first_half_is_not(
    what: str,
) -> None:
    assert faults(READ, ()) == []
    more = [replace(one, **{what: getattr(one, what) + 1}) for one in READ]
    assert faults([*READ[:-1], more[-1]], ()) == [f"1 {what} more than in the first half"]
    assert faults([*READ[:10], *more[10:]], ()) == []


def test_growth_is_found_and_what_only_the_first_half_takes_is_not() -> None:
    growing = [replace(one, resident=900 + one.calls * 6 / 1024) for one in READ]
    assert faults(growing, ()) == ["the resident set grows by 6.0 ± 0.0 KiB a call"]
    warming = [replace(one, resident=900.0 + min(one.calls, 50)) for one in READ]
    assert faults(warming, ()) == []
    assert faults(READ, ["typed: gone"]) == ["1 calls went wrong, the first so: typed: gone"]
    assert faults(READ[:4], ()) == ["too few rounds to tell growth"]


async def test_every_kind_of_call_comes_to_its_end_and_one_too_many_is_refused(
    embedded_parts: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUICKSILVER_API_KEY", "secret")
    limits = {"max_sessions": CALLS, "max_audio_speed": 1000}
    async with running(embedded_parts, **limits) as address:
        at = urlsplit(address)
        assert at.hostname and at.port
        soak = Soak(ServerProcess(at.hostname, at.port, os.getpid(), 0.0), "secret")
        for number in range(2):
            await soak.round(number)
    assert soak.wrong == []
    assert soak.calls["refused"] == 2
    assert soak.calls.keys() == {kind.__name__ for kind in KINDS} | {"refused"}
    assert soak.sound_s > 10
    # What a call that was hung up has left is gone by now.
    assert soak.read[-1].tasks <= soak.read[0].tasks
