from __future__ import annotations

import pytest

from tests.support.script import Script
from voice.dialogue.commands import Generate, HangUp, RunTool
from voice.events import ReplyToolCall
from voice.inputs import EndRequested, ToolAnswered
from voice.types import Message, Role, ToolCall, ToolResult
from voice.understanding.farewell import SHALL_I_END, agrees_to_end, says_goodbye

END = ToolCall("c1", "end_conversation", {})
TIMER = ToolCall("c2", "set_timer", {})


@pytest.mark.parametrize(
    "text",
    ["bye", "Okay, goodbye then!", "thank you, good bye", "bye bye", "Good night.", "cheerio",
     "see you later", "see you tomorrow", "talk to you later", "have a nice day", "that's all",
     "That’s all, thank you.", "no that is all for now thanks", "that's it, bye", "nothing else",
     "I'm done", "we're done, thank you", "hang up please", "please hang up now",
     "end the conversation", "you can end the call now", "ok that will be all", "I have to go now",
     "right, I'm all set, thanks", "adios", "ta-ta", "merci, au revoir", "take care now", "byeee",
     "night night", "brilliant, that's all", "so long", "good day to you", "cya",
     "that's it, see you", "laters"],
)  # fmt: skip
def test_words_of_goodbye(text: str) -> None:
    assert says_goodbye(text)
    assert agrees_to_end(text)


@pytest.mark.parametrize(
    "text",
    ["", "manager", "get me your manager", "I want to speak to a person", "I have been waiting",
     "I've been waiting for twenty minutes", "this is ridiculous", "my coffee was cold",
     "that's all wrong", "is that all you can do", "that's it you always get it wrong",
     "don't hang up", "do not hang up on me", "why did you hang up", "did you just end the call",
     "I want to complain", "take care of the milk", "it was a good day", "why is it so long a wait",
     "did you see you made it twice",
     "thank you", "stop", "never mind", "you are useless",
     "I am done with waiting", "nobody else answers", "can you hear me", "no"],
)  # fmt: skip
def test_words_that_are_no_goodbye(text: str) -> None:
    assert not says_goodbye(text)


@pytest.mark.parametrize(
    ("text", "agrees"),
    [("yes", True), ("Yes, please.", True), ("mm-hmm", True), ("sure go ahead", True),
     ("yes I would", True), ("no", False), ("no wait", False), ("yes but first a timer", False),
     ("not yet", False), ("what time is it", False), ("", False)],
)  # fmt: skip
def test_words_that_agree_to_the_end(text: str, agrees: bool) -> None:
    assert agrees_to_end(text) is agrees


def ask_to_end(script: Script, words: str) -> None:
    script.user(words)
    script.model("", END)


def ended(script: Script, call: ToolCall) -> None:
    """The tool asks for the end, and answers."""
    reply_id = script.last(RunTool).reply_id
    script.feed(EndRequested("ended by the agent"))
    script.feed(ToolAnswered(reply_id, ToolResult(call.call_id, call.name, "Goodbye.")))
    script.model("Goodbye.")
    script.sent()
    script.played()


def test_who_says_goodbye_is_not_asked() -> None:
    script = Script()
    ask_to_end(script, "that's all, bye")
    ended(script, END)
    assert script.spoken() == "Goodbye."
    assert script.of(HangUp)


def test_who_takes_leave_is_not_doubted() -> None:
    script = Script()
    script.user("thanks, that's all for today")
    script.model("", END, confidence=0.3)
    assert [run.call for run in script.of(RunTool)] == [END]


@pytest.mark.parametrize("words", ["manager", "I have been waiting", "this is a disgrace"])
def test_a_complaint_ends_nothing(words: str) -> None:
    script = Script()
    ask_to_end(script, words)
    script.sent()
    script.played()
    assert script.spoken() == SHALL_I_END
    assert not script.of(RunTool)
    assert not script.events(ReplyToolCall)
    script.user("no", turn_id=2)
    script.model("Fine.")
    script.sent()
    script.played()
    script.user("yes", turn_id=3)
    script.model("Yes.")
    assert not script.of(RunTool)
    assert not script.of(HangUp)


def test_who_agrees_to_the_end_gets_it_whatever_the_model_would_say() -> None:
    script = Script()
    ask_to_end(script, "manager")
    script.sent()
    script.played()
    asked = len(script.of(Generate))
    script.user("yes please", turn_id=2)
    assert len(script.of(Generate)) == asked
    assert script.last(RunTool).call == END
    ended(script, END)
    assert script.spoken() == f"{SHALL_I_END}Goodbye."
    assert script.of(HangUp)


def test_what_else_was_asked_for_is_done() -> None:
    script = Script()
    script.user("start the timer and your manager please")
    script.model("", TIMER, END)
    assert [run.call for run in script.of(RunTool)] == [TIMER]
    script.tool(TIMER, "Timer cancelled.")
    script.model("The timer is cancelled.")
    assert script.spoken() == "Timer cancelled."


def test_a_typed_yes_counts_as_well() -> None:
    script = Script(speak=False)
    ask_to_end(script, "manager")
    script.conversation.dialogue.add("typed", Message(Role.USER, "Yes."))
    script.request()
    assert script.last(RunTool).call == END
