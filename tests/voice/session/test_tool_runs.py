from __future__ import annotations

import asyncio
import sys
from unittest.mock import create_autospec

import pytest

from tests.support import virtual_tools
from tests.support.virtual_parts import Model, call, calling, last_user, parts
from tests.support.virtual_time import virtual
from voice.dialogue.commands import RunTool
from voice.dialogue.fillers import ONE_MOMENT, STOPPED
from voice.events import ReplyEnded, ReplyText, ReplyToolResult, SessionEnded
from voice.inputs import EndRequested, Input, ToolAnswered, ToolFinished
from voice.session.preemptive_generation import PreemptiveGeneration
from voice.session.tool_runs import ToolRuns
from voice.tools import SessionScope, tool
from voice.tools.registry import tools_in
from voice.types import Message, Role, ToolCall


def asks(name: str, **arguments: str) -> Model:
    return Model(lambda _: call(name, **arguments))


def spoken(loaded: object) -> list[str]:
    return loaded.synthesizer.spoken  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(("name", "bridged"), [("slow_book", True), ("book", False)])
@virtual
async def test_a_tool_that_takes_longer_than_700_ms_is_bridged(name: str, bridged: bool) -> None:
    loaded = parts(asks(name, what="a boat"))
    async with calling(loaded) as line:
        await line.say("book a boat")
        ended = await line.next(ReplyEnded)
        assert ended.text == "Booked a boat."
        assert (ONE_MOMENT in spoken(loaded)) == bridged
        assert [e.delta for e in line.of(ReplyText)] == ["Booked a boat."]


@virtual
async def test_the_bridge_can_be_switched_off() -> None:
    loaded = parts(asks("slow_book", what="a boat"), None, None, "turn.filler_after_ms=0")
    async with calling(loaded) as line:
        await line.say("book a boat")
        await line.next(ReplyEnded)
        assert ONE_MOMENT not in spoken(loaded)


@virtual
async def test_a_slow_search_is_called_off_by_voice() -> None:
    loaded = parts(asks("slow_look_up", topic="tea"))
    async with calling(loaded) as line:
        await line.say("look up tea")
        await asyncio.sleep(1.5)
        await line.say("no stop that")
        await line.next(ReplyEnded, lambda ended: ended.text == STOPPED)
        assert ("tool", "Error: The slow look up tool was stopped.") in line.history()


@pytest.mark.parametrize("after_s", [2.0, 9.0])
@virtual
async def test_what_lets_itself_be_stopped_is_stopped_though_it_was_answered_for(
    after_s: float,
) -> None:
    loaded = parts(asks("dig", where="sand"), None, None, "turn.idle_timeout_s=0")
    async with calling(loaded) as line:
        await line.say("dig in the sand")
        await asyncio.sleep(after_s)
        await line.say("no stop that")
        await line.next(ReplyEnded, lambda ended: ended.text == STOPPED)
        await asyncio.sleep(30)
        assert virtual_tools.LEDGER == ["dig sand"]
        assert ("tool", "Error: The dig tool was stopped.") in line.history()
        # That it was stopped is said once.
        assert line.of(ReplyEnded)[-1].text == STOPPED


@virtual
async def test_progress_is_heard_while_the_answer_waits() -> None:
    loaded = parts(asks("count", up_to="3"))
    async with calling(loaded) as line:
        await line.say("count to three")
        await line.next(ReplyEnded)
        wanted = ["1 of 3.", "2 of 3.", "Counted to 3."]
        assert [text for text in spoken(loaded) if text != ONE_MOMENT] == [
            "one of three.", "two of three.", "Counted to three.",
        ]  # fmt: skip
        assert [event.delta for event in line.of(ReplyText)] == wanted[2:]


@virtual
async def test_a_tools_wish_to_end_is_told_before_its_result() -> None:
    model = Model(
        lambda prompt: call("end_conversation") if last_user(prompt) == "goodbye" else "Hm."
    )
    async with calling(parts(model)) as line:
        await line.say("goodbye")
        assert (await line.next(SessionEnded)).reason == "ended by the agent"
        assert line.of(ReplyToolResult)


