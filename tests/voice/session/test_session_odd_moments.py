"""What a transport asks of a session at moments when nobody expects it, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np
import pytest

from tests.support import virtual_tools
from tests.support.virtual_parts import (
    Answer,
    Model,
    Recognizer,
    Tape,
    call,
    calling,
    last_user,
    parts,
)
from tests.support.virtual_time import spend, virtual
from voice.callers import LOCAL, Owner
from voice.dialogue.conversation import STILL_THERE
from voice.errors import ProtocolError
from voice.events import DraftsUsed, Failure, FinalTranscript, ReplyEnded, ReplyText, SessionEnded
from voice.llm.base import AnswerDone, MalformedAnswer, ModelEvent, Prompt
from voice.session.session import Session
from voice.tools.store import Alert, AlertKind, Store
from voice.types import SAMPLE_RATE_HZ, Message, Role, ToolSpec

NEVER_ASKS = "turn.idle_timeout_s=0"


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


class HangsUp(Model):
    """The call ends at the very moment at which a draft of its has called a tool."""

    session: Session

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        async for event in super().answer(prompt):
            if isinstance(event, AnswerDone):
                self.session.close("the caller hung up")
            yield event


@virtual
async def test_a_draft_that_is_made_as_the_call_ends_does_not_make_it_a_failure() -> None:
    model = HangsUp(lambda _: call("look_up", topic="tea"))
    async with calling(parts(model)) as line:
        model.session = line.session
        saying = asyncio.create_task(line.say("tell me about tea"))
        assert (await line.next(SessionEnded)).reason == "the caller hung up"
        assert virtual_tools.LEDGER == []
        saying.cancel()


@virtual
async def test_what_is_asked_of_a_conversation_that_is_being_left_is_not_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_back = Store.put_back_alert

    def slowly(store: Store, alert: Alert) -> None:
        spend(5.0)
        put_back(store, alert)

    monkeypatch.setattr(Store, "put_back_alert", slowly)
    loaded = parts(Model(lambda _: "Fine."), None, None, "turn.idle_timeout_s=0")
    tools = {"tools": (*loaded.agent.tools, "set_reminder")}
    loaded = replace(loaded, agent=loaded.agent.model_copy(update=tools))
    owner = Owner(loaded.agent.name, LOCAL)
    Store(loaded.toolbox.database, owner).add_alert(AlertKind.REMINDER, "call mom", 1.0, "gone")
    async with calling(loaded, LOCAL) as line:
        await line.next(ReplyText)
        line.session.close()
        # Nobody has heard the reminder, which takes a while to be put back.
        await asyncio.sleep(1.0)
        assert not line.of(SessionEnded)
        line.session.update(client_tools=(ToolSpec("open_door", "Open.", {}),))
        line.session.greet()
        line.session.update(agent_tools=())
        line.session.update(agent_tools=tools["tools"])
        assert (await line.next(SessionEnded)).reason == "closed"


@virtual
async def test_a_turn_ends_although_the_client_sends_nothing_behind_its_last_word() -> None:
    async with calling(parts(Model(lambda _: "Fine."), None, None, NEVER_ASKS)) as line:
        for turns in (1, 2):
            line.sends = True
            await line.say("how are you")
            line.sends = False
            async with asyncio.timeout(5):
                assert (await line.next(ReplyEnded)).text == "Fine."
            await asyncio.sleep(60)
            said = [words for role, words in line.history() if role == "user"]
            assert said == ["how are you"] * turns


@virtual
async def test_a_sentence_that_comes_in_bursts_is_one_turn() -> None:
    async with calling(parts(Model(lambda _: "Fine."), None, None, NEVER_ASKS)) as line:
        line.collects = 100
        words = "one two three four five six seven eight nine ten eleven twelve"
        for turns in (1, 2):
            await line.say(words)
            assert (await line.next(ReplyEnded)).text == "Fine."
            assert line.history()[-2:] == [("user", words), ("agent", "Fine.")]
            assert len(line.of(FinalTranscript)) == turns


@virtual
async def test_a_recording_that_is_sent_at_once_is_answered_as_soon_as_other_audio() -> None:
    tape = Tape()
    loaded = parts(Model(lambda _: "Fine."), None, Recognizer(tape), NEVER_ASKS)
    async with calling(loaded) as line:
        line.sends = False
        line.session.append_audio(tape.record("how are you " * 9), SAMPLE_RATE_HZ)
        await line.next(ReplyEnded)
        assert line.times(FinalTranscript)[0] < 2.5


@virtual
async def test_a_client_that_marks_its_turns_itself_may_send_nothing_for_long() -> None:
    async with calling(parts(Model(lambda _: "Fine."), None, None, NEVER_ASKS)) as line:
        line.session.update(turn_detection=False)
        await line.say("how are you")
        line.sends = False
        await asyncio.sleep(60)
        assert not line.of(FinalTranscript)
        line.session.commit_audio()
        assert (await line.next(FinalTranscript)).seconds < 2
        with pytest.raises(ProtocolError, match="got 0 ms"):
            line.session.commit_audio()


@virtual
async def test_a_client_that_marks_its_turns_may_send_a_long_one_unasked() -> None:
    async with calling(
        parts(Model(lambda _: "Fine."), None, None, "turn.idle_timeout_s=5")
    ) as line:
        line.session.update(turn_detection=False)
        await line.say("word " * 100)
        assert not line.of(ReplyText)
        line.sends = False
        assert (await line.next(ReplyText)).delta == STILL_THERE
        await line.next(SessionEnded)


@virtual
async def test_a_client_that_drops_its_audio_does_not_spoil_the_reply_that_is_being_made() -> None:
    model = Model(lambda _: "There was once a fox. He was old and grey.", forward_s=0.5)
    async with calling(parts(model, None, None, NEVER_ASKS)) as line:
        await line.say("tell me a story")
        # The reply reads a draft that is still being made.
        await line.next(ReplyText)
        line.session.clear_audio()
        ended = await line.next(ReplyEnded)
        assert ended.text == "There was once a fox. He was old and grey."
        assert line.of(DraftsUsed)[-1].outcome == "stood"


@pytest.mark.parametrize("holds", [True, False])
@virtual
async def test_who_stops_a_reply_that_only_plays_is_answered_and_hears_no_more_of_it(
    holds: bool,
) -> None:
    story = "There was once a fox. He was old and grey, and he slept all day long in a wood."
    model = Model(lambda prompt: story if last_user(prompt).startswith("tell") else "Fine.")
    async with calling(parts(model, None, None, NEVER_ASKS)) as line:
        line.session.update(holds=holds)
        await line.say("tell me a story")
        reply_id = (await line.next(ReplyEnded)).reply_id
        line.session.truncate(reply_id, 300)
        await asyncio.sleep(0.5)
        await line.say("okay")
        assert (await line.next(ReplyEnded)).text == "Fine."
        assert line.history()[1:] == [("agent", "There"), ("user", "okay"), ("agent", "Fine.")]
