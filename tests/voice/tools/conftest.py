"""A toolbox on a fixed Saturday afternoon, asked as the model asks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import count

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.tools.services import Clock
from voice.config import ToolsConfig, TurnConfig
from voice.tools import SessionScope, Toolbox
from voice.types import ToolCall

Call = Callable[..., Awaitable[str]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scope(clock: Clock) -> SessionScope:
    return SessionScope("session", now=clock)


@pytest.fixture
async def toolbox(clock: Clock) -> AsyncGenerator[Toolbox, None]:
    turn = TurnConfig(tool_timeout_s=PATIENCE_S)
    box = Toolbox(ToolsConfig(database=":memory:"), turn, now=clock)
    yield box
    await box.close()


@pytest.fixture
def call(toolbox: Toolbox, scope: SessionScope) -> Call:
    """Ask the toolbox for a tool's result by name."""
    numbers = count()

    async def run(tool: str, **arguments: str) -> str:
        call = ToolCall(f"call-{next(numbers)}", tool, arguments)
        return (await toolbox.run(call, scope)).content

    return run
