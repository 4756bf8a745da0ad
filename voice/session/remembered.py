"""What a caller has asked the agent to remember, for the model and the greeting.

It is read in a thread when the conversation begins, and again after each tool that may change it.
"""

from __future__ import annotations

import asyncio

from voice.config import AgentConfig
from voice.errors import StoreError
from voice.tools import SessionScope, Toolbox
from voice.tools.builtin import memory
from voice.tools.registry import tools_in
from voice.tools.store import Fact, Store

TOOLS = frozenset(tool.spec.name for tool in tools_in(memory))


class Remembered:
    """The memory of one conversation's caller; all methods are for the event loop's thread."""

    def __init__(self, agent: AgentConfig, toolbox: Toolbox, scope: SessionScope) -> None:
        named = not TOOLS.isdisjoint((*agent.tools, *agent.calls))
        self._wanted = named and scope.caller is not None
        self._store = Store(toolbox.database, scope.owner)
        self._facts: list[Fact] = []
        self._looked = asyncio.Event()

    async def read(self) -> str:
        """Read the caller's facts; return the note about them for the model, empty if none."""
        try:
            if self._wanted:
                self._facts = await asyncio.to_thread(self._store.facts)
        except StoreError:
            # The store has logged it; the conversation goes on without.
            self._facts = []
        finally:
            self._looked.set()
        return memory.note(self._facts)

    async def greeting(self, text: str) -> str:
        """The greeting, with the caller's name if it is remembered."""
        await self._looked.wait()
        return memory.greeting_by_name(text, self._facts)
