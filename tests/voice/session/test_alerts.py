"""Timers and reminders that are due, as a conversation tells them, on virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.support.virtual_parts import Call, Model, VirtualParts, Voice, calling, parts
from tests.support.virtual_time import virtual
from voice.callers import LOCAL, Owner
from voice.errors import ModelError
from voice.events import ReplyAudio, ReplyEnded, ReplyStatus, ReplyText
from voice.inputs import AudioPlayed
from voice.session.session import ALERTS_AFTER_S
from voice.tools.store import AlertKind, Store
from voice.types import Message, Role, ToolSpec


def with_timers(*overrides: str, voice: Voice | None = None) -> VirtualParts:
    """Parts whose agent can set timers and says "Fine.", and never asks who is there."""
    quiet = "turn.idle_timeout_s=0"
    loaded = parts(Model(lambda _: "Fine."), voice, None, quiet, *overrides)
    tools = (*loaded.agent.tools, "set_reminder")
    return replace(loaded, agent=loaded.agent.model_copy(update={"tools": tools}))


def store_of(loaded: VirtualParts) -> Store:
    return Store(loaded.toolbox.database, Owner(loaded.agent.name, LOCAL))


def remind(loaded: VirtualParts, *labels: str) -> None:
    """Reminders that were due long ago, soonest first."""
    for due, label in enumerate(labels, 1):
        store_of(loaded).add_alert(AlertKind.REMINDER, label, float(due), "gone")


def left(loaded: VirtualParts) -> list[str]:
    """What nobody has been told."""
    return [alert.label for alert in store_of(loaded).alerts()]


def told(line: Call) -> list[str]:
    """What was announced to the end."""
    ended = (e for e in line.of(ReplyEnded) if e.status is ReplyStatus.COMPLETED)
    return [e.text.rpartition(": ")[2].rstrip(".") for e in ended if "Reminder" in e.text]


@virtual
async def test_all_that_is_due_is_told_in_its_order() -> None:
    loaded = with_timers()
    labels = [f"chore {number}" for number in range(24)]
    remind(loaded, *labels)
    async with calling(loaded, LOCAL) as line:
        await asyncio.sleep(200)
        assert told(line) == labels
    assert left(loaded) == []


@virtual
async def test_what_the_client_stops_delays_no_other_and_is_told_behind_the_next_answer() -> None:
    loaded = with_timers()
    remind(loaded, "call mom", "buy milk")
    async with calling(loaded, LOCAL) as line:
        await line.next(ReplyText)
        line.session.interrupt()
        await asyncio.sleep(20)
        assert (told(line), left(loaded)) == (["buy milk"], ["call mom"])
        await line.say("how are you today and what is new")
        await asyncio.sleep(20)
        assert (told(line), left(loaded)) == (["buy milk", "call mom"], [])


@pytest.mark.parametrize("kind", [ReplyText, ReplyAudio])
@virtual
async def test_what_nobody_has_heard_is_told_in_the_next_conversation(kind: type) -> None:
    loaded = with_timers()
    remind(loaded, "call mom", "buy milk")
    async with calling(loaded, LOCAL) as line:
        await line.next(kind)
    assert left(loaded) == ["call mom", "buy milk"]
    async with calling(loaded, LOCAL) as line:
        await asyncio.sleep(20)
        assert told(line) == ["call mom", "buy milk"]
    assert left(loaded) == []


@virtual
async def test_a_reminder_that_is_the_last_that_was_heard_of_a_conversation_rings_no_more() -> None:
    loaded = with_timers()
    remind(loaded, "call mom", "buy milk")
    async with calling(loaded, LOCAL) as line:
        told_of = (await line.next(ReplyEnded)).reply_id
        line.session._runner.feed(AudioPlayed(told_of))
    assert left(loaded) == ["buy milk"]
    async with calling(loaded, LOCAL) as line:
        told_of = (await line.next(ReplyEnded)).reply_id
        line.session.played(told_of, 60_000)
    assert left(loaded) == []


@virtual
async def test_a_reminder_that_the_user_talks_over_is_told_behind_the_answer() -> None:
    loaded = with_timers(voice=Voice(word_s=2.0))
    remind(loaded, "call mom")
    async with calling(loaded, LOCAL) as line:
        rung = await line.next(ReplyText)
        await line.say("how are you today and what is new")
        await line.next(ReplyText, lambda text: text.delta == "Fine.")
        await line.next(ReplyText, lambda text: text.delta == rung.delta)


@virtual
async def test_a_reminder_may_be_heard_at_the_moment_at_which_none_is_to_ring_any_more() -> None:
    loaded = with_timers()
    remind(loaded, "call mom")
    async with calling(loaded, LOCAL) as line:
        told_of = (await line.next(ReplyEnded)).reply_id
        line.session.update(agent_tools=("look_up",))
        line.session._runner.feed(AudioPlayed(told_of))
        await asyncio.sleep(10)
        line.session.update(agent_tools=loaded.agent.tools)
        await asyncio.sleep(10)
        assert told(line) == ["call mom", "call mom"]


@virtual
async def test_what_is_typed_while_a_reminder_is_spoken_is_answered_and_the_reminder_told() -> None:
    loaded = with_timers()
    remind(loaded, "call mom")
    async with calling(loaded, LOCAL) as line:
        await line.next(ReplyText)
        line.session.add_item("typed", Message(Role.USER, "how are you"), None)
        line.session.create_response()
        await line.next(ReplyEnded, lambda ended: ended.text == "Fine.")
        await asyncio.sleep(10)
        assert told(line) == ["call mom"]
    assert left(loaded) == []


@virtual
async def test_it_rings_once_where_a_voice_fails_and_is_left_for_another_conversation() -> None:
    loaded = with_timers(voice=Voice(broken=ModelError("no voice")))
    remind(loaded, "call mom")
    async with calling(loaded, LOCAL) as line:
        await asyncio.sleep(60)
        assert len(line.of(ReplyEnded)) == 1
    assert left(loaded) == ["call mom"]


@pytest.mark.parametrize(
    "changes",
    [
        {"agent_tools": (), "client_tools": (ToolSpec("open_door", "Open.", {}),)},
        {"agent_tools": ("look_up",)},
    ],
)
@virtual
async def test_nothing_rings_where_the_user_could_not_have_set_it(
    changes: dict[str, object],
) -> None:
    loaded = with_timers()
    remind(loaded, "call mom")
    async with calling(loaded, LOCAL) as line:
        await asyncio.sleep(ALERTS_AFTER_S / 2)
        before = line.session.options.agent_tools
        line.session.update(**changes)
        await asyncio.sleep(60)
        assert not line.events
        line.session.update(agent_tools=before)
        await asyncio.sleep(10)
        assert told(line) == ["call mom"]
