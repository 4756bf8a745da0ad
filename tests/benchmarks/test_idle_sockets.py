from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from benchmarks.voice.idle_sockets import figures, idle_conversations
from tests.support.serving import serving


@pytest.mark.parametrize(
    ("alone", "beside", "ratio", "within"),
    [
        ([{"a": 300, "b": 500}, {"a": 310}], [{"a": 320, "b": 520}, {"a": 310}], 1.032, True),
        ([{"a": 300}], [{"a": 361}], 1.203, False),
        ([{"a": 300}], [{}], None, False),
    ],
)
def test_the_medians_of_both_ways_are_compared(
    alone: list[dict[str, float]], beside: list[dict[str, float]], ratio: float | None, within: bool
) -> None:
    found = figures(alone, beside)
    assert found["ratio_of_medians"] == ratio
    assert found["within_20_percent"] is within
    assert found["alone_ms"]["n"] == sum(map(len, alone))


async def test_so_many_conversations_are_open_and_then_none() -> None:
    live: list[WebSocket] = []

    async def greet(socket: WebSocket) -> None:
        await socket.accept()
        live.append(socket)
        await socket.send_text("hello")
        await socket.receive()
        live.remove(socket)

    app = Starlette(routes=[WebSocketRoute("/", greet)])
    async with serving(app) as address, idle_conversations(f"ws://{address}/", 5):
        assert len(live) == 5
    assert live == []
