from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from voice.errors import ConfigError
from voice.tools.registry import ToolError, Unreadable, as_tool, checked, tool, tools_in


@tool(read_only=True)
def greet(name: str, manner: Literal["warm", "cool"] = "warm", *, scope: int) -> str:
    """Greet somebody.

    More is for programmers, not for the model.
    """
    return f"{manner} {name} {scope}"


@tool()
def rate(stars: Annotated[int, Field(description="From 1 to 5.", ge=1, le=5)]) -> str:
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
            "name": {"type": "string"},
            "manner": {"type": "string", "enum": ["warm", "cool"]},
        },
        "required": ["name"],
    }
    assert made.provided == {"scope": int}


def test_descriptions_and_bounds_reach_the_schema() -> None:
    made = as_tool(rate)
    assert not made.spec.read_only
    assert made.spec.parameters["properties"]["stars"] == {
        "type": "integer",
        "description": "From 1 to 5.",
        "minimum": 1,
        "maximum": 5,
    }


@pytest.mark.parametrize(
    ("arguments", "taken"),
    [
        ({"name": "anna"}, {"name": "anna"}),
        ({"name": 5}, {"name": "5"}),
        ({"name": "anna", "manner": None}, {"name": "anna"}),
        ({"name": "anna", "manner": ""}, {"name": "anna"}),
        ({"name": "anna", "manner": "cool"}, {"name": "anna", "manner": "cool"}),
    ],
)
def test_what_was_left_out_stays_out(arguments: dict[str, Any], taken: dict[str, Any]) -> None:
    assert checked(as_tool(greet), arguments) == taken


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "The name is missing."),
        ({"name": ""}, "The name is missing."),
        ({"name": "anna", "hat_size": "9"}, "The greet tool takes no hat size."),
        ({"name": "anna", "manner": "rude"}, "I could not read the manner rude."),
    ],
)
def test_wrong_arguments_are_told_in_words(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ToolError) as failure:
        checked(as_tool(greet), arguments)
    assert str(failure.value) == complaint


def test_a_tool_needs_a_docstring_and_hints() -> None:
    def silent(name: str) -> str:
        return name

    def vague(name) -> str:  # type: ignore[no-untyped-def]
        """Say something."""
        return str(name)

    with pytest.raises(ConfigError, match=r"silent: got no docstring"):
        as_tool(silent)
    with pytest.raises(ConfigError, match=r"vague: parameter name has no type hint"):
        as_tool(vague)


class Mine:
    """A type that JSON does not have."""


def test_a_parameter_that_cannot_be_described_is_told_with_its_tool() -> None:
    def own(thing: Mine) -> str:
        """Take what is ours."""
        return str(thing)

    def ahead(thing: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821
        """Take what is nowhere."""
        return str(thing)

    def call_back(back: Callable[[], str]) -> str:
        """Take a function."""
        return back()

    def hidden(_word: str) -> str:
        """Take a word that pydantic takes for its own."""
        return _word

    with pytest.raises(ConfigError, match=r"tool own: .*expected types that JSON has.*Mine"):
        as_tool(own)
    with pytest.raises(ConfigError, match=r"tool ahead: .*'Nowhere' is not defined"):
        as_tool(ahead)
    with pytest.raises(
        ConfigError, match=r"tool call_back: .*expected types that JSON has"
    ) as told:
        as_tool(call_back)
    assert "\n" not in str(told.value)
    with pytest.raises(ConfigError, match=r"tool hidden: got parameter _word"):
        as_tool(hidden)


def test_only_a_modules_own_marked_functions_are_its_tools() -> None:
    module = ModuleType(__name__)
    module.__dict__.update(
        greet=greet, rate=rate, pytest=pytest, plain=test_hints_and_docstring_make_the_spec
    )
    assert [each.spec.name for each in tools_in(module)] == ["greet", "rate"]
    assert tools_in(ModuleType("elsewhere")) == []


def test_an_unreadable_value_is_named_with_its_kind() -> None:
    assert str(Unreadable("duration", "blue")) == "I could not read the duration blue."


def test_only_a_coroutine_function_may_be_cancellable() -> None:
    @tool(cancellable=True)
    async def dig() -> str:
        """Dig for a while."""
        return "Dug."

    @tool(cancellable=True)
    def burn() -> str:
        """Burn for a while."""
        return "Burnt."

    spec = as_tool(dig).spec
    assert (spec.cancellable, spec.read_only) == (True, False)
    with pytest.raises(ConfigError, match="burn: got cancellable"):
        as_tool(burn)
