from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest

from tests.support.patience import PATIENCE_S
from voice.demo import recordings
from voice.errors import ModelError, ProtocolError
from voice.events import (
    Denoising,
    Failure,
    FinalTranscript,
    ReplyAudio,
    ReplyEnded,
    ReplyHeard,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    ReplyToolResult,
    SessionEvent,
    TurnMeasured,
    UserSpeechStarted,
)
from voice.hearing.asr import RecognizerStream
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.llm.base import AnswerDone, DraftView, ModelEvent, Prompt, TextPiece
from voice.session.resources import Resources
from voice.session.session import Session
from voice.types import Message, Role, Samples, ToolCall, ToolSpec

E = TypeVar("E")
SILENCE = np.zeros(320, np.int16)


class _Words:
    """A model that says what it is told to."""

    name = "words"

    def __init__(self, *answers: list[ModelEvent] | Exception) -> None:
        self.answers = list(answers)
        self.prompts: list[Prompt] = []
        self.left = 0

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        try:
            for event in answer:
                await asyncio.sleep(0)
                yield event
        finally:
            self.left += 1

    async def end_of_message(self, prompt: Prompt) -> float | None:
        return None

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        pass

    def warm_up(self, prompt: Prompt) -> None:
        pass

    async def close(self) -> None:
        pass


def _said(text: str) -> list[ModelEvent]:
    return [TextPiece(text), AnswerDone((), False, 5, 5)]


class _Rig:
    """A running session and all that it has told."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.events: list[SessionEvent] = []
        self.changed = asyncio.Event()
        self.taken = 0

    def take(self, event: SessionEvent) -> None:
        self.events.append(event)
        self.changed.set()

    async def next(
        self, kind: type[E], true: Callable[[E], bool] = lambda _: True, speak: bool = False
    ) -> E:
        """The next event of a kind behind those asked for before; silence goes by meanwhile."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for index in range(self.taken, len(self.events)):
                    event = self.events[index]
                    if isinstance(event, kind) and true(event):
                        self.taken = index + 1
                        return event
                self.changed.clear()
                self.session.append_audio(SILENCE, 16_000)
                try:
                    await asyncio.wait_for(self.changed.wait(), 0.01)
                except TimeoutError:
                    continue

    async def say(self, name: str) -> None:
        """Play one of the recordings, faster than it was spoken."""
        await self.hear(recordings.load(name))

    async def hear(self, samples: Samples) -> None:
        for start in range(0, len(samples), 320):
            self.session.append_audio(samples[start : start + 320], 16_000)
            await asyncio.sleep(0)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def _running(parts: Resources) -> AsyncGenerator[_Rig, None]:
    rig = _Rig(Session(parts))
    async with asyncio.TaskGroup() as group:
        group.create_task(rig.session.run(rig.take))
        await asyncio.sleep(0)
        yield rig
        rig.session.close()


def _with_model(parts: Resources, *answers: list[ModelEvent] | Exception) -> Resources:
    return replace(parts, model=_Words(*answers))


async def test_a_spoken_request_is_recognised_carried_out_and_answered_aloud(
    embedded_parts: Resources,
) -> None:
    async with _running(embedded_parts) as rig:
        await rig.say("assistant-1-timer")
        transcript = await rig.next(FinalTranscript)
        assert transcript.text == "Set a timer for 10 minutes."
        call = await rig.next(ReplyToolCall)
        assert (call.call.name, call.call.arguments) == ("set_timer", {"duration": "ten minutes"})
        result = await rig.next(ReplyToolResult)
        assert result.result.content == "Timer set for 10 minutes."
        ended = await rig.next(ReplyEnded)
        assert ended.status is ReplyStatus.COMPLETED
        assert "10" in ended.text
        audio = np.concatenate([event.samples for event in rig.of(ReplyAudio)])
        assert len(audio) > 24_000 * 0.5
        assert np.abs(audio).max() > 1000
        measured = await rig.next(TurnMeasured)
        stages = ("asr_final", "end_of_turn", "first_token", "first_audio", "tool.set_timer")
        assert set(stages) <= set(measured.marks_ms)
        assert measured.marks_ms["end_of_turn"] <= measured.marks_ms["first_audio"]


async def test_typed_turns_follow_one_another(embedded_parts: Resources) -> None:
    async with _running(embedded_parts) as rig:
        for number in range(2):
            rig.session.add_item(f"u{number}", Message(Role.USER, "what time is it"), None)
            rig.session.create_response()
            assert (await rig.next(ReplyEnded)).status is ReplyStatus.COMPLETED
        assert len(rig.of(ReplyToolCall)) == 2
        assert rig.of(Denoising)


async def test_speaking_over_the_agent_silences_it_and_keeps_the_heard_words(
    embedded_parts: Resources,
) -> None:
    text = "This is quite a long answer, which goes on for a while, and then for a while more."
    parts = _with_model(embedded_parts, _said(text), _said("Yes."))
    async with _running(parts) as rig:
        rig.session.add_item("u", Message(Role.USER, "tell me"), None)
        rig.session.create_response()
        started = await rig.next(ReplyStarted)
        await rig.next(ReplyHeard, lambda event: event.chars > 10)
        await rig.say("assistant-6-time")
        await rig.next(UserSpeechStarted)
        heard = rig.session.item(started.item_id).content
        assert 10 < len(heard) < len(text)
        assert text.startswith(heard)
        await rig.next(FinalTranscript)
        await rig.next(ReplyStarted)
        messages = parts.model.prompts[-1].messages  # type: ignore[attr-defined]
        assert messages[-2].content == heard


