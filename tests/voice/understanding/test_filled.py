"""Optional values that a request says and its call has left out."""

from __future__ import annotations

import pytest

from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.filled import filled, taken_out


def reading(*words: str, anywhere: bool = False) -> Reading:
    return Reading(
        lambda said: said if {*said.split()} <= {*words} else None,
        lambda _: "",
        anywhere=anywhere,
    )


READINGS = {
    "drink": reading("tea", "mocha"),
    "size": reading("medium", "large"),
    "milk": reading("no", "oat", "milk", "cream"),
    "extras": reading("whipped", "cream", "two"),
    "which": reading("saucer", anywhere=True),
}
SPEC = ToolSpec("order_drink", "Order.", {"required": ["drink"]}, readings=READINGS)


@pytest.mark.parametrize(
    ("request_text", "given", "added"),
    [
        ("a mocha, medium", {}, {"size": "medium"}),
        ("a mocha, large, with oat milk", {}, {"size": "large", "milk": "oat milk"}),
        ("a large mocha with oat milk", {"size": "large"}, {"milk": "oat milk"}),
        ("a mocha with cream", {}, {"milk": "cream"}),
        ("a mocha with whipped cream", {"milk": "cream"}, {"extras": "whipped"}),
        ("a mocha but not large", {}, {}),
        ("a mocha with no milk", {}, {}),
        ("two of a mocha on a saucer", {}, {}),
    ],
)
def test_what_a_reader_can_read_is_its_value(
    request_text: str, given: dict[str, str], added: dict[str, str]
) -> None:
    arguments = {"drink": "mocha", **given}
    call = filled(ToolCall("c", "order_drink", arguments), request_text, SPEC)
    assert call.arguments == {**arguments, **added}


_WORDS = {"next", "Saturday", "at", "two", "for"}
WHEN = Reading(
    lambda said: said if "two" in said and {*said.split()} <= _WORDS else None, lambda _: ""
)
REMINDER = ToolSpec("set_reminder", "Note.", {"required": ["text"]}, readings={"when": WHEN})


@pytest.mark.parametrize(
    ("text", "kept", "when"),
    [
        ("Nuria's birthday, next Saturday at two.", "Nuria's birthday", "next Saturday at two"),
        ("at two, ring Nuria", "ring Nuria", "at two"),
        ("a table for two", "a table for two", None),
        ("read chapter two", "read chapter two", None),
        ("at two", "at two", None),
    ],
)
def test_a_time_is_taken_out_of_the_text(text: str, kept: str, when: str | None) -> None:
    call = taken_out(ToolCall("c", "set_reminder", {"text": text}), REMINDER)
    assert call.arguments == {"text": kept} | ({"when": when} if when else {})
    timed = ToolCall("c", "set_reminder", {"text": text, "when": "at nine"})
    assert taken_out(timed, REMINDER) == timed
