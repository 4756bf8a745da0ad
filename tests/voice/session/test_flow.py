"""Flows and hand-overs in whole spoken conversations on virtual time, interrupted at any moment."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.virtual_parts import (
    Call,
    Model,
    VirtualParts,
    Voice,
    call,
    calling,
    last_user,
    parts,
)
from tests.support.virtual_time import virtual
from voice.callers import Caller, CallerKind, Owner
from voice.config import load_team
from voice.events import (
    DraftsUsed,
    FlowChanged,
    ReplyEnded,
    ReplyStarted,
    ReplyText,
    ReplyToolCall,
)
from voice.llm.base import Prompt
from voice.tools.store import Store
from voice.types import Message, Role, ToolCall

ANNA = Caller(CallerKind.PHONE, "+15551234")
HANDED = (
    "I will put you through to the nurse's line. This is the nurse's line. A nurse will call you"
    " back. What number can we reach you at?"
)


def choose(prompt: Prompt) -> str | tuple[ToolCall, ...]:
    """As a model that chooses a tool for two things, and else talks."""
    names = {tool.name for tool in prompt.tools}
    said = last_user(prompt)
    if "person" in said and "hand_over_to_nurse" in names:
        return (call("hand_over_to_nurse"),)
    if "open" in said and "get_opening_hours" in names:
        return (call("get_opening_hours"),)
    return "I cannot book tables."


def clinic(*overrides: str, voice: Voice | None = None) -> VirtualParts:
    agent, *others = load_team("clinic")
    loaded = parts(Model(choose), voice, None, "turn.idle_timeout_s=0", *overrides)
    return replace(loaded, agent=agent, others=tuple(others))


def stands(line: Call) -> tuple[str, str, dict[str, str]]:
    position = line.of(FlowChanged)[-1].position
    return position.agent, position.step, {**position.known}


def calls(line: Call) -> list[str]:
    return [event.call.name for event in line.of(ReplyToolCall)]


@virtual
async def test_the_program_drives_and_the_models_words_are_not_spoken() -> None:
    async with calling(clinic(), ANNA) as line:
        await line.say("my knee hurts")
        assert (await line.next(ReplyEnded)).text == "I see. What day would suit you?"
        await line.say("tell me a joke")
        assert (await line.next(ReplyEnded)).text == (
            "Sorry, I did not get that. Which day shall it be? You can say: next Tuesday."
        )
        await line.say("when are you open")
        assert (await line.next(ReplyEnded)).text.startswith("We are open Monday to Friday")
        assert stands(line)[:2] == ("clinic", "booking")


@pytest.mark.parametrize("drafting", ["true", "false"])
@virtual
async def test_a_spoken_answer_is_heard_at_once(drafting: str) -> None:
    loaded = clinic(f"drafting.enabled={drafting}", voice=Voice(word_s=0.05))
    async with calling(loaded, ANNA) as line:
        for said, name in (("my knee hurts", "note_problem"), ("on monday at ten", "choose_time")):
            line.forget()
            await line.say(said)
            await line.next(ReplyEnded)
            begun_s = line.times(ReplyStarted)[0] - line.turns_said[-1]
            assert (line.heard_after() - begun_s < 0.01) == (drafting == "true")
            assert calls(line) == [name]
            assert all(told.outcome == "" for told in line.of(DraftsUsed))
            await asyncio.sleep(5)
        assert stands(line)[2]["time"] == "10:00 AM"


@virtual
async def test_a_hand_over_is_one_reply_in_two_voices() -> None:
    async with calling(clinic(), ANNA) as line:
        await line.say("my knee hurts")
        await line.next(ReplyEnded)
        await line.say("may i speak to a person")
        assert (await line.next(ReplyEnded)).text == HANDED
        assert stands(line) == ("nurse", "number", {"problem": "my knee hurts"})
        prompts = line.session._resources.model.prompts  # type: ignore[attr-defined]
        await line.say("tell me a joke")
        await line.next(ReplyEnded)
        seen = prompts[-1].messages
        assert [one.content for one in seen if one.role is Role.SYSTEM][-1] == (
            "You were handed this conversation: may i speak to a person (problem: my knee hurts)"
        )
        assert "my knee hurts" not in [one.content for one in seen if one.role is Role.USER]
        # What is asked for by patterns is not for the model.
        assert [tool.name for tool in prompts[-1].tools] == ["end_conversation"]


@pytest.mark.parametrize("words", [0, 1, 2])
@virtual
async def test_a_hand_over_happens_once_wherever_it_is_interrupted(words: int) -> None:
    async with calling(clinic(), ANNA) as line:
        await line.say("may i speak to a person")
        for _ in range(words):
            await line.next(ReplyText)
        line.session.interrupt()
        await asyncio.sleep(0.2)
        if not line.of(FlowChanged) or stands(line)[0] == "clinic":
            await line.say("a person please")
            await line.next(ReplyEnded, lambda reply: reply.status == "completed")
        assert stands(line)[:2] == ("nurse", "number")
        assert len([e for e in line.of(FlowChanged) if e.position.agent == "nurse"]) == 1
        await line.say("five five five one two three four")
        await line.next(ReplyEnded, lambda reply: reply.status == "completed")
        assert stands(line)[1] == "confirm"


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3, 1.0])
@virtual
async def test_a_deed_is_done_once_wherever_it_is_interrupted(after_s: float) -> None:
    loaded = clinic()
    async with calling(loaded, ANNA) as line:
        for words in ("my knee hurts", "on monday at ten", "anna schmidt"):
            await line.say(words)
            await line.next(ReplyEnded)
        await line.say("yes please")
        await asyncio.sleep(after_s)
        line.session.interrupt()
        await line.say("yes please")
        await line.next(ReplyEnded, lambda reply: reply.status == "completed")
        assert stands(line)[1] == "done"
        store = Store(loaded.toolbox.database, Owner("clinic", ANNA))
        assert [name for _, name, _ in store.appointments(0)] == ["Anna Schmidt"]


@virtual
async def test_what_was_about_to_be_asked_is_asked_by_the_next_reply() -> None:
    async with calling(clinic(), ANNA) as line:
        line.session.add_item("one", Message(Role.USER, "my knee hurts"), None)
        line.session.create_response()
        await line.next(ReplyText)
        line.session.interrupt()
        await line.say("hello")
        asked = await line.next(ReplyEnded, lambda reply: reply.status == "completed")
        assert asked.text.endswith("You can say: next Tuesday.")


@virtual
async def test_a_late_correction_is_agreed_to_again() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("my knee hurts", "on monday at ten", "anna schmidt", "no make it eleven"):
            await line.say(words)
            asked = await line.next(ReplyEnded)
        assert asked.text.startswith("I have Anna Schmidt on Monday, ")
        assert asked.text.endswith("at 11:00 AM, for: my knee hurts. Shall I book it?")
        assert stands(line)[1] == "confirm"


@virtual
async def test_a_client_that_declares_its_own_tools_leads_itself() -> None:
    async with calling(clinic(), ANNA) as line:
        line.session.update(agent_tools=(), instructions="Be a pirate.")
        await line.say("my knee hurts")
        assert (await line.next(ReplyEnded)).text == "I cannot book tables."


def leads(prompt: Prompt) -> str | tuple[ToolCall, ...]:
    """As a large model, that calls tools for values and speaks for itself."""
    names = {tool.name for tool in prompt.tools}
    said, newest = last_user(prompt), prompt.messages[-1]
    if newest.role is Role.TOOL:
        return "Anything else I should know?" if "cough" in said else "Good."
    if "cough" in said and "note_problem" in names:
        return (call("note_problem", problem="a cough"),)
    if "monday" in said and "choose_time" in names:
        return (call("choose_time", day="monday", time="ten"),)
    if "anna" in said:
        return ToolCall("c1", "note_name", {"name": "anna"}), call("book_appointment")
    return "I see."


@virtual
async def test_a_model_that_rephrases_leads_and_the_rules_are_the_same() -> None:
    loaded = replace(clinic("llm.tool_replies=rephrased"), model=Model(leads))
    async with calling(loaded, ANNA) as line:
        await line.say("i have a cough")
        assert (await line.next(ReplyEnded)).text == "Anything else I should know?"
        await line.say("no")
        assert (await line.next(ReplyEnded)).text == "I see. What day would suit you?"
        await line.say("on monday at ten")
        assert (await line.next(ReplyEnded)).text == "Good. What is the patient's name?"
        await line.say("anna")
        assert (await line.next(ReplyEnded)).text.endswith("for: a cough. Shall I book it?")
        assert stands(line)[1] == "confirm"
        await line.say("yes")
        booked = await line.next(ReplyEnded)
        assert (booked.text, stands(line)[1]) == ("Good. Is there anything else?", "done")


@virtual
async def test_who_hangs_up_at_once_may_go_on_in_the_next_call() -> None:
    loaded = clinic()
    async with calling(loaded, ANNA) as line:
        await line.say("my knee hurts")
        await line.next(ReplyEnded)
    for hangs_up in (True, False):
        # What was written of the call before is written in a real thread.
        loaded.toolbox.flow_thread.submit(lambda: None).result()
        async with calling(loaded, ANNA) as line:
            if not hangs_up:
                line.session.greet()
                assert (await line.next(ReplyEnded)).text.startswith("Welcome back.")


DOCS = Path(__file__).parents[3] / "docs"
DONE = "That is done already, and I cannot cancel it, sorry."
BIKES = """
from voice.tools import tool

