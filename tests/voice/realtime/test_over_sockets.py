"""Real sockets to a real server with real ears and a real voice; the model says what it is told."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import soxr
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect

from tests.support.serving import receive, receive_until, send, serving
from voice.audio import pcm16_from_samples
from voice.callers import LOCAL, Owner
from voice.config import ServerConfig
from voice.demo import recordings
from voice.llm.base import AnswerDone, ModelEvent, Prompt, ReplyModel, TextPiece
from voice.server.app import build_app
from voice.session.resources import Resources
from voice.tools.store import AlertKind, Store
from voice.types import Samples, ToolSpec

IDLE = 200
HELLO = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "hello there"}],
}
TRANSCRIPTS = {"audio": {"input": {"transcription": {"model": "local"}}}}


class Held:
    """A model that says a sentence, and goes on once it is let.

    Attributes:
        go_on: By what the prompt's first message says.
    """

    name = "held"

    def __init__(self, *instructions: str, opinion: Exception | None = None) -> None:
        self.go_on = {said: asyncio.Event() for said in instructions}
        self.prompts: list[Prompt] = []
        self._opinion = opinion

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        self.prompts.append(prompt)
        yield TextPiece("One two three four five six seven. ")
        if (gate := self.go_on.get(prompt.messages[0].content)) is not None:
            await gate.wait()
        yield TextPiece("Eight nine ten.")
        yield AnswerDone((), False, 5, 5)

    async def end_of_message(self, prompt: Prompt) -> float | None:
        if self._opinion is not None:
            raise self._opinion
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        pass

    def warm_up(self, prompt: Prompt) -> None:
        pass

    async def close(self) -> None:
        pass


@asynccontextmanager
async def running(
    parts: Resources, model: ReplyModel | None = None, **options: Any
) -> AsyncGenerator[str, None]:
    """A server around parts that others go on using."""
    parts = replace(parts, model=model or parts.model)
    config = parts.config.model_copy(
        update={"server": ServerConfig(port=0, **{"max_sessions": 8} | options)}
    )
    app = build_app(parts, config)

    async def requests(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            raise NotImplementedError("the parts are not ours to close")
        await app(scope, receive, send)

    async with serving(requests, config.server) as address:
        yield f"ws://{address}/v1/realtime"


async def say(socket: ClientConnection, name: str, silence_s: float = 2.0) -> None:
    """A recording and silence behind it, faster than real time."""
    speech = soxr.resample(recordings.load(name), 16_000, 24_000)
    await hear(socket, np.concatenate((speech, np.zeros(round(silence_s * 24_000), np.int16))))


async def hear(socket: ClientConnection, samples: Samples) -> None:
    """Send (T,) int16 at 24 kHz."""
    for start in range(0, len(samples), 2400):
        piece = pcm16_from_samples(samples[start : start + 2400])
        audio = base64.b64encode(piece).decode()
        await send(socket, "input_audio_buffer.append", audio=audio)


async def created(socket: ClientConnection) -> str:
    response: dict[str, Any] = (await receive_until(socket, "response.created"))[-1]["response"]
    return str(response["id"])


def aside(instructions: str, **more: Any) -> dict[str, Any]:
    return {"conversation": "none", "instructions": instructions, **more}


async def test_what_is_asked_for_while_a_reminder_is_spoken_is_answered(
    embedded_parts: Resources,
) -> None:
    store = Store(embedded_parts.toolbox.database, Owner(embedded_parts.agent.name, LOCAL))
    alert = store.add_alert(AlertKind.REMINDER, "call mom about the long weekend", 1.0, "gone")
    async with running(embedded_parts, Held()) as url, connect(url) as socket:
        reminder = await created(socket)
        await send(socket, "conversation.item.create", item=HELLO)
        await send(socket, "response.create")
        events = await receive_until(socket, "response.done")
        while events[-1]["response"]["id"] == reminder:
            events += await receive_until(socket, "response.done")
        assert not [event for event in events if event["type"] == "error"]
        assert events[-1]["response"]["status"] == "completed"
    assert store.remove_alert(alert.id), "nobody has heard it"


async def test_replies_beside_the_conversation_are_nobodys_business(
    embedded_parts: Resources,
) -> None:
    model = Held("Main.", "Wait.", "Speak.")
    async with running(embedded_parts, model) as url, connect(url) as socket:
        await send(socket, "session.update", session={"instructions": "Main.", **TRANSCRIPTS})
        await send(socket, "conversation.item.create", item=HELLO)
        await send(socket, "response.create")
        main = await created(socket)
        await send(socket, "response.create", response=aside("Wait.", output_modalities=["text"]))
        waiting = await created(socket)
        await send(socket, "response.create", response=aside("Speak."))
        speaking = await created(socket)
        await send(socket, "response.create", event_id="e1")
        refused = (await receive_until(socket, "error"))[-1]["error"]
        assert refused["code"] == "conversation_already_has_active_response"
        assert refused["event_id"] == "e1"

        # One is cancelled by its id, and the user interrupts another; the third hears of neither.
        await send(socket, "response.cancel", response_id=waiting)
        done = (await receive_until(socket, "response.done"))[-1]["response"]
        assert (done["id"], done["status"]) == (waiting, "cancelled")
        assert done["status_details"]["reason"] == "client_cancelled"
        await say(socket, "assistant-6-time")
        done = (await receive_until(socket, "response.done"))[-1]["response"]
        assert (done["id"], done["status"]) == (main, "cancelled")
        assert done["status_details"]["reason"] == "turn_detected"
        model.go_on["Speak."].set()
        events = await receive_until(socket, "response.done")
        done = events[-1]["response"]
        assert (done["id"], done["status"]) == (speaking, "completed")
        assert done["conversation_id"] is None
        of_reply = [event for event in events if event.get("response_id") == speaking]
        assert "response.output_audio.delta" in [event["type"] for event in of_reply]

        model.go_on["Main."].set()
        answered = (await receive_until(socket, "response.done"))[-1]["response"]
        assert answered["status"] == "completed"
        # The dialogue is what it would have been without them.
        said = [message.content for message in model.prompts[-1].messages]
        assert said[0] == "Main."
        assert said[1].startswith("hello there")
        assert said[-1].endswith("what time is it")
        assert "Eight" not in " ".join(said)


async def test_a_model_without_an_opinion_costs_an_error_and_not_the_conversation(
    embedded_parts: Resources,
) -> None:
    model = Held(opinion=RuntimeError("a bug with a secret"))
    async with running(embedded_parts, model) as url, connect(url) as socket:
        await send(socket, "session.update", session=TRANSCRIPTS)
        for _ in range(2):
            # Nothing more is heard until somebody has been asked whether the turn is over.
            await say(socket, "assistant-6-time", silence_s=0.2)
            error = (await receive_until(socket, "error"))[-1]["error"]
            assert (error["type"], error["code"]) == ("server_error", "llm_failed")
            assert error["message"] == "the model failed"
            await hear(socket, np.zeros(48_000, np.int16))
            events = await receive_until(socket, "response.done")
            assert events[-1]["response"]["status"] == "completed"


async def test_a_live_call_among_two_hundred_idle_ones(embedded_parts: Resources) -> None:
    async with (
        running(embedded_parts, max_sessions=IDLE + 1, max_connections_per_address=256) as url,
        AsyncExitStack() as stack,
    ):
        idle = [await stack.enter_async_context(connect(url)) for _ in range(IDLE)]
        for socket in idle:
            assert (await receive(socket))["type"] == "session.created"
        live = await stack.enter_async_context(connect(url))
        await send(live, "session.update", session=TRANSCRIPTS)
        await say(live, "assistant-1-timer")
        events = await receive_until(live, "response.done")
        (heard,) = [
            event["transcript"]
            for event in events
            if event["type"] == "conversation.item.input_audio_transcription.completed"
        ]
        assert heard == "Set a timer for 10 minutes."
        assert events[-1]["response"]["status"] == "completed"
        assert "response.output_audio.delta" in [event["type"] for event in events]
        # None of the others has been told anything, nor lost its place.
        for socket in idle:
            await send(socket, "session.update", session={})
            assert (await receive(socket))["type"] == "session.updated"
    # Else the timer rings in another test, ten minutes on.
    embedded_parts.toolbox.database.delete(LOCAL)


async def test_a_message_calls_no_tool_that_was_left_out(embedded_parts: Resources) -> None:
    asked = {**HELLO, "content": [{"type": "input_text", "text": "what is coming up"}]}
    async with running(embedded_parts) as url, connect(url) as socket:
        for kept in (None, ["get_time"]):
            own = {"events": ["tools"], "agent_tools": kept, "greet": False}
            changes = {"output_modalities": ["text"], "quicksilver": own}
            await send(socket, "session.update", session=changes)
            await send(socket, "conversation.item.create", item=asked)
            await send(socket, "response.create")
            events = await receive_until(socket, "response.done")
            called = [event["name"] for event in events if event["type"].endswith(".tool_call")]
            assert ("coming_up" in called) is (kept is None)
