"""Answers of ``POST /v1/responses``: a response object, whole or as a stream of events."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dlm.engine.request import Event, Finished, Reasoned, TextDelta, Usage
from dlm.server.errors import ApiError
from dlm.server.response_requests import ResponseRequest, renamed
from dlm.server.responses import Chunk, Reply, ReplyOptions, new_call, usage_body

Item = dict[str, Any]


class IncompleteDetails(TypedDict):
    """Why a response is incomplete."""

    reason: Literal["max_output_tokens"]


class ResponseObject(TypedDict):
    """A response; ``output`` holds messages, calls and, if it was asked for, reasoning."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed", "incomplete"]
    model: str
    output: list[dict[str, Any]]
    incomplete_details: IncompleteDetails | None
    usage: dict[str, Any] | None
    error: None
    instructions: str | None
    max_output_tokens: int | None
    parallel_tool_calls: bool
    previous_response_id: None
    reasoning: dict[str, Any]
    store: Literal[False]
    temperature: float
    text: dict[str, Any]
    tool_choice: Any
    tools: list[dict[str, Any]]
    top_p: float
    truncation: Literal["disabled"]
    metadata: dict[str, str]
    warning: NotRequired[str]


class ResponseReply(Reply):
    """The response to a request."""

    def __init__(self, body: ResponseRequest) -> None:
        super().__init__(body.model, ReplyOptions(1, 1), "resp", ("response", "response"), "_")
        self._shows_reasoning = bool(body.reasoning and body.reasoning.summary)
        self._echo = _echo(body)
        self._items: list[Item] = []
        self._sequence = 0

    def whole(self, finished: Sequence[Finished]) -> ResponseObject:
        """See `Reply.whole`."""
        (one,) = finished
        if one.answer.reasoning:
            self._reason(one.answer.reasoning)
        self._finish(one)
        return self._ended(one)

    def begin(self) -> list[Chunk]:
        """See `Reply.begin`."""
        made = self._object("in_progress")
        kinds = ("response.created", "response.in_progress")
        return [self._event(kind, response=made) for kind in kinds]

    def chunks(self, index: int, event: Event) -> list[Chunk]:
        """See `Reply.chunks`."""
        match event:
            case Reasoned(text):
                return self._reason(text)
            case TextDelta(text):
                return self._write(text)
            case Finished():
                chunks = self._finish(event)
                made = self._ended(event)
                return [*chunks, self._event(f"response.{made['status']}", response=made)]
            case _:
                return []

    def end(self) -> list[Chunk]:
        """See `Reply.end`; nothing follows the event of the answer's end."""
        return []

    def failure(self, error: ApiError) -> Chunk:
        """See `Reply.failure`."""
        told = renamed(error).body()["error"]
        fields = {"code": told["code"], "message": told["message"], "param": told["param"]}
        return self._event("error", **fields)

    @property
    def done(self) -> bytes:
        """See `Reply.done`."""
        return b""

    def _reason(self, text: str) -> list[Chunk]:
        if not self._shows_reasoning:
            return []
        summary = [{"type": "summary_text", "text": text}]
        return self._item("rs", {"type": "reasoning", "summary": summary})

    def _write(self, text: str) -> list[Chunk]:
        chunks = []
        if not self._items or self._items[-1]["type"] != "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            message = {"type": "message", "role": "assistant", "status": "in_progress"}
            self._items.append({"id": _id("msg"), **message, "content": [part]})
            added = {**self._items[-1], "content": []}
            chunks = [
                self._event("response.output_item.added", **self._at(), item=added),
                self._event("response.content_part.added", **self._in_text(), part=dict(part)),
            ]
        self._items[-1]["content"][0]["text"] += text
        delta = {**self._in_text(), "delta": text, "logprobs": []}
        return [*chunks, self._event("response.output_text.delta", **delta)]

    def _finish(self, finished: Finished) -> list[Chunk]:
        chunks: list[Chunk] = []
        answer = finished.answer
        written = bool(self._items) and self._items[-1]["type"] == "message"
        if not written and (answer.content or not answer.calls):
            chunks, written = self._write(answer.content), True
        if written:
            item = self._items[-1]
            item["status"] = "incomplete" if finished.reason == "length" else "completed"
            (part,) = item["content"]
            text = {"text": part["text"], "logprobs": []}
            chunks += [
                self._event("response.output_text.done", **self._in_text(), **text),
                self._event("response.content_part.done", **self._in_text(), part=dict(part)),
                self._event("response.output_item.done", **self._at(), item=dict(item)),
            ]
        for call in answer.calls:
            made = new_call(call)
            named = {"call_id": made["id"], "name": call.name, "status": "completed"}
            arguments = made["function"]["arguments"]
            item = {"type": "function_call", **named, "arguments": arguments}
            chunks += self._item("fc", item)
        return chunks

    def _item(self, prefix: str, item: Item) -> list[Chunk]:
        """Add an item that is complete at once, and return its events."""
        item = {"id": _id(prefix), **item}
        self._items.append(item)
        if item["type"] != "function_call":
            kinds = ("response.output_item.added", "response.output_item.done")
            return [self._event(kind, **self._at(), item=item) for kind in kinds]
        begun = {**item, "arguments": "", "status": "in_progress"}
        at = {**self._at(), "item_id": item["id"]}
        arguments = {"arguments": item["arguments"], "name": item["name"]}
        events = (
            ("response.output_item.added", {**self._at(), "item": begun}),
            ("response.function_call_arguments.delta", {**at, "delta": item["arguments"]}),
            ("response.function_call_arguments.done", {**at, **arguments}),
            ("response.output_item.done", {**self._at(), "item": item}),
        )
        return [self._event(kind, **fields) for kind, fields in events]

    def _at(self) -> dict[str, Any]:
        return {"output_index": len(self._items) - 1}

    def _in_text(self) -> dict[str, Any]:
        return {**self._at(), "item_id": self._items[-1]["id"], "content_index": 0}

    def _event(self, kind: str, **fields: Any) -> Chunk:
        self._sequence += 1
        return {"type": kind, "sequence_number": self._sequence - 1, **fields}

    def _ended(self, finished: Finished) -> ResponseObject:
        if finished.reason == "length":
            details: IncompleteDetails = {"reason": "max_output_tokens"}
            return self._object("incomplete", finished.usage, details)
        return self._object("completed", finished.usage)

    def _object(
        self,
        status: Literal["in_progress", "completed", "incomplete"],
        usage: Usage | None = None,
        details: IncompleteDetails | None = None,
    ) -> ResponseObject:
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": [dict(item) for item in self._items],
            "incomplete_details": details,
            "usage": _usage(usage) if usage else None,
            **self._echo,  # type: ignore[typeddict-item]
        }