@tool(read_only=True)
def hire_price(days: int) -> str:
    "Say what a hire costs."
    return f"{days!r} days cost {15 * days} pounds."
"""
SHOP = """
name = "shop"
instructions = "Sell."
greeting = "From what time?"
hand_over = ["workshop"]
[calls]
hire_price = ['price (?:for (?P<days>\\w+(?: and a half)?) days?)']
[takes_over]
when = "Back."
[steps.booking]
needs.time = { kind = "clock time", ask = "From what time?" }
needs.number = { kind = "phone number", ask = "What number?" }
"""
WORKSHOP = """
name = "workshop"
instructions = "Repair."
greeting = "The workshop. What is broken?"
hand_over = ["shop"]
[calls]
hire_price = ['another (?:bike )?for (?P<days>\\w+) days?']
[takes_over]
when = "Hand over."
say = "To the workshop."
patterns = ['workshop', 'came off']
[steps.report]
needs.problem = { kind = "words", says = "I see.", ask = "What is broken?" }
needs.number = { kind = "phone number", ask = "What number?" }
"""


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> VirtualParts:
    """Parts of the first of some agents, each ``name=file``, and of the module ``tools``."""
    module = f"tools_{folder.name}"
    (folder / f"{module}.py").write_text(files.pop("tools"), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    agent, *others = load_team(str(folder / f"{next(iter(files))}.toml"))
    modules = f"tools.modules={json.dumps([module])}"
    loaded = parts(Model(lambda _: "I see."), None, None, "turn.idle_timeout_s=0", modules)
    return replace(loaded, agent=agent, others=tuple(others))


async def typed(line: Call, words: str) -> str:
    """Type a message; returns the reply."""
    line.session.add_item(f"item_{len(line.events)}", Message(Role.USER, words), None)
    line.session.create_response()
    return (await line.next(ReplyEnded)).text


@pytest.mark.parametrize(
    ("said", "reply", "called"),
    [
        ("a tonno", "We are out of tuna today. Which pizza?", 1),
        ("a funghi pizza", "One funghi. What name is it for?", 1),
        ("another margherita", "One margherita. What name is it for?", 1),
        ("funghi", "One funghi. What name is it for?", 1),
        ("oh and could I get a funghi too", "One funghi. What name is it for?", 1),
        ("i like margherita better", "Sorry, I did not get that.", 0),
        ("the margherita is great, thanks", "You're welcome.", 0),
        ("cancel it", DONE, 0),
        ("can I cancel my order?", DONE, 0),
        ("I changed my mind", DONE, 0),
        ("call it off please", DONE, 0),
        ("don't cancel it", "All right. Goodbye.", 0),
        ("no", "All right. Goodbye.", 0),
    ],
)
@virtual
async def test_behind_its_end_the_flow_of_the_docs_begins_anew_and_takes_nothing_back(
    said: str, reply: str, called: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCS / "flows.md").read_text(encoding="utf-8")
    agent, tools = (
        re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[0]
        for language in ("toml", "python")
    )
    async with calling(written(tmp_path, monkeypatch, pizza=agent, tools=tools)) as line:
        for words in ("margherita", "Anna Miller", "yes please"):
            await typed(line, words)
        before = len(calls(line))
        assert await typed(line, said) == reply
        assert len(calls(line)) - before == called


DESK = """
name = "desk"
instructions = "Help."
greeting = "The desk, hello. What can I do for you?"
tools = ["order_taxi", "hire_driver"]
hand_over = ["inn"]
[takes_over]
when = "To the desk."
say = "To the desk."
patterns = ['desk', 'taxi']
"""
INN = """
name = "inn"
instructions = "Book tables."
greeting = "The inn. At what time?"
tools = ["look_up"]
hand_over = ["desk"]
cannot_say = "I do not know that."
[takes_over]
when = "To the inn."
say = "To the inn."
patterns = ['table']
[steps.table]
needs.time = { kind = "clock time", ask = "At what time?" }
needs.guest = { kind = "person", ask = "What name?" }
goes_to = "confirm"
[steps.confirm]
tools = ["book_table"]
needs.booked = { tool = "book_table", ask = "Shall I book {time}?" }
goes_to = "done"
[steps.done]
"""
TAXIS = """
from typing import Annotated

