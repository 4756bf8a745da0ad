from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.script import Script
from voice.dialogue.call_checks import Limits
from voice.dialogue.commands import Draft, Generate, RunTool, Speak
from voice.dialogue.draft_words import DraftWords, same_question
from voice.events import InterimTranscript
from voice.inputs import ModelAnswered, ModelSaid, ToolAnswered
from voice.llm.base import Prompt
from voice.types import (
    Message,
    Role,
    SpeechStarted,
    ToolCall,
    ToolResult,
    Transcript,
)
from voice.understanding.english import normalised

TIME = ToolCall("c", "get_time", {})


def interim(text: str, turn_id: int = 1) -> Transcript:
    return Transcript(turn_id, text, final=False, confidence=0.8, end_sample=0)


@pytest.mark.parametrize(
    ("texts", "taken"),
    [
        (["play jazz"], [""]),
        (["play jazz", "play jazz now"], ["", "play jazz now"]),
        (
            ["a song", "some songs please", "some songs please dear"],
            ["", "", "some songs please dear"],
        ),
        (["Play jazz", "play, jazz now"], ["", "play, jazz now"]),
        (["play jazz now", "stay jazz now"], ["", ""]),
        (["play jazz now", "play"], ["", ""]),
        (["play jazz", "play jazz", "play jazz"], ["", "play jazz", ""]),
        (["", "play jazz", "play jazz now"], ["", "", "play jazz now"]),
        (["play", "play"], ["", ""]),
        (["play jazz", "play jazz and", "play jazz and swing"], ["", "", "play jazz and swing"]),
        (["set a timer", "set a timer for", "set a timer for ten"], ["", "", ""]),
    ],
)
def test_a_transcript_counts_once_it_keeps_the_words_of_the_one_before(
    texts: list[str], taken: list[str]
) -> None:
    wording = DraftWords(least=2)
    assert [wording.take(text, paused=False) for text in texts] == taken


def test_where_drafts_are_watched_words_that_break_off_count_as_well() -> None:
    wording = DraftWords(least=2)
    said = ("set a timer", "set a timer for", "set a timer for ten")
    taken = [wording.take(text, paused=False, watched=True) for text in said]
    assert taken == ["", *said[1:]]


def test_at_a_pause_everything_counts_once_however_it_is_written() -> None:
    wording = DraftWords(least=2)
    assert [wording.take(text, paused=True) for text in ("stop", "Stop.", "", "go")] == [
        "stop", "", "", "go",
    ]  # fmt: skip
    assert DraftWords(least=0).take("stop", paused=True) == ""


def test_words_count_at_a_pause_though_they_counted_before_it() -> None:
    wording = DraftWords(least=2)
    heard = [("play jazz", False), ("play jazz", False), ("play jazz", True), ("play jazz", True)]
    assert [wording.take(*one) for one in heard] == ["", "play jazz", "play jazz", ""]
    assert wording.take("play jazz", paused=False) == ""
    assert wording.take("play jazz and", paused=True) == "play jazz and"


def test_a_draft_is_asked_for_when_there_are_new_stable_words() -> None:
    script = Script(draft_words=2)
    script.feed(SpeechStarted(1, 0))
    script.feed(interim("play"))
    assert not script.of(Draft)
    script.feed(interim("play jazz"), interim("play jazz now"))
    assert script.of(Draft) == [Draft(1, "play jazz"), Draft(1, "play jazz now")]
    script.feed(interim("play jazz loud"))
    assert len(script.of(Draft)) == 2
    assert len(script.events(InterimTranscript)) == 4


@pytest.mark.parametrize(
    "options", [{"create_response": False}, {"turn_detection": False}, {"draft_words": 0}]
)
def test_where_no_reply_would_follow_none_is_drafted(options: dict[str, object]) -> None:
    script = Script(**{"draft_words": 2, **options})
    script.feed(SpeechStarted(1, 0), interim("set a timer"), interim("set a timer"))
    assert not script.of(Draft)


def test_a_rehearsal_asks_what_the_reply_will_ask_and_leaves_no_trace() -> None:
    script = Script(draft_words=2, limits=Limits(rephrases=True))
    script.user("hello", turn_id=1)
    script.model("Hi.")
    script.sent()
    script.played()
    script.feed(SpeechStarted(2, 0), interim("what time is it", 2), interim("what time is it", 2))
    before = script.history()
    rehearsal, commands = script.conversation.speculate(script.last(Draft))
    asked = [c for c in commands if isinstance(c, Generate)]
    runs = rehearsal.feed(ModelAnswered(asked[0].reply_id, (TIME,), False, 1, 1))
    run = next(c for c in runs if isinstance(c, RunTool))
    result = ToolResult("c", "get_time", "It is noon.")
    asked += [
        c for c in rehearsal.feed(ToolAnswered(run.reply_id, result)) if isinstance(c, Generate)
    ]
    said = rehearsal.feed(ModelSaid(run.reply_id, "It is noon, and the sun is high. "))
    assert [c.segment.text for c in said if isinstance(c, Speak)]
    assert script.history() == before
    assert script.conversation.prompt_for("what time is it") == asked[0].prompt
    script.user("what time is it", turn_id=2)
    script.model("", TIME)
    script.tool(TIME, "It is noon.")
    assert [c.prompt for c in script.of(Generate)[-2:]] == [c.prompt for c in asked]


def test_a_draft_knows_the_question_that_it_answers() -> None:
    script = Script(draft_words=2)
    script.user("a latte")
    latte = ToolCall("l", "order_drink", {"drink": "latte"})
    script.model("", latte, confidence=0.1)
    assert script.conversation.proposed
    _, commands = script.conversation.speculate(Draft(2, "yes"))
    assert [c.call.name for c in commands if isinstance(c, RunTool)] == ["order_drink"]
    assert script.conversation.proposed


def test_the_same_words_are_the_same_question_however_they_are_written() -> None:
    asked = Prompt((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Set a timer.")))
    again = replace(asked, messages=(asked.messages[0], Message(Role.USER, "set a timer")))
    assert same_question(asked, again)
    other = replace(asked, messages=(asked.messages[0], Message(Role.USER, "Set a time.")))
    assert not same_question(asked, other)
    shouted = replace(asked, messages=(Message(Role.SYSTEM, "be brief"), asked.messages[1]))
    assert not same_question(asked, shouted)
    assert normalised("Don't -- stop!") == "don't stop"
