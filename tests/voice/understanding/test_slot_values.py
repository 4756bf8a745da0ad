"""Values of every kind that are read from whole messages, with the kinds' own readers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from voice.tools import ToolError
from voice.tools.kinds import KINDS, choice
from voice.tools.registry import Readable
from voice.tools.spoken_numbers import duration
from voice.types import Reading
from voice.understanding.slot_values import Wanted, said_values

NOW = datetime(2026, 11, 25, 10)
READERS = {
    "problem": KINDS["words"],
    "room": choice({"kitchen": ("kitchen",), "bathroom": ("bath ?room",)}),
    "day": KINDS["day"],
    "part": choice({"morning": ("morning",), "afternoon": ("afternoon",)}),
    "name": KINDS["person"],
    "phone": KINDS["phone number"],
    "time": KINDS["clock time"],
    "length": Readable(lambda said, _: duration(said)),
    "people": KINDS["number of people"],
}


def meaning(
    read: Callable[[str, datetime], object] | None,
) -> Callable[[str], object] | None:
    def meant(said: str) -> object:
        try:
            return read(said, NOW) if read else None
        except ToolError:
            return None

    return read and meant


def reading(of: Readable) -> Reading:
    read = meaning(of.read)
    assert read
    outright, unasked = meaning(of.outright), meaning(of.unasked)
    return Reading(read, lambda _: "", free=of.free, outright=outright, unasked=unasked)


@pytest.mark.parametrize(
    ("asked", "message", "expected"),
    [
        # What a message corrects itself.
        ("day", "Tuesday. No, Wednesday", {"day": "Wednesday"}),
        ("day", "Tuesday, sorry, I mean Wednesday", {"day": "Wednesday"}),
        ("day", "Monday, no, Tuesday, no wait, Wednesday", {"day": "Wednesday"}),
        ("day", "Tuesday, no problem", {"day": "Tuesday"}),
        ("part", "in the morning, no, afternoon", {"part": "afternoon"}),
        ("part", "morning. actually no, afternoon", {"part": "afternoon"}),
        ("room", "it's the kitchen, sorry, it's in the bathroom", {"room": "bathroom"}),
        ("day", "it's the kitchen, not the bathroom", {"room": "kitchen"}),
        ("time", "at ten, no, at eleven", {"time": "eleven"}),
        ("time", "make it two hours", {"length": "two hours"}),
        ("length", "two hours. no wait, three", {"length": "three hours"}),
        ("length", "two hours, no, at three", {"length": "two hours", "time": "three"}),
        # A day in a question that is not about it is none; one that is asked about is.
        ("day", "what's the weather like tomorrow", {}),
        ("day", "what time do you shut on Fridays?", {}),
        ("day", "are you open on Saturdays", {}),
        ("day", "sorry, did you say Tuesday? It has to be Friday", {"day": "Friday"}),
        ("day", "what's Friday like?", {"day": "Friday"}),
        ("day", "can you come on Tuesday?", {"day": "Tuesday"}),
        ("day", "is Tuesday morning free?", {"day": "Tuesday", "part": "morning"}),
        ("day", "do you have anything open on Friday", {"day": "Friday"}),
        ("problem", "it leaks, Friday please", {"problem": "it leaks, please", "day": "Friday"}),
        # A sentence is left whole around a value.
        (
            "problem",
            "the tap in the kitchen drips, come on Friday",
            {"problem": "the tap in the kitchen drips, come", "room": "kitchen", "day": "Friday"},
        ),
        (
            "problem",
            "the kitchen tap has been dripping",
            {"problem": "the kitchen tap has been dripping", "room": "kitchen"},
        ),
        ("part", "we saw a man in the kitchen last Friday", {}),
        ("day", "the blue kitchen one on Friday", {"day": "Friday", "room": "kitchen"}),
        # The longest span wins, whatever is asked for.
        ("people", "Thursday at seven", {"day": "Thursday", "time": "seven"}),
        ("time", "a table for two at one", {"people": "a table for two", "time": "one"}),
        ("time", "a table for two tonight please", {"people": "a table for two", "day": "tonight"}),
        (
            "time",
            "two people at one on friday",
            {"people": "two people", "time": "one", "day": "friday"},
        ),
        ("day", "tonight at seven", {"time": "tonight at seven", "day": "tonight"}),
        ("time", "rather eight than seven", {"time": "eight"}),
        ("time", "eight instead of seven", {"time": "eight"}),
        # Names and their spelling; whose number it is.
        ("name", "My name is Ann, without an E, Lowe with a W", {"name": "Ann Lowe"}),
        (
            "name",
            "my name is Shivon, that's S H I V O N N E",
            {"name": "Shivon, that's S H I V O N N E"},
        ),
        ("phone", "my tenancy number is 123456", {}),
        ("phone", "my number is 123456", {"phone": "my number is 123456"}),
        ("phone", "0 7 7 for 9 0 to 0.", {"phone": "0 7 7 4 9 0 2 0"}),
        ("phone", "for 0 7 7 0 0 9", {"phone": "0 7 7 0 0 9"}),
    ],
)
def test_values_of_a_message(asked: str, message: str, expected: dict[str, str]) -> None:
    wanted = [Wanted(name, reading(one)) for name, one in READERS.items()]
    known = [] if asked == "problem" else [Wanted("problem", reading(READERS["problem"]), "a leak")]
    assert said_values(message, [*known, *wanted[1 if known else 0 :]], asked) == expected
