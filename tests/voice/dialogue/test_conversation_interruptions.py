"""What becomes of the agent's words when the user makes a sound: on paper, no part of it real."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import TIME, TIMER, TOOLS, Script
from voice.config import AgentConfig
from voice.config.flow import NeedConfig, StepConfig
from voice.dialogue.commands import (
    Draft,
    Generate,
    HangUp,
    HoldSpeaking,
    ReleaseSpeaking,
    RunTool,
    Speak,
    StopSpeaking,
)
from voice.dialogue.flow import Flow
from voice.dialogue.team import Team
from voice.events import (
    AudioStopped,
    FinalTranscript,
    InterimTranscript,
    ReplyEnded,
    UserSpeechStarted,
)
from voice.inputs import EndRequested, ModelSaid, RecognitionFailed
from voice.types import (
    Pause,
    SpeechLasted,
    SpeechResumed,
    SpeechStarted,
    ToolCall,
    Transcript,
    TurnEnded,
)

LATER = 160_000
STORY = "Once upon a time there was a fox. It ran."


def speaking(heard: str = "Once upon a time", holds: bool = True, text: str = STORY) -> Script:
    """The agent is telling something, long after it was asked to."""
    script = Script(heard, holds=holds)
    script.user("tell me a story")
    script.model(text)
    script.sent()
    return script


def interim(text: str, turn_id: int = 2) -> Transcript:
    return Transcript(turn_id, text, final=False, confidence=0.9, end_sample=LATER)


def final(text: str, turn_id: int = 2) -> Transcript:
    return Transcript(turn_id, text, final=True, confidence=0.9, end_sample=LATER)


def sound(script: Script, text: str, ms: int = 300) -> None:
    """A sound of the user's and the pause behind it, decoded."""
    script.feed(SpeechStarted(2, LATER), Pause(2, LATER + ms * 16), interim(text))


def end(script: Script, text: str, ms: int = 300) -> None:
    stop = LATER + ms * 16
    script.feed(TurnEnded(2, stop, stop + 8000), final(text))


@pytest.mark.parametrize("text", ["mm-hmm", "right", "okay", ""])
def test_a_backchannel_or_a_cough_lets_it_go_on_where_it_paused(text: str) -> None:
    script = speaking()
    before = script.history()
    sound(script, text)
    assert script.commands[-1] == ReleaseSpeaking("resp2")
    end(script, text)
    assert script.of(StopSpeaking) == []
    assert len(script.of(ReleaseSpeaking)) == 1
    assert len(script.of(Generate)) == 1
    assert script.history() == before
    assert [e.turn_id for e in script.events(UserSpeechStarted)] == [1]
    script.played()
    assert script.conversation.quiet


def test_words_stop_it_at_the_first_pause() -> None:
    script = speaking()
    sound(script, "stop")
    assert [c.reply_id for c in script.of(StopSpeaking)] == ["resp2"]
    assert script.of(ReleaseSpeaking) == []
    end(script, "stop")
    assert script.history()[-2:] == [("agent", "Once upon a time"), ("user", "stop")]
    assert len(script.of(Generate)) == 2


def test_speech_that_lasts_stops_it_before_there_are_words() -> None:
    script = speaking()
    script.feed(SpeechStarted(2, LATER))
    commands = script.feed(SpeechLasted(2))
    assert StopSpeaking("resp2") in commands
    assert [e.turn_id for e in script.events(UserSpeechStarted)] == [1, 2]
    assert script.feed(SpeechLasted(2)) == []


def test_a_backchannel_that_becomes_a_sentence_is_held_again_and_stops_it() -> None:
    script = speaking()
    sound(script, "right")
    script.feed(SpeechResumed(2, LATER + 9600))
    assert script.commands[-1] == HoldSpeaking("resp2")
    script.feed(Pause(2, LATER + 16_000), interim("right but make it short"))
    assert StopSpeaking("resp2") in script.commands
    end(script, "right but make it short", 1000)
    assert script.history()[-1] == ("user", "right but make it short")


