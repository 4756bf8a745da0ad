"""Text and calls as different servers stream them, in the client library's own types."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from voice.llm.base import MalformedAnswer
from voice.llm.openai_stream import AnswerCalls, AnswerText, without_surrogates
from voice.types import ToolCall, ToolSpec


def _words(*contents: Any) -> str:
    text = AnswerText()
    words = "".join(text.push(content) for content in contents) + text.flush()
    assert text.any is bool(words)
    return words


@pytest.mark.parametrize("size", [1, 5, 100])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<think>Hm, <b>.</think>\n\nYes, 2 < 3.", "Yes, 2 < 3."),
        ("\n<think>\n\n</think>\n\nYes.", "Yes."),
        ("<think>Hm, I should", ""),
        ("<thin", "<thin"),
        ("Say <think>this</think>.", "Say <think>this</think>."),
        ("\n", ""),
    ],
)
def test_a_thought_before_the_answer_is_not_said(content: str, words: str, size: int) -> None:
    assert _words(*(content[at : at + size] for at in range(0, len(content), size))) == words


def test_parts_are_joined_and_thoughts_among_them_are_not_said() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    assert _words([thought], [{"type": "text", "text": "Yes"}], None, "", ".") == "Yes."


def test_halves_of_a_character_are_joined_or_replaced() -> None:
    assert _words("a\ud83d", "\ude00b") == "a😀b"
    assert _words("a\ud83d", "b") == "a�b"
    assert _words("\ud83d") == "�"
    assert without_surrogates("a\ud83d\ude00b\udc00") == "a😀b�"


TIMER = ToolSpec("set_timer", "Start a timer.", {"type": "object"})
CLOCK = ToolSpec("get_time", "Tell the time.", {"type": "object"})


def _fragment(
    index: int | None, call_id: str | None, name: str | None, arguments: Any
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    given = {"index": index, "id": call_id, "function": function}
    return {key: value for key, value in given.items() if value is not None}


def _made(*fragments: dict[str, Any], whole: bool = True) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in _calls(*fragments, whole=whole)]


def _calls(*fragments: dict[str, Any], whole: bool = True) -> tuple[ToolCall, ...]:
    calls = AnswerCalls()
    for fragment in fragments:
        delta = {"tool_calls": [fragment]}
        chunk = ChatCompletionChunk.construct(choices=[{"index": 0, "delta": delta}])
        for one in chunk.choices[0].delta.tool_calls or ():
            calls.add(one)
    return calls.finish((TIMER, CLOCK), whole)


def test_interleaved_fragments_find_their_calls() -> None:
    assert _made(
        _fragment(0, "a", "set_timer", ""),
        _fragment(1, "b", "get_time", "{"),
        _fragment(0, None, None, '{"duration": '),
        _fragment(1, None, None, "}"),
        _fragment(0, None, None, '"a day"}'),
    ) == [("set_timer", {"duration": "a day"}), ("get_time", {})]


@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize("ids", [("a", "b"), (None, None)])
def test_two_calls_with_one_index_or_none_are_two(
    index: int | None, ids: tuple[str | None, str | None]
) -> None:
    assert _made(
        _fragment(index, ids[0], "set_timer", '{"duration": "a day"}'),
        _fragment(index, ids[1], "get_time", "{}"),
    ) == [("set_timer", {"duration": "a day"}), ("get_time", {})]


def test_fragments_without_an_index_go_on_with_the_last_call() -> None:
    assert _made(
        _fragment(None, "a", "get_time", "{}"),
        _fragment(None, "b", "set_timer", ""),
        _fragment(None, None, None, '{"duration": "a day"}'),
    ) == [("get_time", {}), ("set_timer", {"duration": "a day"})]


@pytest.mark.parametrize("call_id", ["a", None])
def test_a_name_in_each_fragment_is_one_name(call_id: str | None) -> None:
    assert _made(
        _fragment(0, call_id, "set_timer", '{"duration":'),
        _fragment(0, call_id, "set_timer", ' "a day"}'),
        _fragment(0, call_id, "set_timer", ""),
    ) == [("set_timer", {"duration": "a day"})]
    pieces = _fragment(0, call_id, "set_", None), _fragment(0, None, "timer", "{}")
    assert _made(*pieces) == [("set_timer", {})]


@pytest.mark.parametrize("arguments", [None, " ", "null", {}])
def test_a_call_without_arguments(arguments: Any) -> None:
    assert _made(_fragment(0, "a", "get_time", arguments)) == [("get_time", {})]


def test_arguments_may_come_as_an_object_or_hold_a_bare_line_end() -> None:
    assert _made(_fragment(0, "a", "set_timer", {"duration": "a day"})) == [
        ("set_timer", {"duration": "a day"})
    ]
    assert _made(_fragment(0, "a", "set_timer", '{"duration": "a\nday"}')) == [
        ("set_timer", {"duration": "a\nday"})
    ]
    assert _made(_fragment(0, "a", "set_timer", r'{"duration": "\ud83d"}')) == [
        ("set_timer", {"duration": "�"})
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"duration": NaN}',
        '{"duration": 1e999}',
        f'{{"duration": {"1" * 5000}}}',
        "[" * 100_000,
        '{"duration": "a day"}\n```',
        "[1]",
    ],
)
def test_arguments_that_are_no_object_of_json_are_told_apart(arguments: str) -> None:
    with pytest.raises(MalformedAnswer, match="set_timer: arguments are no"):
        _made(_fragment(0, "a", "set_timer", arguments))


def test_a_call_that_broke_off_before_its_arguments_is_not_made() -> None:
    begun = _fragment(0, "a", "set_timer", "")
    assert _made(begun, whole=True) == [("set_timer", {})]
    with pytest.raises(MalformedAnswer):
        _made(begun, whole=False)


@pytest.mark.parametrize("name", ["launch", None])
def test_a_tool_that_does_not_exist_is_told_apart(name: str | None) -> None:
    with pytest.raises(MalformedAnswer, match=r"expected one of \['set_timer', 'get_time'\]"):
        _made(_fragment(0, "a", name, "{}"))
