from __future__ import annotations

import pytest

from dlm.live import (
    Event,
    Failed,
    Finished,
    Live,
    Request,
    Snapshot,
    TextDelta,
    Usage,
    settled,
    shown,
    words_of,
)
from dlm.template import Answer, AnswerError, Call, Turn
from dlm.tokenizer import Mark
from tests.dlm.tiny import TOOLS, decoder, model, template, tokenizer

MASK, END, CALL = int(Mark.MASK), int(Mark.END), int(Mark.CALL)
TIMER_CALL = Call("set_timer", {"duration": "ten"})


def begun(**options: object) -> tuple[Live, list[Event]]:
    """A request whose decoder stands behind its prompt, and what its caller hears."""
    heard: list[Event] = []
    request = Request(**{"turns": (Turn("user", "hi"),), "tools": TOOLS, **options})  # type: ignore[arg-type]
    live = Live(request, heard.append)
    live.decoder = decoder(model(), [20, 21, 22])
    return live, heard


def grow(live: Live, *tokens: int, draft: list[int] | None = None) -> None:
    assert live.decoder is not None
    live.decoder.progress.tokens += tokens
    live.decoder.progress.draft = draft or []
    live.decoder.progress.forwards += 1
    live.tell(tokenizer())


def close(live: Live, *tokens: int, complete: bool = True) -> None:
    grow(live, *tokens, *([END] if complete else []))
    assert live.decoder is not None
    live.decoder.progress.complete = complete
    live.finish(template())


def test_text_is_told_as_it_grows() -> None:
    live, heard = begun()
    for word in ("Set", "a", "timer"):
        grow(live, *template().text(word))
    grow(live)
    assert heard == [TextDelta("Set"), TextDelta(" a"), TextDelta(" timer")]
    close(live)
    count = len(template().text("Set a timer")) + 1
    usage = Usage(prompt_tokens=3, cached_tokens=0, answer_tokens=count, forwards=5)
    answer = Answer("Set a timer", ())
    assert heard[3:] == [Finished(answer, "stop", usage)]


def test_a_character_is_told_when_it_is_whole() -> None:
    live, heard = begun()
    for token in template().text("a ☕"):
        grow(live, token)
    assert heard == [TextDelta("a"), TextDelta(" ☕")]


@pytest.mark.parametrize("complete", [True, False])
def test_bytes_that_never_become_a_character(complete: bool) -> None:
    live, heard = begun()
    close(live, *template().text("a ☕")[:-1], complete=complete)
    last = heard[-1]
    assert isinstance(last, Finished)
    # What ended is what it is; what was cut might have become a character.
    assert last.answer.content == ("a \ufffd" if complete else "a")
    told = "".join(event.text for event in heard if isinstance(event, TextDelta))
    assert told == last.answer.content


def test_a_draft_is_shown_behind_what_is_final() -> None:
    live, heard = begun()
    words = template().text("timer")
    grow(live, *words, draft=[*template().text("for"), MASK, MASK])
    assert heard == [TextDelta("timer"), Snapshot("timer for░░", 1)]


def test_calls_are_not_words() -> None:
    live, heard = begun()
    grow(live, *template().text("Sure"), *template().call(TIMER_CALL)[:3])
    close(live, *template().call(TIMER_CALL)[3:])
    last = heard[-1]
    assert heard[:-1] == [TextDelta("Sure")]
    assert isinstance(last, Finished)
    assert last.answer == Answer("Sure", (TIMER_CALL,))


@pytest.mark.parametrize("count", range(1, 9))
def test_half_a_call_is_none(count: int) -> None:
    live, heard = begun()
    close(live, *template().text("Sure"), *template().call(TIMER_CALL)[:count], complete=False)
    last = heard[-1]
    assert isinstance(last, Finished)
    assert (last.answer, last.reason) == (Answer("Sure", ()), "length")


@pytest.mark.parametrize(
    ("options", "tokens", "told"),
    [
        ({"tool_choice": "required"}, template().text("hi"), "got no calls"),
        ({"tool_choice": "none"}, template().call(TIMER_CALL), r"expected one of \[\]"),
        ({"parallel": False}, template().call(TIMER_CALL) * 2, "got 2 calls, expected at most 1"),
        ({}, [CALL], "tool: got ''"),
    ],
)
def test_an_answer_outside_the_rules_is_an_error(
    options: dict[str, object], tokens: list[int], told: str
) -> None:
    live, heard = begun(**options)
    with pytest.raises(AnswerError, match=told):
        close(live, *tokens)
    assert not any(isinstance(event, Finished) for event in heard)


def test_who_has_cancelled_hears_nothing() -> None:
    live, heard = begun()
    live.cancelled.set()
    close(live, *template().text("hi"))
    live.emit(Failed(ValueError()))
    assert heard == []


def test_words_are_what_stands_before_the_first_mark() -> None:
    assert words_of([20, 21, END]) == [20, 21]
    assert words_of([20, CALL, 21]) == [20]
    assert words_of([20, MASK, 21]) == [20, MASK, 21]
    assert words_of([]) == []


def test_settled_text_is_sure_to_stay() -> None:
    assert settled(" ten \ufffd") == "ten"
    assert settled(" a\ufffdb ") == "a\ufffdb"


def test_characters_of_several_tokens_are_shown_whole() -> None:
    ids = template().text("a ☕")
    assert shown(tokenizer(), [*ids, MASK, END, MASK]) == "a ☕░"
    assert shown(tokenizer(), [MASK, *ids]) == "░ a ☕"
