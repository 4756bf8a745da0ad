"""What the endpoints answer, built from what the engine tells: dicts of a known form."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dlm.engine.request import Finished, Usage
from dlm.language.messages import Call

FinishReason = Literal["stop", "length", "tool_calls"]


class PromptDetails(TypedDict):
    """Of the prompt's tokens."""

    cached_tokens: int


class CompletionDetails(TypedDict):
    """Of the answer's tokens; accepted ones are those of a prediction that stand."""

    reasoning_tokens: int
    accepted_prediction_tokens: int
    rejected_prediction_tokens: int


class UsageBody(TypedDict):
    """Tokens in OpenAI's and in Mercury's shape, and what they took the model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    reasoning_tokens: int
    cached_input_tokens: int
    prompt_tokens_details: PromptDetails
    completion_tokens_details: CompletionDetails
    steps: int
    forwards: int
    tokens_per_forward: float


class CalledFunction(TypedDict):
    """What is called, its arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(TypedDict):
    """A call of a tool."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class AnswerMessage(TypedDict):
    """The answer."""

    role: Literal["assistant"]
    content: str | None
    refusal: None
    tool_calls: NotRequired[list[ToolCall]]


class Choice(TypedDict):
    """One answer."""

    index: int
    message: AnswerMessage
    finish_reason: FinishReason
    logprobs: None


class ReasoningSummary(TypedDict):
    """What the model thought, where it can be told."""

    content: str | None
    status: Literal["complete", "unavailable", "skipped"]


class Completion(TypedDict):
    """An answer to a dialogue, or a rewritten section."""

    id: str
    object: str
    created: int
    model: str
    choices: list[Choice]
    usage: UsageBody
    reasoning_summary: NotRequired[ReasoningSummary]
    warning: NotRequired[str]


class TextChoice(TypedDict):
    """One text."""

    index: int
    text: str
    finish_reason: FinishReason | None
    logprobs: None


class TextCompletion(TypedDict):
    """Text that goes on with a prompt, or a piece of it."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]
    usage: NotRequired[UsageBody | None]
    warning: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Head:
    """What all parts of one answer share.

    Attributes:
        kind: Beginning of the id.
        model: As the client named it.
    """

    kind: str
    model: str
    id: str = field(default="")
    created: int = field(default_factory=lambda: int(time.time()))

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"{self.kind}-{secrets.token_hex(12)}")

    def fields(self, kind: str) -> dict[str, Any]:
        """The fields, for an object of that kind."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def new_call(call: Call) -> ToolCall:
    """A call with an id that no other has."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def finish_reason(finished: Finished) -> FinishReason:
    """Why an answer ended."""
    if finished.answer.calls:
        return "tool_calls"
    return "length" if finished.reason == "length" else "stop"


def usage_body(costs: Sequence[Usage], each: int, predicted: bool = False) -> UsageBody:
    """What the choices cost together.

    Args:
        costs: One of each choice, in order.
        each: Choices that share a prompt, which counts once.
        predicted: Whether the answers revise a prediction.
    """
    answered = sum(cost.answer_tokens for cost in costs)
    thought = sum(cost.reasoning_tokens for cost in costs)
    forwards = sum(cost.forwards for cost in costs)
    prompt = sum(cost.prompt_tokens for cost in costs[::each])
    cached = sum(cost.cached_tokens for cost in costs[::each])
    kept = sum(cost.kept for cost in costs)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
        "reasoning_tokens": thought,
        "cached_input_tokens": cached,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {
            "reasoning_tokens": thought,
            "accepted_prediction_tokens": kept,
            "rejected_prediction_tokens": max(answered - thought - kept, 0) if predicted else 0,
        },
        "steps": sum(cost.steps for cost in costs),
        "forwards": forwards,
        "tokens_per_forward": round(answered / forwards, 3) if forwards else 0.0,
    }


def summary_of(thought: str) -> ReasoningSummary:
    """What is told of a thought: all of it, as it is short."""
    return {"content": thought, "status": "complete"}


def choice_of(index: int, finished: Finished) -> Choice:
    """One answer as a whole."""
    calls = [new_call(call) for call in finished.answer.calls]
    content = finished.answer.content
    message: AnswerMessage = {
        "role": "assistant",
        "content": None if calls and not content else content,
        "refusal": None,
    }
    if calls:
        message["tool_calls"] = calls
    return {
        "index": index,
        "message": message,
        "finish_reason": finish_reason(finished),
        "logprobs": None,
    }


def text_choice(index: int, text: str, reason: FinishReason | None) -> TextChoice:
    """One text, or a piece of it."""
    return {"index": index, "text": text, "finish_reason": reason, "logprobs": None}