def test_a_sound_that_is_understood_late_lets_nothing_go_on_over_the_next_one() -> None:
    script = speaking()
    stop = LATER + 4800
    script.feed(SpeechStarted(2, LATER), Pause(2, stop), TurnEnded(2, stop, stop + 8000))
    script.feed(SpeechStarted(3, stop + 16_000))
    assert script.feed(final("mm-hmm")) == []
    script.feed(Pause(3, stop + 20_800), interim("right", turn_id=3))
    assert script.commands[-1] == ReleaseSpeaking("resp2")


def test_nothing_of_a_doubtful_turn_is_told_before_it_is_one() -> None:
    script = speaking()
    script.feed(SpeechStarted(2, LATER), interim("what"))
    assert script.events(InterimTranscript) == []
    script.feed(Pause(2, LATER + 4800), interim("what now"))
    assert [e.text for e in script.events(InterimTranscript)] == ["what now"]


def test_yes_answers_a_question_that_is_still_being_asked() -> None:
    script = speaking("Would you like", text="Would you like it large?")
    sound(script, "yes")
    end(script, "yes")
    assert script.history()[-1] == ("user", "yes")
    assert len(script.of(Generate)) == 2


def test_the_model_sees_no_word_that_was_not_heard_however_late_it_is_decided() -> None:
    for told in (False, True):
        script = speaking()
        script.feed(SpeechStarted(2, LATER))
        if told:
            script.feed(interim("what"), Pause(2, LATER + 4800))
        end(script, "what was his name")
        messages = [m.content for m in script.last(Generate).prompt.messages[1:]]
        assert messages == ["tell me a story", "Once upon a time", "what was his name"]
        assert script.history() == [
            ("user", "tell me a story"), ("agent", "Once upon a time"),
            ("user", "what was his name"),
        ]  # fmt: skip


def test_a_draft_behind_an_interruption_sees_what_was_heard_and_no_more() -> None:
    script = Script("Once upon a time", draft_words=1, holds=True)
    script.user("tell me a story")
    script.model(STORY)
    script.sent()
    sound(script, "what was his name")
    draft = script.last(Draft)
    assert draft.words == "what was his name"
    assert script.commands.index(draft) > script.commands.index(script.last(StopSpeaking))
    rehearsed = next(c for c in script.conversation.speculate(draft)[1] if isinstance(c, Generate))
    end(script, "what was his name")
    assert script.last(Generate).prompt == rehearsed.prompt


def test_a_recogniser_that_fails_lets_it_go_on() -> None:
    from voice.inputs import RecognitionFailed

    script = speaking()
    script.feed(SpeechStarted(2, LATER), RecognitionFailed(2, "gone"))
    assert script.commands[-1] == ReleaseSpeaking("resp2")


def test_a_dropped_turn_lets_it_go_on() -> None:
    script = speaking()
    script.feed(SpeechStarted(2, LATER))
    assert script.took(script.conversation.forget_turn()) == [ReleaseSpeaking("resp2")]
    script.played()
    assert script.conversation.quiet


def test_a_client_that_can_only_clear_hears_the_rest_again() -> None:
    script = speaking("Once upon a time", holds=False)
    commands = script.feed(SpeechStarted(2, LATER))
    assert StopSpeaking("resp2") in commands
    end(script, "mm-hmm")
    assert script.spoken() == STORY + "there was a fox. It ran."
    assert script.history()[-1] == ("agent", "there was a fox. It ran.")
    assert [role for role, _ in script.history()].count("user") == 1


def test_a_cough_amid_an_answer_asks_for_it_again_and_skips_what_was_heard() -> None:
    script = Script(holds=False)
    script.user("tell me a story")
    script.feed(ModelSaid(script.last(Generate).reply_id, STORY))
    script.heard = "Once upon a time there was a fox."
    script.feed(SpeechStarted(2, LATER))
    end(script, "mm-hmm")
    before = len(script.of(Speak))
    script.model(STORY)
    assert [speak.segment.text for speak in script.of(Speak)[before:]] == ["It ran."]


