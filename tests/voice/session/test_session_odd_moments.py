"""What a transport asks of a session at moments when nobody expects it, on virtual time."""

from __future__ import annotations

import asyncio

import numpy as np

from tests.support.virtual_parts import Answer, Model, calling, parts
from tests.support.virtual_time import virtual
from voice.events import Failure, ReplyEnded, SessionEnded
from voice.llm.base import MalformedAnswer, Prompt
from voice.types import Message, Role


@virtual
async def test_what_is_asked_of_a_conversation_that_is_over_is_not_done() -> None:
    model = Model(lambda _: "Fine.")
    async with calling(parts(model)) as line:
        session = line.session
        session.close("ended by the agent")
        await line.next(SessionEnded)
        session.add_item("mine", Message(Role.USER), None)
        session.hear_item("mine", np.ones(1600, np.int16), 16_000)
        session.cancel_response(session.create_response())
        session.create_response()
        session.update(turn_detection=False)
        session.clear_audio()
        await asyncio.sleep(1)
        assert model.prompts == []


@virtual
async def test_a_malformed_answer_is_asked_for_again_from_within_its_own_task() -> None:
    failures = [MalformedAnswer("bad")]

    def answer(prompt: Prompt) -> Answer:
        return failures.pop() if failures else "Fine."

    async with calling(parts(Model(answer), None, None, "drafting.enabled=false")) as line:
        await line.say("hello")
        assert (await line.next(ReplyEnded)).text == "Fine."
        assert not line.of(Failure)
