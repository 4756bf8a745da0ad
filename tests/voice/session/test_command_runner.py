"""Each command of the conversation is done by the real parts, on virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from tests.support import virtual_tools
from tests.support.virtual_parts import Model, VirtualParts, Voice, last_user, parts
from tests.support.virtual_time import run
from voice.dialogue.commands import (
    CancelTool,
    Command,
    Draft,
    Emit,
    Generate,
    HangUp,
    HoldSpeaking,
    ReleaseSpeaking,
    RunTool,
    Speak,
    SpeakEnd,
    StopGenerating,
    StopSpeaking,
)
from voice.dialogue.conversation import Conversation
from voice.events import ReplyAudio, ReplyHeld, ReplyReleased, SessionEvent, UserSpeechStopped
from voice.inputs import (
    AudioPlayed,
    Input,
    ModelAnswered,
    ModelSaid,
    SessionOptions,
    SpeakingStopped,
    ToolAnswered,
)
from voice.llm.base import Prompt
from voice.session.command_runner import ASIDE_PRIORITY, CommandRunner, SessionCallbacks
from voice.tools import SessionScope
from voice.types import Message, Role, Segment, ToolCall

T = TypeVar("T")
PROMPT = Prompt((Message(Role.USER, "hello"),))
WORDS = Segment(1, 0, "one two three four", "one two three four")


class Rig:
    """Hands, and what they have told."""

    def __init__(self, loaded: VirtualParts, group: asyncio.TaskGroup) -> None:
        numbers = itertools.count(1)
        conversation = Conversation(SessionOptions(), {}, lambda prefix: f"{prefix}{next(numbers)}")
        self.told: list[Input] = []
        self.events: list[SessionEvent] = []
        self.reached: list[tuple[str, str]] = []
        self.reasons: list[str] = []

        def spawn(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
            return group.create_task(work)

        nerves = SessionCallbacks(
            tell=self.told.append,
            emit=self.events.append,
            reached=lambda *stage: self.reached.append(stage),
            spawn=spawn,
            rehearse=conversation.rehearse,
            hang_up=self.reasons.append,
        )
        self.hands = CommandRunner(loaded, SessionScope("s"), {"aside"}, nerves)

    async def do(self, *commands: Command, for_s: float = 10) -> None:
        """Carry commands out, and let some time go by."""
        self.hands.carry_out(list(commands))
        await asyncio.sleep(for_s)


@asynccontextmanager
async def rig(loaded: VirtualParts) -> AsyncGenerator[Rig, None]:
    async with asyncio.TaskGroup() as group:
        made = Rig(loaded, group)
        mouth = group.create_task(made.hands.mouth.run())
        yield made
        mouth.cancel()
        made.hands.drop_drafts()


def model() -> Model:
    return Model(lambda prompt: f"You said {last_user(prompt)}.")


def test_the_client_is_told_and_the_session_ended() -> None:
    async def main() -> None:
        async with rig(parts(model())) as hands:
            event = UserSpeechStopped(1, "i1", 0)
            await hands.do(Emit(event), HangUp("enough"))
            assert (hands.events, hands.reasons) == ([event], ["enough"])

    run(main())


def test_the_model_is_asked_and_what_it_says_is_told() -> None:
    async def main() -> None:
        asked = model()
        async with rig(parts(asked)) as hands:
            await hands.do(Generate("r1", PROMPT))
            assert hands.told[0] == ModelSaid("r1", "You said hello.")
            assert isinstance(hands.told[-1], ModelAnswered)
            assert ("r1", "first_token") in hands.reached
            assert [prompt.priority for prompt in asked.prompts] == [PROMPT.priority]

    run(main())


def test_a_reply_beside_the_conversation_waits_behind_and_takes_no_draft() -> None:
    async def main() -> None:
        asked = model()
        async with rig(parts(asked)) as hands:
            await hands.do(Draft(1, "hello", paused=True))
            [drafted] = asked.prompts
            own = replace(drafted, priority=PROMPT.priority)
            await hands.do(Generate("aside", own))
            assert [prompt.priority for prompt in asked.prompts[1:]] == [ASIDE_PRIORITY]
            await hands.do(Generate("r1", own))
            assert len(asked.prompts) == 2
            texts = {event.text for event in hands.told if isinstance(event, ModelSaid)}
            assert texts == {"You said hello."}

    run(main())


def test_dropped_drafts_answer_nothing() -> None:
    async def main() -> None:
        asked = model()
        async with rig(parts(asked)) as hands:
            await hands.do(Draft(1, "hello", paused=True))
            hands.hands.drop_drafts()
            await hands.do(Generate("r1", replace(asked.prompts[0], priority=PROMPT.priority)))
            assert len(asked.prompts) == 2

    run(main())


def test_requests_are_stopped_in_the_conversation_and_beside_it() -> None:
    async def main() -> None:
        asked = model()
        async with rig(parts(asked)) as hands:
            for reply_id in ("r1", "aside"):
                await hands.do(Generate(reply_id, PROMPT), for_s=0.01)
                assert asked.live == 1
                await hands.do(StopGenerating(reply_id))
                assert asked.live == 0
            assert hands.told == []

    run(main())


def test_a_tool_is_run_and_its_result_told() -> None:
    async def main() -> None:
        async with rig(parts(model())) as hands:
            await hands.do(RunTool("r1", ToolCall("c1", "book", {"what": "a boat"}), "k1"))
            [answered] = hands.told
            assert isinstance(answered, ToolAnswered)
            assert answered.result.content == "Booked a boat."

    run(main())


def test_a_tool_is_called_off() -> None:
    async def main() -> None:
        async with rig(parts(model())) as hands:
            dig = ToolCall("c1", "dig", {"where": "here"})
            await hands.do(RunTool("r1", dig, "k1"), for_s=0.1)
            await hands.do(CancelTool("k1"), for_s=60)
            assert virtual_tools.LEDGER == ["dig here"]
            assert any(isinstance(event, ToolAnswered) for event in hands.told)

    run(main())


def test_a_reply_is_spoken_to_its_end() -> None:
    async def main() -> None:
        voice = Voice()
        async with rig(parts(model(), voice)) as hands:
            await hands.do(Speak("r1", WORDS, 16_000, 1.0), SpeakEnd("r1"))
            assert voice.spoken == ["one two three four"]
            sound = [event for event in hands.events if isinstance(event, ReplyAudio)]
            assert sum(len(event.samples) for event in sound) == 4 * 3200
            assert hands.told[-1] == AudioPlayed("r1")

    run(main())


def test_sound_is_held_goes_on_and_is_stopped() -> None:
    async def main() -> None:
        async with rig(parts(model())) as hands:
            await hands.do(Speak("r1", WORDS, 16_000, 1.0), SpeakEnd("r1"), for_s=0.3)
            await hands.do(HoldSpeaking("r1"))
            assert any(isinstance(event, ReplyHeld) for event in hands.events)
            assert AudioPlayed("r1") not in hands.told
            await hands.do(ReleaseSpeaking("r1"), for_s=0.2)
            assert any(isinstance(event, ReplyReleased) for event in hands.events)
            hands.hands.carry_out([StopSpeaking("r1")])
            stopped = hands.told[-1]
            assert isinstance(stopped, SpeakingStopped)
            assert WORDS.text.startswith(stopped.heard.strip())
            assert stopped.heard != WORDS.text

    run(main())
