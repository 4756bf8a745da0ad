"""The interface of a language model: `embedded` runs in this process, `openai_client` on a server.

A prompt goes in; pieces of final text, views of the draft and finally the calls come out. Closing
the iterator cancels the request.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from voice.errors import ModelError
from voice.types import Message, ToolCall, ToolSpec

PRIORITY = 1
"""Priority of an answer that somebody is waiting for."""


class MalformedAnswer(ModelError):
    """The model's output is not a well-formed answer of words and tool calls."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to answer.

    Attributes:
        messages: The dialogue, a system message first.
        tools: The tools that may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        effort: instant, low, medium or high.
        max_tokens: Most tokens of the answer; fewer if the context has less room.
        draft: An earlier answer that probably fits this prompt too; it makes the answer cheaper
            without changing it.
        priority: Higher goes first if not all prompts can be answered at once. A function is called
            repeatedly, for an answer that may become urgent.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    effort: str = "instant"
    max_tokens: int = 96
    draft: Message | None = field(default=None, compare=False)
    priority: int | Callable[[], int] = field(default=PRIORITY, compare=False)

    @property
    def rank(self) -> int:
        """The current priority."""
        return self.priority() if callable(self.priority) else self.priority


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the answer's final text."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftView:
    """The answer so far, for display; ``step`` counts model forwards."""

    text: str
    step: int


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The answer is complete.

    Attributes:
        calls: The calls, in the order in which they are to run.
        cut: Whether the answer was cut off because it was too long.
        forwards: Model forwards that it took; 0 if unknown.
        kept: Tokens taken over from the prompt's draft.
        confidence: How sure the model is of the calls, in [0, 1]; None if unknown.
    """

    calls: tuple[ToolCall, ...]
    cut: bool
    input_tokens: int
    output_tokens: int
    forwards: int = 0
    kept: int = 0
    confidence: float | None = None


ModelEvent = TextPiece | DraftView | AnswerDone


class ReplyModel(Protocol):
    """A language model that answers prompts."""

    name: str

    def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of an answer, the last an `AnswerDone`.

        Raises:
            MalformedAnswer: The output is not a well-formed answer; another try may help.
            ModelError: The model failed or cannot be reached.
        """
        ...

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """Probability that the last message is complete; None if unknown, or the model is busy."""
        ...

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """Refuse a client's tools, with well-formed schemas, if this model could never call them.

        Raises:
            ProtocolError: A tool cannot be called; ``param`` is the path of the fault, below
                ``path``.
        """
        ...

    def warm_up(self, prompt: Prompt) -> None:
        """Do the slow work of a first answer now; blocks.

        Raises:
            ConfigError: The tools cannot be called.
            ModelError: Instructions and tools leave no room for a dialogue.
        """
        ...

    async def close(self) -> None:
        """Release the model's threads and connections."""
        ...


def new_call_id() -> str:
    """A new, unique call id."""
    return f"call_{uuid.uuid4().hex[:16]}"
