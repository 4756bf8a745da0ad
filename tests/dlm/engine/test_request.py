from __future__ import annotations

from typing import Any

import pytest
from tokenizers import normalizers

from dlm.engine.request import (
    Event,
    Failed,
    Finished,
    Request,
    RequestJob,
    Snapshot,
    TextDelta,
    Usage,
)
from dlm.grammar.formats import Regex
from dlm.language.chat_template import ChatTemplate
from dlm.language.messages import Answer, AnswerError, Call, Turn
from dlm.language.tokenizer import Mark
from tests.dlm.loading.families import tokenizers
from tests.dlm.tiny import TOOLS, call_ids, decoder, model, template

MASK, END, CALL = int(Mark.MASK), int(Mark.END), int(Mark.CALL)
TIMER_CALL = Call("set_timer", {"duration": "ten"})


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    """Composes letters and their accents."""
    made = tokenizers.write(tmp_path_factory.mktemp("chat"))
    made.backend_tokenizer.normalizer = normalizers.NFC()
    return ChatTemplate(made, 259, [256])


class Begun:
    """A request whose decoder stands behind its prompt, and what its caller hears."""

    def __init__(self, **options: object) -> None:
        self.heard: list[Event] = []
        dialect = options.pop("dialect", template())
        request = Request(**{"turns": (Turn("user", "hi"),), "tools": TOOLS, **options})  # type: ignore[arg-type]
        self.live = RequestJob(request, self.heard.append, dialect)  # type: ignore[arg-type]
        self.decoder = decoder(model(), [20, 21, 22])

    def grow(self, *tokens: int, draft: list[int] | None = None) -> bool:
        progress = self.decoder.progress
        progress.tokens += tokens
        progress.draft = draft or []
        progress.forwards += 1
        return self.live.update(self.decoder)

    def close(self, *tokens: int, complete: bool = True) -> None:
        self.grow(*tokens, *([END] if complete else []))
        self.decoder.progress.complete = complete
        self.live.finish(self.decoder)

    def finished(self) -> Finished:
        last = self.heard[-1]
        assert isinstance(last, Finished)
        return last

    def told(self) -> str:
        return "".join(event.text for event in self.heard if isinstance(event, TextDelta))


def test_text_is_told_as_it_grows() -> None:
    one = Begun()
    for word in ("Set", "a", "timer"):
        one.grow(*template().text(word))
    one.grow()
    assert one.heard == [TextDelta("Set"), TextDelta(" a"), TextDelta(" timer")]
    one.close()
    count = len(template().text("Set a timer")) + 1
    usage = Usage(prompt_tokens=3, cached_tokens=0, answer_tokens=count, forwards=5)
    answer = Answer("Set a timer", ())
    assert one.heard[3:] == [Finished(answer, "stop", usage)]


@pytest.mark.parametrize("complete", [True, False])
def test_bytes_that_never_become_a_character(complete: bool) -> None:
    one = Begun()
    one.close(*template().text("a ☕")[:-1], complete=complete)
    last = one.heard[-1]
    assert isinstance(last, Finished)
    # What ended is what it is; what was cut might have become a character.
    assert last.answer.content == ("a \ufffd" if complete else "a")
    told = "".join(event.text for event in one.heard if isinstance(event, TextDelta))
    assert told == last.answer.content


def test_a_draft_is_shown_behind_what_is_final() -> None:
    one = Begun()
    words = template().text("timer")
    one.grow(*words, draft=[*template().text("for"), MASK, MASK])
    assert one.heard == [TextDelta("timer"), Snapshot("timer for░░", 1)]


@pytest.mark.parametrize(
    ("options", "tokens", "told"),
    [
        ({"tool_choice": "required"}, template().text("hi"), "got no calls"),
        ({"tool_choice": "none"}, call_ids(TIMER_CALL), r"expected one of \[\]"),
        ({"parallel": False}, call_ids(TIMER_CALL) * 2, "got 2 calls, expected at most 1"),
        ({}, [CALL], "tool: got ''"),
    ],
)
def test_an_answer_outside_the_rules_is_an_error(
    options: dict[str, object], tokens: list[int], told: str
) -> None:
    one = Begun(**options)
    with pytest.raises(AnswerError, match=told):
        one.close(*tokens)
    assert not any(isinstance(event, Finished) for event in one.heard)


