"""Patterns of an agent's file find what a message asks for, whatever it begins with."""

from __future__ import annotations

import pytest

from voice.config.called_for import called_for

CALLS = {"forget_fact": (r"^forget (?P<what>(?:the|my) .+)$",)}


@pytest.mark.parametrize(
    "said",
    [
        "forget the wifi password",
        "ok forget the wifi password",
        "So, hey: forget the WiFi password",
    ],
)
def test_a_message_may_begin_with_words_that_ask_for_nothing(said: str) -> None:
    tool, arguments = next(called_for(said, CALLS))
    assert (tool, arguments["what"].lower()) == ("forget_fact", "the wifi password")


@pytest.mark.parametrize(
    "said", ["okay", "don't forget the wifi password", "so do forget the cake"]
)
def test_what_a_pattern_does_not_begin_with_is_not_left_out(said: str) -> None:
    assert not list(called_for(said, CALLS))
