"""The clinic's front desk over a real socket, with the model that ships: typed, and spoken."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import soxr
from websockets.asyncio.client import ClientConnection, connect

from tests.support.serving import receive, receive_until, send
from tests.voice.realtime.test_over_sockets import TRANSCRIPTS, hear, running
from voice.callers import LOCAL, Owner
from voice.session.resources import Resources
from voice.speech.normalization import spoken
from voice.tools import local_now
from voice.tools.store import Store
from voice.types import Samples, Segment

EVENTS = {"events": ["flow", "tools"]}
WRITTEN = {"type": "realtime", "output_modalities": ["text"], "quicksilver": EVENTS}


@pytest.fixture(scope="module")
def public_clinic(embedded_parts: Resources) -> Resources:
    return embedded_parts.for_agent("clinic")


@pytest.fixture(scope="module")
def clinic(public_clinic: Resources) -> Resources:
    """One whose caller on this machine is always the same."""
    return replace(public_clinic, agent=public_clinic.agent.model_copy(update={"public": False}))


@pytest.fixture(autouse=True)
def _nothing_kept(clinic: Resources) -> None:
    clinic.toolbox.database.delete(LOCAL)


class Caller:
    """A caller who types; `flow` is where the conversation stands."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.flow: dict[str, Any] = {}
        self.tools: list[str] = []

    async def hears(self) -> str:
        """The agent's next reply."""
        text = ""
        while True:
            event = await receive(self.socket)
            match event["type"]:
                case "quicksilver.flow":
                    self.flow = event
                case "quicksilver.tool_call":
                    self.tools.append(event["name"])
                case "response.output_text.done":
                    text = event["text"]
                case "response.done":
                    assert event["response"]["status"] == "completed", event
                    return str(text)
                case "error":
                    raise AssertionError(event)

    async def says(self, text: str) -> str:
        """Type something; the answer."""
        content = [{"type": "input_text", "text": text}]
        item = {"type": "message", "role": "user", "content": content}
        await send(self.socket, "conversation.item.create", item=item)
        await send(self.socket, "response.create")
        return await self.hears()


@asynccontextmanager
async def calling(address: str) -> AsyncGenerator[tuple[Caller, str], None]:
    """A caller, and the greeting."""
    async with connect(address) as socket:
        await send(socket, "session.update", session=WRITTEN)
        caller = Caller(socket)
        yield caller, await caller.hears()


def booked(clinic: Resources) -> list[tuple[str, str]]:
    had = Store(clinic.toolbox.database, Owner("clinic", LOCAL)).appointments(0)
    return [(name, about) for _, name, about in had]


def in_some_days() -> str:
    """The name of a working day that is neither today nor tomorrow, even if a day begins now."""
    days = (local_now() + timedelta(days) for days in (3, 4, 5))
    return next(f"{day:%A}" for day in days if day.weekday() < 5)


async def test_an_appointment_is_booked_from_beginning_to_end(clinic: Resources) -> None:
    async with running(clinic) as address, calling(address) as (caller, greeting):
        assert greeting == clinic.agent.greeting
        assert (caller.flow["agent"], caller.flow["step"]) == ("clinic", "triage")
        assert "What day" in await caller.says("I have a bad cough")
        assert await caller.says("can I come on Sunday") == (
            "We are closed on Sundays. We are open Monday to Friday, from 9 AM to 5 PM."
            " Which day shall it be? You can say: next Tuesday."
        )
        weekday = in_some_days()
        assert (await caller.says(f"then {weekday}")).endswith("At what time?")
        assert (await caller.says("at half past ten")).endswith("What is the patient's name?")
        assert caller.flow["missing"] == ["name"]
        assert "I need a name" in await caller.says("I'd rather not say")
        asked = await caller.says("Anna Schmidt")
        assert asked.startswith(f"I have Anna Schmidt on {weekday}, ")
        assert asked.endswith(" at 10:30 AM, for: a bad cough. Shall I book it?")
        assert "change" in await caller.says("no")
        assert "at 11:00 AM" in await caller.says("make it eleven")
        assert (caller.flow["step"], booked(clinic)) == ("confirm", [])
        done = await caller.says("yes please")
        assert done.startswith(f"Booked: {weekday}, ")
        assert done.endswith(" at 11:00 AM. Is there anything else?")
        assert caller.flow["step"] == "done"
        assert booked(clinic) == [("Anna Schmidt", "a bad cough")]
        assert caller.tools.count("book_appointment") == 1