def test_who_has_cancelled_hears_nothing() -> None:
    one = Begun()
    one.live.cancelled.set()
    one.close(*template().text("hi"))
    one.live.emit(Failed(ValueError()))
    assert one.heard == []


@pytest.mark.parametrize("stop", [("timer",), ("a timer", "timer"), ("x", "r now", " timer")])
def test_a_stop_string_ends_the_answer_before_itself(stop: tuple[str, ...]) -> None:
    one = Begun(stop=stop)
    over = [one.grow(token) for token in template().text("Set a timer now please")]
    at = over.index(True)
    one = Begun(stop=stop)
    for token in template().text("Set a timer now please")[: at + 1]:
        one.grow(token)
    one.live.finish(one.decoder)
    whole = "Set a timer now please"
    expected = whole[: min(whole.index(s) for s in stop if s in whole)].rstrip()
    assert one.finished().answer == Answer(expected, ())
    assert one.finished().reason == "stop"
    assert one.told() == expected
    assert one.finished().usage.answer_tokens == at + 1


class Compared(str):
    """A text that counts the characters that it is compared with."""

    count = 0

    def startswith(self, *given: Any) -> bool:
        self.count += len(given[0])
        return super().startswith(*given)


def test_a_long_stop_string_is_not_compared_with_all_that_was_sent() -> None:
    stop = Compared("x" * 100_000)
    one = Begun(stop=(stop,))
    for token in template().text("Set a timer for ten minutes please. What is it? " * 10):
        one.grow(token)
    assert 0 < stop.count < 10 * len(one.told())


def test_a_stop_string_inside_a_block_cuts_what_stands_behind_it() -> None:
    one = Begun(stop=("timer",))
    call = call_ids(TIMER_CALL)
    assert one.grow(*template().text("Set a timer now"), *call, END)
    one.live.finish(one.decoder)
    assert one.finished().answer == Answer("Set a", ())
    assert one.finished().usage.answer_tokens < len(template().text("Set a timer now"))


def test_no_more_of_a_prediction_is_kept_than_the_answer_has() -> None:
    one = Begun(stop=("timer",))
    one.decoder.progress.kept = 9
    assert one.grow(*template().text("Set a timer now please"))
    one.live.finish(one.decoder)
    usage = one.finished().usage
    assert usage.kept == usage.answer_tokens < 9


@pytest.mark.parametrize("stop", [(), ("b",)])
def test_space_that_a_format_asks_for_stays_where_the_answer_is_cut(stop: tuple[str, ...]) -> None:
    one = Begun(format=Regex("[ab ]+"), tools=(), stop=stop)
    one.close(*template().text("a"), *template().tokenizer.encode("   b"), complete=False)
    assert one.told() == one.finished().answer.content == ("a   " if stop else "a   b")
    one = Begun(format=Regex("[ab ]+"), tools=(), stop=stop)
    one.close(*template().text("a"), *template().tokenizer.encode("   "), complete=False)
    assert one.told() == one.finished().answer.content == "a   "


def test_a_prefix_is_not_repeated() -> None:
    one = Begun(prefix="Set a")
    assert one.live.prefix_ids == template().text("Set a")
    one.grow(*template().text("timer"), draft=[MASK])
    one.close(*template().text("now"))
    assert one.heard[:2] == [TextDelta(" timer"), Snapshot(" timer░", 1)]
    assert one.finished().answer == Answer(" timer now", ())
    one = Begun(prefix="Set a ")
    one.close(*template().text("timer"))
    assert one.finished().answer == Answer("timer", ())


@pytest.mark.parametrize("wanted", [None, Regex(".+")])
def test_a_prefix_is_cut_off_as_the_tokenizer_writes_it(
    chat: ChatTemplate, wanted: Regex | None
) -> None:
    one = Begun(dialect=chat, prefix="Cafe\u0301\ue000 ", tools=(), format=wanted)
    one.close(*chat.text("is open"), complete=False)
    assert one.told() == one.finished().answer.content == "is open"
    one = Begun(dialect=chat, prefix="Cafe\u0301", tools=(), format=wanted)
    one.close(*chat.text("s are"), complete=False)
    assert one.told() == "s are"


def test_a_text_that_turns_in_circles_is_ended() -> None:
    one = Begun()
    words = template().text("timer for ")
    rounds = 0
    while not one.grow(*words):
        rounds += 1
        assert rounds < 50
    one.live.finish(one.decoder)
    assert one.finished().reason == "length"
    assert rounds >= 3
