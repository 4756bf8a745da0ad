"""What an agent's file holds; `voice.config` reads it."""

from __future__ import annotations

from collections import Counter

from pydantic import Field, field_validator

from voice.config.options import Section


class AgentConfig(Section):
    """An agent: what it is told, what it says first, what it can do and what it expects to hear."""

    name: str
    """Short name."""
    instructions: str
    """System message."""
    greeting: str = ""
    """Said when a conversation opens; empty waits for the user."""
    tools: tuple[str, ...] = ()
    """Names of the tools it may call."""
    phrases: tuple[str, ...] = ()
    """Example phrases for the recogniser; {slot} names a list in `values`."""
    values: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Lists of words for the slots of `phrases`."""

    @field_validator("tools")
    @classmethod
    def _check_tools(cls, tools: tuple[str, ...]) -> tuple[str, ...]:
        twice = [name for name, times in Counter(tools).items() if times > 1]
        if twice:
            raise ValueError(f"got {twice[0]!r} more than once; expected each name once")
        return tools
