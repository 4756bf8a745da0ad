"""The interface of a language model: `embedded` runs in this process, `openai_client` on a server.

A prompt goes in; pieces of final text, views of the draft and at last the calls come out. Closing
the iteration cancels the request.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from voice.errors import ModelError
from voice.types import Message, ToolCall, ToolSpec

PRIORITY = 1
"""Of an answer that somebody waits for."""


class MalformedAnswer(ModelError):
    """The model's answer does not have the form of words and tool calls."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to answer.

    Attributes:
        messages: The dialogue, a system message first.
        tools: The tools that may be called.
        tool_choice: ``auto``, ``none``, ``required``, or a tool's name.
        effort: instant, low, medium or high.
        max_tokens: Longest answer; a model with less room in its context answers with fewer.
        draft: An earlier answer that is likely to hold for this prompt as well: it makes the answer
            cheaper, and does not change it.
        priority: Higher first when not all can be answered at once; a function is asked time and
            again, for an answer that may become urgent.
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
        """The priority by now."""
        return self.priority() if callable(self.priority) else self.priority


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the answer's final text."""

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
        forwards: Forwards of the model that it took; 0 if unknown.
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
        """Events of an answer, the last an `AnswerDone`.

        Raises:
            MalformedAnswer: The output is no answer; another try may help.
            ModelError: The model failed or cannot be reached.
        """
        ...

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """Probability that the last message is complete; None if unknown, or the model is busy."""
        ...

    def check_tools(self, tools: Sequence[ToolSpec], path: str) -> None:
        """Refuse a client's tools, with well-formed schemas, that this model could never call.

        Raises:
            ProtocolError: A tool cannot be called; ``param`` is the fault's path, under ``path``.
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
    """A call id that no other call has."""
    return f"call_{uuid.uuid4().hex[:16]}"
