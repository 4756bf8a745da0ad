from __future__ import annotations

import pytest

from tests.support.script import CLIENT_TOOL, Script
from voice.dialogue.call_checks import STILL_WAITS, Limits
from voice.dialogue.commands import Generate, RunTool, Speak
from voice.dialogue.fillers import UNDER_WAY
from voice.events import ReplyEnded, ReplyStatus, ReplyToolCall
from voice.inputs import ModelFailed, ToolAnswered, ToolFinished
from voice.types import Message, Role, SpeechStarted, ToolCall, ToolResult


def milk(call_id: str) -> ToolCall:
    return ToolCall(call_id, "add_to_list", {"item": "milk"})


EGGS = ToolCall("eggs", "add_to_list", {"item": "eggs"})
ASKED_AGAIN = Limits(rephrases=True)
"""The model is asked behind each tool, and may call another."""


def keys(script: Script) -> list[str]:
    return [run.key for run in script.of(RunTool)]


def test_a_call_that_the_model_repeats_is_the_same_call() -> None:
    script = Script(limits=ASKED_AGAIN)
    script.user("add milk and eggs")
    for call in (milk("1"), EGGS, milk("2")):
        script.model("", call)
        script.tool(call, "Added.")
    first, eggs, again = keys(script)
    assert first == again != eggs


def test_the_same_call_twice_in_one_answer_is_meant_twice() -> None:
    script = Script()
    script.user("add milk twice")
    script.model("", milk("1"), milk("2"))
    assert len(set(keys(script))) == 2


def test_a_request_that_was_interrupted_before_an_answer_was_heard_is_the_same_request() -> None:
    script = Script()
    script.user("add milk")
    script.model("Let me do that.", milk("1"))
    script.tool(milk("1"), "Added.")
    script.user("please", turn_id=2)
    script.model("", milk("2"))
    first, again = keys(script)
    assert first == again


def test_a_tool_is_told_the_request_behind_a_yes() -> None:
    script = Script()
    script.user("turn off all of Friday")
    script.model("Shall I?")
    script.sent()
    script.played()
    script.user("Yes, please.", turn_id=2)
    script.model("", EGGS)
    assert script.of(RunTool)[-1].said == ("turn off all of Friday",)


def timer(call_id: str, **arguments: str) -> ToolCall:
    return ToolCall(call_id, "set_timer", arguments)


def cancelled_and_asked_again(script: Script, words: str, *calls: ToolCall) -> list[str]:
    """The keys of calls, the first of which is made before the client cancels and asks again."""
    script.conversation.dialogue.add("typed", Message(Role.USER, "Set a timer for ten minutes"))
    script.request()
    script.model("", calls[0])
    script.cancel()
    script.conversation.dialogue.add("again", Message(Role.USER, words))
    script.request()
    script.model("", *calls[1:])
    return keys(script)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"duration": "ten minutes"}, {"duration": "ten minutes", "name": "ten"}),
        ({"duration": "ten minutes", "name": "ten"}, {"duration": "ten minutes"}),
        ({"duration": "ten minutes"}, {"duration": "ten minutes"}),
    ],
)
def test_a_request_in_the_same_words_is_the_same_with_an_optional_argument_or_without(
    first: dict[str, str], second: dict[str, str]
) -> None:
    made, again = cancelled_and_asked_again(
        Script(), "set a timer for ten minutes.", timer("1", **first), timer("2", **second)
    )
    assert made == again


@pytest.mark.parametrize(
    ("words", "second"),
    [
        ("set a timer for ten minutes", {"duration": "five minutes"}),
        ("and one for the pasta", {"duration": "ten minutes", "name": "pasta"}),
    ],
)
def test_another_value_or_other_words_are_another_request(
    words: str, second: dict[str, str]
) -> None:
    first = timer("1", duration="ten minutes")
    made, other = cancelled_and_asked_again(Script(), words, first, timer("2", **second))
    assert made != other


def test_two_calls_of_one_answer_never_join_the_same_run() -> None:
    ten = {"duration": "ten minutes"}
    first, *again = cancelled_and_asked_again(
        Script(), "set a timer for ten minutes", timer("1", **ten),
        timer("2", **ten, name="rice"), timer("3", **ten, name="pasta"),
    )  # fmt: skip
    assert first in again
    assert len(set(again)) == 2


def late(call_id: str) -> ToolResult:
    return ToolResult(call_id, "set_timer", "Error: Too long.", error=True, unfinished=True)


