"""Each command of the conversation is done by the real parts, on virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from tests.support.virtual_parts import Model, VirtualParts, last_user, parts
from tests.support.virtual_time import virtual
from voice.dialogue.commands import (
    Command,
    Draft,
    Generate,
    HangUp,
    HoldSpeaking,
    ReleaseSpeaking,
    Speak,
    SpeakEnd,
    StopGenerating,
    StopSpeaking,
)
from voice.dialogue.conversation import Conversation
from voice.events import (
    ReplyHeld,
    ReplyReleased,
    SessionEvent,
)
from voice.inputs import (
    AudioPlayed,
    Input,
    ModelFailed,
    ModelSaid,
    SessionOptions,
)
from voice.llm.base import MalformedAnswer, Prompt
from voice.session.command_runner import CommandRunner
from voice.session.live_backend import LiveBackend, SessionCallbacks
from voice.session.preemptive_generation import DraftParts, PreemptiveGeneration
from voice.session.tool_runs import ToolRuns
from voice.session.turn_latency import TurnLatency
from voice.speech.audio_output import AudioOutput
from voice.tools import SessionScope
from voice.types import Message, Role, Segment

T = TypeVar("T")
PROMPT = Prompt((Message(Role.USER, "hello"),))
WORDS = Segment(1, 0, "one two three four", "one two three four")


class Rig:
    """A runner with the live backend; ``decides`` makes commands of what its execution brings."""

    def __init__(self, loaded: VirtualParts, group: asyncio.TaskGroup) -> None:
        numbers = itertools.count(1)
        conversation = Conversation(SessionOptions(), {}, lambda prefix: f"{prefix}{next(numbers)}")
        self.inputs: list[Input] = []
        self.events: list[SessionEvent] = []
        self.reasons: list[str] = []
        self.decides: Callable[[Input], list[Command]] = lambda _: []

        def spawn(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
            return group.create_task(work)

        def decide(event: Input) -> list[Command]:
            self.inputs.append(event)
            return self.decides(event)

        def feed(event: Input) -> None:
            self.runner.feed(event)

        scope, config = SessionScope("s"), loaded.config
        self.output = AudioOutput(loaded.voice, loaded.synthesis_threads, self.events.append, feed)
        self.drafts = PreemptiveGeneration(
            conversation,
            DraftParts(
                loaded.model,
                loaded.toolbox,
                scope,
                self.output,
                config.drafting,
                loaded.load_monitor,
            ),
            spawn,
            self.events.append,
        )
        backend = LiveBackend(
            loaded.model,
            self.drafts,
            ToolRuns(loaded.toolbox, scope, self.drafts, 0.0),
            self.output,
            SessionCallbacks(
                self.events.append,
                TurnLatency(),
                self.reasons.append,
                lambda *_: None,
            ),
        )
        self.runner = CommandRunner(decide, backend, spawn)

    async def do(self, *commands: Command, for_s: float = 10) -> None:
        """Execute commands, and let some time go by."""
        self.runner.execute(list(commands))
        await asyncio.sleep(for_s)


@asynccontextmanager
async def rig(loaded: VirtualParts) -> AsyncGenerator[Rig, None]:
    async with asyncio.TaskGroup() as group:
        made = Rig(loaded, group)
        speaking = group.create_task(made.output.run())
        yield made
        speaking.cancel()
        made.drafts.drop()


def model() -> Model:
    return Model(lambda prompt: f"You said {last_user(prompt)}.")


@virtual
async def test_an_out_of_band_reply_takes_no_draft() -> None:
    asked = model()
    async with rig(parts(asked)) as rigged:
        await rigged.do(Draft(1, "hello", paused=True))
        [drafted] = asked.prompts
        own = replace(drafted, priority=PROMPT.priority)
        await rigged.do(Generate("aside", own, out_of_band=True))
        assert len(asked.prompts) == 2
        await rigged.do(Generate("r1", own))
        assert len(asked.prompts) == 2
        texts = {event.text for event in rigged.inputs if isinstance(event, ModelSaid)}
        assert texts == {"You said hello."}


@virtual
async def test_dropped_drafts_answer_nothing() -> None:
    asked = model()
    async with rig(parts(asked)) as rigged:
        await rigged.do(Draft(1, "hello", paused=True))
        rigged.drafts.drop()
        await rigged.do(Generate("r1", replace(asked.prompts[0], priority=PROMPT.priority)))
        assert len(asked.prompts) == 2


@virtual
async def test_requests_are_stopped_in_the_conversation_and_out_of_band() -> None:
    asked = model()
    async with rig(parts(asked)) as rigged:
        for reply_id in ("r1", "aside"):
            aside = reply_id == "aside"
            await rigged.do(Generate(reply_id, PROMPT, out_of_band=aside), for_s=0.01)
            assert asked.live == 1
            await rigged.do(StopGenerating(reply_id))
            assert asked.live == 0
        assert rigged.inputs == []


@virtual
async def test_an_answer_that_is_stopped_for_what_it_says_goes_on_no_further() -> None:
    asked = Model(lambda _: "It is five. " * 30)
    async with rig(parts(asked)) as rigged:
        rigged.decides = lambda event: [StopGenerating("r1")]
        await rigged.do(Generate("r1", PROMPT))
        assert len(rigged.inputs) == 1
        assert asked.forwards <= 2
        assert asked.live == 0


@virtual
async def test_sound_is_held_goes_on_and_is_stopped() -> None:
    async with rig(parts(model())) as rigged:
        await rigged.do(Speak("r1", WORDS, 16_000, 1.0), SpeakEnd("r1"), for_s=0.3)
        await rigged.do(HoldSpeaking("r1"))
        assert any(isinstance(event, ReplyHeld) for event in rigged.events)
        assert AudioPlayed("r1") not in rigged.inputs
        await rigged.do(ReleaseSpeaking("r1"), for_s=0.2)
        assert any(isinstance(event, ReplyReleased) for event in rigged.events)
        await rigged.do(StopSpeaking("r1"), for_s=5)
        heard = rigged.output.heard("r1")
        assert WORDS.text.startswith(heard.strip())
        assert heard != WORDS.text


@virtual
async def test_requests_that_are_over_are_forgotten() -> None:
    failures: list[Exception] = [MalformedAnswer("bad"), RuntimeError("a bug")]

    async with rig(parts(Model(lambda _: failures.pop() if failures else "Fine."))) as rigged:
        for _ in range(3):
            await rigged.do(Generate("r1", PROMPT))
        failed = [event for event in rigged.inputs if isinstance(event, ModelFailed)]
        assert [event.malformed for event in failed] == [False, True]
        assert rigged.inputs[-2] == ModelSaid("r1", "Fine.")
        assert rigged.runner._requests == {}


@virtual
async def test_a_bug_of_the_dialogue_costs_a_reply_and_is_told_where_it_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def decide(event: Input) -> list[Command]:
        if isinstance(event, ModelSaid):
            raise KeyError(event.text)
        return []

    async with rig(parts(model())) as rigged:
        rigged.decides = decide
        await rigged.do(Generate("r1", PROMPT))
        assert rigged.inputs[-1] == ModelFailed("r1", "the reply failed", malformed=False)
    assert "a reply failed: KeyError" in caplog.text
    assert "in decide" in caplog.text
    assert "You said" not in caplog.text


@virtual
async def test_nothing_is_executed_once_it_is_closed() -> None:
    async with rig(parts(model())) as rigged:
        rigged.runner.close()
        await rigged.do(HangUp("late"))
        assert rigged.reasons == []
