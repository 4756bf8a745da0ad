"""Several timers or alarms of one message, by their values alone."""

from __future__ import annotations

import pytest

from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.types import ToolSpec
from voice.understanding.several import several

SEVERAL = {
    "ten minutes for the pasta and another one for twelve for the sauce": (
        "timer for ten minutes for the pasta / timer for twelve minutes for the sauce"
    ),
    "I need two timers, one for five minutes for the eggs and one for twenty for the bread": (
        "timer for five minutes for the eggs / timer for twenty minutes for the bread"
    ),
    "put a timer on for three minutes and another for six": (
        "timer for three minutes / timer for six minutes"
    ),
    "give me a twelve minute timer and a second one of thirty seconds": (
        "timer for twelve minute / timer for thirty seconds"
    ),
    "could you do timers of five, ten and fifteen minutes": (
        "timer for five minutes / timer for ten minutes / timer for fifteen minutes"
    ),
    "an hour for the roast and twenty minutes for the peas": (
        "timer for an hour for the roast / timer for twenty minutes for the peas"
    ),
    "wake me at six tomorrow and again at quarter past": (
        "alarm for six tomorrow / alarm for quarter past six tomorrow"
    ),
    "alarms for seven and half past seven tomorrow morning please": (
        "alarm for seven tomorrow morning / alarm for half past seven tomorrow morning"
    ),
    "a timer for one minute and another for two": ("timer for one minute / timer for two minute"),
    "set alarms for 7 and 8 on saturday": "alarm for 7 on saturday / alarm for 8 on saturday",
    "set an alarm for six tomorrow, set another for nine tonight": (
        "alarm for six tomorrow / alarm for nine tonight"
    ),
}


@pytest.fixture(scope="module")
def tools() -> dict[str, ToolSpec]:
    toolbox = Toolbox(ToolsConfig(database=":memory:"), TurnConfig())
    return {one.name: one for one in toolbox.specs(["set_timer", "set_alarm"], SessionScope("x"))}


@pytest.mark.parametrize(("said", "parts"), SEVERAL.items())
def test_each_stands_alone_with_what_it_leaves_to_its_neighbours(
    said: str, parts: str, tools: dict[str, ToolSpec]
) -> None:
    assert [one.partition(" ")[2].partition(" ")[2] for one in several(said, tools)] == (
        parts.split(" / ")
    )


@pytest.mark.parametrize(
    "said",
    [
        "set a timer for an hour and a half", "set a timer for ten minutes and thirty seconds",
        "set a timer for one hour twenty", "set a timer for five minutes for the two eggs",
        "cancel the ten minute timer and the five minute one",
        "set an alarm for seven and add milk to the list", "is the ten or the five minute one on",
        "remind me at five and six to take a pill", "what's ten minutes and five minutes",
        "change the six alarm to seven", "I walked ten minutes and another five",
        "set an alarm for six and a timer for ten minutes",
        "a timer for five minutes" + "\nand one for ten minutes" * 9,
    ],
)  # fmt: skip
def test_what_is_one_thing_or_another_request_stays_whole(
    said: str, tools: dict[str, ToolSpec]
) -> None:
    assert several(said, tools) == ()


def test_there_have_to_be_tools_for_it(tools: dict[str, ToolSpec]) -> None:
    assert several("timers of five and ten minutes", {"set_alarm": tools["set_alarm"]}) == ()
