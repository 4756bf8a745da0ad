"""Moments for which the agent's words are fixed, in a whole conversation on virtual time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.virtual_parts import Model, VirtualParts, calling, last_user, parts
from tests.support.virtual_time import virtual
from voice.config.moments import Moment
from voice.events import ReplyEnded, ReplyStarted
from voice.types import Message, Role

CANNOT_CALL = "I cannot call anybody."


def with_moments(model: Model, *overrides: str) -> VirtualParts:
    loaded = parts(model, None, None, "turn.idle_timeout_s=0", *overrides)
    moments = {"fire": Moment(say=CANNOT_CALL, patterns=("is on fire",))}
    return replace(loaded, agent=loaded.agent.model_copy(update={"moments": moments}))


@pytest.mark.parametrize("drafting", ["true", "false"])
@virtual
async def test_a_spoken_message_is_answered_at_once_with_drafts_and_without(drafting: str) -> None:
    model = Model(lambda _: "Fine.", forward_s=5)
    async with calling(with_moments(model, f"drafting.enabled={drafting}")) as line:
        await line.say("help the kitchen is on fire")
        assert (await line.next(ReplyEnded)).text == CANNOT_CALL
        after_start = line.heard_after() - (line.times(ReplyStarted)[0] - line.turns_said[0])
        assert after_start < (0.01 if drafting == "true" else 0.05)
        # Only what it might have been before it was all said was drafted.
        assert "help the kitchen is on fire" not in [last_user(asked) for asked in model.prompts]


@virtual
async def test_a_typed_message_waits_for_nothing_either() -> None:
    model = Model(lambda _: "Fine.")
    async with calling(with_moments(model)) as line:
        line.session.add_item("typed", Message(Role.USER, "The kitchen's on fire!"), None)
        line.session.create_response()
        assert (await line.next(ReplyEnded)).text == CANNOT_CALL
        assert model.prompts == []
        line.session.add_item("more", Message(Role.USER, "It was only smoke."), None)
        line.session.create_response()
        assert (await line.next(ReplyEnded)).text == "Fine."