async def test_the_clients_truncation_decides_what_was_heard(embedded_parts: Resources) -> None:
    parts = _with_model(embedded_parts, _said("One two three four five six seven eight nine."))
    async with _running(parts) as rig:
        rig.session.add_item("u", Message(Role.USER, "count"), None)
        rig.session.create_response()
        ended = await rig.next(ReplyEnded)
        reply_id, item_id = ended.reply_id, rig.of(ReplyStarted)[0].item_id
        rig.session.truncate(reply_id, 900.0)
        heard = rig.session.item(item_id).content
        assert heard
        assert ended.text.startswith(heard)
        assert heard != ended.text
        with pytest.raises(ProtocolError):
            rig.session.truncate(reply_id, 60_000.0)
        with pytest.raises(ProtocolError):
            rig.session.truncate("nothing", 10.0)


async def test_a_recogniser_that_fails_is_told_and_apologised_for(
    embedded_parts: Resources,
) -> None:
    class OnceBroken:
        name = "once broken"
        broken = True

        def open(self, turn_id: int, domain: Domain = ANYTHING) -> RecognizerStream:
            if self.broken:
                self.broken = False
                raise ModelError("the recogniser is gone")
            return embedded_parts.recognizer.open(turn_id)

    async with _running(replace(embedded_parts, recognizer=OnceBroken())) as rig:
        await rig.say("assistant-6-time")
        assert (await rig.next(Failure)).stage == "asr"
        await rig.next(ReplyEnded)
        await rig.hear(np.zeros(24_000, np.int16))
        await rig.say("assistant-6-time")
        # What is left of the first utterance may have been a turn of its own.
        await rig.next(FinalTranscript, lambda event: event.text == "What time is it?")


async def test_a_client_tool_is_the_clients_to_run(embedded_parts: Resources) -> None:
    call = ToolCall("c1", "open_door", {})
    door = ToolSpec("open_door", "Open the door.", {"type": "object", "properties": {}})
    parts = _with_model(embedded_parts, [AnswerDone((call,), False, 5, 5)], _said("It is open."))
    async with _running(parts) as rig:
        rig.session.update(client_tools=(door,))
        rig.session.create_response()
        told = await rig.next(ReplyToolCall)
        assert told.client_side
        await rig.next(ReplyEnded)
        output = Message(Role.TOOL, '{"door": "open"}', call_id="c1", name="open_door")
        rig.session.add_item("out", output, None)
        rig.session.create_response()
        assert (await rig.next(ReplyEnded)).text == "The door is open."
        messages = parts.model.prompts[-1].messages  # type: ignore[attr-defined]
        assert [m.role for m in messages[-2:]] == [Role.AGENT, Role.TOOL]


async def test_cancelling_leaves_the_model(embedded_parts: Resources) -> None:
    endless: list[ModelEvent] = [DraftView("░", step) for step in range(10_000_000 // 1000)]
    parts = _with_model(embedded_parts, endless)
    async with _running(parts) as rig:
        rig.session.create_response()
        await rig.next(Denoising)
        rig.session.cancel_response(None)
        ended = await rig.next(ReplyEnded)
        assert (ended.status, ended.reason) == (ReplyStatus.CANCELLED, "client_cancelled")
        while parts.model.left == 0:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        with pytest.raises(ProtocolError):
            rig.session.cancel_response(None)


async def test_a_timer_rings_in_an_open_conversation(embedded_parts: Resources) -> None:
    async with _running(embedded_parts) as rig:
        call = ToolCall("ring", "set_timer", {"duration": "one second", "name": "tea"})
        await embedded_parts.toolbox.run(call, rig.session.scope)
        assert (await rig.next(ReplyText)).delta == "Your tea timer is done."


async def test_greeting_and_idleness_are_spoken(embedded_parts: Resources) -> None:
    async with _running(embedded_parts) as rig:
        rig.session.greet()
        assert (await rig.next(ReplyText)).delta in embedded_parts.agent.greeting


async def test_a_request_before_the_session_runs_is_a_mistake_of_the_caller(
    embedded_parts: Resources,
) -> None:
    session = Session(embedded_parts)
    with pytest.raises(RuntimeError, match="not running"):
        session.create_response()


async def test_what_a_door_raises_ends_the_session(embedded_parts: Resources) -> None:
    session = Session(embedded_parts)

    def take(event: SessionEvent) -> None:
        raise ProtocolError("the line does not take audio")

    async def request() -> None:
        session.create_response()

    with pytest.raises(ExceptionGroup) as raised:
        async with asyncio.TaskGroup() as group:
            group.create_task(request())
            await session.run(take)
    assert raised.group_contains(ProtocolError, match="does not take")


async def test_the_recogniser_expects_what_the_clients_tools_name(
    embedded_parts: Resources,
) -> None:
    class Noting:
        name = "noting"
        domain = ANYTHING

        def open(self, turn_id: int, domain: Domain = ANYTHING) -> RecognizerStream:
            self.domain = domain
            raise ModelError("nothing is to be heard")

    noting = Noting()
    options = {"medicine": {"type": "string", "enum": ["Amoxicillin"]}}
    refill = ToolSpec("refill", "Refill it.", {"type": "object", "properties": options})
    with ThreadPoolExecutor(1) as threads:
        parts = replace(embedded_parts, recognizer=noting, recognition_threads=threads)
        async with _running(parts) as rig, asyncio.timeout(PATIENCE_S):
            rig.session.update(client_tools=(refill,))
            while "Amoxicillin" not in noting.domain.names:
                rig.session.hear_item("mine", np.ones(1600, np.int16), 16_000)
                # Whatever the thread was given is done by then.
                await asyncio.get_running_loop().run_in_executor(threads, int)
    assert set(embedded_parts.domain.names) <= set(noting.domain.names)