async def test_an_emergency_is_answered_in_a_step_which_then_goes_on(clinic: Resources) -> None:
    async with running(clinic) as address, calling(address) as (caller, _):
        await caller.says("a rash on my arm")
        assert "call 911 now" in await caller.says("my father is not breathing")
        assert caller.flow["step"] == "booking"
        assert "call 911 now" in await caller.says("on friday")
        assert (await caller.says("false alarm, he is fine")).startswith("Good.")
        assert (await caller.says("on friday")).endswith("At what time?")


async def test_hours_are_told_and_cancelling_asks_first_wherever_the_flow_is(
    clinic: Resources,
) -> None:
    async with running(clinic) as address, calling(address) as (caller, _):
        assert (await caller.says("What are your opening hours?")).startswith("We are open")
        await caller.says("a rash on my arm")
        await caller.says(f"on {in_some_days()} at ten")
        known = caller.flow["known"]
        told = await caller.says("when do you close on Friday?")
        assert told.startswith("We are open") and caller.flow["known"] == known
        assert (await caller.says("cancel my appointment")).startswith("I see no appointment yet.")
        assert caller.flow["step"] == "find"
        asked = await caller.says(f"a rash on my arm, {in_some_days()} at ten. Anna Schmidt")
        assert asked.endswith("Shall I book it?")
        told = await caller.says("what are your opening hours?")
        assert told.startswith("We are open") and told.endswith(". Shall I book it?")
        await caller.says("yes")
        assert (await caller.says("thanks, actually no, cancel that")).startswith("Shall I cancel")
        assert (await caller.says("yes")).startswith(f"Cancelled: {in_some_days()}, ")
        assert booked(clinic) == []


async def test_who_wants_a_person_is_handed_over_and_comes_back(clinic: Resources) -> None:
    async with running(clinic) as address, calling(address) as (caller, _):
        await caller.says("my back hurts")
        handed = await caller.says("can I speak to a person")
        assert handed == (
            "I will put you through to the nurse's line. This is the nurse's line. A nurse will"
            " call you back. What number can we reach you at?"
        )
        assert (caller.flow["agent"], caller.flow["step"]) == ("nurse", "number")
        assert caller.flow["reason"] == "can I speak to a person"
        assert caller.flow["known"] == {"problem": "my back hurts"}
        assert "5 5 5 1 2 3 4" in await caller.says("555 1234")
        assert "call 911 now" in await caller.says("he is not breathing")
        assert (await caller.says("the ambulance is coming")).startswith("Good.")
        assert "call 911 now" in await caller.says("he is choking")
        assert (await caller.says("nobody's in danger, it was the radio")).startswith("Good.")
        assert (await caller.says("yes")).endswith("Shall a nurse call 5 5 5 1 2 3 4?")
        assert "called back" in await caller.says("yes")
        kept = clinic.toolbox.database.export(LOCAL)["appointments"]
        assert [(row["agent"], row["about"]) for row in kept] == [
            ("nurse", "call back: my back hurts")
        ]


async def test_who_hangs_up_goes_on_where_they_were(clinic: Resources) -> None:
    async with running(clinic) as address:
        async with calling(address) as (caller, _):
            await caller.says("I have a headache")
            await caller.says("on monday at nine")
        async with calling(address) as (caller, greeting):
            assert greeting.startswith("Welcome back. So far I have: a headache, Monday, ")
            assert greeting.endswith("9:00 AM. What is the patient's name?")
            assert (caller.flow["step"], caller.flow["missing"]) == ("booking", ["name"])
            assert (await caller.says("it's Peter")).endswith("Shall I book it?")
            await caller.says("yes")
        async with calling(address) as (caller, greeting):
            assert greeting == clinic.agent.greeting