def _id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def _usage(usage: Usage) -> dict[str, Any]:
    told = usage_body([usage], 1)
    return {
        "input_tokens": told["prompt_tokens"],
        "input_tokens_details": {
            "cached_tokens": told["cached_input_tokens"],
            "cache_write_tokens": 0,
        },
        "output_tokens": told["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": told["reasoning_tokens"]},
        "total_tokens": told["total_tokens"],
    }


def _echo(body: ResponseRequest) -> Mapping[str, Any]:
    """The fields of a response that repeat its request."""
    choice = body.tool_choice
    text, reasoning = body.text, body.reasoning
    metadata = (body.model_extra or {}).get("metadata")
    return {
        "error": None,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "previous_response_id": None,
        "reasoning": reasoning.model_dump() if reasoning else {"effort": None, "summary": None},
        "store": False,
        "temperature": body.temperature or 0.0,
        "text": {"format": {"type": "text"}}
        | (text.model_dump(by_alias=True, exclude_none=True) if text else {}),
        "tool_choice": choice.model_dump()
        if choice and not isinstance(choice, str)
        else choice or "auto",
        "tools": [tool.model_dump() for tool in body.tools or ()],
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "truncation": "disabled",
        "metadata": metadata if isinstance(metadata, dict) else {},
    }
