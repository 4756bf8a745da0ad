import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from dlm.engine.request import Finished, Usage
from dlm.language.messages import Answer, Call
from dlm.server.replies import (
    Choice,
    Head,
    ReasoningSummary,
    UsageBody,
    choice_of,
    finish_reason,
    new_call,
    summary_of,
    text_choice,
    usage_body,
)

COST = Usage(10, 4, 6, 3, steps=2, kept=5)


def finished(content: str = "", *calls: Call, reason: str = "stop") -> Finished:
    return Finished(Answer(content, calls), reason, COST)


def test_a_head_is_shared_and_its_id_is_not() -> None:
    head = Head("chatcmpl", "m")
    assert head.fields("x") == {"id": head.id, "object": "x", "created": head.created, "model": "m"}
    assert head.id.startswith("chatcmpl-")
    assert Head("chatcmpl", "m").id != head.id


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
    choice = choice_of(1, answer)
    assert TypeAdapter(Choice).validate_python(choice, strict=True) == choice
    assert (choice["index"], choice["finish_reason"]) == (1, reason)


def test_content_is_null_only_beside_calls() -> None:
    assert choice_of(0, finished(""))["message"]["content"] == ""
    assert choice_of(0, finished("", Call("f", {})))["message"]["content"] is None
    both = choice_of(0, finished("Sure.", Call("f", {"a": 1})))["message"]
    assert both["content"] == "Sure."
    assert json.loads(both["tool_calls"][0]["function"]["arguments"]) == {"a": 1}
    assert "tool_calls" not in choice_of(0, finished("hello"))["message"]


def test_usage_in_both_shapes() -> None:
    usage = usage_body([COST, COST], each=2)
    assert TypeAdapter(UsageBody).validate_python(usage, strict=True) == usage
    assert usage["prompt_tokens"] == 10
    assert usage["completion_tokens"] == 12
    assert usage["total_tokens"] == 22
    assert usage["cached_input_tokens"] == usage["prompt_tokens_details"]["cached_tokens"] == 4
    assert (usage["steps"], usage["forwards"], usage["tokens_per_forward"]) == (4, 6, 2.0)
    assert usage["completion_tokens_details"]["rejected_prediction_tokens"] == 0


def test_thoughts_are_counted_in_both_shapes_and_revise_nothing() -> None:
    cost = replace(COST, answer_tokens=20, reasoning_tokens=9)
    usage = usage_body([cost, COST], each=2, predicted=True)
    details = usage["completion_tokens_details"]
    assert usage["reasoning_tokens"] == details["reasoning_tokens"] == 9
    assert usage["completion_tokens"] == 26
    assert details["rejected_prediction_tokens"] == 26 - 9 - 10


def test_a_thought_is_told_whole() -> None:
    made = summary_of("the user says hello.")
    assert TypeAdapter(ReasoningSummary).validate_python(made, strict=True) == made
    assert made["status"] == "complete"


def test_each_prompt_counts_once() -> None:
    assert usage_body([COST] * 4, each=2)["prompt_tokens"] == 20


def test_what_stands_of_a_prediction() -> None:
    details = usage_body([COST], 1, predicted=True)["completion_tokens_details"]
    assert details["accepted_prediction_tokens"] == 5
    assert details["rejected_prediction_tokens"] == 1


def test_a_text() -> None:
    assert text_choice(2, "x", None) == {
        "index": 2,
        "text": "x",
        "finish_reason": None,
        "logprobs": None,
    }
