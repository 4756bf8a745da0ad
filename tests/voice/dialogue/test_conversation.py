from __future__ import annotations

import pytest

from tests.support.script import TOOLS, Script
from voice.dialogue.commands import (
    Emit,
    Generate,
    HangUp,
    Speak,
    StopGenerating,
    StopSpeaking,
)
from voice.dialogue.conversation import NOT_CAUGHT, NOT_HEARD
from voice.errors import ProtocolError
from voice.events import (
    AudioStopped,
    Failure,
    FinalTranscript,
    InterimTranscript,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    TranscriptFailed,
    UserSpeechStarted,
    UserSpeechStopped,
    UserTurnCommitted,
    UserTurnDropped,
)
from voice.inputs import (
    Announce,
    EndOfMessageFailed,
    EndRequested,
    ModelSaid,
    RecognitionFailed,
)
from voice.types import EndReason, Pause, SpeechResumed, SpeechStarted, Transcript, TurnEnded


def _told(commands: list[object]) -> list[type]:
    return [type(c.event) for c in commands if isinstance(c, Emit)]


def test_a_turn_is_told_in_the_order_that_realtime_clients_expect() -> None:
    script = Script()
    commands = script.user("what time is it")
    assert _told(commands) == [
        UserSpeechStarted,
        AudioStopped,
        UserSpeechStopped,
        UserTurnCommitted,
        FinalTranscript,
        ReplyStarted,
    ]
    assert isinstance(commands[-1], Generate)


def test_the_prompt_holds_instructions_tools_and_what_the_user_said() -> None:
    script = Script()
    script.user("what time is it")
    prompt = script.last(Generate).prompt
    assert [m.content for m in prompt.messages] == ["Be brief.", "what time is it"]
    assert [t.name for t in prompt.tools] == list(TOOLS)


def test_a_reply_waits_for_both_the_end_of_the_turn_and_its_transcript() -> None:
    for late_transcript in (False, True):
        script = Script()
        ended = TurnEnded(1, 16_000, 20_000)
        final = Transcript(1, "stop", final=True, confidence=1.0, end_sample=16_000)
        script.feed(SpeechStarted(1, 0))
        first, second = (ended, final) if late_transcript else (final, ended)
        script.feed(first)
        assert not script.of(Generate)
        script.feed(second)
        assert len(script.of(Generate)) == 1


def test_interim_transcripts_are_shown_and_answer_nothing() -> None:
    script = Script()
    script.feed(
        SpeechStarted(1, 0),
        Transcript(1, "set a", final=False, confidence=0.5, end_sample=8000),
        Pause(1, 8000),
        SpeechResumed(1, 9000),
    )
    assert [event.text for event in script.events(InterimTranscript)] == ["set a"]
    assert not script.of(Generate)


def test_speech_that_was_not_understood_gets_an_apology() -> None:
    script = Script()
    script.user("", seconds=1.0)
    assert script.spoken() == NOT_CAUGHT
    assert not script.of(Generate)


def test_a_cough_gets_no_answer() -> None:
    script = Script()
    script.user("", seconds=0.3)
    assert not script.of(Speak)
    assert not script.of(Generate)


def test_speech_stops_the_agent_and_only_heard_words_stay() -> None:
    script = Script(heard="The weather")
    script.user("how is the weather")
    script.model("The weather in Paris is fine today, with sun until the evening.")
    script.sent()
    commands = script.feed(SpeechStarted(2, 32_000))
    assert isinstance(commands[0], Emit)
    assert isinstance(commands[0].event, UserSpeechStarted)
    assert any(isinstance(command, StopSpeaking) for command in commands)
    assert script.history()[-1] == ("agent", "The weather")


def test_speech_while_the_model_works_cancels_the_reply_and_leaves_no_words_of_it() -> None:
    script = Script()
    script.user("how is the weather")
    reply_id = script.last(Generate).reply_id
    script.feed(SpeechStarted(2, 32_000))
    assert script.last(StopGenerating).reply_id == reply_id
    ended = script.events(ReplyEnded)[-1]
    assert (ended.status, ended.reason) == (ReplyStatus.CANCELLED, "turn_detected")
    assert script.feed(ModelSaid(reply_id, "Late words.")) == []
    assert script.history() == [("user", "how is the weather")]


def test_a_turn_behind_a_reply_that_may_not_be_interrupted_is_kept_in_the_dialogue() -> None:
    script = Script(interrupt_response=False)
    script.user("how is the weather")
    script.user("and tomorrow", turn_id=2)
    assert len(script.of(Generate)) == 1
    assert script.history()[-1] == ("user", "how is the weather and tomorrow")


def test_manual_turns_are_committed_without_speech_events_and_answered_on_request() -> None:
    script = Script(turn_detection=False)
    script.feed(
        TurnEnded(1, 16_000, 16_000, EndReason.MANUAL),
        Transcript(1, "hello", final=True, confidence=1.0, end_sample=16_000),
    )
    assert not script.events(UserSpeechStopped)
    assert len(script.events(UserTurnCommitted)) == 1
    assert not script.of(Generate)
    script.request()
    assert script.last(Generate).prompt.messages[-1].content == "hello"


def test_no_reply_by_itself_when_the_client_creates_them() -> None:
    script = Script(create_response=False)
    script.user("hello")
    assert not script.of(Generate)


def test_a_second_reply_is_refused_while_one_is_made() -> None:
    script = Script()
    script.user("hello")
    with pytest.raises(ProtocolError) as refused:
        script.request()
    assert refused.value.code == "conversation_already_has_active_response"


