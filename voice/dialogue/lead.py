"""What a flow decides in the agent's replies: by which options, and where it goes from there.

Where there is one agent without a flow it decides nothing, so that replies need not ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from voice.config.moments import plain_words
from voice.dialogue.commands import Command, Emit
from voice.dialogue.english import asks, asks_of_the_agent
from voice.dialogue.flow import Flow, called_by
from voice.dialogue.history import History
from voice.dialogue.reply import Reply
from voice.events import FlowChanged
from voice.inputs import SessionOptions
from voice.types import Position, ToolCall, ToolResult, ToolSpec


class Lead:
    """A conversation's flow, or a draft's.

    Args:
        flow: Where it stands; None where there is none.
        tools: The tools that run here, by name.
        rephrases: Whether the model finds values itself, and says in its own words what tools have
            answered.
    """

    def __init__(self, flow: Flow | None, tools: Mapping[str, ToolSpec], rephrases: bool) -> None:
        self._flow = flow
        self._tools = tools
        self._rephrases = rephrases

    def copy(self) -> Flow | None:
        """A flow that stands at the same place."""
        return self._flow.copy() if self._flow else None

    def under(self, options: SessionOptions | None) -> Flow | None:
        """The flow, where it is in force under these options."""
        if self._flow is None or options is None:
            return None
        return self._flow if self._flow.team.leads(options) else None

    def here(self, options: SessionOptions) -> SessionOptions:
        """Options as they are at the agent that has the conversation, and in its step."""
        flow = self.under(options)
        if flow is None:
            return options
        exact = flow.asking and not self._rephrases
        offered = flow.team.offered(flow.position, self._tools, exact)
        return flow.team.over(options, flow.position, offered)

    def wanted(self, options: SessionOptions, message: str) -> str:
        """The tool that a message calls without asking the model; empty where a client leads."""
        if flow := self.under(options):
            return flow.team.wanted(flow.position, message)
        if not options.agent_tools or options.client_tools:
            return ""
        called = called_by(plain_words(message), options.calls)
        asked = asks(message) and not asks_of_the_agent(message)
        return called or (options.answers if asked else "")

    def drives(self, reply: Reply) -> bool:
        """Whether the flow decides what a message does, and the model no more than which tool."""
        flow = self.under(reply.base)
        asks = flow is not None and flow.asking and not self._rephrases
        return asks and reply.options.tool_choice == "auto"

    def goes_on(self, reply: Reply) -> bool:
        """Whether the flow goes on behind results of tools, without the model."""
        flow = self.under(reply.base)
        if flow is None:
            return False
        return flow.handed_over or (not self._rephrases and bool(flow.position.step))

    def asking_first(self) -> Mapping[str, ToolSpec]:
        """The tools, of which those that the flow asks about wait for a yes."""
        return self._flow.asking_first(self._tools) if self._flow else self._tools

    def aside(self) -> None:
        """Something else is said than what the flow asks."""
        if self._flow is not None:
            self._flow.aside()

    def note(self) -> str:
        """What an agent is told that was handed the conversation; else empty."""
        return self._flow.team.note(self._flow.position) if self._flow else ""

    def seen(self, dialogue: History) -> History:
        """The dialogue as far as it is for the agent that has the conversation."""
        return dialogue.without(self._flow.position.hidden) if self._flow else dialogue

    def resume(self, position: Position) -> list[Command]:
        """Begin, where the caller was before; the client is told in any case."""
        if self._flow is None:
            return []
        self._flow.go(position)
        return [self._told(self._flow)]

    def learn(self, call: ToolCall | None, result: ToolResult, dialogue: History) -> list[Command]:
        """Take in what a call has brought; none is news no more."""
        if self._flow is None or call is None:
            return []
        before, said = self._flow.position, next(iter(dialogue.user_texts(1)), "")
        after = self._flow.team.learned(before, call, result, said)
        if after.agent != before.agent:
            after = replace(after, hidden=frozenset(entry.item_id for entry in dialogue))
        return self.move(after)

    def move(self, to: Position) -> list[Command]:
        """Stand elsewhere, and tell the client where that is another place."""
        if self._flow is None or not self._flow.go(to):
            return []
        return [self._told(self._flow)]

    def _told(self, flow: Flow) -> Command:
        return Emit(FlowChanged(flow.position, tuple(flow.team.missing(flow.position))))
