"""Answers as JSON objects, whole and in chunks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from dlm.engine.request import Event, Finished, Reasoned, Snapshot, TextDelta, Usage
from dlm.language.messages import Answer, Call
from dlm.server.responses import (
    ChatReply,
    Choice,
    ReasoningSummary,
    Reply,
    ReplyOptions,
    UsageBody,
    usage_body,
)

COST = Usage(10, 4, 6, 3, steps=2, kept=5)


def finished(content: str = "", *calls: Call, reason: str = "stop") -> Finished:
    return Finished(Answer(content, calls), reason, COST)


def choice_of(answer: Finished) -> Choice:
    return ChatReply("m", ReplyOptions(1, 1)).whole([answer])["choices"][0]


def test_the_whole_reply_and_its_chunks_share_an_id() -> None:
    reply = ChatReply("m", ReplyOptions(1, 1))
    whole = reply.whole([finished("hello")])
    (chunk,) = reply.begin()
    assert {name: whole[name] for name in ("id", "created", "model")} == {
        name: chunk[name] for name in ("id", "created", "model")
    }
    assert whole["id"].startswith("chatcmpl-")
    assert whole["id"] != ChatReply("m", ReplyOptions(1, 1)).whole([finished("hello")])["id"]


def test_content_is_null_only_beside_calls() -> None:
    assert choice_of(finished(""))["message"]["content"] == ""
    assert choice_of(finished("", Call("f", {})))["message"]["content"] is None
    both = choice_of(finished("Sure.", Call("f", {"a": 1})))["message"]
    assert both["content"] == "Sure."
    assert json.loads(both["tool_calls"][0]["function"]["arguments"]) == {"a": 1}
    assert "tool_calls" not in choice_of(finished("hello"))["message"]


def test_usage_in_both_shapes() -> None:
    usage = usage_body([COST, COST], per_prompt=2)
    assert TypeAdapter(UsageBody).validate_python(usage, strict=True) == usage
    assert usage["prompt_tokens"] == 10
    assert usage["completion_tokens"] == 12
    assert usage["total_tokens"] == 22
    assert usage["cached_input_tokens"] == usage["prompt_tokens_details"]["cached_tokens"] == 4
    assert (usage["steps"], usage["forwards"], usage["tokens_per_forward"]) == (4, 6, 2.0)
    assert usage["completion_tokens_details"]["rejected_prediction_tokens"] == 0
    assert usage_body([COST] * 4, per_prompt=2)["prompt_tokens"] == 20


def test_reasoning_is_no_part_of_a_revised_prediction() -> None:
    cost = replace(COST, answer_tokens=20, reasoning_tokens=9)
    usage = usage_body([cost, COST], per_prompt=2, predicted=True)
    details = usage["completion_tokens_details"]
    assert usage["reasoning_tokens"] == details["reasoning_tokens"] == 9
    assert usage["completion_tokens"] == 26
    assert details["rejected_prediction_tokens"] == 26 - 9 - 10


NONE: ReasoningSummary = {"content": None, "status": "skipped"}
ANSWER: list[Event] = [
    TextDelta("Hel"),
    Snapshot("Hel░░", 2),
    TextDelta("lo"),
    Finished(Answer("Hello", ()), "stop", COST),
]
CALLS = (Call("f", {"a": "é"}), Call("g", {}))


def streamed(stream: Reply, *events: Event) -> list[dict[str, Any]]:
    chunks = stream.begin()
    for event in events:
        chunks += stream.chunks(0, event)
    return [*chunks, *stream.end()]


def chat(*events: Event, **plan: Any) -> list[dict[str, Any]]:
    return streamed(ChatReply("m", ReplyOptions(1, 1, **plan)), *events)


def test_an_answer_in_pieces() -> None:
    chunks = chat(*ANSWER)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert [delta.get("role") for delta in deltas] == ["assistant", None, None, None]
    assert "".join(delta.get("content", "") for delta in deltas) == "Hello"
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons == [None, None, None, "stop"]
    shared = {(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in chunks}
    assert len(shared) == 1
    assert not any("usage" in chunk for chunk in chunks)


def test_the_cost_comes_last_and_alone() -> None:
    *chunks, last = chat(*ANSWER, usage=True)
    assert all(chunk["usage"] is None for chunk in chunks)
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 6


def test_calls_come_one_after_the_other() -> None:
    chunks = chat(TextDelta("Sure."), Finished(Answer("Sure.", CALLS), "stop", COST))
    parts = [
        call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert [part["index"] for part in parts] == [0, 0, 1, 1]
    for first, rest in (parts[:2], parts[2:]):
        assert first["type"] == "function"
        assert first["id"].startswith("call_")
        assert first["function"]["arguments"] == ""
        assert rest.keys() == {"index", "function"}
        assert rest["function"].keys() == {"arguments"}
    assert [part["function"].get("name") for part in parts] == ["f", None, "g", None]
    assert json.loads(parts[1]["function"]["arguments"]) == {"a": "é"}
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_snapshots_replace_each_other() -> None:
    chunks = chat(*ANSWER, diffusing=True)
    contents = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
    assert contents == ["Hel░░", "Hello", None]
    progress = [chunk["diffusion_meta"]["diffusion_progress"] for chunk in chunks[:-1]]
    assert progress == [0.6, 1.0]


def test_a_thought_is_told_of_before_the_answer_and_at_its_end() -> None:
    events = [Reasoned("the user says hello."), *ANSWER]
    chunks = chat(*events, summary=NONE)
    told = {"content": "the user says hello.", "status": "complete"}
    assert [chunk.get("reasoning_summary") for chunk in chunks] == [None, told, None, None, told]
    assert chunks[1]["choices"][0]["delta"] == {}
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content", "") for delta in deltas) == "Hello"
    snapshots = chat(*events, summary=NONE, diffusing=True)
    assert [chunk["reasoning_summary"] for chunk in snapshots] == [told] * 3
    assert not any("reasoning_summary" in chunk for chunk in chat(*events))
