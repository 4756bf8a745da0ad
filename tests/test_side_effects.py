"""Side effects happen once: a thousand schedules of interruption, revision, timeout and reconnect.

The conversation, the drafts' policy and the toolbox are the real ones, on virtual time. Ears and
mouth are a script that speaks and hears at random moments. The model is as bad as it may be: it
makes the same call again as long as the user's words ask for it, fails, and answers malformed.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.virtual_time import run
from voice.config import ToolsConfig, TurnConfig
from voice.conversation import Conversation
from voice.errors import ProtocolError
from voice.events import ReplyToolResult
from voice.tools import SessionScope, Toolbox, tool
from voice.turns import (
    AudioPlayed,
    AudioSent,
    Command,
    Draft,
    Emit,
    Generate,
    Input,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    RunTool,
    SessionOptions,
    Speak,
    SpeakEnd,
    SpeakingStopped,
    StopGenerating,
    StopSpeaking,
    ToolAnswered,
    ToolFinished,
)
from voice.types import (
    Pause,
    Role,
    SpeechResumed,
    SpeechStarted,
    ToolCall,
    Transcript,
    TurnEnded,
)

SCHEDULES = 1000
DONE: Counter[str] = Counter()
BEGUN: Counter[str] = Counter()
TAKES_S: dict[str, float] = {}


@tool()
async def reserve(what: str) -> str:
    """Reserve something."""
    BEGUN[what] += 1
    await asyncio.sleep(TAKES_S.get(what, 0.1))
    DONE[what] += 1
    return f"Reserved {what}."


class World:
    """One schedule: a session's conversation, and everything around it by chance.

    Attributes:
        wanted: What was asked for → how often it may be done.
        ran: What calls were handed to the toolbox.
    """

    def __init__(self, seed: int, toolbox: Toolbox, session: str, wanted: Counter[str]) -> None:
        self.random = random.Random(seed)
        numbers = itertools.count(1)
        self.conversation = Conversation(
            SessionOptions(agent_tools=("reserve",)),
            {spec.name: spec for spec in toolbox.specs(["reserve"])},
            lambda prefix: f"{prefix}{next(numbers)}",
            draft_words=1,
        )
        self.toolbox = toolbox
        self.scope = SessionScope(session)
        self.wanted = wanted
        self.ran: set[str] = set()
        self.open: set[str] = set()
        self.heard_answer = True
        self.calls = itertools.count(1)
        self.turn = 0
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.sound: dict[str, float] = {}
        self.group: asyncio.TaskGroup | None = None

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        assert self.group is not None
        return self.group.create_task(work)

    def feed(self, event: Input) -> None:
        for command in self.conversation.feed(event):
            self.obey(command)

    def obey(self, command: Command) -> None:
        match command:
            case Generate(reply_id, prompt):
                if old := self.tasks.pop(reply_id, None):
                    old.cancel()
                asks = self.asked_for([m.content for m in prompt.messages if m.role is Role.USER])
                self.tasks[reply_id] = self.spawn(self.think(reply_id, prompt.tool_choice, asks))
            case StopGenerating(reply_id):
                if old := self.tasks.pop(reply_id, None):
                    old.cancel()
            case RunTool(reply_id, call, key):
                self.ran.add(call.arguments["what"])
                self.spawn(self.work(reply_id, call, key))
            case Draft():
                self.rehearse(command)
            case Speak(reply_id):
                self.sound.setdefault(reply_id, asyncio.get_running_loop().time())
            case SpeakEnd(reply_id):
                self.spawn(self.play(reply_id))
            case StopSpeaking(reply_id):
                began = self.sound.pop(reply_id, None)
                now = asyncio.get_running_loop().time()
                heard = "Yes" if began is not None and now - began > 0.3 else ""
                self.heard_answer |= bool(heard)
                self.feed(SpeakingStopped(reply_id, heard))
            case Emit(ReplyToolResult(result=result)):
                assert result.name == "reserve"

    def asked_for(self, texts: list[str]) -> list[str]:
        return [w for text in texts[-1:] for w in dict.fromkeys(text.split()) if w in self.wanted]

    async def think(self, reply_id: str, choice: str, asks: list[str]) -> None:
        await asyncio.sleep(self.random.uniform(0.01, 0.3))
        if self.chance(0.1):
            self.feed(ModelFailed(reply_id, "bad form", malformed=self.chance(0.8)))
            return
        again = [what for what in asks if what not in self.ran or self.chance(0.4)]
        calls = tuple(
            ToolCall(f"call{next(self.calls)}", "reserve", {"what": what}) for what in again
        )
        if choice == "none" or not calls or self.chance(0.3):
            self.feed(ModelSaid(reply_id, "Let me see about that. " if calls else "All is done."))
        self.feed(ModelAnswered(reply_id, () if choice == "none" else calls, False, 1, 1))

    def rehearse(self, draft: Draft) -> None:
        """A draft goes as far as it may: nothing that it brings is carried out."""
        rehearsal, commands = self.conversation.rehearse(draft)
        asked = next(c for c in commands if isinstance(c, Generate))
        calls = tuple(
            ToolCall(f"call{next(self.calls)}", "reserve", {"what": what})
            for what in self.asked_for([draft.words])
        )
        rehearsal.feed(ModelAnswered(asked.reply_id, calls, False, 1, 1))

    async def work(self, reply_id: str, call: ToolCall, key: str) -> None:
        result = await self.toolbox.run(call, self.scope, key)
        self.feed(ToolAnswered(reply_id, result))
        if result.unfinished:
            self.feed(ToolFinished(await self.toolbox.outcome(call, self.scope, key)))

    async def play(self, reply_id: str) -> None:
        await asyncio.sleep(0.05)
        self.feed(AudioSent(reply_id))
        await asyncio.sleep(1.0)
        if self.sound.pop(reply_id, None) is not None:
            self.heard_answer = True
            self.feed(AudioPlayed(reply_id))

    async def say(self) -> None:
        """A turn: something new, the same again, or nothing to the point; with pauses in it."""
        self.turn += 1
        self.feed(SpeechStarted(self.turn, 0))
        if self.heard_answer:
            self.open = set()
            self.heard_answer = False
        if self.open and self.chance(0.6):
            what = self.random.choice(sorted(self.open))
        elif self.chance(0.8):
            what = f"thing{len(self.wanted)}"
            self.wanted[what] = 1
            TAKES_S[what] = self.random.choice([0.05, 0.5, 3.0, 20.0])
            self.open.add(what)
        else:
            what = "please"
        for words in ("reserve", f"reserve {what}"):
            self.feed(Transcript(self.turn, words, False, 0.8, 0))
            await asyncio.sleep(self.random.uniform(0.05, 0.3))
        if self.chance(0.5):
            self.feed(Pause(self.turn, 1000))
            self.feed(Transcript(self.turn, f"reserve {what}", False, 0.8, 0))
            self.feed(SpeechResumed(self.turn, 2000))
        self.feed(TurnEnded(self.turn, 16_000, 20_000))
        self.feed(Transcript(self.turn, f"reserve {what}", True, 0.9, 16_000))

    async def live(self, turns: int) -> None:
        async with asyncio.TaskGroup() as group:
            self.group = group
            for _ in range(turns):
                await self.say()
                await asyncio.sleep(self.random.choice([0.02, 0.2, 0.6, 1.5, 4.0, 30.0]))
                if self.chance(0.1):
                    self.cancel()

    def cancel(self) -> None:
        try:
            commands = self.conversation.cancel()
        except ProtocolError:
            return
        for command in commands:
            self.obey(command)


async def schedule(seed: int, toolbox: Toolbox) -> None:
    DONE.clear()
    BEGUN.clear()
    chance = random.Random(seed)
    wanted: Counter[str] = Counter()
    first = World(seed, toolbox, f"session{seed}", wanted)
    try:
        async with asyncio.timeout(chance.choice([0.5, 3.0, 1000.0])):
            await first.live(4)
    except TimeoutError:
        # The client is gone and comes back: a new session, which knows nothing of the old one.
        await World(seed + SCHEDULES, toolbox, f"session{seed}b", wanted).live(2)
    await toolbox.drain()
    doubled = {what: count for what, count in DONE.items() if count != 1}
    assert not doubled, f"seed {seed}: {doubled}"
    assert BEGUN == DONE, f"seed {seed}: begun and not done"
    lost = first.ran - set(DONE)
    assert not lost, f"seed {seed}: {lost}"
    view = first.conversation.dialogue.view(100)
    called = {call.call_id for message in view for call in message.tool_calls}
    answered = {message.call_id for message in view if message.role is Role.TOOL}
    assert called == answered


@pytest.mark.parametrize("part", range(4))
def test_no_side_effect_is_doubled_or_lost(part: int) -> None:
    async def main() -> None:
        config = ToolsConfig(database=":memory:", modules=(__name__,))
        toolbox = Toolbox(config, TurnConfig(tool_timeout_s=1.0))
        for seed in range(part, SCHEDULES, 4):
            await schedule(seed, toolbox)
        await toolbox.close()

    run(main())
