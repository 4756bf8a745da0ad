"""The language model behind one Protocol: `embedded` here, `openai_client` elsewhere.

A prompt goes in; pieces of final text, views of the draft and at last the calls come out. Closing
the iteration cancels the request.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from voice.errors import ModelError
from voice.types import Message, ToolCall, ToolSpec


class MalformedAnswer(ModelError):
    """The model's answer does not have the form of words and tool calls."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to answer.

    Attributes:
        messages: The dialogue, a system message first.
        tools: What may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        effort: instant, low, medium or high.
        max_tokens: Longest answer; one here is as long as its context has room for.
        draft: An earlier answer that is likely to hold under this prompt as well: it makes the
            answer cheaper, not another one.
        priority: Higher first when not all can be answered at once.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    effort: str = "instant"
    max_tokens: int = 96
    draft: Message | None = field(default=None, compare=False)
    priority: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Final text that the answer goes on with."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftView:
    """The answer as it stands, for display; ``step`` counts model forwards."""

    text: str
    step: int


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The answer is complete.

    Attributes:
        calls: In the order in which they are to run.
        cut: Whether it ended for being too long.
        forwards: What it cost, in forwards of the model; 0 where the model does not tell.
        kept: Tokens of the prompt's draft that stand.
    """

    calls: tuple[ToolCall, ...]
    cut: bool
    input_tokens: int
    output_tokens: int
    forwards: int = 0
    kept: int = 0


ModelEvent = TextPiece | DraftView | AnswerDone


class ReplyModel(Protocol):
    """A language model that answers prompts."""

    name: str

    def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """Events of an answer, the last an `AnswerDone`.

        Raises:
            MalformedAnswer: What the model wrote is no answer; trying again may help.
            ModelError: The model failed or cannot be reached.
        """
        ...

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """Probability that the prompt's last message ends where it does, rather than going on.

        None where the model cannot tell, or is too busy to.
        """
        ...

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """Refuse tools of a client that this model could never call, where it can tell.

        Args:
            tools: Their schemas are well-formed.
            path: Where they stand in the client's event.

        Raises:
            ProtocolError: One cannot be called; ``param`` names the parameter at fault.
        """
        ...

    def warm_up(self, prompt: Prompt) -> None:
        """Make the first answer as quick as the others, if that takes something; blocks.

        Raises:
            ConfigError: Nothing can be answered with these tools.
            ModelError: Instructions and tools leave no room for a dialogue.
        """
        ...

    async def close(self) -> None:
        """Release what the model holds."""
        ...


def new_call_id() -> str:
    """A call id that no other call has."""
    return f"call_{uuid.uuid4().hex[:16]}"
