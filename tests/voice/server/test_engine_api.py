from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from dlm.engine.engine import Engine
from tests.dlm.tiny import model, tokenizer
from voice.access.keys import AccessPolicy
from voice.config import MetricsConfig, ServerConfig
from voice.llm.embedded import EmbeddedModel
from voice.metrics import Metrics
from voice.server.engine_api import ApiGate, api_routes

KEY = "the-key-of-this-server"
BODY = {"model": "quicksilver", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 3}


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedModel]:
    engine = Engine(model(1), tokenizer())
    yield EmbeddedModel(engine, "tiny")
    engine.close()


class Mounted:
    """The routes, and a client that is behind their threshold."""

    def __init__(self, answers: Any, key: str | None) -> None:
        config = ServerConfig(max_message_bytes=2048)
        self.policy = AccessPolicy(config, key)
        self.metrics = Metrics(MetricsConfig())
        gate = ApiGate(self.policy, self.metrics)
        self.routes = api_routes(answers, ("quicksilver",), config, gate, self.metrics)
        transport = httpx.ASGITransport(Starlette(routes=self.routes))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    async def ask(self, **headers: str) -> httpx.Response:
        return await self.http.post("/v1/chat/completions", json=BODY, headers=headers)


async def test_the_conversations_model_answers(embedded: EmbeddedModel) -> None:
    mounted = Mounted(embedded, None)
    reply = (await mounted.ask()).json()
    assert reply["usage"]["completion_tokens"] == 3
    listed = (await mounted.http.get("/v1/models/tiny")).json()
    assert listed["context_length"] == embedded.engine.model.config.max_position_embeddings
    assert b"quicksilver_api_requests_total" in mounted.metrics.render()
    long = await mounted.http.post("/v1/chat/completions", content=b"x" * 4000)
    assert long.status_code == 413


async def test_the_servers_rules_hold(embedded: EmbeddedModel) -> None:
    mounted = Mounted(embedded, KEY)
    assert (await mounted.ask(authorization=f"Bearer {KEY}")).status_code == 200
    assert (await mounted.ask()).json()["error"]["code"] == "missing_api_key"
    assert (await mounted.ask(authorization="Bearer no")).status_code == 401
    page = {"authorization": f"Bearer {KEY}", "origin": "http://evil.example"}
    assert (await mounted.ask(**page)).status_code == 403
    assert (await mounted.ask(host="evil.example")).json()["error"]["code"] == "host_not_allowed"


async def test_an_ephemeral_key_opens_conversations_only(embedded: EmbeddedModel) -> None:
    mounted = Mounted(embedded, KEY)
    key = mounted.policy.ephemeral.mint(60, {}).value
    answer = await mounted.ask(authorization=f"Bearer {key}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_key")


def test_a_model_elsewhere_is_asked_there() -> None:
    assert Mounted(None, None).routes == []
