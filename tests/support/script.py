"""A conversation on paper: inputs go in, and what it asks for is collected, no part of it real."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TypeVar

from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Command, Emit, Generate, RunTool, Speak, SpeakEnd
from voice.dialogue.conversation import Context, Conversation
from voice.dialogue.flow import Flow
from voice.events import SessionEvent
from voice.inputs import (
    AudioPlayed,
    AudioSent,
    Input,
    ModelAnswered,
    ModelSaid,
    SessionOptions,
    ToolAnswered,
)
from voice.types import SpeechStarted, ToolCall, ToolResult, ToolSpec, Transcript, TurnEnded

T = TypeVar("T")


def _tool(name: str, *required: str) -> ToolSpec:
    properties = {one: {"type": "string"} for one in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, "A tool.", schema, ends=name.startswith("end"))


def _of_no_deposit(call: ToolCall, message: str) -> ToolResult | None:
    """What the documents have nothing about."""
    known = "deposit" in message
    return None if known else ToolResult(call.call_id, call.name, "Error: Nothing.", error=True)


TIMER = ToolCall("c1", "set_timer", {"duration": "ten minutes"})
TIME = ToolCall("c2", "get_time", {})
DOOR = ToolCall("c3", "open_door", {})
TOOLS = {
    tool.name: tool
    for tool in (
        _tool("set_timer"),
        replace(_tool("get_time"), read_only=True),
        _tool("add_to_list", "item"),
        _tool("remove_from_list", "item"),
        replace(_tool("order_drink", "drink"), meant=lambda given: f"a {given['drink']}"),
        _tool("change_drink", "drink"),
        _tool("end_conversation"),
        replace(
            _tool("search_documents", "query"),
            read_only=True,
            looks_up=True,
            refusal=_of_no_deposit,
        ),
    )
}
CLIENT_TOOL = ToolSpec("open_door", "A tool.", {"type": "object", "properties": {}})


class Script:
    """Drives a conversation and remembers all commands.

    Attributes:
        heard: What the user will have heard of any reply.
    """

    def __init__(
        self,
        heard: str = "",
        draft_words: int = 0,
        limits: Limits = Limits(max_tool_calls=3),  # noqa: B008
        flow: Flow | None = None,
        **options: object,
    ) -> None:
        numbers = itertools.count(1)
        base = SessionOptions(instructions="Be brief.", agent_tools=tuple(TOOLS))
        self.conversation = Conversation(
            SessionOptions(**{**_fields(base), **options}),
            TOOLS,
            ids=lambda prefix: f"{prefix}{next(numbers)}",
            limits=limits,
            draft_words=draft_words,
            heard=lambda reply_id: self.heard,
            flow=flow,
        )
        self.heard = heard
        self.commands: list[Command] = []

    def feed(self, *inputs: Input) -> list[Command]:
        """Feed inputs; returns the commands that they bring."""
        return [command for event in inputs for command in self.took(self.conversation.feed(event))]

    def took(self, commands: list[Command]) -> list[Command]:
        """As `feed`, for commands that a request brought."""
        self.commands += commands
        return commands

    def request(
        self,
        options: SessionOptions | None = None,
        context: Context | None = None,
        out_of_band: bool = False,
    ) -> str:
        """The client asks for a reply; returns its id."""
        options = options or self.conversation.options
        reply_id, commands = self.conversation.create_response(options, context, out_of_band)
        self.took(commands)
        return reply_id

    def cancel(self, reply_id: str | None = None) -> list[Command]:
        """The client cancels a reply."""
        return self.took(self.conversation.cancel(reply_id))

    def user(
        self, text: str, turn_id: int = 1, seconds: float = 1.0, start: int = 0
    ) -> list[Command]:
        """A whole turn of the user's, from a sample on."""
        end = start + round(seconds * 16_000)
        return self.feed(
            SpeechStarted(turn_id, start),
            TurnEnded(turn_id, end, end + 4000),
            Transcript(turn_id, text, final=True, confidence=0.9 if text else 0.0, end_sample=end),
        )

    def goes_on(self, after_ms: int, text: str, turn_id: int = 2) -> list[Command]:
        """The user goes on so long after a turn of one second was over."""
        return self.user(text, turn_id, start=16_000 + 4000 + after_ms * 16)

    def model(
        self, text: str = "", *calls: ToolCall, cut: bool = False, confidence: float | None = None
    ) -> list[Command]:
        """A whole answer of the model's to the newest request."""
        reply_id = self.last(Generate).reply_id
        said = [ModelSaid(reply_id, text)] if text else []
        return self.feed(*said, ModelAnswered(reply_id, calls, cut, 10, 5, confidence))

    def tool(self, call: ToolCall, content: str) -> list[Command]:
        """A tool's answer."""
        run = next(c for c in self.of(RunTool) if c.call == call)
        result = ToolResult(call.call_id, call.name, content, content.startswith("Error: "))
        return self.feed(ToolAnswered(run.reply_id, result))

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
        """All events of a kind that went to the client."""
        emitted: list[SessionEvent] = [c.event for c in self.of(Emit)]
        return [event for event in emitted if isinstance(event, kind)]

    def spoken(self) -> str:
        """All text that was given to the voice."""
        return "".join(speak.segment.text for speak in self.of(Speak))

    def history(self) -> list[tuple[str, str]]:
        """Role and content of each message that the model would see."""
        return [(m.role.value, m.content) for m in self.conversation.dialogue.view(100)]


def _fields(options: SessionOptions) -> dict[str, object]:
    return {name: getattr(options, name) for name in SessionOptions.__dataclass_fields__}