from voice.tools import ToolError, tool
from voice.tools.kinds import KINDS

@tool()
def order_taxi(place: str, time: Annotated[str, KINDS["clock time"]] = "") -> str:
    "Order a taxi."
    return f"A taxi to the {place}."

@tool()
def hire_driver(day: Annotated[str, KINDS["day"]]) -> str:
    "Hire a driver."
    return "Hired."

@tool()
def book_table() -> str:
    "Book a table."
    return "Booked."

def _unknown(given, message):
    if "parking" not in message:
        raise ToolError("Nothing.")

@tool(read_only=True, looks_up=True, refuses=_unknown)
def look_up(query: str) -> str:
    "Look something up."
    return "Parking is free."
"""


def ordering(prompt: Prompt) -> str | tuple[ToolCall, ...]:
    """As a model that orders taxis to the station, and takes a desk for a day."""
    if "order_taxi" in {tool.name for tool in prompt.tools} and "station" in last_user(prompt):
        at = {"time": "nine"} if "nine" in last_user(prompt) else {}
        return (call("order_taxi", place="station", **at),)
    if "hire_driver" in {tool.name for tool in prompt.tools} and "desk" in last_user(prompt):
        return (call("hire_driver", day="the desk"),)
    return "I will put you through."


@pytest.mark.parametrize(
    ("messages", "reply", "known"),
    [
        # What belongs to the request handed over is no value of the first agent's.
        (
            ["a table please", "a taxi to the station at nine"],
            "To the desk. A taxi to the station.",
            {},
        ),
        (
            ["a table please", "at eight, and I need a taxi to the station, at nine"],
            "Thank you. To the desk. A taxi to the station.",
            {"time": "8:00 AM"},
        ),
        # Nothing is asked for beside the agent itself, whose greeting was heard before.
        (
            ["a table please", "the desk please"],
            "To the desk. What can I do for you?",
            {},
        ),
        (
            ["a table please", "the desk, a driver"],
            "To the desk. I could not read the day the desk.",
            {},
        ),
        # Nor is the message handed back.
        (
            ["a table please", "a taxi to my table at the station"],
            "To the desk. A taxi to the station.",
            {},
        ),
        # An agent without steps answers its own request first.
        (
            ["order one to the station and book a table at eight"],
            "A taxi to the station. To the inn. The inn. Thank you. What name?",
            {"time": "8:00 AM"},
        ),
        # A question beside a "yes" is looked up before it is declined.
        (
            ["a table at eight", "Anna Miller", "yes, and is there parking?"],
            "Booked. Parking is free.",
            {"time": "8:00 AM", "guest": "Anna Miller", "booked": "Booked."},
        ),
        (
            ["a table at eight", "Anna Miller", "yes, and is there a pool?"],
            "Booked. I do not know that.",
            {"time": "8:00 AM", "guest": "Anna Miller", "booked": "Booked."},
        ),
    ],
)
@virtual
async def test_a_message_that_hands_over_is_read_by_the_agent_that_it_is_for(
    messages: list[str],
    reply: str,
    known: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    team = written(tmp_path, monkeypatch, desk=DESK, inn=INN, tools=TAXIS)
    async with calling(replace(team, model=Model(ordering))) as line:
        for words in messages:
            told = await typed(line, words)
        assert told == reply
        assert stands(line)[2] == known


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("the price for three days", "3 days cost 45 pounds. From what time?"),
        ("the price for 2 days", "2 days cost 30 pounds. From what time?"),
        ("the price for some days", "I could not read the days some. From what time?"),
        (
            "the price for two and a half days",
            "I could not read the days two and a half. From what time?",
        ),
        ("A 10.", "Thank you. What number?"),
        ("two people", "Sorry, I did not get that. From what time?"),
        (
            "the chain of my bike came off",
            "To the workshop. The workshop. I see. What number?",
        ),
        (
            "the chain came off, I need another bike for two days",
            "To the workshop. The workshop. I see. 2 days cost 30 pounds. What number?",
        ),
        ("the workshop please", "To the workshop. The workshop. What is broken?"),
    ],
)
@virtual
async def test_what_one_message_brings(
    said: str, reply: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"shop": SHOP, "workshop": WORKSHOP, "tools": BIKES}
    async with calling(written(tmp_path, monkeypatch, **files)) as line:
        assert await typed(line, said) == reply
