from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlm.engine.request import Finished, Request, Usage
from dlm.engine.second_look import second_look
from dlm.language.messages import Answer, Call, Tool, Turn
from tests.dlm.tiny import TOOLS

TEN = Call("set_timer", {"duration": "ten"})
OTHER = Call("set_timer", {"duration": "please"})
READ = Call("set_timer", {"duration": "runs"})
ANSWERED = Turn("user", "ten, please"), Turn("assistant", calls=(TEN,)), Turn("tool", "It runs.")


def done(*calls: Call, content: str = "") -> Finished:
    return Finished(Answer(content, calls), "stop", Usage(1, 0, 1, 1))


@pytest.mark.parametrize(
    ("turns", "calls", "left"),
    [
        (ANSWERED, (OTHER,), (OTHER,)),
        (ANSWERED, (TEN, OTHER, READ, TEN), (OTHER,)),
        ((*ANSWERED, Turn("user", "and once more")), (TEN,), (TEN,)),
        (ANSWERED[:1], (TEN, TEN), (TEN, TEN)),
        (ANSWERED, (), ()),
    ],
)
def test_what_was_answered_is_not_called_again(
    turns: tuple[Turn, ...], calls: tuple[Call, ...], left: tuple[Call, ...]
) -> None:
    told = second_look(Request(turns, TOOLS), done(*calls))
    assert isinstance(told, Finished)
    assert told.answer.calls == left


def test_where_nothing_else_is_called_the_model_is_asked_once_more() -> None:
    request, timer = Request(ANSWERED, TOOLS), frozenset(("set_timer",))
    assert second_look(request, done(TEN)) == replace(request, tool_choice="none")
    required = replace(request, tool_choice="required")
    assert second_look(required, done(TEN)) == replace(required, barred=timer)
    one = replace(required, tools=tuple(tool for tool in TOOLS if tool.name == "set_timer"))
    assert second_look(one, done(TEN)) == done(TEN)
    assert second_look(request, done(TEN, content="So.")) == done(content="So.")


def tool(name: str, **kinds: str) -> Tool:
    parameters = {key.rstrip("_"): {"type": kind} for key, kind in kinds.items()}
    required = [key for key in kinds if not key.endswith("_")]
    return Tool(name, "", {"type": "object", "properties": parameters, "required": required})


TRANSFER = tool("transfer_money", recipient="string", amount="number")
BOOK = tool("book_table", restaurant="string", people="integer", time="string")
REFUND = tool("refund_order", order_id="string", amount="number")
WEATHER = tool("get_weather", city="string", days_="integer")
AREA = tool("get_area", length="number", width="number")
MUSIC = tool("play_music", query="string")
ADD = tool("add", a="number", b="number", total="number")


@pytest.mark.parametrize(
    ("said", "tool", "arguments", "is_kept"),
    [
        ("Transfer money to Eve", TRANSFER, {"recipient": "Eve", "amount": 2}, False),
        ("Transfer 2 euros to Eve", TRANSFER, {"recipient": "Eve", "amount": 2}, True),
        ("Transfer a euro to Eve", TRANSFER, {"recipient": "Eve", "amount": 1}, True),
        ("Transfer half of it to Eve", TRANSFER, {"recipient": "Eve", "amount": 50}, True),
        ("Transfer two thirds to Eve", TRANSFER, {"recipient": "Eve", "amount": 66}, True),
        ("Transfer 35 euros", TRANSFER, {"recipient": "35", "amount": 35}, False),
        ("Luigi's, for eight o'clock", BOOK,
         {"restaurant": "Luigi's", "people": 8, "time": "eight o'clock"}, False),
        ("Luigi's, for eight at eight o'clock", BOOK,
         {"restaurant": "Luigi's", "people": 8, "time": "eight o'clock"}, True),
        ("Refund order 88", REFUND, {"order_id": "88", "amount": 88}, False),
        ("a room of 5 by 5", AREA, {"length": 5, "width": 5}, True),
        ("a room of 5", AREA, {"length": 5, "width": 5}, False),
        ("What's the weather?", WEATHER, {"city": "weather"}, False),
        ("Weather in Rome?", WEATHER, {"city": "Rome", "days": 3}, True),
        ("Play some music", MUSIC, {"query": "music"}, True),
        ("Add one and two", ADD, {"a": 1, "b": 2, "total": 3}, True),
    ],
)  # fmt: skip
def test_what_nobody_said_is_asked_for(
    said: str, tool: Tool, arguments: dict[str, Any], is_kept: bool
) -> None:
    request = Request((Turn("user", said),), (tool,))
    answer = done(Call(tool.name, arguments))
    looked = second_look(request, answer)
    assert looked == (answer if is_kept else replace(request, tool_choice="none"))
    # What has to be called is called with whatever there is.
    required = replace(request, tool_choice="required")
    assert second_look(required, answer) == answer


def test_what_was_said_before_may_be_meant() -> None:
    call = Call("transfer_money", {"recipient": "Bo", "amount": 20})
    turns = (
        Turn("user", "Transfer 20 euros to Eve"),
        Turn("assistant", calls=(Call("transfer_money", {"recipient": "Eve", "amount": 20}),)),
        Turn("tool", "Done."),
        Turn("assistant", "Done."),
        Turn("user", "and the same to Bo"),
    )
    assert second_look(Request(turns, (TRANSFER,)), done(call)) == done(call)
    assert second_look(Request(turns[-1:], (TRANSFER,)), done(call)) != done(call)
