from __future__ import annotations

from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from tests.voice.tools.services import NOW
from voice.tools.registry import ToolError, as_tool, checked, tool, tools_in


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


def test_only_a_modules_own_marked_functions_are_its_tools() -> None:
    module = ModuleType(__name__)
    module.__dict__.update(
        greet=greet, rate=rate, pytest=pytest, plain=test_hints_and_docstring_make_the_spec
    )
    assert [each.spec.name for each in tools_in(module)] == ["greet", "rate"]
    assert tools_in(ModuleType("elsewhere")) == []
