"""Corrections of a call that the user was asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from voice.types import Reading, ToolCall, ToolSpec
from voice.understanding.amendments import amended, with_details


def one_of(*values: str) -> Reading:
    return Reading(lambda said: said.lower() if said.lower() in values else None, lambda _: "")


def tool(
    readings: dict[str, Reading], required: Sequence[str] = (), **properties: object
) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return ToolSpec("do_it", "Do it.", schema, readings=readings)


TEXT = {"type": "string"}
ORDER = tool(
    {"pet": one_of("nero", "biscuit"), "medicine": one_of("ear drops", "joint tablets")},
    pet=TEXT,
    medicine=TEXT,
)
ORDERED = {"pet": "Nero", "medicine": "joint tablets"}
ASKED = "joint tablets for Nero A repeat of joint tablets for Nero, shall I order it?"
SEND = tool(
    {}, amount={"type": "integer"}, to=TEXT, how={"type": "string", "enum": ["Cash", "Card"]}
)
SENT = {"amount": 20, "to": "Anna Berg", "how": "Cash"}
MOVE = tool({"start": one_of("two", "four"), "end": one_of("two", "four")}, start=TEXT, end=TEXT)


@pytest.mark.parametrize(
    ("message", "new"),
    [
        ("no, ear drops", {"medicine": "ear drops"}),
        ("No, not the joint tablets, ear drops", {"medicine": "ear drops"}),
        ("ear drops, not the joint tablets", {"medicine": "ear drops"}),
        ("oh wait, the ear drops please", {"medicine": "ear drops"}),
        ("no, for Biscuit", {"pet": "Biscuit"}),
        ("I meant ear drops for Biscuit", {"pet": "Biscuit", "medicine": "ear drops"}),
        ("no, a repeat of the ear drops", {"medicine": "ear drops"}),
        ("no, not the joint tablets", {}),
        ("no, when are you open?", {}),
        ("no, is it for Biscuit?", {}),
        ("no, cancel the ear drops", {}),
        ("and ear drops", {}),
        ("no, insulin", {}),
    ],
)  # fmt: skip
def test_a_value_replaces_that_of_the_parameter_which_reads_it(
    message: str, new: dict[str, str]
) -> None:
    found = amended(message, ToolCall("c", "do_it", ORDERED), ORDER, ASKED)
    assert (found.arguments if found else ORDERED) == ORDERED | new


@pytest.mark.parametrize(
    ("message", "new"),
    [
        ("no, thirty", {"amount": 30}),
        ("no, by card", {"how": "Card"}),
        ("no, to Ben", {"to": "Ben"}),
        ("not to Anna Berg, to Ben Smith please", {"to": "Ben Smith"}),
        ("no, two and a half", {}),
        ("no, Ben", {}),
        ("no, too expensive", {}),
        ("no, to be honest", {}),
        ("no, a card", {"how": "Card"}),
        ("no, to Ben Smith of the Norwegian office", {}),
    ],
)
def test_numbers_and_options_are_read_too_and_text_stands_where_the_old_text_stood(
    message: str, new: dict[str, Any]
) -> None:
    found = amended(message, ToolCall("c", "do_it", SENT), SEND, "20 to Anna Berg Shall I send it?")
    assert (found.arguments if found else SENT) == SENT | new


def test_names_of_things_that_exist_are_told_apart() -> None:
    known = Reading(
        lambda said: said.lower() in ("oven", "lamp") or None, lambda _: "", anywhere=True
    )
    call, spec = ToolCall("c", "do_it", {"device": "oven"}), tool({"device": known}, device=TEXT)
    found = amended("no, the lamp", call, spec, "Shall I turn off the oven?")
    assert found is not None and found.arguments == {"device": "lamp"}
    assert amended("no, the oven", call, spec, "Shall I turn off the oven?") is None


def test_a_value_that_several_parameters_can_have_replaces_none() -> None:
    call = ToolCall("c", "do_it", {"start": "one", "end": "three"})
    assert amended("no, four", call, MOVE, "Shall I?") is None


DRINK = tool(
    {"drink": one_of("tea"), "size": one_of("large", "small"), "shots": one_of("four"),
     "count": replace(one_of("one", "four"), counts=True)},
    drink=TEXT, size=TEXT, shots=TEXT, count=TEXT, required=["drink"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "new"),
    [
        ("four", {"count": "four"}),
        ("no, make it four please", {"count": "four"}),
        ("a large one", {"size": "large"}),
        ("no, large", {"size": "large"}),
        ("another one", None),
        ("a latte", None),
        ("is it large?", None),
    ],
)
def test_a_detail_that_answers_a_doubt_is_of_the_thing_in_doubt(
    message: str, new: dict[str, str] | None
) -> None:
    tea = {"drink": "tea", "count": "one"}
    found = with_details(message, ToolCall("c", "do_it", tea), DRINK, "a tea A tea, right?")
    assert (found and found.arguments) == (None if new is None else tea | new)
