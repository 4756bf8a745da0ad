"""The server's parts as processes of Ray Serve: a real cluster of two ingresses and one engine."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.clients.environments import python_beside
from tests.support.patience import PATIENCE_S
from tests.support.server_program import program
from tests.support.serving import receive_until, send

KEY = "the-key-of-this-cluster"
TEXT = {"output_modalities": ["text"]}
PARTS = ("cluster.ingress.least=2", "cluster.ingress.most=2", "cluster.drain_s=1")


@pytest.fixture
async def address(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[str]:
    python = python_beside("ray", "ray[serve]==2.60.0")
    monkeypatch.setenv("QUICKSILVER_API_KEY", KEY)
    settings = (*PARTS, f'tools.database="{tmp_path / "entries.sqlite"}"', "server.max_sessions=8")
    command = (str(python), "-m", "voice.cluster")
    async with program(cwd=repo_root, settings=settings, command=command) as (_, _, address):
        yield address


def replicas(part: str) -> Iterator[int]:
    """Process ids of a part's replicas."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_text()
        except OSError:
            continue
        if line.startswith(f"ray::ServeReplica:quicksilver:{part}"):
            yield int(folder.name)


async def conversation(stack: AsyncExitStack, address: str, key: str) -> ClientConnection:
    """A call of a client with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    socket = await stack.enter_async_context(
        connect(f"ws://{address}/v1/realtime", additional_headers=headers, proxy=None)
    )
    await send(socket, "session.update", session={"type": "realtime", **TEXT})
    await receive_until(socket, "session.updated")
    return socket


async def ask(socket: ClientConnection, text: str) -> dict[str, Any]:
    """The reply to a typed message, whatever became of it."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await send(socket, "conversation.item.create", item=item)
    await send(socket, "response.create")
    done: dict[str, Any] = (await receive_until(socket, "response.done"))[-1]["response"]
    return done


async def told(socket: ClientConnection, text: str) -> str:
    """The words of the reply to a typed message."""
    response = await ask(socket, text)
    parts = [part for item in response["output"] for part in item.get("content", ())]
    return " ".join(part.get("text", "") for part in parts)


async def adas_key(address: str) -> str:
    """A key of Ada's, from any ingress."""
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(headers=headers, timeout=PATIENCE_S) as client:
        url = f"http://{address}/v1/realtime/client_secrets"
        made = await client.post(url, json={"user": "ada", "session": {"type": "realtime"}})
        return str(made.json()["value"])


async def test_where_a_part_dies_other_calls_go_on_and_nothing_is_done_twice(address: str) -> None:
    async with asyncio.timeout(10 * PATIENCE_S), AsyncExitStack() as stack:
        key = await adas_key(address)
        calls = [await conversation(stack, address, key) for _ in range(4)]
        assert "milk" in await told(calls[0], "add milk to the shopping list")
        for call in calls:
            assert "milk" in await told(call, "what is on the shopping list")

        (engine,) = replicas("engine")
        os.kill(engine, signal.SIGSTOP)
        asking = asyncio.create_task(told(calls[0], "add eggs to the shopping list"))
        await asyncio.sleep(1)
        os.kill(engine, signal.SIGKILL)
        # Another replica makes the answer; one that was being written would have failed.
        assert "eggs" in await asking

        os.kill(next(replicas("ingress")), signal.SIGKILL)
        answers = await asyncio.gather(
            *(told(call, "what is on the shopping list") for call in calls), return_exceptions=True
        )
        ended = [answer for answer in answers if isinstance(answer, ConnectionClosed)]
        assert 0 < len(ended) < len(calls), answers
        for answer in answers:
            assert answer in ended or "milk" in str(answer)
        again = await conversation(stack, address, key)
        listed = await told(again, "what is on the shopping list")
        assert (listed.count("milk"), listed.count("eggs")) == (1, 1), listed
