from __future__ import annotations

import json
from typing import Any

from dlm.engine.request import Event, Finished, Reasoned, Snapshot, TextDelta, Usage
from dlm.language.messages import Answer, Call
from dlm.server.responses import ChatReply, ReasoningSummary, Reply, ReplyOptions, TextReply, sse

COST = Usage(10, 0, 6, 3, steps=2)
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


def test_an_event_is_one_line_of_json() -> None:
    assert sse({"a": "é\n"}) == b'data: {"a": "\xc3\xa9\\n"}\n\n'


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


def test_the_reasoning_is_told_of_at_the_end() -> None:
    chunks = chat(*ANSWER, summary=NONE)
    assert [("reasoning_summary" in chunk) for chunk in chunks] == [False, False, False, True]


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


def test_a_text_in_pieces() -> None:
    chunks = streamed(TextReply("m", ReplyOptions(1, 1, usage=True)), *ANSWER)
    assert [chunk["choices"][0]["text"] for chunk in chunks[:-1]] == ["Hel", "lo", ""]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["prompt_tokens"] == 10
    assert {chunk["object"] for chunk in chunks} == {"text_completion"}
    assert "usage" not in streamed(TextReply("m", ReplyOptions(1, 1)), *ANSWER)[0]
