import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from dlm.engine.request import Finished, Usage
from dlm.language.messages import Answer, Call
from dlm.server.responses import (
    ChatReply,
    Choice,
    ReplyOptions,
    UsageBody,
    finish_reason,
    new_call,
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


def test_arguments_are_json_text() -> None:
    made = new_call(Call("f", {"a": "é", "b": [1, None]}))
    assert made["function"] == {"name": "f", "arguments": '{"a": "é", "b": [1, null]}'}
    assert new_call(Call("f", {}))["id"] != made["id"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (finished("hello"), "stop"),
        (finished("hello", reason="length"), "length"),
        (finished("", Call("f", {})), "tool_calls"),
    ],
)
def test_why_an_answer_ended(answer: Finished, reason: str) -> None:
    assert finish_reason(answer) == reason
    choice = choice_of(answer)
    assert TypeAdapter(Choice).validate_python(choice, strict=True) == choice
    assert (choice["index"], choice["finish_reason"]) == (0, reason)


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


def test_thoughts_are_counted_in_both_shapes_and_revise_nothing() -> None:
    cost = replace(COST, answer_tokens=20, reasoning_tokens=9)
    usage = usage_body([cost, COST], per_prompt=2, predicted=True)
    details = usage["completion_tokens_details"]
    assert usage["reasoning_tokens"] == details["reasoning_tokens"] == 9
    assert usage["completion_tokens"] == 26
    assert details["rejected_prediction_tokens"] == 26 - 9 - 10


def test_each_prompt_counts_once() -> None:
    assert usage_body([COST] * 4, per_prompt=2)["prompt_tokens"] == 20


def test_what_stands_of_a_prediction() -> None:
    details = usage_body([COST], 1, predicted=True)["completion_tokens_details"]
    assert details["accepted_prediction_tokens"] == 5
    assert details["rejected_prediction_tokens"] == 1
