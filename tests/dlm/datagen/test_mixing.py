from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from dlm.datagen.mixing import Row, beside, mixed, reading


def tool(name: str) -> Row:
    return {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}


def asked(text: str) -> Row:
    return {"role": "user", "content": text}


def called(*names: str) -> Row:
    calls = [{"name": name, "arguments": {}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def example(number: int) -> Row:
    """A request that a tool serves."""
    tools = [tool("book_seats"), tool("free_seats")]
    messages = [asked(f"mine {number}"), called("book_seats"), {"role": "tool", "content": "Done."}]
    return {"system": "Be brief.", "tools": tools, "messages": messages, "line": number}


def own(readings: float = 0.0) -> Iterator[Row]:
    """Endless dialogues, with a share of readings."""
    rng = Random(5)
    for number in itertools.count():
        row = {"system": "", "tools": [tool("get_time"), tool("stop")]}
        row["messages"] = [asked(f"ours {number}"), called("stop")]
        if rng.random() < readings:
            row |= {"tools": [tool("stop")], "reading": True}
        yield row


def is_mine(row: Row) -> bool:
    return bool(row["messages"][0]["content"].startswith("mine"))


@pytest.mark.parametrize("replay", [0.0, 0.5, 0.9])
def test_our_own_dialogues_have_their_share(replay: float) -> None:
    examples = [example(i) for i in range(10)]
    rows = list(itertools.islice(mixed(examples, own(), replay, 1), 2000))
    mine = [row for row in rows if is_mine(row)]
    assert len(mine) / 2000 == pytest.approx(1 - replay, abs=0.04)
    # All are seen before one is seen again.
    assert sorted(row["line"] for row in mine[:10]) == list(range(10))
    again = list(itertools.islice(mixed(examples, own(), replay, 1), 50))
    assert again == rows[:50] != list(itertools.islice(mixed(examples, own(), replay, 2), 50))
    assert [is_mine(row) for row in rows] == [not row.get("replayed") for row in rows]
    with_others = sum(len(row["tools"]) > 2 for row in mine) / len(mine)
    assert with_others == pytest.approx(0.5, abs=0.12)
    if replay:
        ours = [row for row in rows if not is_mine(row)]
        taught = sum(len(row["tools"]) > 2 for row in ours)
        assert taught / len(ours) == pytest.approx(0.5, abs=0.06)


def test_examples_are_read_as_often_as_our_own_dialogues() -> None:
    examples = [example(i) for i in range(10)]
    rows = list(itertools.islice(mixed(examples, own(readings=0.4), 0.5, 1), 2000))
    for some in ([r for r in rows if is_mine(r)], [r for r in rows if not is_mine(r)]):
        read = [row for row in some if row.get("reading")]
        assert len(read) / len(some) == pytest.approx(0.4, abs=0.05)
        assert all(len(row["tools"]) == 1 for row in read)
    mine = [row for row in rows if is_mine(row) and row.get("reading")]
    assert len({row["messages"][0]["content"] for row in mine[:10]}) == 10


def test_examples_that_call_nothing_are_no_readings() -> None:
    talk = {"role": "assistant", "content": "Hello.", "tool_calls": []}
    examples = [{"system": "", "tools": [], "messages": [asked("mine"), talk]}]
    rows = itertools.islice(mixed(examples, own(readings=1.0), 0.0, 1), 20)
    assert list(rows) == examples * 20


def test_a_reading_is_the_first_request_behind_its_tool() -> None:
    assert reading(example(3)) == {
        "system": "",
        "tools": [tool("book_seats")],
        "messages": [asked("mine 3"), called("book_seats")],
        "reading": True,
    }


@pytest.mark.parametrize(
    "messages",
    [
        [asked("hi"), {"role": "assistant", "content": "Hello.", "tool_calls": []}],
        [asked("both"), called("book_seats", "free_seats")],
        [{"role": "assistant", "content": "Hello."}, asked("seats"), called("book_seats")],
        [asked("nobody answers")],
        [],
    ],
)
def test_other_beginnings_give_no_reading(messages: list[Row]) -> None:
    assert reading(example(1) | {"messages": messages}) is None


def test_several_calls_of_one_tool_are_a_reading() -> None:
    twice = called("book_seats", "book_seats")
    made = reading(example(1) | {"messages": [asked("two shows"), twice]})
    assert made is not None
    assert made["tools"] == [tool("book_seats")]
    assert made["messages"][1] == twice


def test_tools_are_declared_once_and_the_row_is_not_changed() -> None:
    row = next(own())
    before = copy.deepcopy(row)
    others = [tool("get_time"), *(tool(f"other_{i}") for i in range(9))]
    for seed in range(40):
        names = [t["name"] for t in beside(row, others, Random(seed))["tools"]]
        assert len(set(names)) == len(names) <= 7
        assert {"get_time", "stop"} <= set(names)
    assert row == before


@pytest.mark.parametrize("changes", [{"tools": []}, {"reading": True}])
def test_a_dialogue_without_tools_and_a_reading_get_none(changes: dict[str, Any]) -> None:
    row = next(own()) | changes
    assert all(beside(row, [tool("a")], Random(seed)) == row for seed in range(9))