def test_a_cough_after_the_first_result_was_heard_repeats_no_call() -> None:
    script = Script(holds=False)
    script.user("set a timer for ten minutes and add milk to my list")
    script.model("", TIMER, confidence=1.0)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.heard = "Timer set for"
    script.feed(SpeechStarted(2, LATER))
    end(script, "mm-hmm")
    script.model("", replace(TIMER, call_id="again"), confidence=1.0)
    first, second = script.of(RunTool)
    assert second.key == first.key


def test_a_cough_before_the_answer_was_there_asks_for_it_again() -> None:
    script = Script(holds=False)
    script.user("tell me a story")
    script.feed(SpeechStarted(2, LATER))
    end(script, "")
    assert len(script.of(Generate)) == 2
    assert script.of(Generate)[0].prompt.messages == script.of(Generate)[1].prompt.messages


def test_a_cough_before_the_answer_was_there_costs_no_request_of_the_message() -> None:
    script = Script(holds=False)
    script.user("set a timer for ten minutes and add milk to my list")
    script.feed(SpeechStarted(2, LATER))
    end(script, "")
    assert script.last(Generate).prompt.messages[-1].content == "set a timer for ten minutes"
    script.model("", TIMER, confidence=1.0)
    script.tool(TIMER, "Timer set for 10 minutes.")
    assert script.last(Generate).prompt.messages[-1].content == "add milk to my list"


def test_a_cough_before_a_reply_to_nothing_was_there_asks_for_it_again() -> None:
    script = Script(holds=False)
    script.request()
    script.feed(SpeechStarted(2, LATER))
    end(script, "")
    script.model("Hello, how are you?")
    assert script.spoken() == "Hello, how are you?"


def test_a_reply_that_a_cough_has_stopped_goes_on_in_its_flow() -> None:
    asks = NeedConfig(tool="order_drink", argument="drink", ask=("Which drink?", "What drink?"))
    steps = {"drink": StepConfig(needs={"drink": asks}, goes_to="end"), "end": StepConfig()}
    calls = {"get_time": ("what time is it",)}
    desk = AgentConfig(
        name="desk", instructions="Be brief.", tools=("get_time",), calls=calls, steps=steps
    )
    script = Script(flow=Flow(Team((desk,))))
    script.user("tell me a joke")
    script.feed(SpeechStarted(2, LATER))
    end(script, "")
    script.model("Once there was a fox.")
    assert "fox" not in script.spoken()
    assert script.spoken().endswith("drink?")


def test_who_talks_when_a_tool_asks_for_the_end_is_not_cut_off() -> None:
    leaving = ToolCall("c9", "end_conversation", {})
    script = Script(holds=False)
    script.user("goodbye")
    script.model("", leaving)
    script.feed(SpeechStarted(2, LATER), EndRequested("ended by the agent"))
    script.tool(leaving, "Goodbye.")
    end(script, "wait one more thing")
    script.model("Yes?")
    script.sent()
    script.played()
    assert not script.of(HangUp)


@pytest.mark.parametrize("stop", ["cancel", "interrupt"])
def test_words_that_came_during_a_reply_are_answered_once_the_client_has_stopped_it(
    stop: str,
) -> None:
    script = Script(interrupt_response=False)
    script.user("tell me a story")
    script.feed(SpeechStarted(2, LATER))
    end(script, "what time is it")
    assert len(script.of(Generate)) == 1
    script.took(getattr(script.conversation, stop)())
    assert script.last(Generate).prompt.messages[-1].content.endswith("what time is it")


