from __future__ import annotations

import pytest

from dlm.engine.engine import Engine
from dlm.engine.request import Request
from dlm.server.access import KeyGate
from dlm.server.api import build_app
from tests.dlm.server.asking import CARD, HELLO, LIMITS, OPEN, asking
from tests.dlm.tiny import model, tokenizer


async def test_what_a_server_needs_besides(taught_engine: Engine) -> None:
    async with asking(build_app(taught_engine, CARD, OPEN, LIMITS)) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok", "model": "tiny"}
        body = {"model": "tiny", "messages": HELLO, "max_tokens": 3}
        assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
        series = (await client.get("/metrics")).text
        assert (
            'quicksilver_api_requests_total{endpoint="chat/completions",status="200"} 1' in series
        )
        assert (await client.get("/openapi.json")).json()["openapi"] == "3.1.0"


async def test_the_series_are_behind_the_key(taught_engine: Engine) -> None:
    async with asking(build_app(taught_engine, CARD, KeyGate(["k"]), LIMITS)) as client:
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/nothing", 404), ("GET", "/v1/chat/completions", 405), ("PUT", "/v1/models", 405)],
)
async def test_what_is_not_there_is_an_error_object_too(
    taught_engine: Engine, method: str, path: str, status: int
) -> None:
    async with asking(build_app(taught_engine, CARD, OPEN, LIMITS)) as client:
        answer = await client.request(method, path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == "not_routed"
        assert path in answer.json()["error"]["message"]


async def test_the_engine_is_closed_with_the_application() -> None:
    engine = Engine(model(1), tokenizer())
    app = build_app(engine, CARD, OPEN, LIMITS)
    async with app.router.lifespan_context(app):
        pass
    with pytest.raises(RuntimeError, match="closed"):
        engine.answer(Request(()))
