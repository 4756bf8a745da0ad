from __future__ import annotations

import pytest

from tests.support.script import CLIENT_TOOL, DOOR, TIME, TIMER, Script
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Announced, Generate, RunTool, Speak, SpeakEnd, StopGenerating
from voice.dialogue.rounds import WENT_WRONG
from voice.events import (
    Failure,
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyToolCall,
    ReplyToolResult,
)
from voice.inputs import (
    Announce,
    AudioPlayed,
    ModelAnswered,
    ModelFailed,
    ModelSaid,
    OptionsChanged,
    SpeechFailed,
)
from voice.types import (
    Message,
    Role,
    SpeechStarted,
    ToolCall,
    Transcript,
    TurnEnded,
)


def beside_a_clients() -> Script:
    """Where a client has tools, the model may call another behind ours."""
    return Script(client_tools=(CLIENT_TOOL,))


def test_the_first_segment_is_spoken_before_the_answer_is_complete() -> None:
    script = Script()
    script.user("tell me about tea")
    reply_id = script.last(Generate).reply_id
    script.feed(ModelSaid(reply_id, "Tea is a drink made of leaves. It comes from"))
    assert script.spoken() == "Tea is a drink made of leaves."
    assert not script.of(SpeakEnd)


def test_a_tool_runs_and_tells_its_result_without_the_model() -> None:
    script = Script()
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    assert script.last(RunTool).call == TIMER
    assert script.events(ReplyToolCall)[0].client_side is False
    script.tool(TIMER, "Timer set for 10 minutes.")
    assert len(script.of(Generate)) == 1
    assert script.spoken() == "Timer set for 10 minutes."
    assert script.of(SpeakEnd)
    assert script.events(ReplyToolResult)[0].result.content == "Timer set for 10 minutes."


def test_a_call_that_its_client_has_deleted_has_nothing_to_tell() -> None:
    script = Script()
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    script.conversation.dialogue.delete(script.events(ReplyToolCall)[0].item_id)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.model("Your timer runs.")
    assert script.spoken() == "Your timer runs."


def test_where_a_client_has_tools_the_model_may_call_another() -> None:
    script = beside_a_clients()
    script.user("set a timer for ten minutes, then open the door")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    roles = [m.role.value for m in script.last(Generate).prompt.messages]
    assert roles == ["system", "user", "agent", "tool"]
    script.model("", DOOR)
    assert [one.call for one in script.events(ReplyToolCall)] == [TIMER, DOOR]


