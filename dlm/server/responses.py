"""Answers of the endpoints: JSON objects made from the engine's events, whole or in chunks."""

from __future__ import annotations

import json
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dlm.engine.request import Event, Finished, Reasoned, Snapshot, TextDelta, Usage
from dlm.language.answer_text import MASKED
from dlm.language.messages import Call
from dlm.server.errors import ApiError

FinishReason = Literal["stop", "length", "tool_calls"]
Chunk = dict[str, Any]
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


class PromptDetails(TypedDict):
    """Details of the prompt's tokens."""

    cached_tokens: int


class CompletionDetails(TypedDict):
    """Details of the answer's tokens; accepted ones are prediction tokens kept in the answer."""

    reasoning_tokens: int
    accepted_prediction_tokens: int
    rejected_prediction_tokens: int


class UsageBody(TypedDict):
    """Tokens, in OpenAI's and Mercury's form, and the forwards that they cost."""

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
    """A called function, with its arguments as JSON text."""

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
    """What the model thought, if it did."""

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
    """Text that continues a prompt, or a piece of that text."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]
    usage: NotRequired[UsageBody | None]
    warning: NotRequired[str]


@dataclass(frozen=True, slots=True)
class ReplyOptions:
    """What a reply should contain.

    Attributes:
        choices: Number of answers.
        per_prompt: Number of answers that share a prompt.
        usage: Whether a stream's last chunk holds the usage.
        diffusing: Whether a stream's content comes as snapshots that replace each other.
        predicted: Whether the answers revise a prediction.
        summary: The reasoning summary for an answer without reasoning; None if no summary was asked
            for.
    """

    choices: int
    per_prompt: int
    usage: bool = False
    diffusing: bool = False
    predicted: bool = False
    summary: ReasoningSummary | None = None


class Reply(ABC):
    """One reply, sent whole or as chunks of a stream that share an id."""

    def __init__(
        self,
        model: str,
        options: ReplyOptions,
        prefix: str,
        kinds: tuple[str, str],
        joint: str = "-",
    ) -> None:
        self._options = options
        self._id = f"{prefix}{joint}{secrets.token_hex(12)}"
        self._created = int(time.time())
        self._model = model
        self._kinds = kinds
        self._costs: dict[int, Usage] = {}

    @abstractmethod
    def whole(self, finished: Sequence[Finished]) -> Mapping[str, Any]:
        """The reply for finished answers, one for each choice, in order."""

    @abstractmethod
    def chunks(self, index: int, event: Event) -> list[Chunk]:
        """Chunks for an event of one choice."""

    def begin(self) -> list[Chunk]:
        """Chunks before the first event."""
        return []

    def end(self) -> list[Chunk]:
        """Chunks after the last event: the usage, if it was asked for."""
        if not self._options.usage:
            return []
        costs = [self._costs[index] for index in sorted(self._costs)]
        return [{**self._fields(self._kinds[1]), "choices": [], "usage": self._usage(costs)}]

    def failure(self, error: ApiError) -> Chunk:
        """The chunk for a failure, which ends a stream."""
        return dict(error.body())

    @property
    def done(self) -> bytes:
        """What follows the last chunk."""
        return DONE

    def shows(self, event: Event) -> bool:
        """Whether a stream's client sees an event."""
        return self._options.diffusing or not isinstance(event, Snapshot)

    def _fields(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._model}

    def _usage(self, costs: Sequence[Usage]) -> UsageBody:
        return usage_body(costs, self._options.per_prompt, self._options.predicted)

    def _chunk(self, choice: Mapping[str, Any]) -> Chunk:
        chunk: Chunk = {**self._fields(self._kinds[1]), "choices": [choice]}
        return {**chunk, "usage": None} if self._options.usage else chunk


