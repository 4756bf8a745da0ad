"""Two servers as their users start them, on one PostgreSQL database."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.postgresql import PASSWORD, PostgresqlServer
from tests.support.server_program import program
from voice.callers import LOCAL, Owner
from voice.demo.client import RealtimeClient
from voice.demo.turn_report import of_type
from voice.tools.database import Database
from voice.tools.store import AlertKind, Store

LABELS = ("tea", "rice", "soup")


def said(client: RealtimeClient) -> list[str]:
    """All that the agent has said to the end."""
    done = of_type(client.events, "response.output_audio_transcript.done")
    return [str(received.event["transcript"]) for received in done]


async def ask(client: RealtimeClient, text: str) -> str:
    """Type something; gives the answer."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    before = len(said(client))
    await client.send({"type": "conversation.item.create", "item": item})
    await client.send({"type": "response.create"})
    await client.until(lambda: len(said(client)) > before or None, PATIENCE_S)
    return said(client)[-1]


@pytest.mark.e2e
async def test_two_servers_ring_once_and_have_the_same_lists(
    repo_root: Path, postgresql: PostgresqlServer
) -> None:
    url = postgresql.new()
    settings = (f'tools.database="{url}"', "tts.engine=espeak", "server.max_sessions=2")
    with closing(Database(url)) as database:
        store = Store(database, Owner("assistant", LOCAL))
        async with AsyncExitStack() as stack:
            started = [
                await stack.enter_async_context(program(cwd=repo_root, settings=settings))
                for _ in range(2)
            ]
            for label in LABELS:
                store.add_alert(AlertKind.REMINDER, label, time.time() + 4, "gone")
            here, there = [
                await stack.enter_async_context(
                    RealtimeClient.open(f"ws://{address}/v1/realtime", greet=False)
                )
                for _, _, address in started
            ]
            async with asyncio.timeout(PATIENCE_S):
                while await asyncio.to_thread(store.alerts):
                    await asyncio.sleep(0.1)
            rung = [*said(here), *said(there)]
            assert sorted(text.split()[-1].strip(".") for text in rung) == sorted(LABELS)
            assert "Added milk" in await ask(here, "add milk to the shopping list")
            assert "milk" in await ask(there, "what is on my shopping list")
            assert store.items("shopping") == ["milk"]
            for process, lines, _ in started:
                process.terminate()
                async with asyncio.timeout(PATIENCE_S):
                    assert await process.wait() == 0
                assert process.stderr is not None
                told = "\n".join([*lines, (await process.stderr.read()).decode()])
                assert "Traceback" not in told
                assert PASSWORD not in told
