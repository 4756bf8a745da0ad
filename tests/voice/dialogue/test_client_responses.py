from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TypeVar

import pytest

from voice.dialogue.client_responses import ClientResponses, Context, Heeded
from voice.dialogue.commands import Command, Emit, Generate, Speak
from voice.dialogue.conversation import NOT_UNDERSTOOD, Conversation
from voice.errors import ProtocolError
from voice.events import Failure, FinalTranscript, ReplyEnded, ReplyText, TranscriptFailed
from voice.inputs import (
    ItemHeard,
    ItemUnheard,
    ModelAnswered,
    ModelSaid,
    RecognitionFailed,
    SessionOptions,
)
from voice.types import EndReason, Message, Role, SpeechStarted, Transcript, TurnEnded

OPTIONS = SessionOptions(turn_detection=False, speak=False)
COMMITTED = TurnEnded(1, 16_000, 16_000, EndReason.MANUAL)

T = TypeVar("T")


class Client:
    """Asks for replies; keeps all commands."""

    def __init__(self) -> None:
        numbers = itertools.count(1)

        def ids(prefix: str) -> str:
            return f"{prefix}{next(numbers)}"

        self.conversation = Conversation(OPTIONS, {}, ids)
        self.wanted = ClientResponses(self.conversation, ids, 6, 24)
        self.commands: list[Command] = []

    def feed(self, *events: Heeded) -> None:
        for event in events:
            self.commands += self.wanted.feed(event)

    def ask(self, context: Context | None = None, beside: bool = False) -> str:
        reply_id, commands = self.wanted.begin(OPTIONS, context, beside)
        self.commands += commands
        return reply_id

    def of(self, kind: type[T]) -> list[T]:
        return [command for command in self.commands if isinstance(command, kind)]

    def told(self, kind: type[T]) -> list[T]:
        return [c.event for c in self.of(Emit) if isinstance(c.event, kind)]

    def asked(self) -> list[list[str]]:
        """What each prompt says."""
        return [[m.content for m in command.prompt.messages] for command in self.of(Generate)]

    def add(self, item_id: str, text: str, role: Role = Role.USER) -> None:
        self.conversation.dialogue.add(item_id, Message(role, text))


def heard(text: str, turn_id: int = 1) -> Transcript:
    return Transcript(turn_id, text, final=True, confidence=0.9, end_sample=16_000)


@pytest.mark.parametrize("beside", [False, True])
def test_a_reply_waits_for_the_words_that_were_committed_before_it(beside: bool) -> None:
    client = Client()
    client.feed(COMMITTED)
    client.ask(beside=beside)
    assert client.asked() == []
    client.feed(heard("what time is it"))
    assert client.asked() == [["what time is it"]]


def test_words_that_never_come_are_not_waited_for() -> None:
    client = Client()
    client.add("i1", "hello")
    client.feed(COMMITTED)
    client.ask(beside=True)
    client.feed(RecognitionFailed(1, "gone"))
    assert client.asked() == [["hello"]]


def test_what_was_not_understood_is_not_answered() -> None:
    client = Client()
    client.feed(COMMITTED)
    client.ask()
    client.feed(heard(""))
    assert client.asked() == []
    assert client.told(ReplyText)[0].delta == NOT_UNDERSTOOD


def test_a_committed_turn_is_answered_when_asked_for_alone() -> None:
    client = Client()
    client.conversation.options = replace(OPTIONS, turn_detection=True)
    client.feed(SpeechStarted(1, 0), COMMITTED, heard("hello"))
    assert client.asked() == []
    assert client.told(FinalTranscript)[0].text == "hello"


def test_the_context_is_of_items_and_messages() -> None:
    client = Client()
    client.add("i1", "one")
    client.add("i2", "two")
    client.ask(["i2", Message(Role.AGENT, "three"), Message(Role.USER, "four")], beside=True)
    assert client.asked() == [["two", "three", "four"]]
    with pytest.raises(ProtocolError) as refused:
        client.ask(["nobody"])
    assert refused.value.code == "item_not_found"
    assert client.conversation.active_reply is None


