from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import CLIENT_TOOL, TIME, Script
from voice.dialogue.commands import Generate, RunTool, Speak, StopGenerating
from voice.dialogue.conversation import MOST_OUT_OF_BAND, NOT_CAUGHT
from voice.errors import ProtocolError
from voice.events import (
    Failure,
    FinalTranscript,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
    ReplyToolCall,
    TranscriptFailed,
)
from voice.inputs import (
    ItemTranscribed,
    ItemTranscriptionFailed,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    OptionsChanged,
    SessionOptions,
    with_changes,
)
from voice.types import EndReason, Message, Role, SpeechStarted, ToolCall, Transcript, TurnEnded

FIELDS = {"instructions": "", "agent_tools": (), "turn_detection": False, "speak": False}
COMMITTED = TurnEnded(1, 16_000, 16_000, EndReason.MANUAL)


def client(**options: object) -> Script:
    return Script(**{**FIELDS, **options})


def add(script: Script, item_id: str, text: str, role: Role = Role.USER) -> None:
    script.conversation.dialogue.add(item_id, Message(role, text))


def asked(script: Script) -> list[list[str]]:
    """What each prompt says."""
    return [[m.content for m in command.prompt.messages] for command in script.of(Generate)]


def heard(text: str, turn_id: int = 1) -> Transcript:
    return Transcript(turn_id, text, final=True, confidence=0.9, end_sample=16_000)


@pytest.mark.parametrize("out_of_band", [False, True])
def test_a_reply_waits_for_the_words_that_were_committed_before_it(out_of_band: bool) -> None:
    script = client()
    script.feed(COMMITTED)
    script.request(out_of_band=out_of_band)
    assert asked(script) == []
    script.feed(heard("what time is it"))
    assert asked(script) == [["what time is it"]]


def test_what_was_not_understood_is_not_answered() -> None:
    script = client()
    script.feed(COMMITTED)
    script.request()
    script.feed(heard(""))
    assert asked(script) == []
    assert script.events(ReplyText)[0].delta == NOT_CAUGHT


def test_a_committed_turn_is_answered_when_asked_for_alone() -> None:
    script = client()
    script.feed(OptionsChanged(replace(script.conversation.options, turn_detection=True)))
    script.feed(SpeechStarted(1, 0), COMMITTED, heard("hello"))
    assert asked(script) == []
    assert script.events(FinalTranscript)[0].text == "hello"


def test_the_context_is_of_items_and_messages() -> None:
    script = client()
    add(script, "i1", "one")
    add(script, "i2", "two")
    script.request(
        context=["i2", Message(Role.AGENT, "three"), Message(Role.USER, "four")], out_of_band=True
    )
    assert asked(script) == [["two", "three", "four"]]
    with pytest.raises(ProtocolError) as refused:
        script.request(context=["nobody"])
    assert refused.value.code == "item_not_found"
    assert script.conversation.active_reply is None


def test_an_answer_to_another_context_is_the_conversations() -> None:
    script = client()
    add(script, "i1", "one")
    reply_id = script.request(context=[Message(Role.USER, "two")])
    script.feed(ModelSaid(reply_id, "Three."), ModelAnswered(reply_id, (), False, 1, 1))
    script.request()
    assert asked(script) == [["two"], ["one", "Three."]]


def test_beside_the_conversation_nothing_is_left_behind() -> None:
    script = client()
    add(script, "i1", "one")
    own = script.request()
    aside = script.request(out_of_band=True)
    assert asked(script) == [["one"], ["one"]]
    script.feed(ModelSaid(aside, "Aside."), ModelAnswered(aside, (), False, 1, 1))
    assert [m.content for m in script.conversation.dialogue.view(9)] == ["one"]
    assert script.conversation.active_reply == own
    script.cancel(None)
    assert [ended.reply_id for ended in script.events(ReplyEnded)] == [aside, own]


def test_an_item_of_audio_is_waited_for() -> None:
    script = client()
    add(script, "i1", "Translate:")
    script.conversation.await_item("i1")
    script.request()
    assert asked(script) == []
    script.feed(ItemTranscribed("i1", Transcript(0, "good day", True, 0.9, 0), 1.5))
    assert asked(script) == [["Translate: good day"]]
    (told,) = script.events(FinalTranscript)
    assert (told.item_id, told.text, told.seconds) == ("i1", "good day", 1.5)


def test_words_of_an_items_audio_stand_where_the_audio_does() -> None:
    script = client()
    add(script, "i1", "Say in German.")
    script.conversation.await_item("i1", len("in German."))
    script.request()
    script.feed(ItemTranscribed("i1", Transcript(0, "good day", True, 0.9, 0), 1.5))
    assert asked(script) == [["Say good day in German."]]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (
            ItemTranscribed("i1", Transcript(0, "good day", True, 0.9, 0), 1.5),
            "Translate: good day into German",
        ),
        (ItemTranscriptionFailed("i1", "gone"), "Translate: into German"),
    ],
)
def test_a_spoken_turn_is_answered_once_the_clients_audio_is_known(
    event: ItemTranscribed | ItemTranscriptionFailed, told: str
) -> None:
    script = client(turn_detection=True)
    add(script, "i1", "Translate:")
    script.conversation.await_item("i1")
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 16_000, EndReason.SILENCE))
    script.feed(heard("into German"))
    assert script.events(FinalTranscript)[0].text == "into German"
    assert asked(script) == [] and not script.conversation.quiet
    script.feed(event)
    assert asked(script) == [[told]]