def test_a_turn_that_goes_on_at_once_is_one_turn() -> None:
    script = Script(heard="Sure,")
    script.user("add milk")
    script.model("Sure, where to?")
    script.sent()
    script.goes_on(500, "to the shopping list")
    assert script.history() == [("user", "add milk to the shopping list")]
    assert script.last(Generate).prompt.messages[-1].content == "add milk to the shopping list"
    assert [e.text for e in script.events(FinalTranscript)] == ["add milk", "to the shopping list"]


@pytest.mark.parametrize("decoded_late", [False, True])
def test_checks_see_the_whole_of_a_turn_that_goes_on(decoded_late: bool) -> None:
    script = Script()
    if decoded_late:
        script.feed(SpeechStarted(1, 0), TurnEnded(1, 16_000, 20_000), SpeechStarted(2, 24_000))
        script.feed(final("what time is it and add", 1), TurnEnded(2, 40_000, 44_000))
        script.feed(final("milk to the list"))
    else:
        script.user("what time is it and add")
        script.goes_on(500, "milk to the list")
    script.model("", TIME, confidence=1.0)
    script.tool(TIME, "It is noon.")
    assert script.last(Generate).prompt.messages[-1].content == "add milk to the list"


def test_later_it_is_an_interruption() -> None:
    script = Script(heard="Sure,")
    script.user("add milk")
    script.model("Sure, where to?")
    script.sent()
    script.goes_on(900, "to the shopping list")
    assert script.history()[1] == ("agent", "Sure,")


def test_what_a_client_says_it_played_does_not_bring_a_withdrawn_reply_back() -> None:
    script = Script(heard="Sure,")
    script.user("add milk")
    script.model("Sure, where to?")
    script.sent()
    item = script.events(ReplyEnded)
    assert len(item) == 1
    script.goes_on(300, "to the shopping list")
    reply_item = next(e.item_id for e in script.conversation.dialogue if e.message.role == "agent")
    script.conversation.truncate(reply_item, "Sure,")
    assert script.history() == [("user", "add milk to the shopping list")]


def test_a_tool_that_ran_keeps_its_result_and_is_not_run_again() -> None:
    script = Script(heard="")
    call = ToolCall("call1", "set_timer", {})
    script.user("set a timer for ten minutes")
    script.model("", call)
    script.tool(call, "Timer set for 10 minutes.")
    script.goes_on(300, "please")
    roles = [role for role, _ in script.history()]
    assert roles == ["user", "agent", "tool", "user"]
    assert len(script.of(RunTool)) == 1
    assert set(TOOLS) >= {"set_timer"}


@pytest.mark.parametrize("dropped", [False, True])
def test_a_cough_just_after_the_turn_brings_the_reply_back(dropped: bool) -> None:
    script = Script(heard="Sure,")
    script.user("add milk")
    script.model("Sure, where to?")
    script.sent()
    start = 16_000 + 4000 + 3200
    script.feed(SpeechStarted(2, start))
    if dropped:
        script.took(script.conversation.forget_turn())
    else:
        script.feed(TurnEnded(2, start + 4800, start + 9600), final(""))
    assert [s.segment.text for s in script.of(Speak)][-1] == "Sure, where to?"
    assert script.history() == [("user", "add milk"), ("agent", "Sure, where to?")]


def test_words_that_stopped_the_agent_do_so_although_the_client_drops_them() -> None:
    script = speaking(holds=False)
    script.feed(SpeechStarted(2, LATER), interim("no stop"))
    said = len(script.of(Speak))
    script.took(script.conversation.forget_turn())
    assert len(script.of(Speak)) == said


def test_a_drawn_out_right_goes_by_unless_more_follows() -> None:
    script = speaking()
    script.feed(SpeechStarted(2, LATER), interim("right"))
    assert script.feed(SpeechLasted(2)) == []
    assert StopSpeaking("resp2") in script.feed(interim("right but"))
    script = speaking()
    script.feed(SpeechStarted(2, LATER), interim("right"), SpeechLasted(2))
    script.feed(Pause(2, LATER + 16_000), interim("right"))
    assert script.commands[-1] == ReleaseSpeaking("resp2")


