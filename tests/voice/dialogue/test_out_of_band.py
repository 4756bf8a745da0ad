from __future__ import annotations

import itertools

import pytest

from tests.support.script import CLIENT_TOOL
from voice.dialogue.commands import Command, Emit, Generate, StopGenerating
from voice.dialogue.history import History
from voice.dialogue.out_of_band import MOST, OutOfBandResponses
from voice.errors import ProtocolError
from voice.events import ReplyEnded, ReplyStarted, ReplyStatus, ReplyText, ReplyToolCall
from voice.inputs import ModelAnswered, ModelFailed, ModelSaid, SessionOptions
from voice.types import Message, Role, ToolCall

SILENT = SessionOptions(instructions="Sort.", agent_tools=("set_timer",), speak=False)


def beside() -> OutOfBandResponses:
    numbers = itertools.count(1)
    return OutOfBandResponses(
        lambda prefix: f"{prefix}{next(numbers)}", max_tool_calls=6, max_history=24
    )


def told(commands: list[Command]) -> list[object]:
    return [command.event for command in commands if isinstance(command, Emit)]


def context(text: str = "what a lovely day") -> History:
    return History().picked([Message(Role.USER, text)])


def test_a_reply_is_told_of_then_asked_for_and_over() -> None:
    replies = beside()
    reply_id, commands = replies.begin(SILENT)
    (started,) = told(commands)
    assert isinstance(started, ReplyStarted)
    assert started.beside
    assert reply_id in replies
    (asked,) = replies.ask(reply_id, context())
    assert isinstance(asked, Generate)
    assert [m.content for m in asked.prompt.messages] == ["Sort.", "what a lovely day"]
    assert asked.prompt.tools == ()
    (said,) = told(replies.feed(ModelSaid(reply_id, "Weather. ")))
    assert said == ReplyText(reply_id, "Weather.")
    ended = told(replies.feed(ModelAnswered(reply_id, (), False, 9, 2)))[-1]
    assert isinstance(ended, ReplyEnded)
    assert ended.status is ReplyStatus.COMPLETED
    assert reply_id not in replies


def test_the_clients_tools_are_offered_and_called() -> None:
    replies = beside()
    options = SessionOptions(client_tools=(CLIENT_TOOL,), speak=False)
    reply_id, _ = replies.begin(options)
    (asked,) = replies.ask(reply_id, context())
    assert isinstance(asked, Generate)
    assert asked.prompt.tools == (CLIENT_TOOL,)
    calls = tuple(ToolCall(f"c{number}", "open_door", {"number": number}) for number in (1, 2))
    *called, ended = told(replies.feed(ModelAnswered(reply_id, calls, False, 9, 2)))
    assert [one.call for one in called if isinstance(one, ReplyToolCall)] == list(calls)
    assert all(isinstance(one, ReplyToolCall) and one.client_side for one in called)
    assert isinstance(ended, ReplyEnded)


def test_several_at_once_each_by_its_id() -> None:
    replies = beside()
    ids = [replies.begin(SILENT)[0] for _ in range(MOST)]
    with pytest.raises(ProtocolError) as refused:
        replies.begin(SILENT)
    assert refused.value.code == "too_many_active_responses"
    for reply_id in ids:
        replies.ask(reply_id, context())
    stopped = replies.cancel(ids[1])
    assert StopGenerating(ids[1]) in stopped
    (ended,) = told(stopped)
    assert isinstance(ended, ReplyEnded)
    assert ended.reason == "client_cancelled"
    assert [reply_id in replies for reply_id in ids] == [True, False, True, True]
    failed = told(replies.feed(ModelFailed(ids[0], "the model failed", malformed=False)))[-1]
    assert isinstance(failed, ReplyEnded)
    assert failed.status is ReplyStatus.FAILED
    assert replies.begin(SILENT)[0] in replies


def test_a_reply_that_is_over_is_not_asked_for() -> None:
    replies = beside()
    reply_id, _ = replies.begin(SILENT)
    replies.cancel(reply_id)
    assert replies.ask(reply_id, context()) == []
