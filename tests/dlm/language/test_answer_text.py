from __future__ import annotations

import pytest

from dlm.language.answer_text import (
    LOOP_TIMES,
    LOOP_TOKENS,
    find_stop,
    looping,
    possible_stop,
    settled,
    with_masks,
)
from dlm.language.tokenizer import Mark
from tests.dlm.tiny import template

MASK, END, CALL = int(Mark.MASK), int(Mark.END), int(Mark.CALL)


def test_settled_text_is_sure_to_stay() -> None:
    assert settled(" ten \ufffd") == "ten"
    assert settled(" a\ufffdb ") == "a\ufffdb"


def test_characters_of_several_tokens_are_shown_whole() -> None:
    ids = template().text("a ☕")
    assert with_masks(template(), [*ids, MASK, END, MASK]) == "a ☕░"
    assert with_masks(template(), [MASK, *ids]) == "░ a ☕"


def test_the_first_stop_string_counts() -> None:
    assert find_stop("one two three", ("three", "two")) == 4
    assert find_stop("one two three", ("four",)) is None
    assert find_stop("one", ()) is None


@pytest.mark.parametrize(
    ("text", "stops", "size"),
    [
        ("abc", ("cd",), 1), ("abc", ("bcd", "cd"), 2), ("abc", ("abc",), 0), ("abc", ("d",), 0),
        ("aab", ("abab",), 2), ("", ("a",), 0), ("abc", (), 0),
    ],
)  # fmt: skip
def test_what_may_begin_a_stop_string_is_held_back(
    text: str, stops: tuple[str, ...], size: int
) -> None:
    assert possible_stop(text, stops) == size


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, LOOP_TOKENS])
def test_a_loop_is_told_from_its_length(size: int) -> None:
    unit = list(range(size))
    times = max(LOOP_TIMES, -(-LOOP_TOKENS // size))
    assert looping([99, 98, *unit * times])
    assert not looping([*unit * times][1:])
    assert not looping([*unit * times, 99])


def test_a_long_sentence_may_come_back_a_few_times() -> None:
    assert not looping(list(range(LOOP_TOKENS + 1)) * 10)
    assert not looping(list(range(200)))
    assert not looping([])