def test_an_answer_to_another_context_is_the_conversations() -> None:
    client = Client()
    client.add("i1", "one")
    reply_id = client.ask([Message(Role.USER, "two")])
    client.feed(ModelSaid(reply_id, "Three."), ModelAnswered(reply_id, (), False, 1, 1))
    client.ask()
    assert client.asked() == [["two"], ["one", "Three."]]


def test_beside_the_conversation_nothing_is_left_behind() -> None:
    client = Client()
    client.add("i1", "one")
    own = client.ask()
    aside = client.ask(beside=True)
    assert client.asked() == [["one"], ["one"]]
    client.feed(ModelSaid(aside, "Aside."), ModelAnswered(aside, (), False, 1, 1))
    assert [m.content for m in client.conversation.dialogue.view(9)] == ["one"]
    assert client.conversation.active_reply == own
    client.commands += client.wanted.cancel(None)
    assert [ended.reply_id for ended in client.told(ReplyEnded)] == [aside, own]


def test_replies_are_cancelled_by_their_ids() -> None:
    client = Client()
    own, aside = client.ask(), client.ask(beside=True)
    client.commands += client.wanted.cancel(aside)
    assert client.conversation.active_reply == own
    with pytest.raises(ProtocolError) as refused:
        client.wanted.cancel(aside)
    assert refused.value.code == "response_cancel_not_active"


def test_an_item_of_audio_is_waited_for() -> None:
    client = Client()
    client.add("i1", "Translate:")
    client.wanted.await_words("i1")
    client.ask()
    assert client.asked() == []
    client.feed(ItemHeard("i1", "good day", 0.9, 1.5))
    assert client.asked() == [["Translate: good day"]]
    (told,) = client.told(FinalTranscript)
    assert (told.item_id, told.text, told.seconds) == ("i1", "good day", 1.5)


def test_an_item_of_audio_that_cannot_be_heard_is_told_of() -> None:
    client = Client()
    client.add("i1", "hello")
    client.add("i2", "")
    client.wanted.await_words("i2")
    client.ask(["i1", "i2"])
    client.feed(ItemUnheard("i2", "gone"))
    assert client.told(TranscriptFailed)[0].item_id == "i2"
    assert client.told(Failure)[0].stage == "asr"
    assert client.asked() == [["hello"]]


def test_an_item_that_was_deleted_in_the_meantime_stays_away() -> None:
    client = Client()
    client.add("i1", "hello")
    client.add("i2", "")
    client.wanted.await_words("i2")
    client.ask(["i1", "i2"], beside=True)
    client.conversation.dialogue.delete("i2")
    client.feed(ItemHeard("i2", "good day", 0.9, 1.5))
    assert client.asked() == [["hello"]]
    assert "i2" not in [entry.item_id for entry in client.conversation.dialogue]


def test_a_cough_over_a_reply_lets_it_go_on_as_it_was_asked_for() -> None:
    client = Client()
    client.conversation.options = replace(OPTIONS, turn_detection=True, instructions="Of all.")
    client.add("i1", "hello")
    own = replace(OPTIONS, instructions="Of this one.", max_reply_tokens=500)
    _, commands = client.wanted.begin(own, [Message(Role.USER, "only this")], beside=False)
    client.commands += commands
    client.feed(SpeechStarted(1, 100_000), TurnEnded(1, 103_000, 111_000, EndReason.SILENCE))
    client.feed(heard(""))
    first, second = client.of(Generate)
    assert second.prompt.messages == first.prompt.messages
    assert [message.content for message in second.prompt.messages] == ["Of this one.", "only this"]
    assert second.prompt.max_tokens == 500
    assert not client.of(Speak)
