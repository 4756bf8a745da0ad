"""What somebody who adds tools needs is exported by the package itself."""

from __future__ import annotations

import sys

import pytest

from voice import tools
from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox, ToolError, tool
from voice.types import ToolCall


@tool(read_only=True)
def tell_fortune(name: str, *, scope: SessionScope) -> str:
    """Tell somebody's fortune."""
    if name == "nobody":
        raise ToolError("Nobody has no fortune.")
    return f"{name} will be heard in {scope.session_id}."


@tool()
def ring_bell() -> None:
    """Ring the bell."""


@tool()
async def ring_bell_softly() -> None:
    """Ring the bell on the loop."""


@pytest.mark.parametrize(
    ("name", "answer"),
    [("anna", "anna will be heard in s."), ("nobody", "Error: Nobody has no fortune.")],
)
async def test_a_tool_is_written_with_what_is_exported(name: str, answer: str) -> None:
    config = ToolsConfig(database=":memory:", modules=(__name__,))
    box = Toolbox(config, TurnConfig())
    result = await box.run(ToolCall("c", "tell_fortune", {"name": name}), SessionScope("s"))
    await box.close()
    assert result.content == answer


@pytest.mark.parametrize("name", ["ring_bell", "ring_bell_softly"])
async def test_a_tool_that_returns_nothing_tells_nothing(name: str) -> None:
    box = Toolbox(ToolsConfig(database=":memory:", modules=(__name__,)), TurnConfig())
    result = await box.run(ToolCall("c", name, {}), SessionScope("s"))
    await box.close()
    assert (result.content, result.error) == ("", False)


def test_every_exported_name_is_there() -> None:
    assert all(hasattr(tools, name) for name in tools.__all__)
    assert sys.modules["voice.tools.toolbox"].Toolbox is Toolbox