def test_yes_behind_a_turn_that_had_not_ended_is_part_of_it() -> None:
    script = Script()
    script.user("well")
    script.goes_on(500, "yes")
    assert script.last(Generate).prompt.messages[-1].content == "well yes"


@pytest.mark.parametrize("lost", ["recognised", "failed", "dropped"])
def test_words_that_stopped_the_agent_are_answered_when_a_right_behind_them_is_nothing(
    lost: str,
) -> None:
    script = speaking()
    script.feed(SpeechStarted(2, LATER), TurnEnded(2, LATER + 16_000, LATER + 20_000))
    script.feed(SpeechStarted(3, LATER + 24_000), final("what time is it"))
    assert len(script.of(Generate)) == 1
    if lost == "dropped":
        script.took(script.conversation.forget_turn())
    else:
        script.feed(TurnEnded(3, LATER + 30_000, LATER + 34_000))
        script.feed(RecognitionFailed(3, "broken") if lost == "failed" else final("right", 3))
    assert script.last(Generate).prompt.messages[-1].content == "what time is it"
    assert script.history()[-2:] == [("agent", "Once upon a time"), ("user", "what time is it")]


def test_two_coughs_decoded_late_let_a_reply_that_was_cleared_go_on_once() -> None:
    script = speaking("Once upon a time", holds=False)
    script.feed(SpeechStarted(2, LATER), TurnEnded(2, LATER + 4000, LATER + 9000))
    script.feed(SpeechStarted(3, LATER + 12_000), final(""))
    script.feed(TurnEnded(3, LATER + 16_000, LATER + 21_000), final("", 3))
    assert script.spoken() == STORY + "there was a fox. It ran."
    script.sent()
    script.played()
    script.feed(SpeechStarted(4, 2 * LATER), TurnEnded(4, 2 * LATER + 4000, 2 * LATER + 9000))
    script.feed(final("", 4))
    assert script.spoken() == STORY + "there was a fox. It ran."


def test_a_cough_behind_the_last_word_of_a_goodbye_ends_the_call_all_the_same() -> None:
    script = Script("Goodbye.")
    script.user("that is all")
    script.feed(EndRequested("ended by the agent"))
    script.model("Goodbye.")
    script.sent()
    script.feed(SpeechStarted(2, LATER))
    assert not script.of(HangUp)
    script.feed(TurnEnded(2, LATER + 4000, LATER + 9000), final(""))
    assert script.of(HangUp) == [HangUp("ended by the agent")]


@pytest.mark.parametrize(
    ("options", "stops"),
    [({"holds": False}, True), ({"holds": True}, False), ({"interrupt_response": False}, False)],
)
def test_doors_drop_their_audio_when_the_conversation_says_so(
    options: dict[str, object], stops: bool
) -> None:
    script = Script("Once", **options)
    script.user("tell me a story")
    script.model(STORY)
    before = len(script.events(AudioStopped))
    script.feed(SpeechStarted(2, LATER))
    assert (len(script.events(AudioStopped)) > before) == stops
    if options.get("holds"):
        # The first words prove it.
        script.feed(Pause(2, LATER + 4800), interim("what was his name"))
        assert len(script.events(AudioStopped)) > before


def test_who_has_heard_enough_stops_a_reply_that_is_being_made_or_only_sounds() -> None:
    script = Script(heard="Once")
    assert script.took(script.conversation.interrupt()) == []
    script.user("tell me a story")
    script.took(script.conversation.interrupt())
    assert script.events(ReplyEnded)[-1].reason == "client_cancelled"
    script = speaking("Once")
    script.took(script.conversation.interrupt())
    assert script.commands[-1] == StopSpeaking("resp2")
    assert script.history()[-1] == ("agent", "Once")
    assert script.conversation.quiet