def test_a_reply_that_waits_for_audio_answers_what_was_spoken_meanwhile_as_well() -> None:
    script = client(turn_detection=True)
    add(script, "i1", "")
    script.conversation.await_item("i1")
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 16_000, EndReason.SILENCE))
    reply_id = script.request()
    script.feed(heard("two"), ItemTranscribed("i1", Transcript(0, "one", True, 0.9, 0), 1.5))
    script.feed(ModelSaid(reply_id, "Three."), ModelAnswered(reply_id, (), False, 1, 1))
    assert asked(script) == [["one two"]]


def test_an_item_of_audio_that_cannot_be_heard_is_told_of() -> None:
    script = client()
    add(script, "i1", "hello")
    add(script, "i2", "")
    script.conversation.await_item("i2")
    script.request(context=["i1", "i2"])
    script.feed(ItemTranscriptionFailed("i2", "gone"))
    assert script.events(TranscriptFailed)[0].item_id == "i2"
    assert script.events(Failure)[0].stage == "asr"
    assert asked(script) == [["hello"]]


def test_a_cough_over_a_reply_lets_it_go_on_as_it_was_asked_for() -> None:
    script = client(turn_detection=True, instructions="Of all.")
    add(script, "i1", "hello")
    options = script.conversation.options
    own = replace(options, instructions="Of this one.", max_reply_tokens=500)
    script.request(own, [Message(Role.USER, "only this")])
    script.feed(SpeechStarted(1, 100_000), TurnEnded(1, 103_000, 111_000, EndReason.SILENCE))
    script.feed(heard(""))
    first, second = script.of(Generate)
    assert second.prompt.messages == first.prompt.messages
    assert [message.content for message in second.prompt.messages] == ["Of this one.", "only this"]
    assert second.prompt.max_tokens == 500
    assert not script.of(Speak)


def test_an_out_of_band_response_is_started_asked_for_and_over() -> None:
    script = client(instructions="Sort.", agent_tools=("set_timer",))
    reply_id = script.request(context=[Message(Role.USER, "what a day")], out_of_band=True)
    assert script.events(ReplyStarted)[0].out_of_band
    generate = script.last(Generate)
    assert generate.out_of_band and generate.prompt.priority == 0
    assert [m.content for m in generate.prompt.messages] == ["Sort.", "what a day"]
    assert generate.prompt.tools == ()
    script.feed(ModelSaid(reply_id, "Weather. "), ModelAnswered(reply_id, (), False, 9, 2))
    assert script.events(ReplyText) == [ReplyText(reply_id, "Weather.")]
    (ended,) = script.events(ReplyEnded)
    assert ended.status is ReplyStatus.COMPLETED
    script.feed(ModelSaid(reply_id, "Late."))
    assert len(script.events(ReplyText)) == 1


def test_the_clients_tools_are_offered_out_of_band_and_called() -> None:
    script = client(client_tools=(CLIENT_TOOL,))
    reply_id = script.request(context=[], out_of_band=True)
    assert script.last(Generate).prompt.tools == (CLIENT_TOOL,)
    calls = tuple(ToolCall(f"c{number}", "open_door", {"number": number}) for number in (1, 2))
    script.feed(ModelAnswered(reply_id, calls, False, 9, 2))
    assert [one.call for one in script.events(ReplyToolCall)] == list(calls)
    assert all(one.client_side for one in script.events(ReplyToolCall))
    assert len(script.events(ReplyEnded)) == 1


def test_several_at_once_each_by_its_id() -> None:
    script = client()
    ids = [script.request(out_of_band=True) for _ in range(MOST_OUT_OF_BAND)]
    with pytest.raises(ProtocolError) as refused:
        script.request(out_of_band=True)
    assert refused.value.code == "too_many_active_responses"
    assert StopGenerating(ids[1]) in script.cancel(ids[1])
    assert script.events(ReplyEnded)[-1].reason == "client_cancelled"
    script.feed(ModelFailed(ids[0], "the model failed", malformed=False))
    assert script.events(ReplyEnded)[-1].status is ReplyStatus.FAILED
    assert (
        len({*ids, *(script.request(out_of_band=True) for _ in range(2))}) == MOST_OUT_OF_BAND + 2
    )


def test_a_response_that_is_over_is_not_asked_for() -> None:
    script = client()
    script.feed(COMMITTED)
    for out_of_band in (True, False):
        script.cancel(script.request(out_of_band=out_of_band))
    script.feed(heard("hello"))
    assert asked(script) == []


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(ValueError, match="brightness"):
        with_changes(SessionOptions(), brightness=11)


def test_a_tool_may_be_called_before_the_user_has_said_anything() -> None:
    script = Script()
    script.request()
    script.model("", TIME, confidence=1.0)
    assert [run.call for run in script.of(RunTool)] == [TIME]
