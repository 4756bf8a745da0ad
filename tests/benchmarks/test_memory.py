from __future__ import annotations

import os

import pytest
from prometheus_client import CollectorRegistry

from benchmarks.voice.corpus import demo_lines
from benchmarks.voice.memory import Held, Reading, cache_mib, call, fitted, reading, summary
from dlm.server.metrics import ApiMetrics
from tests.support.fake_realtime import FakeRealtime
from tests.support.serving import serving
from voice.demo.server import ServerProcess

LINES = demo_lines("assistant")[:2]
SERIES = ApiMetrics(CollectorRegistry(), lambda: 3 * 2**20)


def held(url: str = "ws://127.0.0.1:1/", pid: int = os.getpid()) -> Held:
    host, port = url.removeprefix("ws://").split("/")[0].split(":")
    return Held(ServerProcess(host, int(port), pid, started_s=0.0))


async def test_memory_is_read_of_the_process_and_of_its_series() -> None:
    async def series(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": SERIES.render()})

    async with serving(series) as address:
        server = ServerProcess(*address.split(":"), os.getpid(), 0.0)
        read = await reading(server, 20)
    assert (read.turns, read.cache) == (20, 3.0)
    assert read.resident > 10
    with pytest.raises(ValueError, match="prompt_cache"):
        cache_mib("quicksilver_turns 1.0\n")


async def test_a_call_goes_on_in_a_new_connection_where_one_breaks() -> None:
    class Breaking(FakeRealtime):
        async def _reply(self, socket, turn):
            if len(self.headers) == 1:
                socket.transport.abort()
            else:
                await super()._reply(socket, turn)

    server = Breaking(quiet_packets=20)
    async with server.running() as url:
        told = held(url)
        await call(LINES, 0.0, told)
    assert (told.turns, told.replied, len(server.headers)) == (2, 1, 2)
    assert len(told.broken) == 1
    assert "1006 (" in told.broken[0]


def test_the_line_is_in_kib_per_turn_with_its_error() -> None:
    assert fitted([(10, 100.0), (20, 101.0)]) is None
    exact = fitted([(10, 100.0), (20, 101.0), (30, 102.0)])
    assert exact == pytest.approx(
        {"slope_kib_per_turn": 102.4, "standard_error_kib_per_turn": 0.0, "scatter_mib": 0.0}
    )
    scattered = fitted([(0, 101.0), (10, 99.0), (20, 101.0), (30, 99.0)])
    assert scattered is not None
    # -0.4 MiB for 10 turns: residuals of 0.4, 1.2, 1.2 and 0.4 MiB, two of four degrees free.
    assert scattered["slope_kib_per_turn"] == -40.96
    assert scattered["scatter_mib"] == pytest.approx(1.26, abs=0.01)
    assert scattered["standard_error_kib_per_turn"] == pytest.approx(57.9, abs=0.1)


def test_only_the_second_half_counts() -> None:
    read = [Reading(n, 100.0 + min(n, 100), min(n, 100) / 2) for n in range(10, 201, 10)]
    told = summary(read)
    assert told["resident_mib"] == {"20": 120.0, "100": 200.0, "200": 200.0}
    assert told["prompt_cache_mib"] == {"20": 10.0, "100": 50.0, "200": 50.0}
    assert told["second_half_from_turn"] == 100
    assert told["second_half"]["slope_kib_per_turn"] == 0
    assert told["flat"] is True
    growing = summary([Reading(n, 100.0 + n, n / 2) for n in range(10, 201, 10)])
    assert growing["second_half_without_cache"]["slope_kib_per_turn"] == 512
    assert growing["flat"] is False
