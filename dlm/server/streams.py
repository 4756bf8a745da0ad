"""Streamed answers as chunks: what the engine tells goes in, objects for the wire come out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dlm.engine.request import Event, Finished, Reasoned, Snapshot, TextDelta, Usage
from dlm.language.answer_text import MASKED
from dlm.server.replies import (
    Head,
    ReasoningSummary,
    finish_reason,
    new_call,
    summary_of,
    usage_body,
)

Chunk = dict[str, Any]
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


def sse(data: Mapping[str, Any]) -> bytes:
    """An object as a server-sent event."""
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What a stream is to hold.

    Attributes:
        choices: Answers.
        each: Answers that share a prompt.
        usage: Whether a last chunk tells what was spent.
        diffusing: Whether content comes as snapshots that replace each other.
        predicted: Whether the answers revise a prediction.
        summary: What to tell of the model's reasoning where there is none, if it was asked for.
    """

    choices: int
    each: int
    usage: bool = False
    diffusing: bool = False
    predicted: bool = False
    summary: ReasoningSummary | None = None


class ChatStream:
    """Chunks of an answer to a dialogue."""

    def __init__(self, head: Head, plan: StreamPlan) -> None:
        self._fields = head.fields("chat.completion.chunk")
        self._plan = plan
        self._costs: dict[int, Usage] = {}
        self._summaries: dict[int, ReasoningSummary] = {}

    def begin(self) -> list[Chunk]:
        """The role, once for each choice; every snapshot tells it again."""
        if self._plan.diffusing:
            return []
        delta = {"role": "assistant", "content": "", "refusal": None}
        return [self._chunk(index, delta) for index in range(self._plan.choices)]

    def take(self, index: int, event: Event) -> list[Chunk]:
        """Chunks for what one choice has come to."""
        match event:
            case TextDelta(text) if not self._plan.diffusing:
                return [self._chunk(index, {"content": text})]
            case Snapshot(text) if self._plan.diffusing:
                progress = 1 - text.count(MASKED) / max(len(text), 1)
                return [self._snapshot(index, text, min(progress, 0.99))]
            case Reasoned(text) if self._plan.summary is not None:
                self._summaries[index] = summary_of(text)
                # Snapshots tell it themselves.
                whole = [] if self._plan.diffusing else [self._chunk(index, {})]
                return [self._told_of(index, chunk) for chunk in whole]
            case Finished():
                return self._finish(index, event)
            case _:
                return []

    def end(self) -> list[Chunk]:
        """What was spent, if it was asked for."""
        if not self._plan.usage:
            return []
        costs = [self._costs[index] for index in sorted(self._costs)]
        usage = usage_body(costs, self._plan.each, self._plan.predicted)
        return [{**self._fields, "choices": [], "usage": usage}]

    def _finish(self, index: int, finished: Finished) -> list[Chunk]:
        self._costs[index] = finished.usage
        chunks = []
        if self._plan.diffusing:
            chunks.append(self._snapshot(index, finished.answer.content, 1.0))
        for number, call in enumerate(finished.answer.calls):
            made = new_call(call)
            function = {**made["function"], "arguments": ""}
            first = {"index": number, **made, "function": function}
            rest = {"index": number, "function": {"arguments": made["function"]["arguments"]}}
            chunks += [self._chunk(index, {"tool_calls": [one]}) for one in (first, rest)]
        last = self._chunk(index, {}, finish_reason(finished))
        return [*chunks, self._told_of(index, last)]

    def _told_of(self, index: int, chunk: Chunk) -> Chunk:
        """A chunk with what there is to tell of the reasoning, if it was asked for."""
        if self._plan.summary is None:
            return chunk
        return {**chunk, "reasoning_summary": self._summaries.get(index, self._plan.summary)}

    def _snapshot(self, index: int, text: str, progress: float) -> Chunk:
        delta = {"role": "assistant", "content": text, "tool_calls": []}
        meta = {"diffusion_content": True, "diffusion_progress": round(progress, 3)}
        return {
            **self._chunk(index, delta),
            "diffusion_meta": meta,
            "reasoning_summary": self._summaries.get(index, self._plan.summary),
        }

    def _chunk(self, index: int, delta: Mapping[str, Any], reason: str | None = None) -> Chunk:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        chunk: Chunk = {**self._fields, "choices": [choice]}
        return {**chunk, "usage": None} if self._plan.usage else chunk


class TextStream:
    """Chunks of a text that goes on with a prompt."""

    def __init__(self, head: Head, plan: StreamPlan) -> None:
        self._fields = head.fields("text_completion")
        self._plan = plan
        self._costs: dict[int, Usage] = {}

    def begin(self) -> list[Chunk]:
        """Nothing: a text has no role."""
        return []

    def take(self, index: int, event: Event) -> list[Chunk]:
        """Chunks for what one choice has come to."""
        match event:
            case TextDelta(text):
                return [self._chunk(index, text)]
            case Finished():
                self._costs[index] = event.usage
                return [self._chunk(index, "", finish_reason(event))]
            case _:
                return []

    def end(self) -> list[Chunk]:
        """What was spent, if it was asked for."""
        if not self._plan.usage:
            return []
        costs = [self._costs[index] for index in sorted(self._costs)]
        return [{**self._fields, "choices": [], "usage": usage_body(costs, self._plan.each)}]

    def _chunk(self, index: int, text: str, reason: str | None = None) -> Chunk:
        choice = {"index": index, "text": text, "logprobs": None, "finish_reason": reason}
        chunk: Chunk = {**self._fields, "choices": [choice]}
        return {**chunk, "usage": None} if self._plan.usage else chunk
