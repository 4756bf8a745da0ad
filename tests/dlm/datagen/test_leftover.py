"""Corpus rows whose labels leave a value out are told by where their words stand elsewhere."""

import pytest

from dlm.datagen.grammar import Piece
from dlm.datagen.leftover import Request, complete, from_markers


def request(tool: str, *pieces: str | tuple[str, str]) -> Request:
    return tool, [Piece(p) if isinstance(p, str) else Piece(*p) for p in pieces]


WEATHER = [
    request("get_weather", "weather in ", ("boston", "place")),
    request("get_weather", "is it raining in ", ("Boston", "place"), "?"),
    request("get_weather", "will it rain ", ("tomorrow", "day")),
]


def judged(*requests: Request) -> list[bool]:
    """What is said of some requests among those above, which are whole."""
    found = list(complete([*WEATHER, *requests]))
    assert all(found[: len(WEATHER)])
    return found[len(WEATHER) :]


def test_a_place_that_nobody_marked_is_noticed() -> None:
    assert judged(request("get_weather", "boston weather?")) == [False]


def test_another_tool_s_rows_tell_as_well() -> None:
    assert judged(request("get_time", "what time is it in boston")) == [False]


def test_words_that_are_left_outside_elsewhere_too_are_no_values() -> None:
    assert judged(request("get_weather", "is it raining"), request("get_time", "time please")) == [
        True,
        True,
    ]


@pytest.mark.parametrize("text", ["in boston it will rain", "BOSTON, rain"])
def test_case_and_points_change_nothing(text: str) -> None:
    assert judged(request("get_weather", text)) == [False]


def test_a_value_of_small_words_is_none() -> None:
    broken = request("remove_from_list", "remove off ", ("rice", "item"), " ", ("from", "list"))
    assert judged(broken) == [False]


def test_a_state_may_be_a_small_word() -> None:
    lamp = request("set_device", "turn the ", ("lamp", "device"), " ", ("off", "state"))
    assert judged(lamp) == [True]


def test_a_list_may_be_asked_for_a_thing_without_an_argument() -> None:
    eggs = [request("add_to_list", "add ", ("eggs", "item"))] * 3
    asked = [request("read_list", "are eggs on it"), request("get_time", "eggs")]
    assert judged(*eggs, *asked) == [True, True, True, True, False]


def test_only_sources_that_mark_values_are_believed_where_they_do() -> None:
    def row(source: str, intent: str, **slots: str) -> dict[str, object]:
        return {"source": source, "intent": intent, "slots": slots}

    rows = [
        row("marking", "play", song="yesterday"),
        row("marking", "play"),
        row("bare", "play"),
        row("bare", "tell_joke"),
    ]
    assert from_markers(rows) == [rows[0], rows[1], rows[3]]
    assert from_markers(rows[2:]) == rows[2:]
