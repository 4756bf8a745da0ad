"""Dialogues of a user's own are read, refused with their line, and surveyed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlm.datagen.examples import FEW_REQUESTS, MOST_TOOLS, ExampleError, read, row_of, survey
from dlm.server.bodies import ChatRequest, parsed
from dlm.server.conversion import chat_requests
from dlm.train.data import encode_row
from examples.fine_tuning.watering import lines
from tests.dlm.tiny import template

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "show": {"type": "string"},
        "count": {"type": "integer"},
        "row": {"type": "string", "enum": ["front", "back"]},
    },
    "required": ["show"],
}
BOOKING = {"name": "book_seats", "description": "Book seats.", "parameters": SCHEMA}
SEATS = {"type": "function", "function": BOOKING}


def call(identity: str = "c1", **changes: Any) -> dict[str, Any]:
    function = {"name": "book_seats", "arguments": '{"show": "hamlet", "count": 2}'} | changes
    return {"id": identity, "type": "function", "function": function}


def line(**changes: Any) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "two seats for hamlet"},
            {"role": "assistant", "content": None, "tool_calls": [call()]},
            {"role": "tool", "tool_call_id": "c1", "content": "Booked."},
            {"role": "assistant", "content": "Booked."},
        ],
        "tools": [SEATS],
    } | changes


def test_a_dialogue_is_read() -> None:
    function = SEATS["function"]
    assert row_of(line()) == {
        "system": "Be brief.",
        "tools": [function],
        "messages": [
            {"role": "user", "content": "two seats for hamlet"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"name": "book_seats", "arguments": {"show": "hamlet", "count": 2}}],
            },
            {"role": "tool", "content": "Booked."},
            {"role": "assistant", "content": "Booked.", "tool_calls": []},
        ],
    }


def test_calls_may_be_parallel_and_answered_in_any_order() -> None:
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "two shows"},
        {"role": "assistant", "content": "Yes.", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "b", "content": "One."},
        {"role": "tool", "tool_call_id": "a", "content": "Two."},
    ]
    row = row_of({"messages": messages, "tools": [SEATS], "parallel_tool_calls": True})
    assert row["system"] == "Be brief."
    assert len(row["messages"][1]["tool_calls"]) == 2
    # The model is shown results in the order of the calls, whoever asks it.
    results = [{"role": "tool", "content": "Two."}, {"role": "tool", "content": "One."}]
    assert row["messages"][2:] == results


def test_a_dialogue_may_have_no_tools_and_no_instructions() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
    assert row_of({"messages": messages})["tools"] == []


@pytest.mark.parametrize("nothing", [None, "", " \n", []])
def test_beside_calls_there_may_be_no_text(nothing: Any) -> None:
    made = edited(lambda m: m["messages"][2].update(content=nothing))
    assert row_of(made) == row_of(line())


def test_what_is_null_is_not_given() -> None:
    function = {"name": "stop", "description": None, "parameters": None}
    bare = {"type": "function", "function": function}
    hello = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hi.", "weight": None},
    ]
    row = row_of({"messages": hello, "tools": [bare], "parallel_tool_calls": None})
    assert row["tools"] == [
        {"name": "stop", "description": "", "parameters": {"type": "object", "properties": {}}}
    ]
    assert row_of({"messages": hello, "tools": None})["tools"] == []


def test_a_day_is_a_string_as_everywhere() -> None:
    schema = SCHEMA | {"properties": {"show": {"type": "string", "format": "date"}}}
    tools = [{"type": "function", "function": BOOKING | {"parameters": schema}}]
    turn = {"role": "assistant", "tool_calls": [call(arguments='{"show": "2024-03-12"}')]}
    row = row_of({"tools": tools, "messages": [{"role": "user", "content": "on 2024-03-12"}, turn]})
    assert row["messages"][1]["tool_calls"][0]["arguments"] == {"show": "2024-03-12"}


def test_parts_of_a_text_are_joined_as_a_server_joins_them() -> None:
    parts = [{"type": "text", "text": "two seats"}, {"type": "text", "text": "for hamlet"}]
    made = edited(lambda m: m["messages"][1].update(content=parts))
    body = json.dumps({"model": "m", "messages": made["messages"]}).encode()
    (request,) = chat_requests(parsed(ChatRequest, body))
    assert row_of(made)["messages"][0]["content"] == request.turns[1].content


def test_an_argument_that_may_be_null_may_be_null() -> None:
    """Strict tools name every parameter as required, and give null for what was not said."""
    made = edited(lambda m: function_of(m).update(arguments='{"show": "hamlet", "row": null}'))
    parameters = made["tools"][0]["function"]["parameters"]
    parameters["properties"]["row"] = {"type": ["string", "null"]}
    parameters["required"] = ["show", "row"]
    with_null = row_of(made)
    assert with_null["messages"][1]["tool_calls"][0]["arguments"]["row"] is None
    function_of(made)["arguments"] = '{"show": "hamlet"}'
    encoded = [encode_row(template(), row) for row in (with_null, row_of(made))]
    assert encoded[0] == encoded[1]
    function_of(made)["arguments"] = '{"show": null}'
    with pytest.raises(ValueError, match=r"show: got None, which does not fit its schema"):
        row_of(made)


def edited(edit: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    made = copy.deepcopy(line())
    edit(made)
    return made


def function_of(made: dict[str, Any]) -> dict[str, Any]:
    return made["messages"][2]["tool_calls"][0]["function"]  # type: ignore[no-any-return]


def message(index: int, **changes: Any) -> dict[str, Any]:
    return edited(lambda m: m["messages"][index].update(changes))


def function(**changes: Any) -> dict[str, Any]:
    return edited(lambda m: function_of(m).update(changes))


def tool(**changes: Any) -> dict[str, Any]:
    return edited(lambda m: m["tools"][0]["function"].update(changes))


def declared(**properties: Any) -> dict[str, Any]:
    return tool(parameters=SCHEMA | {"properties": SCHEMA["properties"] | properties})


WRONG: list[tuple[Any, str]] = [
    ([1], r"got a list, expected an object with messages"),
    (line(message=[]), r"got key 'message', expected messages"),
    (line(parallel_tool_calls="no"), r"parallel_tool_calls: expected true or false"),
    (line(messages=None), r"messages: got nothing, expected a list"),
    (line(messages=[]), r"messages: got a list, expected a list that is not empty"),
    (line(messages=["hi"]), r"messages\[0\]: got a text, expected an object"),
    (line(tools={}), r"tools: got an object, expected a list"),
    (line(tools=[SEATS["function"]]), r'tools\[0\]: expected \{"type": "function"'),
    (line(tools=[{"type": "function"}]), r"tools\[0\].function: got nothing, expected an object"),
    (line(tools=[SEATS, SEATS]), r"tools\[1\].function.name: 'book_seats' is there twice"),
    (tool(name=""), r"tools\[0\].function.name: got an empty text"),
    (
        tool(parameters={"type": "array"}),
        r"tools\[0\].function.parameters: expected a schema of type object",
    ),
    (declared(show=3), r"tools\[0\].function.parameters.properties.show: got no JSON schema"),
    (tool(description=3), r"tools\[0\].function.description: expected a text"),
    (
        message(1, role="bot"),
        r"messages\[1\].role: got 'bot', expected one of system, developer, user, assistant, tool",
    ),
    (
        message(1, content=""),
        r"messages\[1\].content: got an empty text, expected a text that is not empty",
    ),
    (message(1, content=[{"type": "image"}]), r"messages\[1\].content\[0\].text: got nothing"),
    (
        edited(lambda m: m["messages"].insert(2, {"role": "system", "content": "x"})),
        r"messages\[2\]: a system message must come first",
    ),
    (
        edited(lambda m: m["messages"].append({"role": "assistant", "content": "x"})),
        r"messages\[5\]: two assistant messages in a row",
    ),
    (message(4, content="", tool_calls=[]), r"messages\[4\].content: got an empty text"),
    (message(4, content=None), r"messages\[4\].content: got nothing"),
    (message(2, tool_calls={"id": 1}), r"messages\[2\].tool_calls: got an object, expected a list"),
    (
        edited(lambda m: m["messages"][2]["tool_calls"][0].update(type="tool")),
        r"messages\[2\].tool_calls\[0\].type: got 'tool', expected 'function'",
    ),
    (
        edited(lambda m: m["messages"][2]["tool_calls"][0].pop("id")),
        r"messages\[2\].tool_calls\[0\].id: got nothing",
    ),
    (
        edited(lambda m: m["messages"][2]["tool_calls"].append(call())),
        r"messages\[2\].tool_calls\[1\].id: 'c1' is there twice",
    ),
    (
        {
            **edited(lambda m: m["messages"][2]["tool_calls"].append(call("c2"))),
            "parallel_tool_calls": False,
        },
        r"messages\[2\]: got 2 calls though parallel_tool_calls is false",
    ),
    (
        function(name="book"),
        r"tool_calls\[0\].function.name: got 'book', expected one of \['book_seats'\]",
    ),
    (
        function(arguments={"show": "x"}),
        r"function.arguments: got an object, expected the JSON text of an object",
    ),
    (function(arguments="{show}"), r"function.arguments: not JSON: "),
    (function(arguments="[1]"), r"function.arguments: got a list, expected an object"),
    (
        function(arguments='{"show": "x", "seat": 1}'),
        r"function.arguments: got 'seat', expected of \['show', 'count', 'row'\]",
    ),
    (function(arguments='{"count": 1}'), r"function.arguments: 'show' is missing"),
    (
        function(arguments='{"show": "x", "count": "two"}'),
        r"function.arguments.count: got '?\"?two",
    ),
    (
        function(arguments='{"show": "x", "row": "side"}'),
        r"function.arguments.row: got 'side', expected one of \['front', 'back'\]",
    ),
    (
        function(arguments='{"show": 3}'),
        r"function.arguments.show: got 3, which does not fit its schema",
    ),
    (
        edited(lambda m: m.pop("tools")),
        r"function.name: got 'book_seats', expected tools to be declared",
    ),
    (
        declared(show={"type": "strng"}),
        r"parameters.properties.show.type: got 'strng', expected one of string, integer",
    ),
    (message(2, weight=2), r"messages\[2\].weight: got 2, expected 0 or 1"),
    (
        message(4, function_call={"name": "book_seats"}),
        r"messages\[4\]: got key 'function_call', expected content, name, role, tool_calls, weight",
    ),
    (
        message(1, tool_calls=[call()]),
        r"messages\[1\]: got key 'tool_calls', expected content, name, role",
    ),
    (message(3, tool_call_id="c9"), r"messages\[3\].tool_call_id: 'c9' answers no call before it"),
    (
        edited(lambda m: m["messages"][3].pop("tool_call_id")),
        r"messages\[3\].tool_call_id: got nothing",
    ),
    (edited(lambda m: m["messages"].pop(3)), r"messages\[3\]: expected the results of calls c1"),
    (line(messages=[{"role": "user", "content": "hi"}]), r"at least one of role assistant"),
    (message(1, content="two \ud83d"), r"got \\ud83d alone, expected both halves of a character"),
    (
        function(arguments=r'{"show": "\uDE00"}'),
        r"function.arguments: got \\ude00 alone, expected both halves of a character",
    ),
    (
        function(arguments='{"show": ' + "[" * 99_999),
        r"function.arguments: not JSON: objects and lists too deep in one another",
    ),
    (
        tool(parameters=SCHEMA | {"required": None}),
        r"tools\[0\].function.parameters.required: got None, expected names of properties",
    ),
    (
        declared(row={"type": "string", "enum": None}),
        r"parameters.properties.row.enum: got None, expected a list of values",
    ),
]


@pytest.mark.parametrize(("wrong", "told"), WRONG)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, wrong: Any, told: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{json.dumps(line())}\n\n{json.dumps(wrong)}\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=rf"mine.jsonl:3: .*{told}"):
        read(file)


def test_a_line_that_is_no_json_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{json.dumps(line())}\n{{'messages'\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"mine.jsonl:2: not JSON: Expecting .* at character 2;"):
        read(file)


def test_all_that_is_wrong_is_told_up_to_ten_lines(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("[1]\n" * 11, encoding="utf-8")
    with pytest.raises(ExampleError) as told:
        read(file)
    faults = str(told.value).splitlines()
    assert len(faults) == 11
    assert faults[9].startswith(f"{file}:10: got a list")
    assert faults[10] == "and 1 more"


def test_a_line_in_another_encoding_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    text = json.dumps({"messages": [{"role": "user", "content": "café"}]}, ensure_ascii=False)
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ExampleError, match=r"mine.jsonl:1: not UTF-8: .* at byte 47"):
        read(file)


def test_what_editors_and_other_programs_write_is_read(tmp_path: Path) -> None:
    """A byte order mark, ends of lines with a carriage return, a line separator inside a text."""
    said = {"role": "user", "content": "hi\u2028there", "name": "anna"}
    answer = {
        "role": "assistant",
        "content": "Hello.",
        "refusal": None,
        "tool_calls": [],
        "weight": 1,
    }
    text = json.dumps({"messages": [said, answer]}, ensure_ascii=False)
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + f"{text}\r\n\r\n{text}\r\n".encode())
    rows = read(file)
    assert [row["line"] for row in rows] == [1, 3]
    assert rows[1]["messages"][0]["content"] == "hi\u2028there"


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("\n\n", encoding="utf-8")
    with pytest.raises(ExampleError, match="no dialogues"):
        read(file)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "other.jsonl")


def test_the_example_in_the_documentation_is_right(repo_root: Path) -> None:
    text = (repo_root / "docs" / "fine-tuning.md").read_text(encoding="utf-8")
    row = row_of(json.loads(text.split("```json")[1].split("```")[0]))
    assert row["messages"][1]["tool_calls"][0]["arguments"]["plants"] == "roses"


FILE = Path("somewhere/mine.jsonl")
DECLARED = {
    "name": "book_seats",
    "description": "Book seats.",
    "parameters": {
        "type": "object",
        "properties": {
            "show": {"type": "string"},
            "count": {"type": "integer"},
            "row": {"type": "string", "enum": ["front", "back"]},
        },
    },
}

Row = dict[str, Any]


def dialogue(line: int, said: str, **arguments: Any) -> Row:
    calls = [{"name": "book_seats", "arguments": arguments}] if arguments else []
    answer = {"role": "assistant", "content": "" if calls else "Hello.", "tool_calls": calls}
    messages = [{"role": "user", "content": said}, answer]
    return {"system": "", "tools": [DECLARED], "messages": messages, "line": line}


def plenty() -> list[Row]:
    """Nothing to warn of."""
    rows = [dialogue(i, f"seats for show {i}", show=f"show {i}") for i in range(1, FEW_REQUESTS)]
    return [*rows, dialogue(FEW_REQUESTS, "i love the theatre")]


def said(rows: list[Row], max_length: int = 99) -> list[str]:
    return survey(FILE, rows, lambda row: len(row["messages"][0]["content"]), max_length)


def test_good_data_are_told_in_one_sentence() -> None:
    assert said(plenty()) == ["mine.jsonl: 40 dialogues; calls of book_seats 39"]


def test_a_tool_that_is_never_called_is_told_as_well() -> None:
    quiet = [dialogue(i, f"hello number {i}") for i in range(FEW_REQUESTS)]
    assert said(quiet) == ["mine.jsonl: 40 dialogues; calls of book_seats 0"]
    bare = [row | {"tools": []} for row in quiet]
    assert said(bare) == ["mine.jsonl: 40 dialogues; calls of no tool"]


def test_what_is_too_long_is_told_with_its_lines() -> None:
    long = [dialogue(line, "x" * 100) for line in (51, 60, 61, 70, 80)]
    assert said([*plenty(), long[0]])[1:] == [
        "1 of 41 dialogues left out, longer than max_length, 99 tokens: line 51"
    ]
    assert said([*plenty(), *long])[1:] == [
        "5 of 45 dialogues left out, longer than max_length, 99 tokens: lines 51, 60, 61 and 2 more"
    ]
    with pytest.raises(ExampleError, match=r"mine.jsonl: every dialogue is longer than max_length"):
        said(long)


def test_few_requests_and_calls_alone_are_warned_of() -> None:
    five = [dialogue(i, "two seats for hamlet", show="hamlet") for i in range(1, 6)]
    told = said(five)
    assert told[0] == "mine.jsonl: 5 dialogues; calls of book_seats 5"
    assert told[1].startswith("1 different request in all: ")
    assert told[2].startswith("every dialogue calls a tool: ")
    assert len(told) == 3


def test_values_that_nobody_said_are_told_with_their_lines() -> None:
    unsaid = [
        dialogue(50, "two seats for Hamlet please", show="hamlet", count=2, row="front"),
        dialogue(51, "the same for tomorrow", show="macbeth"),
    ]
    told = said([*plenty(), *unsaid])
    assert len(told) == 2
    assert told[1].endswith(": line 51: show 'macbeth'")
    more = [dialogue(line, "again", show="lear") for line in range(60, 64)]
    told = said([*plenty(), *more])
    assert told[1].endswith(
        "line 60: show 'lear'; line 61: show 'lear'; line 62: show 'lear'; and 1 more"
    )


def test_a_value_of_the_last_call_counts_as_said() -> None:
    row = dialogue(50, "two seats for hamlet", show="hamlet", count=2)
    more = dialogue(50, "make it three", show="hamlet", count=3)["messages"]
    row["messages"] += [{"role": "tool", "content": "Booked."}, *more]
    assert len(said([*plenty(), row])) == 1


def test_the_example_of_the_documentation_gives_no_warning() -> None:
    rows = [row_of(line) | {"line": number} for number, line in enumerate(lines(160, "train"), 1)]
    told = said(rows, max_length=1024)
    assert len(told) == 1
    assert "water_garden" in told[0]


def test_of_very_many_tools_some_are_told() -> None:
    rows = plenty()
    for row, number in zip(rows, range(30), strict=False):
        row["tools"] = [DECLARED, DECLARED | {"name": f"other_{number}"}]
    told = said(rows)[0]
    assert f"book_seats {FEW_REQUESTS - 1}, other_0 0, " in told
    assert told.endswith(f", and {31 - MOST_TOOLS} more tools 0")
