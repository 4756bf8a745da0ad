"""A conversation on paper: inputs go in, and what it asks for is collected, no part of it real."""

from __future__ import annotations

import itertools
from typing import TypeVar

from voice.dialogue.commands import Command, Emit, Generate, RunTool, Speak, SpeakEnd, StopSpeaking
from voice.dialogue.conversation import Conversation
from voice.events import SessionEvent
from voice.inputs import (
    AudioPlayed,
    AudioSent,
    Input,
    ModelAnswered,
    ModelSaid,
    SessionOptions,
    SpeakingStopped,
    ToolAnswered,
)
from voice.types import SpeechStarted, ToolCall, ToolResult, ToolSpec, Transcript, TurnEnded

T = TypeVar("T")

TOOLS = {
    name: ToolSpec(name, "A tool.", {"type": "object", "properties": {}})
    for name in ("set_timer", "get_time", "end_conversation")
}
CLIENT_TOOL = ToolSpec("open_door", "A tool.", {"type": "object", "properties": {}})


class Script:
    """Drives a conversation and remembers all commands.

    Attributes:
        heard: What the user will have heard of a reply when it is stopped; the pipeline's answer to
            `StopSpeaking`.
    """

    def __init__(self, heard: str = "", draft_words: int = 0, **options: object) -> None:
        numbers = itertools.count(1)
        base = SessionOptions(instructions="Be brief.", agent_tools=tuple(TOOLS))
        self.conversation = Conversation(
            SessionOptions(**{**_fields(base), **options}),
            TOOLS,
            ids=lambda prefix: f"{prefix}{next(numbers)}",
            max_tool_calls=3,
            draft_words=draft_words,
        )
        self.heard = heard
        self.commands: list[Command] = []

    def feed(self, *inputs: Input) -> list[Command]:
        """Feed inputs and whatever the commands owe at once; returns the commands of these."""
        out: list[Command] = []
        for event in inputs:
            out += self._took(self.conversation.feed(event))
        return out

    def took(self, commands: list[Command]) -> list[Command]:
        """As `feed`, for commands that a request brought."""
        return self._took(commands)

    def ask(self) -> list[Command]:
        """The reply that the client wanted goes on; the pipeline's part of `respond`."""
        reply_id = self.conversation.active_reply
        return self._took(self.conversation.ask(reply_id)) if reply_id else []

    def user(self, text: str, turn_id: int = 1, seconds: float = 1.0) -> list[Command]:
        """A whole turn of the user's."""
        end = round(seconds * 16_000)
        return self.feed(
            SpeechStarted(turn_id, 0),
            TurnEnded(turn_id, end, end + 4000),
            Transcript(turn_id, text, final=True, confidence=0.9 if text else 0.0, end_sample=end),
        )

    def model(self, text: str = "", *calls: ToolCall, cut: bool = False) -> list[Command]:
        """A whole answer of the model's to the newest request."""
        reply_id = self.last(Generate).reply_id
        said = [ModelSaid(reply_id, text)] if text else []
        return self.feed(*said, ModelAnswered(reply_id, calls, cut, 10, 5))

    def tool(self, call: ToolCall, content: str) -> list[Command]:
        """A tool's answer."""
        run = next(c for c in self.of(RunTool) if c.call == call)
        return self.feed(ToolAnswered(run.reply_id, ToolResult(call.call_id, call.name, content)))

    def sent(self) -> list[Command]:
        """All audio of the newest reply has been sent."""
        return self.feed(AudioSent(self.last(SpeakEnd).reply_id))

    def played(self) -> list[Command]:
        """All audio of the newest reply has been played."""
        return self.feed(AudioPlayed(self.last(SpeakEnd).reply_id))

    def of(self, kind: type[T]) -> list[T]:
        """All commands of a kind so far."""
        return [command for command in self.commands if isinstance(command, kind)]

    def last(self, kind: type[T]) -> T:
        """The newest command of a kind."""
        return self.of(kind)[-1]

    def events(self, kind: type[T]) -> list[T]:
        """All events of a kind that the client was told."""
        told: list[SessionEvent] = [c.event for c in self.of(Emit)]
        return [event for event in told if isinstance(event, kind)]

    def spoken(self) -> str:
        """All text that was given to the voice."""
        return "".join(speak.segment.text for speak in self.of(Speak))

    def history(self) -> list[tuple[str, str]]:
        """Role and content of each message that the model would see."""
        return [(m.role.value, m.content) for m in self.conversation.dialogue.view(100)]

    def _took(self, commands: list[Command]) -> list[Command]:
        out: list[Command] = []
        for command in commands:
            out.append(command)
            self.commands.append(command)
            if isinstance(command, StopSpeaking):
                stopped = SpeakingStopped(command.reply_id, self.heard)
                out += self._took(self.conversation.feed(stopped))
        return out


def _fields(options: SessionOptions) -> dict[str, object]:
    return {name: getattr(options, name) for name in SessionOptions.__dataclass_fields__}
