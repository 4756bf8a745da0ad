"""An application with a real engine, and a client that talks to it without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from jsonschema import Draft202012Validator
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from dlm.server.access import Gate, KeyGate
from dlm.server.api import Api, Limits
from dlm.server.description import ModelCard, openapi
from dlm.server.execution import RequestEngine
from dlm.server.metrics import ApiMetrics
from tests.dlm.tiny import TOOLS

CARD = ModelCard(("tiny", "mercury-2"), context_length=512, max_output_length=256)
OPEN = KeyGate([])
LIMITS = Limits(body_bytes=20_000, answer_tokens=256, usual_tokens=64)
HELLO = [{"role": "user", "content": "hello"}]


TOOLS_BODY = [
    {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }
    for tool in TOOLS
]


def api_of(engine: RequestEngine, gate: Gate = OPEN, limits: Limits = LIMITS) -> Api:
    return Api(engine, CARD, gate, ApiMetrics(CollectorRegistry()), limits)


@asynccontextmanager
async def asking(app: Starlette) -> AsyncGenerator[httpx.AsyncClient, None]:
    """A client of an application."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


def chunks(text: str) -> list[dict[str, Any]]:
    """The objects of a stream, which must have ended."""
    lines = [line for line in text.split("\n\n") if line and not line.startswith(":")]
    assert lines.pop() == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines]


@asynccontextmanager
async def serving(app: Starlette) -> AsyncGenerator[str, None]:
    """Serve an application on a free port of this machine; gives its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    with server.config.bind_socket() as listener:
        # From now on clients wait, rather than being refused.
        listener.listen()
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


def schema(name: str) -> Draft202012Validator:
    """What the description says of an object."""
    described = openapi("0", ["tiny"])
    return Draft202012Validator({**described, "$ref": f"#/components/schemas/{name}"})


async def post(client: httpx.AsyncClient, path: str = "chat/completions", **body: Any) -> Any:
    answer = await client.post(f"/v1/{path}", json={"model": "tiny", **body})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-request-id"].startswith("req_")
    return answer.json()


async def error(client: httpx.AsyncClient, status: int, **body: Any) -> Any:
    answer = await client.post(
        "/v1/chat/completions", json={"model": "tiny", "messages": HELLO, **body}
    )
    assert answer.status_code == status, answer.text
    schema("ErrorBody").validate(answer.json())
    return answer.json()["error"]