class ChatReply(Reply):
    """Answers to a dialogue, or rewritten sections."""

    def __init__(
        self,
        model: str,
        options: ReplyOptions,
        prefix: str = "chatcmpl",
        kind: str = "chat.completion",
    ) -> None:
        super().__init__(model, options, prefix, (kind, "chat.completion.chunk"))
        self._summaries: dict[int, ReasoningSummary] = {}

    def whole(self, finished: Sequence[Finished]) -> Completion:
        """See `Reply.whole`."""
        reply: Completion = {
            **self._fields(self._kinds[0]),  # type: ignore[typeddict-item]
            "choices": [_choice(index, one) for index, one in enumerate(finished)],
            "usage": self._usage([one.usage for one in finished]),
        }
        if self._options.summary is not None:
            thought = finished[0].answer.reasoning
            reply["reasoning_summary"] = _summary(thought) if thought else self._options.summary
        return reply

    def begin(self) -> list[Chunk]:
        """The role, once for each choice; nothing for snapshots, each of which has it."""
        if self._options.diffusing:
            return []
        delta = {"role": "assistant", "content": "", "refusal": None}
        return [self._delta(index, delta) for index in range(self._options.choices)]

    def chunks(self, index: int, event: Event) -> list[Chunk]:
        """See `Reply.chunks`."""
        match event:
            case TextDelta(text) if not self._options.diffusing:
                return [self._delta(index, {"content": text})]
            case Snapshot(text) if self._options.diffusing:
                progress = 1 - text.count(MASKED) / max(len(text), 1)
                return [self._snapshot(index, text, min(progress, 0.99))]
            case Reasoned(text) if self._options.summary is not None:
                self._summaries[index] = _summary(text)
                # Each snapshot has the summary already.
                empty = [] if self._options.diffusing else [self._delta(index, {})]
                return [self._with_summary(index, chunk) for chunk in empty]
            case Finished():
                return self._finish(index, event)
            case _:
                return []

    def _finish(self, index: int, finished: Finished) -> list[Chunk]:
        self._costs[index] = finished.usage
        chunks = []
        if self._options.diffusing:
            chunks.append(self._snapshot(index, finished.answer.content, 1.0))
        for number, call in enumerate(finished.answer.calls):
            made = new_call(call)
            function = {**made["function"], "arguments": ""}
            first = {"index": number, **made, "function": function}
            rest = {"index": number, "function": {"arguments": made["function"]["arguments"]}}
            chunks += [self._delta(index, {"tool_calls": [one]}) for one in (first, rest)]
        last = self._delta(index, {}, finish_reason(finished))
        return [*chunks, self._with_summary(index, last)]

    def _with_summary(self, index: int, chunk: Chunk) -> Chunk:
        if self._options.summary is None:
            return chunk
        return {**chunk, "reasoning_summary": self._summaries.get(index, self._options.summary)}

    def _snapshot(self, index: int, text: str, progress: float) -> Chunk:
        delta = {"role": "assistant", "content": text, "tool_calls": []}
        meta = {"diffusion_content": True, "diffusion_progress": round(progress, 3)}
        return {
            **self._delta(index, delta),
            "diffusion_meta": meta,
            "reasoning_summary": self._summaries.get(index, self._options.summary),
        }

    def _delta(self, index: int, delta: Mapping[str, Any], reason: str | None = None) -> Chunk:
        return self._chunk(
            {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        )


class TextReply(Reply):
    """Texts that continue a prompt."""

    def __init__(self, model: str, options: ReplyOptions) -> None:
        super().__init__(model, options, "cmpl", ("text_completion", "text_completion"))

    def whole(self, finished: Sequence[Finished]) -> TextCompletion:
        """See `Reply.whole`."""
        return {
            **self._fields(self._kinds[0]),  # type: ignore[typeddict-item]
            "choices": [
                _text_choice(index, one.answer.content, finish_reason(one))
                for index, one in enumerate(finished)
            ],
            "usage": self._usage([one.usage for one in finished]),
        }

    def chunks(self, index: int, event: Event) -> list[Chunk]:
        """See `Reply.chunks`."""
        match event:
            case TextDelta(text):
                return [self._chunk(_text_choice(index, text, None))]
            case Finished():
                self._costs[index] = event.usage
                return [self._chunk(_text_choice(index, "", finish_reason(event)))]
            case _:
                return []


def sse(data: Mapping[str, Any]) -> bytes:
    """An object as a server-sent event, named by the object's type if it has one."""
    name = f"event: {data['type']}\n".encode() if "type" in data else b""
    return name + b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def new_call(call: Call) -> ToolCall:
    """A call with a new, unique id."""
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


def usage_body(costs: Sequence[Usage], per_prompt: int, predicted: bool = False) -> UsageBody:
    """The usage of all choices; a prompt counts once for the ``per_prompt`` choices it has."""
    answered = sum(cost.answer_tokens for cost in costs)
    thought = sum(cost.reasoning_tokens for cost in costs)
    forwards = sum(cost.forwards for cost in costs)
    prompt = sum(cost.prompt_tokens for cost in costs[::per_prompt])
    cached = sum(cost.cached_tokens for cost in costs[::per_prompt])
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


def _summary(thought: str) -> ReasoningSummary:
    return {"content": thought, "status": "complete"}


def _choice(index: int, finished: Finished) -> Choice:
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


def _text_choice(index: int, text: str, reason: FinishReason | None) -> TextChoice:
    return {"index": index, "text": text, "finish_reason": reason, "logprobs": None}