def test_cancelling_needs_a_reply_in_progress() -> None:
    script = Script()
    with pytest.raises(ProtocolError) as refused:
        script.conversation.cancel()
    assert refused.value.code == "response_cancel_not_active"
    script.user("hello")
    with pytest.raises(ProtocolError):
        script.conversation.cancel("another")
    script.cancel()
    assert script.events(ReplyEnded)[-1].reason == "client_cancelled"
    assert script.conversation.active_reply is None


def test_a_recogniser_that_fails_costs_one_turn() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000), RecognitionFailed(1, "broken"))
    assert script.events(TranscriptFailed)[0].message == "broken"
    assert script.events(Failure)[0].stage == "asr"
    assert script.spoken() == NOT_HEARD
    script.sent()
    script.played()
    script.user("hello", turn_id=2)
    assert script.last(Generate).prompt.messages[-1].content == "hello"


def test_an_announcement_waits_until_nobody_speaks() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), Announce("Your timer is done."))
    assert not script.of(Speak)
    script.feed(
        TurnEnded(1, 16_000, 20_000),
        Transcript(1, "hello", final=True, confidence=1.0, end_sample=16_000),
    )
    assert not script.of(Speak)
    script.model("Hi.")
    script.sent()
    assert script.spoken() == "Hi."
    script.played()
    assert script.spoken() == "Hi.Your timer is done."
    assert script.history()[-1] == ("agent", "Your timer is done.")


def test_the_conversation_ends_when_the_goodbye_has_been_heard() -> None:
    script = Script()
    script.user("goodbye")
    script.feed(EndRequested("ended by the agent"))
    script.model("Goodbye!")
    script.sent()
    assert not script.of(HangUp)
    script.played()
    assert script.last(HangUp).reason == "ended by the agent"


def test_a_user_who_speaks_into_the_goodbye_goes_on() -> None:
    script = Script(heard="Good")
    script.user("goodbye")
    script.feed(EndRequested("ended by the agent"))
    script.model("Goodbye!")
    script.sent()
    script.feed(SpeechStarted(2, 32_000))
    script.played()
    assert not script.of(HangUp)


@pytest.mark.parametrize(("words", "over"), [("bye bye", True), ("wait one more thing", False)])
def test_only_a_goodbye_over_the_goodbye_takes_nothing_back(words: str, over: bool) -> None:
    script = Script(heard="Good")
    script.user("goodbye")
    script.feed(EndRequested("ended by the agent"))
    script.model("Goodbye!")
    script.sent()
    script.user(words, turn_id=2, seconds=2.0)
    script.model("Bye.")
    script.sent()
    script.played()
    assert bool(script.of(HangUp)) == over


def test_an_opinion_that_fails_is_an_error_and_no_more() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), EndOfMessageFailed(1, "the model failed"))
    assert script.events(Failure) == [Failure(1, "llm", "the model failed")]
    script.feed(
        TurnEnded(1, 16_000, 20_000),
        Transcript(1, "hello", final=True, confidence=0.9, end_sample=16_000),
    )
    assert script.of(Generate)


NOISE = pytest.mark.parametrize(
    "nothing",
    [
        Transcript(2, "", final=True, confidence=0.0, end_sample=30_000),
        RecognitionFailed(2, "it broke"),
    ],
)


@NOISE
def test_words_decoded_behind_the_next_sound_are_answered_when_that_was_nothing(
    nothing: Transcript | RecognitionFailed,
) -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000), SpeechStarted(2, 24_000))
    script.feed(Transcript(1, "what time is it", final=True, confidence=0.9, end_sample=16_000))
    assert script.of(Generate) == []
    script.feed(TurnEnded(2, 30_000, 38_000), nothing)
    assert script.last(Generate).prompt.messages[-1].content == "what time is it"
    script.model("It is noon.")
    script.sent()
    script.played()
    # It is answered once: another noise says nothing.
    script.feed(SpeechStarted(3, 160_000), TurnEnded(3, 164_000, 170_000))
    script.feed(Transcript(3, "", final=True, confidence=0.0, end_sample=164_000))
    assert len(script.of(Generate)) == 1
    assert script.conversation.quiet


def test_words_decoded_behind_a_sound_that_the_client_drops_are_answered() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000), SpeechStarted(2, 24_000))
    script.feed(Transcript(1, "what time is it", final=True, confidence=0.9, end_sample=16_000))
    script.took(script.conversation.forget_turn())
    assert script.last(Generate).prompt.messages[-1].content == "what time is it"
    assert [dropped.turn_id for dropped in script.events(UserTurnDropped)] == [2]


def test_words_that_the_client_has_asked_about_itself_are_not_answered_again() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000), SpeechStarted(2, 24_000))
    script.feed(Transcript(1, "what time is it", final=True, confidence=0.9, end_sample=16_000))
    script.request()
    script.model("It is noon.")
    script.sent()
    script.played()
    script.feed(TurnEnded(2, 30_000, 38_000))
    script.feed(Transcript(2, "", final=True, confidence=0.0, end_sample=30_000))
    assert len(script.of(Generate)) == 1


def test_words_decoded_behind_a_turn_that_is_over_as_well_are_answered_with_its_words() -> None:
    script = Script()
    script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000))
    script.feed(SpeechStarted(2, 40_000), TurnEnded(2, 56_000, 60_000))
    script.feed(Transcript(1, "two coffees", final=True, confidence=0.9, end_sample=16_000))
    assert script.of(Generate) == []
    script.feed(Transcript(2, "and a cake", final=True, confidence=0.9, end_sample=56_000))
    assert script.last(Generate).prompt.messages[-1].content == "two coffees and a cake"