def test_who_asks_again_for_what_is_still_under_way_does_not_get_it_twice() -> None:
    script = Script()
    script.user("add milk")
    script.model("", milk("1"))
    script.feed(ToolAnswered(script.last(RunTool).reply_id, late("1")))
    script.sent()
    script.played()
    script.user("add milk", turn_id=2)
    script.model("", milk("2"))
    first, again = keys(script)
    assert first == again
    # The second call brings the outcome of both, and that is told once.
    script.tool(milk("2"), "Added.")
    assert [content for role, content in script.history() if role == "tool"] == ["Added."] * 2
    script.feed(ToolFinished(ToolResult("1", "set_timer", "Added.")))
    script.sent()
    script.played()
    assert script.conversation.quiet
    script.user("add milk", turn_id=3)
    script.model("", milk("3"))
    assert keys(script)[2] != first


def test_a_malformed_answer_does_not_make_another_call_of_it() -> None:
    script = Script(limits=ASKED_AGAIN)
    script.user("add milk")
    script.model("", milk("1"))
    reply_id = script.last(RunTool).reply_id
    script.tool(milk("1"), "Added.")
    script.feed(ModelFailed(reply_id, "bad form", malformed=True))
    script.model("", milk("2"))
    first, again = keys(script)
    assert first == again


def test_typed_requests_are_told_apart_by_their_messages() -> None:
    script = Script(speak=False)
    for number in range(2):
        script.conversation.dialogue.add(f"typed{number}", Message(Role.USER, "add milk"))
        script.request()
        script.model("", milk(str(number)))
        script.tool(milk(str(number)), "Added.")
    assert len(set(keys(script))) == 2


def test_results_after_an_interruption_stand_beside_their_calls() -> None:
    script = Script()
    script.user("add milk and eggs")
    script.model("", milk("1"), EGGS)
    reply_id = script.last(RunTool).reply_id
    script.feed(SpeechStarted(2, 32_000))
    for call_id in ("eggs", "1"):
        script.feed(ToolAnswered(reply_id, ToolResult(call_id, "set_timer", f"Added {call_id}.")))
    script.user("thank you", turn_id=2)
    assert [content for _, content in script.history()] == [
        "add milk and eggs", "", "Added eggs.", "Added 1.", "thank you",
    ]  # fmt: skip


def test_one_outcome_is_news_once() -> None:
    script = Script(limits=ASKED_AGAIN)
    script.user("add milk")
    late = {"name": "set_timer", "content": "Error: Too long.", "error": True, "unfinished": True}
    calls = script.conversation._agent.calls
    for call_id in ("1", "2"):
        script.model("", milk(call_id))
        script.feed(ToolAnswered(script.last(RunTool).reply_id, ToolResult(call_id, **late)))
    assert calls.finished(ToolResult("2", "set_timer", "Added."))
    assert not calls.finished(ToolResult("1", "set_timer", "Added."))
    assert [content for role, content in script.history() if role == "tool"] == ["Added."] * 2


@pytest.mark.parametrize("choice", ["required", "open_door", "auto"])
def test_who_requires_a_call_that_waits_for_its_output_is_told_why_there_is_none(
    choice: str,
) -> None:
    script = Script(client_tools=(CLIENT_TOOL,), tool_choice=choice)
    for turn_id, call_id in enumerate(("c1", "c2"), start=1):
        script.user("open the door", turn_id=turn_id)
        script.model("", ToolCall(call_id, "open_door", {}))
    assert len(script.events(ReplyToolCall)) == 1
    if choice == "auto":
        script.sent()
    first, again = ((end.status, end.reason) for end in script.events(ReplyEnded))
    assert first == (ReplyStatus.COMPLETED, "")
    failed = (ReplyStatus.FAILED, STILL_WAITS)
    assert again == ((ReplyStatus.COMPLETED, "") if choice == "auto" else failed)
    said = [speak.segment.text for speak in script.of(Speak)]
    assert said == ([UNDER_WAY] if choice == "auto" else [])


def test_a_call_without_an_output_is_seen_as_under_way_until_the_output_comes() -> None:
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open the door")
    script.model("", ToolCall("c1", "open_door", {}))
    script.user("what is your name?", turn_id=2)
    seen = script.last(Generate).prompt.messages
    assert [(one.content, one.call_id) for one in seen[-3:]] == [
        ("", ""), (UNDER_WAY, "c1"), ("what is your name?", ""),
    ]  # fmt: skip
    script.model("I am the door.")
    script.sent()
    output = Message(Role.TOOL, "Open.", call_id="c1", name="open_door")
    script.conversation.dialogue.add("output", output)
    script.request()
    seen = script.last(Generate).prompt.messages
    assert UNDER_WAY not in [one.content for one in seen]
    assert seen[-1].content == "Open."


def test_the_same_call_with_other_arguments_is_sent_while_one_waits() -> None:
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open door one")
    script.model("", ToolCall("c1", "open_door", {"number": 1}))
    script.user("and two, and one", turn_id=2)
    calls = (ToolCall("c2", "open_door", {"number": 1}), ToolCall("c3", "open_door", {"number": 2}))
    script.model("", *calls)
    assert [made.call.call_id for made in script.events(ReplyToolCall)] == ["c1", "c3"]