def test_parallel_calls_are_one_message_and_wait_for_each_other() -> None:
    script = beside_a_clients()
    script.user("the time please, and set a timer for ten minutes")
    script.model("", TIME, TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    assert len(script.of(Generate)) == 1
    script.tool(TIME, "It is 3:42 PM.")
    messages = script.last(Generate).prompt.messages[1:]
    assert [m.role.value for m in messages] == ["user", "agent", "tool", "tool"]
    assert messages[1].tool_calls == (TIME, TIMER)


def test_tools_speak_for_themselves_once_the_model_says_anything() -> None:
    script = beside_a_clients()
    script.user("what is on my list")
    script.model("", TIME)
    script.tool(TIME, "The list has 2 items: tofu and eggs.")
    assert script.spoken() == ""
    reply_id = script.last(Generate).reply_id
    script.feed(ModelSaid(reply_id, "The list"))
    assert script.spoken() == "The list has 2 items: tofu and eggs."
    script.feed(ModelSaid(reply_id, " has podcast. Anything else?"))
    script.feed(ModelAnswered(reply_id, (), False, 10, 5))
    assert script.spoken() == "The list has 2 items: tofu and eggs. Anything else?"
    assert not script.of(StopGenerating)


def test_a_question_of_the_models_that_states_something_is_not_asked() -> None:
    script = beside_a_clients()
    script.user("what is on my list")
    script.model("", TIME)
    script.tool(TIME, "The list has tofu.")
    script.model("It has eggs. Shall I add eggs?")
    assert script.spoken() == "The list has tofu."


def test_results_of_several_rounds_are_all_told_and_none_twice() -> None:
    script = beside_a_clients()
    script.user("a timer, and the time")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.model("", TIME)
    script.tool(TIME, "It is noon.")
    script.model("Done.")
    assert script.spoken() == "Timer set for 10 minutes. It is noon."


def test_a_result_that_was_told_before_another_call_is_not_told_again() -> None:
    script = beside_a_clients()
    script.user("a timer, and the time")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.model("I set it.", TIME)
    script.tool(TIME, "It is noon.")
    script.model("Noon it is.")
    assert script.spoken() == "Timer set for 10 minutes. It is noon."


def test_a_clients_json_is_told_in_sentences() -> None:
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open the door")
    script.model("", DOOR)
    output = Message(Role.TOOL, '{"door": "front", "open": true}', call_id="c3", name="open_door")
    script.conversation.dialogue.add("out", output)
    script.request()
    script.model("It's alfalf.")
    assert script.spoken() == "The door is front and it is open."


def test_who_talked_over_a_result_hears_the_rest_of_it() -> None:
    script = Script(heard="Timer set")
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.feed(SpeechStarted(2, 100_000))
    script.feed(TurnEnded(2, 102_000, 106_000), Transcript(2, "", True, 0.0, 102_000))
    assert script.spoken() == "Timer set for 10 minutes.for 10 minutes."
    assert len(script.of(Generate)) == 1


def test_a_model_that_may_rephrase_is_held_to_the_numbers_alone() -> None:
    script = Script(limits=Limits(rephrases=True))
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.model("I have set your timer, 10 minutes from now.")
    assert script.spoken() == "I have set your timer, 10 minutes from now."


def test_a_number_that_nobody_said_is_replaced_by_the_tools_words() -> None:
    script = Script(limits=Limits(rephrases=True))
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.model("Timer set for 30 minutes.")
    assert script.spoken() == "Timer set for 10 minutes."
    assert script.of(StopGenerating)


def test_numbers_in_small_talk_are_free() -> None:
    script = Script()
    script.user("tell me a fact")
    script.model("A week has 7 days.")
    assert script.spoken() == "A week has 7 days."


def test_the_tool_loop_is_capped() -> None:
    script = Script(limits=Limits(max_tool_calls=3, rephrases=True))
    script.user("loop")
    for number in range(3):
        call = ToolCall(f"c{number}", "get_time", {})
        script.model("", call)
        script.tool(call, "It is 3:42 PM.")
    assert script.last(Generate).prompt.tool_choice == "none"
    script.model("", ToolCall("c9", "get_time", {}))
    assert len(script.of(RunTool)) == 3


def test_a_required_call_is_required_once() -> None:
    script = Script(tool_choice="required")
    script.user("go")
    assert script.last(Generate).prompt.tool_choice == "required"
    script.model("", TIME)
    script.tool(TIME, "It is 3:42 PM.")
    assert script.last(Generate).prompt.tool_choice == "auto"


def test_a_client_tool_ends_the_reply_and_runs_nothing_here() -> None:
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open the door")
    script.model("", DOOR)
    assert script.events(ReplyToolCall)[0].client_side is True
    assert not script.of(RunTool)
    assert script.events(ReplyEnded)[0].status is ReplyStatus.COMPLETED
    assert script.conversation.active_reply is None


def test_a_mixed_round_runs_ours_and_then_hands_over() -> None:
    script = Script(client_tools=(CLIENT_TOOL,))
    script.user("open the door and tell the time")
    script.model("", TIME, DOOR)
    assert not script.events(ReplyEnded)
    script.tool(TIME, "It is 3:42 PM.")
    assert script.events(ReplyEnded)
    assert len(script.of(Generate)) == 1


def test_a_malformed_answer_is_tried_again_and_then_in_words() -> None:
    script = Script()
    script.user("hello")
    reply_id = script.last(Generate).reply_id
    script.feed(ModelFailed(reply_id, "bad form", malformed=True))
    assert script.last(Generate).prompt.tool_choice == "auto"
    script.feed(ModelFailed(reply_id, "bad form", malformed=True))
    assert script.last(Generate).prompt.tool_choice == "none"
    assert not script.events(Failure)
    script.feed(ModelFailed(reply_id, "bad form", malformed=True))
    assert script.events(Failure)[0].stage == "llm"
    assert script.spoken() == WENT_WRONG
    script.sent()
    assert script.events(ReplyEnded)[0].status is ReplyStatus.FAILED


@pytest.mark.parametrize("rest", ["It is noon. Let me look.", ""])
def test_a_malformed_answer_that_is_tried_again_does_not_say_its_words_twice(rest: str) -> None:
    script = Script()
    script.user("what time is it")
    reply_id = script.last(Generate).reply_id
    for _ in range(2):
        script.feed(ModelSaid(reply_id, "Let me look. One moment. "))
        script.feed(ModelFailed(reply_id, "no such tool", malformed=True))
    # What says nothing new is an answer all the same.
    script.model(f"Let me look. {rest}" if rest else "Let me look. One moment.")
    assert script.spoken() == f"Let me look. One moment. {rest}".strip()


def test_words_before_a_call_that_was_tried_again_may_be_said_behind_it() -> None:
    script = Script(limits=Limits(rephrases=True))
    script.user("what time is it")
    reply_id = script.last(Generate).reply_id
    script.feed(ModelSaid(reply_id, "Let me look. "))
    script.feed(ModelFailed(reply_id, "no such tool", malformed=True))
    script.model("", TIME)
    script.tool(TIME, "It is noon.")
    script.model("Let me look. It is noon.")
    assert script.spoken() == "Let me look. Let me look. It is noon."


def test_an_empty_answer_behind_a_tool_leaves_the_word_to_the_tool() -> None:
    script = beside_a_clients()
    script.user("what time is it")
    script.model("Let me check.", TIME)
    script.tool(TIME, "It is noon.")
    script.model("")
    assert len(script.of(Generate)) == 2
    assert script.spoken() == "Let me check. It is noon."


def test_a_model_that_fails_behind_a_tool_leaves_the_word_to_the_tool() -> None:
    script = beside_a_clients()
    script.user("set a timer for ten minutes")
    script.model("", TIMER)
    script.tool(TIMER, "Timer set for 10 minutes.")
    script.feed(ModelFailed(script.last(Generate).reply_id, "gone", malformed=False))
    assert script.spoken() == "Timer set for 10 minutes."
    assert script.events(Failure)
    assert script.events(ReplyEnded) == [] or script.last(SpeakEnd)


def test_a_model_that_breaks_in_the_middle_apologises_behind_what_it_said() -> None:
    script = Script()
    script.user("hello")
    reply_id = script.last(Generate).reply_id
    script.feed(ModelSaid(reply_id, "I think that this works. But"))
    script.feed(ModelFailed(reply_id, "gone", malformed=False))
    assert script.spoken() == f"I think that this works. {WENT_WRONG}"


def test_a_voice_that_fails_ends_the_reply_and_keeps_its_text() -> None:
    script = Script()
    script.user("hello")
    script.model("Hello there, how are you?")
    script.feed(SpeechFailed(script.last(Speak).reply_id, "no voice"))
    assert script.events(Failure)[0].stage == "tts"
    ended = script.events(ReplyEnded)[0]
    assert (ended.status, ended.reason) == (ReplyStatus.FAILED, "no voice")
    assert ended.text == "Hello there, how are you?"


def test_a_cut_answer_is_incomplete() -> None:
    script = Script()
    script.user("hello")
    script.model("And so it goes on and on", cut=True)
    script.sent()
    ended = script.events(ReplyEnded)[0]
    assert (ended.status, ended.reason) == (ReplyStatus.INCOMPLETE, "max_output_tokens")


def test_text_only_replies_are_not_spoken_and_end_with_the_answer() -> None:
    script = Script(speak=False)
    script.user("hello")
    script.model("Hello.")
    assert not script.of(Speak)
    assert script.events(ReplyEnded)[0].status is ReplyStatus.COMPLETED
    assert script.history()[-1] == ("agent", "Hello.")


RINGS = "Your timer is done."


def asked(script: Script, words: str, answer: str, turn_id: int) -> None:
    """A turn of the user's, and its answer, heard to the end."""
    script.user(words, turn_id)
    script.model(answer)
    script.sent()
    script.played()


def test_what_rings_is_said_again_behind_each_turn_until_it_is_heard() -> None:
    script = Script()
    script.feed(Announce(RINGS, again=True, key="7"))
    asked(script, "what time is it", "Noon.", 1)
    assert script.spoken() == f"{RINGS}Noon.{RINGS}"
    asked(script, "thank you", "Fine.", 2)
    assert not script.of(Announced)
    script.sent()
    script.played()
    assert script.of(Announced) == [Announced("7", heard=True)]
    asked(script, "hello", "Hi.", 3)
    assert script.spoken() == f"{RINGS}Noon.{RINGS}Fine.{RINGS}Hi."


@pytest.mark.parametrize("options", [{}, {"create_response": False}])
def test_what_rings_into_a_cough_is_said_again_once(options: dict[str, bool]) -> None:
    script = Script(**options)
    script.feed(Announce(RINGS, again=True))
    script.user("", seconds=0.3)
    assert script.spoken() == RINGS * 2
    script.sent()
    script.played()
    assert script.spoken() == RINGS * 2


def test_what_rings_unheard_as_the_client_tells_it_is_said_again() -> None:
    script = Script(heard="Your timer")
    script.feed(Announce(RINGS, again=True), SpeechStarted(1, 0))
    script.conversation.truncate(script.events(ReplyStarted)[0].item_id, "")
    script.user("hello", turn_id=1)
    script.model("Hi.")
    script.sent()
    script.played()
    assert script.spoken() == f"{RINGS}Hi.{RINGS}"


def test_what_rings_and_is_stopped_in_its_middle_is_said_again_once() -> None:
    script = Script(heard="Your timer")
    script.feed(Announce(RINGS, again=True, key="7"))
    asked(script, "what time is it", "Noon.", 1)
    assert script.spoken() == f"{RINGS}Noon.{RINGS}"
    asked(script, "stop", "Fine.", 2)
    assert script.spoken() == f"{RINGS}Noon.{RINGS}Fine."
    assert script.of(Announced) == [Announced("7", heard=True)]


@pytest.mark.parametrize("said", ["stop", "Okay, thank you."])
def test_what_rings_and_is_dismissed_is_not_said_again(said: str) -> None:
    script = Script(heard="Your timer")
    script.feed(Announce(RINGS, again=True, key="7"))
    asked(script, said, "Fine.", 1)
    assert script.spoken() == f"{RINGS}Fine."
    assert script.of(Announced) == [Announced("7", heard=True)]


def test_a_greeting_that_is_stopped_is_not_said_again() -> None:
    script = Script()
    script.feed(Announce("Hello."))
    asked(script, "what time is it", "Noon.", 1)
    assert script.spoken() == "Hello.Noon."


@pytest.mark.parametrize("stop", ["cancel", "interrupt"])
def test_what_rings_and_the_client_stops_waits_for_the_next_turn(stop: str) -> None:
    script = Script()
    script.feed(Announce(RINGS, again=True))
    script.took(getattr(script.conversation, stop)())
    script.feed(OptionsChanged(script.conversation.options))
    assert script.spoken() == RINGS
    asked(script, "what time is it", "Noon.", 1)
    assert script.spoken() == f"{RINGS}Noon.{RINGS}"


@pytest.mark.parametrize("stop", ["cancel", "interrupt"])
def test_what_falls_due_after_the_client_has_stopped_what_rings_is_said(stop: str) -> None:
    script = Script()
    script.feed(Announce(RINGS, again=True, key="1"))
    script.took(getattr(script.conversation, stop)())
    assert script.of(Announced) == [Announced("1", heard=None)]
    script.feed(Announce("Another.", again=True, key="2"))
    script.sent()
    script.played()
    assert script.spoken() == f"{RINGS}Another."
    asked(script, "what time is it", "Noon.", 1)
    assert script.spoken() == f"{RINGS}Another.Noon.{RINGS}"
    script.sent()
    script.played()
    assert script.of(Announced)[1:] == [Announced("2", heard=True), Announced("1", heard=True)]


@pytest.mark.parametrize("stop", ["cancel", "interrupt"])
def test_what_falls_due_after_the_client_has_stopped_a_reply_rings(stop: str) -> None:
    script = Script()
    script.user("tell me a story")
    script.took(getattr(script.conversation, stop)())
    script.took(script.conversation.interrupt())
    script.feed(Announce(RINGS, again=True))
    assert script.spoken() == RINGS


@pytest.mark.parametrize("announce", [Announce(RINGS, again=True), Announce("Hello.")])
def test_an_announcement_gives_way_to_what_the_client_asks_for(announce: Announce) -> None:
    script = Script()
    script.feed(announce)
    script.conversation.dialogue.add("typed", Message(Role.USER, "what time is it"))
    script.request()
    script.model("Noon.")
    script.sent()
    script.played()
    again = RINGS if announce.again else ""
    assert script.spoken() == f"{announce.text}Noon.{again}"
    cancelled, answered = script.events(ReplyEnded)[:2]
    assert (cancelled.status, cancelled.text) == (ReplyStatus.CANCELLED, announce.text)
    assert answered.text == "Noon."


def test_of_an_announcement_whose_synthesis_fails_it_is_told_that_it_was_not_heard() -> None:
    script = Script()
    script.feed(Announce(RINGS, again=True, key="7"))
    reply_id = script.last(SpeakEnd).reply_id
    script.feed(SpeechFailed(reply_id, "no voice"), AudioPlayed(reply_id, heard=""))
    assert script.of(Announced) == [Announced("7", heard=False)]
    assert script.spoken() == RINGS


def test_an_announcement_without_sound_is_told_at_once() -> None:
    script = Script(speak=False)
    script.feed(Announce(RINGS, again=True, key="7"))
    assert script.of(Announced) == [Announced("7", heard=True)]


def test_a_reply_that_is_truncated_again_counts_as_far_as_that() -> None:
    script = Script()
    script.user("count")
    reply_id, item_id = script.last(Generate).reply_id, script.events(ReplyStarted)[0].item_id
    script.feed(ModelSaid(reply_id, "One two three. "))
    script.conversation.truncate(item_id, "One")
    script.conversation.truncate(item_id, "One two")
    script.feed(ModelSaid(reply_id, "Four five six. "))
    assert script.history()[-1] == ("agent", "One two")


def test_of_a_reply_that_goes_on_behind_what_its_client_played_no_more_counts() -> None:
    script = Script(heard="One two")
    script.user("count")
    reply_id = script.last(Generate).reply_id
    script.feed(ModelSaid(reply_id, "One two three. "))
    script.conversation.truncate(script.events(ReplyStarted)[0].item_id, "One two")
    script.feed(ModelSaid(reply_id, "Four five six. "), ModelAnswered(reply_id, (), False, 1, 1))
    assert script.spoken() == "One two three. Four five six."
    assert script.history()[-1] == ("agent", "One two")
    script.sent()
    script.played()
    assert script.history()[-1] == ("agent", "One two")
