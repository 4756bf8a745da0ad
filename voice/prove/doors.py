"""How a caller reaches a server: one of ours, or any that speaks the Realtime API.

A server of ours runs an agent's tools itself, sends its extension events, and is asked what it
keeps of the caller. To any other the agent's instructions and tools are declared, and its calls are
run here, by the same tools.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx

from voice.callers import LOCAL
from voice.config import Config, load_agent
from voice.demo.client import RealtimeClient
from voice.errors import VoiceError
from voice.tools import SessionScope, Toolbox
from voice.types import Samples, ToolCall

TRANSCRIBER = "whisper-1"
"""A recogniser's name that servers of the Realtime API accept; ours accept any."""
WAIT_S = 30.0
"""Longest wait for an HTTP answer from a server that is busy with other calls."""
Store = Mapping[str, list[dict[str, Any]]]
Trouble = Callable[[ToolCall], Awaitable[str]]
"""Awaited before a call is run; if it returns a text, that is sent instead of the result."""


@dataclass(frozen=True, slots=True)
class Line:
    """An open call.

    Attributes:
        store: Returns what is stored of the caller by now: table → its rows; None if that is not
            for us to read.
    """

    client: RealtimeClient
    store: Callable[[], Awaitable[Store | None]]


class Door(Protocol):
    """A server that can be called."""

    def open(self, agent: str, background: Samples) -> AbstractAsyncContextManager[Line]:
        """A context with a `Line` to an agent; ``background`` is noise, (T,) int16 at 24 kHz.

        Raises:
            OSError: No server can be reached.
            VoiceError: The server refuses.
        """
        ...


@dataclass(frozen=True, slots=True)
class OurDoor:
    """A server of ours; each call has a user of its own.

    With the server's own key, the user's data are read, and deleted afterwards.
    """

    url: str
    api_key: str | None = None
    greet: bool = True

    @asynccontextmanager
    async def open(self, agent: str, background: Samples) -> AsyncGenerator[Line, None]:
        """See `Door.open`; the agent is the server's own, not ``agent``."""
        user = f"prove-{uuid.uuid4().hex}"
        parts = urlsplit(self.url)
        scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        base = urlunsplit((scheme, parts.netloc, "", "", ""))
        async with httpx.AsyncClient(
            base_url=base, headers=headers, timeout=WAIT_S, trust_env=False
        ) as http:
            data = f"/v1/callers/user:{user}/data"

            async def store() -> Store | None:
                return (await _asked(http, "GET", data))["entries"] if self.api_key else None

            minted = await _asked(http, "POST", "/v1/realtime/client_secrets", {"user": user})
            try:
                async with RealtimeClient.open(
                    self.url,
                    api_key=minted["value"],
                    greet=self.greet,
                    holds=True,
                    background=background,
                ) as client:
                    yield Line(client, store)
            finally:
                if self.api_key:
                    await _asked(http, "DELETE", data)


async def _asked(http: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    try:
        answer = await http.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise VoiceError(f"{method} {path}: {error}") from error


@dataclass(frozen=True, slots=True)
class AnyDoor:
    """Any server of the Realtime API; the agent does not greet."""

    url: str
    config: Config
    api_key: str | None = None
    trouble: Trouble | None = None

    @asynccontextmanager
    async def open(self, agent: str, background: Samples) -> AsyncGenerator[Line, None]:
        """See `Door.open`."""
        told = load_agent(agent)
        in_memory = self.config.tools.model_copy(update={"database": ":memory:"})
        toolbox = Toolbox(in_memory, self.config.turn)
        scope = SessionScope(f"prove-{uuid.uuid4().hex}", told.name, LOCAL, told.shop)
        session = {
            "type": "realtime",
            "instructions": told.instructions,
            "audio": {"input": {"transcription": {"model": TRANSCRIBER}}},
            "tools": [
                {
                    "type": "function",
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": spec.parameters,
                }
                for spec in toolbox.specs(told.tools, scope)
            ],
        }

        async def store() -> Store:
            return await asyncio.to_thread(toolbox.database.export, LOCAL)

        try:
            async with (
                RealtimeClient.open(
                    self.url, api_key=self.api_key, background=background, session=session
                ) as client,
                running_tools(client, toolbox, scope, self.trouble),
            ):
                yield Line(client, store)
        finally:
            await toolbox.close()


def is_call(item: Mapping[str, Any]) -> bool:
    """Whether an item of a response is a call, and whole: the caller may have spoken within it."""
    return item["type"] == "function_call" and item.get("status") != "incomplete"


def arguments_of(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of a call; None if the model has not written a JSON object."""
    try:
        found = json.loads(item["arguments"] or "{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


@asynccontextmanager
async def running_tools(
    client: RealtimeClient, toolbox: Toolbox, scope: SessionScope, trouble: Trouble | None = None
) -> AsyncGenerator[None, None]:
    """While the context lasts, answer the calls of every response, as a client of the API does."""
    running = asyncio.create_task(_run_tools(client, toolbox, scope, trouble))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _run_tools(
    client: RealtimeClient, toolbox: Toolbox, scope: SessionScope, trouble: Trouble | None
) -> None:
    since = 0
    while True:
        done = await client.until(lambda at=since: _next_done(client, at), None)  # type: ignore[misc]
        since = done + 1
        response = client.events[done].event["response"]
        calls = [item for item in response.get("output", ()) if is_call(item)]
        for item in calls:
            output = await _output(item, toolbox, scope, trouble)
            answer = {"type": "function_call_output", "call_id": item["call_id"], "output": output}
            await client.send({"type": "conversation.item.create", "item": answer})
        if calls:
            await client.send({"type": "response.create"})


async def _output(
    item: Mapping[str, Any], toolbox: Toolbox, scope: SessionScope, trouble: Trouble | None
) -> str:
    arguments = arguments_of(item)
    if arguments is None:
        return "The arguments are not a JSON object."
    call = ToolCall(item["call_id"], item["name"], arguments)
    if trouble and (told := await trouble(call)):
        return told
    result = await toolbox.run(call, scope)
    return (await toolbox.outcome(call, scope) if result.unfinished else result).content


def _next_done(client: RealtimeClient, since: int) -> int | None:
    done = (
        at for at in range(since, len(client.events)) if client.events[at].type == "response.done"
    )
    return next(done, None)
