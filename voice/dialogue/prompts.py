"""Writes the prompt for the model: instructions, what was said, tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from voice.dialogue.call_checks import Limits
from voice.dialogue.history import History
from voice.dialogue.lead import Lead
from voice.dialogue.tool_calls import waiting
from voice.inputs import SessionOptions
from voice.llm.base import Prompt
from voice.types import Message, Role, ToolSpec


@dataclass(frozen=True, slots=True)
class Prompts:
    """Writes prompts.

    Attributes:
        tools: The tools that run here, by name.
        limits: Limits of the history; whether tools may be called at all.
        lead: The flow's decisions, which add a note and hide what belongs to other steps.
    """

    tools: Mapping[str, ToolSpec]
    limits: Limits
    lead: Lead

    def of(self, options: SessionOptions, seen: History, choice: str) -> Prompt:
        """The prompt behind what was ``seen``; ``choice`` is as in `SessionOptions.tool_choice`."""
        told = options.instructions, options.remembered, self.lead.note()
        system = tuple(Message(Role.SYSTEM, text) for text in told if text)
        # Calls made by the program would confuse a model that need not report their results.
        called = () if self.limits.rephrases else (*options.calls, options.answers)
        waits = {*waiting(options, seen, self.tools).values()}
        hidden = {*filter(None, called)} - {*options.agent_tools}
        shown = (
            one
            for one in self.lead.seen(seen).view(self.limits.max_history, waits)
            if hidden.isdisjoint((one.name, *(call.name for call in one.tool_calls)))
        )
        tools = (self.tools[name] for name in options.agent_tools if name in self.tools)
        return Prompt(
            messages=(*system, *shown),
            tools=(*tools, *options.client_tools),
            tool_choice=choice if self.limits.max_tool_calls else "none",
            effort=options.effort,
            max_tokens=options.max_reply_tokens,
        )
