"""What the user's message asks for, and which calls of an answer are made because of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from voice.dialogue.corrections import Correction
from voice.dialogue.doubt import in_doubt
from voice.dialogue.held_back import HeldBack, confirmed_ones, readable_ones
from voice.dialogue.history import History
from voice.dialogue.lead import Lead
from voice.dialogue.opposites import Opposed, opposed, setters
from voice.dialogue.reply import Reply
from voice.dialogue.requests import mixed_up
from voice.types import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds the model's part of a reply.

    Attributes:
        max_tool_calls: In one reply; then the model must answer in words.
        max_history: Messages that the model sees.
        rephrases: Whether the model says in its own words what tools have answered; else the tools
            speak for themselves.
    """

    max_tool_calls: int = 6
    max_history: int = 24
    rephrases: bool = False


class CallChecks:
    """Compares calls with what was said; it makes none.

    Args:
        dialogue: What was said.
        tools: The tools that run here, by name.
        ids: Makes an id from a prefix, never the same twice.
        limits: Of the tool loop and of the history.
        lead: What the flow decides.
    """

    def __init__(
        self,
        dialogue: History,
        tools: Mapping[str, ToolSpec],
        ids: Callable[[str], str],
        limits: Limits,
        lead: Lead,
    ) -> None:
        self._dialogue = dialogue
        self._tools = tools
        self._ids = ids
        self._limits = limits
        self._lead = lead

    def request(self, reply: Reply) -> str:
        """What the model was asked, of the user's last message."""
        if reply.requests:
            return reply.requests.current.text
        return next(iter(reply.seen(self._dialogue).user_texts(1)), "")

    def own_tools(self, reply: Reply) -> dict[str, ToolSpec]:
        """The tools that the model may call and that run here."""
        own = set(reply.options.agent_tools)
        return {name: tool for name, tool in self._tools.items() if name in own}

    def takes_apart(self, reply: Reply) -> bool:
        """Whether a message of several requests is put to the model as so many.

        A client that runs tools may expect all calls at once, and what was required is one answer.
        """
        return reply.options.tool_choice == "auto" and not reply.options.client_tools

    def asks_apart(self, reply: Reply, calls: tuple[ToolCall, ...]) -> bool:
        """Ask for a request in parts, where the calls mix up what was said of several things."""
        if not reply.requests or not self.takes_apart(reply) or reply.own_words or reply.again:
            return False
        parts = mixed_up(reply.requests.current.text, calls, self._tools)
        if parts:
            reply.take_apart(reply.requests.apart(parts))
        return bool(parts)

    def corrected(self, reply: Reply) -> tuple[ToolCall, ...]:
        """Calls by which the user's last message corrects those before it, without the model."""
        if reply.requests is None or reply.options.tool_choice != "auto":
            return ()
        correction = Correction.of(reply.requests.first.text)
        if correction is None:
            return ()
        seen = self._dialogue.view(self._limits.max_history)
        calls = correction.calls(seen, self.own_tools(reply))
        return tuple(replace(call, call_id=self._ids("call")) for call in calls)

    def opposed(self, reply: Reply, calls: tuple[ToolCall, ...]) -> Opposed:
        """The calls that do the opposite of what the user has asked for."""
        newest = reply.seen(self._dialogue).user_texts(1)
        if not newest or not calls or reply.options.tool_choice != "auto":
            return Opposed()
        values = setters([*self._tools.values(), *reply.options.client_tools])
        return opposed(newest[0], calls, values)

    def held_back(self, reply: Reply, calls: tuple[ToolCall, ...]) -> HeldBack:
        """The calls that are made at once, and the question in the place of the others.

        A model that rephrases is told by the tool what it could not read, and asks by itself.
        """
        newest = self._dialogue.user_texts(1)
        most = self._limits.max_tool_calls - reply.calls_made
        calls = calls[: max(0, most if reply.options.parallel_calls else min(1, most))]
        if self._lead.under(reply.base):
            # A tool of another step is none here, whatever a model calls.
            calls = tuple(call for call in calls if call.name in reply.options.agent_tools)
        if again := reply.again:
            calls = tuple(call for call in calls if again.served_by(call, self._tools))
        if not self._limits.rephrases:
            readable = readable_ones(calls, self._tools)
            if readable.question:
                return readable
            calls = readable.made
        return confirmed_ones(calls, self._lead.asking_first(), newest[0] if newest else "")

    def doubts(self, reply: Reply, calls: tuple[ToolCall, ...], confidence: float | None) -> bool:
        """Whether calls are hardly what the user asks for; those that a client runs are its own."""
        ours = reply.options.tool_choice == "auto" and all(c.name in self._tools for c in calls)
        if not ours or self._limits.rephrases or reply.own_words or self._lead.under(reply.base):
            return False
        return in_doubt(confidence, self.request(reply), calls, self._tools)