async def test_of_a_public_agents_callers_none_goes_on_where_another_was(
    public_clinic: Resources,
) -> None:
    async with running(public_clinic) as address:
        async with calling(address) as (caller, _):
            await caller.says("I have a headache")
            await caller.says("on monday at nine")
            await caller.says("it's Peter")
        async with calling(address) as (caller, greeting):
            assert greeting == public_clinic.agent.greeting
            await caller.says("a rash on my arm")
            assert caller.flow["known"] == {"problem": "a rash on my arm"}
            assert booked(public_clinic) == []


async def test_two_calls_of_one_caller_have_each_its_own_flow_and_question(
    clinic: Resources,
) -> None:
    async with running(clinic) as address, calling(address) as (one, _):
        await one.says("I have a headache")
        await one.says("on monday at nine")
        async with calling(address) as (other, greeting):
            assert greeting == clinic.agent.greeting
            await other.says("a rash on my arm")
            asked = await one.says("Peter")
            assert asked.startswith("I have Peter on Monday") and "a headache" in asked
            # It answers no question of the other call's.
            assert not (await other.says("yes")).startswith("Booked")
            assert other.flow["known"] == {"problem": "a rash on my arm"}
            assert (await one.says("yes")).startswith("Booked")
            await other.says("on tuesday at ten")
        async with calling(address) as (again, greeting):
            assert greeting.startswith("Welcome back. So far I have: a rash on my arm, Tuesday")
            assert (await again.says("it's Peter")).endswith("Shall I book it?")
    assert booked(clinic) == [("Peter", "a headache")]


async def test_two_calls_of_one_caller_order_apart(embedded_parts: Resources) -> None:
    shop = embedded_parts.for_agent("coffee")
    async with (
        running(shop) as address,
        calling(address) as (one, _),
        calling(address) as (other, _),
    ):
        await one.says("a large latte please")
        await other.says("a small mocha please")
        assert "latte" not in await other.says("what is in my order")
        assert "mocha" not in await one.says("what is in my order")


async def test_the_flow_is_told_to_who_asks_for_it_later(clinic: Resources) -> None:
    async with running(clinic) as address, connect(address) as socket:
        await send(socket, "session.update", session={"type": "realtime"})
        events = await receive_until(socket, "session.updated")
        assert "quicksilver.flow" not in [event["type"] for event in events]
        changed = {"type": "realtime", "quicksilver": {**EVENTS, "greet": False}}
        await send(socket, "session.update", session=changed)
        assert (await receive_until(socket, "quicksilver.flow"))[-1] | {"event_id": ""} == {
            "type": "quicksilver.flow",
            "event_id": "",
            "agent": "clinic",
            "step": "triage",
            "reason": "",
            "known": {},
            "missing": ["problem"],
        }


def said(clinic: Resources, words: str) -> Samples:
    """Words in a voice of ours, and silence behind them, at 24 kHz."""
    segment = Segment(0, 0, words, spoken(words))
    chunks = [*clinic.synthesizer.synthesize(segment)]
    sound = np.concatenate([chunk.samples for chunk in chunks])
    at_wire = soxr.resample(sound, chunks[0].sample_rate_hz, 24_000)
    return np.concatenate((at_wire, np.zeros(48_000, np.int16)))


async def test_the_conversation_is_spoken(clinic: Resources) -> None:
    async with running(clinic) as address, connect(address) as socket:
        session = {"type": "realtime", **TRANSCRIPTS, "quicksilver": {**EVENTS, "greet": False}}
        await send(socket, "session.update", session=session)
        steps = []
        for words in (
            "I have a headache.",
            "On Tuesday at half past ten.",
            "My name is Peter Miller.",
            "Yes please.",
        ):
            await hear(socket, said(clinic, words))
            events = await receive_until(socket, "response.done")
            steps += [e["step"] for e in events if e["type"] == "quicksilver.flow"]
        assert steps[-1] == "done"
        assert [about for _, about in booked(clinic)] == ["a headache"]
