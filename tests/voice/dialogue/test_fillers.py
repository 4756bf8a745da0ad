from __future__ import annotations

import pytest

from tests.support.script import TOOLS, Script
from voice.config import AgentConfig
from voice.config.flow import NeedConfig, StepConfig
from voice.dialogue.commands import CancelTool, Generate, RunTool, Speak
from voice.dialogue.fillers import CANNOT_STOP, ONE_MOMENT, STOPPED, calls_off
from voice.dialogue.flow import Flow
from voice.dialogue.team import Team
from voice.events import ReplyEnded, ReplyStarted, ReplyText
from voice.inputs import ToolAnswered, ToolFinished, ToolProgressed, ToolSlow
from voice.types import ToolCall, ToolResult, ToolSpec

SEARCH = ToolCall("c1", "search", {})
BOOK = ToolCall("c2", "set_timer", {})


@pytest.fixture(autouse=True)
def search(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ToolSpec("search", "A tool.", {"type": "object", "properties": {}}, read_only=True)
    monkeypatch.setitem(TOOLS, "search", spec)


@pytest.mark.parametrize(
    "text",
    ["stop", "Cancel that.", "no, wait, cancel it please", "Never mind!", "nevermind", "forget it",
     "okay stop", "you can stop that", "stop looking", "oh please drop it"],
)  # fmt: skip
def test_words_that_call_something_off(text: str) -> None:
    assert calls_off(text)


@pytest.mark.parametrize(
    "text",
    ["", "cancel the pasta timer", "stop the music at ten", "no", "thank you", "do not stop",
     "when does it stop", "stop and go"],
)  # fmt: skip
def test_words_that_do_not(text: str) -> None:
    assert not calls_off(text)


def said(script: Script) -> list[str]:
    return [speak.segment.spoken for speak in script.of(Speak)]


def test_a_slow_tool_is_bridged_once_and_the_words_are_kept_nowhere() -> None:
    script = Script()
    script.user("search and book")
    script.model("", SEARCH, BOOK)
    reply_id = script.last(RunTool).reply_id
    script.feed(ToolSlow(reply_id, "c1"), ToolSlow(reply_id, "c2"))
    assert said(script) == [ONE_MOMENT]
    script.tool(SEARCH, "Found.")
    script.tool(BOOK, "Booked.")
    script.model("Found and booked.")
    assert said(script) == [ONE_MOMENT, "Found.", "Booked."]
    assert [speak.segment.index for speak in script.of(Speak)] == [0, 1, 2]
    script.sent()
    assert script.events(ReplyEnded)[0].text == "Found. Booked."
    assert "".join(event.delta for event in script.events(ReplyText)) == "Found. Booked."
    assert ONE_MOMENT not in str(script.history())


def test_who_has_heard_something_needs_no_bridge() -> None:
    script = Script()
    script.user("search")
    script.model("Let me look.", SEARCH)
    script.feed(ToolSlow(script.last(RunTool).reply_id, "c1"))
    assert said(script) == ["Let me look."]


def test_a_tool_that_has_answered_is_not_slow_any_more() -> None:
    script = Script()
    script.user("search")
    script.model("", SEARCH)
    reply_id = script.last(RunTool).reply_id
    script.tool(SEARCH, "Found.")
    assert script.feed(ToolSlow(reply_id, "c1")) == []
    assert script.feed(ToolProgressed(reply_id, "c1", "Half.")) == []


def test_progress_is_spoken_while_the_answer_waits() -> None:
    script = Script()
    script.user("search")
    script.model("", SEARCH)
    reply_id = script.last(RunTool).reply_id
    script.feed(ToolProgressed(reply_id, "c1", "Half of it is done."), ToolSlow(reply_id, "c1"))
    assert said(script) == ["Half of it is done."]


def test_a_tools_own_words_are_the_bridge() -> None:
    script = Script()
    script.user("search")
    script.model("", SEARCH)
    script.feed(ToolSlow(script.last(RunTool).reply_id, "c1", "I am looking at page two."))
    assert said(script) == ["I am looking at page two."]


def test_a_reply_of_nothing_but_a_bridge_has_its_place_in_the_dialogue() -> None:
    """Its sound announced it to the client, which tells how much of it was played."""
    script = Script()
    script.user("search and book")
    script.model("", SEARCH, BOOK)
    script.feed(ToolSlow(script.last(RunTool).reply_id, "c1"))
    dialogue = script.conversation.dialogue
    item_id = script.events(ReplyStarted)[0].item_id
    assert dialogue.get(item_id).content == ""
    script.tool(SEARCH, "Found.")
    script.tool(BOOK, "Booked.")
    script.model("Found and booked.")
    assert dialogue.last_id == item_id and dialogue.get(item_id).content == "Found. Booked."
    shown = [message.content or message.tool_calls for message in dialogue.view(24)]
    assert shown[-1] == "Found. Booked." and shown.count("Found. Booked.") == 1


def test_what_only_reads_is_called_off_by_voice() -> None:
    script = Script()
    script.user("search")
    script.model("", SEARCH)
    script.user("no stop that", turn_id=2)
    assert script.of(CancelTool) == [CancelTool(script.last(RunTool).key)]
    assert said(script) == [STOPPED]
    assert len(script.of(Generate)) == 1
    script.tool(SEARCH, "Error: The search tool was stopped.")
    assert ("tool", "Error: The search tool was stopped.") in script.history()


def test_what_has_side_effects_cannot_be_called_off_and_says_so() -> None:
    script = Script()
    script.user("book")
    script.model("", BOOK)
    script.user("cancel that", turn_id=2)
    assert not script.of(CancelTool)
    assert said(script) == [CANNOT_STOP]


def test_with_no_tool_at_work_the_model_hears_it() -> None:
    script = Script()
    script.user("stop")
    assert script.of(Generate)


def told_late(content: str = "Timer set.") -> Script:
    """A tool has taken too long, the agent has said so, and now the tool has done it."""
    script = Script()
    script.user("book")
    script.model("", BOOK)
    reply_id = script.last(RunTool).reply_id
    late = ToolResult("c2", "set_timer", "Error: It took too long.", True, unfinished=True)
    script.feed(ToolAnswered(reply_id, late))
    script.model("Sorry, it takes long.")
    script.sent()
    script.played()
    script.feed(ToolFinished(ToolResult("c2", "set_timer", content)))
    return script


def test_what_a_late_tool_did_is_told_and_takes_the_place_of_its_error() -> None:
    script = told_late()
    assert ("tool", "Timer set.") in script.history()
    assert said(script)[-1] == "Timer set."
    script.sent()
    script.played()
    script.feed(ToolFinished(ToolResult("c2", "set_timer", "Timer set.")))
    assert said(script).count("Timer set.") == 1


def test_what_a_late_tool_did_is_told_behind_the_answer_to_who_talks_over_it() -> None:
    script = told_late()
    script.user("what time is it", turn_id=2)
    script.model("Noon.")
    script.sent()
    script.played()
    assert said(script)[-3:] == ["Timer set.", "Noon.", "Timer set."]


def test_a_flow_goes_on_once_a_late_tool_has_done_it_and_not_before() -> None:
    done = NeedConfig(tool="set_timer", ask=("Shall I set it?",))
    steps = {"set": StepConfig(needs={"done": done}, goes_to="end"), "end": StepConfig()}
    desk = AgentConfig(name="desk", instructions="Be brief.", tools=("set_timer",), steps=steps)
    flow = Flow(Team((desk,)))
    script = Script(flow=flow)
    script.user("yes")
    run = script.last(RunTool)
    call_id, name = run.call.call_id, run.call.name
    late = ToolResult(call_id, name, "It is still at work.", unfinished=True)
    script.feed(ToolAnswered(run.reply_id, late))
    assert (flow.position.step, flow.position.known) == ("set", {})
    script.feed(ToolFinished(ToolResult(call_id, name, "Timer set.")))
    assert (flow.position.step, flow.position.known) == ("end", {"done": "Timer set."})
