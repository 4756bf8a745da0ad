from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from tests.voice.tools.services import NOW
from voice.errors import ConfigError
from voice.tools.registry import Asked, Keeps, ToolError, as_tool, checked, tool, tools_in
from voice.tools.scope import SessionScope


@tool(read_only=True)
def greet(
    name: Annotated[str, Field(description="Of the guest.", min_length=1)],
    manner: Literal["warm", "cool"] = "warm",
    *,
    scope: int,
) -> str:
    """Greet somebody.

    More is for programmers, not for the model.
    """
    return f"{manner} {name} {scope}"


@tool()
def rate(stars: int) -> str:
    """Rate the call."""
    return str(stars)


def seat(
    people: Annotated[int, Field(ge=1, le=9)],
    maximum: Annotated[float | None, Field(gt=0, lt=60.5)] = None,
) -> str:
    """Seat some people."""
    return f"{people} {maximum}"


def test_hints_and_docstring_make_the_spec() -> None:
    made = as_tool(greet)
    assert made.spec.name == "greet"
    assert made.spec.description == "Greet somebody."
    assert made.spec.read_only
    assert made.spec.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Of the guest.", "minLength": 1},
            "manner": {"type": "string", "enum": ["warm", "cool"]},
        },
        "required": ["name"],
    }
    assert made.provided == {"scope": int}
    assert not as_tool(rate).spec.read_only


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ({"name": 5}, {"name": "5"}),
        ({"name": "anna", "manner": None}, {"name": "anna"}),
        ({"name": "anna", "manner": ""}, {"name": "anna"}),
        ({"name": "anna", "manner": "cool"}, {"name": "anna", "manner": "cool"}),
    ],
)
def test_what_was_left_out_stays_out(arguments: dict[str, Any], taken: dict[str, Any]) -> None:
    assert checked(as_tool(greet), arguments, NOW) == taken


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "The name is missing."),
        ({"name": "anna", "hat_size": "9"}, "The greet tool takes no hat size."),
        ({"name": "anna", "manner": "rude"}, "I could not read the manner rude."),
    ],
)
def test_wrong_arguments_are_told_in_words(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ToolError) as failure:
        checked(as_tool(greet), arguments, NOW)
    assert str(failure.value) == complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"people": 12}, "The people can be 9 at most, not 12."),
        ({"people": 0}, "The people can be 1 at least, not 0."),
        ({"people": 2, "maximum": 60.5}, "The maximum can be less than 60.5 only, not 60.5."),
        ({"people": 2, "maximum": 0}, "The maximum can be more than 0 only, not 0."),
    ],
)
def test_numbers_out_of_bounds_reach_the_tool_and_are_told(
    arguments: dict[str, Any], complaint: str
) -> None:
    made = as_tool(seat)
    assert made.spec.parameters["properties"] == {
        "people": {"type": "integer"},
        "maximum": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    }
    with pytest.raises(ToolError) as failure:
        checked(made, arguments, NOW)
    assert str(failure.value) == complaint


def test_only_a_modules_own_marked_functions_are_its_tools() -> None:
    module = ModuleType(__name__)
    module.__dict__.update(
        greet=greet, rate=rate, pytest=pytest, plain=test_hints_and_docstring_make_the_spec
    )
    assert [each.spec.name for each in tools_in(module)] == ["greet", "rate"]
    assert tools_in(ModuleType("elsewhere")) == []


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"asked": Asked(lambda: "Shall I?", bool)}, "asked: got a function of 0 arguments"),
        ({"asked": Asked(lambda said: "Shall I?", lambda one, two: True)}, "asked's plainly: got"),
        (
            {"asked": Asked(lambda said, *, scope: "Shall I?", bool)},
            "asked: parameter scope has no type hint",
        ),
        ({"refuses": lambda said: None}, "refuses: got a function of 1 arguments; expected 2"),
        ({"meant": lambda said, message: ""}, "meant: got a function of 2 arguments; expected 1"),
        ({"keeps": Keeps("visits", lambda: None)}, "keeps: got a function of 0 arguments"),
    ],
)
def test_functions_of_a_tool_that_cannot_be_called_are_told(
    options: dict[str, Any], where: str
) -> None:
    def close() -> str:
        """Close the shop."""
        return "Closed."

    with pytest.raises(ConfigError, match=re.escape(f"tool close: {where}")):
        as_tool(tool(**options)(close))


def gathers(*args: str) -> None:
    """Gather."""


def collects(**kw: str) -> None:
    """Collect."""


def counts(number: int, /) -> None:
    """Count."""


@pytest.mark.parametrize(
    ("function", "got"),
    [(gathers, "*args"), (collects, "**kw"), (counts, "number")],
)
def test_parameters_that_no_call_can_pass_are_refused(
    function: Callable[..., None], got: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        as_tool(function)
    assert f"got parameter {got}, which no call can pass by its name" in str(failure.value)


def _asks(said: dict[str, Any], *, scope: SessionScope) -> str:
    return "Shall I?"


def _allows(given: object, message: str, more: int = 1, *, scope: SessionScope) -> None:
    return None


def test_functions_of_a_tool_may_take_what_is_provided() -> None:
    @tool(
        asked=Asked(_asks, bool),
        meant=lambda *said: "the shop",
        refuses=_allows,
    )
    def close() -> str:
        """Close the shop."""
        return "Closed."

    assert as_tool(close).asked is not None
