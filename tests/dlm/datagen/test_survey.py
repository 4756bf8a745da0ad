from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlm.datagen.examples import ExampleError, row_of
from dlm.datagen.survey import FEW_REQUESTS, MOST_TOOLS, survey
from examples.fine_tuning.watering import lines

FILE = Path("somewhere/mine.jsonl")
SEATS = {
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
    return {"system": "", "tools": [SEATS], "messages": messages, "line": line}


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
        row["tools"] = [SEATS, SEATS | {"name": f"other_{number}"}]
    told = said(rows)[0]
    assert f"book_seats {FEW_REQUESTS - 1}, other_0 0, " in told
    assert told.endswith(f", and {31 - MOST_TOOLS} more tools 0")