@pytest.mark.parametrize("gap_s", [0.62, 0.9])
@virtual
async def test_who_talks_over_the_goodbye_to_ask_for_the_end_again_gets_it(gap_s: float) -> None:
    """The same call is not run twice, but what it asks for counts each time."""
    loaded = parts(asks("end_conversation"), None, None, "turn.idle_timeout_s=0")
    async with calling(loaded) as line:
        line.session.update(silence_ms=500)
        await line.say("end the call now")
        await asyncio.sleep(gap_s)
        await line.say("please hang up")
        assert (await line.next(SessionEnded)).reason == "ended by the agent"


@virtual
async def test_what_a_draft_has_read_is_forgotten_with_its_turn() -> None:
    loaded = parts(asks("look_up", topic="tea"), None, None, "turn.idle_timeout_s=0")
    async with calling(loaded) as line:
        await line.say("how is the tea", word_ms=400)
        await asyncio.sleep(0.15)
        assert virtual_tools.LEDGER == ["look_up tea"]
        line.session.clear_audio()
        await asyncio.sleep(600)
        line.session.add_item("typed", Message(Role.USER, "how is the tea"), None)
        line.session.create_response()
        await line.next(ReplyEnded)
        assert virtual_tools.LEDGER == ["look_up tea"] * 2


@virtual
async def test_calls_beside_each_other_change_things_in_their_order() -> None:
    both = [call("slow_book", what="a boat"), call("book", what="a car")]
    async with calling(parts(Model(lambda _: both))) as line:
        await line.say("book a boat and a car")
        ended = await line.next(ReplyEnded)
        assert virtual_tools.LEDGER == ["slow_book a boat", "book a car"]
        assert ended.text == "Booked a boat. Booked a car."


@tool()
async def leave(*, scope: SessionScope) -> str:
    """Leave, after a while."""
    scope.request_end()
    await asyncio.sleep(2)
    return "Goodbye."


@tool()
async def dawdle(*, scope: SessionScope) -> str:
    """Leave after so long a while that nobody waits for it."""
    await asyncio.sleep(8)
    scope.request_end()
    return "Goodbye."


async def told_of_both(scope: SessionScope, *calls: ToolCall) -> list[Input]:
    """What calls for two messages feed, the second of which is made while the first still runs."""
    loaded, told = parts(asks("book")), list[Input]()
    runs = ToolRuns(loaded.toolbox, scope, create_autospec(PreemptiveGeneration), 0.0)
    async with asyncio.TaskGroup() as group:
        for each in calls:
            run = RunTool("r1", each, each.call_id, said=(f"please {each.name}",))
            group.create_task(runs.run(run, told.append))
            await asyncio.sleep(0.01)
    return told


@virtual
async def test_what_ends_late_is_noted_with_the_message_that_it_was_asked_for_in() -> None:
    scope = SessionScope("s")
    await told_of_both(scope, call("slow_book", what="a boat"), call("book", what="a car"))
    assert scope.done_for == "please slow_book"
    assert [done.said for done in scope.done] == ["Booked a boat."]


@virtual
async def test_the_end_of_a_conversation_goes_with_the_call_that_asks_for_it() -> None:
    leaving = call("leave")
    scope = SessionScope("s", tools={"leave": tools_in(sys.modules[__name__])[0]})
    told = await told_of_both(scope, leaving, call("book", what="a car"))
    assert [type(each) for each in told] == [ToolAnswered, EndRequested, ToolAnswered]


@virtual
async def test_what_a_late_tool_has_to_say_is_said_before_it_ends_the_conversation() -> None:
    scope = SessionScope("s", tools={one.spec.name: one for one in tools_in(sys.modules[__name__])})
    told = await told_of_both(scope, call("dawdle"))
    assert [type(each) for each in told] == [ToolAnswered, ToolFinished, EndRequested]


@virtual
async def test_a_draft_tells_what_the_live_reply_would() -> None:
    for drafting in ("true", "false"):
        loaded = parts(asks("look_up", topic="tea"), None, None, f"drafting.enabled={drafting}")
        async with calling(loaded) as line:
            await line.say("please look up tea for me")
            assert (await line.next(ReplyEnded)).text == "Tea is fine."
